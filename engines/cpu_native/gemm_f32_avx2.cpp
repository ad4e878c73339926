// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#include <immintrin.h>

#include "engines/cpu_native/gemm_f32.h"

namespace octavo::cpu_native {
namespace {

inline float scalar_bf16(std::uint16_t v) { return __builtin_bit_cast(float, static_cast<std::uint32_t>(v) << 16); }
inline float scalar_f16(std::uint16_t v) { return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(v))); }

alignas(32) constexpr std::int32_t kTailMask[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};

struct Ymm {
  using Reg = __m256;
  static constexpr int kLanes = 8, kRows1 = 12, kRows2 = 6, kRows3 = 4, kRows4 = 0, kLaneRows = 12;
  static constexpr bool kHasTranspose = false;
  static __m256i mask(int n) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kTailMask + 8 - n)); }
  static void opaque(Reg& v) { __asm__("" : "+x"(v)); }
  static Reg zero() { return _mm256_setzero_ps(); }
  static Reg load(const float* p) { return _mm256_loadu_ps(p); }
  static Reg load_aligned(const float* p) { return _mm256_load_ps(p); }
  static Reg load_tail(const float* p, int n) { return _mm256_maskload_ps(p, mask(n)); }
  static Reg broadcast(const float* p) { return _mm256_broadcast_ss(p); }
  static Reg fma(Reg a, Reg b, Reg c) { return _mm256_fmadd_ps(a, b, c); }
  static void store(float* p, Reg v) { _mm256_storeu_ps(p, v); }
  static void store_tail(float* p, Reg v, int n) { _mm256_maskstore_ps(p, mask(n), v); }
  static Reg load_bf16(const std::uint16_t* p) {
    const __m256i v = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    return _mm256_castsi256_ps(_mm256_slli_epi32(v, 16));
  }
  static Reg load_f16(const std::uint16_t* p) { return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))); }
  static __m128i load_u16_tail(const std::uint16_t* p, int n) {
    alignas(16) std::uint16_t v[8] = {};
    for (int i = 0; i < n; ++i) v[i] = p[i];
    return _mm_load_si128(reinterpret_cast<const __m128i*>(v));
  }
  static Reg load_bf16_tail(const std::uint16_t* p, int n) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(load_u16_tail(p, n)), 16));
  }
  static Reg load_f16_tail(const std::uint16_t* p, int n) { return _mm256_cvtph_ps(load_u16_tail(p, n)); }
  static void store_u16(std::uint16_t* p, __m128i v, int n) {
    if (n == kLanes) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(p), v);
      return;
    }
    alignas(16) std::uint16_t t[8];
    _mm_store_si128(reinterpret_cast<__m128i*>(t), v);
    for (int i = 0; i < n; ++i) p[i] = t[i];
  }
  static void store_bf16(std::uint16_t* p, Reg v, int n) {
    const __m256i u = _mm256_castps_si256(v), top = _mm256_srli_epi32(u, 16);
    const __m256i odd = _mm256_and_si256(top, _mm256_set1_epi32(1));
    const __m256i rounded = _mm256_srli_epi32(_mm256_add_epi32(u, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff))), 16);
    const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    const __m256i r = _mm256_blendv_epi8(rounded, _mm256_or_si256(top, _mm256_set1_epi32(0x40)), nan);
    const __m256i packed = _mm256_packus_epi32(r, r);
    store_u16(p, _mm256_castsi256_si128(_mm256_permute4x64_epi64(packed, 0x08)), n);
  }
  static void store_f16(std::uint16_t* p, Reg v, int n) {
    store_u16(p, _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC), n);
  }
  static Reg gather(const float* src, const std::int32_t* index) {
    return _mm256_i32gather_ps(src, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(index)), 4);
  }
  static void expand_near(float* dst, const float* src, const std::int32_t* index, std::int64_t depth) {
    const Reg v = load(src);
    for (std::int64_t j = 0; j < depth; ++j) {
      store(dst + 2 * j * kLanes,
            _mm256_permutevar8x32_ps(v, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(index + j * kLanes))));
    }
  }
  static void transpose(float*, std::int64_t, const char*, std::int64_t, DataType_t) {}
};

#include "engines/cpu_native/gemm_f32_impl.h"

}  // namespace

namespace detail {
constexpr F32Kernels kF32Avx2 = make_kernels<Ymm>();
}  // namespace detail

}  // namespace octavo::cpu_native
