// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Any bytes as a serialised graph with its plan.

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "octavo/octavo.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  octavo::graph::Graph graph;
  const octavo::error_t error = graph.deserialize(std::vector<std::uint8_t>(data, data + size));
  if (error.is_bad() && error.get_message().empty()) std::abort();
  return 0;
}
