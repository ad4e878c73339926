// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Buffers with guards and the data of one problem.

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "octavo/engine.h"

namespace octavo::cli {

/// Aligned to a cache line, with guard bytes on both sides.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::int64_t bytes);
  void* data() const { return base_ ? base_.get() + kGuard : nullptr; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data());
  }
  std::int64_t bytes() const { return bytes_; }
  void fill(std::uint8_t value);
  bool guards_intact() const;

 private:
  static constexpr std::size_t kGuard = 128;
  struct Free {
    void operator()(std::uint8_t* p) const { std::free(p); }
  };
  std::unique_ptr<std::uint8_t[], Free> base_;
  std::int64_t bytes_ = 0;
};

/// splitmix64: the same stream everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  std::int64_t between(std::int64_t low, std::int64_t high);  ///< both ends included
  double unit();                                              ///< [0, 1)

 private:
  std::uint64_t state_;
};

enum class Fill : std::uint8_t {
  full,   ///< integers over their whole range, floats in [-1, 1)
  small,  ///< small integers in every type, so that float sums are exact and equality may be asked for
};

/// Reads and writes one element as a double (s64 is not used by problems).
double load_element(DataType_t type, const void* data, std::int64_t index);
void store_element(DataType_t type, void* data, std::int64_t index, double value);

/// The largest small integer whose sums stay exact in the accumulator of `problem`.
std::int64_t small_limit(const Problem& problem);

/// Everything that one execution reads.
struct Workload {
  Problem problem;
  Buffer a, b;  ///< problem.input_a(), input_b()
  Buffer w_zero_points;
  std::vector<Buffer> operands;

  std::vector<Buffer> make_outputs(std::uint8_t fill = 0x5a) const;
  /// `pointers` keep what Args borrows.
  struct Pointers {
    std::vector<const void*> operands;
    std::vector<void*> outputs;
  };
  Args args(const std::vector<Buffer>& outputs, Pointers& pointers) const;
  const void* filter() const { return problem.direction == Direction::wgrad ? nullptr : b.data(); }
};

Workload make_workload(const Problem& problem, Fill fill, std::uint64_t seed);

/// For the operands of the "scale+bias" shorthand: scales are powers of two that bring the sums into the output's range, biases
/// are multiples of them. An implementation that adds the bias before it scales then rounds the same.
void fill_scale_and_bias(Workload& workload, bool scale, bool bias, std::uint64_t seed);

/// Builds and runs one plan with its own workspace.
class Runner {
 public:
  error_t build(const Problem& problem, const PlanSpec& spec, const DeviceTraits& device, const void* constant_filter);
  error_t execute(const Workload& workload, const std::vector<Buffer>& outputs) const;
  error_t execute(Args args) const;
  const Plan& plan() const { return *plan_; }
  bool guards_intact() const { return workspace_.guards_intact(); }

 private:
  std::unique_ptr<Plan> plan_;
  Buffer workspace_;
};

/// What differs between two results.
struct Difference {
  std::int64_t elements = 0, wrong = 0;
  double largest = 0;
  std::string first;  ///< "y[0,3,1,2] is 7, the oracle says 9"
  bool equal() const { return wrong == 0; }
  void merge(const Difference& other);
};

}  // namespace octavo::cli
