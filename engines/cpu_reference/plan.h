// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What both plans of the oracle share: the bindings' check, the workspace's slices, the accumulator's type.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/parallel.h"
#include "engines/cpu_reference/epilogue.h"
#include "engines/cpu_reference/geometry.h"
#include "octavo/engine.h"

namespace octavo::cpu_reference {

/// Hands out 64-byte aligned slices; measures when the base is null, so that size and use come from the same code.
class Slices {
 public:
  explicit Slices(void* base = nullptr) : at_(reinterpret_cast<std::uintptr_t>(base)) {}
  template <class T>
  T* take(std::int64_t count) {
    at_ = (at_ + 63) & ~std::uintptr_t{63};
    T* slice = reinterpret_cast<T*>(at_);
    at_ += sizeof(T) * static_cast<std::size_t>(count);
    return slice;
  }
  std::size_t used() const { return static_cast<std::size_t>(at_); }

 private:
  std::uintptr_t at_;
};

class ReferencePlan : public Plan {
 public:
  ReferencePlan(const Problem& problem, const BuildOptions& options);
  std::size_t workspace_bytes() const override { return workspace_; }
  error_t execute(const Args& args) const override;
  std::string describe() const override;

 protected:
  virtual void run(const Args& args) const = 0;
  Scalar accumulator(std::uint32_t sum) const { return Scalar::of_i32(static_cast<std::int32_t>(sum)); }
  Scalar accumulator(double sum) const { return single_ ? Scalar::of_f32(static_cast<float>(sum)) : Scalar::of_f64(sum); }
  /// The result coordinate in the problem's own rank.
  void result_index(std::int64_t d0, std::int64_t d1, const Triple& at, std::int64_t* index) const {
    index[0] = d0, index[1] = d1;
    for (int i = 0; i < spatial_; ++i) index[2 + i] = at[static_cast<std::size_t>(kMaxSpatial - spatial_ + i)];
  }

  /// Threads are not worth waking for a small problem: the tests run thousands of those. Same work, same bits.
  void for_each_task(std::int64_t tasks, TaskRef task) const {
    constexpr double kWorthThreads = 1e6;  // operations, some 0.2 ms
    if (problem_.operations() >= kWorthThreads) return parallel_for(tasks, task);
    for (std::int64_t i = 0; i < tasks; ++i) task(i, 0);
  }

  const Problem problem_;
  const Geometry g_;
  const EpilogueEvaluator epilogue_;
  std::size_t workspace_ = 0;

 private:
  const int spatial_;
  const bool single_;
  std::vector<std::byte> filter_;  ///< the constant filter's bytes, when it was declared constant
  bool filter_is_constant_ = false;
};

std::unique_ptr<Plan> make_correlate_plan(const Problem& problem, const BuildOptions& options);  ///< fprop and dgrad
std::unique_ptr<Plan> make_wgrad_plan(const Problem& problem, const BuildOptions& options);

/// Which type the runs are packed to.
enum class Packed { int16, int32, f64 };
Packed packed_type(const Problem& problem);

}  // namespace octavo::cpu_reference
