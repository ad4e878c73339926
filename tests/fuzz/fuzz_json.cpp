// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// libFuzzer: any text as graph JSON. Whatever reads is validated, lowered, planned and written again.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "octavo/octavo.h"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace octavo;
  static handle_t const handle = [] {
    handle_t h = nullptr;
    if (create_handle(h, static_cast<std::int32_t>(DevicePick::cpu)).is_bad()) std::abort();
    return h;
  }();
  graph::Graph g;
  if (g.deserialize_text(std::string(reinterpret_cast<char const*>(data), size)).is_bad()) return 0;
  std::string text;
  static_cast<void>(g.serialize_text(text).is_good());
  static_cast<void>(g.print());
  static_cast<void>(g.key());
  if (g.validate().is_bad() || g.build_operation_graph(handle).is_bad()) return 0;
  static_cast<void>(g.create_execution_plans({HeurMode_t::A}).is_good());
  static_cast<void>(g.explain());
  // What was written must read again, to the same key.
  if (g.serialize_text(text).is_bad()) std::abort();
  graph::Graph again;
  if (again.deserialize_text(text).is_bad() || again.key() != g.key()) std::abort();
  return 0;
}
