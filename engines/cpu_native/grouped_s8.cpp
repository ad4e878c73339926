// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#include "engines/cpu_native/grouped_s8.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "core/parallel.h"
#include "engines/cpu_native/epilogue.h"
#include "engines/cpu_native/geometry.h"
#include "engines/cpu_native/path.h"
#include "engines/cpu_native/plane.h"
#include "engines/cpu_native/stream.h"

namespace octavo::cpu_native {
namespace {

constexpr std::size_t kRingBytes = 768 << 10;  // of a block's lines: stays in L2

constexpr int kMostRows = 1024;

struct Unit {
  std::int64_t first_output = 0, first_input = 0;  // channels
  int lanes = 0;                                   // real outputs, side by side
  int line = 0;                                    // which lines of its block: units of one group share them
  int span = 0;                                    // input channels read
  std::size_t weights = 0;                         // byte offset in the packed filter: start[16], then the weights
};

struct Block {
  int first_unit = 0, units = 0, lines = 0;
  std::int64_t first_output = 0, outputs = 0;
};

struct Shape {
  Plane plane{};
  std::int64_t groups = 1, inputs = 1, outputs = 1;  // channels of a group
  int dwords = 1, columns = 0, ring = 1;
  bool broadcast = false;
  std::size_t line_bytes = 0;
};

Shape shape_of(const Problem& p) {
  Shape s;
  s.plane = plane_of(p);
  s.groups = p.groups();
  s.inputs = p.w.dim[1];
  s.outputs = p.w.dim[0] / s.groups;
  s.dwords = static_cast<int>((s.inputs + 3) / 4);
  s.broadcast = s.outputs >= kUnitLanes;
  s.columns = static_cast<int>((s.plane.out_width - 1) * s.plane.step_columns +
                               (s.plane.filter_columns - 1) * s.plane.dilation_columns + 1);
  s.ring = static_cast<int>((s.plane.filter_rows - 1) * s.plane.dilation_rows + 1);
  s.line_bytes = align64(static_cast<std::size_t>(s.columns) * s.dwords * (s.broadcast ? 4 : 64));
  return s;
}

Verdict accepts(const Problem& p, const DeviceTraits&) {
  if (p.direction != Direction::fprop) return Verdict::no("fprop only");
  if (p.x.type != DataType_t::INT8 && p.x.type != DataType_t::UINT8) return Verdict::no("x must be s8 or u8");
  if (p.w.type != DataType_t::INT8) return Verdict::no("w must be s8");
  if (p.groups() < 2) return Verdict::no("needs groups");
  if (p.spatial() > 2) return Verdict::no("1-D and 2-D only");
  if (p.zero_points.filter != ZeroPoints::Filter::none) return Verdict::no("the filter has zero points");
  const std::int32_t lowest = p.x.type == DataType_t::INT8 ? -128 : 0;
  if (p.zero_points.x < lowest || p.zero_points.x > lowest + 255) return Verdict::no("x's zero point is outside its type");
  if (p.x.vector != 1 || (p.x.stride[1] != 1 && p.x.dim[1] != 1)) return Verdict::no("channels of x must be contiguous");
  const std::int64_t outputs = p.w.dim[0] / p.groups();
  if (p.w.dim[1] > 256) return Verdict::no("wide groups are the direct path's");
  if (outputs < kUnitLanes && p.w.dim[1] * (kUnitLanes / outputs) > 64)
    return Verdict::no("the groups of one vector read more than 64 channels");
  if (p.y.elements() > 0) {
    for (int i = 0; i < p.spatial(); ++i) {
      if (p.x.dim[2 + i] > 1 << 20 || p.y.dim[2 + i] > 1 << 20 || p.dilation[i] > 1 << 10 || p.w.dim[2 + i] > 1 << 10 ||
          p.stride[i] > 1 << 10) {
        return Verdict::no("rows are too long to keep in cache");
      }
    }
    const Shape s = shape_of(p);
    const std::size_t units = kGroupedBlock / kUnitLanes + 1;
    if (s.line_bytes * static_cast<std::size_t>(s.ring) * units > kRingBytes)
      return Verdict::no("the filter's image rows do not fit in L2");
  }
  return Verdict::yes();
}

std::vector<Candidate> candidates(const Problem& p, const DeviceTraits& device) {
  const Shape s = shape_of(p);
  const std::int64_t units = s.broadcast ? s.groups * ((s.outputs + kUnitLanes - 1) / kUnitLanes)
                                         : (s.groups + kUnitLanes / s.outputs - 1) / (kUnitLanes / s.outputs);
  const double points = static_cast<double>(p.y.dim[0] * s.plane.out_height * s.plane.out_width * units);
  const double taps = static_cast<double>(s.plane.filter_rows * s.plane.filter_columns * s.dwords);
  // Cycles a unit and output at 2.5 GHz: the epilogue, the products, the lines (measured on N=1 ResNeXt layers).
  const double vnni = s.broadcast ? 10 + 0.5 * taps + 2.0 * s.dwords : 12 + 0.7 * taps + 3.0 * s.dwords;
  const double cycles = device.isa >= CpuIsa::avx512_vnni ? vnni : 120 * taps;
  return {{"", 1 + points * cycles / 2500 / std::max(1, device.threads)}};
}

class GroupedPlan final : public Plan {
 public:
  error_t init(const Problem& problem, const DeviceTraits& device, const BuildOptions& options) {
    problem_ = problem;
    shape_ = shape_of(problem);
    kernels_ = grouped_s8_portable();
#if defined(__x86_64__)
    if (device.isa >= CpuIsa::avx512_vnni) kernels_ = grouped_s8_avx512_vnni();
#endif
    OCTAVO_RETURN_IF_ERROR(epilogue_.compile(problem, device.isa));
    threads_ = threads_for(work_of(candidates(problem, one_thread(device))) + epilogue_.interpreted_us());
    const std::size_t column = static_cast<std::size_t>(shape_.dwords) * (shape_.broadcast ? 4 : 64);
    for (int s = 0; s < shape_.plane.filter_columns; ++s) taps_.push_back(s * shape_.plane.dilation_columns * column);
    advance_ = shape_.plane.step_columns * column;
    stream_ = epilogue_.is_affine() && worth_streaming(device, problem.x.elements() + problem.y.elements());
    plan_units();
    ring_bytes_ = shape_.line_bytes * shape_.ring * most_lines_;
    thread_bytes_ =
        align64(ring_bytes_ + (static_cast<std::size_t>(shape_.plane.out_width) * kSumsPitch + kAccumulatorPad) * 4);
    if (options.constant_filter) {
      packed_.resize(packed_bytes_ + 63);
      pack(options.constant_filter, aligned(packed_.data()));
    }
    return {};
  }

