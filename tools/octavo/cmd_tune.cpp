// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "check.h"
#include "command.h"
#include "layers.h"
#include "progress.h"
#include "tune/store.h"
#include "tune/tuner.h"
#include "verify/device_memory.h"

namespace octavo::cli {
namespace {

struct Options {
  MachineOptions machine;
  DeviceOption device;
  ProblemOptions problem;
  std::string cases, layers, type = "s8", layout = "nhwc", direction = "fprop";
  double seconds = 2, check = 1e9;
  int most = 64;
  std::uint64_t seed = 1;
  bool again = false, per_call_filter = false, list = false;
};

std::vector<Problem> problems_of(const Options& o) {
  std::vector<Problem> problems;
  if (!o.problem.line.empty()) problems.push_back(o.problem.problem());
  if (!o.cases.empty())
    for (Problem& problem : read_cases(o.cases)) problems.push_back(std::move(problem));
  if (!o.layers.empty()) {
    LayerOptions options;
    options.direction = o.direction;
    options.type = o.type;
    options.layout = o.layout;
    require(parse_epilogue_parts(o.problem.epilogue, options.parts));
    for (const Layer& layer : read_layers(o.layers)) problems.push_back(layer_problem(layer, options));
  }
  if (problems.empty()) throw UsageError("octavo tune needs a problem line, --cases FILE or --layers FILE.csv.");
  for (const Problem& problem : problems) require(problem.validate());
  return problems;
}

std::string name_of(const PlanSpec& spec) { return spec.engine + (spec.config.empty() ? "" : ":" + spec.config); }

int run(const Options& o) {
  const DeviceTraits device = o.device.device(o.machine);
  auto memory = verify::memory_for(device);
  if (!memory) throw RunError(memory.error().get_message());
  const std::vector<Problem> problems = problems_of(o);
  fmt::print("environment  {}\nwinners      {}\n", tune::environment_stamp(device), tune::store_path());
  if (const tune::StoreStatistics s = tune::store_statistics(); s.unreadable_lines)
    fmt::print(stderr, "octavo: {} line{} of {} cannot be read (torn, or another version's) and {} ignored.\n",
               s.unreadable_lines, s.unreadable_lines == 1 ? "" : "s", tune::store_path(),
               s.unreadable_lines == 1 ? "is" : "are");
  bool warned = false;
  int tuned = 0, kept = 0, failed = 0;
  double log_ratio = 0;
  int ratios = 0;
  Progress progress(static_cast<std::int64_t>(problems.size()));
  for (const Problem& problem : problems) {
    const std::string line = problem.to_string();
    progress.step(line);
    // The order of the cost model: the first is what an untuned program runs.
    std::vector<PlanSpec> specs;
    for (const EngineVerdict& row : verdicts(problem, device)) {
      if (!row.verdict || row.engine->name() == "cpu_reference") continue;  // the oracle does not compete with itself
      for (PlanSpec& spec : row.engine->specs(problem, device)) specs.push_back(std::move(spec));
    }
    std::stable_sort(specs.begin(), specs.end(), [](const PlanSpec& a, const PlanSpec& b) { return a.cost_us < b.cost_us; });
    if (const auto stored = tune::find_winner(problem, device); stored && !o.again) {
      if (tune::winner_among(problem, device, specs) >= 0) {
        ++kept;
        progress.done();
        continue;
      }
      if (!warned) {
        progress.clear();
        fmt::print(
            stderr,
            "octavo: the stored winner '{}{}{}' is no plan of this build (an engine or configuration was renamed or left); "
            "such problems are tuned again.\n",
            stored->engine, stored->config.empty() ? "" : ":", stored->config);
      }
      warned = true;
    }
    if (specs.empty() || problem.result().elements() == 0) {
      progress.clear();
      fmt::print("{}\n    nothing to tune: {}\n", line,
                 specs.empty() ? "no engine but the oracle accepts it" : "the result is empty");
      progress.done();
      continue;
    }
    verify::Data data(problem, o.seed, verify::Fill::automatic);
    PartialOracle oracle;
    require_run(oracle.prepare(problem, data, o.check));
    tune::Options options;
    options.seconds = o.seconds;
    options.constant_filter = !o.per_call_filter;
    options.most_candidates = o.most;
    options.memory = memory->get();
    options.progress = [&](const std::string& text) { progress.step(text + "  " + line); };
    tune::Outcome outcome;
    const error_t error = tune::tune_problem(
        problem, device, specs, data, [&](const std::vector<verify::GuardedBuffer>& out) { return oracle.judge(out); }, options,
        outcome);
    progress.clear();
    int right = 0;
    for (const tune::Candidate& c : outcome.candidates) {
      right += c.us > 0;
      if (o.list || (!c.rejected.empty() && c.us == 0))
        fmt::print("    {:<40} {}\n", name_of(c.spec), c.rejected.empty() ? fmt::format("{:.2f} us", c.us) : c.rejected);
    }
    if (error.is_bad()) {
      fmt::print("{}\n    {}\n", line, error.get_message());
      ++failed;
      progress.done();
      continue;
    }
    const tune::Candidate& best = outcome.candidates[static_cast<std::size_t>(outcome.winner)];
    const tune::Candidate& first = outcome.candidates.front();
    require_run(tune::record_winner(problem, device, {best.spec.engine, best.spec.config, best.us, first.us, right, line}));
    ++tuned;
    if (first.us > 0) {
      log_ratio += std::log(first.us / best.us);
      ++ratios;
    }
    fmt::print("{}\n    {} {:.2f} us of {} right; untuned {} {}\n", line, name_of(best.spec), best.us, right,
               name_of(first.spec),
               first.us > 0 ? fmt::format("{:.2f} us, {:.2f} times", first.us, first.us / best.us) : "is not right");
    std::fflush(stdout);
    progress.done();
  }
  progress.clear();
  fmt::print("{} tuned, {} had a winner, {} failed", tuned, kept, failed);
  if (ratios) fmt::print("; untuned over tuned, geometric mean of {}: {:.3f}", ratios, std::exp(log_ratio / ratios));
  fmt::print("\n");
  return failed ? 1 : 0;
}

std::function<int()> setup(CLI::App& app) {
  auto o = std::make_shared<Options>();
  o->machine.add(app);
  o->device.add(app);
  o->problem.add(app, false);
  app.add_option("--cases", o->cases, "a text file with one problem a line");
  app.add_option("--layers", o->layers, "CSV: set,name,n,c,h,w,k,r,s,stride,pad,dilation,groups");
  app.add_option("--type", o->type, "type of the layers' inputs");
  app.add_option("--layout", o->layout, "layout of the layers' tensors");
  app.add_option("--direction", o->direction, "of the layers: fprop, dgrad or wgrad");
  app.add_option("--seconds", o->seconds, "timing of all candidates of one problem")->check(CLI::PositiveNumber);
  app.add_option("--check", o->check, "operations of each result that the oracle checks in full; of larger ones, parts")
      ->check(CLI::PositiveNumber);
  app.add_option("--candidates", o->most, "at most so many for a problem")->check(CLI::Range(1, 100000));
  app.add_option("--seed", o->seed, "of the random data");
  app.add_flag("--again", o->again, "also problems that have a winner");
  app.add_flag("--list", o->list, "every candidate's time");
  app.add_flag("--per-call-filter", o->per_call_filter, "plans for filters that are not constant");
  return [o] { return run(*o); };
}

const Command kTune(46, "tune", "time the plans of a problem and keep the winner for later programs", setup);

}  // namespace
}  // namespace octavo::cli
