// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one thread pool of the CPU engines. Results never depend on the number of threads: callers split work so that each
// task owns its outputs and sums in a fixed order.

#include <cstdint>
#include <memory>
#include <type_traits>

namespace octavo {

/// OCTAVO_NUM_THREADS, else the CPUs this process may run on; at least 1. Read once, changeable by set_num_threads().
int num_threads();
void set_num_threads(int threads);  ///< for the command line and tests; 0 = back to the default

/// Threads for `work_us` microseconds of one core's work: waking the pool costs about 10, and milliseconds on a loaded
/// machine, so little work stays on the caller.
int threads_for(double work_us);

/// A borrowed callable: no allocation on the execute path.
class TaskRef {
 public:
  template <class F, class = std::enable_if_t<!std::is_same_v<std::decay_t<F>, TaskRef>>>
  TaskRef(F&& f)  // NOLINT(google-explicit-constructor)
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_([](void* o, std::int64_t task, int thread) { (*static_cast<std::remove_reference_t<F>*>(o))(task, thread); }) {}
  void operator()(std::int64_t task, int thread) const { call_(object_, task, thread); }

 private:
  void* object_;
  void (*call_)(void*, std::int64_t, int);
};

/// Runs task(i, thread) for i in [0, tasks); thread < num_threads() and is unique among concurrently running calls of one
/// parallel_for. Called from inside a task, or while another thread is inside, it runs on the caller alone: never more
/// running threads than num_threads() plus the callers' own.
void parallel_for(std::int64_t tasks, TaskRef task);

/// The same with thread < max_threads: for plans that sized their workspace for so many when they were built.
void parallel_for(std::int64_t tasks, int max_threads, TaskRef task);

}  // namespace octavo
