// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// One problem with its data, and one plan that runs it.

#include <memory>
#include <vector>

#include "octavo/engine.h"
#include "verify/data.h"

namespace octavo::cli {

/// Inputs over the whole range of their type (floats: [-1, 1)), made quickly by all threads; epilogue operands small.
verify::Data make_data(const Problem& problem, std::uint64_t seed);

/// For the operands of the "scale+bias" shorthand: scales are powers of two that bring the sums into the output's range, biases
/// are multiples of them. An implementation that adds the bias before it scales then rounds the same.
void fill_scale_and_bias(const Problem& problem, verify::Data& data, bool scale, bool bias, std::uint64_t seed);

/// problem.input_a(), problem.input_b() among the data.
const verify::GuardedBuffer& input_a(const Problem& problem, const verify::Data& data);
const verify::GuardedBuffer& input_b(const Problem& problem, const verify::Data& data);

/// Builds and runs one plan with its own workspace.
class Runner {
 public:
  /// `constant_filter`: null, or the bytes to pack into the plan.
  error_t build(const Problem& problem, const PlanSpec& spec, const DeviceTraits& device, const void* constant_filter);
  /// Binds once, so that execute() is the call and nothing else.
  void bind(const verify::Data& data, std::vector<verify::GuardedBuffer>& outputs);
  error_t execute() const { return plan_->execute(args_); }
  const Plan& plan() const { return *plan_; }
  bool workspace_intact() const { return workspace_.intact(); }

 private:
  std::unique_ptr<Plan> plan_;
  verify::GuardedBuffer workspace_;
  std::vector<void*> outputs_;
  Args args_;
};

}  // namespace octavo::cli
