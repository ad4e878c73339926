// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs one problem on every candidate of some of cpu_native's paths, on every instruction set that this processor has,
// and judges each against the oracle.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "core/parallel.h"
#include "engines/cpu_native/path.h"
#include "octavo/device.h"
#include "verify/verify.h"

namespace octavo::native_test {

inline std::vector<DeviceTraits> instruction_sets() {
  std::vector<DeviceTraits> list;
  for (const CpuIsa isa :
       {CpuIsa::portable, CpuIsa::neon_dotprod, CpuIsa::avx2, CpuIsa::avx512, CpuIsa::avx512_vnni, CpuIsa::amx}) {
    const bool x86 = isa >= CpuIsa::avx2;
    if (isa > host_cpu().isa || (isa != CpuIsa::portable && x86 != (host_cpu().isa >= CpuIsa::avx2))) continue;
    DeviceTraits traits = host_cpu();
    traits.isa = isa;
    list.push_back(traits);
  }
  return list;
}

inline const cpu_native::Path* find_path(const std::string& name) {
  for (const cpu_native::Path& path : cpu_native::paths()) {
    if (name == path.name) return &path;
  }
  return nullptr;
}

struct Run {
  const cpu_native::Path* path;
  DeviceTraits traits;
  std::string config;
  std::string to_string() const { return std::string(path->name) + ":" + config + " on " + octavo::to_string(traits.isa); }
};

/// Every candidate of the named paths on every instruction set; the AMX paths on emulated tiles besides, on any machine.
inline std::vector<Run> runs_of(const Problem& problem, const std::vector<std::string>& names) {
  std::vector<Run> runs;
  for (const std::string& name : names) {
    const cpu_native::Path* path = find_path(name);
    EXPECT_NE(path, nullptr) << name;
    if (path == nullptr) continue;
    for (const DeviceTraits& traits : instruction_sets()) {
      if (!path->accepts(problem, traits)) continue;
      for (const cpu_native::Candidate& c : path->candidates(problem, traits)) runs.push_back({path, traits, c.config});
    }
    DeviceTraits tiles = host_cpu();
    tiles.isa = CpuIsa::amx;
    tiles.amx_int8 = tiles.amx_bf16 = true;
    tiles.l2_bytes = 512 << 10;  // so that small problems are cut too
    if (name.rfind("amx", 0) == 0 && path->accepts(problem, tiles)) runs.push_back({path, tiles, "emulated"});
  }
  return runs;
}

/// Builds and runs one candidate into fresh outputs. "" or the error.
inline std::string run_candidate(const cpu_native::Path& path, const Problem& problem, const std::string& config,
                                 const DeviceTraits& traits, const verify::Data& data, bool constant_filter,
                                 std::vector<verify::GuardedBuffer>& outputs) {
  std::unique_ptr<Plan> plan;
  BuildOptions options;
  if (constant_filter && problem.direction != Direction::wgrad) options.constant_filter = data.w.data();
  if (error_t e = path.build(problem, config, traits, options, plan); e.is_bad()) return "build: " + e.err_msg;
  outputs = verify::make_outputs(problem);
  std::vector<void*> addresses;
  for (verify::GuardedBuffer& b : outputs) addresses.push_back(b.data());
  verify::GuardedBuffer workspace(plan->workspace_bytes(), 0xff);  // NaN in every float of it
  Args args = data.args();
  args.outputs = addresses;
  args.workspace = workspace.data();
  if (options.constant_filter != nullptr) args.w = nullptr;
  if (error_t e = plan->execute(args); e.is_bad()) return "execute: " + e.err_msg;
  if (!workspace.intact()) return "wrote outside its workspace";
  return {};
}

/// Every named path that accepts the problem, every candidate; returns how many ran.
inline int check_paths(const Problem& problem, const verify::Data& data, const std::vector<std::string>& names,
                       std::uint64_t seed) {
  verify::Expected expected;
  const error_t e = verify::Expected::compute(problem, data, expected);
  EXPECT_TRUE(e.is_good()) << e.err_msg << "\n" << problem.to_string();
  if (e.is_bad()) return 0;
  int ran = 0;
  for (const Run& run : runs_of(problem, names)) {
    std::vector<verify::GuardedBuffer> outputs;
    std::string wrong = run_candidate(*run.path, problem, run.config, run.traits, data, (seed & 1) != 0, outputs);
    if (wrong.empty()) wrong = expected.judge(problem, data, outputs);
    EXPECT_EQ(wrong, "") << run.to_string() << ", seed " << seed << "\n" << problem.to_string();
    ++ran;
    if (!wrong.empty()) return ran;
  }
  return ran;
}

}  // namespace octavo::native_test
