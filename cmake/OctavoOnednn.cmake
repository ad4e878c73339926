# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
# The onednn engine is built where the library (dnnl) is found.
# Its OpenMP runtime is not built for the thread sanitizer, which would report every one of its barriers.
if(OCTAVO_WITH_ONEDNN AND NOT OCTAVO_SANITIZE MATCHES "thread")
  find_package(dnnl QUIET)
endif()
file(GLOB ONEDNN_SOURCES CONFIGURE_DEPENDS engines/onednn/*.cpp)
if(dnnl_FOUND AND ONEDNN_SOURCES)
  target_sources(octavo PRIVATE ${ONEDNN_SOURCES})
  target_link_libraries(octavo PRIVATE DNNL::dnnl)
  target_compile_definitions(octavo PRIVATE OCTAVO_HAVE_ONEDNN=1)
endif()
