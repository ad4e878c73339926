// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Path "amx_bf16": fprop and dgrad of bf16 on AMX tiles, 32 points x 32 channels. Config "emulated" runs the same code on
// emulated tiles; it is never a candidate. Where an operand is so small that flushing denormals would be seen, or 0 * infinity
// could arise where the contract has no product, a task computes in plain f32 (exact()). Tasks cut the points in a way that
// depends on the problem alone, so which way a point is computed, and with it its bits, does not depend on the threads.

#include "engines/cpu_native/amx_bf16.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <string>

#include "core/float.h"
#include "core/parallel.h"
#include "engines/cpu_native/amx_bf16_plan.h"
#include "engines/cpu_native/geometry.h"
#include "engines/cpu_native/path.h"

namespace octavo::cpu_native {
namespace {

struct Blocking {
  bool in_place = false;
  bool merged = false;
  std::int64_t steps = 1, step = 2;  ///< a channel run (or a filter row's run) in steps of so many elements
  std::int64_t together = 1;         ///< steps of one tap before the next tap's
  std::int64_t rows = 1, columns = 1, images = 1;
  std::int64_t row_cuts = 1, column_cuts = 1, image_cuts = 1, units = 0;
  std::int64_t blocks = 1, channel_cuts = 1, blocks_per_cut = 1, tasks = 0;
  Bf16Strip strip;
  std::int64_t strip_bytes = 0, filter_bytes = 0;
  double cost_us = 1;
};

/// Every combination of phases has one tap, inside the image, and the points lie along one axis.
bool readable_in_place(const FloatGeometry& g) {
  if (g.in.vector != 1 || (g.in.stride[1] != 1 && g.in.dim[1] != 1) || g.combos() != 1 || g.taps(0) != 1) return false;
  if (g.axis[0].points != 1 || g.axis[1].points != 1) return false;
  for (const FloatAxis& a : g.axis) {
    if (a.low < 0 || (a.points - 1) * a.in_step + a.high >= a.in) return false;
  }
  return true;
}

std::int64_t most_taps(const FloatGeometry& g) {
  std::int64_t most = 0;
  for (std::int64_t c = 0; c < g.combos(); ++c) most = std::max(most, g.taps(c));
  return most;
}

Blocking choose(const FloatGeometry& g, const DeviceTraits& device) {
  Blocking b;
  const FloatAxis &d = g.axis[0], &h = g.axis[1], &w = g.axis[2];
  b.blocks = ceil_div(g.oc, std::int64_t{kTileBlock});
  if (g.n == 0 || g.groups == 0 || g.oc == 0 || g.ic == 0 || d.points * h.points * w.points == 0) return b;

  const AxisPhase& pw = w.phases[0];
  b.merged = w.steps() == 1 && pw.offset.size() > 1 && !w.compact && g.ic < 64 && g.ic % 32 != 0;
  for (std::size_t t = 1; t < pw.offset.size(); ++t) b.merged = b.merged && pw.offset[t] == pw.offset[t - 1] + 1;
  const std::int64_t run = b.merged ? g.ic * static_cast<std::int64_t>(pw.offset.size()) : g.ic;
  b.steps = ceil_div(run, 32);
  b.step = 2 * ceil_div(run, 2 * b.steps);
  if (readable_in_place(g) && g.ic % 2 == 0) {
    for (std::int64_t n = b.steps; n <= b.steps + (b.steps + 2) / 3; ++n) {
      if (g.ic % (2 * n) == 0 && g.ic / n <= 32) {
        b.in_place = true;
        b.steps = n;
        b.step = g.ic / n;
        break;
      }
    }
  }
  const std::int64_t taps = most_taps(g);
  b.together = taps > 1 ? std::min<std::int64_t>(b.steps, 4) : b.steps;

  // Units of points: they fit the second-level cache beside a block of filter, and there are enough of them to share out.
  const std::int64_t budget = std::max<std::int64_t>(device.l2_bytes, 512 << 10) / 3 / 2;
  const std::int64_t pitch = b.merged ? g.ic : b.steps * b.step;
  const std::int64_t overrun = b.merged ? b.steps * b.step - run : 0;
  const auto elements = [&](std::int64_t rows, std::int64_t columns) {
    return b.in_place ? columns * g.ic : bf16_strip(g, b.merged, pitch, rows, columns, overrun).image_elements;
  };
  b.rows = h.points;
  b.columns = w.points;
  while (elements(b.rows, b.columns) > budget && b.rows > 1) b.rows = ceil_div(b.rows, 2);
  while (elements(b.rows, b.columns) > budget && b.columns > 64) b.columns = round_up(ceil_div(b.columns, 2), 32);
  const auto units = [&] {
    return ceil_div(g.n, b.images) * d.points * ceil_div(h.points, b.rows) * ceil_div(w.points, b.columns) * g.groups;
  };
  while (units() < 64 && b.rows > 1 && b.rows * b.columns >= 512) b.rows = ceil_div(b.rows, 2);
  while (units() < 64 && b.rows == 1 && b.columns >= 512) b.columns = round_up(ceil_div(b.columns, 2), 32);
  if (b.rows == h.points && b.columns == w.points && !b.in_place) {
    while (b.images < g.n && b.images * b.rows * b.columns < 512 && (b.images + 1) * elements(b.rows, b.columns) <= budget &&
           ceil_div(g.n, b.images + 1) * d.points * g.groups >= 16) {
      ++b.images;
    }
  }
  b.rows = ceil_div(h.points, ceil_div(h.points, b.rows));
  b.row_cuts = ceil_div(h.points, b.rows);
  b.column_cuts = ceil_div(w.points, b.columns);
  b.image_cuts = ceil_div(g.n, b.images);
  b.units = units();
  if (!b.in_place) {
    b.strip = bf16_strip(g, b.merged, pitch, b.rows, b.columns, overrun);
    // Tiles run past the last point.
    b.strip_bytes = round_up((b.images * b.strip.image_elements + kTilePixels * b.strip.point + 64) * 2, 64);
  }
  const std::int64_t threads = std::max(1, device.threads);
  b.channel_cuts = threads > 1 && b.units < 4 * threads ? std::min(b.blocks, ceil_div(4 * threads, b.units)) : 1;
  b.blocks_per_cut = ceil_div(b.blocks, b.channel_cuts);
  b.channel_cuts = ceil_div(b.blocks, b.blocks_per_cut);
  b.tasks = b.units * b.channel_cuts;

  double products = 0, outputs = 0;
  for (std::int64_t c = 0; c < g.combos(); ++c) {
    double points = static_cast<double>(g.n * g.groups);
    for (int a = 0; a < 3; ++a) points *= static_cast<double>(g.phase(a, c).outputs);
    const std::int64_t row_taps = b.merged ? g.taps(c) / static_cast<std::int64_t>(pw.offset.size()) : g.taps(c);
    products += points * static_cast<double>(row_taps * b.steps * ceil_div(g.oc, std::int64_t{kTileLanes}));
    outputs += points * static_cast<double>(g.oc);
  }
  const double wasted = b.in_place ? 1.0 : static_cast<double>(b.strip.row_points) / static_cast<double>(b.columns);
  const double packed = static_cast<double>(b.tasks * b.images) * static_cast<double>(elements(b.rows, b.columns));
  const double cycles = products * 1.4 * wasted + outputs * 0.35 + packed * (b.in_place ? 0.04 : 0.12);
  const double busy = static_cast<double>(std::min(threads, b.tasks));
  const double bytes = static_cast<double>(g.in.span_bytes()) + outputs * 2.0;
  b.cost_us = 1.0 + std::max(cycles / 2600.0 / busy, bytes / 12000.0 / std::min(busy, 8.0));
  return b;
}

class AmxBf16Plan final : public Plan {
 public:
  AmxBf16Plan(const Problem& problem, const DeviceTraits& device, const AmxBf16Isa& isa)
      : problem_(merge_pointwise(problem)), device_(device), isa_(isa), g_(float_geometry(problem_)), b_(choose(g_, device)) {
    slots_ = std::max(1, device.threads);
  }

