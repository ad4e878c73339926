// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "ceilings.h"
#include "ceilings_asm.h"

#ifdef __AVX512BF16__
#include <immintrin.h>

namespace octavo::cli {

#define OCTAVO_OP(i) "vdpbf16ps %1, %0, %%zmm" #i "\n\t"
double loop_bf16_avx512(std::int64_t iterations) {
  const __m512i a = _mm512_set1_epi32(0x3f813f92), b = _mm512_set1_epi32(0x3fa53f01);
  for (std::int64_t n = 0; n < iterations; ++n)
    asm volatile(OCTAVO_CHAINS(OCTAVO_OP) : : "v"(a), "v"(b) : OCTAVO_CHAIN_CLOBBERS);
  return static_cast<double>(iterations) * kChains * 32 * 2;
}
#undef OCTAVO_OP

}  // namespace octavo::cli
#endif
