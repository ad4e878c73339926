// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#include "core/parallel.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "core/env.h"
#include "core/parallel_limits.h"

namespace octavo {
namespace {

constexpr int kMaxThreads = 1024;

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

int default_threads() {
  if (const std::string text = env(Env::num_threads); !text.empty()) {
    const int wanted = std::atoi(text.c_str());
    if (wanted >= 1) return std::min(wanted, kMaxThreads);
  }
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::clamp(CPU_COUNT(&set), 1, kMaxThreads);
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMaxThreads);
}

// Workers sleep on a generation counter. One job at a time: a second caller runs its own job alone (see the header).
class Pool {
 public:
  explicit Pool(int workers) {
    for (int i = 0; i < workers; ++i) threads_.emplace_back([this, i] { work(i + 1); });
  }
  ~Pool() {
    stop_.store(true);
    generation_.fetch_add(1);
    generation_.notify_all();
    for (std::thread& t : threads_) t.join();
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  int workers() const { return static_cast<int>(threads_.size()); }

  void run(std::int64_t tasks, int max_threads, TaskRef task) {
    task_ = &task;
    max_threads_ = max_threads;
    tasks_ = tasks;
    next_.store(0, std::memory_order_relaxed);
    active_.store(workers(), std::memory_order_relaxed);
    generation_.fetch_add(1, std::memory_order_release);
    generation_.notify_all();
    drain(0);
    for (int spins = 0; active_.load(std::memory_order_acquire) != 0; ++spins) {
      if (spins < 2000) {
        relax();
      } else if (const int left = active_.load(std::memory_order_acquire); left != 0) {
        active_.wait(left, std::memory_order_acquire);
      }
    }
  }

 private:
  void drain(int thread) {
    if (thread >= max_threads_) return;
    for (std::int64_t i; (i = next_.fetch_add(1, std::memory_order_relaxed)) < tasks_;) (*task_)(i, thread);
  }

  void work(int thread) {
    std::uint32_t seen = 0;
    while (true) {
      for (int spins = 0; generation_.load(std::memory_order_acquire) == seen && spins < 2000; ++spins) relax();
      generation_.wait(seen, std::memory_order_acquire);
      seen = generation_.load(std::memory_order_acquire);
      if (stop_.load()) return;
      drain(thread);
      if (active_.fetch_sub(1, std::memory_order_acq_rel) == 1) active_.notify_all();
    }
  }

  std::vector<std::thread> threads_;
  const TaskRef* task_ = nullptr;
  std::int64_t tasks_ = 0;
  int max_threads_ = 0;
  std::atomic<std::int64_t> next_{0};
  std::atomic<int> active_{0};
  std::atomic<std::uint32_t> generation_{0};
  std::atomic<bool> stop_{false};
};

constexpr double kWorthWaking = 20;  // microseconds
std::atomic<double> g_worth_waking{kWorthWaking};
std::atomic<int> g_threads{0};
std::atomic_flag g_busy = ATOMIC_FLAG_INIT;
Pool* g_pool = nullptr;  // guarded by g_busy; never destroyed at exit, because user threads may still be inside
thread_local bool t_inside = false;

// A forked child has no workers: it starts over with a pool of its own.
void after_fork_in_child() {
  g_pool = nullptr;
  t_inside = false;
  g_busy.clear();
}

}  // namespace

int num_threads() {
  int n = g_threads.load(std::memory_order_relaxed);
  if (n == 0) {
    n = default_threads();
    g_threads.store(n, std::memory_order_relaxed);
  }
  return n;
}

void set_num_threads(int threads) { g_threads.store(threads < 1 ? default_threads() : std::min(threads, kMaxThreads)); }

int threads_for(double work_us) { return work_us < g_worth_waking.load(std::memory_order_relaxed) ? 1 : num_threads(); }

void set_least_parallel_work(double work_us) { g_worth_waking.store(work_us < 0 ? kWorthWaking : work_us); }

void parallel_for(std::int64_t tasks, TaskRef task) { parallel_for(tasks, num_threads(), task); }

void parallel_for(std::int64_t tasks, int max_threads, TaskRef task) {
  const int threads = tasks > 1 && max_threads > 1 && !t_inside ? num_threads() : 1;
  if (threads <= 1 || g_busy.test_and_set(std::memory_order_acquire)) {
    for (std::int64_t i = 0; i < tasks; ++i) task(i, 0);
    return;
  }
  static const int registered = pthread_atfork(nullptr, nullptr, after_fork_in_child);
  (void)registered;
  if (!g_pool || g_pool->workers() != threads - 1) {
    delete g_pool;
    g_pool = new Pool(threads - 1);
  }
  const auto inside = [&](std::int64_t i, int thread) {
    const bool outer = t_inside;
    t_inside = true;
    task(i, thread);
    t_inside = outer;
  };
  g_pool->run(tasks, max_threads, inside);
  g_busy.clear(std::memory_order_release);
}

}  // namespace octavo
