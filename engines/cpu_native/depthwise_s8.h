// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

// Depthwise 8-bit fprop. Four filter rows of one channel are four bytes of one dword: an image column becomes a vector
// "four rows by 16 channels", built once and read by every filter column that covers it.

#include <cstddef>
#include <cstdint>

namespace octavo::cpu_native {

inline constexpr int kDepthwiseBlock = 64;    ///< channels a block
inline constexpr int kDepthwiseColumns = 64;  ///< output columns a tile: buffer and accumulators stay in L1

/// One tile: output columns [0, count) of one output row, one block of channels.
struct DepthwiseTile {
  const std::uint8_t* const* rows;  ///< filter rows: address of (row, image column 0, first channel); null = padding
  std::ptrdiff_t column_bytes;      ///< from one image column to the next
  std::int64_t width;               ///< image columns
  std::int64_t first_column;        ///< image column that buffer column 0 holds; may lie outside the image
  int columns;                      ///< buffer columns
  int filter_rows, filter_columns;
  int step, dilation;          ///< buffer columns between outputs, between taps
  int count;                   ///< outputs
  int channels;                ///< real channels of the block
  std::uint8_t flip;           ///< 0x80 turns s8 into u8 + 128
  std::uint8_t fill;           ///< what padding reads, after the flip
  const std::int8_t* weights;  ///< [column][row group of 4][64 channels][4 rows]
  const std::int32_t* start;   ///< [64] what the sums start from
  std::uint8_t* buffer;        ///< columns * groups * 256 bytes, 64-byte aligned
  std::int32_t* sums;          ///< [count][64]
};

using DepthwiseKernel = void (*)(const DepthwiseTile& tile);

void depthwise_s8_portable(const DepthwiseTile& tile);
#if defined(__x86_64__)
void depthwise_s8_avx2(const DepthwiseTile& tile);
void depthwise_s8_avx512_vnni(const DepthwiseTile& tile);
#endif

inline int depthwise_groups(int filter_rows) { return (filter_rows + 3) / 4; }

}  // namespace octavo::cpu_native
