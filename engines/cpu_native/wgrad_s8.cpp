// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Integer wgrad, exact: path "wgrad_s8" (the encodings are in wgrad_s8.h).

#include "engines/cpu_native/wgrad_s8.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "core/parallel.h"
#include "core/zero_point.h"
#include "engines/cpu_native/direct_s8.h"
#include "engines/cpu_native/epilogue.h"
#include "engines/cpu_native/geometry.h"
#include "engines/cpu_native/path.h"

namespace octavo::cpu_native {

Problem merge_pointwise(const Problem& problem);

namespace {

constexpr std::int64_t kFinishRows = 8;

bool is_byte(DataType_t t) { return t == DataType_t::INT8 || t == DataType_t::UINT8; }

struct Block {
  std::int64_t first = 0, count = 0;
  int vectors = 0, tail = 0;
};

struct Blocking {
  int vectors = 1;
  std::vector<Block> x, dy;                ///< x's channels in vectors, dy's in rows of a tile
  std::int64_t rows = 1, steps = 0;        ///< of a chunk; units an output row
  std::int64_t slots = 1;                  ///< x rows of a chunk and depth tap
  std::int64_t x_pitch = 0, dy_pitch = 0;  ///< units a step
  std::int64_t chunks = 0, splits = 1, x_cuts = 1, dy_cuts = 1, x_per_cut = 1, dy_per_cut = 1, tasks = 0;
  std::int64_t x_units = 0, dy_units = 0;
  double cost_us = 1;
};

Blocking choose(const Geometry& g, const WgradS8Kernels& k, const DeviceTraits& device, int vectors) {
  Blocking b;
  b.vectors = vectors;
  for (std::int64_t c = 0; c < g.cg; c += vectors * k.lanes) {
    const std::int64_t count = std::min<std::int64_t>(g.cg - c, vectors * k.lanes);
    b.x.push_back({c, count, static_cast<int>(ceil_div(count, k.lanes)), static_cast<int>(count % k.lanes)});
  }
  const std::int64_t tiles = ceil_div(g.kg, k.max_rows[vectors]);
  for (std::int64_t i = 0, at = 0; i < tiles; ++i) {
    const std::int64_t count = g.kg / tiles + (i < g.kg % tiles ? 1 : 0);
    b.dy.push_back({at, count, 0, 0});
    at += count;
  }
  if (g.n * g.out[0] * g.out[1] * g.out[2] == 0 || b.x.empty() || b.dy.empty()) return b;

  b.steps = ceil_div(g.out[2], k.points);
  b.rows = std::clamp<std::int64_t>(ceil_div(1024, g.out[2]), 1, g.out[1]);
  const auto slots = [&] { return (b.rows - 1) * g.stride[1] + (g.filter[1] - 1) * g.dilation[1] + 1; };
  const std::int64_t budget = std::max<std::int64_t>(device.l2_bytes, 512 << 10) / 3 / 4;
  const std::int64_t per_channel = g.filter[0] * g.filter[2] * b.steps;
  while (b.rows > 1 && per_channel * slots() * g.cg > budget) --b.rows;
  b.rows = ceil_div(g.out[1], ceil_div(g.out[1], b.rows));
  b.slots = slots();
  b.chunks = g.n * g.out[0] * ceil_div(g.out[1], b.rows);

  const std::int64_t dw = g.k * g.cg * g.taps(), points = g.n * g.out[0] * g.out[1] * g.out[2];
  b.splits = std::min({ceil_div(32, g.groups), std::max<std::int64_t>(1, (1 << 20) / std::max<std::int64_t>(dw, 1)), b.chunks,
                       std::max<std::int64_t>(1, points / 512)});
  const std::int64_t threads = std::max(1, device.threads);
  std::int64_t wanted = threads == 1 ? 1 : ceil_div(3 * threads, b.splits * g.groups);
  const std::int64_t x_n = static_cast<std::int64_t>(b.x.size()), dy_n = static_cast<std::int64_t>(b.dy.size());
  // x's panels of a task must fit as well.
  b.x_cuts = std::min(x_n, std::max<std::int64_t>(1, ceil_div(per_channel * b.slots * g.cg, 2 * budget)));
  wanted = ceil_div(wanted, b.x_cuts);
  b.dy_cuts = std::min(dy_n, wanted);
  b.x_per_cut = ceil_div(x_n, b.x_cuts);
  b.x_cuts = ceil_div(x_n, b.x_per_cut);
  b.dy_per_cut = ceil_div(dy_n, b.dy_cuts);
  b.dy_cuts = ceil_div(dy_n, b.dy_per_cut);
  b.tasks = b.splits * g.groups * b.x_cuts * b.dy_cuts;
  // A power of two from step to step would crowd a few sets of the cache.
  b.x_pitch = b.x_per_cut * vectors * k.lanes + 16;
  b.dy_pitch = round_up(b.dy_per_cut * k.max_rows[vectors], 16) + 16;
  b.x_units = g.filter[0] * g.filter[2] * b.slots * b.steps * b.x_pitch + 64;
  b.dy_units = b.rows * b.steps * b.dy_pitch + 64;

  double per_step = 0;
  for (const Block& x : b.x) {
    for (const Block& y : b.dy) {
      const double rows = static_cast<double>(y.count), v = x.vectors;
      per_step += std::max({rows * v, rows + v, 8.0}) * static_cast<double>(k.lanes * k.points) / k.macs_per_cycle;
    }
  }
  const double steps = static_cast<double>(g.n * g.out[0] * g.out[1] * b.steps * g.groups);
  double cycles = steps * per_step * static_cast<double>(g.taps());
  cycles += 0.3 * steps * static_cast<double>(k.points) *
            static_cast<double>(g.cg * g.filter[0] * g.filter[2] * b.dy_cuts + g.kg * b.x_cuts);
  cycles += static_cast<double>(dw) * static_cast<double>(b.splits) * 0.3;
  const double busy = static_cast<double>(std::min(threads, b.tasks));
  b.cost_us = 1.0 + cycles / 2600.0 / busy;
  return b;
}

class WgradS8Plan final : public Plan {
 public:
  WgradS8Plan(const Problem& problem, const DeviceTraits& device, int vectors)
      : problem_(merge_pointwise(problem)), device_(device), kernels_(wgrad_s8_kernels(device.isa)), g_(problem_) {
    b_ = choose(g_, kernels_, device_, vectors);
    slots_ = std::max(1, device.threads);
    const bool bytes = kernels_.points == 4;
    const bool x_signed = problem_.x.type == DataType_t::INT8, dy_signed = problem_.y.type == DataType_t::INT8;
    const std::int32_t zx = problem_.zero_points.x;
    dy_unsigned_ = bytes && !dy_signed;
    x_flip_ = bytes && (dy_signed == x_signed) ? 0x80 : 0;
    // The encoded zero point: x' = x + 128 for s8 beside s8, x - 128 for u8 beside u8.
    x_zero_ = !bytes ? 0 : zx + (x_flip_ == 0 ? 0 : x_signed ? 128 : -128);
    x_fill_.assign(static_cast<std::size_t>(g_.cg) + 64, static_cast<std::uint8_t>(zx));
    dy_fill_.assign(static_cast<std::size_t>(g_.kg) + 64, 0);
    dw_units_ = round_up(g_.k * g_.cg * g_.taps(), 16);
  }

