// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <utility>

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

template <bool kBroadcast, int kOutputs>
void tile(const GroupedRow& t, int o) {
  __m512i acc[kOutputs];
  const __m512i start = _mm512_loadu_si512(t.start);
#pragma GCC unroll 14
  for (int i = 0; i < kOutputs; ++i) acc[i] = start;
  const std::int8_t* w = t.weights;
  for (int r = 0; r < t.filter_rows; ++r) {
    for (int s = 0; s < t.filter_columns; ++s) {
      const std::uint8_t* x = t.lines[r] + o * t.advance + t.tap[s];
      for (int d = 0; d < t.dwords; ++d, w += 64, x += kBroadcast ? 4 : 64) {
        const __m512i weights = _mm512_loadu_si512(w);
#pragma GCC unroll 14
        for (int i = 0; i < kOutputs; ++i) {
          __m512i v;
          if constexpr (kBroadcast) {
            int dword;
            std::memcpy(&dword, x + i * t.advance, 4);
            v = _mm512_set1_epi32(dword);
          } else {
            v = _mm512_loadu_si512(x + i * t.advance);
          }
          acc[i] = _mm512_dpbusd_epi32(acc[i], v, weights);
        }
      }
    }
  }
#pragma GCC unroll 14
  for (int i = 0; i < kOutputs; ++i) _mm512_storeu_si512(t.sums + static_cast<std::size_t>(o + i) * kSumsPitch, acc[i]);
}

constexpr int kMost = 14;

template <bool kBroadcast, int... kCounts>
void rest(const GroupedRow& t, int o, int count, std::integer_sequence<int, kCounts...>) {
  ((count == kCounts + 1 ? tile<kBroadcast, kCounts + 1>(t, o) : void()), ...);
}

template <bool kBroadcast>
void outputs(const GroupedRow& t) {
  // Even pieces: 56 = 4 * 14, 28 = 2 * 14, 20 = 2 * 10 rather than 14 + 6.
  const int pieces = (t.count + kMost - 1) / kMost;
  for (int i = 0, o = 0; i < pieces; ++i) {
    const int n = (t.count - o + pieces - i - 1) / (pieces - i);
    rest<kBroadcast>(t, o, n, std::make_integer_sequence<int, kMost>{});
    o += n;
  }
}

void row(const GroupedRow& t) { return t.broadcast ? outputs<true>(t) : outputs<false>(t); }

}  // namespace

GroupedKernels grouped_s8_avx512_vnni() { return {line, row}; }

}  // namespace octavo::cpu_native

#endif
