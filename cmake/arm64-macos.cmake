# Toolchain of macOS on arm64: Debian's clang 22 and ld64.lld, the folder that tools/release/macos_sysroot.sh makes, and the
# libraries that tools/release/foreign_libraries.sh builds. The preset "macos" uses it.
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_PROCESSOR arm64)

include(${CMAKE_CURRENT_LIST_DIR}/TokamakCache.cmake)
set(TOKAMAK_MACOS_LIBRARIES ${TOKAMAK_CACHE_DIR}/libraries-macos)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TOKAMAK_CACHE_DIR)

set(CMAKE_OSX_SYSROOT ${TOKAMAK_CACHE_DIR}/sysroot-macos CACHE PATH "")
set(CMAKE_OSX_ARCHITECTURES arm64 CACHE STRING "")
set(CMAKE_OSX_DEPLOYMENT_TARGET 13.0 CACHE STRING "")
foreach(language CXX ASM)
  set(CMAKE_${language}_COMPILER_TARGET arm64-apple-macos13.0)
endforeach()
set(CMAKE_CXX_COMPILER clang++-22)
set(CMAKE_ASM_COMPILER clang-22)
set(CMAKE_AR /usr/bin/llvm-ar-22 CACHE FILEPATH "")
set(CMAKE_RANLIB /usr/bin/llvm-ranlib-22 CACHE FILEPATH "")
set(CMAKE_INSTALL_NAME_TOOL /usr/bin/llvm-install-name-tool-22 CACHE FILEPATH "")
# The C++ library is the compiler's and goes into the program, which shows none of its names to others.
set(CMAKE_CXX_FLAGS_INIT "-stdlib++-isystem ${CMAKE_OSX_SYSROOT}/usr/include/c++/v1")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-fuse-ld=lld -Wl,-dead_strip,-no_exported_symbols,-rpath,@executable_path/../lib/tokamak")

set(CMAKE_FIND_ROOT_PATH ${TOKAMAK_MACOS_LIBRARIES})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} "")
set(ENV{PKG_CONFIG_LIBDIR} ${TOKAMAK_MACOS_LIBRARIES}/lib/pkgconfig)
