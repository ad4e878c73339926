// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Integer dgrad, exact, at the speed of fprop: dx is a stride-1 correlation of dy with the filter transposed and mirrored, one
// for each phase of the stride. Each becomes an fprop problem over the same memory - dy cropped, the filter seen through
// other strides, dx's points a stride apart - and goes to the path that is fastest there (VNNI, Winograd, AMX, ...).

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "core/parallel.h"
#include "engines/cpu_native/epilogue.h"
#include "engines/cpu_native/geometry.h"
#include "engines/cpu_native/path.h"

namespace octavo::cpu_native {
namespace {

constexpr std::size_t kMostTensors = 16;

bool is_byte(DataType_t t) { return t == DataType_t::INT8 || t == DataType_t::UINT8; }

/// One axis of one phase: what fprop it is.
struct PhaseAxis {
  std::int64_t outputs = 0, taps = 0;
  std::int64_t tap_first = 0, tap_step = 1;  ///< along the filter's axis in memory
  std::int64_t dilation = 1, pre = 0, post = 0;
  std::int64_t crop = 0, points = 0;  ///< of dy: points [crop, crop + points)
  bool empty() const { return taps == 0 || points <= 0; }
};

PhaseAxis phase_axis(const Geometry& g, std::size_t a, std::int64_t phase) {
  PhaseAxis p;
  const std::int64_t stride = g.stride[a], dilation = g.dilation[a], pad = g.pad[a], filter = g.filter[a];
  p.outputs = g.in[a] > phase ? ceil_div(g.in[a] - phase, stride) : 0;
  // Taps r with phase + pad - r * dilation divisible by the stride: r = first + j * step.
  const std::int64_t common = std::gcd(stride, dilation);
  p.tap_step = stride / common;
  p.dilation = dilation / common;
  std::int64_t first = -1;
  for (std::int64_t r = 0; r < std::min(filter, p.tap_step) && first < 0; ++r) {
    if ((phase + pad - r * dilation) % stride == 0) first = r;
  }
  if (first < 0) return p;
  p.taps = ceil_div(filter - first, p.tap_step);
  const std::int64_t last = first + (p.taps - 1) * p.tap_step;
  p.tap_first = g.flip ? filter - 1 - last : first;
  // Output i reads dy at i + low .. i + high.
  const std::int64_t high = (phase + pad - first * dilation) / stride, low = (phase + pad - last * dilation) / stride;
  p.crop = std::max<std::int64_t>(low, 0);
  p.pre = std::max<std::int64_t>(-low, 0);
  const std::int64_t needed = p.outputs + high;  // dy points [.., needed) are read
  p.points = std::min(g.out[a], needed) - p.crop;
  p.post = std::max<std::int64_t>(needed - g.out[a], 0);
  return p;
}

struct Phase {
  Problem problem;
  bool zero = false;                          ///< nothing contributes: the epilogue of 0
  std::int64_t dy = 0, w = 0;                 ///< byte offsets
  std::vector<std::int64_t> operand, output;  ///< byte offsets
  const Path* path = nullptr;
  Candidate candidate;
  std::unique_ptr<Plan> plan;
  std::unique_ptr<TileEpilogue> epilogue;
};

/// Groups, and filters in vectors of channels, are transposed once into dense memory: [group][c][taps][k].
bool needs_transpose(const Problem& p) { return p.groups() > 1 || p.w.vector > 1; }

TensorDesc transposed_filter(const Problem& p) {
  TensorDesc t = p.w;
  t.vector = 1;
  t.dim[0] = p.x.dim[1];
  t.dim[1] = p.w.dim[0] / p.groups();
  if (!needs_transpose(p)) {
    t.stride[0] = p.w.stride[1];
    t.stride[1] = p.w.stride[0];
    return t;
  }
  t.stride[1] = 1;
  std::int64_t stride = t.dim[1];
  for (int d = t.rank - 1; d >= 2; --d) {
    t.stride[static_cast<std::size_t>(d)] = stride;
    stride *= t.dim[static_cast<std::size_t>(d)];
  }
  t.stride[0] = stride;
  return t;
}

std::vector<Phase> phases(const Problem& p) {
  const Geometry g(p);
  const int spatial = p.spatial();
  const TensorDesc filter = transposed_filter(p);
  std::vector<Phase> list;
  for (std::int64_t combo = 0; combo < g.stride[0] * g.stride[1] * g.stride[2]; ++combo) {
    const std::array<std::int64_t, 3> at{combo / (g.stride[1] * g.stride[2]), combo / g.stride[2] % g.stride[1],
                                         combo % g.stride[2]};
    Phase f;
    Problem& q = f.problem;
    q = p;
    q.direction = Direction::fprop;
    q.mode = g.flip ? ConvolutionMode_t::CROSS_CORRELATION : ConvolutionMode_t::CONVOLUTION;
    q.zero_points.x = 0;
    q.x = p.y;
    q.w = filter;
    q.y = p.x;
    bool nothing = false;
    f.operand.assign(p.epilogue.operands.size(), 0);
    f.output.assign(p.epilogue.outputs.size(), 0);
    for (int s = 0; s < spatial; ++s) {
      const std::size_t a = static_cast<std::size_t>(3 - spatial + s), d = static_cast<std::size_t>(2 + s),
                        i = static_cast<std::size_t>(s);
      const PhaseAxis v = phase_axis(g, a, at[a]);
      if (v.outputs == 0) nothing = true;
      f.zero = f.zero || v.empty();
      q.pre_pad[i] = v.pre;
      q.post_pad[i] = v.post;
      q.stride[i] = 1;
      q.dilation[i] = v.dilation;
      q.x.dim[d] = std::max<std::int64_t>(v.points, 1);
      q.w.dim[d] = std::max<std::int64_t>(v.taps, 1);
      q.y.dim[d] = v.outputs;
      f.dy += v.crop * q.x.stride[d] * element_bytes(q.x.type);
      f.w += v.tap_first * q.w.stride[d] * element_bytes(q.w.type);
      q.w.stride[d] *= v.tap_step;
      const auto every = [&](TensorDesc& t, std::int64_t& offset) {
        if (t.dim[d] == 1 && p.x.dim[d] != 1) return;  // broadcast
        t.dim[d] = v.outputs;
        offset += at[a] * t.stride[d] * element_bytes(t.type);
        t.stride[d] *= g.stride[a];
      };
      for (std::size_t o = 0; o < f.operand.size(); ++o) every(q.epilogue.operands[o].desc, f.operand[o]);
      for (std::size_t o = 0; o < f.output.size(); ++o) every(q.epilogue.outputs[o].desc, f.output[o]);
    }
    if (nothing) continue;
    list.push_back(std::move(f));
  }
  return list;
}

/// The fastest path for a phase; `wanted`: that one where it can.
bool choose(Phase& f, const DeviceTraits& device, const std::string& wanted) {
  if (f.zero) return true;
  for (const Path& path : paths()) {
    if (!path.accepts(f.problem, device)) continue;
    for (const Candidate& c : path.candidates(f.problem, device)) {
      const bool forced = wanted == path.name, was_forced = f.path && wanted == f.path->name;
      if (!f.path || (forced && !was_forced) || (forced == was_forced && c.cost_us < f.candidate.cost_us)) {
        f.path = &path;
        f.candidate = c;
      }
    }
  }
  return f.path != nullptr;
}

/// GEN_INDEX counts points of dx, and a phase of a stride has every few of them.
bool needs_sums(const Problem& p) {
  bool strided = false, index = false;
  for (int s = 0; s < p.spatial(); ++s) strided = strided || p.stride[static_cast<std::size_t>(s)] != 1;
  for (const Epilogue::Node& n : p.epilogue.nodes) index = index || n.mode == PointwiseMode_t::GEN_INDEX;
  return strided && index;
}

/// What the phases compute: the problem, or (needs_sums) its plain sums, channels last, for an epilogue that runs behind them.
Problem phased(const Problem& problem) {
  if (!needs_sums(problem)) return problem;
  Problem p = problem;
  p.epilogue = {};
  Epilogue::Output sums;
  sums.desc = p.x;
  sums.desc.type = DataType_t::INT32;
  (void)set_layout(sums.desc, "nhwc");
  p.epilogue.outputs.push_back(sums);
  return p;
}

class DgradS8Plan final : public Plan {
 public:
  DgradS8Plan(const Problem& problem, const DeviceTraits& device)
      : whole_(problem), problem_(phased(problem)), device_(device), sums_apart_(needs_sums(problem)) {}

