// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// The inside of a task of the direct float path.

#include <algorithm>

#include "engines/cpu_native/direct_float_plan.h"

namespace octavo::cpu_native {
namespace {

constexpr std::int64_t kFloat = sizeof(float);

/// Memory that will be needed soon, asked for a line a step while tiles are computed.
struct Ahead {
  const char* at = nullptr;
  std::int64_t lines = 0;
};

bool inside_axis(const FloatAxis& axis, std::int64_t i, std::int64_t offset) {
  const std::int64_t at = i * axis.in_step + offset;
  return at >= 0 && at < axis.in;
}

/// Cycles of a row's tiles a step, by counting.
double tile_cycles(const F32Kernels& kernels, int vectors, std::int64_t columns) {
  const std::int64_t tiles = ceil_div(columns, kernels.max_rows[vectors]);
  double cycles = 0;
  for (std::int64_t t = 0; t < tiles; ++t) {
    const std::int64_t count = columns / tiles + (t < columns % tiles ? 1 : 0);
    const double rows = static_cast<double>(count);
    cycles += std::max({rows * vectors / 2, (rows + vectors) / 2, 4.0});
  }
  return cycles;
}

}  // namespace

struct DirectFloatPlan::Work {
  const Call& call;
  std::array<std::int64_t, 3> first{};  ///< points of the task
  std::int64_t image = 0, round = 0, channel = 0, depth = 0, first_group = 0;
  float* strip = nullptr;
  float* acc = nullptr;
  FilterTap* taps = nullptr;
  mutable Ahead ahead;
  bool stream = false;  ///< the input is one run of memory, read for the first time
};

/// Where much of a row is padding (large dilations), taps that only meet padding are left out of parts of it.
void DirectFloatPlan::plan_segments(Combo& combo, std::int64_t c) const {
  const AxisPhase& pw = g_.phase(2, c);
  if (b_.direct || b_.merged || b_.cuts[2] != 1 || pw.offset.empty() || b_.blocks.empty()) return;
  const auto range = [&](std::int64_t i) {
    Segment s;
    s.w_end = pw.offset.size();
    while (s.w_begin < s.w_end && !inside_axis(g_.axis[2], i, pw.offset[s.w_begin])) ++s.w_begin;
    while (s.w_end > s.w_begin && !inside_axis(g_.axis[2], i, pw.offset[s.w_end - 1])) --s.w_end;
    return s;
  };
  double cycles = 0;
  const int vectors = b_.blocks[0].vectors;
  std::vector<Segment> segments;
  for (std::int64_t i = 0; i < pw.outputs; ++i) {
    Segment s = range(i);
    if (segments.empty() || segments.back().w_begin != s.w_begin || segments.back().w_end != s.w_end) {
      s.begin = i;
      segments.push_back(s);
    }
    segments.back().end = i + 1;
  }
  for (const Segment& s : segments)
    cycles += (tile_cycles(kernels_, vectors, s.end - s.begin) + 0.5) * static_cast<double>(s.w_end - s.w_begin);
  if (cycles < 0.97 * tile_cycles(kernels_, vectors, pw.outputs) * static_cast<double>(pw.offset.size()))
    combo.segments = std::move(segments);
}

void DirectFloatPlan::run_columns(const Work& work, TapsArgs& t, int vectors, const float* a, std::int64_t pixel, float* c,
                                  std::int64_t stride, std::int64_t columns) const {
  t.a_row = pixel * kFloat;
  t.c_row = stride * kFloat;
  const std::int64_t tiles = ceil_div(columns, kernels_.max_rows[vectors]);
  for (std::int64_t tile = 0, at = 0; tile < tiles; ++tile) {
    const std::int64_t rows = columns / tiles + (tile < columns % tiles ? 1 : 0);
    t.a = a + at * pixel;
    t.c = c + at * stride;
    if (work.ahead.lines > 0) {
      t.ahead = work.ahead.at;
      t.ahead_step = 64;
      work.ahead.at += t.n_taps * t.depth * 64;
      work.ahead.lines -= t.n_taps * t.depth;
    } else if (work.stream) {
      // The tile after the next: as many lines as this one has steps, nearly.
      t.ahead = reinterpret_cast<const char*>(a + (at + 2 * rows) * pixel);
      t.ahead_step = 64;
    } else {
      t.ahead = nullptr;
      t.ahead_step = 0;
    }
    kernels_.taps(static_cast<int>(rows), vectors, t);
    at += rows;
  }
}

// The filter has infinities or NaN: 0 * inf from padding must not enter a sum, so each tap runs over the points whose input
// is inside the image. The order of the sum is the same.
void DirectFloatPlan::run_carefully(const Work& work, TapsArgs& t, int vectors, std::int64_t combo, std::int64_t di,
                                    std::int64_t hi, std::int64_t wi, std::int64_t depth, const float* a, std::int64_t pixel,
                                    float* c, std::int64_t stride, std::int64_t columns) const {
  const AxisPhase &pd = g_.phase(0, combo), &ph = g_.phase(1, combo), &pw = g_.phase(2, combo);
  const float* b = t.b;
  if (!t.accumulate) {
    t.n_taps = 0;  // zeros
    run_columns(work, t, vectors, a, pixel, c, stride, columns);
  }
  t.accumulate = true;
  t.n_taps = 1;
  t.depth = depth;
  for (const std::int64_t od : pd.offset) {
    for (const std::int64_t oh : ph.offset) {
      for (const std::int64_t ow : pw.offset) {
        t.b = b;
        b += depth * vectors * kernels_.lanes;
        if (!inside_axis(g_.axis[0], di, od) || !inside_axis(g_.axis[1], hi, oh)) continue;
        std::int64_t begin = 0, end = columns;
        while (begin < end && !inside_axis(g_.axis[2], wi + begin, ow)) ++begin;
        while (end > begin && !inside_axis(g_.axis[2], wi + end - 1, ow)) --end;
        const FilterTap tap{(g_.axis[0].strip_offset(od) * b_.plane + g_.axis[1].strip_offset(oh) * b_.row +
                             g_.axis[2].strip_offset(ow) * b_.pitch) *
                                kFloat,
                            0};
        t.taps = &tap;
        run_columns(work, t, vectors, a + begin * pixel, pixel, c + begin * stride, stride, end - begin);
      }
    }
  }
}

// Taps whose row is padding add nothing, and are left out.
void DirectFloatPlan::run_phase(const Work& work, TapsArgs& t, std::int64_t c, int vectors, std::int64_t di, std::int64_t hi,
                                const float* a, std::int64_t pixel, float* out, std::int64_t stride,
                                std::int64_t columns) const {
  const Combo& combo = combos_[static_cast<std::size_t>(c)];
  const AxisPhase &pd = g_.phase(0, c), &ph = g_.phase(1, c), &pw = g_.phase(2, c);
  bool whole = true;
  const auto reads = [&](std::int64_t od, std::int64_t oh) {
    return inside_axis(g_.axis[0], di, od) && inside_axis(g_.axis[1], hi, oh);
  };
  if (!b_.direct && !pd.offset.empty() && !ph.offset.empty()) {
    whole = reads(pd.offset.front(), ph.offset.front()) && reads(pd.offset.back(), ph.offset.back());
  }
  if (whole && combo.segments.empty()) {
    t.taps = combo.taps.data();
    t.n_taps = static_cast<std::int64_t>(combo.taps.size());
    return run_columns(work, t, vectors, a, pixel, out, stride, columns);
  }
  const std::size_t row_taps = b_.merged ? std::min<std::size_t>(pw.offset.size(), 1) : pw.offset.size();
  const Segment all{0, columns, 0, row_taps};
  const std::size_t parts = combo.segments.empty() ? 1 : combo.segments.size();
  for (std::size_t i = 0; i < parts; ++i) {
    const Segment& s = combo.segments.empty() ? all : combo.segments[i];
    const std::int64_t end = std::min(s.end, columns);
    if (s.begin >= end) continue;
    t.taps = work.taps;
    t.n_taps = 0;
    std::size_t tap = 0;
    for (const std::int64_t od : pd.offset) {
      for (const std::int64_t oh : ph.offset) {
        if (reads(od, oh)) {
          for (std::size_t w = s.w_begin; w < s.w_end; ++w) work.taps[t.n_taps++] = combo.taps[tap + w];
        }
        tap += row_taps;
      }
    }
    run_columns(work, t, vectors, a + s.begin * pixel, pixel, out + s.begin * stride, stride, end - s.begin);
  }
}

void DirectFloatPlan::run_row(const Work& work, std::int64_t image, std::int64_t od, std::int64_t oh, std::int64_t first,
                              std::int64_t count, std::int64_t acc_row, std::int64_t group, const ChannelBlock& block) const {
  const Call& call = work.call;
  const std::int64_t width = static_cast<std::int64_t>(block.vectors) * kernels_.lanes;
  const std::int64_t steps = g_.axis[2].steps(), rounds = b_.rounds(g_.ic);
  const std::int64_t pd = od % g_.axis[0].steps(), ph = oh % g_.axis[1].steps();
  const std::int64_t di = od / g_.axis[0].steps(), hi = oh / g_.axis[1].steps();
  const std::int64_t acc_stride = rounds == 1 ? width : b_.columns;
  float* acc_at = rounds == 1 ? work.acc : work.acc + acc_row * b_.points[2] * steps * b_.columns + block.column;
  float* out = nullptr;
  std::int64_t out_stride = 0;
  Rows r;
  r.outer = image;
  set_point(r, g_.spatial, od, oh, first * steps);
  r.count = std::min(g_.axis[2].out, (first + count) * steps) - first * steps;
  if (r.count <= 0) return;
  r.channel = group * g_.oc + block.first;
  r.channels = block.count;
  if (store_direct_) {
    out = static_cast<float*>(epilogue_.address(*call.args, r));
    out_stride = epilogue_.pixel_stride();
  }
  for (std::int64_t pw = 0; pw < steps; ++pw) {
    const std::int64_t c = (pd * g_.axis[1].steps() + ph) * steps + pw;
    const Combo& combo = combos_[static_cast<std::size_t>(c)];
    const std::int64_t columns = std::min(first + count, g_.phase(2, c).outputs) - first;
    if (columns <= 0) continue;
    std::int64_t pixel;
    const float* a;
    if (b_.direct) {
      pixel = g_.in_stride[2] * g_.axis[2].in_step;
      a = static_cast<const float*>(call.in) + image * g_.in.stride[0] + di * g_.axis[0].in_step * g_.in_stride[0] +
          hi * g_.axis[1].in_step * g_.in_stride[1] + first * pixel +
          (group * g_.ic + work.channel) * (g_.in.dim[1] == 1 ? 0 : 1);
    } else {
      pixel = b_.pitch * g_.axis[2].strip_step();
      a = work.strip + (image - work.image) * g_.axis[0].extent(b_.points[0]) * b_.plane +
          (di - work.first[0]) * g_.axis[0].strip_step() * b_.plane + (hi - work.first[1]) * g_.axis[1].strip_step() * b_.row +
          (first - work.first[2]) * pixel + (group - work.first_group) * g_.ic;
    }
    TapsArgs t;
    t.depth = work.depth * combo.depth_per_channel;
    t.b = call.filter + combo.filter + combo.filter_taps * b_.columns * (group * g_.ic + work.channel) +
          combo.filter_taps * work.depth * block.column;
    float* target = out != nullptr ? out + pw * out_stride : acc_at + pw * acc_stride;
    const std::int64_t target_stride = (out != nullptr ? out_stride : acc_stride) * steps;
    t.accumulate = work.round > 0;
    t.tail = out != nullptr ? block.tail : 0;
    if (call.finite || b_.direct) {
      run_phase(work, t, c, block.vectors, di, hi, a, pixel, target, target_stride, columns);
    } else {
      run_carefully(work, t, block.vectors, c, di, hi, first, work.depth, a, pixel, target, target_stride, columns);
    }
  }
  if (out == nullptr && work.round + 1 == rounds) epilogue_.run(call.bound, r, acc_at, acc_stride);
}

void DirectFloatPlan::run_task(const Call& call, std::int64_t task, int slot) const {
  // Blocks of channels vary slowest: neighbours share the filter.
  std::int64_t rest = task;
  const std::int64_t cw = rest % b_.cuts[2];
  rest /= b_.cuts[2];
  const std::int64_t ch = rest % b_.cuts[1];
  rest /= b_.cuts[1];
  const std::int64_t cd = rest % b_.cuts[0];
  rest /= b_.cuts[0];
  const std::int64_t ci = rest % b_.image_cuts;
  rest /= b_.image_cuts;
  const std::int64_t group_cut = rest % b_.group_cuts, cut = rest / b_.group_cuts;

  Work work{.call = call, .ahead = {}};
  work.first = {cd * b_.points[0], ch * b_.points[1], cw * b_.points[2]};
  std::array<std::int64_t, 3> count, out_first, out_end;
  for (std::size_t a = 0; a < 3; ++a) {
    const FloatAxis& axis = g_.axis[a];
    count[a] = std::min(b_.points[a], axis.points - work.first[a]);
    out_first[a] = work.first[a] * axis.steps();
    out_end[a] = std::min(axis.out, (work.first[a] + count[a]) * axis.steps());
  }
  work.image = ci * b_.images;
  const std::int64_t images = std::min(b_.images, g_.n - work.image);
  work.first_group = group_cut * b_.task_groups;
  const std::int64_t group_end = std::min(g_.groups, work.first_group + b_.task_groups);
  const std::size_t block_first = static_cast<std::size_t>(cut * b_.blocks_per_cut);
  const std::size_t block_end = std::min(b_.blocks.size(), block_first + static_cast<std::size_t>(b_.blocks_per_cut));

  work.strip = call.scratch + slot * call.scratch_floats;
  work.acc = work.strip + b_.strip_floats;
  work.taps = reinterpret_cast<FilterTap*>(work.acc + b_.acc_floats);
  const std::int64_t strip_image = g_.axis[0].extent(b_.points[0]) * b_.plane;
  const std::int64_t rounds = b_.rounds(g_.ic);

  for (work.round = 0; work.round < rounds; ++work.round) {
    work.channel = work.round * b_.chunk;
    work.depth = std::min(b_.chunk, g_.ic - work.channel);
    const std::int64_t box_channels = b_.task_groups == 1 ? work.depth : (group_end - work.first_group) * g_.ic;
    if (!b_.direct) {
      for (std::int64_t i = 0; i < images; ++i) {
        StripBox box;
        box.image = work.image + i;
        box.output = work.first;
        box.count = count;
        box.channel = work.first_group * g_.ic + work.channel;
        box.channels = box_channels;
        box.pitch = b_.pitch;
        box.row = b_.row;
        box.plane = b_.plane;
        pack_strip(kernels_, g_, call.in, box, work.strip + i * strip_image);
      }
    }
    const auto each_row = [&](auto&& row) {
      std::int64_t acc_row = 0;
      for (std::int64_t i = 0; i < images; ++i) {
        for (std::int64_t od = out_first[0]; od < out_end[0]; ++od) {
          for (std::int64_t oh = out_first[1]; oh < out_end[1]; ++oh) row(work.image + i, od, oh, acc_row++);
        }
      }
    };
    for (std::int64_t group = work.first_group; group < group_end; ++group) {
      for (std::size_t bi = block_first; bi < block_end; ++bi) {
        const ChannelBlock& block = b_.blocks[bi];
        work.stream = b_.direct && bi == block_first && combos_.size() == 1 && combos_[0].taps.size() == 1 && g_.groups == 1 &&
                      g_.in_stride[2] * g_.axis[2].in_step == g_.ic && g_.in.span_bytes() > device_.l2_bytes / 2;
        if (b_.ask_ahead && bi + 1 < block_end && combos_.size() == 1) {
          const ChannelBlock& next = b_.blocks[bi + 1];
          work.ahead.at =
              reinterpret_cast<const char*>(call.filter + combos_[0].filter_taps * b_.columns * (group * g_.ic + work.channel) +
                                            combos_[0].filter_taps * work.depth * next.column);
          work.ahead.lines = combos_[0].filter_taps * work.depth * next.vectors * kernels_.lanes / 16;
        }
        each_row([&](std::int64_t image, std::int64_t od, std::int64_t oh, std::int64_t acc_row) {
          run_row(work, image, od, oh, work.first[2], count[2], acc_row, group, block);
        });
      }
    }
  }
}

}  // namespace octavo::cpu_native
