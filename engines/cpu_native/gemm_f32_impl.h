// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// The microkernels over a vector type V. Included once by each gemm_f32_<isa>.cpp, inside an unnamed namespace, so that no
// code compiled for one instruction set is ever merged with another's. No include guard on purpose.

template <class V, int M, int NV, bool kFirst>
inline void start_tile(typename V::Reg (&acc)[M][NV], const float* c, std::int64_t c_row, int tail) {
#pragma GCC unroll 16
  for (int i = 0; i < M; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < NV; ++j) {
      if constexpr (kFirst) {
        acc[i][j] = V::zero();
        // Asked for now, or the stores at the end would wait for it one after another.
        __builtin_prefetch(reinterpret_cast<const char*>(c) + i * c_row + j * V::kLanes * 4, 1, 3);
      } else {
        const float* p = reinterpret_cast<const float*>(reinterpret_cast<const char*>(c) + i * c_row) + j * V::kLanes;
        acc[i][j] = (j == NV - 1 && tail != 0) ? V::load_tail(p, tail) : V::load(p);
      }
    }
  }
}

template <class V, int M, int NV>
inline void store_tile(const typename V::Reg (&acc)[M][NV], float* c, std::int64_t c_row, int tail) {
#pragma GCC unroll 16
  for (int i = 0; i < M; ++i) {
    float* p = reinterpret_cast<float*>(reinterpret_cast<char*>(c) + i * c_row);
#pragma GCC unroll 4
    for (int j = 0; j < NV; ++j) {
      if (j == NV - 1 && tail != 0) {
        V::store_tail(p + j * V::kLanes, acc[i][j], tail);
      } else {
        V::store(p + j * V::kLanes, acc[i][j]);
      }
    }
  }
}

// Row i of the tile is at a base pointer plus 0, 1 or 2 strides: five bases and one stride fit the integer registers.
#define OCTAVO_ROW(i, address)                                                                   \
  if constexpr (M > (i)) {                                                                       \
    const typename V::Reg x = V::broadcast(reinterpret_cast<const float*>(address));             \
    _Pragma("GCC unroll 4") for (int j = 0; j < NV; ++j) acc[i][j] = V::fma(x, y[j], acc[i][j]); \
  }
#define OCTAVO_ROWS(r)         \
  OCTAVO_ROW(0, p0)            \
  OCTAVO_ROW(1, p0 + (r))      \
  OCTAVO_ROW(2, p0 + 2 * (r))  \
  OCTAVO_ROW(3, p3)            \
  OCTAVO_ROW(4, p3 + (r))      \
  OCTAVO_ROW(5, p3 + 2 * (r))  \
  OCTAVO_ROW(6, p6)            \
  OCTAVO_ROW(7, p6 + (r))      \
  OCTAVO_ROW(8, p6 + 2 * (r))  \
  OCTAVO_ROW(9, p9)            \
  OCTAVO_ROW(10, p9 + (r))     \
  OCTAVO_ROW(11, p9 + 2 * (r)) \
  OCTAVO_ROW(12, p12)          \
  OCTAVO_ROW(13, p12 + (r))

template <class V, int M, int NV, bool kFirst>
void taps_tile(const TapsArgs& g) {
  typename V::Reg acc[M][NV];
  start_tile<V, M, NV, kFirst>(acc, g.c, g.c_row, g.tail);
  const std::int64_t row = g.a_row, ahead_step = g.ahead_step;
  const char* ahead = g.ahead != nullptr ? g.ahead : static_cast<const char*>(g.a);
  for (std::int64_t t = 0; t < g.n_taps; ++t) {
    const float* b = g.b + g.taps[t].index * g.depth * (NV * V::kLanes);
    const char* p0 = static_cast<const char*>(g.a) + g.taps[t].a;
    const char *p3 = p0 + 3 * row, *p6 = p0 + 6 * row, *p9 = p0 + 9 * row, *p12 = p0 + 12 * row;
    for (std::int64_t d = g.depth; d > 0; --d) {
      typename V::Reg y[NV];
#pragma GCC unroll 4
      for (int j = 0; j < NV; ++j) y[j] = V::load_aligned(b + j * V::kLanes);
      __builtin_prefetch(ahead, 0, 2);
      ahead += ahead_step;
      OCTAVO_ROWS(row)
      p0 += 4, p3 += 4, p6 += 4, p9 += 4, p12 += 4;
      b += NV * V::kLanes;
    }
  }
  store_tile<V, M, NV>(acc, g.c, g.c_row, g.tail);
}

