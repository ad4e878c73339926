// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Timing: ours and the peers call by call in one process, with a probe of the machine's own speed around every call.

#include <map>
#include <string>
#include <vector>

#include "ceilings.h"
#include "core/epilogue_shorthand.h"
#include "octavo/engine.h"
#include "peers/peer.h"

namespace octavo::cli {

struct BenchCase {
  std::string set, name;
  Problem problem;
  EpilogueParts parts;
};

struct BenchOptions {
  DeviceTraits device;
  std::string engine;           ///< empty: the first plan of the ranking
  std::string config;           ///< of that engine; empty: its first
  bool constant_filter = true;  ///< packed when the plan is built
  double seconds = 1.0;         ///< for one case, all sides together
  double check_operations = 3e9;
  std::uint64_t seed = 1;
};

struct Timing {
  double median_us = 0, min_us = 0;
  int samples = 0;
};

struct PeerResult {
  std::string version, implementation, missing;  ///< missing: why there is no figure
  Timing timing;
  bool right = false;
  std::string wrong;
  double ratio = 0;  ///< median over clean pairs of peer time / our time
};

struct BenchResult {
  BenchCase item;
  std::string engine, config, describe, error;
  bool right = false;
  std::string wrong;
  double checked = 0;  ///< share of the work that was compared with the oracle
  double plan_ms = 0;
  Timing timing;
  double gops = 0, share = 0, bytes = 0;
  int clean = 0, iterations = 0;  ///< iterations whose probes were all within 10% of the best
  std::map<std::string, PeerResult> peers;
};

/// Never throws for a case that fails: the reason is in the result.
BenchResult run_case(const BenchCase& item, const BenchOptions& options, const Ceiling& ceiling, const CeilingKernel& probe,
                     const std::vector<Peer*>& peers);

struct BenchReport {
  std::string machine, date, command;
  DeviceTraits device;
  std::map<std::string, Ceiling> ceilings;  ///< by type
  double read_gbs = 0;
  std::map<std::string, std::string> peer_versions;
  std::vector<BenchResult> results;
};

/// Runs the cases one after the other, prints a line for each and the summary at the end. False when a result of ours is wrong
/// or did not come.
bool run_cases(BenchReport& report, const std::vector<BenchCase>& cases, const BenchOptions& options,
               const std::vector<Peer*>& peers);

/// Call first in a command that times peers: may start the program anew, with OpenMP's threads told not to spin for long.
void settle_openmp();

void write_json(const BenchReport& report, const std::string& path);
/// Geomean, worst layer, by set and overall.
std::string summary(const BenchReport& report);

}  // namespace octavo::cli
