// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Path "depthwise_flat" (depthwise_flat.h): a task is some output rows of one image, two at a time where they share lines.

#include "engines/cpu_native/depthwise_flat.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "core/parallel.h"
#include "engines/cpu_native/depthwise_s8.h"
#include "engines/cpu_native/epilogue.h"
#include "engines/cpu_native/geometry.h"
#include "engines/cpu_native/path.h"
#include "engines/cpu_native/plane.h"
#include "engines/cpu_native/stream.h"

namespace octavo::cpu_native {
namespace {

constexpr int kVector = 64;
constexpr std::int64_t kMostTaps = 128;

struct Shape {
  Plane plane{};
  std::int64_t channels = 1, places = 1, row_bytes = 0;  ///< places: of a vector relative to the channels
  std::int64_t columns = 0, phase_bytes = 0, line_bytes = 0, ring = 1;
  int groups = 1, shared = 1, taps = 1;  ///< of four filter rows; output rows that share lines; vectors of taps
  std::int64_t place_bytes = 0;          ///< packed filter of one place
};

Shape shape_of(const Problem& p) {
  Shape s;
  const Plane& q = s.plane = plane_of(p);
  s.channels = p.x.dim[1];
  s.places = std::lcm<std::int64_t>(kVector, s.channels) / kVector;
  s.row_bytes = q.out_width * s.channels;
  s.columns = (q.out_width - 1) * q.step_columns + (q.filter_columns - 1) * q.dilation_columns + 1;
  s.phase_bytes = round_up(ceil_div(s.columns, q.step_columns) * s.channels + 2 * kVector, kVector);
  s.line_bytes = s.phase_bytes * q.step_columns;
  s.groups = depthwise_groups(q.filter_rows);
  s.shared = q.step_rows == 1 && q.dilation_rows == 1 && 4 * s.groups > q.filter_rows ? 2 : 1;
  s.taps = s.groups * q.filter_columns;
  s.place_bytes = s.shared * s.taps * 256 + kVector * 4;
  s.ring = (q.filter_rows - 1) * q.dilation_rows + s.shared;
  return s;
}

Verdict accepts(const Problem& p, const DeviceTraits& device) {
  if (device.isa < CpuIsa::avx512_vnni) return Verdict::no("needs AVX-512 VNNI");
  if (p.direction != Direction::fprop) return Verdict::no("fprop only");
  if (p.x.type != DataType_t::INT8 && p.x.type != DataType_t::UINT8) return Verdict::no("x must be s8 or u8");
  if (p.w.type != DataType_t::INT8) return Verdict::no("w must be s8");
  if (p.w.dim[1] != 1 || p.w.dim[0] != p.x.dim[1]) return Verdict::no("needs one input and one output channel a group");
  if (p.spatial() > 2) return Verdict::no("1-D and 2-D only");
  if (p.zero_points.filter != ZeroPoints::Filter::none) return Verdict::no("the filter has zero points");
  const std::int32_t lowest = p.x.type == DataType_t::INT8 ? -128 : 0;
  if (p.zero_points.x < lowest || p.zero_points.x > lowest + 255) return Verdict::no("x's zero point is outside its type");
  const auto last = static_cast<std::size_t>(p.spatial()) + 1;
  const bool dense =
      p.x.vector == 1 && (p.x.stride[1] == 1 || p.x.dim[1] == 1) && (p.x.dim[last] == 1 || p.x.stride[last] == p.x.dim[1]);
  if (!dense) return Verdict::no("x's rows must lie channels last without gaps");
  for (int i = 0; i < p.spatial(); ++i) {
    const auto a = static_cast<std::size_t>(i);
    if (p.dilation[a] > 1 << 10 || p.stride[a] > 64 || p.w.dim[2 + a] > 64 || p.x.dim[2 + a] > 1 << 20 ||
        p.y.dim[2 + a] > 1 << 20) {
      return Verdict::no("the filter reaches too far");
    }
  }
  if (p.y.elements() == 0) return Verdict::yes();
  const Shape s = shape_of(p);
  if (s.taps > kMostTaps) return Verdict::no("the filter has too many taps");
  if (s.places * s.place_bytes > device.l2_bytes / 2) return Verdict::no("the channels lie in too many ways over vectors");
  if (s.line_bytes * s.ring + s.row_bytes * s.shared > device.l2_bytes / 2)
    return Verdict::no("the filter's image rows do not fit in L2");
  return Verdict::yes();
}

std::vector<Candidate> candidates(const Problem& p, const DeviceTraits& device) {
  if (p.y.elements() == 0) return {{"", 1}};
  const Shape s = shape_of(p);
  // Cycles a vector of outputs, and one to copy a vector of inputs, at 2.5 GHz.
  const double vectors = static_cast<double>(p.y.dim[0] * s.plane.out_height * ceil_div(s.row_bytes, kVector));
  const double lines = static_cast<double>(p.x.elements()) / kVector;
  const double cycles = vectors * (10 + s.taps * (2 + 5.0 / s.shared)) + lines;
  return {{"", 1 + cycles / 2500 / std::max(1, device.threads)}};
}

class DepthwiseFlatPlan final : public Plan {
 public:
  error_t init(const Problem& problem, const DeviceTraits& device, const BuildOptions& options) {
    problem_ = problem;
#if defined(__x86_64__)
    kernels_ = depthwise_flat_avx512_vnni();
#endif
    OCTAVO_RETURN_IF_ERROR(epilogue_.compile(problem, device.isa));
    if (problem.y.elements() == 0) return {};
    s_ = shape_of(problem);
    threads_ = threads_for(work_of(candidates(problem, one_thread(device))) + epilogue_.interpreted_us());
    const TensorDesc& y = problem.epilogue.outputs.back().desc;
    const auto last = static_cast<std::size_t>(problem.spatial()) + 1;
    const bool flat_output = problem.epilogue.outputs.size() == 1 && y.vector == 1 && (y.stride[1] == 1 || y.dim[1] == 1) &&
                             (y.dim[last] == 1 || y.stride[last] == y.dim[1]);
    affine_ = flat_output && epilogue_.is_affine() && epilogue_.program().affine.bias_i < 0;
    const std::int64_t bytes = problem.x.elements() + y.elements();
    stream_ = affine_ && worth_streaming(device, bytes);
    far_ = bytes > device.l2_bytes;
    const Plane& q = s_.plane;
    for (int g = 0; g < s_.groups; ++g) {
      for (int s = 0; s < q.filter_columns; ++s) {
        const std::int64_t at = s * q.dilation_columns;
        taps_.push_back({4 * g, at % q.step_columns * s_.phase_bytes + at / q.step_columns * s_.channels});
      }
    }
    fill_ = static_cast<std::uint8_t>(problem.zero_points.x) ^ flip();
    padding_.assign(static_cast<std::size_t>(s_.line_bytes), fill_);
    if (options.constant_filter) {
      packed_ = AlignedBytes(static_cast<std::size_t>(s_.places * s_.place_bytes));
      pack(options.constant_filter, packed_.get());
    }
    Carver carver;
    carve(carver);
    workspace_ = carver.used() + 64;
    return {};
  }

