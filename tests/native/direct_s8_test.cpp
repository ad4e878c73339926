// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Path "direct" of cpu_native, every instruction set, equal to cpu_reference in every bit.

#include "native/native_test.h"

namespace octavo::native_test {
namespace {

const char* kLines[] = {
    "fprop n=1 c=1 size=5x5 k=1 filter=3x3 pad=0x0 x=s8:nhwc w=s8:nhwc y=s8:nhwc",
    "fprop n=2 c=64 size=14x14 k=64 filter=3x3 pad=1x1 x=s8:nhwc w=s8:nhwc y=s32:nhwc",
    "fprop n=1 c=19 size=9x11 k=37 filter=3x3 pad=1x1 x=s8:nhwc w=s8:nhwc y=s32:nhwc",
    "fprop n=1 c=19 size=9x11 k=37 filter=3x3 pad=1x1 x=u8:nhwc w=u8:nhwc y=s32:nhwc",
    "fprop n=1 c=19 size=9x11 k=37 filter=3x3 pad=1x1 x=u8:nchw w=s8:nchw y=s32:nchw",
    "fprop n=1 c=40 size=9x11 k=48 filter=3x3 pad=1x1 x=s8:nc32 w=s8:nc32 y=s32:nc32",
    "fprop n=1 c=40 size=9x11 k=48 filter=5x3 pad=2x1 stride=2x2 x=s8:nc4 w=s8:nc16 y=s8:nc16",
    "fprop n=2 c=8 size=9x11 k=80 filter=3x3 pad=4x6 dil=4x6 x=s8:nhwc w=s8:nhwc y=s32:nhwc zx=3",
    "fprop n=2 c=24 size=9x11 k=36 filter=3x3 pad=1x1 groups=4 x=u8:nhwc w=s8:nhwc y=s32:nhwc zx=131",
    "fprop n=3 c=7 size=20 k=20 filter=5 pad=2 x=s8:nhwc w=u8:nhwc y=s32:nhwc zx=-5",
    "fprop n=1 c=6 size=5x6x7 k=18 filter=3x2x3 pad=1x0x1 x=s8:nhwc w=u8:nhwc y=s32:nhwc zx=-5",
    "fprop n=2 c=96 size=7x7 k=144 filter=1x1 x=s8:nhwc w=s8:nhwc y=s8:nhwc",
    "fprop n=2 c=20 size=13x7 k=16 filter=1x1 stride=2x2 x=u8:nhwc w=s8:nhwc y=u8:nhwc zx=9",
    "fprop n=1 c=3 size=30x31 k=24 filter=7x7 pad=3x3 stride=2x2 x=u8:nhwc w=s8:nhwc y=s32:nhwc zx=7",
    "fprop n=1 c=3 size=30x31 k=24 filter=7x7 pad=3x3 stride=2x2 mode=conv x=s8:nchw w=u8:nhwc y=s32:nhwc zx=7",
    "fprop n=1 c=2 size=9x9 k=5 filter=2x2 stride=5x5 x=s8:nhwc w=s8:nhwc y=s32:nhwc",
};

TEST(DirectS8, NamedShapes) {
  for (const char* line : kLines) {
    for (const bool constant : {false, true}) {
      verify::Options options;
      options.constant_filter = constant;
      options.runs = 2;
      check_everywhere(problem_of(line), "direct", options);
    }
  }
}

TEST(DirectS8, RandomProblems) {
  verify::ProblemRange range;
  range.directions = {Direction::fprop};
  range.types = {DataType_t::INT8, DataType_t::UINT8};
  range.max_multiply_adds = 3e5;
  for (int i = 0; i < random_count(600); ++i) {
    verify::Rng rng(static_cast<std::uint64_t>(i) + 1);
    const Problem p = verify::random_problem(rng, range);
    verify::Options options;
    options.seed = static_cast<std::uint64_t>(i);
    options.constant_filter = rng.chance(50);
    options.misalign_elements = rng.chance(30) ? 1 : 0;
    check_everywhere(p, "direct", options);
    if (::testing::Test::HasFailure()) FAIL() << "seed " << i;
  }
}

/// Outputs streamed past the caches: small tensors that count as large, one row a block and several, scales that the affine
/// form takes and scales (1e30, known at the call only) that it does not, several threads.
TEST(DirectS8, StreamedOutputs) {
  if (with_isa(host_cpu(), CpuIsa::avx512).isa != CpuIsa::avx512) GTEST_SKIP() << "no AVX-512 here";
  const char* shapes[] = {"n=3 c=16 size=40x41 k=24 filter=1x1", "n=2 c=40 size=31x64 k=64 filter=1x1",
                          "n=4 c=19 size=30x31 k=130 filter=1x1 stride=2x2", "n=2 c=24 size=33x35 k=40 filter=3x3 pad=1x1",
                          "n=2 c=3 size=60x61 k=16 filter=3x3 pad=1x1"};
  for (const char* shape : shapes) {
    for (const char* epilogue :
         {"%1=f32.channel;%2=f32.channel;%3=mul(%0,%1);%4=add(%3,%2);%5=relu_fwd(%4)", "%1=f32.scalar(1e30);%2=mul(%0,%1)"}) {
      const Problem p = problem_of(std::string("fprop ") + shape + " x=s8:nhwc w=s8:nhwc y=s8:nhwc epi=" + epilogue);
      verify::Options options;
      options.runs = 2;
      options.misalign_elements = 3;
      std::unique_ptr<verify::Case> c;
      ASSERT_TRUE(verify::Case::make(p, options, c).is_good());
      for (DeviceTraits device : forced_devices()) {
        if (device.isa < CpuIsa::avx512) continue;
        device.name = "Intel";
        device.l2_bytes = 20 << 10;
        std::unique_ptr<Plan> plan;
        const PlanSpec spec{"cpu_native", "direct", 0};
        ASSERT_TRUE(find_engine("cpu_native")->build(p, spec, device, {}, plan).is_good());
        const verify::Report r = c->check(spec, device);
        EXPECT_TRUE(r.right) << to_string(device.isa) << ": " << r.message << "\n  " << p.to_string();
        if (std::string(epilogue).find("channel") == std::string::npos || p.w.dim[2] != 1) continue;
        EXPECT_NE(plan->describe().find("streamed"), std::string::npos) << plan->describe() << " " << p.to_string();
      }
    }
  }
}

}  // namespace
}  // namespace octavo::native_test
