// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Integer dgrad and wgrad against cpu_reference, to the bit: random problems on every instruction set.

#include "float_support.h"
#include "verify/random_problem.h"

namespace octavo {
namespace {

void sweep(Direction direction, const std::string& name, std::uint64_t first, int count) {
  int ran = 0;
  for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(count); ++seed) {
    verify::Rng rng(seed);
    verify::ProblemRange range;
    range.directions = {direction};
    range.types = {DataType_t::INT8, DataType_t::UINT8};
    const Problem problem = verify::random_problem(rng, range);
    const verify::Data data(problem, seed, verify::Fill::automatic);
    const int here = native_test::check_paths(problem, data, {name}, seed);
    const cpu_native::Path* path = native_test::find_path(name);
    ASSERT_NE(path, nullptr);
    const Verdict verdict = path->accepts(problem, host_cpu());
    EXPECT_TRUE(verdict) << verdict.reason << "\n" << problem.to_string();
    ran += here;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(ran, count);
}

TEST(IntegerGradients, Wgrad) { sweep(Direction::wgrad, "wgrad_s8", 6000, 400); }
TEST(IntegerGradients, Dgrad) { sweep(Direction::dgrad, "dgrad_s8", 5000, 400); }

}  // namespace
}  // namespace octavo
