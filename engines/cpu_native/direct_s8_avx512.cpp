// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#if defined(__x86_64__)

#include <immintrin.h>

#include "engines/cpu_native/direct_s8_x86_512.h"

namespace octavo::cpu_native {
namespace {

/// Pairs of 16-bit products: exact, where vpmaddubsw would saturate.
struct Avx512 : Bytes512 {
  static constexpr bool kPrefetch = false;
  static constexpr bool kAffine = true;
  static OCTAVO_INLINE void dot(I& acc, I x, I w) { acc = _mm512_add_epi32(acc, _mm512_madd_epi16(x, w)); }
};

constexpr DirectIsa make() {
  DirectIsa isa{};
  isa.isa = CpuIsa::avx512;
  isa.encoding = Encoding::s16;
  isa.lanes = Avx512::kLanes;
  isa.channels_per_step = 2;
  isa.max_vectors = 4;
  fill_kernels<Avx512, 1, 12>(isa);
  fill_kernels<Avx512, 2, 12>(isa);
  fill_kernels<Avx512, 3, 8>(isa);
  fill_kernels<Avx512, 4, 6>(isa);
  isa.pack = &pack_row<Encoding::s16>;
  isa.macs_per_cycle = 31;
  return isa;
}

}  // namespace

const DirectIsa kDirectAvx512 = make();

}  // namespace octavo::cpu_native

#endif
