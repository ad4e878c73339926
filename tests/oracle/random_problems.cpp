// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Random problems. Oracle: the independent evaluation of common/independent.h (im2col in int64 / long double); then every
// accepting engine, at every instruction-set level, against the reference engine: integers to the bit.

#include <gtest/gtest.h>

#include <map>

#include "common/harness.h"
#include "common/independent.h"
#include "core/parallel.h"
#include "core/parallel_limits.h"
#include "verify/random_problem.h"

namespace octavo::testing {
namespace {

constexpr int kShards = 16;

/// A reference that is all zero proves nothing.
bool any_nonzero(const Problem& p, const std::vector<verify::GuardedBuffer>& outputs) {
  bool found = false;
  for (std::size_t o = 0; o < outputs.size() && !found; ++o)
    verify::for_each_index(p.result(), [&](const std::int64_t* index) {
      found = found || verify::get_element(p.epilogue.outputs[o].desc, outputs[o].data(), index) != 0;
    });
  return found;
}

void run(std::uint64_t seed, int problems, const verify::ProblemRange& range) {
  const std::vector<Target> targets = cpu_targets();
  verify::Rng rng(seed);
  int nonzero = 0, nonempty = 0;
  std::map<std::string, int> accepted;
  for (int i = 0; i < problems && !::testing::Test::HasFailure(); ++i) {
    const Problem p = verify::random_problem(rng, range);
    set_num_threads(i % 4 == 0 ? 3 : 1);
    set_least_parallel_work(i % 4 == 0 ? 0 : -1);
    verify::Options options;
    options.seed = rng.next() >> 8;
    options.runs = i % 4 == 0 ? 2 : 1;
    options.misalign_elements = i % 3 == 0 ? rng.between(1, 7) : 0;
    options.constant_filter = i % 5 == 0;
    std::unique_ptr<verify::Case> c;
    const error_t e = verify::Case::make(p, options, c);
    ASSERT_TRUE(e.is_good()) << p.to_string() << "\n" << e.err_msg;
    ASSERT_EQ(independent_check(p, c->data(), c->expected().outputs()), "") << p.to_string() << "\n  seed " << options.seed;
    if (p.result().elements() > 0) ++nonempty, nonzero += any_nonzero(p, c->expected().outputs());
    for (const Target& t : targets) accepted[t.name()] += check_target(*c, t, i % 8 == 0) > 0;
  }
  set_num_threads(0);
  set_least_parallel_work(-1);
  EXPECT_GE(nonzero, nonempty * 3 / 4) << "too many references are all zero";
  if (wanted("cpu_reference")) {
    EXPECT_EQ(accepted["cpu_reference"], problems) << "the oracle declined a legal problem";
  }
  for (const auto& [name, count] : accepted) ::testing::Test::RecordProperty(name, count);
}

class RandomProblems : public ::testing::TestWithParam<int> {};

TEST_P(RandomProblems, EveryEngineGivesWhatTheDefinitionGives) {
  verify::ProblemRange range;
  range.foreign_zero_points = true;
  run(static_cast<std::uint64_t>(1000 + GetParam()), scaled(900), range);
}
TEST_P(RandomProblems, PackedQuantisedLayers) {
  // What fast integer kernels are made for: packed layouts, s8 and u8, requantised.
  verify::ProblemRange range;
  range.types = {DataType_t::INT8, DataType_t::UINT8};
  range.odd_strides = false;
  range.inexact_epilogues = false;
  run(static_cast<std::uint64_t>(2000 + GetParam()), scaled(250), range);
}
TEST_P(RandomProblems, PackedFloatLayers) {
  verify::ProblemRange range;
  range.types = {DataType_t::FLOAT, DataType_t::BFLOAT16, DataType_t::HALF};
  range.odd_strides = false;
  range.epilogues = GetParam() % 2 == 0;
  run(static_cast<std::uint64_t>(3000 + GetParam()), scaled(120), range);
}
INSTANTIATE_TEST_SUITE_P(Shard, RandomProblems, ::testing::Range(0, kShards));

}  // namespace
}  // namespace octavo::testing
