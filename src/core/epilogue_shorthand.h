// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The usual epilogues by name, for command lines and tests: "scale+bias+relu", "bias", "scale1+bias+add+relu", "none".

#include <string_view>

#include "octavo/problem.h"

namespace octavo {

/// The parts in the order in which they are applied.
struct EpilogueParts {
  bool scale = false;   ///< "scale": times f32[channel]
  bool scale1 = false;  ///< "scale1": times one f32 for the whole tensor
  bool bias = false;    ///< "bias": plus f32[channel]
  bool add = false;     ///< "add": plus a residual of the output's type, dims and layout
  bool relu = false;    ///< "relu": max(v, 0)
  bool any() const { return scale || scale1 || bias || add || relu; }
};

/// Parts joined by '+', each at most once and in the order above; "none" or nothing is the plain cast.
error_t parse_epilogue_parts(std::string_view text, EpilogueParts& parts);

/// Puts the parts behind a problem whose only output is the convolution itself (its epilogue has no nodes yet). Operands are
/// appended in the order of the parts. A channel is dimension 1 of the result. Without scale, bias or add an integer result
/// stays an integer: relu alone touches no float.
error_t apply_epilogue_parts(const EpilogueParts& parts, Problem& problem);

}  // namespace octavo
