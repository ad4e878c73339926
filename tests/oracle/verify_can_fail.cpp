// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// The harness itself: plans that are wrong in one way each must be reported as wrong. Oracle: the fault that was put in.

#include <algorithm>
#include <cstring>
#include <functional>

#include "common/harness.h"
#include "engines/cpu_reference/scalar.h"

namespace octavo::testing {
namespace {

/// The reference plan, then one fault.
class Faulty final : public Plan {
 public:
  using Fault = std::function<void(const Args& args, int run)>;
  Faulty(const Problem& p, Fault fault) : fault_(std::move(fault)) {
    EXPECT_TRUE(find_engine("cpu_reference")->build(p, {"cpu_reference", "", 0}, host_cpu(), {}, plan_).is_good());
    spec = {"faulty", "", 0};
  }
  std::size_t workspace_bytes() const override { return plan_->workspace_bytes(); }
  error_t execute(const Args& args) const override {
    OCTAVO_RETURN_IF_ERROR(plan_->execute(args));
    fault_(args, runs_++);
    return {};
  }

 private:
  std::unique_ptr<Plan> plan_;
  Fault fault_;
  mutable int runs_ = 0;
};

verify::Report run(const std::string& line, verify::Fill fill, Faulty::Fault fault) {
  verify::Options options;
  options.fill = fill;
  options.runs = 2;
  std::unique_ptr<verify::Case> c;
  const Problem p = parse(line);
  EXPECT_TRUE(verify::Case::make(p, options, c).is_good());
  return c->check(Faulty(p, std::move(fault)));
}

const char kInt[] = "fprop n=2 c=5 size=6x6 k=7 filter=3x3 x=s8:nhwc w=s8:nhwc y=s32:nhwc";
const char kVector[] = "fprop n=2 c=5 size=6x6 k=7 filter=3x3 x=s8:nc32 w=s8:nhwc y=s8:nc32";
const char kFloat[] = "fprop n=2 c=40 size=6x6 k=7 filter=3x3 x=f32:nhwc w=f32:nhwc y=f32:nhwc";
const char kBf16[] = "fprop n=2 c=40 size=6x6 k=7 filter=3x3 x=bf16:nhwc w=bf16:nhwc y=bf16:nhwc";
const char kSigmoid[] =
    "fprop n=1 c=5 size=6x6 k=7 filter=3x3 x=s8:nhwc w=s8:nhwc y=f32:nhwc "
    "epi=%1=f32.scalar(0.001);%2=mul(%0,%1);%3=sigmoid_fwd(%2)";
constexpr auto kInts = verify::Fill::integers, kReals = verify::Fill::reals;

TEST(VerifyCanFail, ARightPlanIsRight) {
  for (const char* line : {kInt, kVector, kFloat, kBf16, kSigmoid}) {
    const verify::Report r = run(line, kReals, [](const Args&, int) {});
    EXPECT_TRUE(r.right) << r.message;
  }
}

TEST(VerifyCanFail, OneUnitInOneElement) {
  const verify::Report r = run(kInt, kInts, [](const Args& a, int) { static_cast<std::int32_t*>(a.outputs[0])[17] += 1; });
  EXPECT_FALSE(r.right);
  EXPECT_TRUE(r.exact);
  EXPECT_NE(r.message.find("[0,3,0,2]"), std::string::npos) << r.message;  // element 17 of nhwc with 7 channels
}

TEST(VerifyCanFail, AFloatOutsideTheBound) {
  // 360 products of numbers in [-1,1]: the bound is about 1e-3 of the largest sum; a sum that lacks one product is outside.
  const verify::Report lacks = run(kFloat, kReals, [](const Args& a, int) { static_cast<float*>(a.outputs[0])[3] += 0.01f; });
  EXPECT_FALSE(lacks.right);
  const verify::Report rounding =
      run(kFloat, kReals, [](const Args& a, int) { static_cast<float*>(a.outputs[0])[3] *= 1.0000002f; });
  EXPECT_TRUE(rounding.right) << rounding.message;
  const verify::Report exact = run(kFloat, kInts, [](const Args& a, int) { static_cast<float*>(a.outputs[0])[3] += 0.25f; });
  EXPECT_FALSE(exact.right);
  EXPECT_TRUE(exact.exact);
}

TEST(VerifyCanFail, ABf16TwoUnitsOff) {
  // The largest element: there a unit of bf16 is far more than the error of the sum.
  const auto nudge = [](int units) {
    return [units](const Args& a, int) {
      auto* y = static_cast<std::uint16_t*>(a.outputs[0]);
      const std::int64_t at =
          std::max_element(y, y + 2 * 16 * 7, [](std::uint16_t l, std::uint16_t r) { return (l & 0x7fff) < (r & 0x7fff); }) - y;
      y[at] = static_cast<std::uint16_t>(y[at] + units);
    };
  };
  EXPECT_FALSE(run(kBf16, kReals, nudge(2)).right);
  EXPECT_FALSE(run(kBf16, kInts, nudge(1)).right);
}

TEST(VerifyCanFail, ATranscendentalOutsideItsBound) {
  EXPECT_FALSE(run(kSigmoid, kInts, [](const Args& a, int) { static_cast<float*>(a.outputs[0])[5] += 1e-4f; }).right);
}

TEST(VerifyCanFail, NanWhereANumberBelongs) {
  EXPECT_FALSE(run(kFloat, kReals, [](const Args& a, int) { std::memset(a.outputs[0], 0xff, 4); }).right);
}

TEST(VerifyCanFail, AnUnwrittenOutput) {
  EXPECT_FALSE(run(kVector, kInts, [](const Args& a, int) { std::memset(a.outputs[0], 0x5a, 16 * 32); }).right);
}

TEST(VerifyCanFail, AByteBetweenElements) {
  const verify::Report r =
      run(kVector, kInts, [](const Args& a, int) { static_cast<char*>(a.outputs[0])[9] = 0; });  // lane 9 of 7 channels
  EXPECT_FALSE(r.right);
  EXPECT_NE(r.message.find("no element"), std::string::npos) << r.message;
}

TEST(VerifyCanFail, OutsideTheBuffers) {
  EXPECT_FALSE(run(kInt, kInts, [](const Args& a, int) { static_cast<char*>(a.outputs[0])[-1] = 0; }).right);
  EXPECT_FALSE(run(kInt, kInts, [](const Args& a, int) { static_cast<std::int32_t*>(a.outputs[0])[2 * 16 * 7] = 0; }).right);
  EXPECT_FALSE(run(kInt, kInts, [](const Args& a, int) { static_cast<char*>(a.workspace)[-1] = 0; }).right);
}

TEST(VerifyCanFail, AnInputThatChanged) {
  EXPECT_FALSE(run(kInt, kInts, [](const Args& a, int) { const_cast<char*>(static_cast<const char*>(a.x))[4] ^= 1; }).right);
}

TEST(VerifyCanFail, OtherBitsTheSecondTime) {
  const verify::Report r = run(kFloat, kReals, [](const Args& a, int n) {
    auto* y = static_cast<std::uint32_t*>(a.outputs[0]);
    if (n == 1) y[3] ^= 1;  // inside the bound
  });
  EXPECT_FALSE(r.right);
  EXPECT_NE(r.message.find("Run 2"), std::string::npos) << r.message;
}

}  // namespace
}  // namespace octavo::testing
