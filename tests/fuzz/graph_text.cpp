// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Any text as a serialised graph: an error with a sentence, or a graph that validates or says why not.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "octavo/octavo.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  octavo::graph::Graph graph;
  octavo::error_t error = graph.deserialize_text(std::string(reinterpret_cast<const char*>(data), size));
  if (error.is_good()) error = graph.validate();
  if (error.is_bad() && error.get_message().empty()) std::abort();
  return 0;
}
