# The libraries of the browser build. fmt and Highway are used as headers, copied into the build
# folder because the host's /usr/include must not be seen; of PCRE2 and utf8proc the browser has its own (docs/decisions/0004-browser-build.md),
# and SQLite is a module of its own beside ours (docs/decisions/0051-memory-in-a-tab.md).
set(wasm_include ${CMAKE_BINARY_DIR}/include)
foreach(header fmt/format.h hwy/highway.h sqlite3.h utf8proc.h)
  find_path(found ${header} REQUIRED NO_CACHE NO_CMAKE_FIND_ROOT_PATH PATHS /usr/include /usr/local/include)
  get_filename_component(folder ${header} DIRECTORY)
  if(folder)
    file(COPY ${found}/${folder} DESTINATION ${wasm_include})
  else()
    file(COPY ${found}/${header} DESTINATION ${wasm_include})
  endif()
  unset(found)
endforeach()

add_library(tokamak_wasm_headers INTERFACE)
target_include_directories(tokamak_wasm_headers SYSTEM INTERFACE ${wasm_include})
# fmt would ask std::locale for it, and all locales are a tenth of the module.
target_compile_definitions(tokamak_wasm_headers INTERFACE FMT_HEADER_ONLY "FMT_STATIC_THOUSANDS_SEPARATOR=','")
foreach(library fmt::fmt PkgConfig::HWY PkgConfig::PCRE2 PkgConfig::SQLITE PkgConfig::UTF8PROC Threads::Threads)
  add_library(${library} INTERFACE IMPORTED)
  target_link_libraries(${library} INTERFACE tokamak_wasm_headers)
endforeach()
