// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#include "engines/cpu_native/wgrad_float.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

#include "core/parallel.h"
#include "engines/cpu_native/path.h"

namespace octavo::cpu_native {
namespace {

constexpr std::int64_t kFloat = sizeof(float);
constexpr std::int64_t kFinishRows = 16;

struct Range {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
};

/// Of the outputs [first, first + count): those whose tap at `offset` reads a point of the image.
Range inside(const FloatAxis& axis, std::int64_t first, std::int64_t count, std::int64_t offset) {
  Range r{0, count};
  while (r.begin < count && (first + r.begin) * axis.in_step + offset < 0) ++r.begin;
  while (r.end > r.begin && (first + r.end - 1) * axis.in_step + offset >= axis.in) --r.end;
  return r;
}

/// Blocks [begin, end) of channels of one box, each into its own panel. `merged`: channels of the one block there is, else 0.
void pack_blocks(const F32Kernels& kernels, const FloatGeometry& g, const void* in, StripBox box,
                 const std::vector<RunBlock>& blocks, std::size_t begin, std::size_t end, std::int64_t merged,
                 std::int64_t channel, float* to, std::int64_t panel) {
  for (std::size_t b = begin; b < end; ++b, to += panel) {
    box.channel = channel + (merged != 0 ? 0 : blocks[b].first);
    box.channels = merged != 0 ? merged : blocks[b].count;
    pack_strip(kernels, g, in, box, to);
  }
}

/// The filter in the order k, taps, c without gaps.
bool is_plain_krsc(const TensorDesc& t) {
  if (t.vector != 1) return false;
  std::int64_t stride = 1;
  for (const int d : {1, 4, 3, 2, 0}) {
    if (d >= t.rank) continue;
    if (t.dim[d] != 1 && t.stride[d] != stride) return false;
    stride *= t.dim[d];
  }
  return true;
}

}  // namespace

FloatGeometry dy_geometry(const Problem& problem, const FloatGeometry& g) {
  FloatGeometry y;
  y.n = g.n;
  y.groups = g.groups;
  y.ic = y.oc = g.oc;
  y.spatial = g.spatial;
  y.in = problem.y;
  for (int i = 0; i < 3; ++i) {
    const int s = i - (3 - g.spatial);
    FloatAxis& axis = y.axis[i];
    axis.in = axis.out = axis.points = s >= 0 ? problem.y.dim[2 + s] : 1;
    axis.phases.push_back({axis.in, {0}, {0}});
    y.in_stride[i] = s >= 0 ? problem.y.stride[2 + s] : 0;
  }
  return y;
}

struct WgradFloatPlan::Call {
  const Args* args = nullptr;
  TileEpilogue::Bound bound;
  float* dw = nullptr;  // splits copies
  float* scratch = nullptr;
  std::int64_t scratch_floats = 0;
};

WgradFloatPlan::WgradFloatPlan(const Problem& problem, const DeviceTraits& device, bool x_vectors, int vectors, bool direct,
                               bool may_merge)
    : problem_(merge_pointwise(problem)), device_(device), kernels_(f32_kernels(device.isa)), g_(float_geometry(problem_)) {
  dy_ = dy_geometry(problem_, g_);
  slots_ = std::max(1, device.threads);
  b_ = choose_wgrad(g_, problem_, kernels_, device_, x_vectors, vectors, direct, may_merge);
}

error_t WgradFloatPlan::prepare() {
  OCTAVO_RETURN_IF_ERROR(epilogue_.compile(problem_, kernels_, device_.isa));
  const AxisPhase &pd = g_.axis[0].phases[0], &ph = g_.axis[1].phases[0], &pw = g_.axis[2].phases[0];
  for (const std::int64_t od : pd.offset) {
    for (const std::int64_t oh : ph.offset) {
      for (const std::int64_t ow : pw.offset) {
        if (b_.x_direct) {
          taps_.push_back({od * g_.in_stride[0] + oh * g_.in_stride[1] + ow * g_.in_stride[2], {od, oh, ow}});
        } else {
          const std::int64_t row = g_.axis[2].extent(b_.columns), plane = g_.axis[1].extent(b_.rows) * row;
          taps_.push_back(
              {g_.axis[0].strip_offset(od) * plane + g_.axis[1].strip_offset(oh) * row + g_.axis[2].strip_offset(ow),
               {od, oh, ow}});
        }
        if (b_.merged) break;
      }
    }
  }
  if (b_.merged) {
    bool padded = false;
    for (const FloatAxis& a : g_.axis) {
      padded = padded || a.low < 0 || (a.points - 1) * a.in_step + a.high >= a.in;
    }
    if (padded) {
      careful_ = std::make_unique<WgradFloatPlan>(problem_, device_, b_.x_vectors, b_.vectors, false, false);
      OCTAVO_RETURN_IF_ERROR(careful_->prepare());
    }
  }
  ask_ahead_ = g_.groups == 1 && g_.in.span_bytes() + problem_.y.span_bytes() > device_.l2_bytes / 2;
  group_floats_ = g_.oc * g_.ic * static_cast<std::int64_t>(pd.offset.size() * ph.offset.size() * pw.offset.size());
  dw_floats_ = round_up(group_floats_ * g_.groups, 16);
  const Epilogue& e = problem_.epilogue;
  const bool flipped = problem_.mode == ConvolutionMode_t::CONVOLUTION && group_floats_ != g_.oc * g_.ic;
  store_direct_ = e.identity() && e.outputs.size() == 1 && e.outputs[0].desc.type == DataType_t::FLOAT && !flipped &&
                  is_plain_krsc(e.outputs[0].desc) && b_.x_vectors && b_.splits == 1 && b_.chunks > 0;
  return {};
}

std::int64_t WgradFloatPlan::finish_floats() const {
  return kFinishRows * (group_floats_ / std::max<std::int64_t>(g_.oc, 1) + 16) + 16;
}

std::size_t WgradFloatPlan::workspace_bytes() const {
  std::int64_t floats = store_direct_ ? 0 : b_.splits * dw_floats_ + 16;
  floats += slots_ * std::max(b_.x_floats + b_.dy_floats, finish_floats());
  const std::size_t own =
      64 + static_cast<std::size_t>(round_up(static_cast<std::int64_t>(epilogue_.workspace_bytes()), 64) + floats * kFloat);
  return careful_ ? std::max(own, careful_->workspace_bytes()) : own;
}

std::string WgradFloatPlan::describe() const {
  return std::string("f32 outer products, ") + (b_.x_vectors ? "x" : "dy") + " in vectors, tiles of " +
         std::to_string(kernels_.max_rows[b_.vectors]) + "x" + std::to_string(b_.vectors * kernels_.lanes) + ", " +
         std::to_string(b_.splits) + " splits, " + std::to_string(b_.tasks) + " tasks";
}

/// What the next chunk reads, as runs of memory, asked for a line a step while this one is computed.
struct WgradFloatPlan::Ahead {
  const char* at[2] = {};
  std::int64_t lines[2] = {};

