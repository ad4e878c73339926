// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/epilogue_shorthand.h"
#include "octavo/problem.h"

namespace octavo::cli {

/// One row of a layer table: set,name,n,c,h,w,k,r,s,stride,pad,dilation,groups.
struct Layer {
  std::string set, name;
  std::string n, c, size, k, filter, stride, pad, dilation, groups;
};

/// Throws UsageError with file and line.
std::vector<Layer> read_layers(const std::string& path);
std::vector<Layer> parse_layers(const std::string& text, const std::string& path);

struct LayerOptions {
  std::string direction = "fprop";
  std::string type = "s8";  ///< of x (fprop, wgrad) or y (dgrad); a u8 problem has an s8 filter
  std::string output;       ///< default: the type itself
  std::string layout = "nhwc";
  EpilogueParts parts;
};

/// The layer as a problem. Throws UsageError.
Problem layer_problem(const Layer& layer, const LayerOptions& options);

}  // namespace octavo::cli
