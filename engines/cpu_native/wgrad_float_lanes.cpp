// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// wgrad of depthwise convolutions and narrow groups: a vector of output channels spans groups, every lane its own dw. Splits
// and sums as in wgrad_float.h, so the bits do not depend on the threads.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>

#include "core/parallel.h"
#include "engines/cpu_native/direct_float_lanes.h"
#include "engines/cpu_native/path.h"
#include "engines/cpu_native/wgrad_float.h"

namespace octavo::cpu_native {
namespace {

constexpr std::int64_t kFloat = sizeof(float);

struct LaneWgradBlocking {
  std::int64_t rows = 1, row_cuts = 1, chunks = 0;  ///< of one image and plane
  std::int64_t splits = 1, pair_cuts = 1, pairs_per_cut = 1, tasks = 0;
  std::int64_t x_pitch = 0, x_row = 0, x_plane = 0, x_floats = 0, dy_floats = 0, plain_floats = 0;
  std::int64_t block_floats = 0;  ///< dw of one vector of channels
  bool dy_in_place = false;
  bool in_place = false;  ///< x too, padding left out point by point
  double cost_us = 1;
};

LaneWgradBlocking choose_lane_wgrad(const FloatGeometry& g, const TensorDesc& dy, const F32Kernels& kernels,
                                    const DeviceTraits& device) {
  LaneWgradBlocking b;
  const FloatAxis &d = g.axis[0], &h = g.axis[1], &w = g.axis[2];
  const std::int64_t channels = g.groups * g.oc, blocks = ceil_div(channels, kernels.lanes), pairs = ceil_div(blocks, 2);
  b.block_floats = g.taps(0) * g.ic * kernels.lanes;
  b.dy_in_place = dy.type == DataType_t::FLOAT && dy.vector == 1 && dy.stride[1] == 1 && channels % kernels.lanes == 0;
  b.in_place = b.dy_in_place && plain_lanes(g) && g.in.type == DataType_t::FLOAT && g.in.vector == 1 && g.in.stride[1] == 1;
  if (g.n == 0 || d.points == 0 || h.points == 0 || w.points == 0) return b;
  b.x_pitch = 2 * g.ic * kernels.lanes;
  b.x_row = w.extent(w.points) * b.x_pitch;
  const std::int64_t budget = (g.ic == 1 ? device.l1d_bytes : device.l2_bytes / 8) / kFloat;
  b.rows = h.points;
  while (b.rows > 2 && d.extent(1) * h.extent(b.rows) * b.x_row > budget) b.rows = ceil_div(b.rows, 2);
  b.row_cuts = ceil_div(h.points, b.rows);
  b.chunks = g.n * d.points * b.row_cuts;
  const std::int64_t points = g.n * d.points * h.points * w.points;
  b.splits = std::min({b.chunks, std::max<std::int64_t>(1, points / 512), std::max<std::int64_t>(1, ceil_div(32, pairs))});
  const std::int64_t threads = std::max(1, device.threads);
  b.pair_cuts = std::min(pairs, threads == 1 ? 1 : ceil_div(3 * threads, b.splits));
  b.pairs_per_cut = ceil_div(pairs, b.pair_cuts);
  b.pair_cuts = ceil_div(pairs, b.pairs_per_cut);
  b.tasks = b.splits * b.pair_cuts;
  b.x_plane = h.extent(b.rows) * b.x_row;
  b.x_floats = round_up(d.extent(1) * b.x_plane, 16) + 16;
  b.dy_floats = b.dy_in_place ? 0 : round_up(b.rows * w.points * 2 * kernels.lanes, 16) + 16;
  b.plain_floats = round_up(w.extent(w.points) * (2 * kernels.lanes + 2) * g.ic, 16) + 2 * F32Kernels::kMaxLanes;
  double cycles = static_cast<double>(points * blocks) * (0.65 * static_cast<double>(g.taps(0) * g.ic) + 2.0);
  if (b.in_place) {
    b.x_floats = b.plain_floats = 0;
    b.dy_floats = round_up(4 * w.points + 64 + 6 * g.taps(0), 16);  // lists of taps
  }
  cycles += (b.in_place ? 0.0 : 1.0) * static_cast<double>(b.chunks * pairs) *
            static_cast<double>(b.x_plane * d.extent(1) / kernels.lanes) * 1.5;
  if (kernels.lanes < 8) cycles *= 2;
  const double busy = static_cast<double>(std::min(threads, b.tasks));
  const double bytes = static_cast<double>(g.in.span_bytes() + dy.span_bytes());
  b.cost_us = 1.0 + std::max(cycles / 2600.0 / busy, bytes / 12000.0 / std::min(busy, 8.0));
  return b;
}

class LanesWgradPlan final : public Plan {
 public:
  LanesWgradPlan(const Problem& problem, const DeviceTraits& device)
      : problem_(problem), device_(device), kernels_(f32_kernels(device.isa)), g_(float_geometry(problem)) {
    dy_ = dy_geometry(problem_, g_);
    b_ = choose_lane_wgrad(g_, problem_.y, kernels_, device);
    blocks_ = lane_blocks(g_, kernels_.lanes);
    slots_ = std::max(1, device.threads);
  }

