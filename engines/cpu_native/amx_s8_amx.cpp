// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#if defined(__x86_64__)

#include <algorithm>

#include "engines/cpu_native/amx_s8.h"
#include "engines/cpu_native/direct_s8_x86_512.h"

namespace octavo::cpu_native {
namespace {

/// For sums of inputs: the weights are ones, so they may stand on the unsigned side of vpdpbusd.
struct SignedSum : Bytes512 {
  static constexpr bool kPrefetch = false;
  static constexpr bool kAffine = false;
  static OCTAVO_INLINE void dot(I& acc, I x, I w) { __asm__("vpdpbusd %1, %2, %0" : "+v"(acc) : "v"(x), "v"(w)); }
};

constexpr DirectIsa make_base() {
  DirectIsa isa{};
  isa.isa = CpuIsa::amx;
  isa.encoding = Encoding::s8;
  isa.lanes = kAmxLanes;
  isa.channels_per_step = 4;
  isa.max_vectors = 2;
  fill_kernels<SignedSum, 1, 12>(isa);
  isa.pack = &pack_row<Encoding::s8>;
  isa.macs_per_cycle = 700;
  return isa;
}

struct VectorFinish {
  template <int kChannelTiles>
  static OCTAVO_INLINE void finish_rows(AmxPending& p, int rows) {
    for (const int end = std::min(p.count, p.next + rows); p.next < end; ++p.next) {
      const std::int32_t* a = p.acc + p.row[p.next] * kAmxBlock;
      const __m512i acc[2] = {_mm512_load_si512(a), _mm512_load_si512(a + (kChannelTiles > 1 ? kAmxLanes : 0))};
      Bytes512::affine<kChannelTiles>(acc, p.affine, p.out[p.next]);
    }
  }
};

void finish(AmxPending& p, int channel_tiles) {
  channel_tiles == 1 ? VectorFinish::finish_rows<1>(p, p.count) : VectorFinish::finish_rows<2>(p, p.count);
}

const DirectIsa kBase = make_base();

}  // namespace

const AmxIsa kAmxHardware = make_amx<HardwareTiles, VectorFinish>(&kBase, &finish, true);

}  // namespace octavo::cpu_native

#endif
