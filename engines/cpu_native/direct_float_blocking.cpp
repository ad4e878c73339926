// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <limits>

#include "engines/cpu_native/direct_float_plan.h"

namespace octavo::cpu_native {
namespace {

/// Every read of every phase lands inside the image, and pixels are runs of floats.
bool readable_in_place(const FloatGeometry& g) {
  if (g.in.type != DataType_t::FLOAT || g.in.vector != 1 || (g.in.stride[1] != 1 && g.in.dim[1] != 1)) return false;
  for (const FloatAxis& a : g.axis) {
    for (const AxisPhase& p : a.phases) {
      if (p.outputs == 0 || p.offset.empty()) continue;
      if (p.offset.front() < 0 || (p.outputs - 1) * a.in_step + p.offset.back() >= a.in) return false;
    }
  }
  // Pixels whole pages apart fall into one set of the first-level cache, and evict each other.
  return g.in_stride[2] * g.axis[2].in_step % 1024 != 0 || g.ic < 64;
}

bool consecutive(const FloatAxis& axis) {
  for (const AxisPhase& p : axis.phases) {
    for (std::size_t t = 1; t < p.offset.size(); ++t) {
      if (p.offset[t] != p.offset[t - 1] + 1) return false;
    }
  }
  return true;
}

double row_cycles(const FloatBlocking& b, const F32Kernels& kernels, std::int64_t row) {
  double cycles = 0;
  for (const ChannelBlock& block : b.blocks) {
    const std::int64_t tiles = ceil_div(row, kernels.max_rows[block.vectors]);
    for (std::int64_t t = 0; t < tiles; ++t) {
      const double rows = static_cast<double>(row / tiles + (t < row % tiles ? 1 : 0));
      cycles += std::max({rows * block.vectors / 2, (rows + block.vectors) / 2, 4.0});
    }
  }
  return cycles;
}

}  // namespace

FloatBlocking choose_blocking(const FloatGeometry& g, const F32Kernels& kernels, const DeviceTraits& device, int vectors) {
  FloatBlocking b;
  const FloatAxis &d = g.axis[0], &h = g.axis[1], &w = g.axis[2];
  const std::int64_t cache = std::max<std::int64_t>(device.l2_bytes, 256 << 10) / 4;  // in floats
  const std::int64_t threads = std::max(1, device.threads);
  b.vectors = vectors;
  b.blocks = channel_blocks(g.oc, kernels.lanes, vectors);
  b.columns =
      b.blocks.empty() ? 0 : b.blocks.back().column + static_cast<std::int64_t>(b.blocks.back().vectors) * kernels.lanes;
  b.direct = readable_in_place(g);

  if (g.n == 0 || g.groups == 0 || g.oc == 0 || d.points == 0 || h.points == 0 || w.points == 0) {
    b.chunk = std::max<std::int64_t>(g.ic, 1);
    b.cost_us = 1;
    return b;  // nothing to compute: no tasks
  }
  std::int64_t most_taps = 1;
  for (std::int64_t c = 0; c < g.combos(); ++c) most_taps = std::max(most_taps, g.taps(c));
  const std::int64_t width = static_cast<std::int64_t>(vectors) * kernels.lanes;

  // A block of filter, and a few rows of input, stay in the second-level cache: else the channels are cut.
  const std::int64_t strip_budget = cache / 3, filter_budget = cache * 2 / 5;
  const auto needed = [&](std::int64_t points_d, std::int64_t points_h, std::int64_t points_w) {
    std::int64_t rows_d = 0, rows_h = 0;
    for (std::int64_t j = 0; j < d.extent(points_d); ++j) rows_d += strip_row_needed(d, j, points_d) ? 1 : 0;
    for (std::int64_t j = 0; j < h.extent(points_h); ++j) rows_h += strip_row_needed(h, j, points_h) ? 1 : 0;
    return rows_d * rows_h * w.extent(points_w);
  };
  const std::int64_t some_rows = std::min<std::int64_t>(h.points, 4);
  std::int64_t row_points = std::min<std::int64_t>(w.points, 256);
  b.chunk = g.ic;
  const std::int64_t min_chunk = std::min(g.ic, std::max<std::int64_t>(64, round_up(ceil_div(512, most_taps), 16)));
  while (b.chunk > min_chunk && (b.chunk * most_taps * width > filter_budget ||
                                 (most_taps > 1 && needed(1, some_rows, row_points) * b.chunk > strip_budget))) {
    const std::int64_t parts = ceil_div(g.ic, b.chunk) + 1;
    b.chunk = std::max(min_chunk, round_up(ceil_div(g.ic, parts), 16));
  }
  const std::int64_t rounds = b.rounds(g.ic);

  // Narrow groups are packed together: a pixel's channels of one group alone would be a line or two.
  if (g.groups > 1 && !b.direct && rounds == 1) {
    b.task_groups = g.groups;
    while (b.task_groups > 1 &&
           needed(1, some_rows, std::min<std::int64_t>(w.points, 256)) * b.task_groups * g.ic > strip_budget)
      b.task_groups = ceil_div(b.task_groups, 2);
  }
  b.group_cuts = ceil_div(g.groups, b.task_groups);
  const std::int64_t packed = b.task_groups == 1 ? b.chunk : b.task_groups * g.ic;

  // Points of a task: whole images when they are small, else rows, else parts of a row.
  const auto acc = [&](std::int64_t images, const std::array<std::int64_t, 3>& p) {
    return images * p[0] * d.steps() * p[1] * h.steps() * p[2] * w.steps() * b.columns;
  };
  const auto fits = [&](std::int64_t images, const std::array<std::int64_t, 3>& p) {
    return images * needed(p[0], p[1], p[2]) * packed <= strip_budget && (rounds == 1 || acc(images, p) <= strip_budget);
  };
  const std::int64_t wanted = threads == 1 ? 1 : 8 * threads;
  const std::int64_t total_rows = g.n * d.points * h.points;
  b.points = {1, 1, w.points};
  const std::int64_t tile = kernels.max_rows[vectors];
  while (b.points[2] > 4 * tile && !fits(1, b.points)) b.points[2] = round_up(ceil_div(b.points[2], 2), tile);
  if (total_rows < wanted) {
    while (b.points[2] > 4 * tile && total_rows * ceil_div(w.points, b.points[2]) < wanted) {
      b.points[2] = round_up(ceil_div(b.points[2], 2), tile);
    }
  }
  if (b.points[2] >= w.points) {
    const auto tasks = [&](std::int64_t images, const std::array<std::int64_t, 3>& p) {
      return ceil_div(g.n, images) * ceil_div(d.points, p[0]) * ceil_div(h.points, p[1]) * b.group_cuts;
    };
    const std::array<std::int64_t, 3> whole{d.points, h.points, w.points};
    if (fits(1, whole) && tasks(1, whole) >= std::min<std::int64_t>(wanted, g.n)) {
      b.points = whole;
      while (b.images < g.n && fits(b.images + 1, whole) && tasks(b.images + 1, whole) >= wanted) ++b.images;
      b.images = ceil_div(g.n, ceil_div(g.n, b.images));
    }
    if (b.points != whole || tasks(1, whole) < wanted) {
      b.images = 1;
      b.points = {1, 1, w.points};
      while (b.points[1] < h.points && fits(1, {1, b.points[1] + 1, w.points}) &&
             (tasks(1, {1, b.points[1] + 1, w.points}) >= wanted || b.points[1] < 2)) {
        ++b.points[1];
      }
      b.points[1] = ceil_div(h.points, ceil_div(h.points, b.points[1]));
    }
  }
  b.cuts = {ceil_div(d.points, b.points[0]), ceil_div(h.points, b.points[1]), ceil_div(w.points, b.points[2])};
  b.image_cuts = ceil_div(g.n, b.images);
  std::int64_t tasks = b.image_cuts * b.cuts[0] * b.cuts[1] * b.cuts[2] * b.group_cuts;
  const std::int64_t n_blocks = static_cast<std::int64_t>(b.blocks.size());
  b.channel_cuts = 1;
  if (tasks > 0 && tasks < 4 * threads && threads > 1) b.channel_cuts = std::min(n_blocks, ceil_div(4 * threads, tasks));
  b.blocks_per_cut = n_blocks == 0 ? 1 : ceil_div(n_blocks, b.channel_cuts);
  b.channel_cuts = n_blocks == 0 ? 0 : ceil_div(n_blocks, b.blocks_per_cut);
  b.tasks = tasks * b.channel_cuts;

  b.pitch = packed;
  b.merged = !b.direct && rounds == 1 && consecutive(w) && !w.compact && b.task_groups == 1;
  if (b.pitch % 512 == 0 && b.pitch > 0) b.pitch += 16, b.merged = false;
  b.row = w.extent(b.points[2]) * b.pitch;
  b.plane = h.extent(b.points[1]) * b.row;
  b.strip_floats = b.direct ? 0 : b.images * d.extent(b.points[0]) * b.plane;
  b.strip_floats = round_up(b.strip_floats, 16);
  b.acc_floats = rounds == 1 ? b.points[2] * w.steps() * width : acc(b.images, b.points);
  b.acc_floats = round_up(b.acc_floats, 16) + 16;

  std::int64_t all_taps = 0;
  for (std::int64_t c = 0; c < g.combos(); ++c) all_taps += g.taps(c);
  const std::int64_t filter = all_taps * b.columns * g.ic * b.task_groups;  // of a task
  b.ask_ahead = filter > cache / 2;

  double cycles = 0;
  for (std::int64_t c = 0; c < g.combos(); ++c) {
    double rows = static_cast<double>(g.n * g.groups);
    for (int a = 0; a < 2; ++a) rows *= static_cast<double>(g.phase(a, c).outputs);
    const double row_parts = static_cast<double>(ceil_div(g.phase(2, c).outputs, std::max<std::int64_t>(1, b.points[2])));
    const std::int64_t row =
        row_parts > 0 ? static_cast<std::int64_t>(static_cast<double>(g.phase(2, c).outputs) / row_parts) : 0;
    cycles += rows * row_parts * row_cycles(b, kernels, row) * static_cast<double>(g.taps(c) * g.ic);
  }
  if (kernels.lanes < 8) cycles *= 2;
  const double strip_reads =
      b.direct
          ? 0
          : static_cast<double>(b.image_cuts * b.cuts[0] * b.cuts[1] * b.cuts[2] * std::max<std::int64_t>(1, b.channel_cuts)) *
                static_cast<double>(b.images * needed(b.points[0], b.points[1], b.points[2]) * g.ic * g.groups);
  cycles += strip_reads * (g.in.vector == 1 && g.in.stride[1] == 1 ? 0.3 : 1.0);
  const double bytes =
      static_cast<double>(g.in.span_bytes()) + static_cast<double>(g.n * g.groups * g.oc * d.out * h.out * w.out) * 4.0;
  const double busy = static_cast<double>(std::min<std::int64_t>(threads, std::max<std::int64_t>(1, b.tasks)));
  b.cost_us = 1.0 + std::max(cycles / 2600.0 / busy, bytes / 12000.0 / std::min(busy, 8.0));
  return b;
}

}  // namespace octavo::cpu_native