  error_t prepare(const BuildOptions& options) {
    const CpuIsa vectors = std::min(device_.isa, host_cpu().isa);
    OCTAVO_RETURN_IF_ERROR(epilogue_.compile(problem_, f32_kernels(vectors), vectors));
    const Epilogue& e = problem_.epilogue;
    const TensorDesc& out = e.outputs[0].desc;
    plain_bf16_ = e.identity() && e.outputs.size() == 1 && out.type == DataType_t::BFLOAT16 && out.vector == 1 &&
                  (out.stride[1] == 1 || out.dim[1] == 1);
    for (std::int64_t c = 0; c < g_.combos(); ++c) {
      Combo combo;
      const AxisPhase &pd = g_.phase(0, c), &ph = g_.phase(1, c), &pw = g_.phase(2, c);
      combo.row_taps = b_.merged ? 1 : static_cast<std::int64_t>(pw.offset.size());
      combo.taps = static_cast<std::int64_t>(pd.offset.size() * ph.offset.size()) * combo.row_taps;
      combo.filter = b_.filter_bytes;
      combo.block_bytes = combo.taps * b_.steps * b_.step * kTileBlock * 2;
      b_.filter_bytes += combo.block_bytes * b_.blocks * g_.groups;
      std::int64_t done = 0;
      for (std::int64_t s = 0; s < b_.steps && b_.tasks > 0; s += b_.together) {
        const int steps = static_cast<int>(std::min(b_.together, b_.steps - s));
        for (const std::int64_t od : pd.offset) {
          for (const std::int64_t oh : ph.offset) {
            for (std::int64_t t = 0; t < combo.row_taps; ++t) {
              const std::int64_t ow = pw.offset[static_cast<std::size_t>(t)];
              const std::int64_t at = b_.in_place ? ow * g_.in_stride[2] : b_.strip.tap(g_, od, oh, ow);
              combo.runs.push_back({(at + s * b_.step) * 2, done, steps});
              done += steps;
            }
          }
        }
      }
      combos_.push_back(std::move(combo));
    }
    const std::int64_t rows = b_.in_place ? std::min<std::int64_t>(kTileRows, g_.axis[2].points) : kTileRows;
    for (int t = 0; t < 4; ++t) config_.set(t, static_cast<int>(rows), 64);
    for (int t = 4; t < 6; ++t) config_.set(t, static_cast<int>(rows), static_cast<int>(b_.step * 2));
    for (int t = 6; t < 8; ++t) config_.set(t, static_cast<int>(b_.step / 2), 64);
    if (options.constant_filter != nullptr && b_.tasks > 0) {
      constant_ = AlignedBytes(static_cast<std::size_t>(b_.filter_bytes));
      constant_range_ = pack_filter(options.constant_filter, reinterpret_cast<std::uint16_t*>(constant_.get()));
    }
    return {};
  }

