// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// cpu_native is a list of paths: one algorithm family each (direct, winograd, depthwise, ...). A path is a row of plain
// functions; paths.cpp holds the list. The engine ranks the candidates of all accepting paths by cost.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "octavo/engine.h"

namespace octavo::cpu_native {

struct Candidate {
  std::string config;  ///< the path's own text, without the path's name; stable
  double cost_us = 0;
};

struct Path {
  const char* name;  ///< stable id: PlanSpec::config is "<name>" or "<name>:<config>"
  Verdict (*accepts)(const Problem& problem, const DeviceTraits& device);
  std::vector<Candidate> (*candidates)(const Problem& problem, const DeviceTraits& device);
  error_t (*build)(const Problem& problem, const std::string& config, const DeviceTraits& device, const BuildOptions& options,
                   std::unique_ptr<Plan>& plan);
};

std::span<const Path> paths();

/// The device as one core of it: a path's candidates are then estimates of work, not of time.
inline DeviceTraits one_thread(const DeviceTraits& device) {
  DeviceTraits one = device;
  one.threads = 1;
  return one;
}
/// What the best candidate costs beyond the call itself (1 us).
inline double work_of(const std::vector<Candidate>& candidates) { return candidates.front().cost_us - 1.0; }

}  // namespace octavo::cpu_native
