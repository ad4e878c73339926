// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "engines/cpu_native/grouped_s8.h"

namespace octavo::cpu_native {
namespace {

/// Narrow groups: one load of the block's channels, then one byte permutation a unit and dword.
void lanes_inside(const GroupedLine& l, const std::uint8_t* in, int columns, std::uint8_t* out) {
  constexpr int kMost = 8;
  const int bytes = l.units * l.span;
  const __mmask64 mask = bytes >= 64 ? ~__mmask64{0} : (__mmask64{1} << bytes) - 1;
  const __m512i flip = _mm512_set1_epi8(static_cast<char>(l.flip));
  const std::size_t pitch = static_cast<std::size_t>(l.dwords) * 64;
  for (int first = 0; first < l.units * l.dwords; first += kMost) {
    const int n = std::min(kMost, l.units * l.dwords - first);
    __m512i index[kMost];
    std::size_t at[kMost];
    for (int i = 0; i < kMost; ++i) {
      const int unit = std::min(first + i, l.units * l.dwords - 1) / l.dwords, d = (first + i) % l.dwords;
      index[i] = _mm512_add_epi8(_mm512_loadu_si512(l.lanes + 64 * d), _mm512_set1_epi8(static_cast<char>(unit * l.span)));
      at[i] = unit * l.unit_pitch + static_cast<std::size_t>(d) * 64;
    }
    const std::uint8_t* from = in;
    std::uint8_t* to = out;
    for (int j = 0; j < columns; ++j, from += l.column_bytes, to += pitch) {
      const __m512i v = _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, from), flip);
      if (n == kMost) {
#pragma GCC unroll 8
        for (int i = 0; i < kMost; ++i) _mm512_store_si512(to + at[i], _mm512_permutexvar_epi8(index[i], v));
      } else {
        for (int i = 0; i < n; ++i) _mm512_store_si512(to + at[i], _mm512_permutexvar_epi8(index[i], v));
      }
    }
  }
}

void broadcast_inside(const GroupedLine& l, const std::uint8_t* in, int columns, std::uint8_t* out) {
  const __m512i flip = _mm512_set1_epi8(static_cast<char>(l.flip));
  const std::size_t pitch = static_cast<std::size_t>(l.dwords) * 4;
  for (int j = 0; j < columns; ++j, in += l.column_bytes, out += pitch) {
    if (l.span == 16) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out),
                       _mm_xor_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in)), _mm512_castsi512_si128(flip)));
      continue;
    }
    if (l.span == 32) {
      _mm256_storeu_si256(
          reinterpret_cast<__m256i*>(out),
          _mm256_xor_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(in)), _mm512_castsi512_si256(flip)));
      continue;
    }
    for (int c = 0; c < l.span; c += 64) {
      const int n = std::min(64, l.span - c);
      const __mmask64 read = n >= 64 ? ~__mmask64{0} : (__mmask64{1} << n) - 1;
      const int m = (n + 3) / 4 * 4;
      const __mmask64 write = m >= 64 ? ~__mmask64{0} : (__mmask64{1} << m) - 1;
      _mm512_mask_storeu_epi8(out + c, write, _mm512_xor_si512(_mm512_maskz_loadu_epi8(read, in + c), flip));
    }
  }
}

void line(const GroupedLine& l) {
  const int first = static_cast<int>(l.row ? std::clamp<std::int64_t>(-l.first_column, 0, l.columns) : l.columns);
  const int last = static_cast<int>(std::clamp<std::int64_t>(l.width - l.first_column, first, l.columns));
  const std::size_t pitch = static_cast<std::size_t>(l.dwords) * (l.lanes ? 64 : 4);
  for (int u = 0; u < l.units; ++u) {
    std::memset(l.out + u * l.unit_pitch, l.fill, first * pitch);
    std::memset(l.out + u * l.unit_pitch + last * pitch, l.fill, (l.columns - last) * pitch);
  }
  if (first == last) return;
  const std::uint8_t* in = l.row + (l.first_column + first) * l.column_bytes;
  (l.lanes ? lanes_inside : broadcast_inside)(l, in, last - first, l.out + first * pitch);
}