  std::size_t workspace_bytes() const override { return workspace_; }

  std::string describe() const override {
    return std::string("depthwise, rows as runs of bytes, ") + std::to_string(s_.shared) + " output rows a pass" +
           (stream_ ? ", streamed" : "");
  }

  error_t execute(const Args& args) const override {
    if (problem_.y.elements() == 0) return {};
    Carver carver(align64(args.workspace));
    Areas a = carve(carver);
    Call call;
    call.args = &args;
    call.bound = epilogue_.bind(args, a.params);
    call.affine = affine_ && call.bound.tame;
    call.stream = call.affine && stream_;
    if (call.affine) spread_affine(call.bound, a.affine);
    if (!packed_) pack(args.w, a.packed);
    call.packed = packed_ ? packed_.get() : a.packed;
    call.scales = a.affine;
    const std::int64_t height = s_.plane.out_height, groups = ceil_div(height, s_.shared);
    // Strips only where images do not keep the threads busy: a strip copies its neighbour's rows again.
    const std::int64_t strips = std::clamp<std::int64_t>(ceil_div(8 * threads_, problem_.x.dim[0]), 1, ceil_div(groups, 2));
    parallel_for(problem_.x.dim[0] * strips, threads_, [&](std::int64_t task, int thread) {
      const std::int64_t n = task / strips, strip = task % strips;
      const std::int64_t first = groups * strip / strips * s_.shared,
                         end = std::min(height, groups * (strip + 1) / strips * s_.shared);
      Carver own(a.slots + thread * slot_bytes());
      run_strip(call, carve_slot(own), n, first, end);
      if (call.stream) stream_fence();
    });
    return {};
  }

