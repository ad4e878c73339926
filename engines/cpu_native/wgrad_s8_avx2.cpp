// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#include <immintrin.h>

#include "engines/cpu_native/wgrad_s8.h"

namespace octavo::cpu_native {
namespace {

alignas(32) constexpr std::int32_t kTailMask[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};

struct Ymm {
  using Reg = __m256i;
  static constexpr int kLanes = 8, kRows1 = 10, kRows2 = 5, kRows3 = 3, kRows4 = 0;
  static __m256i mask(int n) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kTailMask + 8 - n)); }
  static Reg zero() { return _mm256_setzero_si256(); }
  static Reg load(const std::int32_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
  static Reg load_tail(const std::int32_t* p, int n) { return _mm256_maskload_epi32(p, mask(n)); }
  static void store(std::int32_t* p, Reg v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v); }
  static void store_tail(std::int32_t* p, Reg v, int n) { _mm256_maskstore_epi32(p, mask(n), v); }
  static Reg broadcast(std::uint32_t v) { return _mm256_set1_epi32(static_cast<int>(v)); }
  template <bool>
  static void dot(Reg& acc, Reg x, Reg y) {
    acc = _mm256_add_epi32(acc, _mm256_madd_epi16(x, y));
  }
};

#include "engines/cpu_native/wgrad_s8_impl.h"

}  // namespace

extern const WgradS8Kernels kWgradS8Avx2;
const WgradS8Kernels kWgradS8Avx2 = make_kernels<Ymm>(2, pack_pairs, 14);

}  // namespace octavo::cpu_native
