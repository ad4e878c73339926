// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Helpers of the cpu_native tests: every instruction set that this processor has, forced one by one, against cpu_reference.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "common/scale.h"
#include "octavo/engine.h"
#include "verify/random_problem.h"
#include "verify/verify.h"

namespace octavo::native_test {

inline std::vector<DeviceTraits> forced_devices() {
  std::vector<DeviceTraits> devices;
  for (const CpuIsa isa :
       {CpuIsa::portable, CpuIsa::neon_dotprod, CpuIsa::avx2, CpuIsa::avx512, CpuIsa::avx512_vnni, CpuIsa::amx}) {
    DeviceTraits t = with_isa(host_cpu(), isa);
    if (t.isa == isa) devices.push_back(t);
  }
  return devices;
}

using testing::scaled;

/// Parses, validates, and fails the test when the line is no problem.
inline Problem problem_of(const std::string& line) {
  Problem p;
  error_t e = parse_problem(line, p);
  EXPECT_TRUE(e.is_good()) << line << ": " << e.get_message();
  e = p.validate();
  EXPECT_TRUE(e.is_good()) << line << ": " << e.get_message();
  return p;
}

/// Runs every spec of cpu_native whose config starts with `path` on every instruction set; none accepting is a failure.
inline void check_everywhere(const Problem& p, const std::string& path, const verify::Options& options,
                             bool must_accept = true) {
  std::unique_ptr<verify::Case> c;
  const error_t e = verify::Case::make(p, options, c);
  ASSERT_TRUE(e.is_good()) << p.to_string() << ": " << e.get_message();
  for (const DeviceTraits& device : forced_devices()) {
    const Engine* engine = find_engine("cpu_native");
    ASSERT_NE(engine, nullptr);
    int ran = 0;
    if (engine->accepts(p, device)) {
      for (const PlanSpec& spec : engine->specs(p, device)) {
        if (spec.config.rfind(path, 0) != 0) continue;
        const verify::Report r = c->check(spec, device);
        EXPECT_TRUE(r.right) << to_string(device.isa) << " " << spec.config << ": " << r.message << "\n  " << p.to_string();
        ++ran;
      }
    }
    if (must_accept) {
      EXPECT_GT(ran, 0) << to_string(device.isa) << ": no spec of " << path << " for " << p.to_string();
    }
  }
}

}  // namespace octavo::native_test
