// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// What a direct plan decides once: shifted reads or gathered windows, the blocks, and what goes past the caches.

#include "engines/cpu_native/direct_s8_plan.h"

namespace octavo::cpu_native {

void DirectPlan::choose_window() {
  double dense = 1, taps = 1;
  for (std::size_t a = 0; a < kMaxSpatial; ++a) {
    const std::int64_t some = std::min<std::int64_t>(g_.out[a], 8);
    dense *=
        static_cast<double>((some - 1) * g_.stride[a] + (g_.filter[a] - 1) * g_.dilation[a] + 1) / static_cast<double>(some);
    taps *= static_cast<double>(g_.filter[a]);
  }
  const double steps = taps * static_cast<double>(ceil_div(g_.cg, isa_.channels_per_step));
  const double gathered = std::ceil(taps * static_cast<double>(g_.cg) / isa_.channels_per_step);
  im2col_ = g_.taps() > 1 && (dense > 4 * taps || gathered < 0.8 * steps);
  if (im2col_) {
    fg_.cg = g_.taps() * g_.cg;
    fg_.filter = {1, 1, 1};
  }
  merge_taps_ = im2col_ || (g_.dilation[2] == 1 && g_.groups == 1);
}

void DirectPlan::choose_blocking() {
  Blocking& b = block_;
  // A 1x1 filter uses each encoded pixel once per block of output channels and no neighbours: keep its pixels in L1.
  const bool pointwise = fg_.taps() == 1;
  const std::int64_t budget =
      pointwise ? std::clamp<std::int64_t>(kChunkPoints * pixel_bytes_, 24 << 10, 384 << 10) : 384 << 10;
  const std::int64_t threads = slots_;
  const auto in_size = [&](std::int64_t out, int axis) {
    const auto i = static_cast<std::size_t>(axis);
    return (out - 1) * g_.stride[i] + (g_.filter[i] - 1) * g_.dilation[i] + 1;
  };
  const auto row_slots = [&](std::int64_t rows) { return std::min(in_size(rows, 1), g_.filter[1] * rows); };
  const auto bytes = [&](std::int64_t rows, std::int64_t columns) {
    if (im2col_) return rows * columns * pixel_bytes_;
    return g_.filter[0] * row_slots(rows) * in_size(columns, 2) * pixel_bytes_;
  };
  b.columns = g_.out[2];
  if (b.columns > 1) {
    std::int64_t parts = 1;
    while (b.columns > 48 && bytes(std::min<std::int64_t>(g_.out[1], 4), b.columns) > budget) {
      ++parts;
      b.columns = ceil_div(g_.out[2], parts);
    }
  }
  b.rows = g_.out[1];
  while (b.rows > 1 && bytes(b.rows, b.columns) > budget) b.rows = ceil_div(b.rows, 2);
  const auto count = [&] {
    b.row_blocks = ceil_div(g_.out[1], b.rows);
    b.column_blocks = ceil_div(g_.out[2], b.columns);
    return g_.n * g_.out[0] * b.row_blocks * b.column_blocks;
  };
  // Enough blocks for every thread to finish at about the same time.
  while (count() < 4 * threads && b.rows * b.columns > 64) {
    if (b.rows > 1) {
      b.rows = ceil_div(b.rows, 2);
    } else {
      b.columns = ceil_div(b.columns, 2);
    }
  }
  b.rows = ceil_div(g_.out[1], ceil_div(g_.out[1], b.rows));
  b.columns = ceil_div(g_.out[2], ceil_div(g_.out[2], b.columns));
  const std::int64_t blocks = std::max<std::int64_t>(1, count());
  if (blocks < 3 * threads) {
    b.k_parts = std::min<std::int64_t>(ceil_div(3 * threads, blocks), static_cast<std::int64_t>(shape_.blocks().size()));
  }
  b.in_rows = row_slots(b.rows);
  tap_rows_ = b.in_rows < in_size(b.rows, 1);
  window_rows_ = in_size(b.rows, 1);
  b.in_columns = in_size(b.columns, 2);
}

void DirectPlan::choose_traffic() {
  const TensorDesc& y = p_.epilogue.outputs[0].desc;
  const auto last = static_cast<std::size_t>(p_.x.rank - 1);
  const std::int64_t bytes = p_.x.elements() + p_.y.elements();
  const bool dense = y.vector == 1 && (y.dim[1] == 1 || y.stride[1] == 1) && (y.dim[last] == 1 || y.stride[last] == g_.k);
  stream_ = affine_ && dense && block_.k_parts == 1 &&
            tile_points() * g_.k <= std::max<std::int64_t>(device_.l2_bytes / 4, 64 << 10) && worth_streaming(device_, bytes);
  fetch_ahead_ = g_.taps() == 1 && block_.k_parts == 1 && p_.x.vector == 1 && block_.rows == 1 && g_.stride[2] == 1 &&
                 (g_.c == 1 || p_.x.stride[1] == 1) && p_.x.stride[last] == g_.c && bytes > device_.l2_bytes;
}

}  // namespace octavo::cpu_native