  error_t init() { return epilogue_.compile(problem_, device_.isa); }

  std::size_t workspace_bytes() const override {
    Carver carver;
    carve(carver);
    return carver.used() + 64;
  }

  error_t execute(const Args& args) const override {
    Carver carver(align64(args.workspace));
    Call call = carve(carver);
    call.args = &args;
    call.bound = epilogue_.bind(args, call.epilogue);
    const auto drain = [&](std::int64_t items, auto&& work) {
      std::atomic<std::int64_t> next{0};
      parallel_for(std::min<std::int64_t>(slots_, items), [&](std::int64_t slot, int) {
        for (std::int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < items;) work(i, slot);
      });
    };
    if (b_.chunks > 0) drain(b_.tasks, [&](std::int64_t i, std::int64_t slot) { run_task(call, i, slot); });
    if (problem_.w.elements() > 0) {
      drain(g_.groups * ceil_div(g_.kg, kFinishRows), [&](std::int64_t i, std::int64_t) { finish(call, i); });
    }
    return {};
  }

  std::string describe() const override {
    return "exact integer outer products, tiles of " + std::to_string(kernels_.max_rows[b_.vectors]) + "x" +
           std::to_string(b_.vectors * kernels_.lanes) + ", " + std::to_string(b_.splits) + " splits, " +
           std::to_string(b_.tasks) + " tasks";
  }

