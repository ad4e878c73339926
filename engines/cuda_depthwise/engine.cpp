// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "device/cuda_device.h"
#include "engine/registry.h"
#include "engines/cuda_common/cuda_engine.h"
#include "engines/cuda_depthwise/config.h"

namespace octavo {
namespace cuda::depthwise {
namespace {

error_t unknown(const std::string& config) {
  return {error_code_t::INVALID_VALUE,
          "cuda_depthwise has no configuration \"" + config + "\" for this problem; specs() lists them."};
}

jit::KernelRequest request_for(const Problem& p, const View& view, const Config& config, const DeviceTraits& device) {
  jit::KernelRequest request;
  request.engine = "cuda_depthwise";
  request.kernel = std::string(to_string(p.direction)) + "_" + short_name(view.x_type) + "_" + config.text();
  request.headers = {"conv/depthwise.cuh"};
  request.arch = arch_of(device);
  request.stub = kernel_stub(
      constants(p, view, config), generate_epilogue(p), block_of(view, config, path_of(p, view, config)).threads(),
      "const Conv::X* x, const Conv::W* w, const s32* zero_points, int wide, const __grid_constant__ EpilogueArgs args",
      "conv::depthwise<Conv, Epilogue>(x, w, zero_points, wide, args);");
  return request;
}

class DepthwisePlan : public Plan {
 public:
  DepthwisePlan(const Problem& p, const View& view, const Config& config)
      : slots_(p),
        config_(config),
        block_(block_of(view, config, path_of(p, view, config))),
        path_(path_of(p, view, config)),
        tiles_(tiles_of(view, config)),
        dgrad_(p.direction == Direction::dgrad),
        empty_(p.result().elements() == 0),
        reads_(p.accumulation_length() > 0 && p.input_a().elements() > 0),
        needs_zero_points_(p.zero_points.filter == ZeroPoints::Filter::per_channel) {}

  error_t prepare(const Problem& p, const View& view, const DeviceTraits& device, const BuildOptions& options) {
    if (empty_) return {};
    OCTAVO_RETURN_IF_ERROR(filter_.set(p, device, options));
    OCTAVO_RETURN_IF_ERROR(load_kernel(request_for(p, view, config_, device), device, 0, kernel_));
    launch_.block[0] = static_cast<unsigned>(block_.threads());
    const std::int64_t resident = std::max(device.sm_count, 1) * kernel_->blocks_per_multiprocessor(block_.threads(), 0);
    // A few waves: the filter is brought in once a block, and the last wave must not be long.
    const std::int64_t most = std::max<std::int64_t>(1, 4 * resident / block_.chunks());
    launch_.grid[0] = static_cast<unsigned>(std::clamp<std::int64_t>((tiles_ + block_.tiles - 1) / block_.tiles, 1, most));
    launch_.grid[1] = static_cast<unsigned>(block_.chunks());
    return {};
  }

  error_t execute(const Args& args) const override {
    if (empty_) return {};
    const void* x = dgrad_ ? args.y : args.x;
    const void* w = filter_.select(args.w);
    if (reads_ && !x) return missing_input(dgrad_ ? "y" : "x");
    if (!w) return missing_input("w");
    const std::int32_t* zero_points = args.w_zero_points;
    if (needs_zero_points_ && !zero_points) return missing_input("w's zero points");
    std::uint64_t slots[kMaxEpilogueSlots];
    bool aligned = (reinterpret_cast<std::uintptr_t>(x) & 15) == 0;
    OCTAVO_RETURN_IF_ERROR(slots_.fill(args, slots, aligned));
    int wide = aligned ? 1 : 0;
    void* params[] = {&x, &w, &zero_points, &wide, slots};
    return kernel_->launch(launch_, params, args.stream);
  }

  std::vector<BehaviorNote_t> behavior_notes() const override {
    return {BehaviorNote_t::RUNTIME_COMPILATION, BehaviorNote_t::SUPPORTS_CUDA_GRAPH_NATIVE_API};
  }
  std::size_t shared_memory_bytes() const override { return kernel_ ? kernel_->shared_bytes(launch_) : 0; }
  std::string describe() const override {
    static const char* const kPaths[] = {"multiply-add", "dp4a over taps", "dp4a over channels"};
    return "depthwise, " + config_.text() + ", " + kPaths[static_cast<int>(path_)] + ", grid " +
           std::to_string(launch_.grid[0]) + "x" + std::to_string(launch_.grid[1]) + ", block " +
           std::to_string(launch_.block[0]) +
           (kernel_ ? ", " + std::to_string(kernel_->registers()) + " registers" : std::string());
  }

 private:
  EpilogueSlots slots_;
  Config config_;
  Block block_;
  Path path_;
  std::int64_t tiles_;
  bool dgrad_, empty_, reads_, needs_zero_points_;
  Launch launch_;
  ConstantFilter filter_;
  std::shared_ptr<const Kernel> kernel_;
};

class DepthwiseEngine : public CudaEngine {
 public:
  std::string_view name() const override { return "cuda_depthwise"; }

  Verdict accepts(const Problem& problem, const DeviceTraits& device) const override {
    if (device.kind != DeviceKind::cuda) return Verdict::no("the device is a CPU, and cuda_depthwise runs on CUDA devices");
    return depthwise::accepts(problem);
  }

  std::vector<PlanSpec> specs(const Problem& problem, const DeviceTraits& device) const override {
    const View view = view_of(problem);
    std::vector<PlanSpec> out;
    for (const Config& config : configs(problem, view))
      out.push_back({"cuda_depthwise", config.text(), cost_us(problem, view, config, device)});
    std::stable_sort(out.begin(), out.end(), [](const PlanSpec& a, const PlanSpec& b) { return a.cost_us < b.cost_us; });
    return out;
  }

  error_t build(const Problem& problem, const PlanSpec& spec, const DeviceTraits& device, const BuildOptions& options,
                std::unique_ptr<Plan>& plan) const override {
    const View view = view_of(problem);
    const auto config = find(problem, view, spec.config);
    if (!config) return unknown(spec.config);
    auto made = std::make_unique<DepthwisePlan>(problem, view, *config);
    OCTAVO_RETURN_IF_ERROR(made->prepare(problem, view, device, options));
    plan = std::move(made);
    return {};
  }

  Result<std::vector<jit::KernelRequest>> requests(const Problem& problem, const PlanSpec& spec,
                                                   const DeviceTraits& device) const override {
    if (problem.result().elements() == 0) return std::vector<jit::KernelRequest>{};
    const View view = view_of(problem);
    const auto config = find(problem, view, spec.config);
    if (!config) return unknown(spec.config);
    return std::vector<jit::KernelRequest>{request_for(problem, view, *config, device)};
  }

 private:
  /// Only configurations that specs() offers: a stored one may be another problem's.
  static std::optional<Config> find(const Problem& problem, const View& view, const std::string& text) {
    const std::optional<Config> config = Config::parse(text);
    if (!config) return std::nullopt;
    const std::vector<Config> all = configs(problem, view);
    return std::find(all.begin(), all.end(), *config) != all.end() ? config : std::nullopt;
  }
};

}  // namespace
}  // namespace cuda::depthwise

const Engine* cuda_depthwise_engine() {
  static const cuda::depthwise::DepthwiseEngine engine;
  return &engine;
}

}  // namespace octavo
