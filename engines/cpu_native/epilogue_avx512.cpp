// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#if defined(__x86_64__)

#include <immintrin.h>

#include "engines/cpu_native/epilogue_chain.h"

namespace octavo::cpu_native {
namespace {

struct V512 {
  using I = __m512i;
  using F = __m512;
  static constexpr int kLanes = 16;

  static I bits(F v) { return _mm512_castps_si512(v); }
  static F floats(I v) { return _mm512_castsi512_ps(v); }
  static I load(const void* p) { return _mm512_loadu_si512(p); }
  static I broadcast(const void* p) { return _mm512_set1_epi32(*static_cast<const int*>(p)); }

  static I load_int(DataType_t type, const void* p) {
    if (type == DataType_t::INT8) return _mm512_cvtepi8_epi32(_mm_loadu_si128(static_cast<const __m128i*>(p)));
    if (type == DataType_t::UINT8) return _mm512_cvtepu8_epi32(_mm_loadu_si128(static_cast<const __m128i*>(p)));
    return _mm512_loadu_si512(p);
  }
  static F load_float(DataType_t type, const void* p) {
    switch (type) {
      case DataType_t::FLOAT:
        return _mm512_loadu_ps(p);
      case DataType_t::HALF:
        return _mm512_cvtph_ps(_mm256_loadu_si256(static_cast<const __m256i*>(p)));
      case DataType_t::BFLOAT16:
        return floats(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256(static_cast<const __m256i*>(p))), 16));
      default:
        return to_float(load_int(type, p));
    }
  }

  static F to_float(I v) { return _mm512_cvtepi32_ps(v); }
  /// cvtps gives 0x80000000 above 2^31 and for NaN: the top is clamped first, NaN lanes are zeroed, the bottom is right.
  static I to_int(F v, int lo, int hi) {
    const __mmask16 number = _mm512_cmp_ps_mask(v, v, _CMP_ORD_Q);
    if (hi == 2147483647) {
      const __mmask16 high = _mm512_cmp_ps_mask(v, _mm512_set1_ps(0x1p31f), _CMP_GE_OQ);
      return _mm512_mask_mov_epi32(_mm512_maskz_cvtps_epi32(number, v), high, _mm512_set1_epi32(hi));
    }
    const I r = _mm512_maskz_cvtps_epi32(number, _mm512_min_ps(v, _mm512_set1_ps(static_cast<float>(hi))));
    return _mm512_max_epi32(r, _mm512_set1_epi32(lo));
  }
  static I clamp(I v, int lo, int hi) {
    return _mm512_max_epi32(_mm512_min_epi32(v, _mm512_set1_epi32(hi)), _mm512_set1_epi32(lo));
  }
  static I add(I a, I b) { return _mm512_add_epi32(a, b); }
  static I sub(I a, I b) { return _mm512_sub_epi32(a, b); }
  static I mul(I a, I b) { return _mm512_mullo_epi32(a, b); }
  static I max(I a, I b) { return _mm512_max_epi32(a, b); }
  static I min(I a, I b) { return _mm512_min_epi32(a, b); }
  static F addf(F a, F b) { return _mm512_add_ps(a, b); }
  static F subf(F a, F b) { return _mm512_sub_ps(a, b); }
  static F mulf(F a, F b) { return _mm512_mul_ps(a, b); }
  static F divf(F a, F b) { return _mm512_div_ps(a, b); }
  /// maxps gives its second operand when either is NaN: only a NaN on the left needs care.
  static F max_nan(F a, F b) { return _mm512_mask_mov_ps(_mm512_max_ps(a, b), _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q), a); }
  static F min_nan(F a, F b) { return _mm512_mask_mov_ps(_mm512_min_ps(a, b), _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q), a); }
  static F at_least(F v, float lower) { return _mm512_max_ps(_mm512_set1_ps(lower), v); }
  static F at_most(F v, float upper) { return _mm512_min_ps(_mm512_set1_ps(upper), v); }
  static F relu(F v, float lower, float slope, float upper) {
    const F low = _mm512_set1_ps(lower);
    const __mmask16 below = _mm512_cmp_ps_mask(v, low, _CMP_LT_OQ);
    const F under = slope == 0 ? low : _mm512_add_ps(low, _mm512_mul_ps(_mm512_set1_ps(slope), _mm512_sub_ps(v, low)));
    return _mm512_mask_mov_ps(_mm512_min_ps(_mm512_set1_ps(upper), v), below, under);
  }
  static I flip_sign(I v) { return _mm512_xor_si512(v, _mm512_set1_epi32(static_cast<int>(0x80000000u))); }
  static I clear_sign(I v) { return _mm512_and_si512(v, _mm512_set1_epi32(0x7fffffff)); }

  static void store(DataType_t type, void* p, bool is_int, I v) {
    switch (type) {
      case DataType_t::INT8:
        _mm_storeu_si128(static_cast<__m128i*>(p), _mm512_cvtsepi32_epi8(is_int ? v : to_int(floats(v), -128, 127)));
        return;
      case DataType_t::UINT8:
        _mm_storeu_si128(static_cast<__m128i*>(p), _mm512_cvtepi32_epi8(is_int ? clamp(v, 0, 255) : to_int(floats(v), 0, 255)));
        return;
      case DataType_t::INT32:
        _mm512_storeu_si512(p, is_int ? v : to_int(floats(v), -2147483647 - 1, 2147483647));
        return;
      case DataType_t::HALF:
        _mm256_storeu_si256(static_cast<__m256i*>(p),
                            _mm512_cvtps_ph(floats(v), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
        return;
      case DataType_t::BFLOAT16: {
        const I lsb = _mm512_and_si512(_mm512_srli_epi32(v, 16), _mm512_set1_epi32(1));
        const I rounded = _mm512_add_epi32(v, _mm512_add_epi32(lsb, _mm512_set1_epi32(0x7fff)));
        const __mmask16 nan = _mm512_cmp_ps_mask(floats(v), floats(v), _CMP_UNORD_Q);
        const I quiet = _mm512_or_si512(v, _mm512_set1_epi32(0x400000));
        _mm256_storeu_si256(static_cast<__m256i*>(p),
                            _mm512_cvtepi32_epi16(_mm512_srli_epi32(_mm512_mask_mov_epi32(rounded, nan, quiet), 16)));
        return;
      }
      default:
        _mm512_storeu_si512(p, is_int ? bits(to_float(v)) : v);
    }
  }
  /// 64 bytes at once: two saturating packs and one permutation instead of four vpmovsdb.
  static void store_s8x4(void* p, bool is_int, const I* v) {
    I t[4];
    for (int u = 0; u < 4; ++u) {
      // The packs saturate at the bottom; NaN and the top are dealt with before the conversion.
      t[u] = v[u];
      if (!is_int) {
        const F f = floats(v[u]);
        t[u] = _mm512_maskz_cvtps_epi32(_mm512_cmp_ps_mask(f, f, _CMP_ORD_Q), _mm512_min_ps(f, _mm512_set1_ps(127.0f)));
      }
    }
    const I packed = _mm512_packs_epi16(_mm512_packs_epi32(t[0], t[1]), _mm512_packs_epi32(t[2], t[3]));
    const I order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    _mm512_storeu_si512(p, _mm512_permutexvar_epi32(order, packed));
  }
};

}  // namespace

void run_chain_avx512(const TileEpilogue::Program& program, const TileEpilogue::Bound& bound, const Rows& rows,
                      const void* accumulators, std::ptrdiff_t row_stride) {
  ChainRunner<V512>(program, bound).run(rows, accumulators, row_stride);
}

}  // namespace octavo::cpu_native

#endif