  std::size_t workspace_bytes() const override {
    return 63 + align64(epilogue_.workspace_bytes()) + (packed_.empty() ? packed_bytes_ : 0) + threads_ * thread_bytes_;
  }

  error_t execute(const Args& args) const override {
    if (problem_.y.elements() == 0) return {};
    std::byte* at = aligned(static_cast<std::byte*>(args.workspace));
    TileEpilogue::Bound bound = epilogue_.bind(args, at);
    bound.stream = stream_;
    at += align64(epilogue_.workspace_bytes());
    const std::byte* packed = aligned(const_cast<std::byte*>(packed_.data()));
    if (packed_.empty()) {
      pack(args.w, at);
      packed = at;
      at += packed_bytes_;
    }
    const std::int64_t height = shape_.plane.out_height;
    const std::int64_t work = problem_.x.dim[0] * static_cast<std::int64_t>(blocks_.size());
    // Strips only where images and blocks do not keep the threads busy: a strip repeats its neighbour's halo.
    const std::int64_t strips = std::clamp<std::int64_t>((8 * threads_ + work - 1) / work, 1, (height + 7) / 8);
    parallel_for(work * strips, threads_, [&](std::int64_t task, int thread) {
      const std::int64_t strip = task % strips, b = task / strips % static_cast<std::int64_t>(blocks_.size());
      const std::int64_t n = task / strips / static_cast<std::int64_t>(blocks_.size());
      run_strip(args, bound, packed, at + thread * thread_bytes_, n, blocks_[static_cast<std::size_t>(b)],
                height * strip / strips, height * (strip + 1) / strips);
      if (stream_) stream_fence();
    });
    return {};
  }

  std::string describe() const override {
    return shape_.broadcast ? "grouped, 16 outputs of a group a vector" : "grouped, several groups a vector";
  }

 private:
  template <class T>
  static T* aligned(T* p) {
    return reinterpret_cast<T*>(align64(reinterpret_cast<std::uintptr_t>(p)));
  }

