# Installs BUILD into an empty folder, builds EXAMPLES with nothing but that, lets `stream` and the installed
# tokamak continue the first prompt of GOLDEN and compares the beginning of what they write. Then `similarity`,
# with the installed model made an encoder; the program in C, which only pkg-config helps; and the one in Python
# with the shared library.
cmake_minimum_required(VERSION 3.25)

set(prefix ${BUILD}/package_test)
file(REMOVE_RECURSE ${prefix})

# run(WHAT COMMAND...): its output in `output`; the test ends here when it fails.
macro(run what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${what} fails (${status}):\n${output}\n${errors}")
  endif()
endmacro()

function(expect_story who text)
  # Sixty characters, so that a near tie late in the story does not matter.
  string(SUBSTRING "${continuation}" 0 60 beginning)
  string(FIND "${text}" "${beginning}" found)
  if(found EQUAL -1)
    message(FATAL_ERROR "${who} writes \"${text}\", expected it to begin with \"${beginning}\".")
  endif()
endfunction()

file(READ ${GOLDEN} golden)
string(JSON prompt GET "${golden}" cases 0 prompt)
string(JSON continuation GET "${golden}" cases 0 greedy_text)

run("The installation" ${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})

# A program's own warnings meet the headers.
set(warnings "-Wall -Wextra -Werror")

# The examples lie below the prefix, where a program finds the built-in model, and see nothing of
# the build folder or the sources.
set(programs stream similarity transcribe speak tools)
foreach(name IN LISTS programs)
  run("Configuring ${name}" ${CMAKE_COMMAND} -S ${EXAMPLES}/${name} -B ${prefix}/${name} -G ${GENERATOR}
    -D CMAKE_PREFIX_PATH=${prefix} -D CMAKE_CXX_COMPILER=${COMPILER}
    -D CMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER} -D CMAKE_CXX_FLAGS=${warnings})
  run("Building ${name}" ${CMAKE_COMMAND} --build ${prefix}/${name})
endforeach()
find_program(clang NAMES clang++-22)
if(clang)
  list(TRANSFORM programs REPLACE "(.+)" "${EXAMPLES}/\\1/main.cpp" OUTPUT_VARIABLE sources)
  run("The examples with the second compiler" ${clang} -std=c++23 -Wall -Wextra -Werror -fsyntax-only
    -I${prefix}/include ${sources})
endif()
execute_process(COMMAND ${COMPILER} -std=c++20 -fsyntax-only -I${prefix}/include ${EXAMPLES}/stream/main.cpp
  RESULT_VARIABLE status ERROR_VARIABLE errors)
if(status EQUAL 0 OR NOT errors MATCHES "needs C\\+\\+23")
  message(FATAL_ERROR "C++20 gives ${status} and \"${errors}\", expected a sentence about C++23.")
endif()
run("The example" ${prefix}/stream/stream ${prefix}/share/tokamak/models/storyteller ${prompt} cpu)
expect_story("The example with a named model" "${output}")
# A macro loses the empty argument that means the built-in model.
execute_process(COMMAND ${prefix}/stream/stream "" ${prompt} cpu OUTPUT_VARIABLE output)
expect_story("The example with the built-in model" "${output}")

execute_process(COMMAND ${prefix}/stream/stream ${prefix}/no-such-model
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors)
if(status EQUAL 0 OR NOT errors MATCHES "^error: .*no-such-model")
  message(FATAL_ERROR "A missing model gives ${status} and \"${errors}\", expected an error.")
endif()

run("The example with tools" ${prefix}/tools/tools ${prefix}/share/tokamak/models/storyteller cpu)
if(NOT output MATCHES "^set_volume {\"level\": *\"(low|high)\" *}\n$")
  message(FATAL_ERROR "The example with tools writes \"${output}\", expected a call of set_volume.")
endif()

file(COPY ${prefix}/share/tokamak/models/storyteller/ DESTINATION ${prefix}/encoder)
set(type "sentence_transformers.models")
file(WRITE ${prefix}/encoder/modules.json "[{\"path\": \"\", \"type\": \"${type}.Transformer\"},
  {\"path\": \"1_Pooling\", \"type\": \"${type}.Pooling\"},
  {\"path\": \"2_Normalize\", \"type\": \"${type}.Normalize\"}]")
file(WRITE ${prefix}/encoder/1_Pooling/config.json "{\"pooling_mode_mean_tokens\": true}")
run("The second example" ${prefix}/similarity/similarity ${prefix}/encoder "A fox" "The sea" "A fox")
if(NOT output MATCHES "^1\\.000  A fox\n0\\.[0-9]+  The sea\n$")
  message(FATAL_ERROR "The second example writes \"${output}\", expected the same text first.")
endif()

# Models of speech are told from others before anything is computed.
execute_process(COMMAND ${prefix}/speak/speak ${prefix}/share/tokamak/models/storyteller Hello ${prefix}/hello.wav
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors)
if(status EQUAL 0 OR NOT errors MATCHES "^error: This model does not speak")
  message(FATAL_ERROR "A model of texts that shall speak gives ${status} and \"${errors}\", expected an error.")
endif()

if(EXISTS ${prefix}/lib/pkgconfig/tokamak.pc)
  find_program(cc NAMES cc gcc clang REQUIRED)
  find_program(pkg_config pkg-config REQUIRED)
  set(ENV{PKG_CONFIG_PATH} ${prefix}/lib/pkgconfig)
  run("pkg-config" ${pkg_config} --cflags --libs tokamak)
  separate_arguments(flags UNIX_COMMAND "${output}")
  run("Compiling the program in C" ${cc} -std=c11 -Wall -Wextra -Werror ${EXAMPLES}/c/main.c -o ${prefix}/c ${flags}
    -Wl,-rpath,${prefix}/lib)
  run("The program in C" ${prefix}/c ${prefix}/share/tokamak/models/storyteller ${prompt} cpu)
  expect_story("The program in C" "${output}")
  # The model beside the library, the device that there is: Python is elsewhere, and shows no symbols to Dawn.
  execute_process(COMMAND ${PYTHON} ${EXAMPLES}/python/stream.py ${prefix}/lib/libtokamak.so "" ${prompt} webgpu
    OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT errors MATCHES "no WebGPU|No WebGPU")
    expect_story("The program in Python" "${output}${errors}")
  endif()
endif()

if(EXISTS ${prefix}/bin/tokamak)
  run("The installed tokamak" ${prefix}/bin/tokamak run --backend cpu --temp 0 -n 20 -p ${prompt})
  expect_story("The installed tokamak" "${output}")
endif()

file(REMOVE_RECURSE ${prefix})