  void take(OuterArgs& o) {
    const std::int64_t steps = o.images * o.segments * o.depth;
    const int side = lines[0] > 0 ? 0 : 1;
    o.ahead = nullptr;
    o.ahead_step = 0;
    if (lines[side] <= 0) return;
    o.ahead = at[side];
    o.ahead_step = 64;
    at[side] += steps * 64;
    lines[side] -= steps;
  }
};

WgradFloatPlan::Ahead WgradFloatPlan::next_chunk(const Call& call, const Chunk& c, std::int64_t group) const {
  Ahead ahead;
  const std::int64_t points = c.images * c.rows * c.columns;
  const auto side = [&](int i, const FloatGeometry& g, const void* data, std::int64_t channels) {
    const std::int64_t bytes = element_bytes(g.in.type);
    const FloatAxis &d = g.axis[0], &h = g.axis[1], &w = g.axis[2];
    if (g.in.vector != 1 || g.in.stride[1] != 1 || w.in_step != 1 || h.in_step != 1) return;
    ahead.at[i] = static_cast<const char*>(data) + (c.image * g.in.stride[0] + c.plane * d.in_step * g.in_stride[0] +
                                                    c.row * g.in_stride[1] + c.column * g.in_stride[2] + group * channels) *
                                                       bytes;
    ahead.lines[i] = points * g.in_stride[2] * bytes / 64;
  };
  side(0, g_, call.args->x, g_.ic);
  side(1, dy_, call.args->y, g_.oc);
  return ahead;
}

WgradFloatPlan::Chunk WgradFloatPlan::chunk(std::int64_t index) const {
  Chunk c{};
  c.column = index % b_.cuts[3] * b_.columns;
  index /= b_.cuts[3];
  c.row = index % b_.cuts[2] * b_.rows;
  index /= b_.cuts[2];
  c.plane = index % b_.cuts[1];
  c.image = index / b_.cuts[1] * b_.images;
  c.images = std::min(b_.images, g_.n - c.image);
  c.rows = std::min(b_.rows, g_.axis[1].points - c.row);
  c.columns = std::min(b_.columns, g_.axis[2].points - c.column);
  return c;
}

void WgradFloatPlan::run_task(const Call& call, std::int64_t task, int slot) const {
  const std::int64_t xc = task % b_.x_cuts, yc = task / b_.x_cuts % b_.dy_cuts;
  const std::int64_t group = task / (b_.x_cuts * b_.dy_cuts) % g_.groups, split = task / (b_.x_cuts * b_.dy_cuts * g_.groups);
  const std::int64_t begin = b_.chunks * split / b_.splits, end = b_.chunks * (split + 1) / b_.splits;
  const std::size_t x0 = static_cast<std::size_t>(xc * b_.x_per_cut), y0 = static_cast<std::size_t>(yc * b_.dy_per_cut);
  const std::size_t x1 = std::min(b_.x_blocks.size(), x0 + static_cast<std::size_t>(b_.x_per_cut));
  const std::size_t y1 = std::min(b_.dy_blocks.size(), y0 + static_cast<std::size_t>(b_.dy_per_cut));

  float* x_strip = call.scratch + slot * call.scratch_floats;
  float* y_strip = x_strip + b_.x_floats;
  float* dw =
      (store_direct_ ? static_cast<float*>(call.args->outputs[0]) : call.dw + split * dw_floats_) + group * group_floats_;
  const std::int64_t length = group_floats_ / (g_.oc * b_.taps);
  const FloatAxis &h = g_.axis[1], &w = g_.axis[2];
  const std::int64_t x_panel = b_.x_points * b_.x_pitch, y_panel = b_.dy_points * b_.dy_pitch;

  for (std::int64_t index = begin; index < end; ++index) {
    const Chunk c = chunk(index);
    StripBox box;
    box.count = {1, c.rows, c.columns};
    box.output = {c.plane, c.row, c.column};
    for (std::int64_t i = 0; i < c.images; ++i) {
      box.image = c.image + i;
      if (!b_.x_direct) {
        box.pitch = b_.x_pitch;
        box.row = w.extent(b_.columns) * box.pitch;
        box.plane = h.extent(b_.rows) * box.row;
        pack_blocks(kernels_, g_, call.args->x, box, b_.x_blocks, x0, b_.merged ? x0 + 1 : x1, b_.merged ? g_.ic : 0,
                    group * g_.ic, x_strip + i * b_.x_image * b_.x_pitch, x_panel);
      }
      if (!b_.dy_direct) {
        box.pitch = b_.dy_pitch;
        box.row = b_.columns * box.pitch;
        box.plane = b_.rows * box.row;
        pack_blocks(kernels_, dy_, call.args->y, box, b_.dy_blocks, y0, y1, 0, group * g_.oc,
                    y_strip + i * b_.dy_image * b_.dy_pitch, y_panel);
      }
    }
    Ahead ahead;
    if (ask_ahead_ && index + 1 < end) ahead = next_chunk(call, chunk(index + 1), group);

    // Steps of either side, in floats: from image to image, row to row, point to point, and of one tap point.
    struct Side {
      const float* base;
      std::int64_t image, row, point;
    } x, y;
    if (b_.x_direct) {
      x = {static_cast<const float*>(call.args->x) + c.image * g_.in.stride[0] +
               c.plane * g_.axis[0].in_step * g_.in_stride[0] + c.row * h.in_step * g_.in_stride[1] +
               c.column * w.in_step * g_.in_stride[2] + group * g_.ic,
           g_.in.stride[0], h.in_step * g_.in_stride[1], w.in_step * g_.in_stride[2]};
    } else {
      x = {x_strip, b_.x_image * b_.x_pitch, h.strip_step() * w.extent(b_.columns) * b_.x_pitch, w.strip_step() * b_.x_pitch};
    }
    if (b_.dy_direct) {
      y = {static_cast<const float*>(call.args->y) + c.image * dy_.in.stride[0] + c.plane * dy_.in_stride[0] +
               c.row * dy_.in_stride[1] + c.column * dy_.in_stride[2] + group * g_.oc,
           dy_.in.stride[0], dy_.in_stride[1], dy_.in_stride[2]};
    } else {
      y = {y_strip, b_.dy_image * b_.dy_pitch, b_.columns * b_.dy_pitch, b_.dy_pitch};
    }

    OuterArgs o;
    o.images = c.images;
    o.accumulate = index > begin;
    const Side &a = b_.x_vectors ? y : x, &b = b_.x_vectors ? x : y;
    o.a_image = a.image * kFloat, o.a_segment = a.row * kFloat, o.a_step = a.point * kFloat;
    o.b_image = b.image * kFloat, o.b_segment = b.row * kFloat, o.b_step = b.point * kFloat;
    o.c_row = (b_.x_vectors ? b_.taps * length : g_.oc) * kFloat;
    const std::int64_t tap_floats = b_.x_direct ? 1 : b_.x_pitch;
    const auto one = [&](std::size_t xb, std::size_t yb) {
      const RunBlock &rx = b_.x_blocks[xb], &ry = b_.dy_blocks[yb];
      const float* xp = x.base + (b_.x_direct || b_.merged ? rx.first : static_cast<std::int64_t>(xb - x0) * x_panel);
      const float* yp = y.base + (b_.dy_direct ? ry.first : static_cast<std::int64_t>(yb - y0) * y_panel);
      for (std::int64_t t = 0; t < b_.taps; ++t) {
        const Tap& tap = taps_[static_cast<std::size_t>(t)];
        const float* xt = xp + tap.point * tap_floats;
        const float* yt = yp;
        // Points whose tap falls into padding are left out: 0 * dy need not be 0.
        Range plane{0, 1}, rows{0, c.rows}, columns{0, c.columns};
        if (!b_.x_direct && !b_.merged) {
          plane = inside(g_.axis[0], c.plane, 1, tap.offset[0]);
          rows = inside(h, c.row, c.rows, tap.offset[1]);
          columns = inside(w, c.column, c.columns, tap.offset[2]);
        }
        o.segments = plane.size() * rows.size();
        o.depth = columns.size();
        if (o.accumulate && o.segments * o.depth == 0) continue;
        xt += rows.begin * x.row + columns.begin * x.point;
        yt += rows.begin * y.row + columns.begin * y.point;
        ahead.take(o);
        if (b_.x_vectors) {
          o.a = yt, o.b = xt;
          o.c = dw + (ry.first * b_.taps + t) * length + rx.first;
          o.tail = rx.tail;
          kernels_.outer(static_cast<int>(ry.count), rx.vectors, o);
        } else {
          o.a = xt, o.b = yt;
          o.c = dw + (t * length + rx.first) * g_.oc + ry.first;
          o.tail = ry.tail;
          kernels_.outer(static_cast<int>(rx.count), ry.vectors, o);
        }
      }
    };
    if (b_.x_vectors) {
      for (std::size_t xb = x0; xb < x1; ++xb) {
        for (std::size_t yb = y0; yb < y1; ++yb) one(xb, yb);
      }
    } else {
      for (std::size_t yb = y0; yb < y1; ++yb) {
        for (std::size_t xb = x0; xb < x1; ++xb) one(xb, yb);
      }
    }
  }
}

// Adds the splits in order and hands rows of dw to the epilogue. One item: up to kFinishRows of a group's k.
void WgradFloatPlan::finish(const Call& call, std::int64_t item, int slot) const {
  const std::int64_t per_group = ceil_div(g_.oc, kFinishRows);
  const std::int64_t group = item / per_group, k0 = item % per_group * kFinishRows, k1 = std::min(g_.oc, k0 + kFinishRows);
  const std::int64_t per_k = group_floats_ / g_.oc;
  float* dw = call.dw + group * group_floats_;
  float* rows = dw + k0 * per_k;
  std::int64_t pitch = per_k;
  if (b_.chunks == 0) {
    rows = call.scratch + slot * call.scratch_floats;
    std::fill(rows, rows + (k1 - k0) * per_k, 0.0f);
  } else if (b_.x_vectors) {
    const std::int64_t n = (k1 - k0) * per_k;
    for (std::int64_t s = 1; s < b_.splits; ++s) {
      const float* more = rows + s * dw_floats_;
      for (std::int64_t i = 0; i < n; ++i) rows[i] += more[i];
    }
  } else {
    rows = call.scratch + slot * call.scratch_floats;
    pitch = per_k + 16;  // sixteen rows of a power of two would share cache sets
    for (std::int64_t i = 0; i < per_k; ++i) {
      float sum[kFinishRows];
      const float* from = dw + i * g_.oc + k0;
      for (std::int64_t k = 0; k < k1 - k0; ++k) sum[k] = from[k];
      for (std::int64_t s = 1; s < b_.splits; ++s) {
        for (std::int64_t k = 0; k < k1 - k0; ++k) sum[k] += from[s * dw_floats_ + k];
      }
      for (std::int64_t k = 0; k < k1 - k0; ++k) rows[k * pitch + i] = sum[k];
    }
  }
  // A flipped filter axis is walked backwards: taps are stored in the order of their offsets.
  const AxisPhase* phase[3] = {&g_.axis[0].phases[0], &g_.axis[1].phases[0], &g_.axis[2].phases[0]};
  const std::int64_t size[3] = {static_cast<std::int64_t>(phase[0]->filter.size()),
                                static_cast<std::int64_t>(phase[1]->filter.size()),
                                static_cast<std::int64_t>(phase[2]->filter.size())};
  const bool backwards = size[2] > 1 && phase[2]->filter[0] != 0;
  Rows r;
  r.channels = g_.ic;
  r.count = size[2];
  for (std::int64_t k = k0; k < k1; ++k) {
    r.outer = group * g_.oc + k;
    for (std::int64_t td = 0; td < size[0]; ++td) {
      for (std::int64_t th = 0; th < size[1]; ++th) {
        set_point(r, g_.spatial, phase[0]->filter[static_cast<std::size_t>(td)], phase[1]->filter[static_cast<std::size_t>(th)],
                  0);
        const float* at = rows + (k - k0) * pitch + (td * size[1] + th) * size[2] * g_.ic;
        if (backwards) {
          epilogue_.run(call.bound, r, at + (size[2] - 1) * g_.ic, -static_cast<std::ptrdiff_t>(g_.ic));
        } else {
          epilogue_.run(call.bound, r, at, static_cast<std::ptrdiff_t>(g_.ic));
        }
      }
    }
  }
}

error_t WgradFloatPlan::execute(const Args& args) const {
  Call call;
  call.args = &args;
  const auto address = reinterpret_cast<std::uintptr_t>(args.workspace);
  std::byte* at = reinterpret_cast<std::byte*>((address + 63) / 64 * 64);
  call.bound = epilogue_.bind(args, at);
  float* floats = reinterpret_cast<float*>(at + round_up(static_cast<std::int64_t>(epilogue_.workspace_bytes()), 64));
  call.dw = floats;
  if (!store_direct_) floats += b_.splits * dw_floats_ + 16;
  call.scratch = floats;
  call.scratch_floats = std::max(b_.x_floats + b_.dy_floats, finish_floats());
  const auto drain = [&](std::int64_t items, auto&& work) {
    std::atomic<std::int64_t> next{0};
    parallel_for(std::min<std::int64_t>(slots_, items), [&](std::int64_t slot, int) {
      for (std::int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < items;) work(i, static_cast<int>(slot));
    });
  };
  if (b_.chunks > 0) drain(b_.tasks, [&](std::int64_t i, int slot) { run_task(call, i, slot); });
  if (careful_ && b_.chunks > 0) {
    const float* dw = store_direct_ ? static_cast<const float*>(args.outputs[0]) : call.dw;
    bool nan = false;
    for (std::int64_t s = 0; s < b_.splits; ++s) {
      for (std::int64_t i = 0; i < group_floats_ * g_.groups; ++i) nan = nan || std::isnan(dw[s * dw_floats_ + i]);
    }
    if (nan) return careful_->execute(args);
  }
  if (!store_direct_ && group_floats_ > 0) {
    drain(g_.groups * ceil_div(g_.oc, kFinishRows), [&](std::int64_t i, int slot) { finish(call, i, slot); });
  }
  return {};
}

namespace {

Verdict accepts(const Problem& problem, const DeviceTraits&) {
  if (std::string why = float_objection(problem, Direction::wgrad, Direction::wgrad); !why.empty())
    return Verdict::no(std::move(why));
  return Verdict::yes();
}

std::vector<Candidate> candidates(const Problem& problem, const DeviceTraits& device) {
  const Problem merged = merge_pointwise(problem);
  const FloatGeometry g = float_geometry(merged);
  const F32Kernels& kernels = f32_kernels(device.isa);
  std::vector<Candidate> list;
  for (const bool x_vectors : {true, false}) {
    for (int v = 1; v <= kernels.max_vectors; ++v) {
      for (const bool direct : {false, true}) {
        const WgradBlocking b = choose_wgrad(g, merged, kernels, device, x_vectors, v, direct);
        if (direct && !b.x_direct && !b.dy_direct) continue;
        list.push_back({std::string(x_vectors ? "x" : "y") + std::to_string(v) + (direct ? "d" : "p"), b.cost_us});
      }
    }
  }
  std::stable_sort(list.begin(), list.end(), [](const Candidate& a, const Candidate& b) { return a.cost_us < b.cost_us; });
  return list;
}

error_t build(const Problem& problem, const std::string& config, const DeviceTraits& device, const BuildOptions&,
              std::unique_ptr<Plan>& plan) {
  const int most = f32_kernels(device.isa).max_vectors;
  const bool legal = config.size() == 3 && (config[0] == 'x' || config[0] == 'y') && config[1] >= '1' &&
                     config[1] <= '0' + most && (config[2] == 'd' || config[2] == 'p');
  if (!legal) {
    return {error_code_t::INVALID_VALUE, "Config '" + config + "' of path wgrad_float must be x or y, 1 to " +
                                             std::to_string(most) + ", and p or d; take it from plan_specs()."};
  }
  auto wgrad = std::make_unique<WgradFloatPlan>(problem, device, config[0] == 'x', config[1] - '0', config[2] == 'd');
  OCTAVO_RETURN_IF_ERROR(wgrad->prepare());
  plan = std::move(wgrad);
  return {};
}

}  // namespace

extern const Path kWgradFloat;
const Path kWgradFloat{"wgrad_float", accepts, candidates, build};

}  // namespace octavo::cpu_native
