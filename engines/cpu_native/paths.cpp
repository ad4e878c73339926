// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#include "engines/cpu_native/path.h"

#include <array>

namespace octavo::cpu_native {

// One declaration and one line in the list a path.
extern const Path kDepthwiseS8;

std::span<const Path> paths() {
  static const std::array<Path, 1> kPaths{
      kDepthwiseS8,
  };
  return kPaths;
}

}  // namespace octavo::cpu_native