 private:
  struct Areas {
    std::byte *params = nullptr, *packed = nullptr, *slots = nullptr;
    float* affine = nullptr;
  };
  struct Scratch {
    std::uint8_t* ring = nullptr;
    std::byte* rows = nullptr;
    std::int32_t* sums = nullptr;
  };
  struct Call {
    const Args* args = nullptr;
    TileEpilogue::Bound bound;
    bool affine = false, stream = false;
    const std::byte* packed = nullptr;
    const float* scales = nullptr;
  };

  std::uint8_t flip() const { return problem_.x.type == DataType_t::INT8 ? 0x80 : 0; }
  std::int64_t padded_row() const { return round_up(s_.row_bytes, kVector); }

  Areas carve(Carver& c) const {
    Areas a;
    a.params = c.take<std::byte>(static_cast<std::int64_t>(epilogue_.workspace_bytes()));
    if (!packed_) a.packed = c.take<std::byte>(s_.places * s_.place_bytes);
    if (affine_) a.affine = c.take<float>(s_.places * 2 * kVector);
    a.slots = c.take<std::byte>(slot_bytes() * threads_);
    return a;
  }
  Scratch carve_slot(Carver& c) const {
    Scratch s;
    s.ring = c.take<std::uint8_t>(s_.line_bytes * s_.ring);
    if (stream_) s.rows = c.take<std::byte>(padded_row() * s_.shared);
    // Also for an affine form whose scales, known at the call only, do not allow it.
    s.sums = c.take<std::int32_t>(padded_row() * s_.shared + kAccumulatorPad);
    return s;
  }
  std::int64_t slot_bytes() const {
    Carver c;
    carve_slot(c);
    return static_cast<std::int64_t>(c.used());
  }

  std::int64_t channel_of(std::int64_t place, int byte) const { return (place * kVector + byte) % s_.channels; }

  void spread_affine(const TileEpilogue::Bound& bound, float* out) const {
    const TileEpilogue::Program& program = epilogue_.program();
    const auto value = [&](int index, std::int64_t c, float none) {
      if (index < 0) return none;
      const TileEpilogue::Param& param = program.params[static_cast<std::size_t>(index)];
      return reinterpret_cast<const float*>(bound.params + param.offset)[param.channel ? c : 0];
    };
    for (std::int64_t place = 0; place < s_.places; ++place, out += 2 * kVector) {
      for (int i = 0; i < kVector; ++i) {
        const std::int64_t c = channel_of(place, i);
        out[depthwise_slot(i)] = value(program.affine.scale, c, 1.0f);
        out[kVector + depthwise_slot(i)] = value(program.affine.bias, c, 0.0f);
      }
    }
  }

