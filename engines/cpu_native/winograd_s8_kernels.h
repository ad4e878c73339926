// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The three transforms over vectors of 16-bit (W) and 32-bit (D) lanes. See winograd_s8.h for the matrices.

#include <algorithm>
#include <cstring>

#include "engines/cpu_native/winograd_s8.h"

namespace octavo::cpu_native {

#ifndef OCTAVO_INLINE
#define OCTAVO_INLINE inline __attribute__((always_inline))
#endif

template <class V>
struct Winograd {
  using W = typename V::W;
  using D = typename V::D;

  /// B^T along one axis.
  static OCTAVO_INLINE void input_axis(const W& d0, const W& d1, const W& d2, const W& d3, const W& d4, const W& d5, W* o) {
    const W c = V::sub(d4, d2), f = V::sub(d3, d1);
    o[0] = V::add(V::template shl<2>(V::sub(d0, d2)), c);
    const W a = V::sub(d4, V::template shl<2>(d2)), b = V::sub(d3, V::template shl<2>(d1));
    o[1] = V::add(a, b);
    o[2] = V::sub(a, b);
    const W e = V::add(f, f);
    o[3] = V::add(c, e);
    o[4] = V::sub(c, e);
    o[5] = V::sub(V::sub(d5, d3), V::template shl<2>(f));
  }

  template <bool kSigned>
  static OCTAVO_INLINE void column(const WinogradInput& in, std::int64_t x, std::int64_t offset, int lanes, const W& zero,
                                   W* o) {
    if (x < 0 || x >= in.width) {
      for (int i = 0; i < 6; ++i) o[i] = V::zero();
      return;
    }
    W d[6];
    for (int i = 0; i < 6; ++i) {
      d[i] = in.row[i] ? V::sub(V::template widen<kSigned>(in.row[i] + x * in.pixel_stride + offset, lanes), zero) : V::zero();
    }
    input_axis(d[0], d[1], d[2], d[3], d[4], d[5], o);
  }

  template <bool kSigned>
  static void input_signed(const WinogradInput& in) {
    for (std::int64_t c = 0; c < in.channels; c += V::kWords) {
      const std::int64_t offset = in.vector == 1 ? c : c / in.vector * in.vector_stride + c % in.vector;
      const int lanes = static_cast<int>(std::min<std::int64_t>(V::kWords, in.channels - c));
      std::int16_t zeros[V::kWords] = {};  // pad channels stay zero: the filter need not be zero there
      std::fill_n(zeros, lanes, static_cast<std::int16_t>(in.zero_point));
      const W zero = V::load(zeros);
      W t[6][6];  // [column][row after the vertical transform]; a tile keeps its neighbour's last two columns
      std::int64_t x = in.column;
      for (int j = 0; j < 2; ++j) column<kSigned>(in, x++, offset, lanes, zero, t[4 + j]);
      std::int16_t* to = in.to + c;
      for (std::int64_t tile = 0; tile < in.tiles; ++tile, to += in.tile_pitch) {
        for (int i = 0; i < 6; ++i) {
          t[0][i] = t[4][i];
          t[1][i] = t[5][i];
        }
        for (int j = 2; j < 6; ++j) column<kSigned>(in, x++, offset, lanes, zero, t[j]);
        for (int i = 0; i < 6; ++i) {
          W o[6];
          input_axis(t[0][i], t[1][i], t[2][i], t[3][i], t[4][i], t[5][i], o);
          for (int j = 0; j < 6; ++j) V::store(to + (i * 6 + j) * in.point_pitch, o[j]);
        }
      }
    }
  }

  static void input(const WinogradInput& in) {
    if (in.is_signed) {
      input_signed<true>(in);
    } else {
      input_signed<false>(in);
    }
  }