  std::size_t workspace_bytes() const override {
    return 64 + static_cast<std::size_t>(round_up(static_cast<std::int64_t>(epilogue_.workspace_bytes()), 64) +
                                         (constant_ ? 0 : round_up(b_.filter_bytes, 64)) + slots_ * slot_bytes());
  }

  std::string describe() const override {
    return "bf16 tiles of 32 x 32, steps of " + std::to_string(b_.step) +
           (b_.in_place ? ", input in place, " : ", packed input, ") + std::to_string(b_.tasks) + " tasks";
  }

  error_t execute(const Args& args) const override {
    if (b_.tasks == 0) return {};
    std::byte* at = static_cast<std::byte*>(align64(args.workspace));
    Call call;
    call.args = &args;
    call.in = static_cast<const std::uint16_t*>(g_.dgrad ? args.y : args.x);
    call.bound = epilogue_.bind(args, at);
    at += round_up(static_cast<std::int64_t>(epilogue_.workspace_bytes()), 64);
    call.filter = reinterpret_cast<const std::uint16_t*>(constant_.get());
    call.range = constant_range_;
    if (!constant_) {
      call.range = pack_filter(args.w, reinterpret_cast<std::uint16_t*>(at));
      call.filter = reinterpret_cast<const std::uint16_t*>(at);
      at += round_up(b_.filter_bytes, 64);
    }
    std::atomic<std::int64_t> next{0};
    parallel_for(std::min<std::int64_t>(slots_, b_.tasks), [&](std::int64_t slot, int) {
      isa_.configure(&layer(), config_);
      for (std::int64_t task; (task = next.fetch_add(1, std::memory_order_relaxed)) < b_.tasks;) {
        run_task(call, at + slot * slot_bytes(), task);
      }
      isa_.release(&layer());
    });
    return {};
  }