  void plan_units() {
    const Plane& q = shape_.plane;
    unit_bytes_ = 64 + static_cast<std::size_t>(q.filter_rows) * q.filter_columns * shape_.dwords * 64;
    const std::int64_t side = shape_.broadcast ? 1 : kUnitLanes / shape_.outputs;  // groups a unit
    for (std::int64_t g = 0; g < shape_.groups; g += side) {
      const std::int64_t groups = std::min(side, shape_.groups - g);
      for (std::int64_t k = 0; k < groups * shape_.outputs; k += kUnitLanes) {
        Unit u;
        u.first_output = g * shape_.outputs + k;
        u.first_input = g * shape_.inputs;
        u.lanes = static_cast<int>(std::min<std::int64_t>(kUnitLanes, groups * shape_.outputs - k));
        u.span = static_cast<int>(groups * shape_.inputs);
        u.weights = units_.size() * unit_bytes_;
        units_.push_back(u);
      }
    }
    packed_bytes_ = units_.size() * unit_bytes_;
    for (int i = 0; i < static_cast<int>(units_.size()); ++i) {
      if (blocks_.empty() || blocks_.back().outputs + units_[i].lanes > kGroupedBlock)
        blocks_.push_back({i, 0, 0, units_[i].first_output, 0});
      Block& block = blocks_.back();
      const bool shares = block.units > 0 && units_[i - 1].first_input == units_[i].first_input;
      if (!shares) ++block.lines;
      units_[i].line = block.lines - 1;
      ++block.units;
      block.outputs += units_[i].lanes;
      most_lines_ = std::max(most_lines_, block.lines);
    }
    if (shape_.broadcast) return;
    // Byte b of lane l takes channel 4 * dword + b of the lane's own group; past the group's end, any byte (weight 0).
    for (int d = 0; d < shape_.dwords; ++d) {
      for (int lane = 0; lane < kUnitLanes; ++lane) {
        for (int b = 0; b < 4; ++b) {
          const std::int64_t c = std::min<std::int64_t>(4 * d + b, shape_.inputs - 1);
          lanes_.push_back(static_cast<std::uint8_t>(std::min<std::int64_t>(lane / shape_.outputs * shape_.inputs + c, 63)));
        }
      }
    }
  }

  void pack(const void* filter, std::byte* out) const {
    std::memset(out, 0, packed_bytes_);
    const auto* w = static_cast<const std::int8_t*>(filter);
    const Plane& q = shape_.plane;
    const bool flip = problem_.mode == ConvolutionMode_t::CONVOLUTION;
    const int last = 1 + problem_.spatial();
    const std::int64_t shift = (problem_.x.type == DataType_t::INT8 ? 128 : 0) + problem_.zero_points.x;
    for (const Unit& u : units_) {
      auto* start = reinterpret_cast<std::int32_t*>(out + u.weights);
      auto* weights = reinterpret_cast<std::int8_t*>(out + u.weights + 64);
      for (int lane = 0; lane < u.lanes; ++lane) {
        std::int64_t sum = 0;
        for (int r = 0; r < q.filter_rows; ++r) {
          for (int s = 0; s < q.filter_columns; ++s) {
            for (int c = 0; c < shape_.inputs; ++c) {
              std::int64_t index[kMaxRank] = {u.first_output + lane, c};
              if (problem_.spatial() == 2) index[2] = flip ? q.filter_rows - 1 - r : r;
              index[last] = flip ? q.filter_columns - 1 - s : s;
              const std::int8_t v = w[problem_.w.offset(index)];
              weights[((static_cast<std::size_t>(r) * q.filter_columns + s) * shape_.dwords + c / 4) * 64 + lane * 4 + c % 4] =
                  v;
              sum += v;
            }
          }
        }
        start[lane] = static_cast<std::int32_t>(-shift * sum);
      }
    }
  }