template <class V, int M, int NV, bool kFirst>
void outer_tile(const OuterArgs& g) {
  typename V::Reg acc[M][NV];
  start_tile<V, M, NV, kFirst>(acc, g.c, g.c_row, g.tail);
  const std::int64_t ahead_step = g.ahead_step;
  const char* ahead = g.ahead != nullptr ? g.ahead : static_cast<const char*>(g.a);
  for (std::int64_t n = 0; n < g.images; ++n) {
    const char* a = static_cast<const char*>(g.a) + n * g.a_image;
    const char* b = static_cast<const char*>(g.b) + n * g.b_image;
    for (std::int64_t s = 0; s < g.segments; ++s) {
      const char* p0 = a;
      const char* q = b;
      for (std::int64_t d = g.depth; d > 0; --d) {
        const char *p3 = p0 + 12, *p6 = p0 + 24, *p9 = p0 + 36, *p12 = p0 + 48;
        typename V::Reg y[NV];
#pragma GCC unroll 4
        for (int j = 0; j < NV; ++j) y[j] = V::load(reinterpret_cast<const float*>(q) + j * V::kLanes);
        __builtin_prefetch(ahead, 0, 2);
        ahead += ahead_step;
        OCTAVO_ROWS(4)
        p0 += g.a_step;
        q += g.b_step;
      }
      a += g.a_segment;
      b += g.b_segment;
    }
  }
  store_tile<V, M, NV>(acc, g.c, g.c_row, g.tail);
}
#undef OCTAVO_ROW
#undef OCTAVO_ROWS

/// kRow: the distance of pixels as a constant, for those that matter, so that the taps' loop has no addresses to compute.
template <class V, int M, int NV, int kRow>
void lane_tile(const LanesArgs& g) {
  typename V::Reg acc[M][NV];
#pragma GCC unroll 16
  for (int i = 0; i < M; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < NV; ++j) acc[i][j] = V::zero();
  }
  const char* b = reinterpret_cast<const char*>(g.b);
  constexpr std::int64_t kVector = sizeof(float) * V::kLanes;
  const std::int64_t row = kRow != 0 ? kRow * kVector : g.a_row, b_vector = g.b_vector;
  for (std::int64_t t = 0; t < g.n_taps; ++t) {
    const char* p = static_cast<const char*>(g.a) + g.taps[t];
    for (std::int64_t d = g.depth; d > 0; --d) {
      typename V::Reg y[NV];
#pragma GCC unroll 4
      for (int j = 0; j < NV; ++j) y[j] = V::load_aligned(reinterpret_cast<const float*>(b + j * b_vector));
#pragma GCC unroll 16
      for (int i = 0; i < M; ++i) {
#pragma GCC unroll 4
        for (int j = 0; j < NV; ++j) {
          acc[i][j] = V::fma(V::load(reinterpret_cast<const float*>(p + i * row + j * kVector)), y[j], acc[i][j]);
        }
      }
      p += 2 * kVector;
      b += kVector;
    }
  }
  store_tile<V, M, NV>(acc, g.c, g.c_row, g.tail);
}

