// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "features.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

#include "device/cuda_device.h"
#include "device/cuda_memory.h"
#include "jit/kernel_request.h"
#include "verify/compare.h"
#include "verify/data.h"

namespace octavo::gpu_check {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

bool report(bool good, const char* what, const std::string& detail = {}) {
  std::printf("%s %s%s%s\n", good ? "ok   " : "WRONG", what, detail.empty() ? "" : ": ", detail.c_str());
  std::fflush(stdout);
  return good;
}

/// A problem's tensors on the device, filled from a seed.
struct Bench {
  std::vector<cuda::Buffer> buffers;
  std::vector<const void*> operands;
  std::vector<void*> outputs;
  cuda::Buffer workspace;
  Args args;

  error_t bind(const Problem& p, const DeviceTraits& device, std::size_t workspace_bytes, bool fill) {
    verify::Data data = fill ? verify::Data(p, 1, verify::Fill::automatic) : verify::Data(p);
    args = data.args();
    const auto put = [&](const void* host, std::size_t bytes, const void*& address) -> error_t {
      buffers.emplace_back();
      OCTAVO_RETURN_IF_ERROR(cuda::Buffer::allocate(device.ordinal, bytes, buffers.back()));
      OCTAVO_RETURN_IF_ERROR(buffers.back().upload(host, bytes));
      address = buffers.back().data();
      return {};
    };
    if (data.x.size()) OCTAVO_RETURN_IF_ERROR(put(data.x.data(), data.x.size(), args.x));
    if (data.w.size()) OCTAVO_RETURN_IF_ERROR(put(data.w.data(), data.w.size(), args.w));
    if (data.y.size()) OCTAVO_RETURN_IF_ERROR(put(data.y.data(), data.y.size(), args.y));
    if (!data.w_zero_points.empty()) {
      const void* address = nullptr;
      OCTAVO_RETURN_IF_ERROR(put(data.w_zero_points.data(), data.w_zero_points.size() * 4, address));
      args.w_zero_points = static_cast<const std::int32_t*>(address);
    }
    operands.resize(data.operands.size());
    for (std::size_t i = 0; i < operands.size(); ++i)
      if (data.operands[i].size()) OCTAVO_RETURN_IF_ERROR(put(data.operands[i].data(), data.operands[i].size(), operands[i]));
    for (const Epilogue::Output& o : p.epilogue.outputs) {
      buffers.emplace_back();
      OCTAVO_RETURN_IF_ERROR(
          cuda::Buffer::allocate(device.ordinal, static_cast<std::size_t>(o.desc.span_bytes()), buffers.back()));
      outputs.push_back(buffers.back().data());
    }
    if (workspace_bytes) OCTAVO_RETURN_IF_ERROR(cuda::Buffer::allocate(device.ordinal, workspace_bytes, workspace));
    args.operands = operands;
    args.outputs = outputs;
    args.workspace = workspace.data();
    return {};
  }
};

Problem stated() {
  Problem p;
  const error_t e = parse_problem(
      "fprop n=2 c=32 size=16x16 k=32 filter=3x3 pad=1x1 x=s8:nhwc w=s8:nhwc y=s8:nhwc epi=%1=f32.channel;%2=mul(%0,%1)", p);
  if (e.is_bad()) std::printf("WRONG %s\n", e.err_msg.c_str());
  return p;
}

bool check_engine(const Problem& p, const PlanSpec& spec, const DeviceTraits& device) {
  bool good = true;
  const std::string name = spec.engine + (spec.config.empty() ? "" : ":" + spec.config);
  std::unique_ptr<Plan> plan;
  if (error_t e = build_plan(p, spec, device, {}, plan); e.is_bad()) return report(false, name.c_str(), e.err_msg);
  const auto again = Clock::now();
  std::unique_ptr<Plan> second;
  if (error_t e = build_plan(p, spec, device, {}, second); e.is_bad()) return report(false, name.c_str(), e.err_msg);
  const double warm_ms = 1e3 * seconds_since(again);
  good &= report(warm_ms <= 1.0, (name + " warm plan").c_str(), std::to_string(warm_ms) + " ms");

  Bench bench;
  cuda::Timer timer;
  error_t e = bench.bind(p, device, plan->workspace_bytes(), true);
  if (e.is_good()) e = cuda::Timer::create(device.ordinal, timer);
  if (e.is_bad()) return report(false, name.c_str(), e.err_msg);
  bench.args.stream = timer.stream();
  for (int i = 0; i < 20; ++i) e = plan->execute(bench.args);
  if (e.is_good()) e = cuda::synchronize(device.ordinal);
  if (e.is_bad()) return report(false, name.c_str(), e.err_msg);
  std::vector<double> samples;
  for (int round = 0; round < 20; ++round) {
    const auto start = Clock::now();
    for (int i = 0; i < 20; ++i) e = plan->execute(bench.args);
    samples.push_back(1e6 * seconds_since(start) / 20);
    (void)cuda::synchronize(device.ordinal, timer.stream()).is_bad();
  }
  std::nth_element(samples.begin(), samples.begin() + 10, samples.end());
  good &= report(samples[10] <= 3.0, (name + " host time of execute").c_str(), std::to_string(samples[10]) + " us");

  // Captured, then replayed on overwritten outputs: the same bits.
  std::vector<std::vector<std::byte>> first, replayed;
  const auto collect = [&](std::vector<std::vector<std::byte>>& to) {
    for (std::size_t i = 0; i < bench.outputs.size(); ++i) {
      to.emplace_back(static_cast<std::size_t>(p.epilogue.outputs[i].desc.span_bytes()));
      (void)cuda::download(device.ordinal, to.back().data(), bench.outputs[i], to.back().size()).is_bad();
    }
  };
  collect(first);
  const cuda::Driver& d = *cuda::driver();
  cuda::Context context = nullptr;
  (void)cuda::primary_context(device.ordinal, context).is_bad();
  const cuda::CurrentContext current(context);
  const auto stream = static_cast<cuda::Stream>(timer.stream());
  cuda::Graph graph = nullptr;
  cuda::GraphExec exec = nullptr;
  bool captured = d.StreamBeginCapture(stream, 0) == 0;
  captured = captured && plan->execute(bench.args).is_good();
  captured = d.StreamEndCapture(stream, &graph) == 0 && captured && d.GraphInstantiate(&exec, graph, 0) == 0;
  for (std::size_t i = 0; i < bench.outputs.size(); ++i)
    (void)d.MemsetD8(reinterpret_cast<cuda::DevicePtr>(bench.outputs[i]), 0x77,
                     static_cast<std::size_t>(p.epilogue.outputs[i].desc.span_bytes()));
  captured = captured && d.GraphLaunch(exec, stream) == 0 && d.StreamSynchronize(stream) == 0;
  collect(replayed);
  good &= report(captured && first == replayed, (name + " captured in a graph and replayed").c_str());
  if (exec) d.GraphExecDestroy(exec);
  if (graph) d.GraphDestroy(graph);
  return good;
}

}  // namespace

