# shellcheck shell=bash disable=SC2034,SC2154
# Sourced by foreign_libraries.sh: how libraries are built for Windows on x86-64, by mingw.
triple=x86_64-w64-mingw32
program=tokamak.exe
cc=$triple-gcc-posix cxx=$triple-g++-posix archiver=$triple-ar
flags=(-O2 -ffunction-sections -fdata-sections "-ffile-prefix-map=$work=.")
cxx_flags=("${flags[@]}" -fno-ipa-ra) # as cmake/TokamakLayer.cmake
cmake_options=(-DCMAKE_SYSTEM_NAME=Windows -DCMAKE_SYSTEM_PROCESSOR=x86_64 "-DCMAKE_RC_COMPILER=$triple-windres"
  -DCMAKE_SHARED_LINKER_FLAGS=-static-libgcc)
zlib_flags=
configure_host=$triple configure_flags=-static-libgcc
# file_of NAME: the file that a library which may be replaced is in.
file_of() {
  case $1 in
    mp3lame | mpg123) echo "lib$1-0.dll" ;;
    *) echo "lib$1.dll" ;;
  esac
}
# shared NAME SOURCE OPTION...: a library that may be replaced, of a source with a script "configure".
shared() { by_configure "$2" --disable-static "${@:3}"; }
openssl_configured() { CC=gcc-posix CFLAGS="${flags[*]}" ./Configure mingw64 --cross-compile-prefix=$triple- "$@"; }
openssl_libraries="-lws2_32 -lgdi32 -lcrypt32"
curl_prepared() { :; }
curl_options=(--without-openssl --with-schannel)
curl_libraries="-lws2_32 -lbcrypt -lcrypt32 -ladvapi32" curl_requires=zlib
