// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#include "engines/cpu_native/direct_float_lanes.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <memory>

#include "core/parallel.h"
#include "engines/cpu_native/epilogue.h"
#include "engines/cpu_native/path.h"

namespace octavo::cpu_native {

std::vector<LaneBlock> lane_blocks(const FloatGeometry& g, int lanes) {
  std::vector<LaneBlock> blocks;
  const std::int64_t channels = g.groups * g.oc;
  for (std::int64_t c = 0; c < channels; c += lanes) {
    LaneBlock b;
    b.first = c;
    b.count = std::min<std::int64_t>(lanes, channels - c);
    const std::int64_t first_group = c / g.oc, last_group = (c + b.count - 1) / g.oc;
    b.in_first = first_group * g.ic;
    b.in_count = (last_group - first_group + 1) * g.ic;
    b.index.assign(static_cast<std::size_t>(g.ic * lanes), 0);
    for (std::int64_t j = 0; j < g.ic; ++j) {
      for (std::int64_t l = 0; l < b.count; ++l) {
        b.index[static_cast<std::size_t>(j * lanes + l)] = static_cast<std::int32_t>(((c + l) / g.oc - first_group) * g.ic + j);
      }
    }
    blocks.push_back(std::move(b));
  }
  return blocks;
}

std::string lanes_objection(const FloatGeometry& g) {
  if (g.groups == 1) return "is for several groups, and there is one";
  if (g.oc > 8 || g.ic > 8) {
    return "is for groups of up to 8 channels, not " + std::to_string(g.ic) + " in and " + std::to_string(g.oc) + " out";
  }
  if (g.ic == 0 || g.oc == 0) return "needs at least one channel a group";
  return {};
}

void pack_lanes(const F32Kernels& kernels, const FloatGeometry& g, const void* in, const LaneBlock* begin, const LaneBlock* end,
                StripBox box, float* plain, float* dst) {
  box.channel = begin->in_first;
  box.channels = end[-1].in_first + end[-1].in_count - begin->in_first;
  if (plain_lanes(g)) {
    pack_strip(kernels, g, in, box, dst);
    return;
  }
  const std::int64_t columns = g.axis[2].extent(box.count[2]);
  const std::int64_t pixel = box.pitch;
  box.pitch = box.channels;
  const std::int64_t planes = g.axis[0].extent(box.count[0]), rows = g.axis[1].extent(box.count[1]);
  for (std::int64_t jd = 0; jd < planes; ++jd) {
    if (!strip_row_needed(g.axis[0], jd, box.count[0])) continue;
    for (std::int64_t jh = 0; jh < rows; ++jh) {
      if (!strip_row_needed(g.axis[1], jh, box.count[1])) continue;
      pack_strip_row(kernels, g, in, box, jd, jh, plain);
      float* at = dst + jd * box.plane + jh * box.row;
      for (const LaneBlock* b = begin; b < end; ++b, at += kernels.lanes) {
        kernels.expand(at, pixel, plain + b->in_first - box.channel, box.channels, b->in_count <= kernels.lanes,
                       b->index.data(), g.ic, columns);
      }
    }
  }
}

namespace {

constexpr std::int64_t kFloat = sizeof(float);

struct LaneBlocking {
  std::array<std::int64_t, 3> points{1, 1, 1}, cuts{0, 0, 0};
  std::int64_t blocks = 1, block_cuts = 0;  // of a task
  std::int64_t pitch = 0, row = 0, plane = 0, strip_floats = 0, plain_floats = 0, row_floats = 0;
  std::int64_t tasks = 0, segments = 0, segment_bytes = 0;
  bool in_place = false;  // no strip: taps that fall outside the image are left out point by point
  double cost_us = 1;
};

LaneBlocking choose_lanes(const FloatGeometry& g, const F32Kernels& kernels, const DeviceTraits& device) {
  LaneBlocking b;
  const std::int64_t blocks = ceil_div(g.groups * g.oc, kernels.lanes);
  const FloatAxis &d = g.axis[0], &h = g.axis[1], &w = g.axis[2];
  if (g.n == 0 || d.points == 0 || h.points == 0 || w.points == 0) return b;
  // The strip of two blocks stays in the first-level cache; with several inputs a lane, in the second.
  const std::int64_t budget = (g.ic == 1 ? device.l1d_bytes / 2 : device.l2_bytes / 8) / kFloat;
  b.in_place = plain_lanes(g) && g.in.type == DataType_t::FLOAT && g.in.vector == 1 && g.in.stride[1] == 1 &&
               g.groups % kernels.lanes == 0;
  // One row has as many runs as points at most, each with its own list of taps.
  std::int64_t most_taps = 1;
  for (std::int64_t c = 0; c < g.combos(); ++c) most_taps = std::max(most_taps, g.taps(c));
  b.in_place = b.in_place && w.out * most_taps <= 8192 && d.steps() == 1;
  b.pitch = 2 * g.ic * kernels.lanes;
  const auto floats = [&](std::int64_t rows, std::int64_t columns) {
    return d.extent(1) * h.extent(rows) * w.extent(columns) * b.pitch;
  };
  b.points = {1, h.points, w.points};
  const std::int64_t some_rows = std::min<std::int64_t>(4, h.points);
  const std::int64_t tile = kernels.max_lane_rows / 2;
  if (b.in_place) b.points[1] = std::min<std::int64_t>(h.points, 8);
  while (!b.in_place && b.points[2] > 2 * tile && floats(some_rows, b.points[2]) > budget)
    b.points[2] = round_up(ceil_div(b.points[2], 2), tile);
  while (!b.in_place && b.points[1] > some_rows && floats(b.points[1], b.points[2]) > budget) --b.points[1];
  // All blocks of a task read neighbouring memory; what they read together should stay in the second level.
  const std::int64_t block_bytes = floats(b.points[1], b.points[2]) / (2 * g.ic) * 8;
  b.blocks = round_up(std::clamp<std::int64_t>(device.l2_bytes / 2 / std::max<std::int64_t>(block_bytes, 1), 4, blocks), 2);
  const std::int64_t threads = std::max(1, device.threads);
  const std::int64_t boxes = g.n * d.points * ceil_div(h.points, b.points[1]) * ceil_div(w.points, b.points[2]);
  while (threads > 1 && b.blocks > 4 && boxes * ceil_div(blocks, b.blocks) < 4 * threads)
    b.blocks = round_up(ceil_div(b.blocks, 2), 2);
  b.block_cuts = ceil_div(blocks, b.blocks);
  b.cuts = {d.points, ceil_div(h.points, b.points[1]), ceil_div(w.points, b.points[2])};
  b.row = w.extent(b.points[2]) * b.pitch;
  b.plane = h.extent(b.points[1]) * b.row;
  b.strip_floats = b.in_place ? 0 : round_up(d.extent(1) * b.plane, 16) + 16;
  b.plain_floats = round_up(w.extent(b.points[2]) * (2 * kernels.lanes + 2) * g.ic, 16) + 2 * F32Kernels::kMaxLanes;
  if (b.in_place) {
    b.segments = b.points[1] * h.steps() * (w.out + 1);
    b.segment_bytes =
        b.segments * 64 + b.points[1] * h.steps() * 8 + b.points[1] * h.steps() * (w.out + w.steps()) * most_taps * 16;
  }
  b.row_floats = round_up(b.points[2] * w.steps() * kernels.lanes * 2, 16) + 16;
  b.tasks = g.n * b.block_cuts * b.cuts[0] * b.cuts[1] * b.cuts[2];
  double cycles = 0;
  for (std::int64_t c = 0; c < g.combos(); ++c) {
    double outputs = static_cast<double>(g.n * blocks);
    for (int a = 0; a < 3; ++a) outputs *= static_cast<double>(g.phase(a, c).outputs);
    cycles += outputs * ((g.ic == 1 ? 0.6 : 1.8) * static_cast<double>(g.taps(c) * g.ic) + 2.0);
  }
  if (!b.in_place)
    cycles +=
        static_cast<double>(boxes * blocks) * static_cast<double>(floats(b.points[1], b.points[2]) / kernels.lanes) * 0.75;
  if (kernels.lanes < 8) cycles *= 2;
  const double busy = static_cast<double>(std::min(threads, b.tasks));
  const double bytes =
      static_cast<double>(g.in.span_bytes()) + static_cast<double>(g.n * g.groups * g.oc * d.out * h.out * w.out) * 4.0;
  b.cost_us = 1.0 + std::max(cycles / 2600.0 / busy, bytes / 12000.0 / std::min(busy, 8.0));
  return b;
}

class LanesFloatPlan final : public Plan {
 public:
  LanesFloatPlan(const Problem& problem, const DeviceTraits& device)
      : problem_(problem), device_(device), kernels_(f32_kernels(device.isa)), g_(float_geometry(problem)) {
    b_ = choose_lanes(g_, kernels_, device);
    blocks_ = lane_blocks(g_, kernels_.lanes);
    slots_ = std::max(1, device.threads);
  }

