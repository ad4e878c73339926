// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Brings an input of any layout into the form the tensor-core kernels read: outer x three spatial axes x channels of each
// group padded to whole pieces of 16 bytes (or to a few bytes, for first layers), with padding, zero insertion (gradients of
// strided convolutions), flips and transposition done on the way. One thread for each piece.

#include "ptx/types.cuh"

namespace octavo::conv {

struct PackConfig {
  s64 outer_groups, outer;          ///< the destination's first axis is outer_groups x outer
  s64 size[3];                      ///< spatial sizes of the destination
  s64 lead[3], step[3], source[3];  ///< destination i holds source (i - lead) / step where that is whole and inside
  s64 groups, channels, padded;     ///< the destination's last axis is groups x padded, of which `channels` are real
  s64 outer_group_stride, outer_stride, outer_vector;  ///< elements of the source
  s64 spatial_stride[3];
  s64 channel_stride, channel_vector, first;
  int piece;    ///< elements a thread writes
  int fastest;  ///< neighbouring threads go along: 0 channels, 1 last spatial axis, 2 outer
  int fill;     ///< what the spatial padding holds
};

OCTAVO_HOST_DEVICE s64 blocked(s64 c, s64 stride, s64 vector) {
  return vector > 1 ? c / vector * stride + c % vector : c * stride;
}

template <class To, class From>
OCTAVO_DEVICE To converted(From v) {
  if constexpr (is_same<To, From>::value)
    return v;
  else
    return octavo::Store<To>::from(to_float(v));
}

template <const PackConfig& cfg, class To, class From>
OCTAVO_DEVICE void pack(const From* __restrict__ from, To* __restrict__ to) {
  constexpr s64 kPieces = cfg.groups * cfg.padded / cfg.piece;
  constexpr s64 kOuter = cfg.outer_groups * cfg.outer;
  constexpr s64 kTotal = kOuter * cfg.size[0] * cfg.size[1] * cfg.size[2] * kPieces;
  const s64 step = static_cast<s64>(gridDim.x) * blockDim.x;
#pragma unroll 1
  for (s64 i = static_cast<s64>(blockIdx.x) * blockDim.x + threadIdx.x; i < kTotal; i += step) {
    u64 rest = static_cast<u64>(i);
    s64 piece = 0, outer = 0, s[3];
    if constexpr (cfg.fastest == 0) piece = static_cast<s64>(rest % kPieces), rest /= kPieces;
    if constexpr (cfg.fastest == 2) outer = static_cast<s64>(rest % kOuter), rest /= kOuter;
    s[2] = static_cast<s64>(rest % cfg.size[2]), rest /= cfg.size[2];
    if constexpr (cfg.fastest != 0) piece = static_cast<s64>(rest % kPieces), rest /= kPieces;
    s[1] = static_cast<s64>(rest % cfg.size[1]), rest /= cfg.size[1];
    s[0] = static_cast<s64>(rest % cfg.size[0]), rest /= cfg.size[0];
    if constexpr (cfg.fastest != 2) outer = static_cast<s64>(rest);
    bool inside = true;
    s64 at =
        cfg.first + outer / cfg.outer * cfg.outer_group_stride + blocked(outer % cfg.outer, cfg.outer_stride, cfg.outer_vector);
#pragma unroll
    for (int a = 0; a < 3; ++a) {
      const s64 moved = s[a] - cfg.lead[a], index = cfg.step[a] == 1 ? moved : moved / cfg.step[a];
      inside = inside && moved >= 0 && index < cfg.source[a] && index * cfg.step[a] == moved;
      at += index * cfg.spatial_stride[a];
    }
    const s64 channel = piece * cfg.piece, group = channel / cfg.padded, first = channel - group * cfg.padded;
    alignas(16) To out[cfg.piece];
#pragma unroll
    for (int j = 0; j < cfg.piece; ++j) {
      const s64 c = first + j;
      out[j] = To{};
      if (c < cfg.channels) {
        if (inside)
          out[j] = converted<To>(from[at + blocked(group * cfg.channels + c, cfg.channel_stride, cfg.channel_vector)]);
        else if constexpr (cfg.fill != 0)
          out[j] = static_cast<To>(cfg.fill);
      }
    }
    To* target =
        to + (((outer * cfg.size[0] + s[0]) * cfg.size[1] + s[1]) * cfg.size[2] + s[2]) * (cfg.groups * cfg.padded) + channel;
    constexpr int kBytes = cfg.piece * static_cast<int>(sizeof(To));
    if constexpr (kBytes == 16)
      *reinterpret_cast<uint4*>(target) = *reinterpret_cast<const uint4*>(out);
    else if constexpr (kBytes == 8)
      *reinterpret_cast<uint2*>(target) = *reinterpret_cast<const uint2*>(out);
    else if constexpr (kBytes == 4)
      *reinterpret_cast<u32*>(target) = *reinterpret_cast<const u32*>(out);
    else
      for (int j = 0; j < cfg.piece; ++j) target[j] = out[j];
  }
}

/// sums[k] = factor * the sum of filter k's elements: what a zero point of x adds to every output. A warp for each filter.
template <const PackConfig& cfg, class From>
OCTAVO_DEVICE void filter_sums(const From* __restrict__ w, s32* __restrict__ sums, s32 factor) {
  const s64 k = (static_cast<s64>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  if (k >= cfg.outer) return;
  constexpr s64 kTaps = cfg.source[0] * cfg.source[1] * cfg.source[2];
  u32 sum = 0;
  for (s64 i = threadIdx.x % 32; i < kTaps * cfg.channels; i += 32) {
    const s64 c = i % cfg.channels, t = i / cfg.channels, t2 = t % cfg.source[2], t1 = t / cfg.source[2] % cfg.source[1],
              t0 = t / cfg.source[2] / cfg.source[1];
    sum += static_cast<u32>(
        static_cast<s32>(w[cfg.first + k * cfg.outer_stride + t0 * cfg.spatial_stride[0] + t1 * cfg.spatial_stride[1] +
                           t2 * cfg.spatial_stride[2] + blocked(c, cfg.channel_stride, cfg.channel_vector)]));
  }
#pragma unroll
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if (threadIdx.x % 32 == 0) sums[k] = static_cast<s32>(sum * static_cast<u32>(factor));
}

}  // namespace octavo::conv
