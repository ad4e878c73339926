// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "ceilings.h"

#ifdef __AVX512VNNI__
#include <immintrin.h>

namespace octavo::cli {

// 16 chains: latency 5 at two a cycle needs 10.
double loop_s8_vnni512(std::int64_t iterations) {
  __m512i acc[16];
  for (int i = 0; i < 16; ++i) acc[i] = _mm512_set1_epi32(i);
  __m512i a = _mm512_set1_epi32(0x5b17c3e9), b = _mm512_set1_epi32(0x2d91f36a);
  for (std::int64_t n = 0; n < iterations; ++n) {
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) asm volatile("vpdpbusd %2, %1, %0" : "+v"(acc[i]) : "v"(a), "v"(b));
  }
  for (int i = 0; i < 16; ++i) asm volatile("" ::"v"(acc[i]));
  return static_cast<double>(iterations) * 16 * 64 * 2;
}

double loop_s16_vnni512(std::int64_t iterations) {
  __m512i acc[16];
  for (int i = 0; i < 16; ++i) acc[i] = _mm512_set1_epi32(i);
  __m512i a = _mm512_set1_epi32(0x5b17c3e9), b = _mm512_set1_epi32(0x2d91f36a);
  for (std::int64_t n = 0; n < iterations; ++n) {
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) asm volatile("vpdpwssd %2, %1, %0" : "+v"(acc[i]) : "v"(a), "v"(b));
  }
  for (int i = 0; i < 16; ++i) asm volatile("" ::"v"(acc[i]));
  return static_cast<double>(iterations) * 16 * 32 * 2;
}

}  // namespace octavo::cli
#endif
