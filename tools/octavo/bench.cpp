// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <thread>

#include "check.h"
#include "workload.h"

namespace octavo::cli {
namespace {

using Clock = std::chrono::steady_clock;

double micros(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::micro>(to - from).count();
}

double median(std::vector<double> v) {
  if (v.empty()) return 0;
  const std::size_t half = v.size() / 2;
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(half), v.end());
  if (v.size() % 2) return v[half];
  return (v[half] + *std::max_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(half))) / 2;
}

struct Side {
  std::function<double()> call;  ///< microseconds by its own clock, or < 0
  std::vector<double> micros;    ///< one an iteration
  double estimate = 0;
};

double timed(const Side& side) {
  const Clock::time_point start = Clock::now();
  const double own = side.call();
  return own >= 0 ? own : micros(start, Clock::now());
}

// A thread pool that has just worked spins for about 100 us (GOMP_SPINCOUNT is set by `octavo bench`); the other side's turn
// starts after that, so that nobody's waiting threads take the other's cores.
void let_pools_sleep() { std::this_thread::sleep_for(std::chrono::microseconds(300)); }

struct Interleaved {
  std::vector<bool> clean;
  int clean_count = 0;
};

// One turn = probe, an untimed call that wakes the side's threads and warms its caches, a timed call.
Interleaved interleave(std::vector<Side>& sides, RateProbe& probe, double seconds) {
  for (Side& side : sides) {
    side.call();
    let_pools_sleep();
    side.estimate = timed(side);
    let_pools_sleep();
  }
  std::vector<double> lowest, all;
  const Clock::time_point start = Clock::now();
  constexpr int kLeast = 5, kMost = 400;
  constexpr double kLong = 20000;  // us: waking threads no longer matters
  for (int iteration = 0; iteration < kMost; ++iteration) {
    if (iteration >= kLeast && micros(start, Clock::now()) > seconds * 1e6) break;
    double low = INFINITY;
    for (std::size_t turn = 0; turn < sides.size(); ++turn) {
      Side& side = sides[(turn + static_cast<std::size_t>(iteration)) % sides.size()];
      let_pools_sleep();
      const double rate = probe.sample();
      low = std::min(low, rate);
      all.push_back(rate);
      if (side.estimate < kLong) side.call();
      side.micros.push_back(timed(side));
    }
    const double rate = probe.sample();
    all.push_back(rate);
    lowest.push_back(std::min(low, rate));
  }
  // Clean: no probe below 90% of what the machine does in its good moments (the best tenth).
  Interleaved out;
  std::sort(all.begin(), all.end());
  const double good = all[all.size() * 9 / 10];
  for (const double low : lowest) out.clean.push_back(low >= 0.9 * good);
  out.clean_count = static_cast<int>(std::count(out.clean.begin(), out.clean.end(), true));
  if (out.clean_count < 3) out.clean.assign(out.clean.size(), true);  // no quiet moment: all of them, and the count says so
  return out;
}

Timing timing_of(const Side& side, const std::vector<bool>& clean) {
  std::vector<double> kept;
  for (std::size_t i = 0; i < side.micros.size(); ++i) {
    if (clean[i]) kept.push_back(side.micros[i]);
  }
  return {median(kept), *std::min_element(side.micros.begin(), side.micros.end()), static_cast<int>(kept.size())};
}

error_t choose_spec(const Problem& problem, const BenchOptions& options, PlanSpec& spec) {
  std::vector<PlanSpec> specs;
  if (options.engine.empty()) {
    specs = plan_specs(problem, options.device);
  } else {
    const Engine* engine = find_engine(options.engine);
    const Verdict verdict = engine->accepts(problem, options.device);
    if (!verdict) return {error_code_t::GRAPH_NOT_SUPPORTED, options.engine + " declines: " + verdict.reason};
    specs = engine->specs(problem, options.device);
  }
  for (const PlanSpec& candidate : specs) {
    if (!options.config.empty() && candidate.config != options.config) continue;
    spec = candidate;
    return {};
  }
  if (options.config.empty()) return {error_code_t::GRAPH_NOT_SUPPORTED, "No engine accepts the problem."};
  if (!options.engine.empty()) {  // a configuration that the cost model does not list may still be asked for
    spec = {options.engine, options.config, 0};
    return {};
  }
  return {error_code_t::INVALID_VALUE, "--config needs --engine."};
}

