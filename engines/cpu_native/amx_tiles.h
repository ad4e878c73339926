// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The thin layer under the AMX path: eight tiles of up to 16 rows x 64 bytes. HardwareTiles is the instructions, EmulatedTiles
// the same in plain C++, so that everything above it is tested on any machine.

#include <cmath>
#include <cstdint>
#include <cstring>

namespace octavo::cpu_native {

/// The 64 bytes that ldtilecfg reads.
struct alignas(64) TileConfig {
  std::uint8_t palette = 1, start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};

  void set(int tile, int tile_rows, int bytes) {
    rows[tile] = static_cast<std::uint8_t>(tile_rows);
    row_bytes[tile] = static_cast<std::uint16_t>(bytes);
  }
};
static_assert(sizeof(TileConfig) == 64);

class EmulatedTiles {
 public:
  void configure(const TileConfig& config) {
    config_ = config;
    std::memset(data_, 0, sizeof data_);
  }
  void release() { config_ = {}; }

  template <int kTile>
  void load(const void* base, std::int64_t stride) {
    for (int r = 0; r < config_.rows[kTile]; ++r) {
      std::memcpy(data_[kTile][r], static_cast<const std::uint8_t*>(base) + r * stride, config_.row_bytes[kTile]);
    }
  }
  template <int kTile>
  void store(void* base, std::int64_t stride) const {
    for (int r = 0; r < config_.rows[kTile]; ++r) {
      std::memcpy(static_cast<std::uint8_t*>(base) + r * stride, data_[kTile][r], config_.row_bytes[kTile]);
    }
  }
  template <int kTile>
  void zero() {
    std::memset(data_[kTile], 0, sizeof data_[kTile]);
  }
  /// C += A * B, signed bytes: B holds four bytes of the inner dimension in each 32-bit column.
  template <int kC, int kA, int kB>
  void multiply() {
    const int inner = config_.row_bytes[kA] / 4;
    for (int m = 0; m < config_.rows[kC]; ++m) {
      for (int n = 0; n < config_.row_bytes[kC] / 4; ++n) {
        std::uint32_t sum;
        std::memcpy(&sum, &data_[kC][m][n * 4], 4);
        for (int k = 0; k < inner; ++k) {
          for (int i = 0; i < 4; ++i) {
            // NOLINTNEXTLINE(bugprone-signed-char-misuse): sign extension is what the instruction does
            const int a = static_cast<std::int8_t>(data_[kA][m][k * 4 + i]);
            // NOLINTNEXTLINE(bugprone-signed-char-misuse)
            const int b = static_cast<std::int8_t>(data_[kB][k][n * 4 + i]);
            sum += static_cast<std::uint32_t>(a * b);
          }
        }
        std::memcpy(&data_[kC][m][n * 4], &sum, 4);
      }
    }
  }
  /// C += A * B, bf16: B holds two of the inner dimension in each 32-bit column. The even and the odd products are summed apart
  /// by FMA, to nearest even, and added to C at the end; denormals count as zero everywhere.
  template <int kC, int kA, int kB>
  void multiply_bf16() {
    const int inner = config_.row_bytes[kA] / 4;
    for (int m = 0; m < config_.rows[kC]; ++m) {
      for (int n = 0; n < config_.row_bytes[kC] / 4; ++n) {
        float even = 0, odd = 0, sum;
        for (int k = 0; k < inner; ++k) {
          even = flush(std::fma(bf16(kA, m, 2 * k), bf16(kB, k, 2 * n), even));
          odd = flush(std::fma(bf16(kA, m, 2 * k + 1), bf16(kB, k, 2 * n + 1), odd));
        }
        std::memcpy(&sum, &data_[kC][m][n * 4], 4);
        sum = flush(flush(sum) + flush(even + odd));
        std::memcpy(&data_[kC][m][n * 4], &sum, 4);
      }
    }
  }

 private:
  static float flush(float v) { return std::fpclassify(v) == FP_SUBNORMAL ? std::copysign(0.0f, v) : v; }
  float bf16(int tile, int row, int column) const {
    std::uint16_t half;
    std::memcpy(&half, &data_[tile][row][column * 2], 2);
    return flush(__builtin_bit_cast(float, static_cast<std::uint32_t>(half) << 16));
  }

  TileConfig config_;
  std::uint8_t data_[8][16][64] = {};
};

#if defined(__AMX_INT8__) || defined(__AMXINT8__)  // GCC's name, Clang 14's
/// As assembly: the header's macros paste the tile number into text, which a template argument is not.
class HardwareTiles {
 public:
  void configure(const TileConfig& config) { __asm__ volatile("ldtilecfg %0" : : "m"(config)); }
  void release() { __asm__ volatile("tilerelease"); }

  template <int kTile>
  void load(const void* base, std::int64_t stride) {
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(base), "r"(stride), "i"(kTile) : "memory");
  }
  template <int kTile>
  void store(void* base, std::int64_t stride) const {
    __asm__ volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(base), "r"(stride), "i"(kTile) : "memory");
  }
  template <int kC, int kA, int kB>
  void multiply() {
    __asm__ volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kC), "i"(kA), "i"(kB));
  }
  template <int kTile>
  void zero() {
    __asm__ volatile("tilezero %%tmm%c0" : : "i"(kTile));
  }
  template <int kC, int kA, int kB>
  void multiply_bf16() {
    __asm__ volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kC), "i"(kA), "i"(kB));
  }
};
#endif

}  // namespace octavo::cpu_native