 private:
  struct Combo {
    std::vector<AmxRun> runs;
    std::int64_t taps = 0, row_taps = 0;       // merged: a filter row is one
    std::int64_t filter = 0, block_bytes = 0;  // before this combo's packed filter; of one block of channels
  };
  struct Call {
    const Args* args = nullptr;
    const std::uint16_t* in = nullptr;
    TileEpilogue::Bound bound;
    const std::uint16_t* filter = nullptr;
    Bf16Range range;
  };
  /// What a task works on.
  struct Unit {
    Bf16Box box;
    std::int64_t images = 1, group = 0;
    const std::uint16_t* strip = nullptr;
    float* acc = nullptr;
  };

  static EmulatedTiles& layer() {
    thread_local EmulatedTiles tiles;
    return tiles;
  }
  static constexpr std::int64_t kTileFloats = kTilePixels * kTileBlock;
  std::int64_t slot_bytes() const { return b_.strip_bytes + 2 * kTileFloats * 4; }

  /// Where channel i of tap t lies in a block's packed filter, lane 0, in elements.
  std::int64_t filter_at(const Combo& combo, std::int64_t t, std::int64_t i, std::int64_t vectors) const {
    const std::int64_t step = i / b_.step, part = step / b_.together * b_.together;
    const std::int64_t steps = std::min(b_.together, b_.steps - part);
    return ((part * combo.taps + t * steps + step - part) * (b_.step / 2) + i % b_.step / 2) * vectors * kTileBlock + i % 2;
  }

  Bf16Range pack_filter(const void* w, std::uint16_t* packed) const {
    std::atomic<std::uint32_t> smallest{0xffff}, largest{0};
    const std::int64_t items = b_.blocks * g_.groups * g_.combos();
    parallel_for(items, [&](std::int64_t item, int) {
      Bf16Range range;
      pack_filter_item(static_cast<const std::uint16_t*>(w), packed, item, range);
      for (std::uint32_t seen = smallest.load();
           range.smallest < seen && !smallest.compare_exchange_weak(seen, range.smallest);) {
      }
      for (std::uint32_t seen = largest.load(); range.largest > seen && !largest.compare_exchange_weak(seen, range.largest);) {
      }
    });
    Bf16Range all;
    all.smallest = static_cast<std::uint16_t>(smallest.load());
    all.largest = static_cast<std::uint16_t>(largest.load());
    return all;
  }

