// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// libFuzzer: any bytes as a serialised graph, as device properties and as a kernel cache. The first byte says whether the rest
// is taken as it is or put into a container whose length and hash fit, so that what lies behind them is reached too.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/hash.h"
#include "octavo/octavo.h"

namespace {

void put_u64(std::vector<std::uint8_t>& out, std::uint64_t v) {
  for (int i = 0; i < 8; ++i) out.push_back(static_cast<std::uint8_t>(v >> (8 * i)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace octavo;
  if (size == 0) return 0;
  static handle_t const handle = [] {
    handle_t h = nullptr;
    if (create_handle(h, static_cast<std::int32_t>(DevicePick::cpu)).is_bad()) std::abort();
    return h;
  }();
  std::vector<std::uint8_t> bytes(data + 1, data + size);
  if (data[0] % 2 == 1) {
    std::string const text(bytes.begin(), bytes.end());
    Hash128 const hash = hash_bytes(text);
    std::vector<std::uint8_t> whole{'O', 'C', 'T', 'A', 'V', 'O', 'G', '1'};
    put_u64(whole, text.size());
    put_u64(whole, hash.hi);
    put_u64(whole, hash.lo);
    whole.insert(whole.end(), bytes.begin(), bytes.end());
    bytes = std::move(whole);
  }
  graph::Graph g;
  static_cast<void>(g.deserialize(handle, bytes).is_good());
  static_cast<void>(g.get_workspace_size());
  DeviceProperties properties;
  static_cast<void>(properties.deserialize(bytes).is_good());
  KernelCache cache;
  static_cast<void>(cache.from_json(std::string(bytes.begin(), bytes.end())).is_good());
  return 0;
}
