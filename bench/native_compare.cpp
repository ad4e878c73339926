// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// cpu_native against itself: problems (one line each, from the arguments) run call by call in one process, each timed against
// the first. usage: native_compare [-t threads] [-i isa] [-s spec prefix] [-m milliseconds] "fprop n=10 ..." ...

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "core/parallel.h"
#include "octavo/engine.h"
#include "verify/compare.h"
#include "verify/data.h"

namespace {

bool g_cpu_time = false;
double now() {
  timespec t;
  clock_gettime(g_cpu_time ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

struct Entry {
  octavo::Problem problem;
  std::unique_ptr<octavo::verify::Data> data;
  std::vector<octavo::verify::GuardedBuffer> outputs;
  std::vector<void*> addresses;
  std::unique_ptr<octavo::Plan> plan;
  std::byte* workspace = nullptr;
  octavo::Args args;
  double cold = 0;
  std::vector<double> seconds;
};

}  // namespace

int main(int argc, char** argv) {
  int threads = 1;
  double budget = 1.0;
  std::string prefix;
  octavo::DeviceTraits device = octavo::host_cpu();
  std::vector<std::string> lines;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    const bool has_value = i + 1 < argc;
    if (arg == "-t" && has_value) {
      threads = std::atoi(argv[++i]);
    } else if (arg == "-m" && has_value) {
      budget = std::atof(argv[++i]) / 1e3;
    } else if (arg == "-s" && has_value) {
      prefix = argv[++i];
    } else if (arg == "-i" && has_value) {
      ++i;
      for (const auto isa : {octavo::CpuIsa::portable, octavo::CpuIsa::avx2, octavo::CpuIsa::avx512,
                             octavo::CpuIsa::avx512_vnni, octavo::CpuIsa::amx}) {
        if (std::strcmp(argv[i], octavo::to_string(isa)) == 0) device = octavo::with_isa(device, isa);
      }
    } else {
      lines.push_back(arg);
    }
  }
  octavo::set_num_threads(threads);
  device.threads = threads;
  g_cpu_time = threads == 1;
  const octavo::Engine* native = octavo::find_engine("cpu_native");
  std::vector<Entry> entries(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    Entry& e = entries[i];
    octavo::error_t error = octavo::parse_problem(lines[i], e.problem);
    if (error.is_good()) error = e.problem.validate();
    if (error.is_bad()) {
      std::fprintf(stderr, "%s\n", error.get_message().c_str());
      return 1;
    }
    e.data = std::make_unique<octavo::verify::Data>(e.problem, 1, octavo::verify::Fill::automatic);
    e.outputs = octavo::verify::make_outputs(e.problem);
    for (auto& o : e.outputs) e.addresses.push_back(o.data());
    for (const octavo::PlanSpec& spec : native->specs(e.problem, device)) {
      if (spec.config.rfind(prefix, 0) != 0) continue;
      const double t = now();
      error = native->build(e.problem, spec, device, {e.data->w.data()}, e.plan);
      e.cold = now() - t;
      if (error.is_bad()) std::fprintf(stderr, "%s: %s\n", spec.config.c_str(), error.get_message().c_str());
      break;
    }
    if (!e.plan) {
      std::fprintf(stderr, "no plan of cpu_native for %s\n", lines[i].c_str());
      return 1;
    }
    e.workspace = static_cast<std::byte*>(std::aligned_alloc(64, (e.plan->workspace_bytes() + 127) / 64 * 64));
    e.args = e.data->args();
    e.args.outputs = e.addresses;
    e.args.workspace = e.workspace;
  }
  const double begin = now();
  while (entries[0].seconds.size() < 3 ||
         (now() - begin < budget * static_cast<double>(entries.size()) && entries[0].seconds.size() < 3000)) {
    for (Entry& e : entries) {
      const double t = now();
      const octavo::error_t error = e.plan->execute(e.args);
      e.seconds.push_back(now() - t);
      if (error.is_bad()) std::fprintf(stderr, "%s\n", error.get_message().c_str());
    }
  }
  double base = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    Entry& e = entries[i];
    std::sort(e.seconds.begin(), e.seconds.end());
    const double median = e.seconds[e.seconds.size() / 2];
    if (i == 0) base = median;
    std::printf("%9.4f ms (min %9.4f)  first/this %5.2f  cold %6.2f ms  workspace %6.1f MB  %-20s %s\n", median * 1e3,
                e.seconds[0] * 1e3, base / median, e.cold * 1e3, static_cast<double>(e.plan->workspace_bytes()) / 1e6,
                e.plan->spec.config.c_str(), lines[i].c_str());
    std::free(e.workspace);
  }
  return 0;
}
