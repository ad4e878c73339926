// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Depthwise 8-bit fprop. Four image rows of one channel are four bytes of one dword: an image column becomes a vector "four
// rows by 16 channels", built once and read by every filter column that covers it, and (stride 1) by every output row whose
// filter rows are among the four: the filter is packed once for each such shift.

#include <cstddef>
#include <cstdint>

namespace octavo::cpu_native {

inline constexpr int kDepthwiseBlock = 64;    ///< channels a block
inline constexpr int kDepthwiseColumns = 64;  ///< output columns a tile: buffer and sums stay in L1

inline int depthwise_groups(int filter_rows) { return (filter_rows + 3) / 4; }

/// One tile: output columns [0, count) of one output row, one block of channels.
struct DepthwiseTile {
  const std::uint8_t* const* rows;  ///< 4 * groups image rows: address of (row, column 0, first channel); null = padding
  std::ptrdiff_t column_bytes;      ///< from one image column to the next
  std::int64_t width;               ///< image columns
  std::int64_t first_column;        ///< image column that buffer column 0 holds; may lie outside the image
  int columns;                      ///< buffer columns
  int groups, filter_columns;
  const std::size_t* tap;      ///< [filter_columns] byte offset of a tap in the buffer
  std::size_t advance;         ///< bytes in the buffer from one vector of outputs to the next
  int count;                   ///< outputs
  int channels;                ///< real channels of the block
  int pixels;                  ///< 1, 2 or 4 neighbouring outputs share the 64 lanes of a narrow block
  std::uint8_t flip;           ///< 0x80 turns s8 into u8 + 128
  std::uint8_t fill;           ///< what padding reads, after the flip
  const std::int8_t* weights;  ///< [column][group][64 channels][4 rows]
  const std::int32_t* start;   ///< [64] what the sums start from
  std::uint8_t* buffer;        ///< columns * groups * 256 bytes, 64-byte aligned
  std::int32_t* sums;          ///< [ceil(count / pixels)][64]
};

/// The affine epilogue fused behind the sums: one 64-byte store an output. Channels of weights, start, scale and bias stand
/// in the order of depthwise_slot().
struct DepthwiseAffine {
  const float* scale;  ///< [64]
  const float* bias;   ///< [64]
  bool relu, is_unsigned;
  std::uint8_t* out;
  std::ptrdiff_t out_stride;  ///< bytes from one output to the next
};

/// Byte and word unpacks work within 128-bit lanes: they leave channel c at this place, and the packs undo it.
inline int depthwise_slot(int c) { return c % 16 / 4 * 16 + c / 16 * 4 + c % 4; }

struct DepthwiseKernels {
  void (*fill)(const DepthwiseTile&);                           ///< image -> buffer
  void (*sums)(const DepthwiseTile&);                           ///< buffer -> sums
  void (*fused)(const DepthwiseTile&, const DepthwiseAffine&);  ///< null: no fused form
  void (*fill_slots)(const DepthwiseTile&);                     ///< the fill that fused needs
  /// One image row of a narrow block, its columns side by side phase by phase (a phase is every step-th column), flipped and
  /// padded. Null: no lane sharing.
  void (*line)(const DepthwiseTile&, const std::uint8_t* row, int step, int phase_columns, std::uint8_t* out);
};

DepthwiseKernels depthwise_s8_portable();
#if defined(__x86_64__)
DepthwiseKernels depthwise_s8_avx2();
DepthwiseKernels depthwise_s8_avx512_vnni();
#endif

}  // namespace octavo::cpu_native
