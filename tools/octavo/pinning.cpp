// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "pinning.h"

#include <sched.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "core/parallel.h"

namespace octavo::cli {
namespace {

void set_affinity(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(static_cast<std::size_t>(cpu), &set);
  sched_setaffinity(0, sizeof set, &set);  // where it is not allowed the figures are only noisier
}

}  // namespace

const std::vector<int>& start_cpus() {
  static const std::vector<int> cpus = [] {
    std::vector<int> found;
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
      for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) found.push_back(cpu);
      }
    }
    if (found.empty()) found.push_back(0);
    return found;
  }();
  return cpus;
}

void pin_this_thread(int index) {
  const std::vector<int>& cpus = start_cpus();
  set_affinity({cpus[static_cast<std::size_t>(index) % cpus.size()]});
}

void unpin_this_thread() { set_affinity(start_cpus()); }

void pin_own_pool(int threads) {
  start_cpus();
  std::atomic<int> arrived{0};
  auto body = [&](std::int64_t, int thread) {
    pin_this_thread(thread);
    arrived.fetch_add(1);
    // Nobody takes a second task before everybody has one.
    const auto start = std::chrono::steady_clock::now();
    while (arrived.load() < threads && std::chrono::steady_clock::now() - start < std::chrono::seconds(1))
      std::this_thread::yield();
  };
  parallel_for(threads, body);
  if (threads == 1) pin_this_thread(0);
}

}  // namespace octavo::cli