  error_t prepare(const BuildOptions& options) {
    OCTAVO_RETURN_IF_ERROR(epilogue_.compile(problem_, kernels_, device_.isa));
    store_direct_ = epilogue_.in_place();
    for (std::int64_t c = 0; c < g_.combos(); ++c) {
      Combo combo;
      combo.filter = filter_floats_;
      const AxisPhase &pd = g_.phase(0, c), &ph = g_.phase(1, c), &pw = g_.phase(2, c);
      for (const std::int64_t od : pd.offset) {
        for (const std::int64_t oh : ph.offset) {
          for (const std::int64_t ow : pw.offset) {
            combo.taps.push_back(kFloat * (g_.axis[0].strip_offset(od) * b_.plane + g_.axis[1].strip_offset(oh) * b_.row +
                                           g_.axis[2].strip_offset(ow) * b_.pitch));
          }
        }
      }
      combo.block_floats = g_.taps(c) * g_.ic * kernels_.lanes;
      filter_floats_ += combo.block_floats * static_cast<std::int64_t>(blocks_.size());
      combos_.push_back(std::move(combo));
    }
    if (options.constant_filter != nullptr) {
      storage_ = std::make_unique<float[]>(static_cast<std::size_t>(filter_floats_) + 16);
      float* packed = reinterpret_cast<float*>((reinterpret_cast<std::uintptr_t>(storage_.get()) + 63) / 64 * 64);
      constant_finite_ = pack_filter(options.constant_filter, packed);
      constant_ = packed;
    }
    return {};
  }

