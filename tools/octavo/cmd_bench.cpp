// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <regex>

#include "bench.h"
#include "command.h"
#include "core/text.h"
#include "layers.h"

namespace octavo::cli {
namespace {

struct Options {
  MachineOptions machine;
  ProblemOptions problem;
  std::string layers, types = "s8", direction = "fprop", layout = "nhwc", output, peers, json, engine, config, filter, against,
                      name = "problem";
  double seconds = 1.0, check = 3e9;
  std::uint64_t seed = 1;
  bool per_call_filter = false;
};

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
    cases.push_back({"line", o.name, problem, parts});
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
  }

  if (!o.against.empty()) {
    Problem problem;
    require(parse_problem(o.against, problem));
    EpilogueParts parts;
    require(parse_epilogue_parts(problem.direction == Direction::fprop ? o.problem.epilogue : "", parts));
    require(apply_epilogue_parts(parts, problem));
    require(problem.validate());
    owned.push_back(make_own_peer(problem, report.device));
    peers.push_back(owned.back().get());
  }

  BenchOptions options;
  options.device = report.device;
  options.engine = o.engine;
  options.config = o.config;
  options.constant_filter = !o.per_call_filter;
  options.seconds = o.seconds;
  options.check_operations = o.check;
  options.seed = o.seed;
  const bool all_right = run_cases(report, cases, options, peers);
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
  app.add_option("--against", o->against, "another problem line: ours on that one is timed in turn, as the peer 'own'");
  app.add_option("--name", o->name, "what the figures of a problem line are called");
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