  error_t init(const std::string& wanted, const BuildOptions& options) {
    list_ = phases(problem_);
    const void* filter = options.constant_filter;
    AlignedBytes dense;
    if (filter && needs_transpose(problem_)) {
      dense = AlignedBytes(transposed_bytes());
      transpose(filter, dense.get());
      filter = dense.get();
    }
    constant_ = filter != nullptr;
    for (Phase& f : list_) {
      if (!choose(f, device_, wanted)) {
        return {error_code_t::GRAPH_NOT_SUPPORTED,
                "No fprop path of cpu_native takes a phase of dgrad: " + f.problem.to_string()};
      }
      if (f.zero) {
        f.epilogue = std::make_unique<TileEpilogue>();
        OCTAVO_RETURN_IF_ERROR(f.epilogue->compile(f.problem, device_.isa));
        workspace_ = std::max(workspace_, f.epilogue->workspace_bytes() + 64);
        continue;
      }
      BuildOptions own;
      if (filter) own.constant_filter = static_cast<const std::byte*>(filter) + f.w;
      OCTAVO_RETURN_IF_ERROR(f.path->build(f.problem, f.candidate.config, device_, own, f.plan));
      workspace_ = std::max(workspace_, f.plan->workspace_bytes());
    }
    zeros_.assign(static_cast<std::size_t>(problem_.x.dim[1]) + kAccumulatorPad, 0);
    if (sums_apart_) OCTAVO_RETURN_IF_ERROR(epilogue_.compile(whole_, device_.isa));
    return {};
  }

