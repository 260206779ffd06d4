# shellcheck shell=bash disable=SC2034,SC2154
# Sourced by foreign_libraries.sh: how libraries are built for macOS on arm64, by clang and ld64.lld with the folder of
# macos_sysroot.sh.
sysroot=${TOKAMAK_CACHE_DIR:?}/sysroot-macos
program=tokamak
target=(--target=arm64-apple-macos13.0 -isysroot "$sysroot" -fuse-ld=lld -Qunused-arguments)
cc=$out/bin/clang cxx=$out/bin/clang++ archiver=llvm-ar-22
flags=(-O2 -w -ffunction-sections -fdata-sections "-ffile-prefix-map=$work=.")
cxx_flags=("${flags[@]}")
mkdir -p "$out/bin"
printf '#!/bin/sh\nexec clang-22 %s "$@"\n' "${target[*]}" >"$cc"
printf '#!/bin/sh\nexec clang++-22 %s -stdlib++-isystem %s "$@"\n' "${target[*]}" "$sysroot/usr/include/c++/v1" >"$cxx"
chmod +x "$cc" "$cxx"
cmake_options=(-DCMAKE_SYSTEM_NAME=Darwin -DCMAKE_SYSTEM_PROCESSOR=arm64 "-DCMAKE_OSX_SYSROOT=$sysroot" -DCMAKE_OSX_ARCHITECTURES=arm64
  -DCMAKE_OSX_DEPLOYMENT_TARGET=13.0 -DCMAKE_AR=/usr/bin/llvm-ar-22 -DCMAKE_RANLIB=/usr/bin/llvm-ranlib-22
  -DCMAKE_INSTALL_NAME_TOOL=/usr/bin/llvm-install-name-tool-22 -DCMAKE_INSTALL_NAME_DIR=@rpath)
zlib_flags="-DHAVE_UNISTD_H -fno-define-target-os-macros" # it takes the macro for a system before this one
configure_host=aarch64-apple-darwin configure_flags=
export AR=llvm-ar-22 RANLIB=llvm-ranlib-22 NM=llvm-nm-22 STRIP=llvm-strip-22
# The names that CMake and shared() give them.
file_of() {
  case $1 in
    sndfile) echo libsndfile.1.dylib ;;
    soxr) echo libsoxr.0.dylib ;;
    *) echo "lib$1.dylib" ;;
  esac
}
# By hand: the scripts look for Apple's tools when they make a library that may be replaced.
shared() {
  by_configure "$2" --disable-shared --enable-static --with-pic "${@:3}"
  "$cc" -dynamiclib -install_name "@rpath/lib$1.dylib" -Wl,-force_load,"$out/lib/lib$1.a" -o "$out/lib/lib$1.dylib"
  rm "$out/lib/lib$1.a"
}
# CommonCrypto is not in the folder; getentropy() is the other source of randomness here.
openssl_configured() { CC=$cc CFLAGS="${flags[*]} -DOPENSSL_NO_APPLE_CRYPTO_RANDOM" ./Configure darwin64-arm64-cc "$@"; }
openssl_libraries=
# Without asking the system's configuration for proxies, whose framework is not in the folder: curl drops the answer. Some networks
# with IPv6 alone want the question asked before addresses in numbers work.
curl_prepared() {
  sed -i 's/define CURL_OSX_CALL_COPYPROXIES 1/undef CURL_OSX_CALL_COPYPROXIES/' "$1/lib/curl_setup.h"
  sed -i 's/LDFLAGS="$LDFLAGS -framework CoreFoundation -framework SystemConfiguration"/:/' "$1/configure"
}
curl_options=("--with-openssl=$out" --without-schannel)
curl_libraries= curl_requires="libssl zlib"
