// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/registry.h"
#include "engines/cuda_common/cuda_engine.h"
#include "engines/cuda_mma/cost_model.h"
#include "engines/cuda_mma/plan.h"
#include "engines/cuda_mma/sources.h"

namespace octavo {
namespace cuda::mma {
namespace {

constexpr std::size_t kMostSpecs = 24;

class MmaEngine : public CudaEngine {
 public:
  std::string_view name() const override { return "cuda_mma"; }

  Verdict accepts(const Problem& problem, const DeviceTraits& device) const override {
    const Result<Lowered> l = lower(problem, device);
    if (!l) return Verdict::no(l.error().err_msg);
    if (Verdict fit = epilogue_fits(problem); !fit) return fit;
    if (problem.result().elements() > 0 && enumerate(*l, device).empty()) return Verdict::no("no tile fits the device");
    return Verdict::yes();
  }

  std::vector<PlanSpec> specs(const Problem& problem, const DeviceTraits& device) const override {
    const Result<Lowered> l = lower(problem, device);
    if (!l) return {};
    if (problem.result().elements() == 0) return {{"cuda_mma", Config{}.to_string(), 0}};
    const Rates rates = rates_of(device, l->a);
    std::vector<PlanSpec> list;
    for (const Config& c : enumerate(*l, device))
      list.push_back({"cuda_mma", c.to_string(), estimate_us(c, *l, device, rates), shared_bytes(c, *l)});
    std::stable_sort(list.begin(), list.end(), [](const PlanSpec& a, const PlanSpec& b) { return a.cost_us < b.cost_us; });
    if (list.size() > kMostSpecs) list.resize(kMostSpecs);
    return list;
  }

  error_t build(const Problem& problem, const PlanSpec& spec, const DeviceTraits& device, const BuildOptions& options,
                std::unique_ptr<Plan>& plan) const override {
    Result<Lowered> l = lower(problem, device);
    if (!l) return {error_code_t::GRAPH_NOT_SUPPORTED, l.error().err_msg};
    Result<Config> c = checked(problem, spec, *l, device);
    if (!c) return c.error();
    return build_plan(problem, *l, *c, device, options, plan);
  }

  Result<std::vector<jit::KernelRequest>> requests(const Problem& problem, const PlanSpec& spec,
                                                   const DeviceTraits& device) const override {
    Result<Lowered> l = lower(problem, device);
    if (!l) return l.error();
    Result<Config> c = checked(problem, spec, *l, device);
    if (!c) return c.error();
    std::vector<jit::KernelRequest> all;
    if (problem.result().elements() == 0) return all;
    all.push_back(main_request(problem, *l, *c, device));
    if (l->x.packed) all.push_back(pack_request(l->x.pack, device));
    if (l->w.packed) all.push_back(pack_request(l->w.pack, device));
    if (l->correct) all.push_back(sums_request(l->w.pack, device));
    const auto* simt = static_cast<const CudaEngine*>(cuda_simt_engine());
    auto unaligned = simt->requests(problem, simt->specs(problem, device).front(), device);
    if (!unaligned) return unaligned.error();
    all.insert(all.end(), unaligned->begin(), unaligned->end());
    return all;
  }

 private:
  static Result<Config> checked(const Problem& problem, const PlanSpec& spec, const Lowered& l, const DeviceTraits& device) {
    Result<Config> c = parse_config(spec.config);
    if (!c || problem.result().elements() == 0) return c;
    if (const Verdict fit = fits(*c, l, device); !fit)
      return error_t{error_code_t::INVALID_VALUE, "Configuration \"" + spec.config + "\" of cuda_mma does not fit: " +
                                                      fit.reason + "; `octavo explain` lists those that do."};
    return c;
  }
};

}  // namespace
}  // namespace cuda::mma

const Engine* cuda_mma_engine() {
  static const cuda::mma::MmaEngine engine;
  return &engine;
}

}  // namespace octavo
