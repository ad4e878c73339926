// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "ceilings.h"
#include "ceilings_asm.h"

#ifdef __AVX512F__
#include <immintrin.h>

namespace octavo::cli {

#define OCTAVO_OP(i) "vfmadd231ps %1, %0, %%zmm" #i "\n\t"
double loop_f32_avx512(std::int64_t iterations) {
  const __m512 a = _mm512_set1_ps(0.7071f), b = _mm512_set1_ps(0.5772f);
  for (std::int64_t n = 0; n < iterations; ++n)
    asm volatile(OCTAVO_CHAINS(OCTAVO_OP) : : "v"(a), "v"(b) : OCTAVO_CHAIN_CLOBBERS);
  return static_cast<double>(iterations) * kChains * 16 * 2;
}
#undef OCTAVO_OP

// Exact without VNNI: 16-bit pairs into 32 bits, then an addition.
#define OCTAVO_OP(i) "vpmaddwd %1, %0, %%zmm12\n\tvpaddd %%zmm12, %%zmm" #i ", %%zmm" #i "\n\t"
double loop_s16_avx512(std::int64_t iterations) {
  const __m512i a = _mm512_set1_epi32(0x0017ffe9), b = _mm512_set1_epi32(0x0011006a);
  for (std::int64_t n = 0; n < iterations; ++n)
    asm volatile(OCTAVO_CHAINS(OCTAVO_OP) : : "v"(a), "v"(b) : OCTAVO_CHAIN_CLOBBERS);
  return static_cast<double>(iterations) * kChains * 32 * 2;
}
#undef OCTAVO_OP

}  // namespace octavo::cli
#endif
