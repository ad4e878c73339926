// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Path "amx_bf16_wgrad": dw of bf16 on AMX tiles, 32 output channels x 32 input channels a tap, summed over points. dy is
// transposed, so that a tile's row is 32 points of one channel; x is interleaved by pairs of points, once from even and once
// from odd points on, so that any tap finds its pairs. Points between the rows of the image meet a dy of zero. Chunks and
// splits depend on the problem alone, and so does which chunks are summed in plain f32 (see amx_bf16.cpp): the bits do not
// depend on the threads.

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <string>

#include "core/float.h"
#include "core/parallel.h"
#include "engines/cpu_native/amx_bf16_plan.h"
#include "engines/cpu_native/path.h"
#include "engines/cpu_native/wgrad_float.h"

namespace octavo::cpu_native {
namespace {

constexpr std::int64_t kStepPoints = 32;

struct Blocking {
  std::int64_t images = 1, rows = 1, columns = 1;  ///< outputs of a chunk
  std::int64_t image_cuts = 0, row_cuts = 0, column_cuts = 0;
  std::int64_t chunks = 0, splits = 1, channel_cuts = 1, channels_per_cut = 32, tasks = 0;
  std::int64_t pitch = 16, dy_pitch = 16, columns_of_dw = 16, rows_of_dw = 16;
  std::int64_t points = 0;        ///< of an image, rounded up to steps: those between rows included
  std::int64_t image_points = 0;  ///< of the strip
  std::int64_t taps = 1;
  bool parity[2] = {true, false};
  Bf16Strip strip;
  std::int64_t strip_bytes = 0, pairs_bytes = 0, dy_bytes = 0, turned_bytes = 0, dw_floats = 0;
  double cost_us = 1;
};

Blocking choose(const FloatGeometry& g, const DeviceTraits& device) {
  Blocking b;
  const FloatAxis &d = g.axis[0], &h = g.axis[1], &w = g.axis[2];
  b.taps = g.taps(0);
  b.pitch = round_up(g.ic, 16);
  b.dy_pitch = b.rows_of_dw = round_up(g.oc, 16);
  b.columns_of_dw = b.pitch;
  b.dw_floats = g.groups * b.taps * b.rows_of_dw * b.columns_of_dw;
  if (g.n == 0 || d.points * h.points * w.points == 0) return b;

  const std::int64_t budget = std::max<std::int64_t>(device.l2_bytes, 512 << 10) * 6 / 10;
  const auto strip = [&](std::int64_t rows, std::int64_t columns) { return bf16_strip(g, false, b.pitch, rows, columns, 0); };
  const auto points = [&](std::int64_t rows, std::int64_t columns) {
    return round_up((rows - 1) * strip(rows, columns).row_points + columns, kStepPoints);
  };
  const auto bytes = [&](std::int64_t rows, std::int64_t columns) {
    return strip(rows, columns).image_elements * 2 * (b.taps > 1 ? 3 : 2) + points(rows, columns) * b.dy_pitch * 4;
  };
  b.columns = w.points;
  while (b.columns > 64 && (bytes(1, b.columns) > budget || b.columns > 1024)) b.columns = round_up(ceil_div(b.columns, 2), 32);
  while (b.columns == w.points && b.rows < h.points && points(b.rows + 1, b.columns) <= 640 &&
         bytes(b.rows + 1, b.columns) <= budget)
    ++b.rows;
  b.rows = ceil_div(h.points, ceil_div(h.points, b.rows));
  if (b.rows == h.points && b.columns == w.points && d.points == 1) {
    while (b.images < g.n && (b.images + 1) * points(b.rows, b.columns) <= 640 &&
           (b.images + 1) * bytes(b.rows, b.columns) <= budget)
      ++b.images;
  }
  b.image_cuts = ceil_div(g.n, b.images);
  b.row_cuts = ceil_div(h.points, b.rows);
  b.column_cuts = ceil_div(w.points, b.columns);
  b.chunks = b.image_cuts * d.points * b.row_cuts * b.column_cuts;
  b.strip = strip(b.rows, b.columns);
  b.points = points(b.rows, b.columns);
  b.image_points = round_up(b.strip.image_elements / b.pitch, kStepPoints);

  const std::int64_t all = g.n * d.points * h.points * w.points;
  b.splits = std::min({ceil_div(32, g.groups), std::max<std::int64_t>(1, (4 << 20) / b.dw_floats), b.chunks,
                       std::max<std::int64_t>(1, all / 1024)});
  const std::int64_t threads = std::max(1, device.threads), blocks = ceil_div(g.oc, std::int64_t{kTileBlock});
  const std::int64_t wanted = threads == 1 ? 1 : ceil_div(2 * threads, b.splits * g.groups);
  b.channels_per_cut = ceil_div(blocks, std::min(blocks, wanted)) * kTileBlock;
  b.channel_cuts = ceil_div(g.oc, b.channels_per_cut);
  b.tasks = b.splits * g.groups * b.channel_cuts;

  for (const std::int64_t od : d.phases[0].offset) {
    for (const std::int64_t oh : h.phases[0].offset) {
      for (const std::int64_t ow : w.phases[0].offset) b.parity[b.strip.tap(g, od, oh, ow) / b.pitch % 2] = true;
    }
  }
  // Reads run past the last point of the last image: by a tap's distance, which stays within the image's own strip, and a step.
  const std::int64_t strip_points = b.images * b.image_points + 2 * kStepPoints;
  b.strip_bytes = strip_points * b.pitch * 2;
  b.pairs_bytes = (b.images * b.image_points + b.image_points + kStepPoints) / 2 * b.pitch * 4;
  b.dy_bytes = b.images * b.points * b.dy_pitch * 2;
  b.turned_bytes = round_up(std::min(b.channels_per_cut, b.dy_pitch), 32) * b.images * b.points * 2;

  const std::int64_t all_steps = b.chunks * b.images * b.points / kStepPoints;
  const std::int64_t all_tiles = b.taps * (b.rows_of_dw / 16) * (b.columns_of_dw / 16) * g.groups;
  const double steps = static_cast<double>(all_steps), tiles = static_cast<double>(all_tiles);
  double cycles = steps * tiles * 16 * 1.4 + static_cast<double>(b.chunks) * tiles * 60;
  cycles += static_cast<double>(b.chunks * b.channel_cuts * g.groups) *
            (static_cast<double>(b.strip_bytes) * 0.25 + static_cast<double>(b.dy_bytes) * 0.15);
  cycles += static_cast<double>(b.dw_floats * b.splits) * 0.3;
  const double busy = static_cast<double>(std::min(threads, b.tasks));
  b.cost_us = 1.0 + cycles / 2600.0 / busy;
  return b;
}

class AmxBf16WgradPlan final : public Plan {
 public:
  AmxBf16WgradPlan(const Problem& problem, const DeviceTraits& device, const AmxBf16Isa& isa)
      : problem_(merge_pointwise(problem)),
        device_(device),
        isa_(isa),
        g_(float_geometry(problem_)),
        dy_(dy_geometry(problem_, g_)),
        b_(choose(g_, device)) {
    slots_ = std::max(1, device.threads);
    for (const std::int64_t od : g_.axis[0].phases[0].offset) {
      for (const std::int64_t oh : g_.axis[1].phases[0].offset) {
        for (const std::int64_t ow : g_.axis[2].phases[0].offset) {
          taps_.push_back({b_.chunks > 0 ? b_.strip.tap(g_, od, oh, ow) / b_.pitch : 0, {od, oh, ow}});
        }
      }
    }
    for (int t = 0; t < 8; ++t) config_.set(t, 16, 64);
    for (std::int64_t i = 0; i < b_.images; ++i) {
      runs_.push_back({i * b_.points * 2, i * b_.image_points / kStepPoints, static_cast<int>(b_.points / kStepPoints)});
    }
  }

