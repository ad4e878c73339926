// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "engines/cpu_native/path.h"

namespace octavo::cpu_native {

// One declaration and one line in the list a path. Its own file defines it.
extern const Path kAmxS8;
extern const Path kAmxBf16;
extern const Path kAmxBf16Wgrad;
extern const Path kDirectS8;
extern const Path kWinogradS8;
extern const Path kDepthwiseFlat;
extern const Path kDepthwiseS8;
extern const Path kGroupedS8;
extern const Path kDirectFloat;
extern const Path kDirectFloatLanes;
extern const Path kWgradFloat;
extern const Path kWgradFloatLanes;
extern const Path kDgradS8;
extern const Path kWgradS8;

std::span<const Path> paths() {
  static const std::vector<Path> kPaths{
      kAmxS8,     kAmxBf16,     kAmxBf16Wgrad,     kDirectS8,   kWinogradS8,      kDepthwiseFlat, kDepthwiseS8,
      kGroupedS8, kDirectFloat, kDirectFloatLanes, kWgradFloat, kWgradFloatLanes, kDgradS8,       kWgradS8,
  };
  return kPaths;
}

}  // namespace octavo::cpu_native
