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

/// Sixteen channels of four points, transposed by one byte permutation.
void pack_bytes_of_four(const UnitPackArgs& g) {
  alignas(64) static constexpr std::uint8_t kOrder[64] = {0,  16, 32, 48, 1,  17, 33, 49, 2,  18, 34, 50, 3,  19, 35, 51,
                                                          4,  20, 36, 52, 5,  21, 37, 53, 6,  22, 38, 54, 7,  23, 39, 55,
                                                          8,  24, 40, 56, 9,  25, 41, 57, 10, 26, 42, 58, 11, 27, 43, 59,
                                                          12, 28, 44, 60, 13, 29, 45, 61, 14, 30, 46, 62, 15, 31, 47, 63};
  const __m512i order = _mm512_load_si512(kOrder), flip = _mm512_set1_epi8(static_cast<char>(g.flip));
  const auto point = [](const std::uint8_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); };
  std::int64_t c = 0;
  for (; c + 16 <= g.channels; c += 16) {
    __m512i v = _mm512_broadcast_i32x4(point(g.points[0] + c));
    v = _mm512_mask_broadcast_i32x4(v, 0x00f0, point(g.points[1] + c));
    v = _mm512_mask_broadcast_i32x4(v, 0x0f00, point(g.points[2] + c));
    v = _mm512_mask_broadcast_i32x4(v, 0xf000, point(g.points[3] + c));
    _mm512_storeu_si512(g.to + c, _mm512_permutexvar_epi8(order, _mm512_xor_si512(v, flip)));
  }
  if (c == g.channels) return;
  const __mmask16 some = static_cast<__mmask16>((1u << (g.channels - c)) - 1u);
  __m512i v = _mm512_castsi128_si512(_mm_maskz_loadu_epi8(some, g.points[0] + c));
  v = _mm512_inserti32x4(v, _mm_maskz_loadu_epi8(some, g.points[1] + c), 1);
  v = _mm512_inserti32x4(v, _mm_maskz_loadu_epi8(some, g.points[2] + c), 2);
  v = _mm512_inserti32x4(v, _mm_maskz_loadu_epi8(some, g.points[3] + c), 3);
  _mm512_storeu_si512(g.to + c, _mm512_permutexvar_epi8(order, _mm512_xor_si512(v, flip)));
}
}  // namespace

extern const WgradS8Kernels kWgradS8Vnni;
const WgradS8Kernels kWgradS8Vnni = make_kernels<Zmm>(4, pack_bytes_of_four, 100);

}  // namespace octavo::cpu_native
