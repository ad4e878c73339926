// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A large result against the oracle: all of it where that takes little time, else parts that are problems themselves.

#include <string>
#include <vector>

#include "verify/compare.h"

namespace octavo::cli {

/// A part of a problem that is a problem itself, over the same buffers.
struct Part {
  Problem problem;
  std::int64_t a = 0, b = 0;  ///< byte offsets of its inputs
  std::vector<std::int64_t> operands, outputs;
  std::int64_t filter_first = 0;  ///< first output channel, for zero points per channel
};

/// The whole problem when it has at most `operations`; else whole rows, images or filters at the start, the middle and the end.
std::vector<Part> parts_to_check(const Problem& problem, double operations);

/// Runs the oracle on the parts once; afterwards any number of results may be judged by it.
class PartialOracle {
 public:
  error_t prepare(const Problem& problem, const verify::Data& data, double operations);
  /// "" = right; else one sentence.
  std::string judge(const std::vector<verify::GuardedBuffer>& outputs) const;
  double share() const { return share_; }  ///< of the problem's work that is checked

 private:
  struct Piece {
    Part part;
    verify::Data data;
    verify::Expected expected;
  };
  std::vector<Piece> pieces_;
  double share_ = 0;
};

/// "" where the elements of two results are the same; else how many differ and where first.
std::string compare_bits(const Problem& problem, const std::vector<verify::GuardedBuffer>& got,
                         const std::vector<verify::GuardedBuffer>& want);

}  // namespace octavo::cli
