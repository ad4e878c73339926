// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Random float problems at the edges of block sizes, every layout and epilogue, on every instruction set: the oracle is
// cpu_reference, the bound is computed (verify/verify.h), and with whole-number inputs it is equality.

#include "float_support.h"
#include "verify/random_problem.h"

namespace octavo {
namespace {

void sweep(Direction direction, const std::vector<std::string>& names, std::uint64_t first, int count,
           const std::vector<DataType_t>& types = {DataType_t::FLOAT, DataType_t::BFLOAT16, DataType_t::HALF}) {
  int ran = 0;
  for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(count); ++seed) {
    verify::Rng rng(seed);
    verify::ProblemRange range;
    range.directions = {direction};
    range.types = types;
    const Problem problem = verify::random_problem(rng, range);
    const verify::Data data(problem, seed, verify::Fill::automatic);
    const int here = native_test::check_paths(problem, data, names, seed);
    EXPECT_GT(here, 0) << "no float path takes " << problem.to_string();
    ran += here;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GE(ran, count);
}

TEST(FloatRandom, Fprop) { sweep(Direction::fprop, {"direct_float", "direct_float_lanes"}, 1000, 400); }
TEST(FloatRandom, Wgrad) { sweep(Direction::wgrad, {"wgrad_float", "wgrad_float_lanes"}, 3000, 300); }
TEST(FloatRandom, Dgrad) { sweep(Direction::dgrad, {"direct_float", "direct_float_lanes"}, 2000, 400); }
TEST(FloatRandom, AmxFprop) { sweep(Direction::fprop, {"amx_bf16"}, 4000, 300, {DataType_t::BFLOAT16}); }
TEST(FloatRandom, AmxWgrad) { sweep(Direction::wgrad, {"amx_bf16_wgrad"}, 6000, 300, {DataType_t::BFLOAT16}); }
TEST(FloatRandom, AmxDgrad) { sweep(Direction::dgrad, {"amx_bf16"}, 5000, 300, {DataType_t::BFLOAT16}); }

}  // namespace
}  // namespace octavo
