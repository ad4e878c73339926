// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the integer Winograd path F(4x4, 3x3) asks of an instruction set: the two transforms, the filter's transform, and (from
// DirectIsa) 16-bit products summed in 32 bits.
//
// It is exact. With the rows of G scaled by d = (24, 24, 24, 24, 24, 12) up to G = (6,0,0), (-4,-4,-4), (-4,4,-4), (1,2,4),
// (1,-2,4), (0,0,12), B^T as usual and A^T's last column doubled, all arithmetic is in integers and gives 576 y modulo 2^32.
// 576 = 9 * 64: multiplied by the inverse of 9 and shifted right by 6, that is y wherever |y| < 2^25. Ranges: the transformed
// input is at most 100 * 255, the transformed filter at most 144 * 227: both fit 16 bits.

#include <cstdint>

#include "engines/cpu_native/direct_s8.h"

namespace octavo::cpu_native {

inline constexpr int kWinogradPoints = 36, kWinogradTile = 4, kWinogradReach = 6;
/// Largest |w - zero point| whose transform fits 16 bits.
inline constexpr int kWinogradMaxWeight = 227;
inline constexpr std::int32_t kInverseOf9 = 0x38E38E39;

/// Tiles that lie side by side in one row of tiles of one image.
struct WinogradInput {
  const std::uint8_t* row[kWinogradReach];  ///< channel 0 at column 0; null: padding
  std::int64_t pixel_stride;                ///< bytes
  std::int64_t vector, vector_stride;       ///< channels in runs of `vector` (1: all in one run), bytes from run to run
  std::int64_t column, width;               ///< first input column of the first tile (may be negative); image width
  std::int64_t channels, tiles;
  std::int32_t zero_point;
  bool is_signed;
  std::int16_t* to;  ///< [point][tile][channel]
  std::int64_t point_pitch, tile_pitch;
};

/// `tiles` tiles in a strip, one block of output channels.
struct WinogradOutput {
  const std::int32_t* from;  ///< [point][tile][lane]
  std::int64_t point_pitch, tile_pitch;
  std::int64_t tiles;
  int vectors;
  std::int32_t* to;  ///< [4][4 * tiles][vectors * lanes]
  bool accumulate;   ///< add to what is there
};

/// One step (two input channels) of a block: [tap][lane][2] -> [point][lane][2].
struct WinogradFilter {
  const std::int16_t* from;
  std::int64_t tap_pitch;
  const std::int16_t* zero_points;  ///< [lane][2]
  std::int16_t* to;
  std::int64_t point_pitch;
  std::int64_t elements;  ///< 2 * lanes of the block
};

struct WinogradIsa {
  const DirectIsa* products;
  int chunk;  ///< channels the input transform takes at once
  void (*input)(const WinogradInput&);
  void (*output)(const WinogradOutput&);
  void (*filter)(const WinogradFilter&);
};

extern const WinogradIsa kWinogradPortable;
#if defined(__x86_64__)
extern const DirectIsa kWordsVnni;  ///< vpdpwssd
extern const WinogradIsa kWinogradAvx2, kWinogradAvx512, kWinogradVnni;
#endif
const WinogradIsa& winograd_isa(CpuIsa isa);

}  // namespace octavo::cpu_native
