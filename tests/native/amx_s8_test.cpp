// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Path "amx" on the emulated tile layer everywhere, and on the real tiles where the processor has them: equal to cpu_reference
// in every bit.

#include "native/native_test.h"

namespace octavo::native_test {
namespace {

/// This processor as if it had AMX; plans for it run here on emulated tiles only.
DeviceTraits with_amx() {
  DeviceTraits t = host_cpu();
  t.isa = CpuIsa::amx;
  t.amx_int8 = true;
  return t;
}

void check(const Problem& p, const verify::Options& options) {
  std::unique_ptr<verify::Case> c;
  const error_t e = verify::Case::make(p, options, c);
  ASSERT_TRUE(e.is_good()) << p.to_string() << ": " << e.get_message();
  std::vector<std::string> configs{"amx:emulated"};
  if (host_cpu().amx_int8) configs.push_back("amx");
  for (const std::string& config : configs) {
    const verify::Report r = c->check(PlanSpec{"cpu_native", config, 0}, with_amx());
    EXPECT_TRUE(r.right) << config << ": " << r.message << "\n  " << p.to_string();
  }
}

const char* kLines[] = {
    "fprop n=1 c=1 size=5x5 k=1 filter=3x3 pad=0x0 x=s8:nhwc w=s8:nhwc y=s8:nhwc",
    "fprop n=1 c=64 size=8x20 k=64 filter=3x3 pad=1x1 x=s8:nhwc w=s8:nhwc y=s32:nhwc",
    "fprop n=1 c=96 size=5x33 k=33 filter=3x3 pad=1x1 x=s8:nhwc w=s8:nhwc y=s8:nhwc",
    "fprop n=1 c=19 size=9x11 k=37 filter=3x3 pad=1x1 x=u8:nchw w=u8:nchw y=s32:nchw zx=3",
    "fprop n=1 c=72 size=9x11 k=48 filter=5x3 pad=2x1 stride=2x2 x=s8:nc4 w=s8:nc16 y=s8:nc16",
    "fprop n=2 c=8 size=9x11 k=80 filter=3x3 pad=4x6 dil=4x6 x=s8:nhwc w=s8:nhwc y=s32:nhwc zx=3",
    "fprop n=2 c=24 size=9x11 k=36 filter=3x3 pad=1x1 groups=4 x=u8:nhwc w=s8:nhwc y=s32:nhwc zx=131",
    "fprop n=1 c=6 size=5x6x7 k=18 filter=3x2x3 pad=1x0x1 x=s8:nhwc w=u8:nhwc y=s32:nhwc zx=-5",
    "fprop n=2 c=148 size=7x7 k=144 filter=1x1 x=s8:nhwc w=s8:nhwc y=s8:nhwc",
    "fprop n=1 c=3 size=30x31 k=24 filter=7x7 pad=3x3 stride=2x2 x=u8:nhwc w=s8:nhwc y=s32:nhwc zx=7",
};

TEST(AmxS8, NamedShapes) {
  for (const char* line : kLines) {
    for (const bool constant : {false, true}) {
      verify::Options options;
      options.constant_filter = constant;
      options.runs = 2;
      check(problem_of(line), options);
    }
  }
}

TEST(AmxS8, ScaleBiasRelu) {
  for (const char* out : {"s8", "u8"}) {
    for (const int k : {1, 16, 17, 31, 32, 33, 70}) {
      const std::string line = "fprop n=1 c=20 size=6x37 k=" + std::to_string(k) +
                               " filter=3x3 pad=1x1 x=s8:nhwc w=s8:nhwc zx=4 y=" + out +
                               ":nhwc epi=%1=s32.channel;%2=f32.channel;%3=f32.channel;%4=add(%0,%1):s32->s32;%5=mul(%4,%2);"
                               "%6=add(%5,%3);%7=relu_fwd(%6)";
      check(problem_of(line), {});
    }
  }
}

TEST(AmxS8, RandomProblems) {
  verify::ProblemRange range;
  range.directions = {Direction::fprop};
  range.types = {DataType_t::INT8, DataType_t::UINT8};
  range.max_multiply_adds = 3e5;
  for (int i = 0; i < scaled(400); ++i) {
    verify::Rng rng(static_cast<std::uint64_t>(i) + 5000000);
    const Problem p = verify::random_problem(rng, range);
    verify::Options options;
    options.seed = static_cast<std::uint64_t>(i);
    options.constant_filter = rng.chance(50);
    options.misalign_elements = rng.chance(30) ? 1 : 0;
    check(p, options);
    if (::testing::Test::HasFailure()) FAIL() << "seed " << i;
  }
}

TEST(AmxS8, SaysNoWithoutAmx) {
  const Problem p = problem_of("fprop n=1 c=64 size=8x20 k=64 filter=3x3 pad=1x1 x=s8:nhwc w=s8:nhwc y=s32:nhwc");
  for (const PlanSpec& spec : find_engine("cpu_native")->specs(p, with_isa(host_cpu(), CpuIsa::avx512_vnni))) {
    EXPECT_NE(spec.config.rfind("amx", 0), 0u) << spec.config;
  }
}

}  // namespace
}  // namespace octavo::native_test
