// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#include "octavo/engine.h"

#include <algorithm>

#include "engine/registry.h"
#include "engines/cpu_native/path.h"

namespace octavo {
namespace {

using cpu_native::Candidate;
using cpu_native::Path;

class CpuNativeEngine final : public Engine {
 public:
  std::string_view name() const override { return "cpu_native"; }
  DeviceKind device() const override { return DeviceKind::cpu; }

  Verdict accepts(const Problem& problem, const DeviceTraits& device) const override {
    std::string reasons;
    for (const Path& path : cpu_native::paths()) {
      Verdict verdict = path.accepts(problem, device);
      if (verdict) return verdict;
      reasons += (reasons.empty() ? "" : "; ") + std::string(path.name) + ": " + verdict.reason;
    }
    return Verdict::no(std::move(reasons));
  }

  std::vector<PlanSpec> specs(const Problem& problem, const DeviceTraits& device) const override {
    std::vector<PlanSpec> specs;
    for (const Path& path : cpu_native::paths()) {
      if (!path.accepts(problem, device)) continue;
      for (const Candidate& candidate : path.candidates(problem, device)) {
        PlanSpec spec;
        spec.engine = name();
        spec.config = candidate.config.empty() ? std::string(path.name) : std::string(path.name) + ":" + candidate.config;
        spec.cost_us = candidate.cost_us;
        specs.push_back(std::move(spec));
      }
    }
    std::stable_sort(specs.begin(), specs.end(), [](const PlanSpec& a, const PlanSpec& b) { return a.cost_us < b.cost_us; });
    return specs;
  }

  error_t build(const Problem& problem, const PlanSpec& spec, const DeviceTraits& device, const BuildOptions& options,
                std::unique_ptr<Plan>& plan) const override {
    const std::size_t colon = spec.config.find(':');
    const std::string name = spec.config.substr(0, colon);
    const std::string config = colon == std::string::npos ? std::string() : spec.config.substr(colon + 1);
    for (const Path& path : cpu_native::paths()) {
      if (name != path.name) continue;
      if (Verdict verdict = path.accepts(problem, device); !verdict) {
        return {error_code_t::GRAPH_NOT_SUPPORTED, "Path '" + name + "' of cpu_native declines the problem: " + verdict.reason};
      }
      OCTAVO_RETURN_IF_ERROR(path.build(problem, config, device, options, plan));
      plan->spec = spec;
      return {};
    }
    return {error_code_t::INVALID_VALUE,
            "Config '" + spec.config + "' names no path of cpu_native; take it from plan_specs()."};
  }
};

}  // namespace

const Engine* cpu_native_engine() {
  static const CpuNativeEngine kEngine;
  return &kEngine;
}

}  // namespace octavo