  error_t prepare() {
    const CpuIsa vectors = std::min(device_.isa, host_cpu().isa);
    return epilogue_.compile(problem_, f32_kernels(vectors), vectors);
  }

  std::size_t workspace_bytes() const override {
    return 64 + static_cast<std::size_t>(round_up(static_cast<std::int64_t>(epilogue_.workspace_bytes()), 64) +
                                         round_up(b_.splits * b_.dw_floats * 4, 64) + slots_ * slot_bytes());
  }

  std::string describe() const override {
    return "bf16 tiles of 32 x 32, " + std::to_string(b_.splits) + " splits, " + std::to_string(b_.tasks) + " tasks";
  }

  error_t execute(const Args& args) const override {
    std::byte* at = static_cast<std::byte*>(align64(args.workspace));
    const TileEpilogue::Bound bound = epilogue_.bind(args, at);
    at += round_up(static_cast<std::int64_t>(epilogue_.workspace_bytes()), 64);
    float* dw = reinterpret_cast<float*>(at);
    at += round_up(b_.splits * b_.dw_floats * 4, 64);
    std::atomic<std::int64_t> next{0};
    parallel_for(std::min<std::int64_t>(slots_, b_.tasks), [&](std::int64_t slot, int) {
      isa_.configure(&layer(), config_);
      for (std::int64_t task; (task = next.fetch_add(1, std::memory_order_relaxed)) < b_.tasks;) {
        run_task(args, dw, at + slot * slot_bytes(), task);
      }
      isa_.release(&layer());
    });
    parallel_for(g_.groups * ceil_div(g_.oc, std::int64_t{8}), [&](std::int64_t item, int) { finish(bound, dw, item); });
    return {};
  }