template <class V, int M, int NV>
void points_tile(const PointsArgs& g) {
  typename V::Reg acc[M][NV];
  const char* p[M];
#pragma GCC unroll 16
  for (int i = 0; i < M; ++i) {
    p[i] = static_cast<const char*>(g.a) + i * g.a_row;
#pragma GCC unroll 4
    for (int j = 0; j < NV; ++j) {
      acc[i][j] = V::zero();
      // Where the next tile will store.
      __builtin_prefetch(reinterpret_cast<const char*>(g.c) + (M + i) * g.c_row + j * V::kLanes * 4, 1, 3);
    }
  }
  constexpr std::int64_t kVector = sizeof(float) * V::kLanes;
  const char* const b0 = static_cast<const char*>(g.b);
  const char* const b1 = b0 + g.b_vector;
  for (std::int64_t t = 0; t < g.n_taps; ++t) {
    const std::int64_t at = g.taps[t].a, filter = g.taps[t].b;
    typename V::Reg y[NV];
    y[0] = V::load_aligned(reinterpret_cast<const float*>(b0 + filter));
    if constexpr (NV > 1) y[1] = V::load_aligned(reinterpret_cast<const float*>(b1 + filter));
#pragma GCC unroll 16
    for (int i = 0; i < M; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < NV; ++j) {
        acc[i][j] = V::fma(V::load(reinterpret_cast<const float*>(p[i] + at + j * kVector)), y[j], acc[i][j]);
      }
    }
  }
  store_tile<V, M, NV>(acc, g.c, g.c_row, 0);
}

template <class V, int M, int NV>
void points_dispatch(int rows, const PointsArgs& g) {
  if (rows == M) return points_tile<V, M, NV>(g);
  if constexpr (M > 1) points_dispatch<V, M - 1, NV>(rows, g);
}

template <class V>
void lane_points(int rows, int vectors, const PointsArgs& g) {
  if (vectors == 2) return points_dispatch<V, V::kLaneRows / 2, 2>(rows, g);
  points_dispatch<V, V::kLaneRows / 2, 1>(rows, g);
}

template <class V, int T>
inline void lane_wgrad_taps(const LanesWgradArgs& g, std::int64_t first) {
  typename V::Reg acc[T];
  const char* p[T];
  float* c = g.c + first * V::kLanes;
#pragma GCC unroll 12
  for (int t = 0; t < T; ++t) {
    acc[t] = g.accumulate ? V::load(c + t * V::kLanes) : V::zero();
    const std::int64_t step = first + t;
    p[t] = static_cast<const char*>(g.a) + g.taps[step / g.depth] +
           (step % g.depth) * 2 * static_cast<std::int64_t>(sizeof(float)) * V::kLanes;
  }
  for (std::int64_t s = 0; s < g.segments; ++s) {
    const char* b = static_cast<const char*>(g.b) + s * g.b_segment;
    std::int64_t at = s * g.a_segment;
    for (std::int64_t i = 0; i < g.rows; ++i) {
      const typename V::Reg y = V::load(reinterpret_cast<const float*>(b));
#pragma GCC unroll 12
      for (int t = 0; t < T; ++t) acc[t] = V::fma(V::load(reinterpret_cast<const float*>(p[t] + at)), y, acc[t]);
      b += g.b_row;
      at += g.a_row;
    }
  }
#pragma GCC unroll 12
  for (int t = 0; t < T; ++t) V::store(c + t * V::kLanes, acc[t]);
}

template <class V>
void lane_wgrad(const LanesWgradArgs& g) {
  const std::int64_t steps = g.n_taps * g.depth;
  std::int64_t done = 0;
  for (; steps - done >= 9; done += 9) lane_wgrad_taps<V, 9>(g, done);
  for (; steps - done >= 4; done += 4) lane_wgrad_taps<V, 4>(g, done);
  for (; done < steps; ++done) lane_wgrad_taps<V, 1>(g, done);
}