  error_t prepare() {
    OCTAVO_RETURN_IF_ERROR(epilogue_.compile(problem_, kernels_, device_.isa));
    bool padded = false;
    for (const FloatAxis& a : g_.axis) padded = padded || a.low < 0 || (a.points - 1) * a.in_step + a.high >= a.in;
    if (padded && !b_.in_place) {  // 0 * dy from padding is NaN where dy is not finite: that plan leaves padding out
      careful_ = std::make_unique<WgradFloatPlan>(problem_, device_, true, 1, false, false);
      OCTAVO_RETURN_IF_ERROR(careful_->prepare());
    }
    for (const std::int64_t od : g_.axis[0].phases[0].offset) {
      for (const std::int64_t oh : g_.axis[1].phases[0].offset) {
        for (const std::int64_t ow : g_.axis[2].phases[0].offset) {
          taps_.push_back(kFloat * (g_.axis[0].strip_offset(od) * b_.x_plane + g_.axis[1].strip_offset(oh) * b_.x_row +
                                    g_.axis[2].strip_offset(ow) * b_.x_pitch));
        }
      }
    }
    return {};
  }

  std::size_t workspace_bytes() const override {
    const std::int64_t floats = b_.splits * split_floats() + slots_ * slot_floats();
    const std::size_t own =
        64 + static_cast<std::size_t>(round_up(static_cast<std::int64_t>(epilogue_.workspace_bytes()), 64) + floats * kFloat);
    return careful_ ? std::max(own, careful_->workspace_bytes()) : own;
  }

  std::string describe() const override {
    return "f32 outer products, channels in lanes, " + std::to_string(b_.splits) + " splits, " + std::to_string(b_.tasks) +
           " tasks";
  }

  error_t execute(const Args& args) const override {
    std::byte* at = reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(args.workspace) + 63) / 64 * 64);
    const TileEpilogue::Bound bound = epilogue_.bind(args, at);
    float* dw = reinterpret_cast<float*>(at + round_up(static_cast<std::int64_t>(epilogue_.workspace_bytes()), 64));
    float* scratch = dw + b_.splits * split_floats();
    const auto drain = [&](std::int64_t items, auto&& work) {
      std::atomic<std::int64_t> next{0};
      parallel_for(std::min<std::int64_t>(slots_, items), [&](std::int64_t slot, int) {
        for (std::int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < items;)
          work(i, scratch + slot * slot_floats());
      });
    };
    if (b_.chunks > 0) drain(b_.tasks, [&](std::int64_t i, float* own) { run_task(args, dw, own, i); });
    if (careful_ && b_.chunks > 0) {
      bool nan = false;
      for (std::int64_t s = 0; s < b_.splits; ++s) {
        for (const LaneBlock& block : blocks_) {
          const float* sums = dw + s * split_floats() + (&block - blocks_.data()) * b_.block_floats;
          for (std::int64_t i = 0; i < b_.block_floats; ++i)
            nan = nan || (i % kernels_.lanes < block.count && std::isnan(sums[i]));
        }
      }
      if (nan) return careful_->execute(args);
    }
    drain(static_cast<std::int64_t>(blocks_.size()), [&](std::int64_t i, float* own) { finish(bound, dw, own, i); });
    return {};
  }

