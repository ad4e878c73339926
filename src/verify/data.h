// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The inputs of one problem: made from a seed, or set element by element.

#include <cstdint>
#include <functional>
#include <vector>

#include "octavo/engine.h"
#include "octavo/problem.h"
#include "verify/buffer.h"

namespace octavo::verify {

enum class Fill {
  automatic,  ///< integers on odd seeds, reals on even ones; integer types always take their whole range
  integers,   ///< small whole numbers: while sums stay below 2^24 every type is exact, and equality is asked for
  reals,      ///< numbers of every mantissa: floating-point results are compared within the computed bound
  edges       ///< w is 1; x and operands are zeros of both signs, infinities, NaN, subnormals, ends of integer types, ...
};

struct Data {
  GuardedBuffer x, w, y;  ///< the one that the problem computes is empty
  std::vector<GuardedBuffer> operands;
  std::vector<std::int32_t> w_zero_points;
  std::vector<const void*> operand_addresses;

  /// Allocates (elements that no coordinate reaches are poisoned) and leaves the values to the caller.
  explicit Data(const Problem& problem, std::int64_t misalign_elements = 0);
  Data(const Problem& problem, std::uint64_t seed, Fill fill, std::int64_t misalign_elements = 0);
  /// Args with every input bound; outputs, workspace and stream are the caller's.
  Args args() const;
};

/// Calls visit(index) for every coordinate, last dim fastest.
template <class Visit>
void for_each_index(const TensorDesc& desc, Visit&& visit) {
  if (desc.elements() == 0) return;
  std::int64_t index[kMaxRank] = {};
  for (int d = desc.rank - 1; d >= 0;) {
    visit(static_cast<const std::int64_t*>(index));
    for (d = desc.rank - 1; d >= 0 && ++index[d] == desc.dim[static_cast<std::size_t>(d)]; --d) index[d] = 0;
  }
}

using Value = std::function<double(const std::int64_t* index)>;
/// Sets every element of a tensor to value(coordinate), rounded to its type.
void set_elements(const TensorDesc& desc, void* data, const Value& value);
double get_element(const TensorDesc& desc, const void* data, const std::int64_t* index);

}  // namespace octavo::verify
