# shellcheck shell=bash disable=SC2154
# Sourced with the folder $work: makes ${apt[@]}, an apt-get that knows the sources of this Debian release. Their lists live in
# $work: the machine's own stay as they are.
mkdir -p "$work/lists/partial"
. /etc/os-release
cat >"$work/sources.list" <<END
deb-src http://deb.debian.org/debian $VERSION_CODENAME main
deb-src http://deb.debian.org/debian-security $VERSION_CODENAME-security main
END
apt=(apt-get -qq -o "Dir::Etc::sourcelist=$work/sources.list" -o Dir::Etc::sourceparts=/dev/null
  -o "Dir::State::lists=$work/lists")
"${apt[@]}" update
