// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#include "engines/cpu_native/direct_s8_kernels.h"

namespace octavo::cpu_native {
namespace {

/// Plain C++, four lanes; pairs of 16-bit products as the SIMD versions have them.
struct Portable {
  static constexpr int kLanes = 4;
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
      std::int16_t a[2], b[2];
      std::memcpy(a, &x.v[l], 4);
      std::memcpy(b, &w.v[l], 4);
      const std::uint32_t sum = static_cast<std::uint32_t>(a[0] * b[0]) + static_cast<std::uint32_t>(a[1] * b[1]);
      acc.v[l] = static_cast<std::int32_t>(static_cast<std::uint32_t>(acc.v[l]) + sum);
    }
  }
};

constexpr DirectIsa make() {
  DirectIsa isa{};
  isa.isa = CpuIsa::portable;
  isa.encoding = Encoding::s16;
  isa.lanes = Portable::kLanes;
  isa.channels_per_step = 2;
  isa.max_vectors = 2;
  fill_kernels<Portable, 1, 4>(isa);
  fill_kernels<Portable, 2, 4>(isa);
  isa.pack = &pack_row<Encoding::s16>;
  isa.macs_per_cycle = 2;
  return isa;
}

}  // namespace

const DirectIsa kDirectPortable = make();

void pack_bytes(const RowPack& pack) {
  RowPack p = pack;
  p.flip = 0;
  p.pad_channels = true;
  pack_row<Encoding::u8>(p);
}

}  // namespace octavo::cpu_native
