// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#if defined(__x86_64__)

#include <immintrin.h>

#include "engines/cpu_native/epilogue_chain.h"

namespace octavo::cpu_native {
namespace {

struct V256 {
  using I = __m256i;
  using F = __m256;
  static constexpr int kLanes = 8;

  static I bits(F v) { return _mm256_castps_si256(v); }
  static F floats(I v) { return _mm256_castsi256_ps(v); }
  static I load(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
  static I broadcast(const void* p) { return _mm256_set1_epi32(*static_cast<const int*>(p)); }

  static I load_int(DataType_t type, const void* p) {
    if (type == DataType_t::INT8) return _mm256_cvtepi8_epi32(_mm_loadl_epi64(static_cast<const __m128i*>(p)));
    if (type == DataType_t::UINT8) return _mm256_cvtepu8_epi32(_mm_loadl_epi64(static_cast<const __m128i*>(p)));
    return load(p);
  }
  static F load_float(DataType_t type, const void* p) {
    switch (type) {
      case DataType_t::FLOAT:
        return _mm256_loadu_ps(static_cast<const float*>(p));
      case DataType_t::HALF:
        return _mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i*>(p)));
      case DataType_t::BFLOAT16:
        return floats(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(static_cast<const __m128i*>(p))), 16));
      default:
        return to_float(load_int(type, p));
    }
  }

  static F to_float(I v) { return _mm256_cvtepi32_ps(v); }
  /// cvtps gives 0x80000000 above 2^31 and for NaN: both are put right afterwards.
  static I to_int(F v, int lo, int hi) {
    const I number = bits(_mm256_cmp_ps(v, v, _CMP_ORD_Q));
    const I high = bits(_mm256_cmp_ps(v, _mm256_set1_ps(0x1p31f), _CMP_GE_OQ));
    const I r = _mm256_blendv_epi8(_mm256_cvtps_epi32(v), _mm256_set1_epi32(2147483647), high);
    return clamp(_mm256_and_si256(r, number), lo, hi);
  }
  static I clamp(I v, int lo, int hi) {
    return _mm256_max_epi32(_mm256_min_epi32(v, _mm256_set1_epi32(hi)), _mm256_set1_epi32(lo));
  }
  static I add(I a, I b) { return _mm256_add_epi32(a, b); }
  static I sub(I a, I b) { return _mm256_sub_epi32(a, b); }
  static I mul(I a, I b) { return _mm256_mullo_epi32(a, b); }
  static I max(I a, I b) { return _mm256_max_epi32(a, b); }
  static I min(I a, I b) { return _mm256_min_epi32(a, b); }
  static F addf(F a, F b) { return _mm256_add_ps(a, b); }
  static F subf(F a, F b) { return _mm256_sub_ps(a, b); }
  static F mulf(F a, F b) { return _mm256_mul_ps(a, b); }
  static F divf(F a, F b) { return _mm256_div_ps(a, b); }
  static F max_nan(F a, F b) { return _mm256_blendv_ps(_mm256_max_ps(a, b), a, _mm256_cmp_ps(a, a, _CMP_UNORD_Q)); }
  static F min_nan(F a, F b) { return _mm256_blendv_ps(_mm256_min_ps(a, b), a, _mm256_cmp_ps(a, a, _CMP_UNORD_Q)); }
  static F at_least(F v, float lower) { return _mm256_max_ps(_mm256_set1_ps(lower), v); }
  static F at_most(F v, float upper) { return _mm256_min_ps(_mm256_set1_ps(upper), v); }
  static F relu(F v, float lower, float slope, float upper) {
    const F low = _mm256_set1_ps(lower);
    const F under = slope == 0 ? low : _mm256_add_ps(low, _mm256_mul_ps(_mm256_set1_ps(slope), _mm256_sub_ps(v, low)));
    return _mm256_blendv_ps(_mm256_min_ps(_mm256_set1_ps(upper), v), under, _mm256_cmp_ps(v, low, _CMP_LT_OQ));
  }
  static I flip_sign(I v) { return _mm256_xor_si256(v, _mm256_set1_epi32(static_cast<int>(0x80000000u))); }
  static I clear_sign(I v) { return _mm256_and_si256(v, _mm256_set1_epi32(0x7fffffff)); }

  static void store(DataType_t type, void* p, bool is_int, I v) {
    switch (type) {
      case DataType_t::INT8: {
        const I t = is_int ? v : to_int(floats(v), -128, 127);
        const __m128i w = _mm_packs_epi32(_mm256_castsi256_si128(t), _mm256_extracti128_si256(t, 1));
        _mm_storel_epi64(static_cast<__m128i*>(p), _mm_packs_epi16(w, w));
        return;
      }
      case DataType_t::UINT8: {
        const I t = is_int ? clamp(v, 0, 255) : to_int(floats(v), 0, 255);
        const __m128i w = _mm_packs_epi32(_mm256_castsi256_si128(t), _mm256_extracti128_si256(t, 1));
        _mm_storel_epi64(static_cast<__m128i*>(p), _mm_packus_epi16(w, w));
        return;
      }
      case DataType_t::INT32:
        _mm256_storeu_si256(static_cast<__m256i*>(p), is_int ? v : to_int(floats(v), -2147483647 - 1, 2147483647));
        return;
      case DataType_t::HALF:
        _mm_storeu_si128(static_cast<__m128i*>(p), _mm256_cvtps_ph(floats(v), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
        return;
      case DataType_t::BFLOAT16: {
        const I lsb = _mm256_and_si256(_mm256_srli_epi32(v, 16), _mm256_set1_epi32(1));
        const I rounded = _mm256_add_epi32(v, _mm256_add_epi32(lsb, _mm256_set1_epi32(0x7fff)));
        const I nan = bits(_mm256_cmp_ps(floats(v), floats(v), _CMP_UNORD_Q));
        const I quiet = _mm256_or_si256(v, _mm256_set1_epi32(0x400000));
        const I t = _mm256_srli_epi32(_mm256_blendv_epi8(rounded, quiet, nan), 16);
        _mm_storeu_si128(static_cast<__m128i*>(p), _mm_packus_epi32(_mm256_castsi256_si128(t), _mm256_extracti128_si256(t, 1)));
        return;
      }
      default:
        _mm256_storeu_si256(static_cast<__m256i*>(p), is_int ? bits(to_float(v)) : v);
    }
  }
  static void store_s8x4(void* p, bool is_int, const I* v) {
    I t[4];
    for (int u = 0; u < 4; ++u) t[u] = is_int ? v[u] : to_int(floats(v[u]), -128, 127);
    const I packed = _mm256_packs_epi16(_mm256_packs_epi32(t[0], t[1]), _mm256_packs_epi32(t[2], t[3]));
    _mm256_storeu_si256(static_cast<__m256i*>(p),
                        _mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)));
  }
};

}  // namespace

void run_chain_avx2(const TileEpilogue::Program& program, const TileEpilogue::Bound& bound, const Rows& rows,
                    const void* accumulators, std::ptrdiff_t row_stride) {
  ChainRunner<V256>(program, bound).run(rows, accumulators, row_stride);
}

}  // namespace octavo::cpu_native

#endif
