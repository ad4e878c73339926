// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Path "amx": the direct implicit GEMM of s8/u8 on AMX tiles. Config "emulated" runs the same code on emulated tiles; it is
// never a candidate.

#include "engines/cpu_native/amx_s8.h"

#include <algorithm>
#include <string>

#include "core/zero_point.h"
#include "engines/cpu_native/direct_s8_plan.h"
#include "engines/cpu_native/path.h"

namespace octavo::cpu_native {
namespace {

bool is_byte(DataType_t t) { return t == DataType_t::INT8 || t == DataType_t::UINT8; }

Verdict amx_accepts(const Problem& p, const DeviceTraits& device) {
  if (device.isa != CpuIsa::amx || !device.amx_int8)
    return Verdict::no("the processor has no AMX int8, or a lower level is forced");
  if (p.direction != Direction::fprop)
    return Verdict::no("it runs fprop and the problem is a " + std::string(to_string(p.direction)));
  if (!is_byte(p.x.type) || !is_byte(p.w.type)) {
    return Verdict::no(std::string("it reads s8 and u8, and the inputs are ") + short_name(p.x.type) + " and " +
                       short_name(p.w.type));
  }
  if (!zero_point_fits(p)) {
    return Verdict::no("x's zero point " + std::to_string(p.zero_points.x) + " is no value of type " + short_name(p.x.type));
  }
  return Verdict::yes();
}

class AmxPlan final : public DirectPlan {
 public:
  AmxPlan(const Problem& p, const AmxIsa& isa, const DeviceTraits& device, double work_us)
      : DirectPlan(p, *isa.base, device, work_us), amx_(isa) {}

  error_t init_amx(const BuildOptions& options) {
    OCTAVO_RETURN_IF_ERROR(init(options));
    affine_ = amx_.affine && epilogue_.is_affine() && !filter_zero_ && p_.epilogue.outputs[0].desc.vector == 1;
    const std::int64_t run_steps = shape_.steps() * merged_taps();
    chunks_ = chunks_of(run_steps);
    chunk_bytes_ = run_steps / chunks_ * 4;
    // Tiles of pixels lie in one row, or anywhere where points follow each other at one distance.
    const std::int64_t row = flat() ? tile_points() : block_.columns;
    tile_rows_ = ceil_div(row, ceil_div(row, kAmxRows));
    choose_traffic();
    Carver carver;
    carve(carver);
    workspace_ = carver.used() + 64;
    for (int t = 0; t < 4; ++t) config_.set(t, static_cast<int>(tile_rows_), 64);
    for (int t = 4; t < 6; ++t) config_.set(t, static_cast<int>(tile_rows_), static_cast<int>(chunk_bytes_));
    for (int t = 6; t < 8; ++t) config_.set(t, static_cast<int>(chunk_bytes_ / 4), 64);
    return {};
  }

  std::string describe() const override {
    return DirectPlan::describe() + ", tiles of " + std::to_string(tile_rows_) + " points x " + std::to_string(chunk_bytes_) +
           " channels";
  }

 private:
  bool flat() const { return im2col_ || (g_.taps() == 1 && block_.rows == 1); }

  /// Smallest number of equal chunks of at most 16 steps; equal, because the tile's shape is set once.
  static std::int64_t chunks_of(std::int64_t steps) {
    std::int64_t n = ceil_div(steps, 16);
    while (steps % n != 0) ++n;
    return n;
  }
  std::int64_t points_of_call(const FilterBlock&) const override { return 2 * tile_rows_; }
  std::int64_t padded_steps(std::int64_t steps) const override {
    const std::int64_t taps = merge_taps_ ? fg_.filter[2] : 1;
    std::int64_t best = steps;
    for (std::int64_t s = steps; s <= steps + 15; ++s) {
      if (chunks_of(s * taps) < chunks_of(best * taps)) best = s;
    }
    return best;
  }

  /// The tile layer of the thread: state of the processor, or this object on emulated tiles.
  static EmulatedTiles& layer() {
    thread_local EmulatedTiles tiles;
    return tiles;
  }
  void enter() const override { amx_.configure(&layer(), config_); }
  void leave() const override { amx_.release(&layer()); }

  struct PixelTile {
    std::int64_t point, count;
  };
  /// Tile t of a block.
  PixelTile pixel_tile(const Block& b, std::int64_t t) const {
    const std::int64_t columns = b.q1 - b.q0, row = flat() ? (b.p1 - b.p0) * columns : columns;
    const std::int64_t per_row = ceil_div(row, tile_rows_), at = t % per_row * tile_rows_;
    return {t / per_row * row + at, std::min(tile_rows_, row - at)};
  }

