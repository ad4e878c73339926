// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "octavo/engine.h"

namespace octavo::gpu_check {

/// Launch cost, stream capture and replay, pointer checks, compile and plan times. Prints what it measured.
bool check_features(const DeviceTraits& device);
/// Whole graphs: host time, CUDA graphs, an image of more than 2^31 elements.
bool check_graph_features(const DeviceTraits& device);

/// Median of many executions of each accepting engine's plans (or of one engine), warm L2, and the best's rate.
bool time_problem(const Problem& problem, const DeviceTraits& device, const std::string& engine, bool every_spec);

}  // namespace octavo::gpu_check
