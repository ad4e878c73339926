// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the problem-level tests share: which engines at which instruction-set levels, and how far the counts are scaled.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "common/scale.h"
#include "octavo/device.h"
#include "octavo/engine.h"
#include "verify/verify.h"

namespace octavo::testing {

/// One engine on this processor held to one level. cpu_reference and onednn choose for themselves: they have one target.
struct Target {
  const Engine* engine;
  DeviceTraits device;
  std::string name() const {
    std::string n(engine->name());
    return n == "cpu_native" ? n + "_" + to_string(device.isa) : n;
  }
};

/// OCTAVO_TEST_ENGINES=cpu_native,... narrows the tests to some engines; default all.
inline bool wanted(std::string_view engine) {
  const char* text = std::getenv("OCTAVO_TEST_ENGINES");
  return !text || ("," + std::string(text) + ",").find("," + std::string(engine) + ",") != std::string::npos;
}

inline std::vector<Target> cpu_targets() {
  std::vector<Target> targets;
  for (const Engine* e : engines()) {
    if (e->device() != DeviceKind::cpu || !wanted(e->name())) continue;
    if (e->name() != "cpu_native") {
      targets.push_back({e, host_cpu()});
      continue;
    }
    for (const CpuIsa isa :
         {CpuIsa::portable, CpuIsa::neon_dotprod, CpuIsa::avx2, CpuIsa::avx512, CpuIsa::avx512_vnni, CpuIsa::amx}) {
      const DeviceTraits device = with_isa(host_cpu(), isa);
      if (device.isa == isa) targets.push_back({e, device});  // a level this machine does not have changes nothing
    }
  }
  return targets;
}

inline Problem parse(const std::string& line) {
  Problem p;
  const error_t e = parse_problem(line, p);
  EXPECT_TRUE(e.is_good()) << line << "\n" << e.err_msg;
  return p;
}

/// Runs the specs of one target on a case: the best one, or every one. Returns how many ran; 0 = the engine declined.
inline int check_target(const verify::Case& c, const Target& target, bool every_spec) {
  const Verdict verdict = target.engine->accepts(c.problem(), target.device);
  if (!verdict) {
    EXPECT_FALSE(verdict.reason.empty()) << target.name() << " declines without a reason: " << c.problem().to_string();
    return 0;
  }
  const std::vector<PlanSpec> specs = target.engine->specs(c.problem(), target.device);
  EXPECT_FALSE(specs.empty()) << target.name() << " accepts and offers no plan: " << c.problem().to_string();
  int ran = 0;
  for (const PlanSpec& spec : specs) {
    const verify::Report r = c.check(spec, target.device);
    EXPECT_TRUE(r.right) << target.name() << " '" << spec.config << "': " << r.message << "\n  " << c.problem().to_string();
    ++ran;
    if (!every_spec) break;
  }
  return ran;
}

}  // namespace octavo::testing
