// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a result may be. Integer problems: the oracle's bits. Floating-point ones: the oracle's epilogue is evaluated with the
// accumulator moved by the error that a float sum of that length can have, and with each inexact node moved by its own; the
// outermost values, cast to the output's type, bound what is accepted. No constant is tuned to a result.

#include <cstdint>
#include <string>
#include <vector>

#include "octavo/engine.h"
#include "octavo/problem.h"
#include "verify/data.h"

namespace octavo::verify {

/// The oracle's answer with all that is needed to judge another engine's.
class Expected {
 public:
  /// Runs cpu_reference (once; for floating-point problems also on |x| and |w|, for the bound).
  static error_t compute(const Problem& problem, const Data& data, Expected& out);

  bool exact() const { return accumulators_.empty(); }  ///< equality is asked for
  const std::vector<GuardedBuffer>& outputs() const { return outputs_; }

  /// Judges outputs (same layout and prefill as ours). "" = right; else one sentence with the first wrong coordinate.
  /// Bytes between the elements must hold the prefill. worst: the largest deviation, in units of what was allowed.
  std::string judge(const Problem& problem, const Data& data, const std::vector<GuardedBuffer>& got,
                    double* worst = nullptr) const;

 private:
  std::vector<GuardedBuffer> outputs_;
  std::vector<double> accumulators_, errors_;  ///< one an element of the result, last dim fastest
};

/// The byte that fills an output before a run: NaN for floating-point types, 0x5A for the others.
unsigned char prefill(DataType_t type);
/// Buffers for the problem's outputs, prefilled.
std::vector<GuardedBuffer> make_outputs(const Problem& problem, std::int64_t misalign_elements = 0);
/// How far the accumulator of a sum of `length` products may be from the exact one, as a share of the sum of |x||w|.
double accumulation_error(const Problem& problem);

}  // namespace octavo::verify
