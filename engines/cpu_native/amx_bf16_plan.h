// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The input of the AMX bf16 paths as they read it: a strip of bf16, channels last, padding included, its rows and columns
// sorted by their remainder modulo the stride. Then any tap of any output point is a constant distance from the point's
// place, and the points of all rows follow one another at one distance, the few columns between two rows included.

#include <array>
#include <cstdint>
#include <vector>

#include "engines/cpu_native/amx_bf16.h"
#include "engines/cpu_native/direct_float.h"

namespace octavo::cpu_native {

struct Bf16Strip {
  bool merged = false;      ///< columns are in the order of memory: a filter row's taps x channels are one run
  std::int64_t pitch = 0;   ///< elements from pixel to pixel
  std::int64_t planes = 0;  ///< of depth
  std::int64_t row_sets = 1, column_sets = 1;  ///< remainders modulo the stride
  std::int64_t rows = 0, columns = 0;          ///< of one set
  std::int64_t point = 0;                      ///< elements from one output point to the next
  std::int64_t row_points = 0;                 ///< points from one row of outputs to the next
  std::int64_t image_elements = 0;

  std::int64_t tap(const FloatGeometry& g, std::int64_t od, std::int64_t oh, std::int64_t ow) const;
};

/// The strip of so many rows and columns of outputs. `overrun`: elements that may be read after the last tap of a row.
Bf16Strip bf16_strip(const FloatGeometry& g, bool merged, std::int64_t pitch, std::int64_t rows, std::int64_t columns,
                     std::int64_t overrun);

struct Bf16Box {
  std::int64_t image = 0, plane = 0, row = 0, column = 0;  ///< first output point
  std::int64_t rows = 0, columns = 0;                      ///< outputs, at most the strip's
  std::int64_t channel = 0, channels = 0;
};
void pack_bf16(const AmxBf16Isa& isa, const FloatGeometry& g, const Bf16Strip& strip, const void* in, const Bf16Box& box,
               std::uint16_t* dst, Bf16Range& range);

}  // namespace octavo::cpu_native
