// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "ceilings.h"
#include "ceilings_asm.h"

#ifdef __AVX2__
#include <immintrin.h>

namespace octavo::cli {

#define OCTAVO_OP(i) "vfmadd231ps %1, %0, %%ymm" #i "\n\t"
double loop_f32_avx2(std::int64_t iterations) {
  const __m256 a = _mm256_set1_ps(0.7071f), b = _mm256_set1_ps(0.5772f);
  for (std::int64_t n = 0; n < iterations; ++n)
    asm volatile(OCTAVO_CHAINS(OCTAVO_OP) : : "x"(a), "x"(b) : OCTAVO_CHAIN_CLOBBERS);
  return static_cast<double>(iterations) * kChains * 8 * 2;
}
#undef OCTAVO_OP

#define OCTAVO_OP(i) "vpmaddwd %1, %0, %%ymm12\n\tvpaddd %%ymm12, %%ymm" #i ", %%ymm" #i "\n\t"
double loop_s16_avx2(std::int64_t iterations) {
  const __m256i a = _mm256_set1_epi32(0x0017ffe9), b = _mm256_set1_epi32(0x0011006a);
  for (std::int64_t n = 0; n < iterations; ++n)
    asm volatile(OCTAVO_CHAINS(OCTAVO_OP) : : "x"(a), "x"(b) : OCTAVO_CHAIN_CLOBBERS);
  return static_cast<double>(iterations) * kChains * 16 * 2;
}
#undef OCTAVO_OP

}  // namespace octavo::cli
#endif
