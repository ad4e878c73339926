# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
# Device code (kernels/**/*.cuh) is embedded into the library as text, each file with a hash of itself and everything that it
# includes: the part of a kernel's cache key that stands for its sources. Done at build time, so an edit needs no re-configure.
file(GLOB_RECURSE OCTAVO_KERNELS CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/*.cuh)
set(OCTAVO_EMBEDDED ${PROJECT_BINARY_DIR}/embedded_kernels.cpp)
add_custom_command(
  OUTPUT ${OCTAVO_EMBEDDED}
  COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR}/kernels -DOUTPUT=${OCTAVO_EMBEDDED}
          -P ${PROJECT_SOURCE_DIR}/cmake/embed_kernels.cmake
  DEPENDS ${OCTAVO_KERNELS} ${PROJECT_SOURCE_DIR}/cmake/embed_kernels.cmake
  COMMENT "Embedding device code"
  VERBATIM)
target_sources(octavo PRIVATE ${OCTAVO_EMBEDDED})
