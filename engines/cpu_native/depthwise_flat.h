// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Depthwise 8-bit fprop over channels-last rows seen as one run of bytes: output byte f of a row is the sum over taps of
// x[f + tap] * w[tap][f mod C], so 64 bytes are one vector whatever C is. The filter is packed once for each place that a
// vector can have relative to the channels (lcm(64, C) / 64 of them). Image rows are first copied to lines that hold the
// padding, encoded, their columns sorted by phase of the stride; four lines then make "four rows by 16 bytes" by unpacks.

#include <cstddef>
#include <cstdint>

namespace octavo::cpu_native {

struct FlatTap {
  int row = 0;                ///< of four lines: first of them
  std::ptrdiff_t offset = 0;  ///< bytes in a line
};

/// Some vectors of one or two output rows, `step` bytes apart, all at the same place relative to the channels.
struct FlatRun {
  const std::uint8_t* const* lines;
  const FlatTap* taps;
  int tap_count;
  const std::int8_t* weights;     ///< [row][tap][64 slots][4 lines]
  const std::int32_t* start;      ///< [64 slots] what the sums start from
  std::int64_t first, step, end;  ///< bytes of an output row; end: where it ends
  // Affine form: scale and bias [64 slots], one byte an output. Else sums, 64 slots a vector.
  const float *scale, *bias;
  bool relu, is_unsigned;
  std::byte* out[2];
  std::int32_t* sums[2];
};

/// One image row, its columns [0, columns) phase by phase: column j at phase j % step, place j / step.
struct FlatLine {
  const std::uint8_t* from;  ///< the row's first byte
  std::int64_t width, channels;
  std::int64_t first_column;  ///< image column of line column 0 (may lie outside)
  std::int64_t columns, step, phase_bytes;
  std::uint8_t flip, fill;
  std::uint8_t* to;
};

struct FlatKernels {
  void (*run)(const FlatRun&, int rows);
  void (*line)(const FlatLine&);
};

#if defined(__x86_64__)
FlatKernels depthwise_flat_avx512_vnni();
#endif

}  // namespace octavo::cpu_native