error_t measure(const BenchOptions& options, const CeilingKernel& probe_kernel, const std::vector<Peer*>& peers,
                BenchResult& r) {
  const Problem& problem = r.item.problem;
  const EpilogueParts& parts = r.item.parts;
  verify::Data data = make_data(problem, options.seed);
  const bool scale = parts.scale || parts.scale1;
  fill_scale_and_bias(problem, data, scale, parts.bias, options.seed + 77);
  std::vector<verify::GuardedBuffer> outputs = verify::make_outputs(problem);

  PlanSpec spec;
  OCTAVO_RETURN_IF_ERROR(choose_spec(problem, options, spec));
  r.engine = spec.engine;
  r.config = spec.config;
  Runner ours;
  const Clock::time_point start = Clock::now();
  const void* filter = options.constant_filter && problem.direction != Direction::wgrad ? data.w.data() : nullptr;
  OCTAVO_RETURN_IF_ERROR(ours.build(problem, spec, options.device, filter));
  r.plan_ms = micros(start, Clock::now()) * 1e-3;
  r.describe = ours.plan().describe();
  ours.bind(data, outputs);
  OCTAVO_RETURN_IF_ERROR(ours.execute());

  PartialOracle oracle;
  // Judging a float is an interval evaluation an element: less of it in the same time.
  const bool integer = is_integer(problem.input_a().type);
  OCTAVO_RETURN_IF_ERROR(oracle.prepare(problem, data, options.check_operations * (integer ? 1 : 0.2)));
  r.wrong = oracle.judge(outputs);
  if (!ours.workspace_intact()) r.wrong = "it wrote outside its workspace";
  r.right = r.wrong.empty();
  r.checked = oracle.share();
  const verify::GuardedBuffer &a = input_a(problem, data), &b = input_b(problem, data);
  r.bytes = static_cast<double>(a.size() + b.size());
  for (const verify::GuardedBuffer& o : outputs) r.bytes += static_cast<double>(o.size());

  PeerInput input;
  input.problem = &problem;
  input.parts = parts;
  input.a = a.data();
  input.b = b.data();
  std::size_t operand = 0;
  if (scale) input.scale = reinterpret_cast<const float*>(data.operands[operand++].data());
  if (parts.bias) input.bias = reinterpret_cast<const float*>(data.operands[operand++].data());
  input.threads = options.device.threads;

  std::vector<Side> sides(1);
  sides[0].call = [&ours] { return ours.execute().is_bad() ? 0.0 : -1.0; };
  std::vector<std::unique_ptr<PeerRun>> runs;
  std::vector<std::string> names;
  for (Peer* peer : peers) {
    PeerResult& result = r.peers[std::string(peer->name())];
    result.version = peer->version();
    std::unique_ptr<PeerRun> run;
    if (const error_t error = peer->create(input, run); error.is_bad()) {
      result.missing = error.get_message();
      continue;
    }
    run->execute();
    const double operations = options.check_operations * (integer ? 1 : 0.2);
    if (run->judges_itself()) {
      result.wrong = run->own_verdict(operations);
    } else {
      std::vector<verify::GuardedBuffer> theirs = verify::make_outputs(problem);
      if (const error_t error = run->fetch(theirs[0].data()); error.is_bad()) {
        result.missing = error.get_message();
        continue;
      }
      result.wrong = oracle.judge(theirs);
      // Where the oracle saw a part only, equal bits everywhere are what integers must give.
      if (integer && oracle.share() < 1 && r.right && result.wrong.empty())
        result.wrong = compare_bits(problem, theirs, outputs);
    }
    result.right = result.wrong.empty();
    result.implementation = run->describe();
    sides.push_back({[raw = run.get()] { return raw->execute(); }, {}, 0});
    names.emplace_back(peer->name());
    runs.push_back(std::move(run));
  }

  RateProbe probe(probe_kernel, options.device.threads);
  const Interleaved run = interleave(sides, probe, options.seconds);
  r.timing = timing_of(sides[0], run.clean);
  r.clean = run.clean_count;
  r.iterations = static_cast<int>(run.clean.size());
  for (std::size_t i = 1; i < sides.size(); ++i) {
    PeerResult& result = r.peers[names[i - 1]];
    result.timing = timing_of(sides[i], run.clean);
    std::vector<double> ratios;
    for (std::size_t j = 0; j < run.clean.size(); ++j) {
      if (run.clean[j]) ratios.push_back(sides[i].micros[j] / sides[0].micros[j]);
    }
    result.ratio = median(ratios);
  }
  return {};
}

}  // namespace

BenchResult run_case(const BenchCase& item, const BenchOptions& options, const Ceiling& ceiling, const CeilingKernel& probe,
                     const std::vector<Peer*>& peers) {
  BenchResult r;
  r.item = item;
  try {
    if (const error_t error = measure(options, probe, peers, r); error.is_bad()) r.error = error.get_message();
  } catch (const std::bad_alloc&) {
    r.error = "needs more memory than the machine gives";
  }
  if (r.timing.median_us > 0) {
    r.gops = item.problem.operations() / r.timing.median_us * 1e-3;
    r.share = ceiling.gops > 0 ? r.gops / ceiling.gops : 0;
  }
  return r;
}

}  // namespace octavo::cli