  std::size_t workspace_bytes() const override {
    return 64 + static_cast<std::size_t>(round_up(static_cast<std::int64_t>(epilogue_.workspace_bytes()), 64) +
                                         kFloat * ((constant_ ? 0 : round_up(filter_floats_, 16)) + slots_ * slot_floats()));
  }

  error_t execute(const Args& args) const override {
    std::byte* at = reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(args.workspace) + 63) / 64 * 64);
    const TileEpilogue::Bound bound = epilogue_.bind(args, at);
    float* floats = reinterpret_cast<float*>(at + round_up(static_cast<std::int64_t>(epilogue_.workspace_bytes()), 64));
    const float* filter = constant_;
    bool finite = constant_finite_;
    if (filter == nullptr) {
      finite = pack_filter(args.w, floats);
      filter = floats;
      floats += round_up(filter_floats_, 16);
    }
    std::atomic<std::int64_t> next{0};
    parallel_for(std::min<std::int64_t>(slots_, b_.tasks), [&](std::int64_t slot, int) {
      for (std::int64_t task; (task = next.fetch_add(1, std::memory_order_relaxed)) < b_.tasks;) {
        run_task(args, bound, filter, finite, floats + slot * slot_floats(), task);
      }
    });
    return {};
  }

  std::string describe() const override {
    return "channels in lanes, rows of " + std::to_string(kernels_.max_lane_rows) + ", " + std::to_string(b_.tasks) + " tasks";
  }

 private:
  struct Combo {
    std::vector<std::int64_t> taps;
    std::int64_t filter = 0, block_floats = 0;
  };

