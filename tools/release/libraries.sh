#!/usr/bin/env bash
# Builds what the portable package cannot take from Debian's packages as it is, from the sources of the same
# Debian release, into FOLDER (docs/decisions/0088-portable-folder.md):
#   libfmt.a, libhwy.a     Debian has them as shared libraries only, which want the system's libstdc++
#   random_of_old_glibc.o  the one function of a newer glibc that std::random_device asks for
#   libcurl.so.4           Debian's brings LDAP, Kerberos, SSH and a second TLS library along; this one speaks HTTP(S)
#   libstdc++.so.6         for systems whose own is older than Dawn needs; Debian's wants a newer glibc than Dawn does
# apt checks the sources against Debian's signatures; versions.txt in FOLDER records what they were. With SYSROOT, they are for
# arm64 and link what is there.
# usage: tools/release/libraries.sh FOLDER [SYSROOT]
set -euo pipefail

[ $# -eq 1 ] || [ $# -eq 2 ] || {
  sed -n '2,11s/^# \{0,1\}//p' "$0" >&2
  exit 2
}
mkdir -p "$1"
out=$(cd "$1" && pwd)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
sysroot=${2:-}
prefix="" host=()
if [ -n "$sysroot" ]; then
  prefix=aarch64-linux-gnu-
  host=(--host=aarch64-linux-gnu)
  export PKG_CONFIG_SYSROOT_DIR=$sysroot PKG_CONFIG_LIBDIR=$sysroot/usr/lib/aarch64-linux-gnu/pkgconfig
fi
cc=("${prefix}gcc" ${sysroot:+"--sysroot=$sysroot"})
cxx=("${prefix}g++" ${sysroot:+"--sysroot=$sysroot"})
lock=$(cat "$here/libraries.sh" "$here/debian_sources.sh" "$here/random_of_old_glibc.c" "$here/istream_ignore.cpp" "$here/http_only.txt" | sha256sum | cut -c1-16)
if [ "$(cat "$out/complete" 2>/dev/null)" = "$lock" ]; then exit 0; fi
rm -rf "${out:?}"/*
work=$out/work
mkdir -p "$work" "$out/licenses"

. "$here/debian_sources.sh"
cd "$work"
"${apt[@]}" source fmtlib highway curl >sources.log 2>&1

# folder_of SOURCE: where apt unpacked it. recorded SOURCE FILE: notes its version and keeps its licence.
folder_of() { find "$work" -mindepth 1 -maxdepth 1 -type d -name "$1-*" | head -n 1; }
recorded() {
  printf '%s %s %s\n' "$2" "$1" "$(dpkg-parsechangelog -l "$(folder_of "$1")/debian/changelog" -S Version)" >>"$out/versions.txt"
  cp "$(folder_of "$1")/debian/copyright" "$out/licenses/$1.txt"
}

flags=(-O2 -fPIC -fvisibility=hidden -ffunction-sections -fdata-sections "-ffile-prefix-map=$work=.")
# archive NAME FOLDER SOURCE...: a static library of C++ sources.
archive() {
  local name=$1 folder=$2 source objects=()
  shift 2
  for source; do
    "${cxx[@]}" -std=c++17 "${flags[@]}" -DNDEBUG -I"$folder/include" -I"$folder" -c "$folder/$source" -o "${source//\//_}.o"
    objects+=("${source//\//_}.o")
  done
  "${prefix}ar" rcs "$out/$name" "${objects[@]}"
}
archive libfmt.a "$(folder_of fmtlib)" src/format.cc src/os.cc
recorded fmtlib libfmt.a
archive libhwy.a "$(folder_of highway)" hwy/aligned_allocator.cc hwy/targets.cc
recorded highway libhwy.a

curl=$(folder_of curl)
mapfile -t options < <(grep -v '^#' "$here/http_only.txt")
(
  cd "$curl"
  for variant in 99_nss 90_gnutls; do patch -s -R -p1 <"debian/patches/$variant.patch"; done # of other packages
  CC="${cc[*]}" CFLAGS="-O2 -ffile-prefix-map=$work=." ./configure "${host[@]}" --prefix=/usr --libdir=/usr/lib "${options[@]}"
  make -j"$(nproc)" -C lib
) >curl.log 2>&1 || {
  tail -n 20 curl.log >&2
  exit 1
}
cp -L "$curl/lib/.libs/libcurl.so.4" "$out/"
recorded curl libcurl.so.4

# gcc's own archive for that purpose. Its std::random_device would be what asks for glibc 2.36.
gcc=$(dirname "$(find "$sysroot/usr/lib/gcc" -name libstdc++_pic.a | head -n 1)")
"${cc[@]}" -O2 -fPIC -fvisibility=hidden -c "$here/random_of_old_glibc.c" -o "$out/random_of_old_glibc.o"
"${cxx[@]}" -O2 -fPIC -c "$here/istream_ignore.cpp" -o istream_ignore.o
"${cc[@]}" -shared -Wl,-soname,libstdc++.so.6 -Wl,--version-script="$gcc/libstdc++_pic.map" \
  -Wl,--whole-archive "$gcc/libstdc++_pic.a" -Wl,--no-whole-archive istream_ignore.o "$out/random_of_old_glibc.o" \
  -Wl,-z,relro,-z,now,-z,defs \
  -o "$out/libstdc++.so.6" -lm -lgcc_s -lc
if [ -n "$sysroot" ]; then
  version=$(sed -n 's/^libstdc++-12-pic //p' "$sysroot/versions")
else
  version=$(dpkg-query -W -f '${Version}' libstdc++-12-pic)
fi
printf 'libstdc++.so.6 gcc-12 %s\n' "$version" >>"$out/versions.txt"
cp "$sysroot/usr/share/doc/gcc-12-base/copyright" "$out/licenses/gcc-12.txt"

rm -rf "$work"
echo "$lock" >"$out/complete"
