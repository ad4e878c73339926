// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#if defined(__x86_64__)

#include <immintrin.h>

#include "engines/cpu_native/direct_s8_kernels.h"

namespace octavo::cpu_native {
namespace {

/// Pairs of 16-bit products: exact, where vpmaddubsw would saturate.
struct Avx2 {
  using I = __m256i;
  static constexpr int kLanes = 8;
  static constexpr bool kPrefetch = false;
  static constexpr bool kAffine = false;
  static OCTAVO_INLINE I load(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
  static OCTAVO_INLINE void store(void* p, I v) { _mm256_storeu_si256(static_cast<__m256i*>(p), v); }
  static OCTAVO_INLINE I broadcast(const std::uint8_t* p) {
    int v;
    std::memcpy(&v, p, 4);
    return _mm256_set1_epi32(v);
  }
  static OCTAVO_INLINE void dot(I& acc, I x, I w) { acc = _mm256_add_epi32(acc, _mm256_madd_epi16(x, w)); }
};

constexpr DirectIsa make() {
  DirectIsa isa{};
  isa.isa = CpuIsa::avx2;
  isa.encoding = Encoding::s16;
  isa.lanes = Avx2::kLanes;
  isa.channels_per_step = 2;
  isa.max_vectors = 2;
  fill_kernels<Avx2, 1, 6>(isa);
  fill_kernels<Avx2, 2, 6>(isa);
  isa.pack = &pack_row<Encoding::s16>;
  isa.macs_per_cycle = 22;
  return isa;
}

}  // namespace

const DirectIsa kDirectAvx2 = make();

}  // namespace octavo::cpu_native

#endif
