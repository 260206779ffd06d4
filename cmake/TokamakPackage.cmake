# Installation and the exported package: find_package(tokamak 0.1 CONFIG REQUIRED), tokamak::tokamak.
include(CMakePackageConfigHelpers)

# What programs link, installed or as a subproject; <engine/engine.h> is the header to include.
add_library(tokamak INTERFACE)
add_library(tokamak::tokamak ALIAS tokamak)
target_link_libraries(tokamak INTERFACE tokamak_engine)

if(NOT TOKAMAK_INSTALL)
  return()
endif()

get_property(_layers GLOBAL PROPERTY TOKAMAK_TARGETS)
list(REMOVE_DUPLICATES _layers)
install(TARGETS tokamak ${_layers} EXPORT tokamakTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/tokamak)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tokamak DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# The headers keep their folders, so that they find each other as they do in src/. Those of a
# device's backend need its SDK and stay here.
set(_folders base formats hub text graph model fuse kernels plan backend generate tune engine report)
list(TRANSFORM _folders PREPEND ${PROJECT_SOURCE_DIR}/src/)
install(DIRECTORY ${_folders} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tokamak
  FILES_MATCHING PATTERN "*.h"
  PATTERN "*_test*" EXCLUDE
  PATTERN webgpu EXCLUDE
  PATTERN wgsl EXCLUDE)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/models/storyteller
  DESTINATION ${CMAKE_INSTALL_DATADIR}/tokamak/models)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(_package ${CMAKE_INSTALL_LIBDIR}/cmake/tokamak)
install(EXPORT tokamakTargets NAMESPACE tokamak:: DESTINATION ${_package})
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
  DESTINATION ${_package})
