// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "octavo/problem.h"

namespace octavo::verify {

/// Problems whose epilogues hold every pointwise mode in one compute type each, on an accumulator of `input`'s kind (INT32,
/// FLOAT or DOUBLE inputs, one product a sum), every node an output of its own. For Fill::edges: every mode then meets zeros of
/// both signs, infinities, NaN, subnormals and the ends of the integers.
std::vector<Problem> mode_problems(DataType_t input);

}  // namespace octavo::verify
