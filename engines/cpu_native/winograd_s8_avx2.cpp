// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#if defined(__x86_64__)

#include <immintrin.h>

#include "engines/cpu_native/winograd_s8_kernels.h"

namespace octavo::cpu_native {
namespace {

struct Words256 {
  using W = __m256i;
  using D = __m256i;
  static constexpr int kWords = 16, kDwords = 8;

  static OCTAVO_INLINE W zero() { return _mm256_setzero_si256(); }
  static OCTAVO_INLINE W splat(std::int16_t v) { return _mm256_set1_epi16(v); }
  template <bool kSigned>
  static OCTAVO_INLINE W widen(const std::uint8_t* p, int lanes) {
    __m128i b;
    if (lanes == kWords) {
      b = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    } else {
      alignas(16) std::uint8_t padded[16] = {};
      std::memcpy(padded, p, static_cast<std::size_t>(lanes));
      b = _mm_load_si128(reinterpret_cast<const __m128i*>(padded));
    }
    if constexpr (kSigned) return _mm256_cvtepi8_epi16(b);
    return _mm256_cvtepu8_epi16(b);
  }
  static OCTAVO_INLINE W load(const std::int16_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
  static OCTAVO_INLINE void store(std::int16_t* p, W v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v); }
  static OCTAVO_INLINE W add(W a, W b) { return _mm256_add_epi16(a, b); }
  static OCTAVO_INLINE W sub(W a, W b) { return _mm256_sub_epi16(a, b); }
  template <int kBits>
  static OCTAVO_INLINE W shl(W a) {
    return _mm256_slli_epi16(a, kBits);
  }

  static OCTAVO_INLINE D splatd(std::int32_t v) { return _mm256_set1_epi32(v); }
  static OCTAVO_INLINE D loadd(const std::int32_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
  static OCTAVO_INLINE void stored(std::int32_t* p, D v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v); }
  static OCTAVO_INLINE D addd(D a, D b) { return _mm256_add_epi32(a, b); }
  static OCTAVO_INLINE D subd(D a, D b) { return _mm256_sub_epi32(a, b); }
  static OCTAVO_INLINE D muld(D a, D b) { return _mm256_mullo_epi32(a, b); }
  template <int kBits>
  static OCTAVO_INLINE D shld(D a) {
    return _mm256_slli_epi32(a, kBits);
  }
  template <int kBits>
  static OCTAVO_INLINE D srad(D a) {
    return _mm256_srai_epi32(a, kBits);
  }
};

}  // namespace

const WinogradIsa kWinogradAvx2{&kDirectAvx2, Words256::kWords, &Winograd<Words256>::input, &Winograd<Words256>::output,
                                &Winograd<Words256>::filter};

}  // namespace octavo::cpu_native

#endif
