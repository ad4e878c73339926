// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "device/cuda_device.h"
#include "engine/registry.h"
#include "engines/cuda_common/conv_constants.h"
#include "engines/cuda_common/cuda_engine.h"

namespace octavo {
namespace cuda {
namespace {

constexpr int kThreads = 256;

/// A warp shares an element's sum where there are too few elements to fill the device and the sums are long.
int lanes_for(const Problem& p) { return p.result().elements() < 65536 && p.accumulation_length() >= 256 ? 32 : 1; }

/// decode(): linear index -> coordinate, fastest along the first output's smallest stride, so that stores coalesce.
std::string decode(const Problem& p) {
  const TensorDesc& r = p.result();
  const TensorDesc& out = p.epilogue.outputs.front().desc;
  std::array<int, kMaxRank> order{};
  std::iota(order.begin(), order.end(), 0);
  // A blocked channel dimension counts as the fastest: its lanes are neighbours.
  const auto stride = [&](int d) { return d == 1 && out.vector > 1 ? 1 : out.stride[static_cast<std::size_t>(d)]; };
  std::stable_sort(order.begin(), order.begin() + r.rank, [&](int a, int b) { return stride(a) < stride(b); });
  std::int64_t elements = 1;
  for (int d = 0; d < r.rank; ++d) elements *= r.dim[static_cast<std::size_t>(d)];
  const std::string type = elements < (std::int64_t{1} << 31) ? "u32" : "u64";
  std::string text = "  static OCTAVO_DEVICE conv::Coordinate<idx_t> decode(u64 linear) {\n    " + type +
                     " rest = static_cast<" + type + ">(linear);\n    conv::Coordinate<idx_t> at{};\n";
  for (int i = 0; i < r.rank; ++i) {
    const int d = order[static_cast<std::size_t>(i)];
    const std::int64_t size = r.dim[static_cast<std::size_t>(d)];
    if (size <= 1) continue;
    const std::string name = d == 0 ? "d0" : d == 1 ? "c" : "s" + std::to_string(d - 2 + kMaxRank - r.rank);
    text += "    at." + name + " = static_cast<idx_t>(rest % " + std::to_string(size) + "u" + (type == "u64" ? "ll" : "") +
            ");\n    rest /= " + std::to_string(size) + "u" + (type == "u64" ? "ll" : "") + ";\n";
  }
  return text + "    return at;\n  }\n";
}

jit::KernelRequest request_for(const Problem& p, const DeviceTraits& device) {
  jit::KernelRequest request;
  request.engine = "cuda_simt";
  request.kernel = std::string(to_string(p.direction)) + "_" + short_name(p.input_a().type);
  request.headers = {"conv/simt.cuh"};
  request.arch = arch_of(device);
  const std::int64_t pixels =
      p.y.dim[0] * (p.y.dim[1] == 0 ? 0 : p.y.elements() / std::max<std::int64_t>(p.y.dim[0] * p.y.dim[1], 1));
  std::string config = conv_constants(p);
  config += "  static constexpr int kLanes = " + std::to_string(lanes_for(p)) + ";\n";
  config += "  static constexpr u64 kElements = " + std::to_string(p.result().elements()) + "ull;\n";
  config += "  static constexpr s64 kPixels = " + std::to_string(pixels) + "ll;\n";
  config += std::string("  using pixel_t = ") + (pixels < (std::int64_t{1} << 31) ? "u32" : "u64") + ";\n";
  config += decode(p) + "};\n";
  request.stub =
      kernel_stub(config, generate_epilogue(p), kThreads,
                  "const Conv::A* a, const Conv::B* b, const s32* zero_points, const __grid_constant__ EpilogueArgs args",
                  "conv::simt<Conv, Epilogue>(a, b, zero_points, args);");
  return request;
}

class SimtPlan : public Plan {
 public:
  SimtPlan(const Problem& p, const DeviceTraits& device)
      : slots_(p),
        direction_(p.direction),
        elements_(p.result().elements()),
        reads_(p.accumulation_length() > 0),
        needs_zero_points_(p.zero_points.filter == ZeroPoints::Filter::per_channel) {
    const double threads = static_cast<double>(elements_) * lanes_for(p);
    // Enough blocks for eight waves of two thousand threads; the kernel strides over the rest.
    const double most = static_cast<double>(std::max(device.sm_count, 1)) * 64;
    launch_.grid[0] = static_cast<unsigned>(std::clamp(std::ceil(threads / kThreads), 1., most));
    launch_.block[0] = kThreads;
  }