  std::size_t workspace_bytes() const override {
    const std::size_t phases = workspace_ + (!constant_ && needs_transpose(problem_) ? transposed_bytes() + 128 : 0);
    return sums_apart_ ? phases + sums_bytes() + epilogue_.workspace_bytes() + 192 : phases;
  }

  error_t execute(const Args& args) const override {
    if (!sums_apart_) return run_phases(args, static_cast<std::byte*>(args.workspace));
    std::byte* sums = static_cast<std::byte*>(align64(args.workspace));
    std::byte* params = static_cast<std::byte*>(align64(sums + sums_bytes()));
    void* output = sums;
    Args own = args;
    own.operands = {};
    own.outputs = {&output, 1};
    OCTAVO_RETURN_IF_ERROR(run_phases(own, static_cast<std::byte*>(align64(params + epilogue_.workspace_bytes()))));
    const TileEpilogue::Bound bound = epilogue_.bind(args, params);
    const Geometry g(whole_);
    const std::int64_t row_elements = g.in[2] * g.c, rows = g.n * g.in[0] * g.in[1];
    parallel_for(rows, threads_for(epilogue_.interpreted_us()), [&](std::int64_t row, int) {
      Rows r;
      r.outer = row / (g.in[0] * g.in[1]);
      r.spatial = rows_spatial(whole_.x.rank, row / g.in[1] % g.in[0], row % g.in[1], 0);
      r.count = g.in[2];
      r.channels = g.c;
      epilogue_.run(bound, r, reinterpret_cast<const std::int32_t*>(sums) + row * row_elements, g.c);
    });
    return {};
  }

