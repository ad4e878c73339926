// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// The unit products over a vector type V. Included once by each wgrad_s8_<isa>.cpp, inside an unnamed namespace. No include
// guard on purpose.

template <class V, int M, int NV, bool kFirst, bool kUnsigned>
void unit_tile(const UnitProductArgs& g) {
  typename V::Reg acc[M][NV];
#pragma GCC unroll 16
  for (int i = 0; i < M; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < NV; ++j) {
      if constexpr (kFirst) {
        acc[i][j] = V::zero();
      } else {
        const std::int32_t* p = g.c + i * g.c_row + j * V::kLanes;
        acc[i][j] = (j == NV - 1 && g.tail != 0) ? V::load_tail(p, g.tail) : V::load(p);
      }
    }
  }
  for (std::int64_t s = 0; s < g.segments; ++s) {
    const std::uint32_t* a = g.a + s * g.a_segment;
    const std::uint32_t* b = g.b + s * g.b_segment;
    for (std::int64_t d = g.depth; d > 0; --d) {
      typename V::Reg y[NV];
#pragma GCC unroll 4
      for (int j = 0; j < NV; ++j) y[j] = V::load(reinterpret_cast<const std::int32_t*>(b) + j * V::kLanes);
#pragma GCC unroll 16
      for (int i = 0; i < M; ++i) {
        const typename V::Reg x = V::broadcast(a[i]);
#pragma GCC unroll 4
        for (int j = 0; j < NV; ++j) V::template dot<kUnsigned>(acc[i][j], x, y[j]);
      }
      a += g.a_step;
      b += g.b_step;
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < M; ++i) {
    std::int32_t* p = g.c + i * g.c_row;
#pragma GCC unroll 4
    for (int j = 0; j < NV; ++j) {
      if (j == NV - 1 && g.tail != 0) {
        V::store_tail(p + j * V::kLanes, acc[i][j], g.tail);
      } else {
        V::store(p + j * V::kLanes, acc[i][j]);
      }
    }
  }
}

template <class V, int M, int NV>
void unit_dispatch(int rows, const UnitProductArgs& g) {
  if (rows == M) {
    if (g.a_unsigned) return g.accumulate ? unit_tile<V, M, NV, false, true>(g) : unit_tile<V, M, NV, true, true>(g);
    return g.accumulate ? unit_tile<V, M, NV, false, false>(g) : unit_tile<V, M, NV, true, false>(g);
  }
  if constexpr (M > 1) unit_dispatch<V, M - 1, NV>(rows, g);
}

template <class V>
void unit_product(int rows, int vectors, const UnitProductArgs& g) {
  switch (vectors) {
    case 1:
      return unit_dispatch<V, V::kRows1, 1>(rows, g);
    case 2:
      return unit_dispatch<V, V::kRows2, 2>(rows, g);
    case 3:
      if constexpr (V::kRows3 > 0) unit_dispatch<V, V::kRows3, 3>(rows, g);
      return;
    default:
      if constexpr (V::kRows4 > 0) unit_dispatch<V, V::kRows4, 4>(rows, g);
  }
}

/// Two points a unit, 16 bits each.
[[maybe_unused]] inline void pack_pairs(const UnitPackArgs& g) {
  std::int16_t* to = reinterpret_cast<std::int16_t*>(g.to);
  const std::uint8_t *p = g.points[0], *q = g.points[1];
  if (g.is_signed) {
    for (std::int64_t c = 0; c < g.channels; ++c) {
      to[2 * c] = static_cast<std::int16_t>(static_cast<std::int8_t>(p[c]) - g.zero_point);
      to[2 * c + 1] = static_cast<std::int16_t>(static_cast<std::int8_t>(q[c]) - g.zero_point);
    }
  } else {
    for (std::int64_t c = 0; c < g.channels; ++c) {
      to[2 * c] = static_cast<std::int16_t>(p[c] - g.zero_point);
      to[2 * c + 1] = static_cast<std::int16_t>(q[c] - g.zero_point);
    }
  }
}

template <class V>
constexpr WgradS8Kernels make_kernels(int points, void (*pack)(const UnitPackArgs&), double macs_per_cycle) {
  WgradS8Kernels k{};
  k.lanes = V::kLanes;
  k.points = points;
  k.max_vectors = V::kRows4 > 0 ? 4 : V::kRows3 > 0 ? 3 : 2;
  k.max_rows[1] = V::kRows1;
  k.max_rows[2] = V::kRows2;
  k.max_rows[3] = V::kRows3;
  k.max_rows[4] = V::kRows4;
  k.product = unit_product<V>;
  k.pack = pack;
  k.macs_per_cycle = macs_per_cycle;
  return k;
}
