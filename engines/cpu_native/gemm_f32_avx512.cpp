// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// gcc 12 warns about the deliberately undefined registers inside its own intrinsics (bug 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>

#include "engines/cpu_native/gemm_f32.h"

namespace octavo::cpu_native {
namespace {

inline float scalar_bf16(std::uint16_t v) { return __builtin_bit_cast(float, static_cast<std::uint32_t>(v) << 16); }
inline float scalar_f16(std::uint16_t v) { return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(v))); }

struct Zmm {
  using Reg = __m512;
  static constexpr int kLanes = 16, kRows1 = 14, kRows2 = 14, kRows3 = 9, kRows4 = 7, kLaneRows = 14;
  static constexpr bool kHasTranspose = true;
  static __mmask16 mask(int n) { return static_cast<__mmask16>((1u << n) - 1u); }
  static void opaque(Reg& v) { __asm__("" : "+v"(v)); }
  static Reg zero() { return _mm512_setzero_ps(); }
  static Reg load(const float* p) { return _mm512_loadu_ps(p); }
  static Reg load_aligned(const float* p) { return _mm512_load_ps(p); }
  static Reg load_tail(const float* p, int n) { return _mm512_maskz_loadu_ps(mask(n), p); }
  static Reg broadcast(const float* p) { return _mm512_set1_ps(*p); }
  static Reg fma(Reg a, Reg b, Reg c) { return _mm512_fmadd_ps(a, b, c); }
  static void store(float* p, Reg v) { _mm512_storeu_ps(p, v); }
  static void store_tail(float* p, Reg v, int n) { _mm512_mask_storeu_ps(p, mask(n), v); }
  static Reg load_bf16(const std::uint16_t* p) {
    const __m512i v = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
    return _mm512_castsi512_ps(_mm512_slli_epi32(v, 16));
  }
  static Reg load_f16(const std::uint16_t* p) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }
  static Reg load_bf16_tail(const std::uint16_t* p, int n) {
    const __m512i v = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask(n), p));
    return _mm512_castsi512_ps(_mm512_slli_epi32(v, 16));
  }
  static Reg load_f16_tail(const std::uint16_t* p, int n) { return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(mask(n), p)); }
  static void store_bf16(std::uint16_t* p, Reg v, int n) {
    // To nearest even; NaN keeps its upper bits and becomes quiet. (vcvtneps2bf16 would flush denormals.)
    const __m512i u = _mm512_castps_si512(v), top = _mm512_srli_epi32(u, 16);
    const __m512i odd = _mm512_and_si512(top, _mm512_set1_epi32(1));
    __m512i rounded = _mm512_srli_epi32(_mm512_add_epi32(u, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff))), 16);
    rounded = _mm512_mask_or_epi32(rounded, _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q), top, _mm512_set1_epi32(0x40));
    _mm256_mask_storeu_epi16(p, mask(n), _mm512_cvtepi32_epi16(rounded));
  }
  static void store_f16(std::uint16_t* p, Reg v, int n) {
    _mm256_mask_storeu_epi16(p, mask(n), _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
  static Reg gather(const float* src, const std::int32_t* index) {
    return _mm512_i32gather_ps(_mm512_loadu_si512(index), src, 4);
  }
  static void expand_near(float* dst, const float* src, const std::int32_t* index, std::int64_t depth) {
    const Reg v = load(src);
    for (std::int64_t j = 0; j < depth; ++j) {
      store(dst + 2 * j * kLanes, _mm512_permutexvar_ps(_mm512_loadu_si512(index + j * kLanes), v));
    }
  }
  static void transpose(float* dst, std::int64_t dst_row, const char* src, std::int64_t src_row, DataType_t type) {
    __m512 r[16], t[16];
    for (int i = 0; i < 16; ++i) {
      r[i] = type == DataType_t::FLOAT      ? load(reinterpret_cast<const float*>(src) + i * src_row)
             : type == DataType_t::BFLOAT16 ? load_bf16(reinterpret_cast<const std::uint16_t*>(src) + i * src_row)
                                            : load_f16(reinterpret_cast<const std::uint16_t*>(src) + i * src_row);
    }
    for (int i = 0; i < 16; i += 2) {
      t[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
      t[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
    }
    for (int i = 0; i < 16; i += 4) {
      for (int j = 0; j < 2; ++j) {
        const __m512d a = _mm512_castps_pd(t[i + j]), b = _mm512_castps_pd(t[i + j + 2]);
        r[i + 2 * j] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, b));
        r[i + 2 * j + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, b));
      }
    }
    // r[4 * q + c], 128-bit lane l: rows 4 q .. 4 q + 3 of column 4 l + c.
    for (int c = 0; c < 4; ++c) {
      const __m512 lo01 = _mm512_shuffle_f32x4(r[c], r[4 + c], 0x88), hi01 = _mm512_shuffle_f32x4(r[c], r[4 + c], 0xdd);
      const __m512 lo23 = _mm512_shuffle_f32x4(r[8 + c], r[12 + c], 0x88),
                   hi23 = _mm512_shuffle_f32x4(r[8 + c], r[12 + c], 0xdd);
      store(dst + (0 + c) * dst_row, _mm512_shuffle_f32x4(lo01, lo23, 0x88));
      store(dst + (8 + c) * dst_row, _mm512_shuffle_f32x4(lo01, lo23, 0xdd));
      store(dst + (4 + c) * dst_row, _mm512_shuffle_f32x4(hi01, hi23, 0x88));
      store(dst + (12 + c) * dst_row, _mm512_shuffle_f32x4(hi01, hi23, 0xdd));
    }
  }
};

#include "engines/cpu_native/gemm_f32_impl.h"

}  // namespace

namespace detail {
constexpr F32Kernels kF32Avx512 = make_kernels<Zmm>();
}  // namespace detail

}  // namespace octavo::cpu_native
