// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <type_traits>

#include "engines/cpu_native/depthwise_s8.h"

namespace octavo::cpu_native {
namespace {

// Dword (lane L, position i) of the result is dword i*4+L of the source: after the unpacks, vector v then holds channels 16v to
// 16v+15 in order.
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

/// Columns [first, last) of one group of four rows, all inside the image.
template <bool kSpread>
void fill_inside(const DepthwiseTile& t, const std::uint8_t* const* rows, int first, int last, std::uint8_t* out,
                 std::size_t pitch) {
  const __mmask64 mask = t.channels >= 64 ? ~__mmask64{0} : (__mmask64{1} << t.channels) - 1;
  const __m512i flip = _mm512_set1_epi8(static_cast<char>(t.flip));
  const __m512i fill = _mm512_set1_epi8(static_cast<char>(t.fill));
  const std::uint8_t* row[4] = {rows[0], rows[1], rows[2], rows[3]};
  std::ptrdiff_t at = (t.first_column + first) * t.column_bytes;
  out += static_cast<std::size_t>(first) * pitch;
  for (int j = first; j < last; ++j, at += t.column_bytes, out += pitch) {
    __m512i v[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      v[i] = row[i] ? _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, row[i] + at), flip) : fill;
      if constexpr (kSpread) v[i] = spread(v[i]);
    }
    interleave(v, out);
  }
}

template <bool kSpread>
void fill(const DepthwiseTile& t) {
  const std::size_t pitch = static_cast<std::size_t>(t.groups) * 256;
  const int first = static_cast<int>(std::clamp<std::int64_t>(-t.first_column, 0, t.columns));
  const int last = static_cast<int>(std::clamp<std::int64_t>(t.width - t.first_column, first, t.columns));
  const __m512i padding = _mm512_set1_epi8(static_cast<char>(t.fill));
  for (int g = 0; g < t.groups; ++g) {
    std::uint8_t* out = t.buffer + g * 256;
    for (int j = 0; j < t.columns; ++j) {
      if (j == first) j = last;
      if (j >= t.columns) break;
      for (int v = 0; v < 4; ++v) _mm512_store_si512(out + j * pitch + 64 * v, padding);
    }
    fill_inside<kSpread>(t, t.rows + 4 * g, first, last, out, pitch);
  }
}

void line(const DepthwiseTile& t, const std::uint8_t* row, int step, int phase_columns, std::uint8_t* out) {
  const int slot = 64 / t.pixels;
  const __mmask32 mask = static_cast<__mmask32>((std::uint64_t{1} << t.channels) - 1);
  const __m256i flip = _mm256_set1_epi8(static_cast<char>(t.flip)), fill = _mm256_set1_epi8(static_cast<char>(t.fill));
  for (int f = 0; f < step; ++f) {
    std::uint8_t* to = out + static_cast<std::size_t>(f) * phase_columns * slot;
    // Columns that exist: first_column + f + j * step in [0, width), and wanted: f + j * step < columns.
    const std::int64_t origin = t.first_column + f;
    const std::int64_t end = std::min<std::int64_t>(t.width, t.first_column + t.columns);
    const int first = static_cast<int>(std::clamp<std::int64_t>((-origin + step - 1) / step, 0, phase_columns));
    const int last = !row || end <= origin
                         ? first
                         : static_cast<int>(std::clamp<std::int64_t>((end - origin + step - 1) / step, first, phase_columns));
    int j = 0;
    for (; j < first; ++j) _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + j * slot), fill);
    const std::uint8_t* in = row + (origin + static_cast<std::int64_t>(first) * step) * t.column_bytes;
    // Each store may spill into the next slot, which is written after it (the last one into the line's own slack).
    for (; j < last; ++j, in += step * t.column_bytes) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + j * slot), _mm256_xor_si256(_mm256_maskz_loadu_epi8(mask, in), flip));
    }
    for (; j < phase_columns; ++j) _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + j * slot), fill);
  }
}

/// The filter of a block: in registers when it has three vectors a channel (kTaps = 3, one row group), else in memory.
template <int kTaps, int kVectors>
struct Filter {
  explicit Filter(const DepthwiseTile& t) : tile(t) {
    if constexpr (kTaps != 0) {
      for (int i = 0; i < kTaps; ++i) tap[i] = t.tap[i];
    }
    if constexpr (kTaps != 0) {
#pragma GCC unroll 3
      for (int i = 0; i < kTaps; ++i) {
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) w[i * kVectors + v] = _mm512_loadu_si512(t.weights + i * 256 + v * 64);
      }
    }
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) start[v] = _mm512_loadu_si512(t.start + v * 16);
  }

  inline __attribute__((always_inline)) void sum(const std::uint8_t* x, __m512i* acc) const {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) acc[v] = start[v];
    if constexpr (kTaps != 0) {
#pragma GCC unroll 3
      for (int i = 0; i < kTaps; ++i) {
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) {
          acc[v] = _mm512_dpbusd_epi32(acc[v], _mm512_load_si512(x + tap[i] + v * 64), w[i * kVectors + v]);
        }
      }
    } else {
      const std::int8_t* weights = tile.weights;
      for (int s = 0; s < tile.filter_columns; ++s) {
        for (int g = 0; g < tile.groups; ++g, weights += 256) {
#pragma GCC unroll 4
          for (int v = 0; v < kVectors; ++v) {
            acc[v] = _mm512_dpbusd_epi32(acc[v], _mm512_load_si512(x + tile.tap[s] + g * 256 + v * 64),
                                         _mm512_loadu_si512(weights + v * 64));
          }
        }
      }
    }
  }

  const DepthwiseTile& tile;
  std::size_t tap[kTaps ? kTaps : 1];
  __m512i w[kTaps ? kTaps * kVectors : 1];
  __m512i start[kVectors];
};

