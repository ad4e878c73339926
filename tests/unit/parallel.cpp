// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// The thread pool. Oracle: every task runs once, thread numbers are unique among tasks that run at one time.

#include "core/parallel.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

namespace octavo {
namespace {

TEST(ParallelFor, EveryTaskOnceAndThreadsAreUnique) {
  for (const int threads : {1, 2, 4, 7}) {
    set_num_threads(threads);
    std::vector<std::atomic<int>> ran(1000), busy(static_cast<std::size_t>(threads));
    std::atomic<bool> clash{false};
    parallel_for(1000, [&](std::int64_t i, int t) {
      if (t < 0 || t >= threads || busy[static_cast<std::size_t>(t)].fetch_add(1) != 0) clash = true;
      ran[static_cast<std::size_t>(i)].fetch_add(1);
      busy[static_cast<std::size_t>(t)].fetch_sub(1);
    });
    EXPECT_FALSE(clash) << threads;
    for (const auto& n : ran) EXPECT_EQ(n.load(), 1);
  }
  set_num_threads(0);
}

TEST(ParallelFor, NestedAndConcurrentCallersFinish) {
  set_num_threads(3);
  std::atomic<int> total{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 6; ++c)
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round)
        parallel_for(8, [&](std::int64_t, int) { parallel_for(4, [&](std::int64_t, int) { total.fetch_add(1); }); });
    });
  for (std::thread& t : callers) t.join();
  EXPECT_EQ(total.load(), 6 * 50 * 8 * 4);
  set_num_threads(0);
}

TEST(ParallelFor, NothingToDo) {
  parallel_for(0, [](std::int64_t, int) { FAIL(); });
  EXPECT_GE(num_threads(), 1);
}

#if !defined(__SANITIZE_THREAD__)
TEST(ParallelFor, WorksInAForkedChild) {
  set_num_threads(3);
  std::atomic<int> before{0};
  parallel_for(16, [&](std::int64_t, int) { before.fetch_add(1); });
  const pid_t child = fork();
  if (child == 0) {
    std::atomic<int> n{0};
    parallel_for(100, [&](std::int64_t, int) { n.fetch_add(1); });
    _exit(n.load() == 100 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  set_num_threads(0);
}
#endif

}  // namespace
}  // namespace octavo
