# Toolchain of the browser build: Debian's clang 22 and wasi-libc. The preset "wasm" uses it.
set(CMAKE_SYSTEM_NAME WASI)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})  # Platform/WASI.cmake

foreach(language C CXX ASM)
  set(CMAKE_${language}_COMPILER_TARGET wasm32-wasi)
endforeach()
set(CMAKE_C_COMPILER clang-22)
set(CMAKE_CXX_COMPILER clang++-22)
set(CMAKE_ASM_COMPILER clang-22)
set(CMAKE_AR ar)  # wasm-ld reads archives without an index
set(CMAKE_RANLIB ranlib)

# Debian's libc++abi for wasm has no unwinder; Tokamak does not throw. It does not ask for types at run time either, and
# there is one thread.
set(CMAKE_CXX_FLAGS_INIT
  "-fno-exceptions -fno-rtti -fno-threadsafe-statics -msimd128 -Wno-deprecated")
set(CMAKE_C_FLAGS_INIT "-msimd128")
# The default stack of 64 KiB is less than what a nested chat template may take before its own limits
# refuse it. It comes first, so that beyond its end there is no data but a trap. The names of functions stay, for
# Binaryen, which takes them out in the end.
set(CMAKE_EXE_LINKER_FLAGS_INIT
  "-mexec-model=reactor --no-wasm-opt -Wl,--strip-debug,-z,stack-size=1048576,--stack-first")

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_FIND_ROOT_PATH ${CMAKE_BINARY_DIR})
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
