// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The halo kernel's parameters from the geometry of a problem. Host code; the struct is the one in kernels/conv/halo.cuh.

#include <algorithm>
#include <cstdint>

#include "kernels/conv/halo_index.cuh"

namespace octavo::dev {

/// One 2-D stride-1 convolution; strides in bytes.
struct HaloGeometry {
  std::int64_t n = 0, h = 0, w = 0, p = 0, q = 0, pad_top = 0, pad_bottom = 0, pad_left = 0;
  std::int64_t k = 0, groups = 1;
  std::int64_t x_n = 0, x_h = 0, x_w = 0, x_chunk = 0;
  std::int64_t w_k = 0, w_r = 0, w_s = 0, w_chunk = 0;
};

inline std::int64_t halo_pitch(const HaloGeometry& g) { return g.h + std::max(g.pad_top, g.pad_bottom); }
inline std::int64_t halo_total_rows(const HaloGeometry& g) {
  std::int64_t strips = g.n * ((g.q + 7) / 8);
  return strips == 0 ? 0 : (strips - 1) * halo_pitch(g) + g.p;
}

inline std::int64_t halo_blocks(const HaloParams& p) { return std::int64_t{p.ranges} * p.blocks_out.divisor; }

/// `ranges` blocks share the rows of each block of output channels. Leaves x and w null.
inline HaloParams halo_params(const HaloConfig& c, const HaloGeometry& g, std::int64_t ranges) {
  HaloParams p{};
  p.x_image = g.x_n, p.x_row = static_cast<u32>(g.x_h / 16), p.x_col = static_cast<u32>(g.x_w / 16), p.x_chunk = g.x_chunk;
  p.w_k = g.w_k, p.w_chunk = g.w_chunk, p.w_r = static_cast<int>(g.w_r), p.w_s = static_cast<int>(g.w_s);
  p.h = static_cast<int>(g.h), p.wd = static_cast<int>(g.w), p.p = static_cast<int>(g.p), p.q = static_cast<int>(g.q);
  p.pad_h = static_cast<int>(g.pad_top), p.pad_w = static_cast<int>(g.pad_left);
  p.blocks_out = fast_div(static_cast<u32>(g.k / c.channels_out));
  p.groups_out = fast_div(static_cast<u32>(g.k / g.groups / c.channels_out));
  std::int64_t per_image = (g.q + 7) / 8, unit = halo_unit_rows(c);
  p.units = static_cast<int>((halo_total_rows(g) + unit - 1) / unit);
  p.ranges = static_cast<int>(std::max<std::int64_t>(1, std::min<std::int64_t>(ranges, p.units)));
  p.per_range = p.units / p.ranges, p.longer = p.units % p.ranges;
  p.strips = static_cast<int>(g.n * per_image);
  p.pitch = fast_div(static_cast<u32>(halo_pitch(g)));
  p.per_image = fast_div(static_cast<u32>(per_image));
  return p;
}

}  // namespace octavo::dev