  void run_block(const Args& args, const TileEpilogue::Bound& bound, const std::byte* filter, const std::int32_t* sums,
                 const Areas& a, Scratch& s, std::int64_t index) const override {
    const Block b = decode(index);
    encode_block(args, b, s);
    const std::int64_t columns = b.q1 - b.q0, points = (b.p1 - b.p0) * columns;
    const std::int64_t tiles = flat() ? ceil_div(points, tile_rows_) : (b.p1 - b.p0) * ceil_div(columns, tile_rows_);
    std::int64_t summed_group = -1;
    AmxPending pending[2];
    for (std::int64_t kb = b.k_begin; kb < b.k_end; ++kb) {
      const FilterBlock& fb = shape_.blocks()[static_cast<std::size_t>(kb)];
      if (filter_zero_ && fb.group != summed_group) {
        sum_inputs(b, fb, a, s, points);
        summed_group = fb.group;
      }
      const bool affine = affine_ && epilogue_.affine_block(bound, fb.k, fb.channels, *s.affine);
      AmxTile t{};
      t.pixel_stride = (im2col_ ? 1 : g_.stride[2]) * pixel_bytes_;
      t.w = reinterpret_cast<const std::uint8_t*>(filter) + fb.offset;
      t.w_stride = std::int64_t{fb.vectors} * 64;
      t.runs = s.runs;
      t.chunks = static_cast<int>(chunks_);
      t.chunk_bytes = static_cast<int>(chunk_bytes_);
      t.init = s.init;
      for (AmxPending& p : pending) {
        p.next = p.count = 0;
        if (!affine) continue;
        p.affine.scale = s.affine->scale;
        p.affine.bias = s.affine->bias;
        p.affine.is_unsigned = s.affine->is_unsigned;
        p.affine.relu = s.affine->relu;
        p.affine.mask = (std::uint64_t{1} << fb.channels) - 1;
      }
      Taps last{};
      bool first = true;
      int which = 0;
      for (std::int64_t i = 0; i < tiles; i += 2, which ^= 1) {
        const int pixel_tiles = i + 1 < tiles ? 2 : 1;
        const PixelTile part[2] = {pixel_tile(b, i), pixel_tile(b, std::min(i + 1, tiles - 1))};
        if (first || !fixed_taps_) {
          const std::int64_t from = part[0].point;
          const Taps taps = taps_of(b, from, part[1].point + part[1].count - from);
          if (first || !(taps == last)) {
            t.run_count = list_runs(taps, fb, s.runs);
            starting_values(taps, all_taps(b), fb, sums, a.w_zero, s.init);
            if (affine) add_bias(s.affine->bias_i, s.init);
            last = taps;
            first = false;
          }
        }
        t.out = s.acc + which * kAmxPixels * kAmxBlock;
        for (int j = 0; j < 2; ++j) t.x[j] = s.x + s.pixel[part[j].point];
        AmxPending& before = pending[which ^ 1];
        amx_.kernel[pixel_tiles][fb.vectors](&layer(), t, before);
        if (before.next < before.count) amx_.finish(before, fb.vectors);
        s.ahead.prefetch();
        s.behind.stream_share();
        before.next = before.count = 0;
        if (affine) {
          AmxPending& now = pending[which];
          now.acc = t.out;
          now.next = now.count = 0;
          for (int j = 0; j < pixel_tiles; ++j) {
            place(args, b, s, fb.k, part[j].point, part[j].count, now.out + now.count);
            for (std::int64_t r = 0; r < part[j].count; ++r) now.row[now.count++] = static_cast<std::uint8_t>(j * kAmxRows + r);
          }
          continue;
        }
        for (int j = 0; j < pixel_tiles; ++j) {
          std::int32_t* acc = t.out + j * kAmxRows * kAmxBlock;
          if (filter_zero_) subtract_sums(fb, a, s, acc, part[j].point, part[j].count, kAmxBlock);
          store(b, bound, fb, acc, part[j].point, part[j].count, kAmxBlock);
        }
      }
      AmxPending& rest = pending[which ^ 1];
      if (rest.next < rest.count) amx_.finish(rest, fb.vectors);
    }
    if (s.stage) stream_block(args, b, s);
  }

  const AmxIsa& amx_;
  TileConfig config_;
  std::int64_t chunks_ = 1, chunk_bytes_ = 4, tile_rows_ = kAmxRows;
};

std::vector<Candidate> amx_candidates(const Problem& p, const DeviceTraits& device) {
  const Geometry g(p);
  const double k = static_cast<double>(round_up(g.kg, kAmxLanes) * g.groups);
  const double points = static_cast<double>(g.n * g.out[0] * g.out[1] * g.out[2]);
  const double window = static_cast<double>(g.taps() * round_up(g.cg, 4));
  // Fitted on a Xeon with AMX: storing and finishing tiles weighs more than on VNNI, so thin layers go there.
  const double store = points * static_cast<double>(g.k) > static_cast<double>(device.l2_bytes) ? 1.2 : 0.9;
  const double cycles = points * (k * window / 700 + k * store + static_cast<double>(g.c) * 0.1);
  return {{"", 1.0 + cycles / 2500.0 / std::max(1, device.threads)}};
}

error_t amx_build(const Problem& p, const std::string& config, const DeviceTraits& device, const BuildOptions& options,
                  std::unique_ptr<Plan>& plan) {
  const bool emulated = config == "emulated";
  if (!config.empty() && !emulated) {
    return {error_code_t::INVALID_VALUE, "Config '" + config + "' of path 'amx' is unknown; leave it empty."};
  }
  const AmxIsa* isa = &kAmxEmulated;
#if defined(__x86_64__)
  if (!emulated) {
    if (!host_cpu().amx_int8) {
      return {error_code_t::GRAPH_EXECUTION_PLAN_CREATION_FAILED,
              "This processor has no AMX; path 'amx' can be planned here, not run."};
    }
    isa = &kAmxHardware;
  }
#endif
  DeviceTraits used = device;
  used.isa = std::min(device.isa, host_cpu().isa);
  auto made = std::make_unique<AmxPlan>(p, *isa, used, work_of(amx_candidates(p, one_thread(device))));
  OCTAVO_RETURN_IF_ERROR(made->init_amx(options));
  plan = std::move(made);
  return {};
}

}  // namespace

extern const Path kAmxS8;
const Path kAmxS8{"amx", &amx_accepts, &amx_candidates, &amx_build};

}  // namespace octavo::cpu_native
