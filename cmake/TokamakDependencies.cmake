# Every library from outside, in one place; docs/decisions/0003-libraries.md says why each.
if(CMAKE_SYSTEM_NAME STREQUAL "WASI")
  include(WasmDependencies)
else()
  set(THREADS_PREFER_PTHREAD_FLAG ON)
  find_package(Threads REQUIRED)
  find_package(fmt REQUIRED)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8)
  pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc)
  pkg_check_modules(HWY REQUIRED IMPORTED_TARGET libhwy>=1.0.3)
  pkg_check_modules(SPNG REQUIRED IMPORTED_TARGET spng)
  pkg_check_modules(TURBOJPEG REQUIRED IMPORTED_TARGET libturbojpeg)
  pkg_check_modules(WEBP REQUIRED IMPORTED_TARGET libwebp libwebpdemux)
  pkg_check_modules(SNDFILE REQUIRED IMPORTED_TARGET sndfile>=1.1)  # the first that writes MP3
  pkg_check_modules(MPG123 REQUIRED IMPORTED_TARGET libmpg123>=1.26)
  pkg_check_modules(SOXR REQUIRED IMPORTED_TARGET soxr)
  pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)
  pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
  pkg_check_modules(CURL REQUIRED IMPORTED_TARGET libcurl>=7.85)
  pkg_check_modules(CRYPTO REQUIRED IMPORTED_TARGET libcrypto)
  if(TOKAMAK_APPS)
    pkg_check_modules(SSL REQUIRED IMPORTED_TARGET libssl)
    pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3>=3.40)
    pkg_check_modules(EDIT IMPORTED_TARGET libedit)
    pkg_check_modules(PORTAUDIO IMPORTED_TARGET portaudio-2.0)
    find_package(Boost 1.74 REQUIRED)  # headers only
    if(APPLE)
      # Asio of Boost 1.74 asks for std::result_of otherwise, which C++20 took away and libc++ with it.
      target_compile_definitions(Boost::headers INTERFACE BOOST_ASIO_HAS_STD_INVOKE_RESULT)
      # The same as below, for those that are not in a sysroot.
      target_compile_options(Boost::headers INTERFACE -fmacro-prefix-map=${TOKAMAK_MACOS_LIBRARIES}=)
    endif()
    if(CMAKE_SYSROOT)
      # Its exceptions name their file, and a program that others get names no folder of this machine.
      target_compile_options(Boost::headers INTERFACE -fmacro-prefix-map=${CMAKE_SYSROOT}=)
    endif()
  endif()
  if(TOKAMAK_TESTS)
    find_package(GTest REQUIRED)
  endif()
endif()
# The build of the portable folder has the libraries of C++ inside, so that a system's own do not matter, and no path of
# this machine; objects are the release build's. tools/release/package.py brings the libraries of C along.
set(TOKAMAK_PORTABLE_LIBRARIES "" CACHE PATH
  "What tools/release/libraries.sh built: makes a portable build, for ./dev package")
if(TOKAMAK_PORTABLE_LIBRARIES)
  set_target_properties(fmt::fmt PROPERTIES
    IMPORTED_CONFIGURATIONS NONE IMPORTED_LOCATION_NONE ${TOKAMAK_PORTABLE_LIBRARIES}/libfmt.a)
  set_target_properties(PkgConfig::HWY PROPERTIES
    INTERFACE_LINK_LIBRARIES ${TOKAMAK_PORTABLE_LIBRARIES}/libhwy.a)
  add_link_options(-static-libstdc++ ${TOKAMAK_PORTABLE_LIBRARIES}/random_of_old_glibc.o)
endif()
include(Dawn)
if(TOKAMAK_TESTS)
  # Tests without a graphics card run on software drivers: on Mesa's, which ./dev setup unpacked, or
  # on Chromium's, which compiles kernels several times as fast (docs/reliability-and-testing.md).
  # Mesa's compiles for longer than it computes, so it leaves the optimizing out; it does so for all
  # tests, as its cache keeps kernels of either kind apart.
  foreach(driver mesa swiftshader)
    execute_process(
      COMMAND ${PROJECT_SOURCE_DIR}/tools/dev/vulkan_env.sh ${TOKAMAK_CACHE_DIR} ${driver}
      OUTPUT_VARIABLE environment OUTPUT_STRIP_TRAILING_WHITESPACE)
    string(REPLACE "\n" ";" TOKAMAK_ENVIRONMENT_${driver} "${environment}")
    list(APPEND TOKAMAK_ENVIRONMENT_${driver} GALLIVM_PERF=nopt)
  endforeach()
endif()
