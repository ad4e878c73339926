// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Problem's numbers as members of the `Conv` struct that kernels/conv/*.cuh take.

#include <array>
#include <cstdint>
#include <string>

#include "octavo/problem.h"

namespace octavo::cuda {

/// The problem with spatial axes padded in front to three: D,H,W or 1,H,W or 1,1,W.
struct Padded {
  std::int64_t n = 0, c = 0, k = 0, cg = 0, kg = 0, groups = 1;
  std::array<std::int64_t, 3> x{1, 1, 1}, r{1, 1, 1}, y{1, 1, 1};
  std::array<std::int64_t, 3> pad{}, stride{1, 1, 1}, dilation{1, 1, 1};
  std::array<std::int64_t, 5> x_stride{}, w_stride{}, y_stride{};
  std::int64_t x_vector = 1, w_vector = 1, y_vector = 1;
  explicit Padded(const Problem& problem);
};

/// Whether any coordinate or element offset of the problem's inputs may leave 32 bits.
bool needs_wide_index(const Problem& problem);

/// Members A, B, idx_t, N .. kFlip, zero points and kDirection; an engine adds its own and closes the struct.
std::string conv_constants(const Problem& problem);

}  // namespace octavo::cuda