 private:
  struct Call {
    const Args* args = nullptr;
    TileEpilogue::Bound bound;
    std::byte* epilogue = nullptr;
    std::int32_t* dw = nullptr;    // a copy a split: [k][tap][c]
    std::int32_t* sums = nullptr;  // sum of dy, a copy a split: [k]
    std::uint32_t *x = nullptr, *dy = nullptr;
    std::uint8_t* row = nullptr;  // a row of either input, channels last
  };

  std::int64_t row_bytes() const { return round_up(std::max(g_.in[2] * g_.cg, g_.out[2] * g_.kg), 64) + 64; }

  Call carve(Carver& carver) const {
    Call c;
    c.epilogue = carver.take<std::byte>(static_cast<std::int64_t>(epilogue_.workspace_bytes()));
    const std::int64_t copies = std::max<std::int64_t>(b_.splits, 1);
    c.dw = carver.take<std::int32_t>(copies * dw_units_ + 16);
    c.sums = carver.take<std::int32_t>(copies * g_.k);
    c.x = carver.take<std::uint32_t>(slots_ * b_.x_units);
    c.dy = carver.take<std::uint32_t>(slots_ * b_.dy_units);
    c.row = carver.take<std::uint8_t>(slots_ * row_bytes());
    return c;
  }

  /// One row of an input, channels [channel, channel + channels) last: in place where it lies so, else copied to `to`.
  const std::uint8_t* row(const TensorDesc& t, const void* data, std::int64_t image, std::int64_t d, std::int64_t h,
                          std::int64_t width, std::int64_t channel, std::int64_t channels, std::uint8_t* to,
                          std::int64_t& pixel) const {
    const Triple stride = spatial_strides(t);
    const std::uint8_t* from = static_cast<const std::uint8_t*>(data) + image * t.stride[0] + d * stride[0] + h * stride[1];
    if (t.vector == 1 && (t.stride[1] == 1 || t.dim[1] == 1)) {
      pixel = stride[2];
      return from + channel * (t.dim[1] == 1 ? 0 : 1);
    }
    pixel = channels;
    if (t.vector > 1) {
      for (std::int64_t w = 0; w < width; ++w) {
        for (std::int64_t c = 0; c < channels; ++c) {
          const std::int64_t at = channel + c;
          to[w * channels + c] = from[w * stride[2] + at / t.vector * t.stride[1] + at % t.vector];
        }
      }
      return to;
    }
    RowPack p{};
    p.from = from + channel * t.stride[1];
    p.pixel_stride = stride[2];
    p.channel_stride = t.stride[1];
    p.vector = 1;
    p.pixels = width;
    p.groups = 1;
    p.channels = channels;
    p.to = to;
    p.group_bytes = channels;
    pack_bytes(p);
    return to;
  }