template <class V, int T>
void lane_row_taps(const LaneRowArgs& g) {
  typename V::Reg acc[T];
  const char* p[T];
#pragma GCC unroll 9
  for (int t = 0; t < T; ++t) {
    acc[t] = V::load(reinterpret_cast<const float*>(g.c + g.taps[t].c));
    p[t] = g.a + g.taps[t].a;
  }
  const char* b = g.b;
  std::int64_t at = 0;
  const auto some = [&](std::uint32_t mask) {
    const typename V::Reg y = V::load(reinterpret_cast<const float*>(b));
#pragma GCC unroll 9
    for (int t = 0; t < T; ++t) {
      if ((mask >> t & 1u) != 0) acc[t] = V::fma(V::load(reinterpret_cast<const float*>(p[t] + at)), y, acc[t]);
    }
    b += g.b_step;
    at += g.a_step;
  };
  for (std::int64_t i = 0; i < g.n_left; ++i) some(g.left[i]);
  for (std::int64_t i = g.points - g.n_left - g.n_right; i > 0; --i) {
    const typename V::Reg y = V::load(reinterpret_cast<const float*>(b));
#pragma GCC unroll 9
    for (int t = 0; t < T; ++t) acc[t] = V::fma(V::load(reinterpret_cast<const float*>(p[t] + at)), y, acc[t]);
    b += g.b_step;
    at += g.a_step;
  }
  for (std::int64_t i = 0; i < g.n_right; ++i) some(g.right[i]);
#pragma GCC unroll 9
  for (int t = 0; t < T; ++t) V::store(reinterpret_cast<float*>(g.c + g.taps[t].c), acc[t]);
}

template <class V, int T>
void lane_row_dispatch(const LaneRowArgs& g) {
  if (g.n_taps == T) return lane_row_taps<V, T>(g);
  if constexpr (T > 1) lane_row_dispatch<V, T - 1>(g);
}

template <class V>
void lane_row(const LaneRowArgs& g) {
  lane_row_dispatch<V, F32Kernels::kMaxRowTaps>(g);
}

template <class V, int NV, int M>
struct Dispatch {
  static void taps(int rows, const TapsArgs& g) {
    if (rows == M) return g.accumulate ? taps_tile<V, M, NV, false>(g) : taps_tile<V, M, NV, true>(g);
    if constexpr (M > 1) Dispatch<V, NV, M - 1>::taps(rows, g);
  }
  static void outer(int rows, const OuterArgs& g) {
    if (rows == M) return g.accumulate ? outer_tile<V, M, NV, false>(g) : outer_tile<V, M, NV, true>(g);
    if constexpr (M > 1) Dispatch<V, NV, M - 1>::outer(rows, g);
  }
};

template <class V>
void taps(int rows, int vectors, const TapsArgs& g) {
  switch (vectors) {
    case 1:
      return Dispatch<V, 1, V::kRows1>::taps(rows, g);
    case 2:
      return Dispatch<V, 2, V::kRows2>::taps(rows, g);
    case 3:
      if constexpr (V::kRows3 > 0) Dispatch<V, 3, V::kRows3>::taps(rows, g);
      return;
    default:
      if constexpr (V::kRows4 > 0) Dispatch<V, 4, V::kRows4>::taps(rows, g);
  }
}

template <class V>
void outer(int rows, int vectors, const OuterArgs& g) {
  switch (vectors) {
    case 1:
      return Dispatch<V, 1, V::kRows1>::outer(rows, g);
    case 2:
      return Dispatch<V, 2, V::kRows2>::outer(rows, g);
    case 3:
      if constexpr (V::kRows3 > 0) Dispatch<V, 3, V::kRows3>::outer(rows, g);
      return;
    default:
      if constexpr (V::kRows4 > 0) Dispatch<V, 4, V::kRows4>::outer(rows, g);
  }
}

template <class V, int M, int NV, int kRow>
void lane_dispatch(int rows, const LanesArgs& g) {
  if (rows == M) return lane_tile<V, M, NV, kRow>(g);
  if constexpr (M > 1) lane_dispatch<V, M - 1, NV, kRow>(rows, g);
}

