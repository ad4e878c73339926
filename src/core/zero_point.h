// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "octavo/problem.h"

namespace octavo {

/// Whether x's zero point is a value of x's type, so that padding can stand in memory as that value. Other zero points are
/// legal: engines that read one element at a time take them.
inline bool zero_point_fits(const Problem& problem) {
  const std::int64_t z = problem.zero_points.x, lowest = problem.x.type == DataType_t::UINT8 ? 0 : -128;
  const bool bytes = problem.x.type == DataType_t::UINT8 || problem.x.type == DataType_t::INT8;
  return z == 0 || (bytes && z >= lowest && z <= lowest + 255);
}

}  // namespace octavo
