// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Times the candidates of one problem on scratch buffers: the caller's memory is never touched, guards lie around every
// buffer, and nothing wins whose result the judge has not passed.

#include <functional>
#include <string>
#include <vector>

#include "octavo/engine.h"
#include "verify/data.h"
#include "verify/verify.h"

namespace octavo::tune {

struct Options {
  double seconds = 2;           ///< for the timing of all candidates together
  bool constant_filter = true;  ///< plans are built with the filter's bytes
  int most_candidates = 64;
  verify::Memory* memory = nullptr;  ///< null: host memory
  std::function<void(const std::string&)> progress;
};

struct Candidate {
  PlanSpec spec;
  double us = 0;         ///< 0: not timed
  std::string rejected;  ///< why it cannot win; "" = right
};

struct Outcome {
  std::vector<Candidate> candidates;  ///< in the order of the cost model
  int winner = -1;
};

/// "" = right; else one sentence. Given the outputs with their guards.
using Judge = std::function<std::string(const std::vector<verify::GuardedBuffer>&)>;

/// Times `specs` (the first is what an untuned program runs). An error when no candidate is right.
error_t tune_problem(const Problem& problem, const DeviceTraits& device, const std::vector<PlanSpec>& specs, verify::Data& data,
                     const Judge& judge, const Options& options, Outcome& outcome);

}  // namespace octavo::tune
