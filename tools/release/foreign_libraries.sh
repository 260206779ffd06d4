#!/usr/bin/env bash
# Builds what the program needs on SYSTEM, windows or macos, from Debian's sources, into FOLDER (docs/decisions/0090-windows.md,
# 0109-macos.md): include, lib with pkgconfig, and those that are to be replaceable (LGPL) as shared libraries. On Windows curl
# uses the system's own TLS and certificates. apt checks the sources against Debian's signatures; versions.txt in FOLDER records
# what they were.
# usage: tools/release/foreign_libraries.sh SYSTEM FOLDER
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -eq 2 ] && [ -f "$here/foreign_$1.sh" ] && [ "$1" != libraries ] || {
  sed -n '2,6s/^# \{0,1\}//p' "$0" >&2
  exit 2
}
system=$1
mkdir -p "$2"
out=$(cd "$2" && pwd)
lock=$(cat "$here/foreign_libraries.sh" "$here/foreign_$system.sh" "$here/debian_sources.sh" "$here/http_only.txt" | sha256sum | cut -c1-16)
if [ "$(cat "$out/complete" 2>/dev/null)" = "$lock" ]; then exit 0; fi
rm -rf "${out:?}"/*
work=$out/work
mkdir -p "$work" "$out/licenses" "$out/include" "$out/lib/pkgconfig" "$out/bin"
cd "$work"
. "$here/debian_sources.sh"

. "$here/foreign_$system.sh"
export PKG_CONFIG_LIBDIR=$out/lib/pkgconfig

# fetch SOURCE [FILE]: unpacks it into the folder SOURCE, keeps its licence and notes its version with the file of the package that
# has it inside, the program where none is named. Mirrors of the security archive may lack what its list names; the release's own
# version is taken then. Some lack the signatures of those who wrote the sources, which nobody needs: the hashes in Debian's
# signed lists are what apt checks.
fetch() {
  local folder=$work/fetched/$1 dsc
  mkdir -p "$folder"
  cd "$folder"
  "${apt[@]}" source --download-only "$1" >log 2>&1 || "${apt[@]}" source --download-only "$1/$VERSION_CODENAME" >>log 2>&1 ||
    ! grep -e '^E:' log | grep -v -e '\.asc ' -e 'some archives' || return 1
  dsc=$(find . -name '*.dsc' | sort | tail -n 1)
  sed '/\.asc$/d' "$dsc" >unsigned.dsc
  dpkg-source --no-check -x unsigned.dsc "$work/$1" >>log 2>&1
  printf '%s %s %s\n' "${2:-$program}" "$1" "$(dpkg-parsechangelog -l "$work/$1/debian/changelog" -S Version)" >>"$out/versions.txt"
  cp "$work/$1/debian/copyright" "$out/licenses/$1.txt"
  cd "$work"
}

# described NAME VERSION CFLAGS LIBS [REQUIRES]: what pkg-config is to answer.
described() {
  cat >"$out/lib/pkgconfig/$1.pc" <<END
prefix=\${pcfiledir}/../..
Name: $1
Description: $1 for $system
Version: $2
Cflags: -I\${prefix}/include $3
Libs: -L\${prefix}/lib $4
Requires: ${5:-}
END
}

# archive NAME FOLDER FLAGS SOURCE...: a static library.
archive() {
  local name=$1 folder=$2 extra=$3 source objects=()
  local -a compiler
  shift 3
  for source; do
    compiler=("$cc" "${flags[@]}")
    [[ $source == *.c ]] || compiler=("$cxx" "${cxx_flags[@]}")
    # shellcheck disable=SC2086
    "${compiler[@]}" -DNDEBUG $extra -c "$folder/$source" -o "$name.${source//\//_}.o"
    objects+=("$name.${source//\//_}.o")
  done
  "$archiver" rcs "$out/lib/$name" "${objects[@]}"
}

# by_cmake SOURCE OPTION...: builds and installs it.
by_cmake() {
  local source=$1
  shift
  {
    cmake -G Ninja -S "$source" -B "$source/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$out" -DCMAKE_INSTALL_LIBDIR:STRING=lib \
      "${cmake_options[@]}" -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" \
      -DCMAKE_FIND_ROOT_PATH="$out" -DCMAKE_FIND_ROOT_PATH_MODE_PROGRAM=NEVER \
      -DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY -DCMAKE_FIND_ROOT_PATH_MODE_PACKAGE=ONLY \
      -DCMAKE_C_FLAGS="${flags[*]}" -DCMAKE_CXX_FLAGS="${cxx_flags[*]}" "$@"
    ninja -C "$source/build" -j"$(nproc)" install
  } >"$source.log" 2>&1 || failed "$source"
}

# by_configure SOURCE OPTION...: the same for those that have a script "configure".
by_configure() {
  local source=$1
  shift
  (
    cd "$source"
    CC="$cc $configure_flags" CFLAGS="${flags[*]}" ./configure --host="$configure_host" --prefix="$out" --disable-dependency-tracking "$@"
    make -j"$(nproc)" install
  ) >"$source.log" 2>&1 || failed "$source"
}

failed() {
  tail -n 20 "$work/$1.log" >&2
  echo "error: $1 could not be built for $system" >&2
  exit 1
}

fetch fmtlib
by_cmake fmtlib -DFMT_TEST=OFF -DFMT_DOC=OFF
fetch highway
archive libhwy.a highway "-std=c++17 -Ihighway" hwy/aligned_allocator.cc hwy/targets.cc
(cd highway && find hwy -name '*.h' -exec cp --parents {} "$out/include" \;)
described libhwy 1.0.3 "" -lhwy
fetch utf8proc
archive libutf8proc.a utf8proc -DUTF8PROC_STATIC utf8proc.c
cp utf8proc/utf8proc.h "$out/include"
described libutf8proc 2.8.0 -DUTF8PROC_STATIC -lutf8proc
fetch libyaml
archive libyaml.a libyaml '-Ilibyaml/include -DYAML_DECLARE_STATIC -DYAML_VERSION_MAJOR=0 -DYAML_VERSION_MINOR=2 -DYAML_VERSION_PATCH=5 -DYAML_VERSION_STRING="0.2.5"' \
  src/{api,dumper,emitter,loader,parser,reader,scanner,writer}.c
cp libyaml/include/yaml.h "$out/include"
described yaml-0.1 0.2.5 -DYAML_DECLARE_STATIC -lyaml
fetch zlib
archive libz.a zlib "-Izlib $zlib_flags" {adler32,compress,crc32,deflate,gzclose,gzlib,gzread,gzwrite,infback,inffast,inflate,inftrees,trees,uncompr,zutil}.c
cp zlib/zlib.h zlib/zconf.h "$out/include"
described zlib 1.2.13 "" -lz
fetch libspng
archive libspng.a libspng "-I$out/include -DSPNG_STATIC" spng/spng.c
cp libspng/spng/spng.h "$out/include"
described spng 0.7.3 -DSPNG_STATIC -lspng zlib
fetch sqlite3
(cd sqlite3 && ./configure --disable-tcl && make sqlite3.c) >sqlite3.log 2>&1 || failed sqlite3
archive libsqlite3.a sqlite3 "-DSQLITE_ENABLE_FTS5 -DSQLITE_THREADSAFE=1 -DSQLITE_OMIT_LOAD_EXTENSION" sqlite3.c
cp sqlite3/sqlite3.h "$out/include"
described sqlite3 3.40.1 "" -lsqlite3
fetch pcre2
by_cmake pcre2 -DBUILD_SHARED_LIBS=OFF -DPCRE2_SUPPORT_JIT=ON -DPCRE2_BUILD_PCRE2GREP=OFF -DPCRE2_BUILD_TESTS=OFF
described libpcre2-8 10.42 -DPCRE2_STATIC -lpcre2-8
fetch libjpeg-turbo
by_cmake libjpeg-turbo -DENABLE_SHARED=OFF -DREQUIRE_SIMD=ON
described libturbojpeg 2.1.5 "" -lturbojpeg
fetch libwebp
by_cmake libwebp -DBUILD_SHARED_LIBS=OFF -DWEBP_BUILD_{ANIM_UTILS,CWEBP,DWEBP,GIF2WEBP,IMG2WEBP,VWEBP,WEBPINFO,WEBPMUX,EXTRAS,LIBWEBPMUX}=OFF
described libwebp 1.2.4 "" -lwebp
described libwebpdemux 1.2.4 "" -lwebpdemux libwebp

# The formats of sound. libsndfile has those inside that need not be replaceable.
sound=$(file_of sndfile)
fetch libogg "$sound"
by_cmake libogg -DBUILD_SHARED_LIBS=OFF -DBUILD_TESTING=OFF -DINSTALL_DOCS=OFF
fetch libvorbis "$sound"
by_cmake libvorbis -DBUILD_SHARED_LIBS=OFF
fetch flac "$sound"
by_cmake flac -DBUILD_SHARED_LIBS=OFF -DBUILD_{CXXLIBS,PROGRAMS,EXAMPLES,TESTING,DOCS}=OFF -DINSTALL_MANPAGES=OFF -DWITH_STACK_PROTECTOR=OFF
fetch opus "$sound"
by_configure opus CPPFLAGS=-D_FORTIFY_SOURCE=0 --disable-shared --disable-doc --disable-extra-programs --disable-stack-protector
fetch lame "$(file_of mp3lame)"
sed -i -e /lame_init_old/d -e /decode/d -e /hip_/d lame/include/libmp3lame.sym # names without functions stop the linker of DLLs
shared mp3lame lame --disable-frontend --disable-decoder --disable-gtktest
fetch mpg123 "$(file_of mpg123)"
shared mpg123 mpg123 --disable-components --enable-libmpg123
described libmpg123 1.31.2 "" -lmpg123
fetch libsndfile "$sound"
by_cmake libsndfile -DBUILD_SHARED_LIBS=ON -DENABLE_EXTERNAL_LIBS=ON -DENABLE_MPEG=ON -DCMAKE_C_FLAGS="${flags[*]} -DFLAC__NO_DLL" -DBUILD_{PROGRAMS,EXAMPLES,TESTING}=OFF
grep -q 'HAVE_MPEG 1' libsndfile/build/src/config.h && grep -q 'HAVE_EXTERNAL_XIPH_LIBS 1' libsndfile/build/src/config.h || failed libsndfile
described sndfile 1.2.0 "" -lsndfile
fetch libsoxr "$(file_of soxr)"
sed -i '/INSTALL_NAME_DIR/d' libsoxr/src/CMakeLists.txt # a folder of this machine
by_cmake libsoxr -DBUILD_SHARED_LIBS=ON -DWITH_OPENMP=OFF -DBUILD_TESTS=OFF -DBUILD_EXAMPLES=OFF -DWITH_LSR_BINDINGS=OFF
described soxr 0.1.3 "" -lsoxr

fetch openssl
(
  cd openssl
  sed -i "s|^\\\$cflags = .*|\\\$cflags = 'compiler: ${cc##*/}';|" util/mkbuildinf.pl # the flags name folders of this machine
  openssl_configured --prefix=/ --openssldir=/ssl --libdir=lib \
    no-shared no-tests no-module no-legacy no-engine no-dso no-comp no-async
  make -j"$(nproc)" build_generated
  make -j"$(nproc)" libcrypto.a libssl.a
) >openssl.log 2>&1 || failed openssl
cp openssl/lib{crypto,ssl}.a "$out/lib"
cp -r openssl/include/openssl "$out/include"
described libcrypto 3.0 "" "-lcrypto $openssl_libraries"
described libssl 3.0 "" -lssl libcrypto
fetch curl
mapfile -t options < <(grep -v '^#' "$here/http_only.txt")
for variant in 99_nss 90_gnutls; do patch -s -R -p1 -d curl <"curl/debian/patches/$variant.patch"; done # of other packages
curl_prepared curl
by_configure curl "${options[@]}" "${curl_options[@]}" --with-zlib="$out" --disable-shared --enable-static
described libcurl 7.88.1 -DCURL_STATICLIB "-lcurl $curl_libraries" "$curl_requires"

# Boost's headers alone are used. They name no system: those of this machine serve.
ln -sfn /usr/include/boost "$out/include/boost"

rm -rf "$work"
echo "$lock" >"$out/complete"
