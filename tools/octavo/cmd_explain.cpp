// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "command.h"
#include "octavo/engine.h"

namespace octavo::cli {
namespace {

struct Options {
  MachineOptions machine;
  ProblemOptions problem;
};

int run(const Options& o) {
  const DeviceTraits device = o.machine.device();
  const Problem problem = o.problem.problem();
  fmt::print("problem   {}\nhash      {}\n", problem.to_string(), problem.hash().hex());
  fmt::print("computes  {} in {}, {} products a sum, {:.4g} Gop\n", to_string(problem.direction), short_name(problem.compute),
             problem.accumulation_length(), problem.operations() * 1e-9);
  fmt::print("device    {}, {} thread{}, {}\n\nengines\n", device.name, device.threads, device.threads == 1 ? "" : "s",
             to_string(device.isa));
  for (const EngineVerdict& row : verdicts(problem, device)) {
    fmt::print("  {:<16} {}\n", row.engine->name(), row.verdict ? "accepts" : "declines: " + row.verdict.reason);
  }
  fmt::print("\nplans, best first\n");
  int rank = 0;
  bool described = true;
  for (const PlanSpec& spec : plan_specs(problem, device)) {
    fmt::print("  {:>3}  {:<16} {:<36} estimated {:.1f} us\n", ++rank, spec.engine, spec.config, spec.cost_us);
    if (!described) continue;
    described = false;
    std::unique_ptr<Plan> plan;
    if (const error_t error = build_plan(problem, spec, device, {}, plan); error.is_bad()) {
      fmt::print("       cannot be built: {}\n", error.get_message());
      continue;
    }
    if (const std::string text = plan->describe(); !text.empty()) fmt::print("       {}\n", text);
    fmt::print("       workspace {} bytes\n", plan->workspace_bytes());
  }
  return 0;
}

std::function<int()> setup(CLI::App& app) {
  auto o = std::make_shared<Options>();
  o->machine.add(app);
  o->problem.add(app);
  return [o] { return run(*o); };
}

const Command kExplain(40, "explain", "show every engine's verdict, with its reason, and the ranking of plans", setup);

}  // namespace
}  // namespace octavo::cli