  void pack_filter_item(const std::uint16_t* w, std::uint16_t* packed, std::int64_t item, Bf16Range& range) const {
    const std::int64_t block = item % b_.blocks, group = item / b_.blocks % g_.groups, c = item / b_.blocks / g_.groups;
    const Combo& combo = combos_[static_cast<std::size_t>(c)];
    const std::int64_t first = block * kTileBlock, count = std::min<std::int64_t>(kTileBlock, g_.oc - first);
    const std::int64_t vectors = ceil_div(count, std::int64_t{kTileLanes});
    std::uint16_t* to = packed + (combo.filter + (group * b_.blocks + block) * combo.block_bytes) / 2;
    std::memset(to, 0, static_cast<std::size_t>(combo.block_bytes));
    const AxisPhase &pd = g_.phase(0, c), &ph = g_.phase(1, c), &pw = g_.phase(2, c);
    const std::int64_t o_step =
        first + 1 < g_.oc ? g_.filter_offset(group, first + 1, 0) - g_.filter_offset(group, first, 0) : 1;
    const bool even = g_.filter.vector == 1 || !g_.dgrad;  // one stride from each output channel to the next
    std::int64_t t = 0;
    for (const std::int64_t fd : pd.filter) {
      for (const std::int64_t fh : ph.filter) {
        for (std::size_t s = 0; s < pw.filter.size(); ++s) {
          const std::uint16_t* tap =
              w + fd * g_.filter_stride[0] + fh * g_.filter_stride[1] + pw.filter[s] * g_.filter_stride[2];
          for (std::int64_t i = 0; i < g_.ic; ++i) {
            const std::int64_t channel = b_.merged ? static_cast<std::int64_t>(s) * g_.ic + i : i;
            std::uint16_t* dst = to + filter_at(combo, t, channel, vectors);
            const std::uint16_t* src = tap + g_.filter_offset(group, first, i);
            for (std::int64_t l = 0; l < count; ++l) {
              const std::uint16_t v = even ? src[l * o_step] : tap[g_.filter_offset(group, first + l, i)];
              const auto magnitude = static_cast<std::uint16_t>(v & 0x7fffu);
              range.smallest = std::min(range.smallest, static_cast<std::uint16_t>(magnitude - 1u));
              range.largest = std::max(range.largest, magnitude);
              dst[2 * l] = v;
            }
          }
          if (!b_.merged || s + 1 == pw.filter.size()) ++t;
        }
      }
    }
  }

  void run_task(const Call& call, std::byte* scratch, std::int64_t task) const {
    // Cuts of channels vary slowest: neighbours share the filter.
    std::int64_t rest = task;
    Unit u;
    const std::int64_t cw = rest % b_.column_cuts;
    rest /= b_.column_cuts;
    const std::int64_t ch = rest % b_.row_cuts;
    rest /= b_.row_cuts;
    u.box.plane = rest % g_.axis[0].points;
    rest /= g_.axis[0].points;
    const std::int64_t ci = rest % b_.image_cuts;
    rest /= b_.image_cuts;
    u.group = rest % g_.groups;
    const std::int64_t cut = rest / g_.groups;
    u.box.column = cw * b_.columns;
    u.box.columns = std::min(b_.columns, g_.axis[2].points - u.box.column);
    u.box.row = ch * b_.rows;
    u.box.rows = std::min(b_.rows, g_.axis[1].points - u.box.row);
    u.box.channel = u.group * g_.ic;
    u.box.channels = g_.ic;
    u.box.image = ci * b_.images;
    u.images = std::min(b_.images, g_.n - u.box.image);
    u.acc = reinterpret_cast<float*>(scratch + b_.strip_bytes);

    Bf16Range range;
    if (b_.in_place) {
      u.strip = call.in + u.box.image * g_.in.stride[0] + g_.axis[0].low * g_.in_stride[0] + g_.axis[1].low * g_.in_stride[1] +
                u.box.channel * g_.in.stride[1] + u.box.column * g_.axis[2].in_step * g_.in_stride[2];
      const std::int64_t step = g_.axis[2].in_step * g_.in_stride[2];
      isa_.copy_rows(nullptr, 0, u.strip + g_.axis[2].low * g_.in_stride[2], step, u.box.columns, g_.ic, range);
    } else {
      std::uint16_t* strip = reinterpret_cast<std::uint16_t*>(scratch);
      for (std::int64_t i = 0; i < u.images; ++i) {
        Bf16Box box = u.box;
        box.image += i;
        pack_bf16(isa_, g_, b_.strip, call.in, box, strip + i * b_.strip.image_elements, range);
      }
      u.strip = strip;
    }
    const bool padded = !b_.in_place;
    const bool fast = Bf16Range::safe(range, call.range) && (call.range.finite() || !padded) && (range.finite() || !b_.merged);
    const std::int64_t end = std::min(b_.blocks, (cut + 1) * b_.blocks_per_cut);
    for (std::int64_t block = cut * b_.blocks_per_cut; block < end; ++block) {
      for (std::int64_t i = 0; i < u.images; ++i) {
        for (std::int64_t c = 0; c < g_.combos(); ++c) {
          if (fast) {
            multiply(call, u, block, i, c);
          } else {
            exact(call, u, block, i, c);
          }
        }
      }
    }
  }

