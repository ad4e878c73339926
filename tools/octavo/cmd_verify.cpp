// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>

#include "command.h"
#include "progress.h"
#include "verify/device_memory.h"
#include "verify/random_problem.h"
#include "verify/verify.h"

namespace octavo::cli {
namespace {

struct Options {
  MachineOptions machine;
  DeviceOption device;
  ProblemOptions problem;
  std::string cases, engine;
  std::int64_t random = 0;
  std::uint64_t seed = 1;
  bool every_plan = false, quiet = false;
};

struct Tally {
  std::int64_t accepted = 0, runs = 0, exact = 0, wrong = 0;
  double worst = 0;
};

int run(const Options& o) {
  const DeviceTraits device = o.device.device(o.machine);
  auto memory = verify::memory_for(device);
  if (!memory) throw RunError(memory.error().get_message());
  std::vector<Problem> problems;
  if (!o.problem.line.empty()) problems.push_back(o.problem.problem());
  if (!o.cases.empty()) {
    for (Problem& problem : read_cases(o.cases)) problems.push_back(std::move(problem));
  }
  if (problems.empty() && o.random == 0) throw UsageError("octavo verify needs a problem line, --cases FILE or --random N.");
  if (!o.engine.empty()) {
    std::vector<std::string> names;
    for (const Engine* engine : engines()) names.emplace_back(engine->name());
    require_choice("--engine", o.engine, names);
  }
  const auto given = static_cast<std::int64_t>(problems.size());
  const std::int64_t total = given + o.random;
  const bool list = total <= 20 && !o.quiet;
  std::map<std::string, Tally> tallies;
  std::int64_t wrong = 0, only_oracle = 0;
  Progress progress(total);
  for (std::int64_t i = 0; i < total; ++i) {
    // Problem i of seed S is the same however many are asked for, so that one failure can be run alone.
    verify::Rng rng(o.seed * 1000003 + static_cast<std::uint64_t>(i - given));
    const Problem problem = i < given ? problems[static_cast<std::size_t>(i)] : verify::random_problem(rng);
    const std::string line = problem.to_string();
    progress.step(line);
    verify::Options options;
    options.seed = o.seed + static_cast<std::uint64_t>(i);
    options.memory = memory->get();
    if (list) {
      progress.clear();
      fmt::print("{}\n", line);
    }
    bool somebody = false;
    for (const bool constant : {false, true}) {
      if (constant && problem.direction == Direction::wgrad) break;
      options.constant_filter = constant;
      std::unique_ptr<verify::Case> test;
      require_run(verify::Case::make(problem, options, test));
      for (const EngineVerdict& row : verdicts(problem, device)) {
        const std::string name(row.engine->name());
        if (!row.verdict || (!o.engine.empty() && name != o.engine)) {
          if (list && !constant && (o.engine.empty() || name == o.engine))
            fmt::print("  {:<16} declines: {}\n", name, row.verdict.reason);
          continue;
        }
        if (row.engine->device() != device.kind) continue;
        Tally& tally = tallies[name];
        tally.accepted += !constant;
        somebody = somebody || name != "cpu_reference";
        std::vector<PlanSpec> specs = row.engine->specs(problem, device);
        if (!o.every_plan && specs.size() > 1) specs.resize(1);
        for (const PlanSpec& spec : specs) {
          const verify::Report report = test->check(spec, device);
          ++tally.runs;
          tally.exact += report.exact;
          tally.worst = std::max(tally.worst, report.worst);
          if (list) {
            fmt::print(
                "  {:<16} {:<36} {}{}\n", name, spec.config + (constant ? " (constant filter)" : ""),
                report.right ? (report.exact ? "right, to the bit" : "right, within the bound") : "WRONG: ", report.message);
          }
          if (report.right) continue;
          ++tally.wrong;
          ++wrong;
          if (list) continue;
          progress.clear();
          fmt::print("WRONG  {}{}{}{}: {}\n       octavo verify{} --seed {} --engine {}{} '{}'\n", name,
                     spec.config.empty() ? "" : ":", spec.config, constant ? " (constant filter)" : "", report.message,
                     device.kind == DeviceKind::cpu ? "" : " --device " + o.device.name, options.seed, name,
                     o.every_plan ? " --every-plan" : "", line);
        }
      }
    }
    only_oracle += !somebody;
    progress.done();
  }
  progress.clear();
  fmt::print("{} problem{}, seed {}\n", total, total == 1 ? "" : "s", o.seed);
  for (const auto& [name, t] : tallies) {
    fmt::print("  {:<16} accepts {:>7}, runs {:>7}: {} to the bit, {} within the bound (worst {:.2f} of it), {} wrong\n", name,
               t.accepted, t.runs, t.exact, t.runs - t.exact, t.worst, t.wrong);
  }
  if (only_oracle && o.engine.empty())
    fmt::print("  {} problem{} had no engine but the oracle itself: nothing was compared there\n", only_oracle,
               only_oracle == 1 ? "" : "s");
  return wrong ? 1 : 0;
}

std::function<int()> setup(CLI::App& app) {
  auto o = std::make_shared<Options>();
  o->machine.add(app);
  o->device.add(app);
  o->problem.add(app, false);
  app.add_option("--cases", o->cases, "a text file with one problem a line");
  app.add_option("--random", o->random, "this many random problems")->check(CLI::NonNegativeNumber);
  app.add_option("--seed", o->seed, "of problems and data");
  app.add_option("--engine", o->engine, "only this engine");
  app.add_flag("--every-plan", o->every_plan, "every configuration of every engine, not only its first");
  app.add_flag("--quiet", o->quiet, "only what is wrong, and the totals");
  return [o] { return run(*o); };
}

const Command kVerify(20, "verify", "compare every accepting engine with the oracle", setup);

}  // namespace
}  // namespace octavo::cli