template <int kTaps, int kVectors>
void sums(const DepthwiseTile& t) {
  const Filter<kTaps, kVectors> filter(t);
  const int vectors = (t.count + t.pixels - 1) / t.pixels;
  for (int o = 0; o < vectors; ++o) {
    __m512i acc[kVectors];
    filter.sum(t.buffer + o * t.advance, acc);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) _mm512_storeu_si512(t.sums + o * 64 + v * 16, acc[v]);
  }
}

void sums_any(const DepthwiseTile& t) {
  const bool registers = t.groups == 1 && t.filter_columns == 3;
  switch (t.pixels > 1 ? 4 : (t.channels + 15) / 16) {
    case 1:
      return registers ? sums<3, 1>(t) : sums<0, 1>(t);
    case 2:
      return registers ? sums<3, 2>(t) : sums<0, 2>(t);
    case 3:
      return registers ? sums<3, 3>(t) : sums<0, 3>(t);
    default:
      return registers ? sums<3, 4>(t) : sums<0, 4>(t);
  }
}

template <int kTaps, bool kUnsigned, bool kShared>
void fused(const DepthwiseTile& t, const DepthwiseAffine& a) {
  const Filter<kTaps, 4> filter(t);
  const __mmask64 mask = t.channels >= 64 ? ~__mmask64{0} : (__mmask64{1} << t.channels) - 1;
  const __m512i floor = a.relu ? _mm512_setzero_si512() : _mm512_set1_epi8(-128);
  __m512 scale[4], bias[4];
#pragma GCC unroll 4
  for (int v = 0; v < 4; ++v) {
    scale[v] = _mm512_loadu_ps(a.scale + 16 * v);
    bias[v] = _mm512_loadu_ps(a.bias + 16 * v);
  }
  std::uint8_t* out = a.out;
  const int vectors = (t.count + t.pixels - 1) / t.pixels;
  for (int o = 0; o < vectors; ++o, out += t.pixels * a.out_stride) {
    __m512i acc[4];
    filter.sum(t.buffer + o * t.advance, acc);
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) {
      acc[v] = _mm512_cvtps_epi32(_mm512_add_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(acc[v]), scale[v]), bias[v]));
    }
    const __m512i low = _mm512_packs_epi32(acc[0], acc[1]), high = _mm512_packs_epi32(acc[2], acc[3]);
    const __m512i packed = kUnsigned ? _mm512_packus_epi16(low, high) : _mm512_max_epi8(_mm512_packs_epi16(low, high), floor);
    if constexpr (!kShared) {
      _mm512_mask_storeu_epi8(out, mask, packed);
    } else {
      alignas(64) std::uint8_t pieces[64 + 32];
      _mm512_store_si512(pieces, packed);
      const int slot = 64 / t.pixels, left = std::min(t.pixels, t.count - o * t.pixels);
      for (int i = 0; i < left; ++i) {
        _mm256_mask_storeu_epi8(out + i * a.out_stride, static_cast<__mmask32>(mask),
                                _mm256_loadu_si256(reinterpret_cast<__m256i*>(pieces + i * slot)));
      }
    }
  }
}

void fused_any(const DepthwiseTile& t, const DepthwiseAffine& a) {
  const bool registers = t.groups == 1 && t.filter_columns == 3;
  const auto run = [&](auto is_unsigned) {
    constexpr bool kUnsigned = decltype(is_unsigned)::value;
    if (t.pixels > 1) return registers ? fused<3, kUnsigned, true>(t, a) : fused<0, kUnsigned, true>(t, a);
    return registers ? fused<3, kUnsigned, false>(t, a) : fused<0, kUnsigned, false>(t, a);
  };
  if (a.is_unsigned) return run(std::true_type{});
  return run(std::false_type{});
}

}  // namespace

DepthwiseKernels depthwise_s8_avx512_vnni() { return {fill<true>, sums_any, fused_any, fill<false>, line}; }

}  // namespace octavo::cpu_native

#endif