template <class V>
void lane_rows(int rows, int vectors, const LanesArgs& g) {
  if (vectors == 1) return lane_dispatch<V, V::kLaneRows, 1, 0>(rows, g);
  switch (g.a_row / static_cast<std::int64_t>(sizeof(float) * V::kLanes)) {
    case 2:
      return lane_dispatch<V, V::kLaneRows / 2, 2, 2>(rows, g);
    case 4:
      return lane_dispatch<V, V::kLaneRows / 2, 2, 4>(rows, g);
    case 8:
      return lane_dispatch<V, V::kLaneRows / 2, 2, 8>(rows, g);
    case 16:
      return lane_dispatch<V, V::kLaneRows / 2, 2, 16>(rows, g);
    default:
      return lane_dispatch<V, V::kLaneRows / 2, 2, 0>(rows, g);
  }
}

template <class V>
struct FromFloat {
  using Element = float;
  static typename V::Reg load(const Element* p) { return V::load(p); }
  static typename V::Reg load_tail(const Element* p, int n) { return V::load_tail(p, n); }
};
template <class V>
struct FromBf16 {
  using Element = std::uint16_t;
  static typename V::Reg load(const Element* p) { return V::load_bf16(p); }
  static typename V::Reg load_tail(const Element* p, int n) { return V::load_bf16_tail(p, n); }
};
template <class V>
struct FromF16 {
  using Element = std::uint16_t;
  static typename V::Reg load(const Element* p) { return V::load_f16(p); }
  static typename V::Reg load_tail(const Element* p, int n) { return V::load_f16_tail(p, n); }
};

template <class V, class From>
inline void widen_from(float* dst, std::int64_t dst_row, const void* src, std::int64_t src_row, std::int64_t rows,
                       std::int64_t count) {
  const typename From::Element* s = static_cast<const typename From::Element*>(src);
  const std::int64_t whole = count / V::kLanes * V::kLanes;
  const int tail = static_cast<int>(count - whole);
  for (std::int64_t r = 0; r < rows; ++r, dst += dst_row, s += src_row) {
    for (std::int64_t i = 0; i < whole; i += V::kLanes) {
      typename V::Reg v = From::load(s + i);
      V::opaque(v);  // else the compiler calls memmove for every short row
      V::store(dst + i, v);
    }
    if (tail != 0) V::store_tail(dst + whole, From::load_tail(s + whole, tail), tail);
  }
}

template <class V>
void widen_rows(float* dst, std::int64_t dst_row, const void* src, std::int64_t src_row, std::int64_t rows, std::int64_t count,
                DataType_t type) {
  if (type == DataType_t::FLOAT) return widen_from<V, FromFloat<V>>(dst, dst_row, src, src_row, rows, count);
  if (type == DataType_t::BFLOAT16) return widen_from<V, FromBf16<V>>(dst, dst_row, src, src_row, rows, count);
  widen_from<V, FromF16<V>>(dst, dst_row, src, src_row, rows, count);
}

template <class V>
void narrow_rows(void* dst, std::int64_t dst_row, const float* src, std::int64_t src_row, std::int64_t rows, std::int64_t count,
                 DataType_t type) {
  const std::int64_t whole = count / V::kLanes * V::kLanes;
  const int tail = static_cast<int>(count - whole);
  if (type == DataType_t::FLOAT)
    return widen_from<V, FromFloat<V>>(static_cast<float*>(dst), dst_row, src, src_row, rows, count);
  std::uint16_t* d = static_cast<std::uint16_t*>(dst);
  const bool bf16 = type == DataType_t::BFLOAT16;
  for (std::int64_t r = 0; r < rows; ++r, d += dst_row, src += src_row) {
    if (bf16) {
      for (std::int64_t i = 0; i < whole; i += V::kLanes) V::store_bf16(d + i, V::load(src + i), V::kLanes);
      if (tail != 0) V::store_bf16(d + whole, V::load_tail(src + whole, tail), tail);
    } else {
      for (std::int64_t i = 0; i < whole; i += V::kLanes) V::store_f16(d + i, V::load(src + i), V::kLanes);
      if (tail != 0) V::store_f16(d + whole, V::load_tail(src + whole, tail), tail);
    }
  }
}