  /// The points of a unit that a phase has.
  std::int64_t points_of(int axis, std::int64_t combo, std::int64_t first, std::int64_t count) const {
    return std::min(first + count, g_.phase(axis, combo).outputs) - first;
  }

  void multiply(const Call& call, const Unit& u, std::int64_t block, std::int64_t image, std::int64_t c) const {
    const Combo& combo = combos_[static_cast<std::size_t>(c)];
    if (u.box.plane >= g_.phase(0, c).outputs) return;
    const std::int64_t rows = points_of(1, c, u.box.row, u.box.rows), columns = points_of(2, c, u.box.column, u.box.columns);
    if (rows <= 0 || columns <= 0) return;
    const std::int64_t left = g_.oc - block * kTileBlock;
    const int vectors = left > kTileLanes ? 2 : 1;
    const std::int64_t row_points = b_.in_place ? columns : b_.strip.row_points;
    const std::int64_t point = b_.in_place ? g_.axis[2].in_step * g_.in_stride[2] : b_.strip.point;
    const std::int64_t points = (rows - 1) * row_points + columns;
    const std::uint16_t* base = u.strip + image * (b_.in_place ? 0 : b_.strip.image_elements);
    AmxBf16Args g;
    g.a_row = point * 2;
    g.runs = combo.runs.data();
    g.run_count = static_cast<int>(combo.runs.size());
    g.step_bytes = static_cast<int>(b_.step * 2);
    g.b = reinterpret_cast<const std::uint8_t*>(call.filter) + combo.filter + (u.group * b_.blocks + block) * combo.block_bytes;
    g.b_row = std::int64_t{vectors} * 64;
    g.b_step = b_.step / 2 * g.b_row;
    g.out_row = kTileBlock;
    // In place, a tile may not read past the tensor: the last ones begin earlier, in an earlier unit's points if need be.
    const std::int64_t last = b_.in_place ? std::max(-u.box.column, columns - kTileRows) : points;
    // Runs of points in one row; between rows lie columns that are nobody's.
    const auto first_of = [&](std::int64_t p, int t) { return std::min(p + t * kTileRows, last); };
    const auto emit_tiles = [&](std::int64_t p, const float* acc) {
      for (int t = 0; t < 2; ++t, acc += kTileRows * kTileBlock) {
        const std::int64_t begin = p + t * kTileRows, end = std::min(points, begin + kTileRows), from = first_of(p, t);
        for (std::int64_t q = begin; q < end;) {
          const std::int64_t row = q / row_points, column = q % row_points;
          if (column >= columns) {
            q += row_points - column;
            continue;
          }
          const std::int64_t count = std::min(end - q, columns - column);
          emit(call, u, block, image, c, row, column, count, acc + (q - from) * kTileBlock);
          q += count;
        }
      }
    };
    // Two sets of accumulators: while one is on its way out, the products of the next are under way.
    float* acc = u.acc;
    float* before = u.acc + kTileFloats;
    for (std::int64_t p = 0; p < points; p += kTilePixels) {
      const int tiles = p + kTileRows < points ? 2 : 1;
      for (int t = 0; t < tiles; ++t) g.a[t] = reinterpret_cast<const std::uint8_t*>(base + first_of(p, t) * point);
      g.out = acc;
      isa_.kernel[tiles][vectors](&layer(), g);
      if (p > 0) emit_tiles(p - kTilePixels, before);
      std::swap(acc, before);
    }
    emit_tiles((points - 1) / kTilePixels * kTilePixels, before);
  }

