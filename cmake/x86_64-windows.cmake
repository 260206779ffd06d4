# Toolchain of Windows on x86-64: Debian's mingw with g++ 12, the libraries that tools/release/foreign_libraries.sh builds, and Wine
# for running what was built. The preset "windows" uses it.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)

include(${CMAKE_CURRENT_LIST_DIR}/TokamakCache.cmake)
set(TOKAMAK_WINDOWS_LIBRARIES ${TOKAMAK_CACHE_DIR}/libraries-windows)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TOKAMAK_CACHE_DIR)

set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_ASM_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
set(CMAKE_CROSSCOMPILING_EMULATOR wine)
# With the libraries of C++ and of threads inside.
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_SHARED_LINKER_FLAGS_INIT -static)

set(CMAKE_FIND_ROOT_PATH ${TOKAMAK_WINDOWS_LIBRARIES})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} "")
set(ENV{PKG_CONFIG_LIBDIR} ${TOKAMAK_WINDOWS_LIBRARIES}/lib/pkgconfig)