 private:
  struct Tap {
    std::int64_t point;
    std::array<std::int64_t, 3> offset;
  };

  static EmulatedTiles& layer() {
    thread_local EmulatedTiles tiles;
    return tiles;
  }
  std::int64_t slot_bytes() const {
    return round_up(b_.strip_bytes, 64) + 2 * round_up(b_.pairs_bytes, 64) + round_up(b_.dy_bytes, 64) +
           round_up(b_.turned_bytes, 64);
  }

  void run_task(const Args& args, float* all, std::byte* scratch, std::int64_t task) const {
    const std::int64_t cut = task % b_.channel_cuts, group = task / b_.channel_cuts % g_.groups;
    const std::int64_t split = task / b_.channel_cuts / g_.groups;
    const std::int64_t first = cut * b_.channels_per_cut, count = std::min(b_.channels_per_cut, g_.oc - first);
    float* dw = all + split * b_.dw_floats + group * b_.taps * b_.rows_of_dw * b_.columns_of_dw;
    std::uint16_t* strip = reinterpret_cast<std::uint16_t*>(scratch);
    scratch += round_up(b_.strip_bytes, 64);
    std::uint16_t* pairs[2];
    for (std::uint16_t*& p : pairs) {
      p = reinterpret_cast<std::uint16_t*>(scratch);
      scratch += round_up(b_.pairs_bytes, 64);
    }
    std::uint16_t* dy = reinterpret_cast<std::uint16_t*>(scratch);
    std::uint16_t* turned = reinterpret_cast<std::uint16_t*>(scratch + round_up(b_.dy_bytes, 64));
    const std::int64_t begin = b_.chunks * split / b_.splits, end = b_.chunks * (split + 1) / b_.splits;

    for (std::int64_t chunk = begin; chunk < end; ++chunk) {
      Bf16Box box;
      std::int64_t rest = chunk;
      box.column = rest % b_.column_cuts * b_.columns;
      rest /= b_.column_cuts;
      box.row = rest % b_.row_cuts * b_.rows;
      rest /= b_.row_cuts;
      box.plane = rest % g_.axis[0].points;
      box.image = rest / g_.axis[0].points * b_.images;
      const std::int64_t images = std::min(b_.images, g_.n - box.image);
      box.rows = std::min(b_.rows, g_.axis[1].points - box.row);
      box.columns = std::min(b_.columns, g_.axis[2].points - box.column);
      Bf16Range x_range, dy_range;
      std::memset(strip, 0, static_cast<std::size_t>(b_.strip_bytes));
      std::memset(dy, 0, static_cast<std::size_t>(b_.dy_bytes));
      for (std::int64_t i = 0; i < images; ++i) {
        Bf16Box one = box;
        one.image += i;
        one.channel = group * g_.ic;
        one.channels = g_.ic;
        pack_bf16(isa_, g_, b_.strip, args.x, one, strip + i * b_.image_points * b_.pitch, x_range);
        pack_dy(args.y, one, group * g_.oc + first, count, dy + i * b_.points * b_.dy_pitch, dy_range);
      }
      const bool accumulate = chunk > begin;
      if (!Bf16Range::safe(x_range, dy_range) || !x_range.finite() || !dy_range.finite()) {
        exact(box, images, strip, dy, dw, first, count, accumulate);
        continue;
      }
      for (int e = 0; e < 2; ++e) {
        if (!b_.parity[e]) continue;
        const std::int64_t rows = images * b_.image_points / 2;
        for (std::int64_t j = 0; j < rows; ++j) {
          const std::uint16_t* from = strip + (2 * j + e) * b_.pitch;
          isa_.interleave(pairs[e] + 2 * j * b_.pitch, from, from + b_.pitch, b_.pitch);
        }
        // What is read past the end meets a dy of zero.
        std::memset(pairs[e] + 2 * rows * b_.pitch, 0, static_cast<std::size_t>(b_.pairs_bytes - rows * b_.pitch * 4));
      }
      const std::int64_t length = b_.images * b_.points;
      for (std::int64_t c = 0; c < count; c += 32) {
        for (std::int64_t p = 0; p < images * b_.points; p += 32) {
          isa_.transpose(turned + c * length + p, length, dy + p * b_.dy_pitch + c, b_.dy_pitch, 32,
                         std::min<std::int64_t>(32, round_up(count - c, 16)));
        }
      }
      AmxBf16Args a;
      a.a_row = length * 2;
      a.runs = runs_.data();
      a.run_count = static_cast<int>(images);
      a.step_bytes = 64;
      a.b_row = b_.pitch * 4;
      a.b_step = 16 * a.b_row;
      a.out_row = b_.columns_of_dw;
      a.accumulate = accumulate;
      for (std::int64_t k = 0; k < count; k += kTileBlock) {
        const int row_tiles = count - k > kTileRows ? 2 : 1;
        a.a[0] = reinterpret_cast<const std::uint8_t*>(turned + k * length);
        a.a[1] = reinterpret_cast<const std::uint8_t*>(turned + (k + (row_tiles > 1 ? kTileRows : 0)) * length);
        for (std::int64_t t = 0; t < b_.taps; ++t) {
          const std::int64_t point = taps_[static_cast<std::size_t>(t)].point;
          const std::uint16_t* from = pairs[point % 2] + point / 2 * 2 * b_.pitch;
          for (std::int64_t c = 0; c < g_.ic; c += kTileBlock) {
            a.b = reinterpret_cast<const std::uint8_t*>(from + 2 * c);
            a.out = dw + (t * b_.rows_of_dw + first + k) * b_.columns_of_dw + c;
            isa_.kernel[row_tiles][g_.ic - c > kTileLanes ? 2 : 1](&layer(), a);
          }
        }
      }
    }
  }

