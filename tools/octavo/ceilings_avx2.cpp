// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "ceilings.h"

#ifdef __AVX2__
#include <immintrin.h>

namespace octavo::cli {

double loop_f32_avx2(std::int64_t iterations) {
  __m256 acc[12];
  for (int i = 0; i < 12; ++i) acc[i] = _mm256_set1_ps(static_cast<float>(i));
  __m256 a = _mm256_set1_ps(0.7071f), b = _mm256_set1_ps(0.5772f);
  for (std::int64_t n = 0; n < iterations; ++n) {
#pragma GCC unroll 12
    for (int i = 0; i < 12; ++i) asm volatile("vfmadd231ps %2, %1, %0" : "+x"(acc[i]) : "x"(a), "x"(b));
  }
  for (int i = 0; i < 12; ++i) asm volatile("" ::"x"(acc[i]));
  return static_cast<double>(iterations) * 12 * 8 * 2;
}

double loop_s16_avx2(std::int64_t iterations) {
  __m256i acc[10];
  for (int i = 0; i < 10; ++i) acc[i] = _mm256_set1_epi32(i);
  __m256i a = _mm256_set1_epi32(0x0017ffe9), b = _mm256_set1_epi32(0x0011006a);
  for (std::int64_t n = 0; n < iterations; ++n) {
#pragma GCC unroll 10
    for (int i = 0; i < 10; ++i) {
      __m256i t;
      asm volatile("vpmaddwd %2, %1, %0" : "=x"(t) : "x"(a), "x"(b));
      asm volatile("vpaddd %1, %0, %0" : "+x"(acc[i]) : "x"(t));
    }
  }
  for (int i = 0; i < 10; ++i) asm volatile("" ::"x"(acc[i]));
  return static_cast<double>(iterations) * 10 * 16 * 2;
}

}  // namespace octavo::cli
#endif
