// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A result against the oracle (cpu_reference), element by element.

#include <optional>

#include "workload.h"

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

/// Runs the oracle on the parts once; afterwards any number of results may be compared with it.
class Oracle {
 public:
  /// `exact`: the data are small integers, so equality is asked for in float types too.
  error_t prepare(const Workload& workload, double operations, bool exact);
  Difference compare(const std::vector<Buffer>& outputs) const;
  double share() const { return share_; }  ///< of the problem's work that is checked

 private:
  struct Expected {
    Part part;
    std::vector<Buffer> outputs;      ///< in the problem's own strides, moved to the part's first element
    std::optional<Buffer> magnitude;  ///< sum |a||b| in f32 or f64, where a tolerance is needed
    TensorDesc magnitude_desc;
  };
  error_t prepare_part(const Workload& workload, Part part, bool exact);

  Problem problem_;
  std::vector<Expected> expected_;
  double share_ = 0, slope_ = 1;
  bool exact_ = true;
};

/// Equality of two results of one problem (integers), or the number of elements that differ.
Difference compare_bits(const Problem& problem, const std::vector<Buffer>& got, const std::vector<Buffer>& want);

/// An epilogue whose every node is exact on small integers in any correct implementation.
bool exact_epilogue(const Epilogue& epilogue);

}  // namespace octavo::cli
