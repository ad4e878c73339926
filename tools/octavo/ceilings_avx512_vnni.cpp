// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "ceilings.h"
#include "ceilings_asm.h"

#ifdef __AVX512VNNI__
#include <immintrin.h>

namespace octavo::cli {

#define OCTAVO_OP(i) "vpdpbusd %1, %0, %%zmm" #i "\n\t"
double loop_s8_vnni512(std::int64_t iterations) {
  const __m512i a = _mm512_set1_epi32(0x5b17c3e9), b = _mm512_set1_epi32(0x2d91f36a);
  for (std::int64_t n = 0; n < iterations; ++n)
    asm volatile(OCTAVO_CHAINS(OCTAVO_OP) : : "v"(a), "v"(b) : OCTAVO_CHAIN_CLOBBERS);
  return static_cast<double>(iterations) * kChains * 64 * 2;
}
#undef OCTAVO_OP

#define OCTAVO_OP(i) "vpdpwssd %1, %0, %%zmm" #i "\n\t"
double loop_s16_vnni512(std::int64_t iterations) {
  const __m512i a = _mm512_set1_epi32(0x5b17c3e9), b = _mm512_set1_epi32(0x2d91f36a);
  for (std::int64_t n = 0; n < iterations; ++n)
    asm volatile(OCTAVO_CHAINS(OCTAVO_OP) : : "v"(a), "v"(b) : OCTAVO_CHAIN_CLOBBERS);
  return static_cast<double>(iterations) * kChains * 32 * 2;
}
#undef OCTAVO_OP

}  // namespace octavo::cli
#endif
