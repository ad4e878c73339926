// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "ceilings.h"

#ifdef __AVX512F__
#include <immintrin.h>

namespace octavo::cli {

double loop_f32_avx512(std::int64_t iterations) {
  __m512 acc[16];
  for (int i = 0; i < 16; ++i) acc[i] = _mm512_set1_ps(static_cast<float>(i));
  __m512 a = _mm512_set1_ps(0.7071f), b = _mm512_set1_ps(0.5772f);
  for (std::int64_t n = 0; n < iterations; ++n) {
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) asm volatile("vfmadd231ps %2, %1, %0" : "+v"(acc[i]) : "v"(a), "v"(b));
  }
  for (int i = 0; i < 16; ++i) asm volatile("" ::"v"(acc[i]));
  return static_cast<double>(iterations) * 16 * 16 * 2;
}

// Exact without VNNI: 16-bit pairs into 32 bits, then an addition.
double loop_s16_avx512(std::int64_t iterations) {
  __m512i acc[12];
  for (int i = 0; i < 12; ++i) acc[i] = _mm512_set1_epi32(i);
  __m512i a = _mm512_set1_epi32(0x0017ffe9), b = _mm512_set1_epi32(0x0011006a);
  for (std::int64_t n = 0; n < iterations; ++n) {
#pragma GCC unroll 12
    for (int i = 0; i < 12; ++i) {
      __m512i t;
      asm volatile("vpmaddwd %2, %1, %0" : "=v"(t) : "v"(a), "v"(b));
      asm volatile("vpaddd %1, %0, %0" : "+v"(acc[i]) : "v"(t));
    }
  }
  for (int i = 0; i < 12; ++i) asm volatile("" ::"v"(acc[i]));
  return static_cast<double>(iterations) * 12 * 32 * 2;
}

}  // namespace octavo::cli
#endif
