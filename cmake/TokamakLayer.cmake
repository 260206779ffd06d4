# tokamak_layer(NAME [PRIVATE] [COLD] SOURCES ... [WHOLE ...] [TEXT ...] USES ... [LIBRARIES ...] [TESTS ...])
# One static library per folder of src/, and one test program of the tests beside its sources.
# USES names other layers, in the order of src/LAYERS, so that the linker agrees with the checker.
# A PRIVATE layer is for the apps only and is not installed. A COLD one has no loop over bytes or tokens; see tokamak_cold.
# WHOLE: sources that one of the browser's two modules does without, the one for texts; TEXT: what that has in their place
# (docs/decisions/0049-two-modules.md).

add_library(tokamak_flags INTERFACE)
target_compile_features(tokamak_flags INTERFACE cxx_std_23)
target_compile_options(tokamak_flags INTERFACE
  -Wall -Wextra -Wconversion -Wshadow -Wold-style-cast -Wno-missing-field-initializers
  # False alarms of g++ 12: moved-from variants "uninitialised" (GCC bug 105562), overlapping string
  # appends (105329). clang checks both properly.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized -Wno-restrict>
  # g++ collects garbage less often: a tenth less time, and 1.1 GB for the largest units (docs/decisions/0132).
  $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=600000 --param=ggc-min-expand=300>
  # Sources in a unit are not the main file, where it is no mistake that a member's type is in an unnamed namespace.
  $<$<AND:$<BOOL:${TOKAMAK_UNITS}>,$<CXX_COMPILER_ID:GNU>>:-Wno-subobject-linkage>
  # libstdc++ 12's own stable_sort calls a function that it marks as deprecated.
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>
  $<$<BOOL:${TOKAMAK_WARNINGS_AS_ERRORS}>:-Werror>)
if(WIN32)
  target_compile_definitions(tokamak_flags INTERFACE UNICODE NOMINMAX WIN32_LEAN_AND_MEAN _WIN32_WINNT=0x0A00)
  # g++ takes the stack for aligned to 32 bytes, which Windows does not promise (GCC bug 54412): no vector of AVX is stored there
  # by an instruction that wants it. Units have more sections than the plain form of objects may.
  # It also takes an inline function for the copy of its own unit, whose registers it knows; the linker may keep another copy, with
  # other options, that uses others (-fipa-ra).
  target_compile_options(tokamak_flags INTERFACE -Wa,-muse-unaligned-vector-move -Wa,-mbig-obj -fno-ipa-ra)
endif()
if(TOKAMAK_SANITIZE)
  target_compile_options(tokamak_flags INTERFACE
    -fsanitize=${TOKAMAK_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(tokamak_flags INTERFACE -fsanitize=${TOKAMAK_SANITIZE})
endif()
if(TOKAMAK_FUZZ)
  target_compile_options(tokamak_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# The same objects stand in the static layers and in libtokamak.so, so that nothing is compiled
# twice. Hidden symbols cost nothing where a program is linked, and calls among them stay direct.
function(tokamak_for_shared_library target)
  if(NOT CMAKE_SYSTEM_NAME STREQUAL "WASI")
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON
      CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  endif()
endfunction()

# tokamak_fast(SOURCES...): what goes through all bytes of a model. In the browser the rest is compiled for size.
function(tokamak_fast)
  if(CMAKE_SYSTEM_NAME STREQUAL "WASI")
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS -O2)
  endif()
endfunction()

# tokamak_cold(TARGET): what it computes itself is little; what it takes to compile is much.
function(tokamak_cold target)
  if(NOT CMAKE_SYSTEM_NAME STREQUAL "WASI")
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
endfunction()

# tokamak_part_of_module(LAYER MODULE [SOURCES...]): what that module of the browser has of a layer beside the rest of it;
# src/apps/web links it.
function(tokamak_part_of_module layer module)
  if(ARGN)
    set(target ${layer}_${module})
    add_library(${target} STATIC ${ARGN})
    set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
    target_link_libraries(${target} PUBLIC ${layer} PRIVATE tokamak_flags)
    set_property(GLOBAL APPEND PROPERTY TOKAMAK_WEB_${module} ${target})
  endif()
endfunction()

function(tokamak_layer name)
  cmake_parse_arguments(ARG "PRIVATE;COLD" "" "SOURCES;WHOLE;TEXT;USES;LIBRARIES;TESTS" ${ARGN})
  set(target tokamak_${name})
  if(CMAKE_SYSTEM_NAME STREQUAL "WASI")
    tokamak_part_of_module(${target} WHOLE ${ARG_WHOLE})
    tokamak_part_of_module(${target} TEXT ${ARG_TEXT})
  else()
    list(APPEND ARG_SOURCES ${ARG_WHOLE})
  endif()
  tokamak_units(sources ${target} ${ARG_SOURCES})
  add_library(${target} STATIC ${sources})
  add_library(tokamak::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} CXX_EXTENSIONS OFF)
  tokamak_for_shared_library(${target})
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${target} PUBLIC cxx_std_23)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:tokamak_flags>)
  foreach(use IN LISTS ARG_USES)
    target_link_libraries(${target} PUBLIC tokamak_${use})
  endforeach()
  target_link_libraries(${target} PUBLIC ${ARG_LIBRARIES})
  if(ARG_COLD)
    tokamak_cold(${target})
  endif()
  if(NOT ARG_PRIVATE)
    set_property(GLOBAL APPEND PROPERTY TOKAMAK_TARGETS ${target})
  endif()
  if(TOKAMAK_TESTS AND ARG_TESTS)
    tokamak_test(${name}_test SOURCES ${ARG_TESTS} USES ${name})
  endif()
