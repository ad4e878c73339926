// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#include "engine/registry.h"

#include <algorithm>
#include <array>

#include "octavo/engine.h"
#include "tune/store.h"

namespace octavo {

std::span<const Engine* const> engines() {
  // One line an engine.
  static const std::array kEngines {
    cpu_reference_engine(), cpu_native_engine(),
#if OCTAVO_HAVE_ONEDNN
        onednn_engine(),
#endif
        cuda_depthwise_engine(), cuda_simt_engine(), cuda_mma_engine(),
  };
  return kEngines;
}

const Engine* find_engine(std::string_view name) {
  for (const Engine* engine : engines()) {
    if (engine->name() == name) return engine;
  }
  return nullptr;
}

std::vector<EngineVerdict> verdicts(const Problem& problem, const DeviceTraits& device) {
  std::vector<EngineVerdict> table;
  // An engine sees legal problems only; the sentence that says why one is not is the same for all of them.
  const error_t legal = problem.validate();
  for (const Engine* engine : engines()) {
    Verdict verdict =
        legal.is_bad() ? Verdict::no(legal.err_msg)
        : engine->device() == device.kind
            ? engine->accepts(problem, device)
            : Verdict::no(std::string("runs on ") + (engine->device() == DeviceKind::cuda ? "CUDA devices" : "the CPU") +
                          ", and the device is " + device.name);
    table.push_back({engine, std::move(verdict)});
  }
  return table;
}

std::vector<PlanSpec> plan_specs(const Problem& problem, const DeviceTraits& device) {
  std::vector<PlanSpec> specs;
  for (const EngineVerdict& row : verdicts(problem, device)) {
    if (!row.verdict) continue;
    for (PlanSpec& spec : row.engine->specs(problem, device)) specs.push_back(std::move(spec));
  }
  std::stable_sort(specs.begin(), specs.end(), [](const PlanSpec& a, const PlanSpec& b) { return a.cost_us < b.cost_us; });
  // A stored winner goes first, if this build still offers it; the others keep their order.
  if (const int winner = tune::winner_among(problem, device, specs); winner > 0)
    std::rotate(specs.begin(), specs.begin() + winner, specs.begin() + winner + 1);
  return specs;
}

error_t build_plan(const Problem& problem, const PlanSpec& spec, const DeviceTraits& device, const BuildOptions& options,
                   std::unique_ptr<Plan>& plan) {
  const Engine* engine = find_engine(spec.engine);
  if (!engine) {
    return {error_code_t::INVALID_VALUE,
            "Engine '" + spec.engine + "' is not part of this build; `octavo doctor` lists the engines."};
  }
  if (engine->device() != device.kind) {
    return {error_code_t::GRAPH_NOT_SUPPORTED, "Engine '" + spec.engine + "' cannot run on device '" + device.name + "'."};
  }
  OCTAVO_RETURN_IF_ERROR(problem.validate());
  if (Verdict verdict = engine->accepts(problem, device); !verdict) {
    return {error_code_t::GRAPH_NOT_SUPPORTED, "Engine '" + spec.engine + "' declines the problem: " + verdict.reason};
  }
  OCTAVO_RETURN_IF_ERROR(engine->build(problem, spec, device, options, plan));
  plan->spec = spec;
  return {};
}

}  // namespace octavo
