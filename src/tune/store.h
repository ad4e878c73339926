// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Winners of tuning on disk: JSON lines, appended whole, read by every later process. A winner holds for one problem on one
// environment; it names its engine and configuration by text, never by a position in a list.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "octavo/engine.h"

namespace octavo::tune {

struct Winner {
  std::string engine, config;
  double us = 0;          ///< the winner's time
  double untuned_us = 0;  ///< of the first spec by the cost model; 0 = not timed
  int candidates = 0;     ///< timed and right
  std::string problem;    ///< one line, for people
};

/// What a winner depends on besides the problem: library version, device, instruction set or architecture, threads.
std::string environment_stamp(const DeviceTraits& device);

/// $OCTAVO_CACHE_DIR/tuned/winners.jsonl, or beside the kernel cache's default place; "" when there is no home directory.
std::string store_path();

/// The last complete line for this problem and environment. The file is read again when it has changed.
std::optional<Winner> find_winner(const Problem& problem, const DeviceTraits& device);

/// One line in one write, on the disk when it returns. An error when the disk does not take it.
error_t record_winner(const Problem& problem, const DeviceTraits& device, const Winner& winner);

/// Where the stored winner stands among `specs`: -1 when there is none, or when this build has no such engine or
/// configuration.
int winner_among(const Problem& problem, const DeviceTraits& device, const std::vector<PlanSpec>& specs);

struct StoreStatistics {
  std::int64_t winners = 0, unreadable_lines = 0;
};
StoreStatistics store_statistics();  ///< of the file as it is now

}  // namespace octavo::tune