  void run_task(const Call& call, std::int64_t task, std::int64_t slot) const {
    const std::int64_t xc = task % b_.x_cuts, yc = task / b_.x_cuts % b_.dy_cuts;
    const std::int64_t group = task / (b_.x_cuts * b_.dy_cuts) % g_.groups, split = task / (b_.x_cuts * b_.dy_cuts * g_.groups);
    const std::int64_t begin = b_.chunks * split / b_.splits, end = b_.chunks * (split + 1) / b_.splits;
    const std::size_t x0 = static_cast<std::size_t>(xc * b_.x_per_cut), y0 = static_cast<std::size_t>(yc * b_.dy_per_cut);
    const std::size_t x1 = std::min(b_.x.size(), x0 + static_cast<std::size_t>(b_.x_per_cut));
    const std::size_t y1 = std::min(b_.dy.size(), y0 + static_cast<std::size_t>(b_.dy_per_cut));
    const std::int64_t c0 = b_.x[x0].first, channels = b_.x[x1 - 1].first + b_.x[x1 - 1].count - c0;
    const std::int64_t k0 = b_.dy[y0].first, rows_k = b_.dy[y1 - 1].first + b_.dy[y1 - 1].count - k0;
    std::uint32_t* x = call.x + slot * b_.x_units;
    std::uint32_t* dy = call.dy + slot * b_.dy_units;
    std::uint8_t* row_buffer = call.row + slot * row_bytes();
    std::int32_t* dw = call.dw + split * dw_units_ + group * g_.kg * g_.taps() * g_.cg;
    std::int32_t* sums = xc == 0 ? call.sums + split * g_.k + group * g_.kg + k0 : nullptr;
    if (sums) std::fill(sums, sums + rows_k, 0);
    const std::int64_t row_cuts = ceil_div(g_.out[1], b_.rows);
    const std::int64_t x_row = b_.steps * b_.x_pitch, x_tap = b_.slots * x_row;

    for (std::int64_t index = begin; index < end; ++index) {
      const std::int64_t h0 = index % row_cuts * b_.rows, rows = std::min(b_.rows, g_.out[1] - h0);
      const std::int64_t plane = index / row_cuts % g_.out[0], image = index / row_cuts / g_.out[0];
      pack_dy(call, dy, row_buffer, image, plane, h0, rows, group * g_.kg + k0, rows_k, sums);
      pack_x(call, x, row_buffer, image, plane, h0, rows, group * g_.cg + c0, channels);
      UnitProductArgs u;
      u.segments = rows;
      u.depth = b_.steps;
      u.a_segment = b_.steps * b_.dy_pitch;
      u.a_step = b_.dy_pitch;
      u.b_segment = g_.stride[1] * x_row;
      u.b_step = b_.x_pitch;
      u.c_row = g_.taps() * g_.cg;
      u.accumulate = index > begin;
      u.a_unsigned = dy_unsigned_;
      for (std::size_t xb = x0; xb < x1; ++xb) {
        for (std::size_t yb = y0; yb < y1; ++yb) {
          for (std::int64_t t = 0; t < g_.taps(); ++t) {
            const std::int64_t tw = t % g_.filter[2], th = t / g_.filter[2] % g_.filter[1],
                               td = t / (g_.filter[2] * g_.filter[1]);
            u.a = dy + b_.dy[yb].first - k0;
            u.b = x + (td * g_.filter[2] + tw) * x_tap + th * g_.dilation[1] * x_row + b_.x[xb].first - c0;
            u.c = dw + (b_.dy[yb].first * g_.taps() + g_.filter_tap(t)) * g_.cg + b_.x[xb].first;
            u.tail = b_.x[xb].tail;
            kernels_.product(static_cast<int>(b_.dy[yb].count), b_.x[xb].vectors, u);
          }
        }
      }
    }
  }