  /// `count` finished points of one row (row and column within the unit) and one block of channels.
  void emit(const Call& call, const Unit& u, std::int64_t block, std::int64_t image, std::int64_t c, std::int64_t row,
            std::int64_t column, std::int64_t count, const float* acc) const {
    const std::int64_t steps[3] = {g_.axis[0].steps(), g_.axis[1].steps(), g_.axis[2].steps()};
    Rows r;
    r.outer = u.box.image + image;
    set_point(r, g_.spatial, u.box.plane * steps[0] + c / (steps[1] * steps[2]),
              (u.box.row + row) * steps[1] + c / steps[2] % steps[1], (u.box.column + column) * steps[2] + c % steps[2]);
    r.count = count;
    r.channel = u.group * g_.oc + block * kTileBlock;
    r.channels = std::min<std::int64_t>(kTileBlock, g_.oc - block * kTileBlock);
    if (plain_bf16_) {
      isa_.narrow_rows(static_cast<std::uint16_t*>(epilogue_.address(*call.args, r)), epilogue_.pixel_stride() * steps[2], acc,
                       kTileBlock, count, r.channels);
    } else if (steps[2] == 1) {
      epilogue_.run(call.bound, r, acc, kTileBlock);
    } else {
      r.count = 1;
      std::int64_t& last = r.spatial[static_cast<std::size_t>(g_.spatial - 1)];
      for (std::int64_t i = 0; i < count; ++i, last += steps[2]) epilogue_.run(call.bound, r, acc + i * kTileBlock, kTileBlock);
    }
  }

  /// The same sum in f32, denormals kept and padding left out.
  void exact(const Call& call, const Unit& u, std::int64_t block, std::int64_t image, std::int64_t c) const {
    const Combo& combo = combos_[static_cast<std::size_t>(c)];
    const AxisPhase &pd = g_.phase(0, c), &ph = g_.phase(1, c), &pw = g_.phase(2, c);
    if (u.box.plane >= pd.outputs) return;
    const std::int64_t rows = points_of(1, c, u.box.row, u.box.rows), columns = points_of(2, c, u.box.column, u.box.columns);
    const std::int64_t vectors = g_.oc - block * kTileBlock > kTileLanes ? 2 : 1;
    const std::uint16_t* filter = call.filter + (combo.filter + (u.group * b_.blocks + block) * combo.block_bytes) / 2;
    const std::uint16_t* base = u.strip + image * (b_.in_place ? 0 : b_.strip.image_elements);
    const std::int64_t row_step = b_.in_place ? 0 : b_.strip.row_points * b_.strip.point;
    const std::int64_t point = b_.in_place ? g_.axis[2].in_step * g_.in_stride[2] : b_.strip.point;
    const auto inside = [&](std::size_t axis, std::int64_t i, std::int64_t offset) {
      const std::int64_t at = i * g_.axis[axis].in_step + offset;
      return at >= 0 && at < g_.axis[axis].in;
    };
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t column = 0; column < columns; ++column) {
        float* acc = u.acc;
        std::fill(acc, acc + kTileBlock, 0.0f);
        std::int64_t t = 0;
        for (const std::int64_t od : pd.offset) {
          for (const std::int64_t oh : ph.offset) {
            for (std::size_t s = 0; s < pw.offset.size(); ++s) {
              const std::int64_t ow = pw.offset[s];
              if (inside(0, u.box.plane, od) && inside(1, u.box.row + row, oh) && inside(2, u.box.column + column, ow)) {
                const std::int64_t tap = b_.in_place ? ow * g_.in_stride[2] : b_.strip.tap(g_, od, oh, ow);
                const std::uint16_t* x = base + row * row_step + column * point + tap;
                for (std::int64_t i = 0; i < g_.ic; ++i) {
                  const float v = bf16_to_float(x[i]);
                  const std::int64_t channel = b_.merged ? static_cast<std::int64_t>(s) * g_.ic + i : i;
                  const std::uint16_t* f = filter + filter_at(combo, t, channel, vectors);
                  for (int l = 0; l < vectors * kTileLanes; ++l) acc[l] += v * bf16_to_float(f[2 * l]);
                }
              }
              if (!b_.merged || s + 1 == pw.offset.size()) ++t;
            }
          }
        }
        emit_exact(call, u, block, image, c, row, column, acc);
      }
    }
  }
  void emit_exact(const Call& call, const Unit& u, std::int64_t block, std::int64_t image, std::int64_t c, std::int64_t row,
                  std::int64_t column, const float* acc) const {
    if (!plain_bf16_) return emit(call, u, block, image, c, row, column, 1, acc);
    std::uint16_t rounded[kTileBlock];
    for (int l = 0; l < kTileBlock; ++l) rounded[l] = float_to_bf16(acc[l]);
    const std::int64_t steps[3] = {g_.axis[0].steps(), g_.axis[1].steps(), g_.axis[2].steps()};
    Rows r;
    r.outer = u.box.image + image;
    set_point(r, g_.spatial, u.box.plane * steps[0] + c / (steps[1] * steps[2]),
              (u.box.row + row) * steps[1] + c / steps[2] % steps[1], (u.box.column + column) * steps[2] + c % steps[2]);
    r.channel = u.group * g_.oc + block * kTileBlock;
    std::memcpy(epilogue_.address(*call.args, r), rounded,
                static_cast<std::size_t>(std::min<std::int64_t>(kTileBlock, g_.oc - block * kTileBlock)) * 2);
  }

