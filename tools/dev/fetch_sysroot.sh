#!/bin/sh
# fetch_sysroot.sh CACHE_DIR ARCHITECTURE PACKAGE...: unpacks packages of this Debian release for another architecture, and all
# that they depend on, into CACHE_DIR/sysroot-ARCHITECTURE, for compiling and for programs under qemu. The system's packages,
# package lists and apt settings stay as they are: apt only resolves and downloads here, as if nothing were installed.
set -eu
cache=$1 architecture=$2
shift 2
work=$cache/sysroot-$architecture.partial
rm -rf "$work"
mkdir -p "$work/apt/lists/partial" "$work/apt/archives/partial"
: >"$work/apt/status"

release=$(. /etc/os-release && echo "$VERSION_CODENAME")
for suite in "debian $release" "debian-security $release-security"; do
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
    "http://deb.debian.org/${suite% *} ${suite#* } main"
done >"$work/apt/sources.list"

private_apt() {
  apt-get -q -y -o APT::Architecture="$architecture" -o APT::Architectures::="$architecture" \
    -o Dir::Etc::sourcelist="$work/apt/sources.list" -o Dir::Etc::sourceparts=- \
    -o Dir::State="$work/apt" -o Dir::State::status="$work/apt/status" -o Dir::Cache="$work/apt" \
    -o Acquire::Languages=none -o Debug::NoLocking=1 -o APT::Sandbox::User=root "$@"
}
private_apt update
private_apt install --download-only --no-install-recommends "$@"
for package in "$work"/apt/archives/*.deb; do
  dpkg-deb -x "$package" "$work"
  # The packages of libraries and their versions, as dpkg-query answers for the machine's own.
  name=$(dpkg-deb -f "$package" Package)
  echo "$name $(dpkg-deb -f "$package" Version)" >>"$work/versions"
  dpkg-deb -c "$package" | sed -n "s|.* \./\([^ ]*\.so[^ ]*\).*|\1 $name|p" >>"$work/libraries"
done

# Links to absolute paths would lead to the files of this machine.
find "$work" -type l -lname '/*' | while read -r link; do
  ln -snfr "$work$(readlink "$link")" "$link"
done
rm -rf "$work/apt" "$work/usr/share/man"
find "$work/usr/share/doc" -type f ! -name copyright -delete
echo "$*" >"$work/packages"
rm -rf "$cache/sysroot-$architecture"
mv "$work" "$cache/sysroot-$architecture"