  /// dy of one image, channels last, its points where the strip's are.
  void pack_dy(const void* data, const Bf16Box& box, std::int64_t channel, std::int64_t count, std::uint16_t* to,
               Bf16Range& range) const {
    Bf16Strip row;
    row.pitch = b_.dy_pitch;
    row.planes = row.rows = 1;
    row.columns = box.columns;
    Bf16Box one = box;
    one.rows = 1;
    one.channel = channel;
    one.channels = count;
    for (std::int64_t r = 0; r < box.rows; ++r) {
      one.row = box.row + r;
      pack_bf16(isa_, dy_, row, data, one, to + r * b_.strip.row_points * b_.dy_pitch, range);
    }
  }

  /// The same sum in f32, denormals kept and padding left out.
  void exact(const Bf16Box& box, std::int64_t images, const std::uint16_t* strip, const std::uint16_t* dy, float* dw,
             std::int64_t first, std::int64_t count, bool accumulate) const {
    const auto inside = [&](std::size_t axis, std::int64_t i, std::int64_t offset) {
      const std::int64_t at = i * g_.axis[axis].in_step + offset;
      return at >= 0 && at < g_.axis[axis].in;
    };
    for (std::int64_t t = 0; t < b_.taps; ++t) {
      const Tap& tap = taps_[static_cast<std::size_t>(t)];
      float* to = dw + (t * b_.rows_of_dw + first) * b_.columns_of_dw;
      if (!accumulate) std::fill(to, to + std::min(round_up(count, 16), b_.rows_of_dw - first) * b_.columns_of_dw, 0.0f);
      for (std::int64_t i = 0; i < images; ++i) {
        if (!inside(0, box.plane, tap.offset[0])) continue;
        for (std::int64_t r = 0; r < box.rows; ++r) {
          if (!inside(1, box.row + r, tap.offset[1])) continue;
          for (std::int64_t q = 0; q < box.columns; ++q) {
            if (!inside(2, box.column + q, tap.offset[2])) continue;
            const std::int64_t point = r * b_.strip.row_points + q;
            const std::uint16_t* x = strip + (i * b_.image_points + point + tap.point) * b_.pitch;
            const std::uint16_t* y = dy + (i * b_.points + point) * b_.dy_pitch;
            for (std::int64_t k = 0; k < count; ++k) {
              const float v = bf16_to_float(y[k]);
              float* row = to + k * b_.columns_of_dw;
              for (std::int64_t c = 0; c < g_.ic; ++c) row[c] += v * bf16_to_float(x[c]);
            }
          }
        }
      }
    }
  }

