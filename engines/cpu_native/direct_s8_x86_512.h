// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the 512-bit kernels share. Included by files compiled for AVX-512 only.

#include <immintrin.h>

#include "engines/cpu_native/direct_s8_kernels.h"

namespace octavo::cpu_native {
namespace {

struct Bytes512 {
  using I = __m512i;
  static constexpr int kLanes = 16;
  static OCTAVO_INLINE I load(const void* p) { return _mm512_loadu_si512(p); }
  static OCTAVO_INLINE void store(void* p, I v) { _mm512_storeu_si512(p, v); }
  static OCTAVO_INLINE I broadcast(const std::uint8_t* p) {
    int v;
    std::memcpy(&v, p, 4);
    return _mm512_set1_epi32(v);
  }

  /// One pixel: f32 multiply and add (two roundings, as the contract says), nearest even, saturating packs, one masked store.
  template <int kVectors>
  static OCTAVO_INLINE void affine(const I* acc, const DirectAffine& e, std::byte* out) {
    const auto value = [&](int v) OCTAVO_LAMBDA_INLINE {
      const __m512 f = _mm512_mul_ps(_mm512_cvtepi32_ps(acc[v]), _mm512_loadu_ps(e.scale + v * kLanes));
      return _mm512_cvtps_epi32(_mm512_add_ps(f, _mm512_loadu_ps(e.bias + v * kLanes)));
    };
    const I zero = _mm512_setzero_si512();
    const I low = _mm512_packs_epi32(value(0), kVectors > 1 ? value(1) : zero);
    const I high = kVectors > 2
                       ? _mm512_packs_epi32(value(kVectors > 2 ? 2 : 0), kVectors > 3 ? value(kVectors > 3 ? 3 : 0) : zero)
                       : zero;
    I packed;
    if (e.is_unsigned) {
      packed = _mm512_packus_epi16(low, high);
    } else {
      packed = _mm512_packs_epi16(low, high);
      if (e.relu) packed = _mm512_max_epi8(packed, zero);
    }
    const I order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    _mm512_mask_storeu_epi8(out, e.mask, _mm512_permutexvar_epi32(order, packed));
  }

  /// Four pixels of one vector, or two of two: the packs then have no empty lanes.
  template <int kVectors>
  static OCTAVO_INLINE void affine_together(const I* acc, const DirectAffine& e, std::byte* const* out) {
    static_assert(kVectors == 1 || kVectors == 2);
    constexpr int kBytes = 16 * kVectors, kPixels = 4 / kVectors;
    const auto value = [&](int j) OCTAVO_LAMBDA_INLINE {
      const int v = j % kVectors;
      const __m512 f = _mm512_mul_ps(_mm512_cvtepi32_ps(acc[j]), _mm512_loadu_ps(e.scale + v * kLanes));
      return _mm512_cvtps_epi32(_mm512_add_ps(f, _mm512_loadu_ps(e.bias + v * kLanes)));
    };
    const I low = _mm512_packs_epi32(value(0), value(1)), high = _mm512_packs_epi32(value(2), value(3));
    I packed;
    if (e.is_unsigned) {
      packed = _mm512_packus_epi16(low, high);
    } else {
      packed = _mm512_packs_epi16(low, high);
      if (e.relu) packed = _mm512_max_epi8(packed, _mm512_setzero_si512());
    }
    const I order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    packed = _mm512_permutexvar_epi32(order, packed);
    constexpr std::uint64_t kAll = (std::uint64_t{1} << kBytes) - 1;
    bool adjacent = e.mask == kAll;
    for (int i = 1; i < kPixels; ++i) adjacent = adjacent && out[i] == out[0] + i * kBytes;
    if (adjacent) {
      _mm512_storeu_si512(out[0], packed);
    } else if constexpr (kVectors == 1) {
      const auto mask = static_cast<__mmask16>(e.mask);
      _mm_mask_storeu_epi8(out[0], mask, _mm512_castsi512_si128(packed));
      _mm_mask_storeu_epi8(out[1], mask, _mm512_extracti32x4_epi32(packed, 1));
      _mm_mask_storeu_epi8(out[2], mask, _mm512_extracti32x4_epi32(packed, 2));
      _mm_mask_storeu_epi8(out[3], mask, _mm512_extracti32x4_epi32(packed, 3));
    } else {
      const auto mask = static_cast<__mmask32>(e.mask);
      _mm256_mask_storeu_epi8(out[0], mask, _mm512_castsi512_si256(packed));
      _mm256_mask_storeu_epi8(out[1], mask, _mm512_extracti64x4_epi64(packed, 1));
    }
  }
};

}  // namespace
}  // namespace octavo::cpu_native