  /// A row for filters with infinities or NaN: 0 * inf from padding must not enter the sum, so taps in padding are left out.
  void careful_row(const LanesArgs& t, std::int64_t combo, std::int64_t d, std::int64_t h, std::int64_t w, std::int64_t columns,
                   int vectors, float* out) const {
    const AxisPhase &pd = g_.phase(0, combo), &ph = g_.phase(1, combo), &pw = g_.phase(2, combo);
    const int lanes = kernels_.lanes;
    const auto inside = [&](int a, std::int64_t i, std::int64_t offset) {
      const std::int64_t at = i * g_.axis[static_cast<std::size_t>(a)].in_step + offset;
      return at >= 0 && at < g_.axis[static_cast<std::size_t>(a)].in;
    };
    for (std::int64_t i = 0; i < columns; ++i) {
      for (std::int64_t l = 0; l < vectors * lanes; ++l) {
        if (t.tail != 0 && l >= (vectors - 1) * lanes + t.tail) break;
        float sum = 0;
        std::size_t tap = 0;
        for (const std::int64_t od : pd.offset) {
          for (const std::int64_t oh : ph.offset) {
            for (const std::int64_t ow : pw.offset) {
              const std::int64_t offset = t.taps[tap] + i * t.a_row;
              const float* b =
                  t.b + l / lanes * (t.b_vector / kFloat) + static_cast<std::int64_t>(tap++) * t.depth * lanes + l % lanes;
              if (!inside(0, d, od) || !inside(1, h, oh) || !inside(2, w + i, ow)) continue;
              const float* a = static_cast<const float*>(t.a) + offset / kFloat + l;
              for (std::int64_t j = 0; j < t.depth; ++j) sum += a[j * 2 * lanes] * b[j * lanes];
            }
          }
        }
        out[i * (t.c_row / kFloat) + l] = sum;
      }
    }
  }

  /// A run of points of one output row, in place: what is the same for every block of channels.
  struct Segment {
    std::int64_t a = 0, out = 0;  // floats from the image and from the row's first point
    const PointsArgs::Tap* taps = nullptr;
    std::int64_t n_taps = 0, combo = 0;
    int points = 0;
  };

  /// The segments of one phase of one row; w: its first output point. Columns that see the whole filter go in tiles, those
  /// at an edge one by one with the taps that they have.
  void plan_row(std::int64_t combo, std::int64_t d, std::int64_t h, std::int64_t w, std::int64_t columns,
                std::int64_t out_first, std::int64_t out_step, PointsArgs::Tap*& taps, Segment*& segment) const {
    const AxisPhase &pd = g_.phase(0, combo), &ph = g_.phase(1, combo), &pw = g_.phase(2, combo);
    const std::int64_t step = g_.axis[2].in_step, in_w = g_.axis[2].in, pixel = step * g_.in_stride[2];
    const auto list = [&](std::int64_t column) {  // column < 0: all taps
      PointsArgs::Tap* begin = taps;
      std::int64_t at = 0;  // tap index in the packed filter
      for (const std::int64_t od : pd.offset) {
        const std::int64_t in_d = d * g_.axis[0].in_step + od;
        for (const std::int64_t oh : ph.offset) {
          const std::int64_t in_h = h * g_.axis[1].in_step + oh;
          const bool inside = in_d >= 0 && in_d < g_.axis[0].in && in_h >= 0 && in_h < g_.axis[1].in;
          for (const std::int64_t ow : pw.offset) {
            const std::int64_t filter = at++;
            if (!inside || (column >= 0 && (column * step + ow < 0 || column * step + ow >= in_w))) continue;
            *taps++ = {kFloat * (in_d * g_.in_stride[0] + in_h * g_.in_stride[1] + ow * g_.in_stride[2]),
                       kFloat * kernels_.lanes * filter};
          }
        }
      }
      return begin;
    };
    const auto add = [&](std::int64_t i, std::int64_t points, const PointsArgs::Tap* begin) {
      *segment++ = {(w + i) * pixel, out_first + i * out_step, begin, taps - begin, combo, static_cast<int>(points)};
    };
    const std::int64_t front = pw.offset.empty() ? 0 : -pw.offset.front(),
                       back = pw.offset.empty() ? in_w - 1 : in_w - 1 - pw.offset.back();
    const std::int64_t low = std::clamp<std::int64_t>((front > 0 ? ceil_div(front, step) : 0) - w, 0, columns);
    const std::int64_t high = std::clamp<std::int64_t>((back < 0 ? 0 : back / step + 1) - w, low, columns);
    for (std::int64_t i = 0; i < low; ++i) add(i, 1, list(w + i));
    if (high > low) {
      const PointsArgs::Tap* begin = list(-1);
      const std::int64_t n = high - low, tiles = ceil_div(n, kernels_.max_lane_rows / 2);
      for (std::int64_t tile = 0, i = low; tile < tiles; ++tile) {
        const std::int64_t points = n / tiles + (tile < n % tiles ? 1 : 0);
        add(i, points, begin);
        i += points;
      }
    }
    for (std::int64_t i = high; i < columns; ++i) add(i, 1, list(w + i));
  }