endfunction()

# The programs of tests that need no device: what the sanitizers of `./dev check` run.
add_custom_target(tests_without_device)

# tokamak_test(NAME [DRIVER mesa|swiftshader] SOURCES ... USES ... [LABELS ...] [QUICK ...])
# One GoogleTest program and its CTest entries; see tokamak_test_run. It runs in the project's root: the paths in it
# are relative, so that ccache knows it in another clone.
function(tokamak_test name)
  cmake_parse_arguments(ARG "" "DRIVER" "SOURCES;USES;LABELS;QUICK" ${ARGN})
  tokamak_units(sources ${name} ${ARG_SOURCES})
  add_executable(${name} ${sources})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})  # where the paths in units of tests/ start
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  foreach(use IN LISTS ARG_USES)
    target_link_libraries(${name} PRIVATE tokamak_${use})
  endforeach()
  target_link_libraries(${name} PRIVATE tokamak_flags GTest::gtest_main)
  tokamak_cold(${name})
  if(NOT ARG_LABELS)
    add_dependencies(tests_without_device ${name})
  endif()
  target_compile_definitions(${name} PRIVATE
    TOKAMAK_TEST_DATA="tests/data"
    TOKAMAK_SOURCE_DIR=".")
  tokamak_test_run(${name} DRIVER ${ARG_DRIVER} LABELS ${ARG_LABELS} QUICK ${ARG_QUICK}
    COMMAND ${name})
endfunction()

# tokamak_test_run(NAME [DRIVER mesa|swiftshader] [LABELS ...] [QUICK ...] COMMAND PROGRAM [ARGUMENTS...])
# A CTest entry of a GoogleTest program; tools/dev/count_tests.py reads what it writes. DRIVER: the software driver
# that it runs on where there is no graphics device (mesa).
#
# QUICK: what of it `./dev test` runs, as arguments of the program and as NAME=VALUE for its environment; the whole
# has the label matrix then, which `./dev test all` runs. Without QUICK both run the whole.
function(tokamak_test_run name)
  cmake_parse_arguments(ARG "" "DRIVER" "LABELS;QUICK;COMMAND" ${ARGN})
  if(NOT ARG_DRIVER)
    set(ARG_DRIVER mesa)
  endif()
  set(environment ${TOKAMAK_ENVIRONMENT_${ARG_DRIVER}})
  if(ARG_QUICK)
    string(REGEX REPLACE "_test$" "_quick_test" quick ${name})
    set(arguments ${ARG_QUICK})
    set(settings ${ARG_QUICK})
    list(FILTER arguments INCLUDE REGEX "^--")
    list(FILTER settings EXCLUDE REGEX "^--")
    add_test(NAME ${quick} COMMAND ${ARG_COMMAND} ${arguments})
    set_tests_properties(${quick} PROPERTIES LABELS "${ARG_LABELS};quick"
      ENVIRONMENT "GTEST_OUTPUT=xml:${CMAKE_BINARY_DIR}/results/${quick}.xml;${environment};${settings}")
    list(APPEND ARG_LABELS matrix)
  endif()
  add_test(NAME ${name} COMMAND ${ARG_COMMAND})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}"
    ENVIRONMENT "GTEST_OUTPUT=xml:${CMAKE_BINARY_DIR}/results/${name}.xml;${environment}")
  set_tests_properties(${name} ${quick} PROPERTIES TIMEOUT 2700 WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
endfunction()

# tokamak_emulated_test(NAME PROGRAM FILTER [ENVIRONMENT ...])
# Some cases of a GoogleTest program by the emulator of CUDA, where most of the time is the compiler's: one test of the
# matrix, which is in one of its parts whatever the number of its cases is.
function(tokamak_emulated_test name program filter)
  cmake_parse_arguments(ARG "" "" "ENVIRONMENT" ${ARGN})
  add_test(NAME ${name} COMMAND ${program} --gtest_filter=${filter})
  set_tests_properties(${name} PROPERTIES
    LABELS "gpu;matrix" TIMEOUT 600 WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    FAIL_REGULAR_EXPRESSION "Running 0 tests"
    ENVIRONMENT "GTEST_TOTAL_SHARDS=1;GTEST_SHARD_INDEX=0;${TOKAMAK_ENVIRONMENT_mesa};LD_LIBRARY_PATH=${TOKAMAK_EMULATOR_FOLDER};${ARG_ENVIRONMENT}")
  add_dependencies(${program} emulated_cuda)
endfunction()