 private:
  std::int64_t split_floats() const { return static_cast<std::int64_t>(blocks_.size()) * b_.block_floats; }
  std::int64_t slot_floats() const {
    return std::max(b_.x_floats + b_.dy_floats + b_.plain_floats, round_up(g_.taps(0) * g_.ic, 16) + 32);
  }

  /// What of a tensor's row a block of channels asks for early: its share of the points, all channels of the task.
  static void ask(const FloatGeometry& g, const void* data, std::int64_t image, std::int64_t d, std::int64_t h,
                  std::int64_t channel, std::int64_t channels, std::int64_t share, std::int64_t shares) {
    if (h < 0 || h >= g.axis[1].in || d < 0 || d >= g.axis[0].in) return;
    const std::int64_t begin = g.axis[2].in * share / shares, end = g.axis[2].in * (share + 1) / shares;
    const char* at = static_cast<const char*>(data) + kFloat * (image * g.in.stride[0] + d * g.in_stride[0] +
                                                                h * g.in_stride[1] + begin * g.in_stride[2] + channel);
    for (std::int64_t i = begin; i < end; ++i, at += kFloat * g.in_stride[2]) {
      for (std::int64_t b = 0; b < channels * kFloat; b += 64) __builtin_prefetch(at + b, 0, 2);
    }
  }

  /// Row by row, in the order of memory; dw of all the task's channels stays in the first-level cache.
  void run_rows(const Args& args, float* sums, float* scratch, std::int64_t first, std::int64_t end, std::int64_t begin_chunk,
                std::int64_t end_chunk) const {
    const FloatAxis &d = g_.axis[0], &h = g_.axis[1], &w = g_.axis[2];
    const AxisPhase &pd = d.phases[0], &ph = h.phases[0], &pw = w.phases[0];
    const std::int64_t lanes = kernels_.lanes, n_w = static_cast<std::int64_t>(pw.offset.size());
    LaneRowArgs::Tap* taps = reinterpret_cast<LaneRowArgs::Tap*>(scratch);
    std::uint32_t* masks = reinterpret_cast<std::uint32_t*>(taps + g_.taps(0));
    std::fill(sums + first * b_.block_floats, sums + end * b_.block_floats, 0.0f);
    // Columns that some tap misses, on either side.
    std::int64_t left = 0, right = 0;
    const auto reads = [&](std::int64_t i, std::int64_t t) {
      const std::int64_t at = i * w.in_step + pw.offset[static_cast<std::size_t>(t)];
      return at >= 0 && at < w.in;
    };
    while (left < w.points && !reads(left, 0)) ++left;
    while (right < w.points - left && !reads(w.points - 1 - right, n_w - 1)) ++right;
    const std::int64_t channel = blocks_[static_cast<std::size_t>(first)].first, channels = (end - first) * lanes;
    LaneRowArgs a;
    a.a_step = kFloat * w.in_step * g_.in_stride[2];
    a.b_step = kFloat * dy_.in_stride[2];
    a.points = w.points;
    a.n_left = left;
    a.n_right = right;
    for (std::int64_t chunk = begin_chunk; chunk < end_chunk; ++chunk) {
      const std::int64_t row0 = chunk % b_.row_cuts * b_.rows, plane = chunk / b_.row_cuts % d.points;
      const std::int64_t image = chunk / b_.row_cuts / d.points;
      for (std::int64_t row = row0; row < std::min(h.points, row0 + b_.rows); ++row) {
        std::int64_t n = 0, tap = 0;
        for (const std::int64_t od : pd.offset) {
          for (const std::int64_t oh : ph.offset) {
            const std::int64_t id = plane * d.in_step + od, ih = row * h.in_step + oh;
            const bool inside = id >= 0 && id < d.in && ih >= 0 && ih < h.in;
            for (std::int64_t t = 0; t < n_w; ++t, ++tap) {
              if (!inside) continue;
              taps[n++] = {kFloat * (id * g_.in_stride[0] + ih * g_.in_stride[1] +
                                     pw.offset[static_cast<std::size_t>(t)] * g_.in_stride[2]),
                           kFloat * lanes * tap};
            }
          }
        }
        for (std::int64_t at = 0; at < n; at += F32Kernels::kMaxRowTaps) {
          a.taps = taps + at;
          a.n_taps = static_cast<int>(std::min<std::int64_t>(n - at, F32Kernels::kMaxRowTaps));
          // Taps of a row repeat with the period n_w.
          const auto mask = [&](std::int64_t i) {
            std::uint32_t bits = 0;
            for (int t = 0; t < a.n_taps; ++t) bits |= reads(i, (at + t) % n_w) ? 1u << t : 0u;
            return bits;
          };
          for (std::int64_t i = 0; i < left; ++i) masks[i] = mask(i);
          for (std::int64_t i = 0; i < right; ++i) masks[left + i] = mask(w.points - right + i);
          a.left = masks;
          a.right = masks + left;
          for (std::int64_t bi = first; bi < end; ++bi) {
            const std::int64_t c = blocks_[static_cast<std::size_t>(bi)].first;
            if (at == 0) {
              const std::int64_t share = bi - first, shares = end - first;
              for (std::int64_t s = 0; s < h.in_step; ++s)
                ask(g_, args.x, image, plane * d.in_step + pd.offset.back(), (row + 1) * h.in_step + ph.offset.back() + 1 + s,
                    channel, channels, share, shares);
              ask(dy_, args.y, image, plane, row + 1, channel, channels, share, shares);
            }
            a.a = static_cast<const char*>(args.x) + kFloat * (image * g_.in.stride[0] + c);
            a.b = static_cast<const char*>(args.y) +
                  kFloat * (image * dy_.in.stride[0] + plane * dy_.in_stride[0] + row * dy_.in_stride[1] + c);
            a.c = reinterpret_cast<char*>(sums + bi * b_.block_floats);
            kernels_.lane_row(a);
          }
        }
      }
    }
  }

