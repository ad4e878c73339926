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
};

}  // namespace
}  // namespace octavo::cpu_native