  error_t run_phases(const Args& args, std::byte* workspace) const {
    const void* filter = args.w;
    if (!constant_ && needs_transpose(problem_)) {
      std::byte* dense = static_cast<std::byte*>(align64(workspace));
      transpose(filter, dense);
      filter = dense;
      workspace = static_cast<std::byte*>(align64(dense + transposed_bytes()));
    }
    for (const Phase& f : list_) {
      std::array<const void*, kMostTensors> operands{};
      std::array<void*, kMostTensors> outputs{};
      for (std::size_t i = 0; i < f.operand.size(); ++i) {
        const void* at = i < args.operands.size() ? args.operands[i] : nullptr;
        operands[i] = at ? static_cast<const std::byte*>(at) + f.operand[i] : nullptr;
      }
      for (std::size_t i = 0; i < f.output.size(); ++i) outputs[i] = static_cast<std::byte*>(args.outputs[i]) + f.output[i];
      Args own;
      own.x = static_cast<const std::byte*>(args.y) + f.dy;
      own.w = constant_ ? nullptr : static_cast<const std::byte*>(filter) + f.w;
      own.operands = {operands.data(), f.operand.size()};
      own.outputs = {outputs.data(), f.output.size()};
      own.workspace = workspace;
      own.stream = args.stream;
      if (f.zero) {
        run_zero(f, own);
      } else {
        OCTAVO_RETURN_IF_ERROR(f.plan->execute(own));
      }
    }
    return {};
  }

  std::vector<NumericalNote_t> numerical_notes() const override {
    std::vector<NumericalNote_t> notes;
    for (const Phase& f : list_) {
      if (!f.plan) continue;
      for (const NumericalNote_t n : f.plan->numerical_notes()) {
        if (std::find(notes.begin(), notes.end(), n) == notes.end()) notes.push_back(n);
      }
    }
    return notes;
  }

  std::string describe() const override {
    std::string text = std::to_string(list_.size()) + (list_.size() == 1 ? " phase as fprop" : " phases as fprop");
    for (const Phase& f : list_) {
      if (f.plan) return text + ": " + f.path->name + ", " + f.plan->describe();
    }
    return text;
  }

 private:
  std::size_t sums_bytes() const { return static_cast<std::size_t>(whole_.x.elements() + kAccumulatorPad) * 4; }

  std::size_t transposed_bytes() const { return static_cast<std::size_t>(transposed_filter(problem_).span_bytes()); }

  void transpose(const void* from, std::byte* to) const {
    const TensorDesc t = transposed_filter(problem_);
    const std::int64_t cg = problem_.w.dim[1], kg = t.dim[1], bytes = element_bytes(t.type);
    parallel_for(t.dim[0], threads_for(static_cast<double>(transposed_bytes()) * 1e-3), [&](std::int64_t c, int) {
      const std::int64_t group = c / cg, inner = c % cg;
      std::array<std::int64_t, kMaxRank> at{0, inner};
      std::int64_t spatial = 1;
      for (int d = 2; d < t.rank; ++d) spatial *= t.dim[static_cast<std::size_t>(d)];
      for (std::int64_t p = 0; p < spatial; ++p) {
        std::int64_t rest = p, there = c * t.stride[0];
        for (int d = t.rank - 1; d >= 2; --d) {
          const std::size_t i = static_cast<std::size_t>(d);
          at[i] = rest % t.dim[i];
          rest /= t.dim[i];
          there += at[i] * t.stride[i];
        }
        at[0] = group * kg;
        const std::byte* source = static_cast<const std::byte*>(from) + problem_.w.offset(at.data()) * bytes;
        for (std::int64_t k = 0; k < kg; ++k) {
          std::memcpy(to + (there + k) * bytes, source + k * problem_.w.stride[0] * bytes, static_cast<std::size_t>(bytes));
        }
      }
    });
  }