  /// A^T along one axis.
  static OCTAVO_INLINE void output_axis(const D& m0, const D& m1, const D& m2, const D& m3, const D& m4, const D& m5, D& o0,
                                        D& o1, D& o2, D& o3) {
    const D s1 = V::addd(m1, m2), d1 = V::subd(m1, m2), s2 = V::addd(m3, m4), d2 = V::subd(m3, m4);
    o0 = V::addd(V::addd(m0, s1), s2);
    o1 = V::addd(d1, V::addd(d2, d2));
    o2 = V::addd(s1, V::template shld<2>(s2));
    const D e = V::addd(V::template shld<2>(d2), m5);
    o3 = V::addd(d1, V::addd(e, e));
  }

  template <bool kAccumulate>
  static void output_tiles(const WinogradOutput& out) {
    const std::int64_t lanes = std::int64_t{out.vectors} * V::kDwords, row = out.tiles * 4 * lanes;
    const D inverse = V::splatd(kInverseOf9);
    for (std::int64_t tile = 0; tile < out.tiles; ++tile) {
      for (std::int64_t v = 0; v < lanes; v += V::kDwords) {
        const std::int32_t* m = out.from + tile * out.tile_pitch + v;
        D t[4][6];
        for (int j = 0; j < 6; ++j) {
          const std::int32_t* p = m + j * out.point_pitch;
          const std::int64_t down = 6 * out.point_pitch;
          output_axis(V::loadd(p), V::loadd(p + down), V::loadd(p + 2 * down), V::loadd(p + 3 * down), V::loadd(p + 4 * down),
                      V::loadd(p + 5 * down), t[0][j], t[1][j], t[2][j], t[3][j]);
        }
        std::int32_t* y = out.to + tile * 4 * lanes + v;
        for (int i = 0; i < 4; ++i, y += row) {
          D o[4];
          output_axis(t[i][0], t[i][1], t[i][2], t[i][3], t[i][4], t[i][5], o[0], o[1], o[2], o[3]);
          for (int j = 0; j < 4; ++j) {
            D q = V::template srad<6>(V::muld(o[j], inverse));
            if constexpr (kAccumulate) q = V::addd(q, V::loadd(y + j * lanes));
            V::stored(y + j * lanes, q);
          }
        }
      }
    }
  }

  static void output(const WinogradOutput& out) {
    if (out.accumulate) {
      output_tiles<true>(out);
    } else {
      output_tiles<false>(out);
    }
  }

  static OCTAVO_INLINE W times6(const W& a) { return V::add(V::template shl<2>(a), V::add(a, a)); }
  /// G along one axis, all rows scaled.
  static OCTAVO_INLINE void filter_axis(const W& a, const W& b, const W& c, W* o) {
    o[0] = times6(a);
    const W s = V::template shl<2>(V::add(a, c)), m = V::template shl<2>(b);
    o[1] = V::sub(V::sub(V::zero(), s), m);
    o[2] = V::sub(m, s);
    const W e = V::add(a, V::template shl<2>(c)), f = V::add(b, b);
    o[3] = V::add(e, f);
    o[4] = V::sub(e, f);
    const W c6 = times6(c);
    o[5] = V::add(c6, c6);
  }

  static void filter(const WinogradFilter& f) {
    for (std::int64_t i = 0; i < f.elements; i += V::kWords) {
      W g[6][3];
      for (int s = 0; s < 3; ++s) {
        W w[3], o[6];
        for (int r = 0; r < 3; ++r) w[r] = V::sub(V::load(f.from + (r * 3 + s) * f.tap_pitch + i), V::load(f.zero_points + i));
        filter_axis(w[0], w[1], w[2], o);
        for (int r = 0; r < 6; ++r) g[r][s] = o[r];
      }
      for (int r = 0; r < 6; ++r) {
        W o[6];
        filter_axis(g[r][0], g[r][1], g[r][2], o);
        for (int s = 0; s < 6; ++s) V::store(f.to + (r * 6 + s) * f.point_pitch + i, o[s]);
      }
    }
  }
};

}  // namespace octavo::cpu_native