  void run_strip(const Args& args, const TileEpilogue::Bound& bound, const std::byte* packed, std::byte* scratch,
                 std::int64_t n, const Block& block, std::int64_t first, std::int64_t end) const {
    const Plane& q = shape_.plane;
    auto* ring = reinterpret_cast<std::uint8_t*>(scratch);
    auto* sums = reinterpret_cast<std::int32_t*>(scratch + ring_bytes_);
    const std::size_t line_pitch = shape_.line_bytes * shape_.ring;  // from one line of the block to the next
    const auto slot_of = [&](std::int64_t h) {
      return ring + static_cast<std::size_t>((h % shape_.ring + shape_.ring) % shape_.ring) * shape_.line_bytes;
    };
    std::int64_t next = first * q.step_rows - q.pad_rows;  // image rows before it are in the ring, or never needed again
    for (std::int64_t p = first; p < end; ++p) {
      const std::int64_t top = p * q.step_rows - q.pad_rows;
      for (std::int64_t h = std::max(next, top); h < top + shape_.ring; ++h) {
        if ((h - top) % q.dilation_rows != 0 && q.step_rows % q.dilation_rows == 0) continue;  // no tap ever reads it
        fill_lines(args, n, h, block, slot_of(h), line_pitch);
      }
      next = std::max(next, top + shape_.ring);
      const std::uint8_t* slots[kMostRows];
      for (int r = 0; r < q.filter_rows; ++r) slots[r] = slot_of(top + r * q.dilation_rows);
      for (int u = 0, pair = 1; u < block.units; u += pair) {
        const Unit& unit = units_[block.first_unit + u];
        pair = u + 1 < block.units && units_[block.first_unit + u + 1].line == unit.line && unit.lanes == kUnitLanes ? 2 : 1;
        const std::uint8_t* lines[kMostRows];
        for (int r = 0; r < q.filter_rows; ++r) lines[r] = slots[r] + unit.line * line_pitch;
        GroupedRow row{};
        row.lines = lines;
        row.tap = taps_.data();
        row.filter_rows = q.filter_rows;
        row.filter_columns = q.filter_columns;
        row.dwords = shape_.dwords;
        row.broadcast = shape_.broadcast;
        row.units = pair;
        row.unit_bytes = unit_bytes_;
        row.advance = advance_;
        row.count = static_cast<int>(q.out_width);
        row.start = reinterpret_cast<const std::int32_t*>(packed + unit.weights);
        row.weights = reinterpret_cast<const std::int8_t*>(packed + unit.weights + 64);
        row.sums = sums + (unit.first_output - block.first_output);
        kernels_.row(row);
      }
      Rows out;
      out.outer = n;
      out.spatial = {p, 0};
      if (problem_.spatial() == 1) out.spatial = {0};
      out.count = q.out_width;
      out.channel = block.first_output;
      out.channels = block.outputs;
      epilogue_.run(bound, out, sums, kSumsPitch);
    }
  }

  void fill_lines(const Args& args, std::int64_t n, std::int64_t h, const Block& block, std::uint8_t* out,
                  std::size_t line_pitch) const {
    const TensorDesc& x = problem_.x;
    const Plane& q = shape_.plane;
    GroupedLine l{};
    l.column_bytes = q.column_stride;
    l.width = q.width;
    l.first_column = -q.pad_columns;
    l.columns = shape_.columns;
    l.dwords = shape_.dwords;
    l.lanes = shape_.broadcast ? nullptr : lanes_.data();
    l.flip = x.type == DataType_t::INT8 ? 0x80 : 0;
    l.fill = static_cast<std::uint8_t>(static_cast<std::uint8_t>(problem_.zero_points.x) ^ l.flip);
    l.unit_pitch = line_pitch;
    for (int u = 0, line = 0; u < block.units;) {
      const Unit& unit = units_[block.first_unit + u];
      if (unit.line != line) {  // shares the lines of the unit before it
        ++u;
        continue;
      }
      // Narrow units stand side by side in x: as many as one 64-byte load covers go together (all but the tensor's last are
      // full).
      l.units = 1;
      while (l.lanes && u + l.units < block.units && units_[block.first_unit + u + l.units].span == unit.span &&
             (l.units + 1) * unit.span <= 64)
        ++l.units;
      l.row = nullptr;
      if (h >= 0 && h < q.height)
        l.row = static_cast<const std::uint8_t*>(args.x) + n * x.stride[0] + h * q.row_stride + unit.first_input;
      l.span = unit.span;
      l.out = out + line * line_pitch;
      kernels_.line(l);
      line += l.units;
      u += l.units;
    }
  }

  Problem problem_;
  Shape shape_;
  GroupedKernels kernels_{};
  TileEpilogue epilogue_;
  std::vector<Unit> units_;
  std::vector<Block> blocks_;
  std::vector<std::uint8_t> lanes_;
  std::vector<std::size_t> taps_;
  std::vector<std::byte> packed_;
  int threads_ = 1, most_lines_ = 1;
  bool stream_ = false;
  std::size_t unit_bytes_ = 0, advance_ = 0, packed_bytes_ = 0, ring_bytes_ = 0, thread_bytes_ = 0;
};

error_t build(const Problem& problem, const std::string&, const DeviceTraits& device, const BuildOptions& options,
              std::unique_ptr<Plan>& plan) {
  auto built = std::make_unique<GroupedPlan>();
  OCTAVO_RETURN_IF_ERROR(built->init(problem, device, options));
  plan = std::move(built);
  return {};
}

}  // namespace

extern const Path kGroupedS8;
const Path kGroupedS8{"grouped_s8", accepts, candidates, build};

}  // namespace octavo::cpu_native
