// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// bf16 on AMX tiles: the inner loops over a tile layer T, and the vector code around them. tdpbf16ps counts denormals as zero,
// which the contract does not: Bf16Range is how a plan finds out that it must not be used.

#include <cstdint>

#include "engines/cpu_native/amx_tiles.h"

namespace octavo::cpu_native {

inline constexpr int kTileRows = 16, kTileLanes = 16, kTilePixels = 2 * kTileRows, kTileBlock = 2 * kTileLanes;

/// Consecutive steps of the inner dimension that start at one place of A and of B.
struct AmxRun {
  std::int64_t a = 0;  ///< bytes
  std::int64_t b = 0;  ///< steps
  int steps = 0;
};

/// out[32][32] (f32) = or += A * B, up to 2 x 2 tiles.
struct AmxBf16Args {
  const std::uint8_t* a[2] = {};  ///< first row of either tile
  std::int64_t a_row = 0;
  const AmxRun* runs = nullptr;
  int run_count = 0;
  int step_bytes = 64;  ///< of A; half as many rows of B, times two
  const std::uint8_t* b = nullptr;
  std::int64_t b_row = 0, b_step = 0;  ///< b_step: from one step to the next
  float* out = nullptr;
  std::int64_t out_row = 0;
  bool accumulate = false;
};

/// Smallest magnitude but zero, and largest, of what was read.
struct Bf16Range {
  std::uint16_t smallest = 0xffff;  ///< magnitude - 1
  std::uint16_t largest = 0;
  bool finite() const { return largest < 0x7f80; }
  /// Products of two such ranges and sums of them lose nothing that the bound does not cover when denormals are flushed:
  /// 2^-126 is then below 2^-24 of each product.
  static bool safe(const Bf16Range& a, const Bf16Range& b) {
    const int ea = (a.smallest + 1) >> 7, eb = (b.smallest + 1) >> 7;
    return ea >= 1 && eb >= 1 && ea + eb >= 2 * 127 - 100;
  }
};

struct AmxBf16Isa {
  void (*kernel[3][3])(void* tiles, const AmxBf16Args& args);  ///< by tiles of A, tiles of B
  void (*configure)(void* tiles, const TileConfig& config);
  void (*release)(void* tiles);
  /// Copies `rows` rows of `count` elements, pitches in elements, and takes note of their range; without dst only that.
  void (*copy_rows)(std::uint16_t* dst, std::int64_t dst_row, const std::uint16_t* src, std::int64_t src_row, std::int64_t rows,
                    std::int64_t count, Bf16Range& range);
  /// f32 to bf16, to nearest even; denormals may become zero.
  void (*narrow_rows)(std::uint16_t* dst, std::int64_t dst_row, const float* src, std::int64_t src_row, std::int64_t rows,
                      std::int64_t count);
  /// dst[i] = {even[i], odd[i]}
  void (*interleave)(std::uint16_t* dst, const std::uint16_t* even, const std::uint16_t* odd, std::int64_t count);
  /// dst[j * dst_row + i] = src[i * src_row + j], i < 32 (zero from `rows` on), j < columns
  void (*transpose)(std::uint16_t* dst, std::int64_t dst_row, const std::uint16_t* src, std::int64_t src_row, std::int64_t rows,
                    std::int64_t columns);
};

extern const AmxBf16Isa kAmxBf16Emulated;
#if defined(__x86_64__)
extern const AmxBf16Isa kAmxBf16Hardware;
#endif

template <class T, int kRowTiles, int kLaneTiles>
void amx_bf16_multiply(void* layer, const AmxBf16Args& g) {
  T& tiles = *static_cast<T*>(layer);
  float* const below = g.out + kTileRows * g.out_row;
  const std::int64_t out_bytes = g.out_row * 4;
  if (g.accumulate) {
    tiles.template load<0>(g.out, out_bytes);
    if constexpr (kLaneTiles > 1) tiles.template load<1>(g.out + kTileLanes, out_bytes);
    if constexpr (kRowTiles > 1) {
      tiles.template load<2>(below, out_bytes);
      if constexpr (kLaneTiles > 1) tiles.template load<3>(below + kTileLanes, out_bytes);
    }
  } else {
    tiles.template zero<0>();
    if constexpr (kLaneTiles > 1) tiles.template zero<1>();
    if constexpr (kRowTiles > 1) {
      tiles.template zero<2>();
      if constexpr (kLaneTiles > 1) tiles.template zero<3>();
    }
  }
  for (int r = 0; r < g.run_count; ++r) {
    const std::uint8_t* b = g.b + g.runs[r].b * g.b_step;
    const std::uint8_t* a0 = g.a[0] + g.runs[r].a;
    const std::uint8_t* a1 = g.a[1] + g.runs[r].a;
    for (int s = g.runs[r].steps; s > 0; --s) {
      tiles.template load<6>(b, g.b_row);
      tiles.template load<4>(a0, g.a_row);
      tiles.template multiply_bf16<0, 4, 6>();
      if constexpr (kLaneTiles > 1) {
        tiles.template load<7>(b + 64, g.b_row);
        tiles.template multiply_bf16<1, 4, 7>();
      }
      if constexpr (kRowTiles > 1) {
        tiles.template load<5>(a1, g.a_row);
        tiles.template multiply_bf16<2, 5, 6>();
        if constexpr (kLaneTiles > 1) tiles.template multiply_bf16<3, 5, 7>();
      }
      b += g.b_step;
      a0 += g.step_bytes;
      a1 += g.step_bytes;
    }
  }
  tiles.template store<0>(g.out, out_bytes);
  if constexpr (kLaneTiles > 1) tiles.template store<1>(g.out + kTileLanes, out_bytes);
  if constexpr (kRowTiles > 1) {
    tiles.template store<2>(below, out_bytes);
    if constexpr (kLaneTiles > 1) tiles.template store<3>(below + kTileLanes, out_bytes);
  }
}

template <class T>
constexpr AmxBf16Isa make_amx_bf16() {
  AmxBf16Isa isa{};
  isa.kernel[1][1] = &amx_bf16_multiply<T, 1, 1>;
  isa.kernel[1][2] = &amx_bf16_multiply<T, 1, 2>;
  isa.kernel[2][1] = &amx_bf16_multiply<T, 2, 1>;
  isa.kernel[2][2] = &amx_bf16_multiply<T, 2, 2>;
  isa.configure = [](void* tiles, const TileConfig& config) { static_cast<T*>(tiles)->configure(config); };
  isa.release = [](void* tiles) { static_cast<T*>(tiles)->release(); };
  return isa;
}

}  // namespace octavo::cpu_native
