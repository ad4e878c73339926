// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A second evaluation of a problem that shares no code with the oracle: tensors are decoded to dense arrays, the convolution
// is im2col and a matrix product (dgrad: its transpose, scattered back), integers are summed in int64 and everything else in
// long double, conversions are done from the definition of each format. Slow, and written to be read.

#include <cstdint>
#include <string>
#include <vector>

#include "octavo/problem.h"
#include "verify/data.h"

namespace octavo::testing {

/// The exact accumulators, dense, last dim fastest: long double for floats, wrapped int32 for integers; and the sum of the
/// products' magnitudes.
struct Accumulators {
  std::vector<long double> sum, magnitude;
};
Accumulators independent_accumulators(const Problem& problem, const verify::Data& data);

/// "" when the outputs are what the definition gives; else the first difference. Integer problems without transcendental
/// nodes must match to the bit; otherwise a float32 accumulator may be one unit in the last place off.
std::string independent_check(const Problem& problem, const verify::Data& data,
                              const std::vector<verify::GuardedBuffer>& outputs);

/// The definition of one element's storage: decode any type, and encode with one rounding.
long double decode(DataType_t type, const void* base, std::int64_t index);
/// The value that storing `v` leaves (as decode() would read it back).
long double rounded_to(DataType_t type, long double v);

}  // namespace octavo::testing
