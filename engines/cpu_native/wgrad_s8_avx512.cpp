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
  template <bool>
  static void dot(Reg& acc, Reg x, Reg y) {
    acc = _mm512_add_epi32(acc, _mm512_madd_epi16(x, y));
  }
};

#include "engines/cpu_native/wgrad_s8_impl.h"

}  // namespace

extern const WgradS8Kernels kWgradS8Avx512;
const WgradS8Kernels kWgradS8Avx512 = make_kernels<Zmm>(2, pack_pairs, 32);

}  // namespace octavo::cpu_native
