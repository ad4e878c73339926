// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <ctime>
#include <memory>
#include <regex>

#include "bench.h"
#include "command.h"
#include "core/text.h"
#include "layers.h"
#include "machine.h"
#include "progress.h"

namespace octavo::cli {
namespace {

struct Options {
  MachineOptions machine;
  ProblemOptions problem;
  std::string layers, types = "s8", direction = "fprop", layout = "nhwc", output, peers, json, engine, config, filter;
  double seconds = 1.0, check = 3e9;
  std::uint64_t seed = 1;
  bool per_call_filter = false;
};

// OpenMP reads its settings when it is loaded, so they must be there before the program starts: run it once more. Threads that
// wait must spin briefly (both sides do, about 100 us) and then sleep: by default they would spin for 15 ms on our cores.
void settle_openmp() {
  if (getenv("GOMP_SPINCOUNT") || getenv("OCTAVO_BENCH_SETTLED")) return;
  setenv("GOMP_SPINCOUNT", "2000", 0);
  setenv("OCTAVO_BENCH_SETTLED", "1", 1);
  std::vector<std::string> words = command_line();
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv("/proc/self/exe", argv.data());  // if that fails the figures are only noisier
}

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words;
  for (const std::string_view word : text::split(list, ',')) {
    if (!word.empty()) words.emplace_back(word);
  }
  return words;
}

std::vector<BenchCase> cases_of(const Options& o) {
  std::vector<BenchCase> cases;
  EpilogueParts parts;
  require(parse_epilogue_parts(o.problem.epilogue, parts));
  if (parts.any() && o.direction != "fprop" && o.problem.line.empty())
    throw UsageError("--epilogue goes with --direction fprop; a gradient is stored as it is (leave --epilogue out).");
  if (!o.problem.line.empty()) {
    Problem problem;
    require(parse_problem(o.problem.line, problem));
    // Operands of an epilogue written out in the line are not known as scale and bias, so peers leave it out.
    require(apply_epilogue_parts(parts, problem));
    require(problem.validate());
    cases.push_back({"line", "problem", problem, parts});
    return cases;
  }
  if (o.layers.empty())
    throw UsageError("octavo bench needs --layers FILE.csv or a problem line; bench/layers.csv is a table.");
  std::regex filter;
  try {
    filter = std::regex(o.filter.empty() ? ".*" : o.filter);
  } catch (const std::regex_error&) {
    throw UsageError("--filter '" + o.filter + "' is not a regular expression.");
  }
  for (const std::string& type : words_of(o.types)) {
    require_choice("--types", type, {"s8", "u8", "bf16", "f16", "f32", "f64", "e4m3", "e5m2"});
    const LayerOptions options{o.direction, type, o.output, o.layout, parts};
    for (const Layer& layer : read_layers(o.layers)) {
      if (!std::regex_search(layer.set + "/" + layer.name, filter)) continue;
      cases.push_back({layer.set, layer.name, layer_problem(layer, options), parts});
    }
  }
  if (cases.empty()) throw UsageError("--filter '" + o.filter + "' leaves no layer of " + o.layers + ".");
  return cases;
}

void print_result(const BenchResult& r) {
  fmt::print("{:<16} {:<26} ", r.item.set, r.item.name);
  if (!r.error.empty()) {
    fmt::print("did not run: {}\n", r.error);
    return;
  }
  fmt::print("{:>10.1f} us {:>8.1f} Gop/s {:>4.0f}%  {}{} {}", r.timing.median_us, r.gops, 100 * r.share, r.engine,
             r.config.empty() ? "" : ":" + r.config, r.right ? "right" : "WRONG");
  for (const auto& [name, peer] : r.peers) {
    if (!peer.missing.empty())
      fmt::print("  {}: none", name);
    else
      fmt::print("  {} {:.1f} us x{:.2f}{}", name, peer.timing.median_us, peer.ratio, peer.right ? "" : " (wrong)");
  }
  if (r.clean < 3) fmt::print("  [no quiet moment]");
  fmt::print("\n");
  if (!r.right) fmt::print("    {}\n", r.wrong);
  std::fflush(stdout);
}

int run(const Options& o) {
  settle_openmp();
  require_choice("--direction", o.direction, {"fprop", "dgrad", "wgrad"});
  require_choice("--layout", o.layout, {"nchw", "nhwc", "nc4", "nc16", "nc32"});
  BenchReport report;
  report.device = o.machine.device();
  if (!o.engine.empty()) {
    std::vector<std::string> names;
    for (const Engine* engine : engines()) names.emplace_back(engine->name());
    require_choice("--engine", o.engine, names);
  }
  const std::vector<BenchCase> cases = cases_of(o);

  std::vector<std::unique_ptr<Peer>> owned;
  std::vector<Peer*> peers;
  for (const std::string& name : words_of(o.peers)) {
    require_choice("--peers", name, {"onednn", "torch"});
    error_t error;
    owned.push_back(name == "onednn" ? make_onednn_peer(report.device, o.machine.isa_forced(), error)
                                     : make_torch_peer(report.device.threads, error));
    require(error);
    peers.push_back(owned.back().get());
    report.peer_versions[name] = owned.back()->version();
  }

  report.machine = machine_name(report.device);
  report.date = today();
  report.command = command_text();
  fmt::print("{}; {} thread{}; instruction set {}\n", report.machine, report.device.threads,
             report.device.threads == 1 ? "" : "s", to_string(report.device.isa));
  for (const auto& [name, version] : report.peer_versions) fmt::print("peer {} {}\n", name, version);

  BenchOptions options;
  options.device = report.device;
  options.engine = o.engine;
  options.config = o.config;
  options.constant_filter = !o.per_call_filter;
  options.seconds = o.seconds;
  options.check_operations = o.check;
  options.seed = o.seed;
  report.read_gbs = measure_read_bandwidth(report.device.threads);
  bool all_right = true;
  {
    Progress progress(static_cast<std::int64_t>(cases.size()));
    for (const BenchCase& item : cases) {
      const DataType_t type = item.problem.input_a().type;
      const CeilingKernel kernel = ceiling_kernel(type, report.device);
      auto [at, fresh] = report.ceilings.try_emplace(short_name(type));
      if (fresh) {
        at->second = measure_ceiling(kernel, report.device.threads, 0.3);
        fmt::print("ceiling for {}: {} {:.0f} Gop/s; memory read {:.1f} GB/s\n", short_name(type), at->second.name,
                   at->second.gops, report.read_gbs);
      }
      progress.step(item.set + " " + item.name);
      report.results.push_back(run_case(item, options, at->second, kernel, peers));
      progress.done();
      progress.clear();
      print_result(report.results.back());
      all_right = all_right && report.results.back().right;
    }
  }
  fmt::print("\n{}", summary(report));
  if (!o.json.empty()) write_json(report, o.json);
  return all_right ? 0 : 1;
}

std::function<int()> setup(CLI::App& app) {
  auto o = std::make_shared<Options>();
  o->machine.add(app);
  o->problem.add(app, false);
  app.add_option("--layers", o->layers, "CSV: set,name,n,c,h,w,k,r,s,stride,pad,dilation,groups");
  app.add_option("--types", o->types, "s8, u8 (with s8 filters), bf16, f16, f32, f64, e4m3, e5m2; several with commas");
  app.add_option("--out", o->output, "type of the result (default: the same type)");
  app.add_option("--direction", o->direction, "fprop, dgrad or wgrad");
  app.add_option("--layout", o->layout, "nhwc, nchw, nc4, nc16 or nc32");
  app.add_option("--peers", o->peers, "onednn, torch; several with commas");
  app.add_option("--json", o->json, "write the figures to this file");
  app.add_option("--engine", o->engine, "this engine instead of the first of the ranking");
  app.add_option("--config", o->config, "this configuration of the engine");
  app.add_option("--filter", o->filter, "only layers whose set/name matches this regular expression");
  app.add_option("--seconds", o->seconds, "time for each layer, all sides together")->check(CLI::PositiveNumber);
  app.add_option("--check", o->check, "operations of each layer to check against the oracle; the rest by sampling rows")
      ->check(CLI::PositiveNumber);
  app.add_option("--seed", o->seed, "of the random data");
  app.add_flag("--per-call-filter", o->per_call_filter, "the filter is not constant: ours packs it in every call");
  return [o] { return run(*o); };
}

const Command kBench(30, "bench", "time layers beside other libraries", setup);

}  // namespace
}  // namespace octavo::cli
