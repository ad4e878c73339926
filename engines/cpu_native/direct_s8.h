// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the direct s8/u8 path asks of an instruction set: a family of microkernels and a row packer.
//
// The kernels multiply "encoded" inputs x' by "encoded" weights w' and sum exactly in int32:
//   u8  (VNNI)          x' = x + 128 for s8, x for u8;  w' = w for s8, w - 128 for u8
//   s8  (neon sdot)     x' = x for s8, x - 128 for u8;  w' as above
//   s16 (the others)    x' = x - zero_point(x);         w' = w
// and  sum (x - zx)(w - zw) = sum x'w' - X0 sum w' - W0 sum x' + count X0 W0   (modulo 2^32), X0 and W0 being the encoded
// zero points. Padding reads X0, so it needs no case of its own.

#include <cstddef>
#include <cstdint>

#include "octavo/device.h"

namespace octavo::cpu_native {

inline constexpr int kMaxTilePixels = 12;
inline constexpr int kMaxTileVectors = 4;

/// One stretch of consecutive bytes of a pixel's window.
struct DirectRun {
  std::int32_t x = 0;  ///< byte offset from the pixel's own offset
  std::int32_t pad = 0;
  std::int64_t w = 0;  ///< byte offset in the packed block
};

struct DirectTile {
  const std::uint8_t* x;
  const std::int32_t* pixel;  ///< byte offset of each pixel of the tile
  const std::uint8_t* w;
  const DirectRun* runs;
  int run_count;
  int steps;                 ///< four-byte steps in each run
  const std::int32_t* init;  ///< vectors * lanes starting values
  std::int32_t* out;         ///< [pixels][out_stride]
  std::int64_t out_stride;
  const std::uint8_t* prefetch = nullptr;  ///< a cache line a step from here, where the instruction set asks for it
};
using DirectKernel = void (*)(const DirectTile&);

/// The affine epilogue in registers: each pixel's channels go straight to their place. `out` of the tile is not used.
struct DirectAffine {
  const float *scale, *bias;  ///< vectors * lanes each
  bool is_unsigned, relu;
  std::uint64_t mask;  ///< lanes that exist
  std::byte* out[kMaxTilePixels];
};
using DirectAffineKernel = void (*)(const DirectTile&, const DirectAffine&);

enum class Encoding : std::uint8_t { u8, s8, s16 };

/// `pixels` pixels of all channels into [pixel][group][step * encoded channels], pad channels zero.
struct RowPack {
  const std::uint8_t* from;  ///< channel 0 of the first pixel
  std::int64_t pixel_stride, channel_stride, vector;
  std::int64_t pixels, groups, channels;  ///< channels of a group
  std::uint8_t* to;
  std::int64_t group_bytes;  ///< of one pixel
  bool pad_channels;         ///< write zeros from `channels` to group_bytes
  bool is_signed;
  std::uint8_t flip;        ///< xor-ed to each byte (u8, s8 encodings)
  std::int32_t zero_point;  ///< subtracted (s16 encoding)
};

/// Copies bytes as they are (no encoding), any layout, pad channels zero.
void pack_bytes(const RowPack& pack);

struct DirectIsa {
  CpuIsa isa;
  Encoding encoding;
  int lanes;              ///< output channels a vector
  int channels_per_step;  ///< 4 bytes: 4 or 2
  int max_vectors;
  int tile_pixels[kMaxTileVectors + 1];  ///< by vectors
  DirectKernel kernel[kMaxTileVectors + 1][kMaxTilePixels + 1];
  DirectAffineKernel affine[kMaxTileVectors + 1][kMaxTilePixels + 1];  ///< null: none
  void (*pack)(const RowPack&);
  double macs_per_cycle;  ///< what the inner loop reaches, for the cost model
};

extern const DirectIsa kDirectPortable;
#if defined(__x86_64__)
extern const DirectIsa kDirectAvx2, kDirectAvx512, kDirectVnni;
#elif defined(__aarch64__)
extern const DirectIsa kDirectNeon;
#endif
const DirectIsa& direct_isa(CpuIsa isa);

}  // namespace octavo::cpu_native
