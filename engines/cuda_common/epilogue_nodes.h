// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// One pointwise node as one expression of device code.

#include <string>
#include <vector>

#include "octavo/problem.h"

namespace octavo::cuda {

/// What a value is in registers.
enum class Kind { f32, f64, i32, i64, boolean };

Kind kind_of_storage(DataType_t type);
Kind kind_of_accumulator(const Problem& problem);

/// What a one-element tensor of `type` would hold after storing `value`, as a literal of the type's kind.
std::string constant_literal(DataType_t type, double value);
std::string float_literal(float value);
std::string double_literal(double value);

struct NodeText {
  std::string expression;
  Kind kind = Kind::f32;
};
/// Inputs are called v0, v1, ...; kinds[i] is that of value i. GEN_INDEX reads c + i, row.d0, row.s0, row.s1, row.s2.
NodeText generate_node(const Epilogue::Node& node, const std::vector<Kind>& kinds, int rank = kMaxRank);

}  // namespace octavo::cuda