  error_t prepare(const Problem& p, const DeviceTraits& device, const BuildOptions& options) {
    if (elements_ == 0) return {};
    OCTAVO_RETURN_IF_ERROR(filter_.set(p, device, options));
    return load_kernel(request_for(p, device), device, 0, kernel_);
  }

  error_t execute(const Args& args) const override {
    if (elements_ == 0) return {};
    const void* x = args.x;
    const void* w = filter_.select(args.w);
    const void* y = args.y;
    if (reads_ && direction_ != Direction::dgrad && !x) return missing_input("x");
    if (reads_ && direction_ != Direction::wgrad && !w) return missing_input("w");
    if (reads_ && direction_ != Direction::fprop && !y) return missing_input("y");
    const void* a = direction_ == Direction::dgrad ? y : x;
    const void* b = direction_ == Direction::wgrad ? y : w;
    const std::int32_t* zero_points = args.w_zero_points;
    if (needs_zero_points_ && !zero_points) return missing_input("w's zero points");
    std::uint64_t slots[kMaxEpilogueSlots];
    bool aligned = true;
    OCTAVO_RETURN_IF_ERROR(slots_.fill(args, slots, aligned));
    void* params[] = {&a, &b, &zero_points, slots};
    return kernel_->launch(launch_, params, args.stream);
  }

  std::vector<BehaviorNote_t> behavior_notes() const override {
    return {BehaviorNote_t::RUNTIME_COMPILATION, BehaviorNote_t::SUPPORTS_CUDA_GRAPH_NATIVE_API};
  }
  std::size_t shared_memory_bytes() const override { return kernel_ ? kernel_->shared_bytes(launch_) : 0; }
  std::string describe() const override {
    return "direct, one thread or warp an element, grid " + std::to_string(launch_.grid[0]) +
           (kernel_ ? ", " + std::to_string(kernel_->registers()) + " registers" : std::string());
  }

 private:
  EpilogueSlots slots_;
  Direction direction_;
  std::int64_t elements_;
  bool reads_, needs_zero_points_;
  Launch launch_;
  ConstantFilter filter_;
  std::shared_ptr<const Kernel> kernel_;
};

class SimtEngine : public CudaEngine {
 public:
  std::string_view name() const override { return "cuda_simt"; }

  Verdict accepts(const Problem& problem, const DeviceTraits& device) const override {
    if (device.kind != DeviceKind::cuda) return Verdict::no("the device is a CPU, and cuda_simt runs on CUDA devices");
    return epilogue_fits(problem);
  }

  std::vector<PlanSpec> specs(const Problem& problem, const DeviceTraits& device) const override {
    // About 8 multiply-adds a cycle and multiprocessor lane group are seen by such a loop: loads and address arithmetic rule.
    const double rate = std::max(device.sm_count, 1) * 8. * std::max(device.clock_khz, 1000000) * 1e-3;
    return {{"cuda_simt", "", 5. + problem.operations() / 2. / rate}};
  }

  error_t build(const Problem& problem, const PlanSpec& spec, const DeviceTraits& device, const BuildOptions& options,
                std::unique_ptr<Plan>& plan) const override {
    if (!spec.config.empty())
      return {error_code_t::INVALID_VALUE, "cuda_simt has no configuration \"" + spec.config + "\": leave it empty."};
    auto made = std::make_unique<SimtPlan>(problem, device);
    OCTAVO_RETURN_IF_ERROR(made->prepare(problem, device, options));
    plan = std::move(made);
    return {};
  }

  Result<std::vector<jit::KernelRequest>> requests(const Problem& problem, const PlanSpec&,
                                                   const DeviceTraits& device) const override {
    if (problem.result().elements() == 0) return std::vector<jit::KernelRequest>{};
    return std::vector<jit::KernelRequest>{request_for(problem, device)};
  }
};

}  // namespace
}  // namespace cuda

const Engine* cuda_simt_engine() {
  static const cuda::SimtEngine engine;
  return &engine;
}

}  // namespace octavo
