// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// The AMX path on emulated tiles, in plain C++. The affine epilogue is there too, one value at a time, so that the pipelining
// of the real one is what gets tested.

#include <algorithm>
#include <cmath>

#include "engines/cpu_native/amx_s8.h"
#include "engines/cpu_native/direct_s8_kernels.h"

namespace octavo::cpu_native {
namespace {

/// For sums of inputs (a filter with a zero point).
struct SignedPlain {
  static constexpr int kLanes = kAmxLanes;
  static constexpr bool kPrefetch = false;
  static constexpr bool kAffine = false;
  struct I {
    std::int32_t v[kLanes];
  };
  static OCTAVO_INLINE I load(const void* p) {
    I r;
    std::memcpy(&r, p, sizeof r);
    return r;
  }
  static OCTAVO_INLINE void store(void* p, const I& v) { std::memcpy(p, &v, sizeof v); }
  static OCTAVO_INLINE I broadcast(const std::uint8_t* p) {
    I r;
    for (int l = 0; l < kLanes; ++l) std::memcpy(&r.v[l], p, 4);
    return r;
  }
  static OCTAVO_INLINE void dot(I& acc, const I& x, const I& w) {
    for (int l = 0; l < kLanes; ++l) {
      std::int8_t a[4], b[4];
      std::memcpy(a, &x.v[l], 4);
      std::memcpy(b, &w.v[l], 4);
      std::uint32_t sum = static_cast<std::uint32_t>(acc.v[l]);
      for (int i = 0; i < 4; ++i) sum += static_cast<std::uint32_t>(a[i] * b[i]);
      acc.v[l] = static_cast<std::int32_t>(sum);
    }
  }
};

constexpr DirectIsa make_base() {
  DirectIsa isa{};
  isa.isa = CpuIsa::amx;
  isa.encoding = Encoding::s8;
  isa.lanes = kAmxLanes;
  isa.channels_per_step = 4;
  isa.max_vectors = 2;
  fill_kernels<SignedPlain, 1, 1>(isa);
  isa.pack = &pack_row<Encoding::s8>;
  isa.macs_per_cycle = 700;
  return isa;
}

struct PlainFinish {
  template <int kChannelTiles>
  static void finish_rows(AmxPending& p, int rows) {
    for (const int end = std::min(p.count, p.next + rows); p.next < end; ++p.next) {
      for (int l = 0; l < kChannelTiles * kAmxLanes; ++l) {
        if (!(p.affine.mask >> l & 1)) continue;
        const float scaled = static_cast<float>(p.acc[p.row[p.next] * kAmxBlock + l]) * p.affine.scale[l];
        const float v = std::nearbyintf(scaled + p.affine.bias[l]);
        const float lo = p.affine.is_unsigned || p.affine.relu ? 0.0f : -128.0f, hi = p.affine.is_unsigned ? 255.0f : 127.0f;
        p.out[p.next][l] = static_cast<std::byte>(static_cast<std::int32_t>(std::min(std::max(v, lo), hi)));
      }
    }
  }
};

void finish(AmxPending& p, int channel_tiles) {
  channel_tiles == 1 ? PlainFinish::finish_rows<1>(p, p.count) : PlainFinish::finish_rows<2>(p, p.count);
}

const DirectIsa kBase = make_base();

}  // namespace

const AmxIsa kAmxEmulated = make_amx<EmulatedTiles, PlainFinish>(&kBase, &finish, true);

}  // namespace octavo::cpu_native
