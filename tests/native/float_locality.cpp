// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// An infinity or a NaN changes the results whose window covers it, and no others: not through padding (0 * inf is NaN), not
// through lanes beyond the last channel. Whole-number inputs make every other result exact, so the oracle's bits are asked for.

#include <cmath>
#include <limits>

#include "core/float.h"
#include "float_support.h"
#include "verify/random_problem.h"

namespace octavo {
namespace {

float element(const TensorDesc& d, const std::byte* data, const std::int64_t* index) {
  return static_cast<float>(verify::get_element(d, data, index));
}

void check(Direction direction, const std::vector<std::string>& names, std::uint64_t first, int count,
           const std::vector<DataType_t>& types = {DataType_t::FLOAT, DataType_t::BFLOAT16, DataType_t::HALF}) {
  int ran = 0, special = 0;
  for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(count); ++seed) {
    verify::Rng rng(seed);
    verify::ProblemRange range;
    range.directions = {direction};
    range.types = types;
    range.epilogues = false;
    range.odd_strides = rng.chance(50);
    const Problem problem = verify::random_problem(rng, range);
    if (problem.result().elements() == 0 || problem.input_a().elements() == 0) continue;
    verify::Data data(problem, seed, verify::Fill::integers);
    const TensorDesc& a = problem.input_a();
    const TensorDesc& b = problem.input_b();
    std::byte* buffers[2] = {problem.direction == Direction::dgrad ? data.y.data() : data.x.data(),
                             problem.direction == Direction::wgrad ? data.y.data() : data.w.data()};
    // One or two special values in either input, at its border as often as not.
    for (int i = 0; i < 2; ++i) {
      const TensorDesc& t = i == 0 ? a : b;
      std::int64_t at[kMaxRank];
      for (int d = 0; d < t.rank; ++d)
        at[d] = rng.chance(60) ? (rng.chance(50) ? 0 : t.dim[d] - 1) : rng.between(0, t.dim[d] - 1);
      const double value = rng.pick({std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                                     std::numeric_limits<double>::quiet_NaN()});
      verify::set_elements(t, buffers[i], [&](const std::int64_t* index) {
        return std::equal(at, at + t.rank, index) ? value : verify::get_element(t, buffers[i], index);
      });
      if (rng.chance(50)) break;
    }
    const Engine* oracle = find_engine("cpu_reference");
    ASSERT_NE(oracle, nullptr);
    std::unique_ptr<Plan> plan;
    ASSERT_TRUE(build_plan(problem, oracle->specs(problem, host_cpu()).front(), host_cpu(), {}, plan).is_good());
    std::vector<verify::GuardedBuffer> expected = verify::make_outputs(problem);
    std::vector<void*> addresses{expected[0].data()};
    verify::GuardedBuffer workspace(plan->workspace_bytes());
    Args args = data.args();
    args.outputs = addresses;
    args.workspace = workspace.data();
    ASSERT_TRUE(plan->execute(args).is_good());

    for (const native_test::Run& run : native_test::runs_of(problem, names)) {
      std::vector<verify::GuardedBuffer> got;
      ASSERT_EQ(native_test::run_candidate(*run.path, problem, run.config, run.traits, data, (seed & 1) != 0, got), "");
      ++ran;
      const TensorDesc& out = problem.epilogue.outputs[0].desc;
      verify::for_each_index(out, [&](const std::int64_t* index) {
        const float want = element(out, expected[0].data(), index), have = element(out, got[0].data(), index);
        special += std::isfinite(want) ? 0 : 1;
        const bool same = std::isnan(want) ? std::isnan(have) : want == have;
        if (!same && !testing::Test::HasFailure()) {
          ADD_FAILURE() << run.to_string() << ", seed " << seed << ": " << have << " instead of " << want << "\n"
                        << problem.to_string();
        }
      });
      if (testing::Test::HasFailure()) return;
    }
  }
  EXPECT_GT(ran, count / 2);
  EXPECT_GT(special, count);
}

TEST(FloatLocality, Fprop) { check(Direction::fprop, {"direct_float", "direct_float_lanes"}, 100, 200); }
TEST(FloatLocality, Dgrad) { check(Direction::dgrad, {"direct_float", "direct_float_lanes"}, 200, 200); }
TEST(FloatLocality, Amx) {
  check(Direction::fprop, {"amx_bf16"}, 400, 150, {DataType_t::BFLOAT16});
  check(Direction::dgrad, {"amx_bf16"}, 600, 150, {DataType_t::BFLOAT16});
  check(Direction::wgrad, {"amx_bf16_wgrad"}, 800, 150, {DataType_t::BFLOAT16});
}
TEST(FloatLocality, Wgrad) { check(Direction::wgrad, {"wgrad_float", "wgrad_float_lanes"}, 300, 150); }

}  // namespace
}  // namespace octavo
