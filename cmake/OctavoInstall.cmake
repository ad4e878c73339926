# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
# `cmake --install` gives find_package(octavo): library, headers, the compat header, the command line, package files.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(OCTAVO_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/octavo)
install(TARGETS octavo EXPORT octavo-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT development
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/octavo DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development FILES_MATCHING PATTERN "*.h")
# The compat header gives programs the global `json` that they expect, so nlohmann's single header comes along; it is only
# on the include path of programs that ask for the compat directory.
if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/third_party/nlohmann)
  install(DIRECTORY third_party/nlohmann DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/octavo/compat COMPONENT development)
endif()
if(TARGET octavo_cli)
  install(TARGETS octavo_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT development)
endif()
install(EXPORT octavo-targets FILE octavo-targets.cmake NAMESPACE octavo:: DESTINATION ${OCTAVO_CMAKE_DIR}
  COMPONENT development)
# A static library's private dependencies are its consumers' too.
set(OCTAVO_HAVE_ONEDNN_DEPENDENCY 0)
get_target_property(octavo_links octavo LINK_LIBRARIES)
if("DNNL::dnnl" IN_LIST octavo_links)
  set(OCTAVO_HAVE_ONEDNN_DEPENDENCY 1)
endif()
configure_package_config_file(cmake/octavo-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/octavo-config.cmake
  INSTALL_DESTINATION ${OCTAVO_CMAKE_DIR} PATH_VARS CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/octavo-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/octavo-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/octavo-config-version.cmake
  DESTINATION ${OCTAVO_CMAKE_DIR} COMPONENT development)
