// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#if defined(__x86_64__)

#include <immintrin.h>

#include "engines/cpu_native/amx_bf16.h"

namespace octavo::cpu_native {
namespace {

inline __mmask32 first(std::int64_t n) { return n >= 32 ? ~__mmask32{0} : (__mmask32{1} << n) - 1; }

void copy_rows(std::uint16_t* dst, std::int64_t dst_row, const std::uint16_t* src, std::int64_t src_row, std::int64_t rows,
               std::int64_t count, Bf16Range& range) {
  const __m512i magnitude = _mm512_set1_epi16(0x7fff), one = _mm512_set1_epi16(1);
  __m512i low = _mm512_set1_epi16(-1), high = _mm512_setzero_si512();
  for (std::int64_t r = 0; r < rows; ++r, src += src_row) {
    for (std::int64_t i = 0; i < count; i += 32) {
      const __mmask32 some = first(count - i);
      const __m512i v = _mm512_maskz_loadu_epi16(some, src + i);
      const __m512i m = _mm512_and_si512(v, magnitude);
      low = _mm512_min_epu16(low, _mm512_sub_epi16(m, one));
      high = _mm512_max_epu16(high, m);
      if (dst != nullptr) _mm512_mask_storeu_epi16(dst + r * dst_row + i, some, v);
    }
  }
  alignas(64) std::uint16_t lows[32], highs[32];
  _mm512_store_si512(lows, low);
  _mm512_store_si512(highs, high);
  for (int i = 0; i < 32; ++i) {
    if (lows[i] < range.smallest) range.smallest = lows[i];
    if (highs[i] > range.largest) range.largest = highs[i];
  }
}

void narrow_rows(std::uint16_t* dst, std::int64_t dst_row, const float* src, std::int64_t src_row, std::int64_t rows,
                 std::int64_t count) {
  for (std::int64_t r = 0; r < rows; ++r, dst += dst_row, src += src_row) {
    for (std::int64_t i = 0; i < count; i += 32) {
      const std::int64_t left = count - i;
      const __mmask32 some = first(left);
      const __m512 a = _mm512_maskz_loadu_ps(static_cast<__mmask16>(some), src + i);
      const __m512 b = _mm512_maskz_loadu_ps(static_cast<__mmask16>(some >> 16), src + i + 16);
      _mm512_mask_storeu_epi16(dst + i, some, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(b, a)));
    }
  }
}

void interleave(std::uint16_t* dst, const std::uint16_t* even, const std::uint16_t* odd, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += 16) {
    const __mmask16 some = static_cast<__mmask16>(first(count - i < 16 ? count - i : 16));
    const __m512i e = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(some, even + i));
    const __m512i o = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(some, odd + i));
    _mm512_mask_storeu_epi32(dst + 2 * i, some, _mm512_or_si512(e, _mm512_slli_epi32(o, 16)));
  }
}

/// Sixteen columns of 32 rows: pairs of rows become 32-bit words, of which a 16 x 16 transposition is left.
void transpose16(std::uint16_t* dst, std::int64_t dst_row, const std::uint16_t* src, std::int64_t src_row, std::int64_t rows,
                 std::int64_t columns) {
  const __mmask16 some = static_cast<__mmask16>((1u << columns) - 1u);
  __m512i r[16], t[16];
  const auto row = [&](std::int64_t i) {
    return i < rows ? _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(some, src + i * src_row)) : _mm512_setzero_si512();
  };
  for (int i = 0; i < 16; ++i) r[i] = _mm512_or_si512(row(2 * i), _mm512_slli_epi32(row(2 * i + 1), 16));
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
    t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {
    for (int j = 0; j < 2; ++j) {
      r[i + 2 * j] = _mm512_unpacklo_epi64(t[i + j], t[i + j + 2]);
      r[i + 2 * j + 1] = _mm512_unpackhi_epi64(t[i + j], t[i + j + 2]);
    }
  }
  // r[4 q + c], 128-bit lane l: words 4 q .. 4 q + 3 of column 4 l + c.
  for (int c = 0; c < 4; ++c) {
    const __m512i lo01 = _mm512_shuffle_i32x4(r[c], r[4 + c], 0x88), hi01 = _mm512_shuffle_i32x4(r[c], r[4 + c], 0xdd);
    const __m512i lo23 = _mm512_shuffle_i32x4(r[8 + c], r[12 + c], 0x88),
                  hi23 = _mm512_shuffle_i32x4(r[8 + c], r[12 + c], 0xdd);
    if (c < columns) _mm512_storeu_si512(dst + c * dst_row, _mm512_shuffle_i32x4(lo01, lo23, 0x88));
    if (8 + c < columns) _mm512_storeu_si512(dst + (8 + c) * dst_row, _mm512_shuffle_i32x4(lo01, lo23, 0xdd));
    if (4 + c < columns) _mm512_storeu_si512(dst + (4 + c) * dst_row, _mm512_shuffle_i32x4(hi01, hi23, 0x88));
    if (12 + c < columns) _mm512_storeu_si512(dst + (12 + c) * dst_row, _mm512_shuffle_i32x4(hi01, hi23, 0xdd));
  }
}

void transpose(std::uint16_t* dst, std::int64_t dst_row, const std::uint16_t* src, std::int64_t src_row, std::int64_t rows,
               std::int64_t columns) {
  for (std::int64_t j = 0; j < columns; j += 16) {
    transpose16(dst + j * dst_row, dst_row, src + j, src_row, rows, columns - j < 16 ? columns - j : 16);
  }
}

constexpr AmxBf16Isa make() {
  AmxBf16Isa isa = make_amx_bf16<HardwareTiles>();
  isa.copy_rows = copy_rows;
  isa.narrow_rows = narrow_rows;
  isa.interleave = interleave;
  isa.transpose = transpose;
  return isa;
}

}  // namespace

const AmxBf16Isa kAmxBf16Hardware = make();

}  // namespace octavo::cpu_native

#endif
