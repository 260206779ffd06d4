# Dawn, Google's WebGPU: where <webgpu/webgpu.h> and its functions come from.
#
# A Dawn that CMake finds is used as it is. Otherwise a pinned build comes from the npm registry into
# TOKAMAK_CACHE_DIR, once; docs/decisions/0002-dawn-source.md says why. That build is opened at run
# time, so its functions are reached through jumps that this file generates from the header. For Windows there is no build to
# fetch: the jumps lead into the webgpu_dawn.dll that somebody puts beside the program. For macOS it is an archive that is
# linked.
#
# Sets for src/backend/webgpu/dawn:
#   TOKAMAK_DAWN_LINKED       true when the target dawn::webgpu_dawn is linked
#   TOKAMAK_WEBGPU_INCLUDE    the folder that holds webgpu/webgpu.h
#   TOKAMAK_DAWN_FILE         the library to open at run time
#   TOKAMAK_DAWN_GENERATED    the folder of the generated dawn_jumps.S, dawn_functions.inc, node_stubs.S

# Header and library belong together: a wrong pair does not crash, it enables other features.
set(TOKAMAK_DAWN_VERSION 77f9a9aa5f7180958480de17680c61a84c006842)
set(_dawn_library_package webgpu 0.6.2
  dcbe067e6a892ef6142045899e011063ed87422525005920f3e3fc3430e3dd7c798471c814efebf095beca77ea063ee41cde266e7c0eef8b81fa5ad1b4b869e1)
set(_dawn_header_package react-native-webgpu 0.10.2
  951a01229a3db971b4ad148669ff57398dd2ca757961e3ebb09525cb2de3379c921c469591c42d17a2fbcc0fc5ae7db606058a399f8a9395ba368fb42aeb7afe)

include(TokamakCache)

# Unpacks PATTERNS of an npm package into the cache, checked against its SHA-512; `out` is the folder. PART names what of the
# package the patterns are, where another part of it is unpacked elsewhere.
function(tokamak_npm_package out package version sha512)
  cmake_parse_arguments(PARSE_ARGV 4 ARG "" "PART" "")
  set(folder ${TOKAMAK_CACHE_DIR}/npm/${package}-${version}${ARG_PART})
  set(${out} ${folder} PARENT_SCOPE)
  if(EXISTS ${folder})
    return()
  endif()
  find_program(TOKAMAK_NPM npm)
  if(NOT TOKAMAK_NPM)
    message(FATAL_ERROR "Dawn is not installed and npm, which fetches it, is not either. "
      "Run ./dev setup, or install npm or a package that provides find_package(Dawn).")
  endif()
  string(RANDOM LENGTH 8 suffix)
  set(partial ${folder}.${suffix})
  file(MAKE_DIRECTORY ${partial}/tar)
  message(STATUS "Fetching ${package} ${version} from the npm registry")
  execute_process(
    COMMAND ${TOKAMAK_NPM} pack --loglevel=error ${package}@${version} --pack-destination ${partial}
    WORKING_DIRECTORY ${partial} RESULT_VARIABLE status ERROR_VARIABLE problem OUTPUT_QUIET)
  set(archive ${partial}/${package}-${version}.tgz)
  if(NOT status EQUAL 0 OR NOT EXISTS ${archive})
    file(REMOVE_RECURSE ${partial})
    message(FATAL_ERROR "npm could not fetch ${package} ${version}; is the network there? ${problem}")
  endif()
  file(SHA512 ${archive} found)
  if(NOT found STREQUAL sha512)
    file(REMOVE_RECURSE ${partial})
    message(FATAL_ERROR "${package} ${version} has SHA-512 ${found}, expected ${sha512}.")
  endif()
  file(ARCHIVE_EXTRACT INPUT ${archive} DESTINATION ${partial}/tar PATTERNS ${ARG_UNPARSED_ARGUMENTS})
  # The rename is the last step, so that a folder with its final name is always complete.
  if(NOT EXISTS ${folder})
    file(RENAME ${partial}/tar/package ${folder})
  endif()
  file(REMOVE_RECURSE ${partial})
endfunction()

set(TOKAMAK_NO_STACK ".section .note.GNU-stack,\"\",%progbits\n")
if(WIN32)
  set(TOKAMAK_NO_STACK "")
endif()

# One jump through a table for each function of webgpu.h, and the table's names in the same order.
function(tokamak_generate_dawn_jumps header folder)
  file(STRINGS ${header} declarations REGEX "^WGPU_EXPORT .* wgpu[A-Za-z0-9]+\\(")
  set(names "")
  set(code ".text\n")
  set(offset 0)
  foreach(declaration IN LISTS declarations)
    string(REGEX MATCH " (wgpu[A-Za-z0-9]+)\\(" match "${declaration}")
    set(name ${CMAKE_MATCH_1})
    set(slot tokamak_dawn_table+${offset})
    string(APPEND names "\"${name}\",\n")
    if(WIN32)
      string(APPEND code ".globl ${name}\n.def ${name}; .scl 2; .type 32; .endef\n.p2align 4\n${name}:\n")
    else()
      string(APPEND code ".globl ${name}\n.type ${name}, %function\n.p2align 4\n${name}:\n")
    endif()
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
      string(APPEND code "  adrp x16, ${slot}\n  ldr x16, [x16, #:lo12:${slot}]\n  br x16\n")
    else()
      string(APPEND code "  jmp *${slot}(%rip)\n")
    endif()
    math(EXPR offset "${offset} + 8")
  endforeach()
  string(APPEND code ".bss\n.globl tokamak_dawn_table\n")
  if(NOT WIN32)
    string(APPEND code ".hidden tokamak_dawn_table\n")
  endif()
  string(APPEND code ".p2align 4\ntokamak_dawn_table:\n  .skip ${offset}\n${TOKAMAK_NO_STACK}")
  file(CONFIGURE OUTPUT ${folder}/dawn_jumps.S CONTENT "${code}" @ONLY)
  file(CONFIGURE OUTPUT ${folder}/dawn_functions.inc CONTENT "${names}" @ONLY)