  void pack_dy(const Call& call, std::uint32_t* to, std::uint8_t* buffer, std::int64_t image, std::int64_t plane,
               std::int64_t h0, std::int64_t rows, std::int64_t channel, std::int64_t channels, std::int32_t* sums) const {
    UnitPackArgs p;
    p.channels = channels;
    p.is_signed = problem_.y.type == DataType_t::INT8;
    for (std::int64_t r = 0; r < rows; ++r) {
      std::int64_t pixel = 0;
      const std::uint8_t* from =
          row(problem_.y, call.args->y, image, plane, h0 + r, g_.out[2], channel, channels, buffer, pixel);
      for (std::int64_t s = 0; s < b_.steps; ++s, to += b_.dy_pitch) {
        for (int i = 0; i < kernels_.points; ++i) {
          const std::int64_t w = s * kernels_.points + i;
          p.points[i] = w < g_.out[2] ? from + w * pixel : dy_fill_.data();
        }
        p.to = to;
        kernels_.pack(p);
      }
      if (!sums || x_zero_ == 0) continue;
      for (std::int64_t w = 0; w < g_.out[2]; ++w) {
        const std::uint8_t* v = from + w * pixel;
        if (p.is_signed) {
          for (std::int64_t k = 0; k < channels; ++k) sums[k] += static_cast<std::int8_t>(v[k]);
        } else {
          for (std::int64_t k = 0; k < channels; ++k) sums[k] += v[k];
        }
      }
    }
  }

  /// For every depth tap and width tap, the rows that the height taps will read.
  void pack_x(const Call& call, std::uint32_t* x, std::uint8_t* buffer, std::int64_t image, std::int64_t plane, std::int64_t h0,
              std::int64_t rows, std::int64_t channel, std::int64_t channels) const {
    UnitPackArgs p;
    p.channels = channels;
    p.is_signed = problem_.x.type == DataType_t::INT8;
    p.flip = x_flip_;
    p.zero_point = kernels_.points == 2 ? problem_.zero_points.x : 0;
    const std::int64_t slots = (rows - 1) * g_.stride[1] + (g_.filter[1] - 1) * g_.dilation[1] + 1;
    for (std::int64_t td = 0; td < g_.filter[0]; ++td) {
      const std::int64_t d = plane * g_.stride[0] - g_.pad[0] + td * g_.dilation[0];
      for (std::int64_t slot = 0; slot < slots; ++slot) {
        if (!needed(slot, rows)) continue;
        const std::int64_t h = h0 * g_.stride[1] - g_.pad[1] + slot;
        const bool inside = d >= 0 && d < g_.in[0] && h >= 0 && h < g_.in[1];
        std::int64_t pixel = 0;
        const std::uint8_t* from =
            inside ? row(problem_.x, call.args->x, image, d, h, g_.in[2], channel, channels, buffer, pixel) : x_fill_.data();
        for (std::int64_t tw = 0; tw < g_.filter[2]; ++tw) {
          std::uint32_t* to = x + ((td * g_.filter[2] + tw) * b_.slots + slot) * b_.steps * b_.x_pitch;
          for (std::int64_t s = 0; s < b_.steps; ++s, to += b_.x_pitch) {
            for (int i = 0; i < kernels_.points; ++i) {
              const std::int64_t w = (s * kernels_.points + i) * g_.stride[2] - g_.pad[2] + tw * g_.dilation[2];
              p.points[i] = inside && w >= 0 && w < g_.in[2] ? from + w * pixel : x_fill_.data();
            }
            p.to = to;
            kernels_.pack(p);
          }
        }
      }
    }
  }

  bool needed(std::int64_t slot, std::int64_t rows) const {
    for (std::int64_t th = 0; th < g_.filter[1]; ++th) {
      const std::int64_t at = slot - th * g_.dilation[1];
      if (at >= 0 && at % g_.stride[1] == 0 && at / g_.stride[1] < rows) return true;
    }
    return false;
  }

