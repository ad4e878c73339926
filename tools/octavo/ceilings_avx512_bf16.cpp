// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "ceilings.h"

#ifdef __AVX512BF16__
#include <immintrin.h>

namespace octavo::cli {

double loop_bf16_avx512(std::int64_t iterations) {
  __m512 acc[16];
  for (int i = 0; i < 16; ++i) acc[i] = _mm512_set1_ps(static_cast<float>(i));
  __m512i a = _mm512_set1_epi32(0x3f813f92), b = _mm512_set1_epi32(0x3fa53f01);
  for (std::int64_t n = 0; n < iterations; ++n) {
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) asm volatile("vdpbf16ps %2, %1, %0" : "+v"(acc[i]) : "v"(a), "v"(b));
  }
  for (int i = 0; i < 16; ++i) asm volatile("" ::"v"(acc[i]));
  return static_cast<double>(iterations) * 16 * 32 * 2;
}

}  // namespace octavo::cli
#endif
