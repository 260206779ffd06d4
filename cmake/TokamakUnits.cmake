# Units: sources of a folder that are compiled together, since most of a compile is reading headers
# (docs/decisions/0080-units.md). tools/units.py decides which; ./dev configures again where its answer changed.

# A page downloads what the linker keeps of an object, and clang-tidy looks at single files.
option(TOKAMAK_UNITS "Compile up to sixteen sources of a folder together" ON)
if(CMAKE_SYSTEM_NAME STREQUAL "WASI")
  set(TOKAMAK_UNITS OFF)
endif()

if(TOKAMAK_UNITS)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  execute_process(
    COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tools/units.py ${PROJECT_SOURCE_DIR}
    OUTPUT_FILE ${PROJECT_BINARY_DIR}/units.cmake COMMAND_ERROR_IS_FATAL ANY)
  include(${PROJECT_BINARY_DIR}/units.cmake)
else()
  file(REMOVE ${PROJECT_BINARY_DIR}/units.cmake)
endif()

# tokamak_alone(SOURCES...): what other programs take without the rest of its unit. Sources with definitions or options of their
# own are alone anyway, if these are set before their target is made.
function(tokamak_alone)
  set_source_files_properties(${ARGN} PROPERTIES TOKAMAK_ALONE ON)
endfunction()

# tokamak_units(OUT TARGET SOURCES...): the sources of TARGET, those of one unit replaced by a file that includes them.
# Their paths in it start at src/ or at the root, so that ccache knows the file in another clone.
function(tokamak_units out target)
  set(result "")
  set(units "")
  foreach(source IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH source NORMALIZE OUTPUT_VARIABLE path)
    cmake_path(RELATIVE_PATH path BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    set(unit "${unit_of_${path}}")
    foreach(property COMPILE_DEFINITIONS COMPILE_OPTIONS TOKAMAK_ALONE)
      get_source_file_property(own ${source} ${property})
      if(own)
        set(unit "")
      endif()
    endforeach()
    if(unit)
      list(APPEND units ${unit})
      list(APPEND sources_${unit} ${source})
      string(REGEX REPLACE "^src/" "" path ${path})
      string(APPEND text_${unit} "#include \"${path}\"\n")
    else()
      list(APPEND result ${source})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES units)
  foreach(unit IN LISTS units)
    list(LENGTH sources_${unit} count)
    if(count EQUAL 1)
      list(APPEND result ${sources_${unit}})
    else()
      set(file ${CMAKE_CURRENT_BINARY_DIR}/units/${target}/${unit}.cpp)
      file(CONFIGURE OUTPUT ${file} CONTENT "${text_${unit}}" @ONLY)
      list(APPEND result ${file})
    endif()
  endforeach()
  set(${out} ${result} PARENT_SCOPE)
endfunction()