  void pack(const void* filter, std::byte* out) const {
    const auto* w = static_cast<const std::int8_t*>(filter);
    const Plane& q = s_.plane;
    const bool mirror = problem_.mode == ConvolutionMode_t::CONVOLUTION;
    const auto last = static_cast<std::size_t>(problem_.spatial()) + 1;
    const std::int64_t shift = (problem_.x.type == DataType_t::INT8 ? 128 : 0) + problem_.zero_points.x;
    std::memset(out, 0, static_cast<std::size_t>(s_.places * s_.place_bytes));
    for (std::int64_t place = 0; place < s_.places; ++place, out += s_.place_bytes) {
      auto* weights = reinterpret_cast<std::int8_t*>(out);
      auto* start = reinterpret_cast<std::int32_t*>(out + s_.shared * s_.taps * 256);
      for (int i = 0; i < kVector; ++i) {
        std::int64_t index[kMaxRank] = {channel_of(place, i), 0}, sum = 0;
        for (int r = 0; r < q.filter_rows; ++r) {
          for (int s = 0; s < q.filter_columns; ++s) {
            if (problem_.spatial() == 2) index[2] = mirror ? q.filter_rows - 1 - r : r;
            index[last] = mirror ? q.filter_columns - 1 - s : s;
            const std::int8_t v = w[problem_.w.offset(index)];
            sum += v;
            for (int k = 0; k < s_.shared; ++k) {
              const int line = r + k, tap = line / 4 * q.filter_columns + s;
              weights[((k * s_.taps + tap) * kVector + depthwise_slot(i)) * 4 + line % 4] = v;
            }
          }
        }
        start[depthwise_slot(i)] = static_cast<std::int32_t>(-shift * sum);
      }
    }
  }

  /// Asks for the image rows [row, end) a share at a time, while the rows before them are worked on.
  struct Ahead {
    const std::byte* image;
    std::int64_t row, end, at, share;
  };
  void prefetch(Ahead& a) const {
    const std::int64_t bytes = s_.plane.width * s_.channels;
    std::int64_t left = a.share;
    while (left > 0 && a.row < a.end) {
      const std::byte* from = a.image + a.row * s_.plane.row_stride;
      const std::int64_t end = std::min(bytes, a.at + left);
      left -= end - a.at;
      for (; a.at < end; a.at += 64) __builtin_prefetch(from + a.at, 0, 2);
      if (a.at < bytes) continue;
      a.at = 0;
      ++a.row;
    }
  }

  void run_strip(const Call& call, const Scratch& scratch, std::int64_t n, std::int64_t first, std::int64_t end) const {
    const Plane& q = s_.plane;
    const auto* image = static_cast<const std::uint8_t*>(call.args->x) + n * problem_.x.stride[0];
    const TensorDesc& y = problem_.epilogue.outputs.back().desc;
    std::byte* out = call.affine ? static_cast<std::byte*>(call.args->outputs.back()) + n * y.stride[0] : nullptr;
    const std::int64_t out_row = problem_.spatial() == 2 ? y.stride[2] : 0;
    const auto slot = [&](std::int64_t h) { return scratch.ring + (h % s_.ring + s_.ring) % s_.ring * s_.line_bytes; };
    std::int64_t next = first * q.step_rows - q.pad_rows;  // image rows before it are in the ring, or never needed again
    for (std::int64_t p = first; p < end; p += s_.shared) {
      const int rows = static_cast<int>(std::min<std::int64_t>(s_.shared, end - p));
      const std::int64_t top = p * q.step_rows - q.pad_rows, bottom = top + s_.ring;
      for (std::int64_t h = std::max({next, top, std::int64_t{0}}); h < std::min(bottom, q.height); ++h) {
        if ((h - top) % q.dilation_rows != 0 && q.step_rows % q.dilation_rows == 0) continue;  // no tap ever reads it
        copy_line(image + h * q.row_stride, slot(h));
      }
      next = std::max(next, bottom);
      const std::uint8_t* lines[4 * kMostTaps];
      for (int r = 0; r < 4 * s_.groups; ++r) {
        // Lines past the filter meet zero weights: any bytes will do.
        const std::int64_t h = top + r * q.dilation_rows;
        lines[r] = r < q.filter_rows + s_.shared - 1 && h >= 0 && h < q.height ? slot(h) : padding_.data();
      }
      const std::int64_t from = std::clamp<std::int64_t>(bottom, 0, q.height);
      Ahead ahead{reinterpret_cast<const std::byte*>(image), from,
                  std::clamp<std::int64_t>(bottom + s_.shared * q.step_rows, from, q.height), 0, 0};
      ahead.share = (ahead.end - ahead.row) * q.width * s_.channels / s_.places + 64;
      FlatRun t{};
      t.lines = lines;
      t.taps = taps_.data();
      t.tap_count = s_.taps;
      t.step = s_.places * kVector;
      t.end = s_.row_bytes;
      t.relu = epilogue_.program().affine.relu;
      t.is_unsigned = y.type == DataType_t::UINT8;
      for (int r = 0; r < rows; ++r) {
        t.sums[r] = scratch.sums + r * padded_row();
        t.out[r] = !call.affine ? nullptr : call.stream ? scratch.rows + r * padded_row() : out + (p + r) * out_row;
      }
      for (std::int64_t place = 0; place < s_.places && place * kVector < s_.row_bytes; ++place) {
        t.first = place * kVector;
        t.weights = reinterpret_cast<const std::int8_t*>(call.packed + place * s_.place_bytes);
        t.start = reinterpret_cast<const std::int32_t*>(call.packed + place * s_.place_bytes + s_.shared * s_.taps * 256);
        if (call.affine) {
          t.scale = call.scales + place * 2 * kVector;
          t.bias = t.scale + kVector;
        }
        // The second row's weights stand behind the first's, so that one row alone is a prefix.
        kernels_.run(t, rows);
        if (far_) prefetch(ahead);
      }
      for (int r = 0; r < rows; ++r) {
        if (call.stream) stream_copy(out + (p + r) * out_row, t.out[r], s_.row_bytes);
        if (!call.affine) store_sums(call, t.sums[r], n, p + r);
      }
    }
  }

