// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The implicit GEMM's parameters from the geometry of a problem. Host code; the struct is the one in
// kernels/conv/igemm_index.cuh.

#include <algorithm>
#include <cstdint>

#include "kernels/conv/igemm_index.cuh"

namespace octavo::dev {

/// A convolution of up to three spatial axes (absent ones in front: size 1); strides in bytes.
struct IgemmGeometry {
  std::int64_t n = 0, in[3]{1, 1, 1}, out[3]{1, 1, 1}, stride[3]{1, 1, 1}, pad[3]{}, dilation[3]{1, 1, 1};
  std::int64_t k = 0, groups = 1;
  std::int64_t x_n = 0, x_s[3]{}, x_pair = 32, x_group = 0;
  std::int64_t w_k = 0, w_s[3]{}, w_pair = 32;
};

/// Everything but the addresses (x, w, their ends, partial).
inline IgemmParams igemm_params(const IgemmConfig& c, const IgemmGeometry& g, std::int64_t splits) {
  IgemmParams p{};
  auto to_int = [](std::int64_t v) { return static_cast<int>(v); };
  auto unit = [&](std::int64_t v) { return static_cast<int>(v / c.align); };
  p.x_n = g.x_n / c.align, p.x_group = g.x_group, p.w_group = g.k / g.groups * g.w_k;
  p.x_d = unit(g.x_s[0]), p.x_h = unit(g.x_s[1]), p.x_w = unit(g.x_s[2]);
  p.x_td = unit(g.x_s[0] * g.dilation[0]), p.x_th = unit(g.x_s[1] * g.dilation[1]), p.x_tw = unit(g.x_s[2] * g.dilation[2]);
  p.x_pair = unit(g.x_pair), p.w_pair = unit(g.w_pair);
  p.w_k = unit(g.w_k), p.w_t = unit(g.w_s[0]), p.w_r = unit(g.w_s[1]), p.w_s = unit(g.w_s[2]);
  p.d = to_int(g.in[0]), p.h = to_int(g.in[1]), p.wd = to_int(c.run ? g.in[2] * g.x_s[2] : g.in[2]);
  p.od = to_int(g.out[0]), p.p = to_int(g.out[1]), p.q = to_int(g.out[2]);
  p.stride_d = to_int(g.stride[0]), p.stride_h = to_int(g.stride[1]), p.stride_w = to_int(g.stride[2]);
  p.pad_d = to_int(g.pad[0]), p.pad_h = to_int(g.pad[1]), p.pad_w = to_int(g.pad[2]);
  p.dil_d = to_int(g.dilation[0]), p.dil_h = to_int(g.dilation[1]), p.dil_w = to_int(g.dilation[2]);
  p.rows = to_int(g.n * g.out[0] * g.out[1] * g.out[2]);
  p.k = to_int(g.k), p.group_k = to_int(g.k / g.groups);
  p.row_tiles = div_up(p.rows, c.bm), p.col_tiles = div_up(p.group_k, c.bn);
  const int iterations = igemm_iterations(c);
  p.splits = c.split ? to_int(std::max<std::int64_t>(1, std::min<std::int64_t>(splits, iterations))) : 1;
  p.per_split = div_up(iterations, p.splits);
  p.splits = div_up(iterations, p.per_split);
  p.div_q = fast_div(static_cast<u32>(p.q)), p.div_p = fast_div(static_cast<u32>(p.p)),
  p.div_d = fast_div(static_cast<u32>(p.od));
  p.div_tiles = fast_div(static_cast<u32>(p.col_tiles * to_int(g.groups))), p.div_col = fast_div(static_cast<u32>(p.col_tiles));
  p.div_rows = fast_div(static_cast<u32>(std::max(1, p.row_tiles)));
  return p;
}
inline std::int64_t igemm_blocks(const IgemmParams& p) { return std::int64_t{p.row_tiles} * p.div_tiles.divisor * p.splits; }
inline std::int64_t igemm_partial_bytes(const IgemmConfig& c, const IgemmParams& p) {
  return std::int64_t{p.splits} * p.rows * p.div_tiles.divisor * c.bn * 4;
}
inline std::int64_t igemm_reduce_threads(const IgemmConfig& c, const IgemmParams& p) {
  return std::int64_t{p.rows} * p.div_tiles.divisor * c.bn / 8;
}

}  // namespace octavo::dev