  void run_zero(const Phase& f, const Args& args) const {
    const TileEpilogue::Bound bound = f.epilogue->bind(args, align64(args.workspace));
    const Problem& q = f.problem;
    const Geometry g(q);  // out: dx's points of this phase
    const std::int64_t rows = g.n * g.out[0] * g.out[1];
    const double work = static_cast<double>(q.y.elements()) * 1e-3 + f.epilogue->interpreted_us();
    parallel_for(rows, threads_for(work), [&](std::int64_t row, int) {
      Rows r;
      r.outer = row / (g.out[0] * g.out[1]);
      r.spatial = rows_spatial(q.x.rank, row / g.out[1] % g.out[0], row % g.out[1], 0);
      r.count = g.out[2];
      r.channels = q.y.dim[1];
      f.epilogue->run(bound, r, zeros_.data(), 0);
    });
  }

  Problem whole_, problem_;  ///< as asked for; what the phases compute
  DeviceTraits device_;
  bool sums_apart_ = false;
  TileEpilogue epilogue_;  ///< behind sums that stand apart
  std::vector<Phase> list_;
  std::vector<std::int32_t> zeros_;
  std::size_t workspace_ = 0;
  bool constant_ = false;
};

Verdict accepts(const Problem& p, const DeviceTraits& device) {
  if (p.direction != Direction::dgrad) return Verdict::no(std::string("computes dgrad, not ") + to_string(p.direction));
  if (!is_byte(p.y.type) || !is_byte(p.w.type)) {
    return Verdict::no(std::string("reads s8 and u8, not ") + short_name(p.y.type) + " and " + short_name(p.w.type));
  }
  if (p.zero_points.filter == ZeroPoints::Filter::per_channel) {
    return Verdict::no("the filter's zero points differ along the summed channels, which fprop kernels do not know");
  }
  if (p.epilogue.operands.size() > kMostTensors || p.epilogue.outputs.size() > kMostTensors) {
    return Verdict::no("takes up to " + std::to_string(kMostTensors) + " epilogue tensors");
  }
  for (Phase& f : phases(phased(p))) {
    if (!choose(f, device, {})) return Verdict::no("no fprop path takes a phase of it: " + f.problem.to_string());
  }
  return Verdict::yes();
}

std::vector<Candidate> candidates(const Problem& p, const DeviceTraits& device) {
  std::vector<Candidate> list;
  std::vector<std::string> names{""};
  std::vector<Phase> all = phases(phased(p));
  for (const Phase& f : all) {
    if (f.zero) continue;
    for (const Path& path : paths()) {
      if (path.accepts(f.problem, device) && std::find(names.begin(), names.end(), path.name) == names.end())
        names.push_back(path.name);
    }
  }
  for (const std::string& name : names) {
    double cost = 1;
    for (Phase& f : all) {
      f.path = nullptr;
      if (choose(f, device, name) && !f.zero) cost += f.candidate.cost_us;
    }
    list.push_back({name, cost});
  }
  std::stable_sort(list.begin(), list.end(), [](const Candidate& a, const Candidate& b) { return a.cost_us < b.cost_us; });
  return list;
}

error_t build(const Problem& p, const std::string& config, const DeviceTraits& device, const BuildOptions& options,
              std::unique_ptr<Plan>& plan) {
  bool known = config.empty();
  for (const Path& path : paths()) known = known || config == path.name;
  if (!known) {
    return {error_code_t::INVALID_VALUE, "Config '" + config + "' of path dgrad_s8 names no path; take it from plan_specs()."};
  }
  auto made = std::make_unique<DgradS8Plan>(p, device);
  OCTAVO_RETURN_IF_ERROR(made->init(config, options));
  plan = std::move(made);
  return {};
}

}  // namespace

extern const Path kDgradS8;
const Path kDgradS8{"dgrad_s8", accepts, candidates, build};

}  // namespace octavo::cpu_native
