# Installation and the exported package: find_package(tokamak 0.2 CONFIG REQUIRED), tokamak::tokamak.
include(CMakePackageConfigHelpers)

# The target that programs link, installed or as a subproject; its header is <tokamak/tokamak.h>.
add_library(tokamak INTERFACE)
add_library(tokamak::tokamak ALIAS tokamak)
if(CMAKE_SYSTEM_NAME STREQUAL "WASI")
  target_link_libraries(tokamak INTERFACE tokamak_engine)
else()
  target_link_libraries(tokamak INTERFACE tokamak_api)
endif()

if(NOT TOKAMAK_INSTALL)
  return()
endif()

# Two components: "runtime" is the program and the C interface, "development" what programs in C++ link and include.
get_property(_layers GLOBAL PROPERTY TOKAMAK_TARGETS)
list(REMOVE_DUPLICATES _layers)
install(TARGETS tokamak ${_layers} EXPORT tokamakTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/tokamak COMPONENT development)

# Headers of src/ promise nothing and stay here.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tokamak DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT runtime FILES_MATCHING PATTERN "c.h" PATTERN "c_*.h")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tokamak DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)

# For programs in C and other languages: the shared library, and where pkg-config finds it.
if(TARGET tokamak_shared)
  install(TARGETS tokamak_shared EXPORT tokamakTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  set(_pkgconfig ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  file(RELATIVE_PATH _to_prefix /${_pkgconfig} /)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/tokamak.pc.in ${PROJECT_BINARY_DIR}/tokamak.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/tokamak.pc DESTINATION ${_pkgconfig})
endif()

install(DIRECTORY ${PROJECT_SOURCE_DIR}/models/storyteller
  DESTINATION ${CMAKE_INSTALL_DATADIR}/tokamak/models)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(_package ${CMAKE_INSTALL_LIBDIR}/cmake/tokamak)
install(EXPORT tokamakTargets NAMESPACE tokamak:: DESTINATION ${_package} COMPONENT development)
configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/tokamakConfig.cmake.in
  ${PROJECT_BINARY_DIR}/tokamakConfig.cmake
  INSTALL_DESTINATION ${_package}
  NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/tokamakConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/tokamakConfig.cmake
  ${PROJECT_BINARY_DIR}/tokamakConfigVersion.cmake
  DESTINATION ${_package} COMPONENT development)