  void run_task(const Args& args, float* dw, float* scratch, std::int64_t task) const {
    const std::int64_t split = task / b_.pair_cuts;
    const std::int64_t n_blocks = static_cast<std::int64_t>(blocks_.size());
    const std::int64_t first = task % b_.pair_cuts * b_.pairs_per_cut * 2,
                       end = std::min(n_blocks, first + b_.pairs_per_cut * 2);
    if (first >= end) return;
    float* x = scratch;
    float* y = x + b_.x_floats;
    float* plain = y + b_.dy_floats;
    float* sums = dw + split * split_floats();
    const int lanes = kernels_.lanes;
    const LaneBlock &head = blocks_[static_cast<std::size_t>(first)], &foot = blocks_[static_cast<std::size_t>(end - 1)];
    const std::int64_t begin = b_.chunks * split / b_.splits, last = b_.chunks * (split + 1) / b_.splits;
    if (b_.in_place) return run_rows(args, sums, scratch, first, end, begin, last);
    for (std::int64_t chunk = begin; chunk < last; ++chunk) {
      StripBox box;
      const std::int64_t row = chunk % b_.row_cuts * b_.rows;
      box.output = {chunk / b_.row_cuts % g_.axis[0].points, row, 0};
      box.image = chunk / b_.row_cuts / g_.axis[0].points;
      box.count = {1, std::min(b_.rows, g_.axis[1].points - row), g_.axis[2].points};
      StripBox dy_box = box;
      box.pitch = b_.x_pitch;
      box.row = b_.x_row;
      box.plane = b_.x_plane;
      dy_box.pitch = 2 * lanes;
      dy_box.row = g_.axis[2].points * dy_box.pitch;
      if (g_.in.span_bytes() > device_.l2_bytes) {
        prefetch_box(g_, args.x, box, head.in_first, foot.in_first + foot.in_count - head.in_first);
        prefetch_box(dy_, args.y, dy_box, head.first, foot.first + foot.count - head.first);
      }
      for (std::int64_t bi = first; bi < end; bi += 2) {
        const LaneBlock* pair = blocks_.data() + bi;
        const int vectors = bi + 1 < end ? 2 : 1;
        pack_lanes(kernels_, g_, args.x, pair, pair + vectors, box, plain, x);
        LanesWgradArgs a;
        const float* b = y;
        a.b_row = kFloat * 2 * lanes;
        a.b_segment = kFloat * dy_box.row;
        if (b_.dy_in_place) {
          b = static_cast<const float*>(args.y) + box.image * dy_.in.stride[0] + box.output[0] * dy_.in_stride[0] +
              row * dy_.in_stride[1] + pair->first;
          a.b_row = kFloat * dy_.in_stride[2];
          a.b_segment = kFloat * dy_.in_stride[1];
        } else {
          dy_box.channel = pair->first;
          dy_box.channels = pair[vectors - 1].first + pair[vectors - 1].count - pair->first;
          pack_strip(kernels_, dy_, args.y, dy_box, y);
        }
        a.a_segment = kFloat * g_.axis[1].strip_step() * b_.x_row;
        a.a_row = kFloat * g_.axis[2].strip_step() * b_.x_pitch;
        a.taps = taps_.data();
        a.n_taps = static_cast<std::int64_t>(taps_.size());
        a.depth = g_.ic;
        a.segments = box.count[1];
        a.rows = box.count[2];
        a.accumulate = chunk > begin;
        for (int v = 0; v < vectors; ++v) {
          a.a = x + v * lanes;
          a.b = b + v * lanes;
          a.c = sums + (bi + v) * b_.block_floats;
          kernels_.lane_wgrad(a);
        }
      }
    }
  }

