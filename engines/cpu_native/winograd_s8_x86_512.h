// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// 512-bit vectors for the Winograd transforms. Included by files compiled for AVX-512 only.

#include <immintrin.h>

#include "engines/cpu_native/winograd_s8_kernels.h"

namespace octavo::cpu_native {
namespace {

struct Words512 {
  using W = __m512i;
  using D = __m512i;
  static constexpr int kWords = 32, kDwords = 16;

  static OCTAVO_INLINE W zero() { return _mm512_setzero_si512(); }
  static OCTAVO_INLINE W splat(std::int16_t v) { return _mm512_set1_epi16(v); }
  template <bool kSigned>
  static OCTAVO_INLINE W widen(const std::uint8_t* p, int lanes) {
    const __m256i b = lanes == kWords ? _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))
                                      : _mm256_maskz_loadu_epi8(static_cast<__mmask32>((1u << lanes) - 1), p);
    if constexpr (kSigned) return _mm512_cvtepi8_epi16(b);
    return _mm512_cvtepu8_epi16(b);
  }
  static OCTAVO_INLINE W load(const std::int16_t* p) { return _mm512_loadu_si512(p); }
  static OCTAVO_INLINE void store(std::int16_t* p, W v) { _mm512_storeu_si512(p, v); }
  static OCTAVO_INLINE W add(W a, W b) { return _mm512_add_epi16(a, b); }
  static OCTAVO_INLINE W sub(W a, W b) { return _mm512_sub_epi16(a, b); }
  template <int kBits>
  static OCTAVO_INLINE W shl(W a) {
    return _mm512_slli_epi16(a, kBits);
  }

  static OCTAVO_INLINE D splatd(std::int32_t v) { return _mm512_set1_epi32(v); }
  static OCTAVO_INLINE D loadd(const std::int32_t* p) { return _mm512_loadu_si512(p); }
  static OCTAVO_INLINE void stored(std::int32_t* p, D v) { _mm512_storeu_si512(p, v); }
  static OCTAVO_INLINE D addd(D a, D b) { return _mm512_add_epi32(a, b); }
  static OCTAVO_INLINE D subd(D a, D b) { return _mm512_sub_epi32(a, b); }
  static OCTAVO_INLINE D muld(D a, D b) { return _mm512_mullo_epi32(a, b); }
  template <int kBits>
  static OCTAVO_INLINE D shld(D a) {
    return _mm512_slli_epi32(a, kBits);
  }
  template <int kBits>
  static OCTAVO_INLINE D srad(D a) {
    return _mm512_srai_epi32(a, kBits);
  }
};

}  // namespace
}  // namespace octavo::cpu_native
