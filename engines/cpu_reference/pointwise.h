// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The pointwise modes, one element at a time, in the node's compute type. It is what every fast epilogue is compared with,
// so each + - * / is one rounding in that type, and each transcendental is evaluated in double and rounded once.

#include <cstdint>

#include "engines/cpu_reference/scalar.h"
#include "octavo/problem.h"

namespace octavo::cpu_reference {

/// How many inputs a mode reads: 1, 2 or 3 (BINARY_SELECT); GEN_INDEX reads none of the one it is given.
int pointwise_arity(PointwiseMode_t mode);

/// The value of one node. `in` are the values of node.in, in order, of any kind; `index` is the element's coordinate
/// (GEN_INDEX). The result is rounded as node.result asks.
Scalar evaluate(const Epilogue::Node& node, const Scalar in[3], const std::int64_t* index);

}  // namespace octavo::cpu_reference
