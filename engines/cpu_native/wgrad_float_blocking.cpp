// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "engines/cpu_native/wgrad_float.h"

namespace octavo::cpu_native {
namespace {

std::vector<RunBlock> vector_blocks(std::int64_t length, int lanes, int vectors) {
  std::vector<RunBlock> blocks;
  for (const ChannelBlock& c : channel_blocks(length, lanes, vectors)) blocks.push_back({c.first, c.count, c.vectors, c.tail});
  return blocks;
}

/// As few blocks as `most` rows allow, of equal size but for one.
std::vector<RunBlock> even_blocks(std::int64_t length, std::int64_t most) {
  std::vector<RunBlock> blocks;
  const std::int64_t n = ceil_div(length, most);
  for (std::int64_t i = 0, at = 0; i < n; ++i) {
    const std::int64_t count = length / n + (i < length % n ? 1 : 0);
    blocks.push_back({at, count, 0, 0});
    at += count;
  }
  return blocks;
}

bool in_place(const TensorDesc& t) {
  return t.type == DataType_t::FLOAT && t.vector == 1 && (t.stride[1] == 1 || t.dim[1] == 1);
}

}  // namespace

WgradBlocking choose_wgrad(const FloatGeometry& g, const Problem& problem, const F32Kernels& kernels,
                           const DeviceTraits& device, bool x_vectors, int vectors, bool direct, bool may_merge) {
  WgradBlocking b;
  const FloatAxis &d = g.axis[0], &h = g.axis[1], &w = g.axis[2];
  b.x_vectors = x_vectors;
  b.vectors = vectors;
  const AxisPhase& pw = w.phases[0];
  const std::int64_t filter_w = static_cast<std::int64_t>(pw.offset.size());

  bool inside = true;
  for (const FloatAxis* a : {&d, &h, &w}) {
    const AxisPhase& p = a->phases[0];
    inside = inside && p.outputs > 0 && p.offset.front() >= 0 && (p.outputs - 1) * a->in_step + p.offset.back() < a->in;
  }
  b.x_direct = direct && inside && in_place(g.in);
  b.dy_direct = direct && in_place(problem.y);

  bool run = may_merge && filter_w > 1 && !w.compact && !b.x_direct;
  for (std::int64_t t = 1; t < filter_w; ++t) run = run && pw.offset[t] == pw.offset[t - 1] + 1;
  const int lanes = kernels.lanes;
  const std::int64_t most = kernels.max_rows[vectors];
  // Few channels: the taps of a filter row join them.
  b.merged = run && (x_vectors ? g.ic % (lanes * vectors) != 0 && g.ic < 4 * lanes : g.ic <= 2 * most && g.ic % most != 0);
  const std::int64_t length = b.merged ? g.ic * filter_w : g.ic;
  b.taps = static_cast<std::int64_t>(d.phases[0].offset.size() * h.phases[0].offset.size()) * (b.merged ? 1 : filter_w);
  b.x_blocks = x_vectors ? vector_blocks(length, lanes, vectors) : even_blocks(length, most);
  b.dy_blocks = x_vectors ? even_blocks(g.oc, most) : vector_blocks(g.oc, lanes, vectors);

  if (g.n == 0 || d.points == 0 || h.points == 0 || w.points == 0 || length == 0 || g.oc == 0) {
    b.cost_us = 1;
    return b;  // no points to sum over: chunks == 0
  }

  // A chunk's panels stay in the first or second level while every tap and block runs over them.
  constexpr std::int64_t kPoints = 256;
  b.columns = ceil_div(w.points, ceil_div(w.points, kPoints));
  b.rows = b.columns < w.points ? 1 : std::clamp<std::int64_t>(kPoints / w.points, 1, h.points);
  if (b.columns == w.points && b.rows == h.points && d.points == 1) {
    b.images = std::clamp<std::int64_t>(kPoints / (b.rows * b.columns), 1, g.n);
  }
  const auto x_points = [&] { return b.images * d.extent(1) * h.extent(b.rows) * w.extent(b.columns); };
  const std::int64_t budget = std::max<std::int64_t>(device.l2_bytes, 512 << 10) / 4 / 3;
  while (x_points() * g.ic > budget && (b.images > 1 || b.rows > 2)) {
    if (b.images > 1) {
      --b.images;
    } else {
      --b.rows;
    }
  }
  b.rows = ceil_div(h.points, ceil_div(h.points, b.rows));
  b.cuts = {ceil_div(g.n, b.images), d.points, ceil_div(h.points, b.rows), ceil_div(w.points, b.columns)};
  b.chunks = b.cuts[0] * b.cuts[1] * b.cuts[2] * b.cuts[3];

  double per_point = 0, calls = 0;
  for (const RunBlock& xb : b.x_blocks) {
    for (const RunBlock& yb : b.dy_blocks) {
      const double rows = static_cast<double>(x_vectors ? yb.count : xb.count), v = x_vectors ? xb.vectors : yb.vectors;
      per_point += std::max({rows * v / 2, (rows + v) / 2, 4.0}) * static_cast<double>(b.taps);
      calls += (rows * v * 1.5 + 20) * static_cast<double>(b.taps);
    }
  }
  const double points = static_cast<double>(g.n * d.points * h.points * w.points);
  const double product_cycles =
      (points * per_point + static_cast<double>(b.chunks) * calls) * static_cast<double>(g.groups) * (lanes < 8 ? 2.0 : 1.0);

  // The splits may depend on the problem alone, because the order of the sum does; 512 points or more pay for a copy of dw.
  // The channel cuts follow the threads: they pack an operand more than once, and change no sum.
  const std::int64_t dw = g.groups * g.oc * b.taps * length;
  const std::int64_t room = std::max<std::int64_t>(1, (4 << 20) / std::max<std::int64_t>(dw, 1));
  const std::int64_t all_points = g.n * d.points * h.points * w.points;
  b.splits = std::min({ceil_div(32, g.groups), room, b.chunks, std::max<std::int64_t>(1, all_points / 512)});
  const std::int64_t threads = std::max(1, device.threads);
  const std::int64_t wanted = threads == 1 ? 1 : ceil_div(3 * threads, b.splits * g.groups);
  const std::int64_t dy_n = static_cast<std::int64_t>(b.dy_blocks.size()), x_n = static_cast<std::int64_t>(b.x_blocks.size());
  const bool cut_dy_first = g.oc >= g.ic || b.merged;
  std::int64_t& first_cuts = cut_dy_first ? b.dy_cuts : b.x_cuts;
  std::int64_t& second_cuts = cut_dy_first ? b.x_cuts : b.dy_cuts;
  first_cuts = std::min(cut_dy_first ? dy_n : x_n, wanted);
  second_cuts = b.merged ? 1 : std::min(cut_dy_first ? x_n : dy_n, ceil_div(wanted, first_cuts));
  b.dy_per_cut = ceil_div(dy_n, b.dy_cuts);
  b.dy_cuts = ceil_div(dy_n, b.dy_per_cut);
  b.x_per_cut = ceil_div(x_n, b.x_cuts);
  b.x_cuts = ceil_div(x_n, b.x_per_cut);
  b.tasks = b.splits * g.groups * b.dy_cuts * b.x_cuts;

  const std::int64_t block_width = static_cast<std::int64_t>(vectors) * lanes;
  b.x_pitch = b.merged ? g.ic : x_vectors ? block_width : most;
  b.dy_pitch = x_vectors ? most : block_width;
  b.x_image = d.extent(1) * h.extent(b.rows) * w.extent(b.columns);
  b.dy_image = b.rows * b.columns;
  b.x_points = b.images * b.x_image;
  b.dy_points = b.images * b.dy_image;
  b.x_floats = b.x_direct ? 0 : round_up(b.x_points * b.x_pitch * (b.merged ? 1 : b.x_per_cut), 16) + 4 * 16;
  b.dy_floats = b.dy_direct ? 0 : round_up(b.dy_points * b.dy_pitch * b.dy_per_cut, 16) + 4 * 16;

  double cycles = product_cycles;
  // In place, wide tiles read longer runs of memory.
  if (b.x_direct || b.dy_direct) cycles *= 1.0 + 0.04 * static_cast<double>(kernels.max_vectors - vectors);
  // Points kilobytes apart crowd into a few sets of the first-level cache; every second one is read without foresight.
  const auto crowded = [](std::int64_t pixel) { return pixel > 1024 ? 1.2 : 1.0; };
  if (b.x_direct) cycles *= w.in_step > 1 ? 1.2 : crowded(g.in_stride[2]);
  if (b.dy_direct) cycles *= crowded(problem.y.stride[static_cast<std::size_t>(problem.y.rank - 1)]);
  if (!b.x_direct) {
    cycles += 0.4 * static_cast<double>(b.chunks * b.x_points * b.dy_cuts) * static_cast<double>(g.ic * g.groups);
  }
  // Every packed row of every block costs a call: what makes narrow groups slow here.
  const double x_calls = b.x_direct ? 0 : static_cast<double>(b.chunks * b.images * h.extent(b.rows) * (b.merged ? 1 : x_n));
  const double dy_calls = b.dy_direct ? 0 : static_cast<double>(b.chunks * b.images * b.rows * dy_n);
  cycles += 80.0 * static_cast<double>(g.groups) * (x_calls + dy_calls);
  if (!b.dy_direct) cycles += 0.4 * points * static_cast<double>(g.oc * b.x_cuts * g.groups);
  cycles += static_cast<double>(dw) * (static_cast<double>(b.splits) * 0.2 + (x_vectors ? 0.1 : 3.0));
  const double busy = static_cast<double>(std::min<std::int64_t>(std::max(1, device.threads), b.tasks));
  const double bytes = static_cast<double>(g.in.span_bytes() + problem.y.span_bytes());
  b.cost_us = 1.0 + std::max(cycles / 2600.0 / busy, bytes / 12000.0 / std::min(busy, 8.0));
  return b;
}

}  // namespace octavo::cpu_native
