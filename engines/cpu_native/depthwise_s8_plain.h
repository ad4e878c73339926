// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The depthwise tile in plain loops: the portable level and, compiled for it, the AVX2 level.

#include <cstring>

#include "engines/cpu_native/depthwise_s8.h"

// Not inline across files: each includer compiles its own copy for its own instruction set.
namespace octavo::cpu_native {
namespace depthwise_plain {
namespace {

void fill(const DepthwiseTile& t) {
  for (int j = 0; j < t.columns; ++j) {
    const std::int64_t column = t.first_column + j;
    const bool inside = column >= 0 && column < t.width;
    for (int r = 0; r < 4 * t.groups; ++r) {
      std::uint8_t* out = t.buffer + (static_cast<std::size_t>(j) * t.groups + r / 4) * kDepthwiseBlock * 4 + r % 4;
      if (inside && t.rows[r]) {
        const std::uint8_t* in = t.rows[r] + column * t.column_bytes;
        for (int c = 0; c < t.channels; ++c) out[4 * c] = in[c] ^ t.flip;
      } else {
        for (int c = 0; c < t.channels; ++c) out[4 * c] = t.fill;
      }
    }
  }
}

void sums(const DepthwiseTile& t) {
  for (int o = 0; o < t.count; ++o) {
    std::int32_t* sums = t.sums + static_cast<std::size_t>(o) * kDepthwiseBlock;
    std::memcpy(sums, t.start, kDepthwiseBlock * sizeof(std::int32_t));
    for (int s = 0; s < t.filter_columns; ++s) {
      for (int g = 0; g < t.groups; ++g) {
        const std::uint8_t* x = t.buffer + o * t.advance + t.tap[s] + g * kDepthwiseBlock * 4;
        const std::int8_t* w = t.weights + (static_cast<std::size_t>(s) * t.groups + g) * kDepthwiseBlock * 4;
        for (int c = 0; c < t.channels; ++c) {
          sums[c] +=
              x[4 * c] * w[4 * c] + x[4 * c + 1] * w[4 * c + 1] + x[4 * c + 2] * w[4 * c + 2] + x[4 * c + 3] * w[4 * c + 3];
        }
      }
    }
  }
}

}  // namespace
}  // namespace depthwise_plain
}  // namespace octavo::cpu_native
