// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// gcc 12 warns about the deliberately undefined registers inside its own intrinsics (bug 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>

#include "engines/cpu_native/wgrad_s8.h"

namespace octavo::cpu_native {
namespace {

struct Zmm {
  using Reg = __m512i;
  static constexpr int kLanes = 16, kRows1 = 14, kRows2 = 13, kRows3 = 8, kRows4 = 6;
  static __mmask16 mask(int n) { return static_cast<__mmask16>((1u << n) - 1u); }
  static Reg zero() { return _mm512_setzero_si512(); }
  static Reg load(const std::int32_t* p) { return _mm512_loadu_si512(p); }
  static Reg load_tail(const std::int32_t* p, int n) { return _mm512_maskz_loadu_epi32(mask(n), p); }
  static void store(std::int32_t* p, Reg v) { _mm512_storeu_si512(p, v); }
  static void store_tail(std::int32_t* p, Reg v, int n) { _mm512_mask_storeu_epi32(p, mask(n), v); }
  static Reg broadcast(std::uint32_t v) { return _mm512_set1_epi32(static_cast<int>(v)); }
  /// As assembly: gcc 12 copies the accumulators of the intrinsic around. The first factor is the unsigned one.
  template <bool kUnsigned>
  static void dot(Reg& acc, Reg x, Reg y) {
    if constexpr (kUnsigned) {
      __asm__("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(x), "v"(y));
    } else {
      __asm__("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(y), "v"(x));
    }
  }
};

#include "engines/cpu_native/wgrad_s8_impl.h"

/// Sixteen channels of four points, transposed.
void pack_bytes_of_four(const UnitPackArgs& g) {
  const __m128i flip = _mm_set1_epi8(static_cast<char>(g.flip));
  for (std::int64_t c = 0; c < g.channels; c += 16) {
    __m128i p[4];
    const std::int64_t left = g.channels - c;
    if (left >= 16) {
      for (int i = 0; i < 4; ++i) p[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(g.points[i] + c));
    } else {
      const __mmask16 some = static_cast<__mmask16>((1u << left) - 1u);
      for (int i = 0; i < 4; ++i) p[i] = _mm_maskz_loadu_epi8(some, g.points[i] + c);
    }
    for (__m128i& v : p) v = _mm_xor_si128(v, flip);
    const __m128i a = _mm_unpacklo_epi8(p[0], p[1]), b = _mm_unpackhi_epi8(p[0], p[1]);
    const __m128i d = _mm_unpacklo_epi8(p[2], p[3]), e = _mm_unpackhi_epi8(p[2], p[3]);
    __m128i* to = reinterpret_cast<__m128i*>(g.to + c);
    _mm_storeu_si128(to, _mm_unpacklo_epi16(a, d));
    _mm_storeu_si128(to + 1, _mm_unpackhi_epi16(a, d));
    _mm_storeu_si128(to + 2, _mm_unpacklo_epi16(b, e));
    _mm_storeu_si128(to + 3, _mm_unpackhi_epi16(b, e));
  }
}

}  // namespace

extern const WgradS8Kernels kWgradS8Vnni;
const WgradS8Kernels kWgradS8Vnni = make_kernels<Zmm>(4, pack_bytes_of_four, 100);

}  // namespace octavo::cpu_native
