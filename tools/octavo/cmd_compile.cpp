// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <set>

#include "command.h"
#include "device/cuda_device.h"
#include "engines/cuda_common/cuda_engine.h"
#include "jit/disk_cache.h"
#include "jit/nvrtc.h"
#include "progress.h"

namespace octavo::cli {
namespace {

struct Options {
  std::string arch, cases, engine;
  ProblemOptions problem;
  bool every_plan = false;
};

/// The specs of a problem whose kernels are wanted: the first of the ranking (a stored winner, too), and each engine's first.
std::vector<PlanSpec> wanted(const Problem& problem, const DeviceTraits& device, const Options& o) {
  std::vector<PlanSpec> specs;
  std::set<std::string> seen;
  for (const PlanSpec& spec : plan_specs(problem, device)) {
    if (!o.engine.empty() && spec.engine != o.engine) continue;
    if (o.every_plan || seen.insert(spec.engine).second) specs.push_back(spec);
  }
  return specs;
}

int run(const Options& o) {
  const auto device = cuda::device_by_name(o.arch);
  if (!device) throw UsageError("--arch: " + device.error().get_message());
  std::vector<Problem> problems;
  if (!o.problem.line.empty()) problems.push_back(o.problem.problem());
  if (!o.cases.empty())
    for (Problem& problem : read_cases(o.cases)) problems.push_back(std::move(problem));
  if (problems.empty()) throw UsageError("octavo compile needs --cases FILE or a problem line.");
  if (!o.engine.empty()) {
    std::vector<std::string> names;
    for (const Engine* engine : engines())
      if (engine->device() == DeviceKind::cuda) names.emplace_back(engine->name());
    require_choice("--engine", o.engine, names);
  }
  require_run(jit::nvrtc_available());

  std::vector<jit::KernelRequest> requests;
  std::set<std::string> names;
  int illegal = 0, without = 0;
  for (const Problem& problem : problems) {
    if (const error_t error = problem.validate(); error.is_bad()) {
      fmt::print("not legal: {}\n    {}\n", problem.to_string(), error.get_message());
      ++illegal;
      continue;
    }
    const std::vector<PlanSpec> specs = wanted(problem, *device, o);
    without += specs.empty();
    for (const PlanSpec& spec : specs) {
      const auto* engine = dynamic_cast<const cuda::CudaEngine*>(find_engine(spec.engine));
      if (!engine) continue;
      auto wants = engine->requests(problem, spec, *device);
      if (!wants) throw RunError(wants.error().get_message());
      for (jit::KernelRequest& request : *wants)
        if (names.insert(jit::kernel_name(request)).second) requests.push_back(std::move(request));
    }
  }
  const jit::CacheStatistics before = jit::cache_statistics();
  int failed = 0;
  {
    Progress progress(static_cast<std::int64_t>(requests.size()));
    constexpr std::size_t kChunk = 16;  // enough for every CPU, small enough for the bar to move
    for (std::size_t at = 0; at < requests.size(); at += kChunk) {
      const std::vector<jit::KernelRequest> part(
          requests.begin() + static_cast<std::ptrdiff_t>(at),
          requests.begin() + static_cast<std::ptrdiff_t>(std::min(at + kChunk, requests.size())));
      progress.step(part.front().engine + " " + part.front().kernel);
      for (const auto& result : jit::compile_all(part)) {
        if (!result) {
          progress.clear();
          fmt::print("WRONG  {}\n", result.error().get_message());
          ++failed;
        }
        progress.done();
      }
    }
  }
  const jit::CacheStatistics after = jit::cache_statistics();
  const std::int64_t unpublished = after.publish_failures - before.publish_failures;
  fmt::print("{} problems, {}: {} kernels, {} compiled, {} were in the cache, {} failed\n{}\n", problems.size(),
             cuda::arch_of(*device), requests.size(), after.compiled - before.compiled, after.disk_hits - before.disk_hits,
             failed, jit::cache_directory());
  if (without)
    fmt::print("{} problem{} had no engine{}\n", without, without == 1 ? "" : "s", o.engine.empty() ? "" : " of that name");
  if (unpublished)
    throw RunError(fmt::format("{} kernels could not be stored in {}; is it writable, and has it room?", unpublished,
                               jit::cache_directory()));
  return failed || illegal || without ? 1 : 0;
}

std::function<int()> setup(CLI::App& app) {
  auto o = std::make_shared<Options>();
  o->problem.add(app, false);
  app.add_option("--arch", o->arch, "architecture or device: sm_80, sm_87, sm_90a, orin, a100, h200, ...")->required();
  app.add_option("--cases", o->cases, "a text file with one problem a line");
  app.add_option("--engine", o->engine, "only this engine's kernels");
  app.add_flag("--every-plan", o->every_plan, "the kernels of every configuration, not only each engine's first");
  return [o] { return run(*o); };
}

const Command kCompile(45, "compile", "fill the kernel cache for a GPU that need not be here", setup);

}  // namespace
}  // namespace octavo::cli
