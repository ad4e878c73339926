// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Random legal problems from a seed. Sizes come from the families where convolution kernels break: equal to, a multiple
// of, just below, just above and far from the block sizes 4, 8, 16, 32 and 64.

#include <cstdint>
#include <vector>

#include "octavo/problem.h"
#include "verify/random.h"

namespace octavo::verify {

struct ProblemRange {
  std::vector<Direction> directions{Direction::fprop, Direction::dgrad, Direction::wgrad};
  /// Input types; mixed pairs (s8 with u8, e4m3 with e5m2) are drawn among those listed.
  std::vector<DataType_t> types{DataType_t::INT8,   DataType_t::UINT8,    DataType_t::INT32,
                                DataType_t::HALF,   DataType_t::BFLOAT16, DataType_t::FLOAT,
                                DataType_t::DOUBLE, DataType_t::FP8_E4M3, DataType_t::FP8_E5M2};
  double max_multiply_adds = 2e6;  ///< keeps one problem in the milliseconds of the oracle
  bool odd_strides = true;         ///< padded, permuted, expanded (stride 0) and overlapping tensors
  bool epilogues = true;
  bool inexact_epilogues = true;  ///< exp, tanh and the like: compared within a bound, not to the bit
  bool zero_points = true;
  bool foreign_zero_points =
      false;          ///< x's may be no value of its type: legal, and left to the engines that read one element at a time
  bool empty = true;  ///< now and then N = 0
};

/// A channel or size near a block edge: v, 2v, v-1, v+1, 2v+1, or any up to `most`.
std::int64_t boundary_size(Rng& rng, std::int64_t most);

/// Always passes validate().
Problem random_problem(Rng& rng, const ProblemRange& range = {});

/// Adds a random epilogue to a problem that has none, and the outputs that store it.
void add_random_epilogue(Rng& rng, Problem& problem, bool inexact);

}  // namespace octavo::verify