/// kDwords != 0: so many, and outputs read neighbouring columns, so that every address is a constant away from x.
template <bool kBroadcast, int kDwords, int kUnits, int kOutputs>
void tile(const GroupedRow& t, int o) {
  constexpr std::size_t kBytes = kBroadcast ? 4 : 64;
  __m512i acc[kUnits][kOutputs];
#pragma GCC unroll 2
  for (int u = 0; u < kUnits; ++u) {
    const __m512i start = _mm512_loadu_si512(reinterpret_cast<const char*>(t.start) + u * t.unit_bytes);
#pragma GCC unroll 14
    for (int i = 0; i < kOutputs; ++i) acc[u][i] = start;
  }
  const int dwords = kDwords ? kDwords : t.dwords;
  const std::size_t advance = kDwords ? kDwords * kBytes : t.advance;
  const std::int8_t* w = t.weights;
  for (int r = 0; r < t.filter_rows; ++r) {
    for (int s = 0; s < t.filter_columns; ++s) {
      const std::uint8_t* x = t.lines[r] + o * advance + t.tap[s];
#pragma GCC unroll 2
      for (int d = 0; d < dwords; ++d, w += 64, x += kBytes) {
        __m512i weights[kUnits];
#pragma GCC unroll 2
        for (int u = 0; u < kUnits; ++u) weights[u] = _mm512_loadu_si512(w + u * t.unit_bytes);
#pragma GCC unroll 14
        for (int i = 0; i < kOutputs; ++i) {
          __m512i v;
          if constexpr (kBroadcast) {
            int dword;
            std::memcpy(&dword, x + i * advance, 4);
            v = _mm512_set1_epi32(dword);
          } else {
            v = _mm512_loadu_si512(x + i * advance);
          }
#pragma GCC unroll 2
          for (int u = 0; u < kUnits; ++u) acc[u][i] = _mm512_dpbusd_epi32(acc[u][i], v, weights[u]);
        }
      }
    }
  }
#pragma GCC unroll 14
  for (int i = 0; i < kOutputs; ++i) {
#pragma GCC unroll 2
    for (int u = 0; u < kUnits; ++u) {
      _mm512_storeu_si512(t.sums + static_cast<std::size_t>(o + i) * kSumsPitch + u * kUnitLanes, acc[u][i]);
    }
  }
}

template <bool kBroadcast, int kDwords, int kUnits>
void outputs(const GroupedRow& t) {
  int o = 0;
  const auto pieces = [&](auto size) {
    constexpr int kOutputs = decltype(size)::value;
    for (; t.count - o >= kOutputs; o += kOutputs) tile<kBroadcast, kDwords, kUnits, kOutputs>(t, o);
  };
  pieces(std::integral_constant < int, kUnits == 1 ? 14 : 12 > {});
  pieces(std::integral_constant<int, 10>{});
  pieces(std::integral_constant<int, 7>{});
  pieces(std::integral_constant<int, 4>{});
  pieces(std::integral_constant<int, 2>{});
  pieces(std::integral_constant<int, 1>{});
}

template <bool kBroadcast, int kUnits>
void by_dwords(const GroupedRow& t) {
  const bool neighbours = t.advance == static_cast<std::size_t>(t.dwords) * (kBroadcast ? 4 : 64);
  if (neighbours && t.dwords == 1) return outputs<kBroadcast, 1, kUnits>(t);
  if (neighbours && t.dwords == 2) return outputs<kBroadcast, 2, kUnits>(t);
  if (neighbours && t.dwords == 4) return outputs<kBroadcast, 4, kUnits>(t);
  if (neighbours && t.dwords == 8) return outputs<kBroadcast, 8, kUnits>(t);
  return outputs<kBroadcast, 0, kUnits>(t);
}

void row(const GroupedRow& t) {
  if (!t.broadcast) return by_dwords<false, 1>(t);
  return t.units == 2 ? by_dwords<true, 2>(t) : by_dwords<true, 1>(t);
}

}  // namespace

GroupedKernels grouped_s8_avx512_vnni() { return {line, row}; }

}  // namespace octavo::cpu_native

#endif