  void copy_line(const std::uint8_t* row, std::uint8_t* to) const {
    FlatLine l{};
    l.from = row;
    l.width = s_.plane.width;
    l.channels = s_.channels;
    l.first_column = -s_.plane.pad_columns;
    l.columns = s_.columns;
    l.step = s_.plane.step_columns;
    l.phase_bytes = s_.phase_bytes;
    l.flip = flip();
    l.fill = fill_;
    l.to = to;
    kernels_.line(l);
  }

  void store_sums(const Call& call, std::int32_t* sums, std::int64_t n, std::int64_t p) const {
    for (std::int64_t at = 0; at < s_.row_bytes; at += kVector) {
      std::int32_t vector[kVector];
      std::memcpy(vector, sums + at, sizeof vector);
      for (int i = 0; i < kVector; ++i) sums[at + i] = vector[depthwise_slot(i)];
    }
    Rows out;
    out.outer = n;
    if (problem_.spatial() == 2) out.spatial = {p, 0};
    out.count = s_.plane.out_width;
    out.channels = s_.channels;
    epilogue_.run(call.bound, out, sums, s_.channels);
  }

  Problem problem_;
  Shape s_;
  FlatKernels kernels_{};
  TileEpilogue epilogue_;
  AlignedBytes packed_;
  std::vector<FlatTap> taps_;
  std::vector<std::uint8_t> padding_;  ///< a line of nothing but padding
  std::uint8_t fill_ = 0;
  bool affine_ = false, stream_ = false, far_ = false;
  int threads_ = 1;
  std::size_t workspace_ = 64;
};

error_t build(const Problem& problem, const std::string& config, const DeviceTraits& device, const BuildOptions& options,
              std::unique_ptr<Plan>& plan) {
  if (!config.empty()) {
    return {error_code_t::INVALID_VALUE, "Config '" + config + "' of path 'depthwise_flat' is unknown; it has none."};
  }
  auto built = std::make_unique<DepthwiseFlatPlan>();
  OCTAVO_RETURN_IF_ERROR(built->init(problem, device, options));
  plan = std::move(built);
  return {};
}

}  // namespace

extern const Path kDepthwiseFlat;
const Path kDepthwiseFlat{"depthwise_flat", accepts, candidates, build};

}  // namespace octavo::cpu_native