bool check_features(const DeviceTraits& device) {
  bool good = true;
  const Problem p = stated();
  const jit::CacheStatistics before = jit::cache_statistics();
  const auto cold = Clock::now();
  const std::vector<PlanSpec> specs = plan_specs(p, device);
  good &= report(!specs.empty(), "plans exist");
  if (specs.empty()) return false;
  std::unique_ptr<Plan> plan;
  const error_t built = build_plan(p, specs.front(), device, {}, plan);
  const double cold_ms = 1e3 * seconds_since(cold);
  const bool compiled = jit::cache_statistics().compiled > before.compiled;
  good &= report(built.is_good(), "first plan",
                 std::to_string(cold_ms) + " ms" + (compiled ? ", compiled" : ", from the cache") + built.err_msg);
  std::string last;
  for (const PlanSpec& spec : specs) {
    if (spec.engine == last) continue;
    last = spec.engine;
    good &= check_engine(p, spec, device);
  }
  int on_host = 0;
  cuda::Buffer on_device;
  good &= report(cuda::Buffer::allocate(device.ordinal, 1024, on_device).is_good(), "allocation");
  good &= report(cuda::check_pointer(on_device.data(), device.ordinal, "x").is_good(), "a device pointer passes");
  const error_t host = cuda::check_pointer(&on_host, device.ordinal, "Tensor x");
  good &= report(host.is_bad(), "a host pointer is an error", host.err_msg);
  const error_t other = cuda::check_pointer(on_device.data(), device.ordinal + 1, "Tensor x");
  good &= report(other.is_bad(), "another device's pointer is an error", other.err_msg);
  return good;
}

bool time_problem(const Problem& problem, const DeviceTraits& device, const std::string& engine, bool every_spec) {
  bool good = true;
  std::string last;
  for (const PlanSpec& spec : plan_specs(problem, device)) {
    if (!engine.empty() && spec.engine != engine) continue;
    if (!every_spec && spec.engine == last) continue;
    last = spec.engine;
    std::unique_ptr<Plan> plan;
    Bench bench;
    cuda::Timer timer;
    error_t e = build_plan(problem, spec, device, {}, plan);
    if (e.is_good()) e = bench.bind(problem, device, plan->workspace_bytes(), true);
    if (e.is_good()) e = cuda::Timer::create(device.ordinal, timer);
    bench.args.stream = timer.stream();
    std::vector<double> samples;
    for (int i = 0; e.is_good() && i < 25; ++i) {
      double us = 0;
      const int repeats = 10;
      e = timer.start();
      for (int k = 0; e.is_good() && k < repeats; ++k) e = plan->execute(bench.args);
      if (e.is_good()) e = timer.stop(us);
      samples.push_back(us / repeats);
      if (us > 200000) break;
    }
    if (e.is_bad()) {
      good = report(false, problem.to_string().c_str(), spec.engine + ": " + e.err_msg);
      continue;
    }
    std::sort(samples.begin(), samples.end());
    const double median = samples[samples.size() / 2];
    std::printf("time %-16s %-32s %10.2f us %9.1f GOPS model %10.2f us | %s\n", spec.engine.c_str(), spec.config.c_str(),
                median, problem.operations() / median * 1e-3, spec.cost_us, problem.to_string().c_str());
    std::fflush(stdout);
  }
  return good;
}

}  // namespace octavo::gpu_check