template <class V>
void widen(float* dst, const void* src, std::int64_t count, DataType_t type) {
  widen_rows<V>(dst, 0, src, 0, 1, count, type);
}

template <class T, class Convert>
inline void scalar_transposed(float* dst, std::int64_t dst_row, const T* src, std::int64_t src_row, std::int64_t rows,
                              std::int64_t columns, Convert convert) {
  for (std::int64_t j = 0; j < columns; ++j) {
    for (std::int64_t i = 0; i < rows; ++i) dst[j * dst_row + i] = convert(src[i * src_row + j]);
  }
}

template <class V>
void widen_transposed(float* dst, std::int64_t dst_row, const void* src, std::int64_t src_row, std::int64_t rows,
                      std::int64_t columns, DataType_t type) {
  constexpr int kBlock = V::kLanes;
  const std::int64_t bytes = type == DataType_t::FLOAT ? 4 : 2;
  for (std::int64_t i = 0; i < rows; i += kBlock) {
    const std::int64_t m = rows - i < kBlock ? rows - i : kBlock;
    for (std::int64_t j = 0; j < columns; j += kBlock) {
      const std::int64_t n = columns - j < kBlock ? columns - j : kBlock;
      const char* s = static_cast<const char*>(src) + (i * src_row + j) * bytes;
      float* d = dst + j * dst_row + i;
      if (V::kHasTranspose && m == kBlock && n == kBlock) {
        V::transpose(d, dst_row, s, src_row, type);
      } else if (type == DataType_t::FLOAT) {
        scalar_transposed(d, dst_row, reinterpret_cast<const float*>(s), src_row, m, n, [](float v) { return v; });
      } else if (type == DataType_t::BFLOAT16) {
        scalar_transposed(d, dst_row, reinterpret_cast<const std::uint16_t*>(s), src_row, m, n, scalar_bf16);
      } else {
        scalar_transposed(d, dst_row, reinterpret_cast<const std::uint16_t*>(s), src_row, m, n, scalar_f16);
      }
    }
  }
}

/// near: every index is below kLanes, so that one load has all.
template <class V>
void expand(float* dst, std::int64_t dst_pixel, const float* src, std::int64_t src_pixel, bool near, const std::int32_t* index,
            std::int64_t depth, std::int64_t pixels) {
  for (std::int64_t p = 0; p < pixels; ++p, src += src_pixel, dst += dst_pixel) {
    if (near) {
      V::expand_near(dst, src, index, depth);
    } else {
      for (std::int64_t j = 0; j < depth; ++j) V::store(dst + 2 * j * V::kLanes, V::gather(src, index + j * V::kLanes));
    }
  }
}

template <class V>
constexpr F32Kernels make_kernels() {
  F32Kernels k;
  k.lanes = V::kLanes;
  k.max_vectors = V::kRows4 > 0 ? 4 : V::kRows3 > 0 ? 3 : 2;
  k.max_rows[1] = V::kRows1;
  k.max_rows[2] = V::kRows2;
  k.max_rows[3] = V::kRows3;
  k.max_rows[4] = V::kRows4;
  k.max_lane_rows = V::kLaneRows;
  k.taps = taps<V>;
  k.outer = outer<V>;
  k.lane_rows = lane_rows<V>;
  k.lane_points = lane_points<V>;
  k.lane_wgrad = lane_wgrad<V>;
  k.lane_row = lane_row<V>;
  k.widen = widen<V>;
  k.widen_rows = widen_rows<V>;
  k.narrow_rows = narrow_rows<V>;
  k.widen_transposed = widen_transposed<V>;
  k.expand = expand<V>;
  return k;
}