  std::int64_t slot_floats() const {
    return b_.strip_floats + b_.plain_floats + b_.row_floats + round_up(b_.segment_bytes, 64) / kFloat;
  }

  /// False: some weight is infinite or NaN.
  bool pack_filter(const void* w, float* packed) const {
    std::atomic<bool> finite{true};
    const std::int64_t n = static_cast<std::int64_t>(blocks_.size()), bytes = element_bytes(g_.filter.type);
    const int lanes = kernels_.lanes;
    parallel_for(n * g_.combos(), [&](std::int64_t item, int) {
      const std::int64_t c = item / n;
      const LaneBlock& block = blocks_[static_cast<std::size_t>(item % n)];
      float* dst =
          packed + combos_[static_cast<std::size_t>(c)].filter + item % n * combos_[static_cast<std::size_t>(c)].block_floats;
      for (const std::int64_t fd : g_.phase(0, c).filter) {
        for (const std::int64_t fh : g_.phase(1, c).filter) {
          for (const std::int64_t fw : g_.phase(2, c).filter) {
            const std::int64_t tap = fd * g_.filter_stride[0] + fh * g_.filter_stride[1] + fw * g_.filter_stride[2];
            for (std::int64_t j = 0; j < g_.ic; ++j, dst += lanes) {
              for (std::int64_t l = 0; l < lanes; ++l) {
                dst[l] = 0;
                if (l >= block.count) continue;
                const std::int64_t k = block.first + l;
                kernels_.widen(dst + l, static_cast<const char*>(w) + (tap + g_.filter_offset(k / g_.oc, k % g_.oc, j)) * bytes,
                               1, g_.filter.type);
                if (!std::isfinite(dst[l])) finite.store(false, std::memory_order_relaxed);
              }
            }
          }
        }
      }
    });
    return finite.load();
  }