endfunction()

# One aborting stub for each function of Node that the library mentions but Tokamak never reaches.
function(tokamak_generate_node_stubs library folder)
  file(STRINGS ${library} node_functions REGEX "^napi_[a-z0-9_]+$")
  list(REMOVE_DUPLICATES node_functions)
  set(code ".text\n.p2align 4\n")
  foreach(name IN LISTS node_functions)
    string(APPEND code ".globl ${name}\n.type ${name}, %function\n${name}:\n")
  endforeach()
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    string(APPEND code "  b abort\n${TOKAMAK_NO_STACK}")
  else()
    string(APPEND code "  jmp abort@PLT\n${TOKAMAK_NO_STACK}")
  endif()
  file(CONFIGURE OUTPUT ${folder}/node_stubs.S CONTENT "${code}" @ONLY)
endfunction()

set(TOKAMAK_DAWN_LINKED FALSE)
if(NOT CMAKE_SYSTEM_NAME STREQUAL "WASI")
  find_package(Dawn CONFIG QUIET)
  set(TOKAMAK_DAWN_LINKED ${Dawn_FOUND})
endif()

if(TOKAMAK_DAWN_LINKED)
  message(STATUS "Dawn: ${Dawn_DIR}")
elseif(APPLE)
  # With its header; the names of the frameworks' functions are in the archive, their owners in the stubs of macos_stubs.py.
  tokamak_npm_package(_dawn_archive ${_dawn_header_package} PART -macos
    package/libs/apple/libwebgpu_dawn.xcframework/macos-* package/cpp/webgpu/* package/LICENSE)
  set(TOKAMAK_DAWN_LICENSE ${_dawn_archive}/LICENSE)
  add_library(dawn::webgpu_dawn STATIC IMPORTED)
  set_target_properties(dawn::webgpu_dawn PROPERTIES
    IMPORTED_LOCATION ${_dawn_archive}/libs/apple/libwebgpu_dawn.xcframework/macos-arm64_x86_64/libwebgpu_dawn.a
    INTERFACE_INCLUDE_DIRECTORIES ${_dawn_archive}/cpp)
  foreach(_framework CoreFoundation Foundation IOKit IOSurface Metal QuartzCore)
    set_property(TARGET dawn::webgpu_dawn APPEND PROPERTY INTERFACE_LINK_LIBRARIES "-framework ${_framework}")
  endforeach()
  set_property(TARGET dawn::webgpu_dawn APPEND PROPERTY INTERFACE_LINK_LIBRARIES objc clang_rt)
  set(TOKAMAK_DAWN_LINKED TRUE)
  message(STATUS "Dawn: ${_dawn_archive}")
else()
  tokamak_npm_package(_dawn_header ${_dawn_header_package} package/cpp/webgpu/* package/LICENSE)
  set(TOKAMAK_WEBGPU_INCLUDE ${_dawn_header}/cpp)
endif()

# In a browser the functions of webgpu.h are the host's, so the header is all there is.
set(TOKAMAK_DAWN_GENERATED ${CMAKE_BINARY_DIR}/dawn)
if(NOT TOKAMAK_DAWN_LINKED AND NOT CMAKE_SYSTEM_NAME STREQUAL "WASI")
  tokamak_generate_dawn_jumps(${TOKAMAK_WEBGPU_INCLUDE}/webgpu/webgpu.h ${TOKAMAK_DAWN_GENERATED})
endif()
if(NOT TOKAMAK_DAWN_LINKED AND NOT WIN32 AND NOT CMAKE_SYSTEM_NAME STREQUAL "WASI")
  if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
    message(FATAL_ERROR "No Dawn was found: outside Linux and Windows a package for find_package(Dawn) is needed.")
  endif()
  set(_dawn_arch linux-x64)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    set(_dawn_arch linux-arm64)
  endif()
  tokamak_npm_package(_dawn_library ${_dawn_library_package}
    package/dist/linux-*/dawn.node package/LICENSE.md)
  set(TOKAMAK_DAWN_FILE ${_dawn_library}/dist/${_dawn_arch}/dawn.node)
  set(TOKAMAK_DAWN_LICENSE ${_dawn_library}/LICENSE.md)
  tokamak_generate_node_stubs(${TOKAMAK_DAWN_FILE} ${TOKAMAK_DAWN_GENERATED})
  message(STATUS "Dawn: ${TOKAMAK_DAWN_FILE}")
endif()
