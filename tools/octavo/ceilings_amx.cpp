// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "ceilings.h"

#ifdef __AMX_TILE__
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

namespace octavo::cli {
namespace {

struct alignas(64) TileConfig {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

// Random bits: zeros run up to a quarter too fast.
void load_tiles() {
  constexpr int kArchReqXcompPerm = 0x1023, kTileData = 18;
  syscall(SYS_arch_prctl, kArchReqXcompPerm, kTileData);
  static const TileConfig config;
  _tile_loadconfig(&config);
  alignas(64) std::uint32_t bits[256];
  std::uint32_t state = 0x9e3779b9;
  for (std::uint32_t& word : bits) {
    state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    word = (state & 0x007f007f) | 0x3f003f00;  // also ordinary bf16 numbers
  }
  _tile_loadd(4, bits, 64);
  _tile_loadd(5, bits, 64);
  _tile_loadd(6, bits, 64);
  _tile_loadd(7, bits, 64);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
}

}  // namespace

double loop_s8_amx(std::int64_t iterations) {
  load_tiles();
  for (std::int64_t n = 0; n < iterations; ++n) {
    _tile_dpbssd(0, 4, 6);
    _tile_dpbssd(1, 4, 7);
    _tile_dpbssd(2, 5, 6);
    _tile_dpbssd(3, 5, 7);
  }
  _tile_release();
  return static_cast<double>(iterations) * 4 * 16 * 16 * 64 * 2;
}

double loop_bf16_amx(std::int64_t iterations) {
  load_tiles();
  for (std::int64_t n = 0; n < iterations; ++n) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_release();
  return static_cast<double>(iterations) * 4 * 16 * 16 * 32 * 2;
}

}  // namespace octavo::cli
#endif