  void run_task(const Args& args, const TileEpilogue::Bound& bound, const float* filter, bool finite, float* scratch,
                std::int64_t task) const {
    const std::int64_t n_blocks = static_cast<std::int64_t>(blocks_.size());
    const std::int64_t begin = task % b_.block_cuts * b_.blocks, end = std::min(n_blocks, begin + b_.blocks);
    std::int64_t rest = task / b_.block_cuts;
    std::array<std::int64_t, 3> first, count, out_first, out_end;
    for (int a = 2; a >= 0; --a) {
      const FloatAxis& axis = g_.axis[static_cast<std::size_t>(a)];
      const std::size_t s = static_cast<std::size_t>(a);
      first[s] = rest % b_.cuts[s] * b_.points[s];
      rest /= b_.cuts[s];
      count[s] = std::min(b_.points[s], axis.points - first[s]);
      out_first[s] = first[s] * axis.steps();
      out_end[s] = std::min(axis.out, (first[s] + count[s]) * axis.steps());
    }
    const std::int64_t image = rest;
    float* strip = scratch;
    float* plain = strip + b_.strip_floats;
    float* acc = plain + b_.plain_floats;
    StripBox box;
    box.image = image;
    box.output = first;
    box.count = count;
    box.pitch = b_.pitch;
    box.row = b_.row;
    box.plane = b_.plane;
    const void* in = g_.dgrad ? args.y : args.x;
    const LaneBlock &head = blocks_[static_cast<std::size_t>(begin)], &foot = blocks_[static_cast<std::size_t>(end - 1)];
    const bool big = g_.in.span_bytes() > device_.l2_bytes;
    if (big) prefetch_box(g_, in, box, head.in_first, foot.in_first + foot.in_count - head.in_first);
    if (big && store_direct_ && epilogue_.pixel_stride() >= 160) {
      for (std::int64_t oh = out_first[1]; oh < out_end[1]; ++oh) {
        Rows r;
        r.outer = image;
        set_point(r, g_.spatial, out_first[0], oh, out_first[2]);
        r.channel = head.first;
        const char* at = static_cast<const char*>(epilogue_.address(args, r));
        for (std::int64_t j = out_first[2]; j < out_end[2]; ++j, at += epilogue_.pixel_stride() * kFloat) {
          for (std::int64_t b = 0; b < (foot.first + foot.count - head.first) * kFloat; b += 64)
            __builtin_prefetch(at + b, 1, 2);
        }
      }
    }
    const int lanes = kernels_.lanes;
    const std::int64_t steps_w = g_.axis[2].steps();
    // In place: the runs of every row, once for all blocks.
    Segment* const segments = reinterpret_cast<Segment*>(acc + b_.row_floats);
    std::int64_t* const row_end = reinterpret_cast<std::int64_t*>(segments + b_.segments);
    if (b_.in_place) {
      PointsArgs::Tap* taps = reinterpret_cast<PointsArgs::Tap*>(row_end + b_.points[1] * g_.axis[1].steps());
      Segment* segment = segments;
      for (std::int64_t oh = out_first[1]; oh < out_end[1]; ++oh) {
        for (std::int64_t pw = 0; pw < steps_w; ++pw) {
          const std::int64_t c =
              (out_first[0] % g_.axis[0].steps() * g_.axis[1].steps() + oh % g_.axis[1].steps()) * steps_w + pw;
          const std::int64_t columns = std::min(first[2] + count[2], g_.phase(2, c).outputs) - first[2];
          if (columns > 0) {
            plan_row(c, out_first[0] / g_.axis[0].steps(), oh / g_.axis[1].steps(), first[2], columns, pw, steps_w, taps,
                     segment);
          }
        }
        row_end[oh - out_first[1]] = segment - segments;
      }
    }
    for (std::int64_t bi = begin; bi < end; bi += 2) {
      const int vectors = bi + 1 < end ? 2 : 1;
      if (!b_.in_place) pack_lanes(kernels_, g_, in, blocks_.data() + bi, blocks_.data() + bi + vectors, box, plain, strip);
      for (std::int64_t od = out_first[0]; od < out_end[0]; ++od) {
        for (std::int64_t oh = out_first[1]; oh < out_end[1]; ++oh) {
          const std::int64_t pd = od % g_.axis[0].steps(), ph = oh % g_.axis[1].steps();
          const std::int64_t di = od / g_.axis[0].steps(), hi = oh / g_.axis[1].steps();
          const float* a =
              strip + (di - first[0]) * g_.axis[0].strip_step() * b_.plane + (hi - first[1]) * g_.axis[1].strip_step() * b_.row;
          const LaneBlock &block = blocks_[static_cast<std::size_t>(bi)],
                          &last = blocks_[static_cast<std::size_t>(bi + vectors - 1)];
          Rows r;
          r.outer = image;
          set_point(r, g_.spatial, od, oh, out_first[2]);
          r.count = out_end[2] - out_first[2];
          r.channel = block.first;
          r.channels = block.count + (vectors == 2 ? last.count : 0);
          float* out = store_direct_ ? static_cast<float*>(epilogue_.address(args, r)) : acc;
          const std::int64_t out_stride = store_direct_ ? epilogue_.pixel_stride() : vectors * lanes;
          if (b_.in_place) {
            const float* image_at = static_cast<const float*>(in) + image * g_.in.stride[0] + block.first;
            const std::int64_t row = oh - out_first[1];
            PointsArgs p;
            p.a_row = kFloat * g_.axis[2].in_step * g_.in_stride[2];
            p.c_row = kFloat * out_stride * steps_w;
            for (const Segment *q = segments + (row == 0 ? 0 : row_end[row - 1]), *last_segment = segments + row_end[row];
                 q < last_segment; ++q) {
              const Combo& combo = combos_[static_cast<std::size_t>(q->combo)];
              p.a = image_at + q->a;
              p.taps = q->taps;
              p.n_taps = q->n_taps;
              p.b = filter + combo.filter + bi * combo.block_floats;
              p.b_vector = kFloat * combo.block_floats;
              p.c = out + q->out * out_stride;
              kernels_.lane_points(q->points, vectors, p);
            }
          }
          for (std::int64_t pw = 0; pw < (b_.in_place ? 0 : steps_w); ++pw) {
            const std::int64_t c = (pd * g_.axis[1].steps() + ph) * steps_w + pw;
            const Combo& combo = combos_[static_cast<std::size_t>(c)];
            const std::int64_t columns = std::min(first[2] + count[2], g_.phase(2, c).outputs) - first[2];
            if (columns <= 0) continue;
            const std::int64_t pixel = b_.pitch * g_.axis[2].strip_step();
            LanesArgs t;
            t.a_row = pixel * kFloat;
            t.taps = combo.taps.data();
            t.n_taps = static_cast<std::int64_t>(combo.taps.size());
            t.depth = g_.ic;
            t.b = filter + combo.filter + bi * combo.block_floats;
            t.b_vector = combo.block_floats * kFloat;
            t.c_row = out_stride * steps_w * kFloat;
            t.tail = store_direct_ && last.count < lanes ? static_cast<int>(last.count) : 0;
            if (!finite) {
              t.a = a;
              careful_row(t, c, di, hi, first[2], columns, vectors, out + pw * out_stride);
              continue;
            }
            const std::int64_t tiles = ceil_div(columns, kernels_.max_lane_rows / vectors);
            for (std::int64_t tile = 0, at = 0; tile < tiles; ++tile) {
              const std::int64_t rows = columns / tiles + (tile < columns % tiles ? 1 : 0);
              t.a = a + at * pixel;
              t.c = out + (pw + at * steps_w) * out_stride;
              kernels_.lane_rows(static_cast<int>(rows), vectors, t);
              at += rows;
            }
          }
          if (!store_direct_) epilogue_.run(bound, r, acc, out_stride);
        }
      }
    }
  }