  /// Adds the splits in order and hands rows of dw on. One item: up to eight output channels of a group.
  void finish(const TileEpilogue::Bound& bound, float* dw, std::int64_t item) const {
    const std::int64_t per_group = ceil_div(g_.oc, std::int64_t{8});
    const std::int64_t group = item / per_group, k0 = item % per_group * 8, k1 = std::min(g_.oc, k0 + 8);
    const std::int64_t tap_floats = b_.rows_of_dw * b_.columns_of_dw;
    float* sums = dw + group * b_.taps * tap_floats;
    for (std::int64_t t = 0; t < b_.taps; ++t) {
      float* to = sums + t * tap_floats + k0 * b_.columns_of_dw;
      const std::int64_t n = (k1 - k0) * b_.columns_of_dw;
      if (b_.chunks == 0) std::fill(to, to + n, 0.0f);
      for (std::int64_t s = 1; s < b_.splits; ++s) {
        for (std::int64_t i = 0; i < n; ++i) to[i] += to[s * b_.dw_floats + i];
      }
    }
    const AxisPhase* phase[3] = {&g_.axis[0].phases[0], &g_.axis[1].phases[0], &g_.axis[2].phases[0]};
    const std::int64_t width = static_cast<std::int64_t>(phase[2]->filter.size());
    // A flipped filter axis is walked backwards: taps are in the order of their offsets.
    const bool backwards = width > 1 && phase[2]->filter[0] != 0;
    Rows r;
    r.channels = g_.ic;
    r.count = width;
    for (std::int64_t k = k0; k < k1; ++k) {
      r.outer = group * g_.oc + k;
      const float* at = sums + k * b_.columns_of_dw;
      for (const std::int64_t fd : phase[0]->filter) {
        for (const std::int64_t fh : phase[1]->filter) {
          set_point(r, g_.spatial, fd, fh, 0);
          epilogue_.run(bound, r, backwards ? at + (width - 1) * tap_floats : at, backwards ? -tap_floats : tap_floats);
          at += width * tap_floats;
        }
      }
    }
  }

  Problem problem_;
  DeviceTraits device_;
  const AmxBf16Isa& isa_;
  FloatGeometry g_, dy_;
  Blocking b_;
  FloatStore epilogue_;
  std::vector<Tap> taps_;
  std::vector<AmxRun> runs_;
  TileConfig config_;
  int slots_ = 1;
};

Verdict accepts(const Problem& p, const DeviceTraits& device) {
  if (device.isa != CpuIsa::amx || !device.amx_bf16)
    return Verdict::no("the processor has no AMX bf16, or a lower level is forced");
  if (std::string why = float_objection(p, Direction::wgrad, Direction::wgrad); !why.empty())
    return Verdict::no(std::move(why));
  if (p.x.type != DataType_t::BFLOAT16 || p.y.type != DataType_t::BFLOAT16) {
    return Verdict::no(std::string("it reads bf16, and the inputs are ") + short_name(p.x.type) + " and " +
                       short_name(p.y.type));
  }
  if (p.w.dim[0] == 0 || p.w.dim[1] == 0) return Verdict::no("it needs at least one channel a group");
  return Verdict::yes();
}

std::vector<Candidate> candidates(const Problem& p, const DeviceTraits& device) {
  return {{"", choose(float_geometry(merge_pointwise(p)), device).cost_us}};
}

error_t build(const Problem& p, const std::string& config, const DeviceTraits& device, const BuildOptions&,
              std::unique_ptr<Plan>& plan) {
  const bool emulated = config == "emulated";
  if (!config.empty() && !emulated) {
    return {error_code_t::INVALID_VALUE, "Config '" + config + "' of path 'amx_bf16_wgrad' is unknown; leave it empty."};
  }
  const AmxBf16Isa* isa = &kAmxBf16Emulated;
#if defined(__x86_64__)
  if (!emulated) {
    if (!host_cpu().amx_bf16) {
      return {error_code_t::GRAPH_EXECUTION_PLAN_CREATION_FAILED,
              "This processor has no AMX bf16; path 'amx_bf16_wgrad' can be planned here, not run."};
    }
    isa = &kAmxBf16Hardware;
  }
#endif
  auto made = std::make_unique<AmxBf16WgradPlan>(p, device, *isa);
  OCTAVO_RETURN_IF_ERROR(made->prepare());
  plan = std::move(made);
  return {};
}

}  // namespace

extern const Path kAmxBf16Wgrad;
const Path kAmxBf16Wgrad{"amx_bf16_wgrad", &accepts, &candidates, &build};

}  // namespace octavo::cpu_native
