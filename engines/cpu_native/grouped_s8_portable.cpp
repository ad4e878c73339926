// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstring>

#include "engines/cpu_native/grouped_s8.h"

namespace octavo::cpu_native {
namespace {

void one_line(const GroupedLine& l) {
  const int bytes = l.lanes ? 64 : 4;
  for (int j = 0; j < l.columns; ++j) {
    const std::int64_t column = l.first_column + j;
    std::uint8_t* out = l.out + static_cast<std::size_t>(j) * l.dwords * bytes;
    if (!l.row || column < 0 || column >= l.width) {
      std::memset(out, l.fill, static_cast<std::size_t>(l.dwords) * bytes);
      continue;
    }
    const std::uint8_t* in = l.row + column * l.column_bytes;
    for (int i = 0; i < l.dwords * bytes; ++i) {
      const int from = l.lanes ? l.lanes[i] : i;
      out[i] = from < l.span ? in[from] ^ l.flip : l.fill;  // past the span: meets a zero weight
    }
  }
}

void line(const GroupedLine& l) {
  GroupedLine unit = l;
  for (int u = 0; u < l.units; ++u, unit.out += l.unit_pitch) {
    one_line(unit);
    if (unit.row) unit.row += l.span;
  }
}

void one_unit(const GroupedRow& t) {
  const int bytes = t.broadcast ? 4 : 64;
  for (int o = 0; o < t.count; ++o) {
    std::int32_t acc[kUnitLanes];
    std::memcpy(acc, t.start, sizeof acc);
    const std::int8_t* w = t.weights;
    for (int r = 0; r < t.filter_rows; ++r) {
      for (int s = 0; s < t.filter_columns; ++s) {
        const std::uint8_t* x = t.lines[r] + o * t.advance + t.tap[s];
        for (int d = 0; d < t.dwords; ++d, w += 64, x += bytes) {
          for (int lane = 0; lane < kUnitLanes; ++lane) {
            const std::uint8_t* v = t.broadcast ? x : x + 4 * lane;
            for (int b = 0; b < 4; ++b) acc[lane] += v[b] * w[4 * lane + b];
          }
        }
      }
    }
    std::memcpy(t.sums + static_cast<std::size_t>(o) * kSumsPitch, acc, sizeof acc);
  }
}

void row(const GroupedRow& t) {
  GroupedRow unit = t;
  for (int u = 0; u < t.units; ++u) {
    one_unit(unit);
    unit.weights += t.unit_bytes;
    unit.start += t.unit_bytes / sizeof(std::int32_t);
    unit.sums += kUnitLanes;
  }
}

}  // namespace

GroupedKernels grouped_s8_portable() { return {line, row}; }

}  // namespace octavo::cpu_native
