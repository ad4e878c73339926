// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#if defined(__x86_64__)

// gcc 12 warns about the deliberately undefined registers inside its own intrinsics (bug 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "engines/cpu_native/depthwise_flat.h"

namespace octavo::cpu_native {
namespace {

/// As assembly: gcc 12 copies the accumulators of the intrinsic around.
inline __attribute__((always_inline)) void dot(__m512i& acc, __m512i x, const std::int8_t* w) {
  __asm__("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(x), "m"(*reinterpret_cast<const __m512i_u*>(w)));
}

/// Four lines from `at` on, interleaved: vector v holds a dword of four lines for every slot of its sixteen.
inline __attribute__((always_inline)) void gather(const std::uint8_t* const* lines, std::ptrdiff_t at, __m512i* x) {
  const __m512i a = _mm512_loadu_si512(lines[0] + at), b = _mm512_loadu_si512(lines[1] + at);
  const __m512i c = _mm512_loadu_si512(lines[2] + at), d = _mm512_loadu_si512(lines[3] + at);
  const __m512i low01 = _mm512_unpacklo_epi8(a, b), high01 = _mm512_unpackhi_epi8(a, b);
  const __m512i low23 = _mm512_unpacklo_epi8(c, d), high23 = _mm512_unpackhi_epi8(c, d);
  x[0] = _mm512_unpacklo_epi16(low01, low23);
  x[1] = _mm512_unpackhi_epi16(low01, low23);
  x[2] = _mm512_unpacklo_epi16(high01, high23);
  x[3] = _mm512_unpackhi_epi16(high01, high23);
}

/// What one step of three taps leaves for the next one.
enum class Carry { none, last_becomes_first, all_move };

template <int kRows>
inline __attribute__((always_inline)) void start_sums(const FlatRun& t, __m512i (*acc)[4]) {
#pragma GCC unroll 2
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) acc[r][v] = _mm512_loadu_si512(t.start + 16 * v);
  }
}

template <int kRows>
inline __attribute__((always_inline)) void multiply(const FlatRun& t, int taps, int tap, const __m512i* x, __m512i (*acc)[4]) {
#pragma GCC unroll 2
  for (int r = 0; r < kRows; ++r) {
    const std::int8_t* w = t.weights + (r * taps + tap) * 256;
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) dot(acc[r][v], x[v], w + 64 * v);
  }
}

template <int kRows, bool kAffine>
struct Finish {
  explicit Finish(const FlatRun& run) : t(run) {
    if constexpr (kAffine) {
#pragma GCC unroll 4
      for (int v = 0; v < 4; ++v) {
        scale[v] = _mm512_loadu_ps(t.scale + 16 * v);
        bias[v] = _mm512_loadu_ps(t.bias + 16 * v);
      }
    }
    floor = t.relu ? _mm512_setzero_si512() : _mm512_set1_epi8(-128);
  }
  inline __attribute__((always_inline)) void operator()(std::int64_t at, const __m512i (*acc)[4]) const {
    if constexpr (!kAffine) {
#pragma GCC unroll 2
      for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
        for (int v = 0; v < 4; ++v) _mm512_storeu_si512(t.sums[r] + at + 16 * v, acc[r][v]);
      }
    } else {
      const std::int64_t left = t.end - at;
      const __mmask64 mask = left >= 64 ? ~__mmask64{0} : (__mmask64{1} << left) - 1;
#pragma GCC unroll 2
      for (int r = 0; r < kRows; ++r) {
        __m512i q[4];
#pragma GCC unroll 4
        for (int v = 0; v < 4; ++v)
          q[v] = _mm512_cvtps_epi32(_mm512_add_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(acc[r][v]), scale[v]), bias[v]));
        const __m512i low = _mm512_packs_epi32(q[0], q[1]), high = _mm512_packs_epi32(q[2], q[3]);
        const __m512i packed =
            t.is_unsigned ? _mm512_packus_epi16(low, high) : _mm512_max_epi8(_mm512_packs_epi16(low, high), floor);
        _mm512_mask_storeu_epi8(t.out[r] + at, mask, packed);
      }
    }
  }

  const FlatRun& t;
  __m512 scale[4], bias[4];
  __m512i floor;
};

template <int kRows, bool kAffine>
void run_taps(const FlatRun& t) {
  const Finish<kRows, kAffine> finish(t);
  for (std::int64_t at = t.first; at < t.end; at += t.step) {
    __m512i acc[kRows][4];
    start_sums<kRows>(t, acc);
    for (int i = 0; i < t.tap_count; ++i) {
      __m512i x[4];
      gather(t.lines + t.taps[i].row, at + t.taps[i].offset, x);
      multiply<kRows>(t, t.tap_count, i, x, acc);
    }
    finish(at, acc);
  }
}