  void finish(const Call& call, std::int64_t item) const {
    const std::int64_t per_group = ceil_div(g_.kg, kFinishRows);
    const std::int64_t group = item / per_group, first = item % per_group * kFinishRows,
                       end = std::min(g_.kg, first + kFinishRows);
    const std::int64_t per_k = g_.taps() * g_.cg;
    for (std::int64_t k = group * g_.kg + first; k < group * g_.kg + end; ++k) {
      std::int32_t* at = call.dw + k * per_k;
      if (b_.chunks == 0) std::fill(at, at + per_k, 0);
      std::uint32_t sum = 0;
      for (std::int64_t s = 0; s < b_.splits && b_.chunks > 0; ++s) {
        sum += static_cast<std::uint32_t>(call.sums[s * g_.k + k]);
        if (s == 0) continue;
        const std::int32_t* more = at + s * dw_units_;
        for (std::int64_t i = 0; i < per_k; ++i)
          at[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(at[i]) + static_cast<std::uint32_t>(more[i]));
      }
      const std::uint32_t shift = sum * static_cast<std::uint32_t>(x_zero_);
      if (shift != 0) {
        for (std::int64_t i = 0; i < per_k; ++i) at[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(at[i]) - shift);
      }
      Rows r;
      r.outer = k;
      r.channels = g_.cg;
      r.count = g_.filter[2];
      for (std::int64_t row_index = 0; row_index < g_.filter[0] * g_.filter[1]; ++row_index) {
        r.spatial = rows_spatial(problem_.w.rank, row_index / g_.filter[1], row_index % g_.filter[1], 0);
        epilogue_.run(call.bound, r, at + row_index * g_.filter[2] * g_.cg, g_.cg);
      }
    }
  }

  Problem problem_;
  DeviceTraits device_;
  const WgradS8Kernels& kernels_;
  Geometry g_;
  Blocking b_;
  TileEpilogue epilogue_;
  std::vector<std::uint8_t> x_fill_, dy_fill_;  ///< a point of zero points, and of zeros
  std::uint8_t x_flip_ = 0;
  std::int32_t x_zero_ = 0;
  bool dy_unsigned_ = false;
  std::int64_t dw_units_ = 0;
  int slots_ = 1;
};

Verdict accepts(const Problem& p, const DeviceTraits&) {
  if (p.direction != Direction::wgrad) return Verdict::no(std::string("computes wgrad, not ") + to_string(p.direction));
  if (!is_byte(p.x.type) || !is_byte(p.y.type)) {
    return Verdict::no(std::string("reads s8 and u8, not ") + short_name(p.x.type) + " and " + short_name(p.y.type));
  }
  if (!zero_point_fits(p)) {
    return Verdict::no("x's zero point " + std::to_string(p.zero_points.x) + " is no value of type " + short_name(p.x.type));
  }
  return Verdict::yes();
}

std::vector<Candidate> candidates(const Problem& p, const DeviceTraits& device) {
  const Geometry g(merge_pointwise(p));
  const WgradS8Kernels& kernels = wgrad_s8_kernels(device.isa);
  const int most = static_cast<int>(std::clamp<std::int64_t>(ceil_div(g.cg, kernels.lanes), 1, kernels.max_vectors));
  std::vector<Candidate> list;
  for (int v = 1; v <= most; ++v) list.push_back({"v" + std::to_string(v), choose(g, kernels, device, v).cost_us});
  std::stable_sort(list.begin(), list.end(), [](const Candidate& a, const Candidate& b) { return a.cost_us < b.cost_us; });
  return list;
}

error_t build(const Problem& p, const std::string& config, const DeviceTraits& device, const BuildOptions&,
              std::unique_ptr<Plan>& plan) {
  const int most = wgrad_s8_kernels(device.isa).max_vectors;
  const int vectors = config.size() == 2 && config[0] == 'v' ? config[1] - '0' : 0;
  if (vectors < 1 || vectors > most) {
    return {error_code_t::INVALID_VALUE,
            "Config '" + config + "' of path wgrad_s8 must be v1 to v" + std::to_string(most) + "; take it from plan_specs()."};
  }
  DeviceTraits used = device;
  if (threads_for(work_of(candidates(p, one_thread(device)))) == 1) used.threads = 1;
  auto made = std::make_unique<WgradS8Plan>(p, used, vectors);
  OCTAVO_RETURN_IF_ERROR(made->init());
  plan = std::move(made);
  return {};
}

}  // namespace

extern const Path kWgradS8;
const Path kWgradS8{"wgrad_s8", accepts, candidates, build};

}  // namespace octavo::cpu_native
