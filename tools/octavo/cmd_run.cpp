// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "command.h"
#include "progress.h"
#include "verify/compare.h"
#include "workload.h"

namespace octavo::cli {
namespace {

struct Options {
  MachineOptions machine;
  ProblemOptions problem;
  std::string engine, config;
  std::uint64_t seed = 1;
  int repeat = 5;
  bool per_call_filter = false;
};

int run(const Options& o) {
  const DeviceTraits device = o.machine.device();
  const Problem problem = o.problem.problem();
  std::vector<PlanSpec> specs = plan_specs(problem, device);
  if (!o.engine.empty()) {
    std::vector<std::string> names;
    for (const Engine* engine : engines()) names.emplace_back(engine->name());
    require_choice("--engine", o.engine, names);
    const Verdict verdict = find_engine(o.engine)->accepts(problem, device);
    if (!verdict) throw RunError(o.engine + " declines this problem: " + verdict.reason);
    std::erase_if(specs, [&o](const PlanSpec& s) { return s.engine != o.engine; });
  }
  if (!o.config.empty()) {
    std::vector<std::string> configs;
    for (const PlanSpec& spec : specs) configs.push_back(spec.config);
    require_choice("--config", o.config, configs);
    std::erase_if(specs, [&o](const PlanSpec& s) { return s.config != o.config; });
  }
  if (specs.empty()) throw RunError("No engine of this build accepts the problem; octavo explain says why.");

  using Clock = std::chrono::steady_clock;
  const auto ms = [](Clock::time_point from) { return std::chrono::duration<double, std::milli>(Clock::now() - from).count(); };
  Progress progress(3);
  progress.step("data");
  const verify::Data data = make_data(problem, o.seed);
  std::vector<verify::GuardedBuffer> outputs = verify::make_outputs(problem);
  Runner runner;
  Clock::time_point start = Clock::now();
  const bool constant = !o.per_call_filter && problem.direction != Direction::wgrad;
  require_run(runner.build(problem, specs[0], device, constant ? data.w.data() : nullptr));
  const double plan_ms = ms(start);
  runner.bind(data, outputs);
  require_run(runner.execute());
  progress.done();

  progress.step("the oracle");
  verify::Expected expected;
  require_run(verify::Expected::compute(problem, data, expected));
  const std::string wrong = expected.judge(problem, data, outputs);
  progress.done();

  progress.step("timing");
  std::vector<double> times;
  for (int i = 0; i < o.repeat; ++i) {
    start = Clock::now();
    require_run(runner.execute());
    times.push_back(ms(start));
  }
  progress.clear();
  std::sort(times.begin(), times.end());
  fmt::print("problem    {}\n", problem.to_string());
  fmt::print("plan       {}{}{}, built in {:.3f} ms{}\n", specs[0].engine, specs[0].config.empty() ? "" : ":", specs[0].config,
             plan_ms, constant ? " with the filter packed" : "");
  if (const std::string text = runner.plan().describe(); !text.empty()) fmt::print("           {}\n", text);
  fmt::print("result     {}\n",
             wrong.empty() ? (expected.exact() ? "right, to the bit" : "right, within the computed bound") : "WRONG: " + wrong);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    fmt::print("checksum   output {} {:016x} (seed {})\n", i, outputs[i].checksum(), o.seed);
  if (!times.empty()) {
    const double median = times[times.size() / 2];
    fmt::print("time       {:.3f} ms median of {}, {:.3f} ms best; {:.1f} Gop/s\n", median, times.size(), times[0],
               problem.operations() / median * 1e-6);
  }
  return wrong.empty() ? 0 : 1;
}

std::function<int()> setup(CLI::App& app) {
  auto o = std::make_shared<Options>();
  o->machine.add(app);
  o->problem.add(app);
  app.add_option("--engine", o->engine, "this engine instead of the first of the ranking");
  app.add_option("--config", o->config, "this configuration of the engine");
  app.add_option("--seed", o->seed, "of the random data");
  app.add_option("--repeat", o->repeat, "timed runs")->check(CLI::Range(0, 100000));
  app.add_flag("--per-call-filter", o->per_call_filter, "the filter is not constant: it is packed in every call");
  return [o] { return run(*o); };
}

const Command kRun(10, "run", "run one problem on random data, check it and time it", setup);

}  // namespace
}  // namespace octavo::cli