  Problem problem_;
  DeviceTraits device_;
  const F32Kernels& kernels_;
  FloatGeometry g_;
  LaneBlocking b_;
  std::vector<LaneBlock> blocks_;
  std::vector<Combo> combos_;
  FloatStore epilogue_;
  std::int64_t filter_floats_ = 0;
  std::unique_ptr<float[]> storage_;
  const float* constant_ = nullptr;
  bool constant_finite_ = true;
  bool store_direct_ = false;
  int slots_ = 1;
};

Verdict accepts(const Problem& problem, const DeviceTraits&) {
  if (std::string why = float_objection(problem, Direction::fprop, Direction::dgrad); !why.empty())
    return Verdict::no(std::move(why));
  if (std::string why = lanes_objection(float_geometry(problem)); !why.empty()) return Verdict::no(std::move(why));
  return Verdict::yes();
}

std::vector<Candidate> candidates(const Problem& problem, const DeviceTraits& device) {
  return {{"", choose_lanes(float_geometry(problem), f32_kernels(device.isa), device).cost_us}};
}

error_t build(const Problem& problem, const std::string& config, const DeviceTraits& device, const BuildOptions& options,
              std::unique_ptr<Plan>& plan) {
  if (!config.empty())
    return {error_code_t::INVALID_VALUE, "Path direct_float_lanes has one configuration, the empty one, not '" + config + "'."};
  auto lanes = std::make_unique<LanesFloatPlan>(problem, device);
  OCTAVO_RETURN_IF_ERROR(lanes->prepare(options));
  plan = std::move(lanes);
  return {};
}

}  // namespace

extern const Path kDirectFloatLanes;
const Path kDirectFloatLanes{"direct_float_lanes", accepts, candidates, build};

}  // namespace octavo::cpu_native
