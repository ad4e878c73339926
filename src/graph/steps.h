// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a graph lowers to: steps that run one after another, and the memory between them.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "octavo/graph/attributes.h"
#include "octavo/problem.h"

namespace octavo::graph {

/// Where a step finds or leaves a tensor.
struct Ref {
  enum class Kind : std::uint8_t {
    none,
    bound,  ///< the caller's pointer; index into Lowered::bound
    slot    ///< workspace; index into Lowered::slots
  };
  Kind kind = Kind::none;
  int index = -1;
};

struct ConvStep {
  Problem problem;
  Ref x, w, y, w_zero_points;
  std::vector<Ref> operands, outputs;
  void const* constant_filter = nullptr;
};

/// Epilogue nodes on operands only (value 0 is unused). `shape` has the result's dims.
struct PointwiseStep {
  TensorDesc shape;
  Epilogue epilogue;
  std::vector<Ref> operands, outputs;
};

struct ReductionStep {
  ReductionMode_t mode = ReductionMode_t::NOT_SET;
  DataType_t compute = DataType_t::FLOAT;
  TensorDesc x, y;
  Ref in, out;
};

struct GenstatsStep {
  DataType_t compute = DataType_t::FLOAT;
  TensorDesc x, sum, sq_sum;
  Ref in, sum_out, sq_sum_out;
};

/// Undoes cuDNN's INT8x32 filter reordering into plain KCRS order.
struct ReorderStep {
  TensorDesc w;  ///< the plain result
  Ref in, out;
};

struct Step {
  std::string name;  ///< names of the operations in it
  std::variant<ConvStep, PointwiseStep, ReductionStep, GenstatsStep, ReorderStep> work;
  ConvStep const* conv() const { return std::get_if<ConvStep>(&work); }
};

/// A tensor that the caller binds at execute.
struct BoundTensor {
  std::int64_t uid = 0;
  TensorPtr tensor;
  std::string name;
  bool is_output = false;
  bool is_host_scalar = false;
  bool is_convolution_input = false;  ///< read by a convolution: must not overlap an output
  // Copied when the graph was lowered: a later change of the tensor does not reach a plan.
  TensorDesc desc;
  DataType_t declared = DataType_t::NOT_SET;
  TypeOrigin origin = TypeOrigin::unset;
  std::int64_t alignment = 1;   ///< bytes: declared by set_alignment, else the element's size
  std::int64_t span_bytes = 0;  ///< bytes from the pointer that the plan may touch
};

struct Lowered {
  std::vector<Step> steps;
  std::vector<BoundTensor> bound;   ///< sorted by uid
  std::vector<std::int64_t> slots;  ///< bytes of each workspace tensor
  int main_step = -1;               ///< the first convolution, -1 without one

  ConvStep const* main() const { return main_step < 0 ? nullptr : steps[static_cast<std::size_t>(main_step)].conv(); }
};

}  // namespace octavo::graph
