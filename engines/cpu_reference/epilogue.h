// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The epilogue of one result element: loads the operands, walks the DAG, stores the outputs. Used by the oracle for every
// element and by fast engines where their own code does not apply.

#include <array>
#include <cstdint>
#include <vector>

#include "engines/cpu_reference/scalar.h"
#include "octavo/engine.h"
#include "octavo/problem.h"

namespace octavo::cpu_reference {

class EpilogueEvaluator {
 public:
  explicit EpilogueEvaluator(const Problem& problem);

  /// Room for this many values is needed in `values` below; the first is the accumulator.
  std::size_t value_count() const { return 1 + operands_.size() + nodes_.size(); }

  /// Does element `index` (a coordinate of the result) whose exact convolution result is `accumulator`.
  void operator()(const std::int64_t* index, const Scalar& accumulator, const Args& args, Scalar* values) const;

  /// The three steps by themselves: operands to values[1..], then the nodes, then the stores.
  void load_operands(const std::int64_t* index, const Args& args, Scalar* values) const;
  void evaluate_nodes(const std::int64_t* index, Scalar* values) const;

 private:
  /// A tensor whose size-1 dims are broadcast: their stride counts as zero.
  struct Place {
    DataType_t type;
    int rank;
    std::array<std::int64_t, kMaxRank> stride{};
    std::int64_t vector;
    Place(const TensorDesc& desc, bool one_element);
    std::int64_t at(const std::int64_t* index) const;
  };
  struct Operand {
    Place place;
    bool constant;
    Scalar value;
  };
  struct Output {
    Place place;
    int value;
  };
  std::vector<Operand> operands_;
  std::vector<Epilogue::Node> nodes_;
  std::vector<Output> outputs_;
};

}  // namespace octavo::cpu_reference
