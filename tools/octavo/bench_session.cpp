// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "bench.h"
#include "machine.h"
#include "pinning.h"
#include "progress.h"

namespace octavo::cli {

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

namespace {

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

}  // namespace

bool run_cases(BenchReport& report, const std::vector<BenchCase>& cases, const BenchOptions& options,
               const std::vector<Peer*>& peers) {
  pin_own_pool(report.device.threads);
  for (const Peer* peer : peers) report.peer_versions[std::string(peer->name())] = peer->version();
  report.machine = machine_name(report.device);
  report.date = today();
  report.command = command_text();
  fmt::print("{}; {} thread{}; instruction set {}\n", report.machine, report.device.threads,
             report.device.threads == 1 ? "" : "s", to_string(report.device.isa));
  for (const auto& [name, version] : report.peer_versions) fmt::print("peer {} {}\n", name, version);

  report.read_gbs = measure_read_bandwidth(report.device.threads);
  bool all_right = true;
  std::map<std::string, CeilingKernel> kernels;
  {
    Progress progress(static_cast<std::int64_t>(cases.size()));
    for (const BenchCase& item : cases) {
      const DataType_t type = item.problem.input_a().type;
      auto [at, fresh] = report.ceilings.try_emplace(short_name(type));
      CeilingKernel& kernel = kernels[short_name(type)];
      if (fresh) {
        kernel = ceiling_kernel(type, report.device);
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
  return all_right;
}

}  // namespace octavo::cli