/// Three taps in the same four lines: where steps and taps keep pace, most of what one step gathered serves the next.
template <int kRows, bool kAffine, Carry kCarry>
void run_three(const FlatRun& t) {
  const Finish<kRows, kAffine> finish(t);
  const std::uint8_t* lines[4] = {t.lines[0], t.lines[1], t.lines[2], t.lines[3]};
  const std::ptrdiff_t offset[3] = {t.taps[0].offset, t.taps[1].offset, t.taps[2].offset};
  __m512i x[3][4];
  if constexpr (kCarry != Carry::none) gather(lines, t.first + offset[0], x[kCarry == Carry::all_move ? 1 : 2]);
  if constexpr (kCarry == Carry::all_move) gather(lines, t.first + offset[1], x[2]);
  for (std::int64_t at = t.first; at < t.end; at += t.step) {
    __m512i acc[kRows][4];
    start_sums<kRows>(t, acc);
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) {
      if constexpr (kCarry == Carry::all_move) {
        x[0][v] = x[1][v];
        x[1][v] = x[2][v];
      } else if constexpr (kCarry == Carry::last_becomes_first) {
        x[0][v] = x[2][v];
      }
    }
    if constexpr (kCarry == Carry::none) gather(lines, at + offset[0], x[0]);
    multiply<kRows>(t, 3, 0, x[0], acc);
    if constexpr (kCarry != Carry::all_move) gather(lines, at + offset[1], x[1]);
    multiply<kRows>(t, 3, 1, x[1], acc);
    gather(lines, at + offset[2], x[2]);
    multiply<kRows>(t, 3, 2, x[2], acc);
    finish(at, acc);
  }
}

template <int kRows, bool kAffine>
void run_rows(const FlatRun& t) {
  if (t.tap_count != 3 || t.taps[2].row != 0) return run_taps<kRows, kAffine>(t);
  const std::ptrdiff_t first = t.taps[0].offset, second = t.taps[1].offset, third = t.taps[2].offset;
  if (second - first == t.step && third - second == t.step) return run_three<kRows, kAffine, Carry::all_move>(t);
  if (third - first == t.step) return run_three<kRows, kAffine, Carry::last_becomes_first>(t);
  return run_three<kRows, kAffine, Carry::none>(t);
}

void run_any(const FlatRun& t, int rows) {
  if (t.scale) return rows == 2 ? run_rows<2, true>(t) : run_rows<1, true>(t);
  return rows == 2 ? run_rows<2, false>(t) : run_rows<1, false>(t);
}

void line(const FlatLine& l) {
  const __m512i flip = _mm512_set1_epi8(static_cast<char>(l.flip));
  // Line columns [left, right) are inside the image.
  const std::int64_t left = std::clamp<std::int64_t>(-l.first_column, 0, l.columns);
  const std::int64_t right = std::clamp<std::int64_t>(l.width - l.first_column, left, l.columns);
  const std::int64_t c = l.channels;
  const auto copy = [&](const std::uint8_t* in, std::uint8_t* out, std::int64_t bytes) {
    std::int64_t i = 0;
    for (; i + 64 <= bytes; i += 64) _mm512_storeu_si512(out + i, _mm512_xor_si512(_mm512_loadu_si512(in + i), flip));
    if (i == bytes) return;
    const __mmask64 mask = (__mmask64{1} << (bytes - i)) - 1;
    _mm512_mask_storeu_epi8(out + i, mask, _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, in + i), flip));
  };
  for (std::int64_t phase = 0; phase < l.step; ++phase) {
    std::uint8_t* out = l.to + phase * l.phase_bytes;
    std::int64_t j = phase;
    for (; j < left; j += l.step, out += c) std::memset(out, l.fill, static_cast<std::size_t>(c));
    if (l.step == 1) {
      copy(l.from + (l.first_column + left) * c, out, (right - left) * c);
      out += (right - left) * c;
      j = right;
    }
    for (; j < right; j += l.step, out += c) copy(l.from + (l.first_column + j) * c, out, c);
    for (; j < l.columns; j += l.step, out += c) std::memset(out, l.fill, static_cast<std::size_t>(c));
  }
}

}  // namespace

FlatKernels depthwise_flat_avx512_vnni() { return {run_any, line}; }

}  // namespace octavo::cpu_native

#endif
