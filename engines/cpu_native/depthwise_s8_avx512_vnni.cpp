// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>

#include "engines/cpu_native/depthwise_s8.h"

namespace octavo::cpu_native {
namespace {

// Dword (lane L, position i) of the result is dword i*4+L of the source: after the byte and word unpacks, which work within
// 128-bit lanes, vector v then holds channels 16v to 16v+15 in order.
inline __m512i spread(__m512i v) {
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return _mm512_permutexvar_epi32(order, v);
}

inline void interleave(const __m512i* v, std::uint8_t* out) {
  const __m512i low01 = _mm512_unpacklo_epi8(v[0], v[1]), high01 = _mm512_unpackhi_epi8(v[0], v[1]);
  const __m512i low23 = _mm512_unpacklo_epi8(v[2], v[3]), high23 = _mm512_unpackhi_epi8(v[2], v[3]);
  _mm512_store_si512(out, _mm512_unpacklo_epi16(low01, low23));
  _mm512_store_si512(out + 64, _mm512_unpackhi_epi16(low01, low23));
  _mm512_store_si512(out + 128, _mm512_unpacklo_epi16(high01, high23));
  _mm512_store_si512(out + 192, _mm512_unpackhi_epi16(high01, high23));
}

/// Columns [first, last) of one group of four filter rows; kRows of them exist.
template <int kRows>
void fill_inside(const DepthwiseTile& t, const std::uint8_t* const* rows, int first, int last, std::uint8_t* out,
                 std::size_t pitch) {
  const __mmask64 mask = t.channels >= 64 ? ~__mmask64{0} : (__mmask64{1} << t.channels) - 1;
  const __m512i flip = _mm512_set1_epi8(static_cast<char>(t.flip));
  const __m512i fill = _mm512_set1_epi8(static_cast<char>(t.fill));
  std::ptrdiff_t at = (t.first_column + first) * t.column_bytes;
  for (int j = first; j < last; ++j, at += t.column_bytes) {
    __m512i v[4] = {fill, fill, fill, fill};
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) {
      if (rows[i]) v[i] = spread(_mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, rows[i] + at), flip));
    }
    interleave(v, out + j * pitch);
  }
}

void fill_buffer(const DepthwiseTile& t) {
  const int groups = (t.filter_rows + 3) / 4;
  const std::size_t pitch = static_cast<std::size_t>(groups) * 256;
  const int first = static_cast<int>(std::clamp<std::int64_t>(-t.first_column, 0, t.columns));
  const int last = static_cast<int>(std::clamp<std::int64_t>(t.width - t.first_column, first, t.columns));
  const __m512i fill = _mm512_set1_epi8(static_cast<char>(t.fill));
  for (int g = 0; g < groups; ++g) {
    std::uint8_t* out = t.buffer + g * 256;
    for (int j = 0; j < t.columns; ++j) {
      if (j == first) j = last;
      if (j >= t.columns) break;
      for (int v = 0; v < 4; ++v) _mm512_store_si512(out + j * pitch + 64 * v, fill);
    }
    const int rows = std::min(4, t.filter_rows - 4 * g);
    const std::uint8_t* const* at = t.rows + 4 * g;
    if (rows == 1) fill_inside<1>(t, at, first, last, out, pitch);
    if (rows == 2) fill_inside<2>(t, at, first, last, out, pitch);
    if (rows == 3) fill_inside<3>(t, at, first, last, out, pitch);
    if (rows == 4) fill_inside<4>(t, at, first, last, out, pitch);
  }
}

/// kTaps = filter columns * row groups when the weights fit in registers, else 0. kVectors: how many of a block's four
/// vectors of 16 channels are in use.
template <int kTaps, int kVectors>
void sums(const DepthwiseTile& t) {
  const int groups = (t.filter_rows + 3) / 4;
  const int taps = kTaps ? kTaps : t.filter_columns * groups;
  __m512i w[kTaps ? kTaps * kVectors : 1];
  if constexpr (kTaps != 0) {
#pragma GCC unroll 12
    for (int i = 0; i < kTaps; ++i) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) w[i * kVectors + v] = _mm512_loadu_si512(t.weights + i * 256 + v * 64);
    }
  }
  const std::size_t tap_bytes = static_cast<std::size_t>(t.dilation) * groups * 256;
  for (int o = 0; o < t.count; ++o) {
    const std::uint8_t* x = t.buffer + static_cast<std::size_t>(o) * t.step * groups * 256;
    __m512i acc[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) acc[v] = _mm512_loadu_si512(t.start + v * 16);
    if constexpr (kTaps != 0) {  // groups == 1
#pragma GCC unroll 12
      for (int i = 0; i < kTaps; ++i) {
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) {
          acc[v] = _mm512_dpbusd_epi32(acc[v], _mm512_load_si512(x + i * tap_bytes + v * 64), w[i * kVectors + v]);
        }
      }
    } else {
      const std::int8_t* weights = t.weights;
      for (int s = 0; s < t.filter_columns; ++s) {
        for (int g = 0; g < groups; ++g, weights += 256) {
#pragma GCC unroll 4
          for (int v = 0; v < kVectors; ++v) {
            acc[v] = _mm512_dpbusd_epi32(acc[v], _mm512_load_si512(x + s * tap_bytes + g * 256 + v * 64),
                                         _mm512_loadu_si512(weights + v * 64));
          }
        }
      }
    }
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) _mm512_storeu_si512(t.sums + o * 64 + v * 16, acc[v]);
  }
  (void)taps;
}

template <int kVectors>
void dispatch(const DepthwiseTile& t) {
  const int taps = t.filter_rows <= 4 ? t.filter_columns : 0;
  if (taps == 3) return sums<3, kVectors>(t);
  return sums<0, kVectors>(t);
}

}  // namespace

void depthwise_s8_avx512_vnni(const DepthwiseTile& tile) {
  fill_buffer(tile);
  switch ((tile.channels + 15) / 16) {
    case 1:
      return dispatch<1>(tile);
    case 2:
      return dispatch<2>(tile);
    case 3:
      return dispatch<3>(tile);
    default:
      return dispatch<4>(tile);
  }
}

}  // namespace octavo::cpu_native

#endif