  Problem problem_;
  DeviceTraits device_;
  const AmxBf16Isa& isa_;
  FloatGeometry g_;
  Blocking b_;
  FloatStore epilogue_;
  std::vector<Combo> combos_;
  TileConfig config_;
  AlignedBytes constant_;
  Bf16Range constant_range_;
  bool plain_bf16_ = false;
  int slots_ = 1;
};

Verdict accepts(const Problem& p, const DeviceTraits& device) {
  if (device.isa != CpuIsa::amx || !device.amx_bf16)
    return Verdict::no("the processor has no AMX bf16, or a lower level is forced");
  if (std::string why = float_objection(p, Direction::fprop, Direction::dgrad); !why.empty())
    return Verdict::no(std::move(why));
  if (p.input_a().type != DataType_t::BFLOAT16 || p.input_b().type != DataType_t::BFLOAT16) {
    return Verdict::no(std::string("it reads bf16, and the inputs are ") + short_name(p.input_a().type) + " and " +
                       short_name(p.input_b().type));
  }
  const FloatGeometry g = float_geometry(p);
  if (g.ic == 0 || g.oc == 0) return Verdict::no("it needs at least one channel a group");
  return Verdict::yes();
}

std::vector<Candidate> candidates(const Problem& p, const DeviceTraits& device) {
  return {{"", choose(float_geometry(merge_pointwise(p)), device).cost_us}};
}

error_t build(const Problem& p, const std::string& config, const DeviceTraits& device, const BuildOptions& options,
              std::unique_ptr<Plan>& plan) {
  const bool emulated = config == "emulated";
  if (!config.empty() && !emulated) {
    return {error_code_t::INVALID_VALUE, "Config '" + config + "' of path 'amx_bf16' is unknown; leave it empty."};
  }
  const AmxBf16Isa* isa = &kAmxBf16Emulated;
#if defined(__x86_64__)
  if (!emulated) {
    if (!host_cpu().amx_bf16) {
      return {error_code_t::GRAPH_EXECUTION_PLAN_CREATION_FAILED,
              "This processor has no AMX bf16; path 'amx_bf16' can be planned here, not run."};
    }
    isa = &kAmxBf16Hardware;
  }
#endif
  auto made = std::make_unique<AmxBf16Plan>(p, device, *isa);
  OCTAVO_RETURN_IF_ERROR(made->prepare(options));
  plan = std::move(made);
  return {};
}

}  // namespace

extern const Path kAmxBf16;
const Path kAmxBf16{"amx_bf16", &accepts, &candidates, &build};

}  // namespace octavo::cpu_native
