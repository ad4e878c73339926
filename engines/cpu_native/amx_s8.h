// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The inner loop of the AMX path over a tile layer T: up to 2 x 2 tiles of 16 pixels x 16 channels. While the tiles of one
// call are multiplied, the vector unit finishes the accumulators that the call before has stored (AmxPending).

#include "engines/cpu_native/amx_tiles.h"
#include "engines/cpu_native/direct_s8.h"

namespace octavo::cpu_native {

inline constexpr int kAmxRows = 16, kAmxLanes = 16, kAmxPixels = 2 * kAmxRows, kAmxBlock = 2 * kAmxLanes;

struct AmxTile {
  const std::uint8_t* x[2];  ///< first pixel of each tile of pixels; the others follow at pixel_stride
  std::int64_t pixel_stride;
  const std::uint8_t* w;
  std::int64_t w_stride;  ///< bytes from one step of four channels to the next
  const DirectRun* runs;
  int run_count;
  int chunks, chunk_bytes;  ///< a run is cut into tiles' inner dimensions
  const std::int32_t* init;
  std::int32_t* out;  ///< [32][32]
};

/// Pixels whose accumulators are stored and wait for the affine epilogue; empty when `count` is 0.
struct AmxPending {
  const std::int32_t* acc = nullptr;  ///< [32][32]
  int next = 0, count = 0;
  std::uint8_t row[kAmxPixels];  ///< of acc
  std::byte* out[kAmxPixels];
  DirectAffine affine{};
};

using AmxKernel = void (*)(void* tiles, const AmxTile& tile, AmxPending& pending);

struct AmxIsa {
  const DirectIsa* base;
  AmxKernel kernel[3][3];  ///< by tiles of pixels, tiles of channels
  void (*configure)(void* tiles, const TileConfig& config);
  void (*release)(void* tiles);
  void (*finish)(AmxPending& pending, int channel_tiles);  ///< what still waits
  bool affine;                                             ///< finish() exists; else every tile goes through TileEpilogue
};

extern const AmxIsa kAmxEmulated;
#if defined(__x86_64__)
extern const AmxIsa kAmxHardware;
#endif

/// P gives finish_rows<channel tiles>(AmxPending&, rows).
template <class T, class P, int kPixelTiles, int kChannelTiles>
void amx_multiply(void* layer, const AmxTile& t, AmxPending& pending) {
  T& tiles = *static_cast<T*>(layer);
  tiles.template load<0>(t.init, 0);
  if constexpr (kChannelTiles > 1) tiles.template load<1>(t.init + kAmxLanes, 0);
  if constexpr (kPixelTiles > 1) {
    tiles.template load<2>(t.init, 0);
    if constexpr (kChannelTiles > 1) tiles.template load<3>(t.init + kAmxLanes, 0);
  }
  const int steps = t.run_count * t.chunks;
  const int share = (pending.count - pending.next + steps - 1) / (steps > 0 ? steps : 1);
  const std::int64_t chunk_rows = t.chunk_bytes / 4 * t.w_stride;
  for (int r = 0; r < t.run_count; ++r) {
    const std::uint8_t* w = t.w + t.runs[r].w;
    const std::uint8_t* x0 = t.x[0] + t.runs[r].x;
    const std::uint8_t* x1 = t.x[1] + t.runs[r].x;
    for (int j = 0; j < t.chunks; ++j) {
      tiles.template load<6>(w, t.w_stride);
      tiles.template load<4>(x0, t.pixel_stride);
      tiles.template multiply<0, 4, 6>();
      if constexpr (kChannelTiles > 1) {
        tiles.template load<7>(w + 64, t.w_stride);
        tiles.template multiply<1, 4, 7>();
      }
      if constexpr (kPixelTiles > 1) {
        tiles.template load<5>(x1, t.pixel_stride);
        tiles.template multiply<2, 5, 6>();
        if constexpr (kChannelTiles > 1) tiles.template multiply<3, 5, 7>();
      }
      P::template finish_rows<kChannelTiles>(pending, share);
      w += chunk_rows;
      x0 += t.chunk_bytes;
      x1 += t.chunk_bytes;
    }
  }
  constexpr std::int64_t kStride = kAmxBlock * 4;
  tiles.template store<0>(t.out, kStride);
  if constexpr (kChannelTiles > 1) tiles.template store<1>(t.out + kAmxLanes, kStride);
  if constexpr (kPixelTiles > 1) {
    tiles.template store<2>(t.out + kAmxRows * kAmxBlock, kStride);
    if constexpr (kChannelTiles > 1) tiles.template store<3>(t.out + kAmxRows * kAmxBlock + kAmxLanes, kStride);
  }
}

template <class T, class P>
constexpr AmxIsa make_amx(const DirectIsa* base, void (*finish)(AmxPending&, int), bool affine) {
  AmxIsa isa{};
  isa.base = base;
  isa.kernel[1][1] = &amx_multiply<T, P, 1, 1>;
  isa.kernel[1][2] = &amx_multiply<T, P, 1, 2>;
  isa.kernel[2][1] = &amx_multiply<T, P, 2, 1>;
  isa.kernel[2][2] = &amx_multiply<T, P, 2, 2>;
  isa.configure = [](void* tiles, const TileConfig& config) { static_cast<T*>(tiles)->configure(config); };
  isa.release = [](void* tiles) { static_cast<T*>(tiles)->release(); };
  isa.finish = finish;
  isa.affine = affine;
  return isa;
}

}  // namespace octavo::cpu_native
