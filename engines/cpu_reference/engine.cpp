// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// The oracle as an engine: it accepts every legal problem.

#include "octavo/engine.h"

#include "engine/registry.h"
#include "engines/cpu_reference/plan.h"

namespace octavo {
namespace cpu_reference {
namespace {

class ReferenceEngine final : public Engine {
 public:
  std::string_view name() const override { return "cpu_reference"; }
  DeviceKind device() const override { return DeviceKind::cpu; }

  Verdict accepts(const Problem& problem, const DeviceTraits& device) const override {
    if (device.kind != DeviceKind::cpu) return Verdict::no("cpu_reference runs on the CPU, not on " + device.name + ".");
    const error_t status = problem.validate();
    return status.is_good() ? Verdict::yes() : Verdict::no(status.err_msg);
  }

  std::vector<PlanSpec> specs(const Problem& problem, const DeviceTraits& device) const override {
    // Measured: some 5 operations a nanosecond and thread with long sums, far less with short ones.
    const double elements = static_cast<double>(problem.result().elements());
    const double cost = problem.operations() / (3e3 * device.threads) + elements * 0.03 / device.threads + 50;
    return {PlanSpec{"cpu_reference", "", cost}};
  }

  error_t build(const Problem& problem, const PlanSpec& spec, const DeviceTraits&, const BuildOptions& options,
                std::unique_ptr<Plan>& plan) const override {
    if (!spec.config.empty())
      return {error_code_t::GRAPH_EXECUTION_PLAN_CREATION_FAILED,
              "cpu_reference has no configuration '" + spec.config + "'; its only one is the empty text."};
    OCTAVO_RETURN_IF_ERROR(problem.validate());
    plan = problem.direction == Direction::wgrad ? make_wgrad_plan(problem, options) : make_correlate_plan(problem, options);
    return {};
  }
};

}  // namespace
}  // namespace cpu_reference

const Engine* cpu_reference_engine() {
  static const cpu_reference::ReferenceEngine engine;
  return &engine;
}

}  // namespace octavo
