// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdlib>

namespace octavo::testing {

/// OCTAVO_TEST_SCALE=0.1 runs a tenth of the random cases (sanitizer builds, emulators), 10 ten times as many; default 1.
inline double scale() {
  const char* text = std::getenv("OCTAVO_TEST_SCALE");
  const double v = text ? std::atof(text) : 1.0;
  return v > 0 ? v : 1.0;
}
inline int scaled(int count) { return std::max(1, static_cast<int>(count * scale())); }

}  // namespace octavo::testing
