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

void line(const GroupedLine& l) {
  const int first = static_cast<int>(l.row ? std::clamp<std::int64_t>(-l.first_column, 0, l.columns) : l.columns);
  const int last = static_cast<int>(std::clamp<std::int64_t>(l.width - l.first_column, first, l.columns));
  const std::size_t pitch = static_cast<std::size_t>(l.dwords) * (l.lanes ? 64 : 4);
  std::memset(l.out, l.fill, first * pitch);
  std::memset(l.out + last * pitch, l.fill, (l.columns - last) * pitch);
  const __m512i flip = _mm512_set1_epi8(static_cast<char>(l.flip));
  const std::uint8_t* in = l.row + (l.first_column + first) * l.column_bytes;
  std::uint8_t* out = l.out + first * pitch;
  for (int j = first; j < last; ++j, in += l.column_bytes, out += pitch) {
    if (l.lanes) {  // span <= 64
      const __mmask64 mask = l.span >= 64 ? ~__mmask64{0} : (__mmask64{1} << l.span) - 1;
      const __m512i v = _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, in), flip);
      for (int d = 0; d < l.dwords; ++d) {
        _mm512_store_si512(out + 64 * d, _mm512_permutexvar_epi8(_mm512_loadu_si512(l.lanes + 64 * d), v));
      }
    } else {
      for (int c = 0; c < l.span; c += 64) {
        const int n = std::min(64, l.span - c);
        const __mmask64 read = n >= 64 ? ~__mmask64{0} : (__mmask64{1} << n) - 1;
        const int m = (n + 3) / 4 * 4;
        const __mmask64 write = m >= 64 ? ~__mmask64{0} : (__mmask64{1} << m) - 1;
        _mm512_mask_storeu_epi8(out + c, write, _mm512_xor_si512(_mm512_maskz_loadu_epi8(read, in + c), flip));
      }
    }
  }
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
