// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Any text: parse_problem refuses it with a sentence, or gives a legal problem whose own line gives it again.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "octavo/problem.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  octavo::Problem problem;
  const octavo::error_t error = octavo::parse_problem({reinterpret_cast<const char*>(data), size}, problem);
  if (error.is_bad()) {
    if (error.get_message().empty()) std::abort();
    return 0;
  }
  if (problem.validate().is_bad()) std::abort();
  octavo::Problem again;
  if (octavo::parse_problem(problem.to_string(), again).is_bad() || !(again == problem)) std::abort();
  return 0;
}