  /// One vector of channels: the splits in order, then dw's rows.
  void finish(const TileEpilogue::Bound& bound, const float* dw, float* row, std::int64_t bi) const {
    const LaneBlock& block = blocks_[static_cast<std::size_t>(bi)];
    const AxisPhase* phase[3] = {&g_.axis[0].phases[0], &g_.axis[1].phases[0], &g_.axis[2].phases[0]};
    const std::int64_t lanes = kernels_.lanes, per_k = g_.taps(0) * g_.ic,
                       width = static_cast<std::int64_t>(phase[2]->filter.size());
    const bool backwards = width > 1 && phase[2]->filter[0] != 0;
    Rows r;
    r.channels = g_.ic;
    r.count = width;
    for (std::int64_t l = 0; l < block.count; ++l) {
      for (std::int64_t i = 0; i < per_k; ++i) {
        float sum = 0;
        for (std::int64_t s = 0; s < b_.splits && b_.chunks > 0; ++s) {
          const float v = dw[s * split_floats() + bi * b_.block_floats + i * lanes + l];
          sum = s == 0 ? v : sum + v;
        }
        row[i] = sum;
      }
      r.outer = block.first + l;
      const float* at = row;
      for (const std::int64_t fd : phase[0]->filter) {
        for (const std::int64_t fh : phase[1]->filter) {
          set_point(r, g_.spatial, fd, fh, 0);
          // A flipped filter axis is walked backwards: taps are stored in the order of their offsets.
          epilogue_.run(bound, r, backwards ? at + (width - 1) * g_.ic : at, backwards ? -g_.ic : g_.ic);
          at += width * g_.ic;
        }
      }
    }
  }

  Problem problem_;
  DeviceTraits device_;
  const F32Kernels& kernels_;
  FloatGeometry g_, dy_;
  LaneWgradBlocking b_;
  std::vector<LaneBlock> blocks_;
  std::vector<std::int64_t> taps_;
  FloatStore epilogue_;
  std::unique_ptr<WgradFloatPlan> careful_;
  int slots_ = 1;
};

Verdict accepts(const Problem& problem, const DeviceTraits&) {
  if (std::string why = float_objection(problem, Direction::wgrad, Direction::wgrad); !why.empty())
    return Verdict::no(std::move(why));
  if (std::string why = lanes_objection(float_geometry(problem)); !why.empty()) return Verdict::no(std::move(why));
  return Verdict::yes();
}

std::vector<Candidate> candidates(const Problem& problem, const DeviceTraits& device) {
  return {{"", choose_lane_wgrad(float_geometry(problem), problem.y, f32_kernels(device.isa), device).cost_us}};
}

error_t build(const Problem& problem, const std::string& config, const DeviceTraits& device, const BuildOptions&,
              std::unique_ptr<Plan>& plan) {
  if (!config.empty()) {
    return {error_code_t::INVALID_VALUE, "Path wgrad_float_lanes has one configuration, the empty one, not '" + config + "'."};
  }
  auto lanes = std::make_unique<LanesWgradPlan>(problem, device);
  OCTAVO_RETURN_IF_ERROR(lanes->prepare());
  plan = std::move(lanes);
  return {};
}

}  // namespace

extern const Path kWgradFloatLanes;
const Path kWgradFloatLanes{"wgrad_float_lanes", accepts, candidates, build};

}  // namespace octavo::cpu_native
