// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Paths "depthwise_s8" and "depthwise_flat" of cpu_native, every instruction set, equal to cpu_reference in every bit.

#include <string>

#include "native/native_test.h"

namespace octavo::native_test {
namespace {

std::string dims(std::int64_t a, std::int64_t b) { return std::to_string(a) + "x" + std::to_string(b); }

const char* kEpilogues[] = {
    "y=s8:nhwc epi=%1=f32.channel;%2=f32.channel;%3=mul(%0,%1);%4=add(%3,%2);%5=relu_fwd(%4)",
    "y=u8:nhwc epi=%1=f32.channel;%2=mul(%0,%1)",
    "y=s8:nhwc epi=%1=s32.channel;%2=f32.scalar(0.01);%3=add(%0,%1):s32;%4=mul(%3,%2)",
    "y=s8:nchw epi=%1=f32.scalar(1e30);%2=mul(%0,%1)",  // far past int32: the fused form must stand back
    "y=s8:nc32 epi=%1=f32.scalar(0.03125);%2=f32.channel;%3=mul(%0,%1);%4=add(%3,%2)",
    "y=s32:nhwc",
    "y=f32:nhwc epi=%1=f32.channel;%2=mul(%0,%1);%3=tanh_fwd(%2)",
};

/// Widths around the lanes (16, 32, 64), the tile (64 columns) and the four shared rows.
TEST(DepthwiseS8, RandomShapes) {
  int flat = 0;
  for (int i = 0; i < 250; ++i) {
    verify::Rng rng(static_cast<std::uint64_t>(i) + 77);
    const std::int64_t c = rng.pick<std::int64_t>({1, 3, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 80, 96, 97, 129, 144});
    const std::int64_t r = rng.pick<std::int64_t>({1, 2, 3, 3, 3, 4, 5, 7}), s = rng.pick<std::int64_t>({1, 3, 3, 3, 5, 6});
    const std::int64_t dh = rng.pick<std::int64_t>({1, 1, 1, 2}), dw = rng.pick<std::int64_t>({1, 1, 1, 2, 3});
    const std::int64_t h = dh * (r - 1) + rng.between(1, 9);
    const std::int64_t w = dw * (s - 1) + rng.pick<std::int64_t>({1, 2, 7, 14, 62, 63, 64, 65, 66, 130});
    std::string line = "fprop n=" + std::to_string(rng.between(1, 2)) + " c=" + std::to_string(c) + " size=" + dims(h, w) +
                       " k=" + std::to_string(c) + " groups=" + std::to_string(c) + " filter=" + dims(r, s) +
                       " pad=" + dims(rng.between(0, 3), rng.between(0, 3)) + ":" + dims(rng.between(0, 3), rng.between(0, 3)) +
                       " stride=" + dims(rng.pick<std::int64_t>({1, 1, 2, 3}), rng.pick<std::int64_t>({1, 1, 2, 3})) +
                       " dil=" + dims(dh, dw) + (rng.chance(20) ? " mode=conv" : "");
    const bool is_unsigned = rng.chance(40);
    line += std::string(" x=") + (is_unsigned ? "u8:" : "s8:") +
            (rng.chance(25)   ? "nc32"
             : rng.chance(10) ? "nc16"
                              : "nhwc") +
            " w=s8:nhwc ";
    line += std::string(kEpilogues[rng.between(0, 6)]);
    if (rng.chance(30)) line += " zx=" + std::to_string(is_unsigned ? rng.between(0, 255) : rng.between(-128, 127));
    verify::Options options;
    options.seed = static_cast<std::uint64_t>(i);
    options.constant_filter = rng.chance(50);
    options.misalign_elements = rng.chance(30) ? 1 : 0;
    const Problem p = problem_of(line);
    check_everywhere(p, "depthwise_s8", options);
    // It takes rows without gaps, on VNNI.
    const bool meant_for_flat = p.x.vector == 1;
    flat += meant_for_flat;
    for (const DeviceTraits& device : forced_devices()) {
      if (device.isa < CpuIsa::avx512_vnni || !meant_for_flat) continue;
      EXPECT_TRUE(find_engine("cpu_native")->accepts(p, device));
      bool listed = false;
      for (const PlanSpec& spec : find_engine("cpu_native")->specs(p, device)) listed |= spec.config == "depthwise_flat";
      EXPECT_TRUE(listed) << line;
    }
    check_everywhere(p, "depthwise_flat", options, false);
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GT(flat, 100);
}

TEST(DepthwiseS8, OneDimension) {
  verify::Options options;
  check_everywhere(problem_of("fprop n=2 c=70 size=200 k=70 groups=70 filter=9 pad=4 stride=2 x=s8:nhwc w=s8:nhwc y=s32:nhwc"),
                   "depthwise_s8", options);
}

/// Large enough to be streamed past the caches, with rows that end in the middle of a line, on strips of several threads.
TEST(DepthwiseS8, StreamedRows) {
  DeviceTraits device = with_isa(host_cpu(), CpuIsa::avx512_vnni);
  if (device.isa != CpuIsa::avx512_vnni) GTEST_SKIP() << "no AVX-512 VNNI here";
  device.name = "Intel";
  device.l2_bytes = 100 << 10;  // so that small tensors count as large
  for (const char* shape :
       {"c=48 size=61x59 k=48 groups=48 filter=3x3 pad=1x1", "c=33 size=64x70 k=33 groups=33 filter=3x3 pad=1x1 stride=2x2"}) {
    const Problem p = problem_of(std::string("fprop n=3 ") + shape + " x=s8:nhwc w=s8:nhwc " + kEpilogues[0]);
    verify::Options options;
    options.runs = 2;
    std::unique_ptr<verify::Case> c;
    ASSERT_TRUE(verify::Case::make(p, options, c).is_good());
    PlanSpec spec;
    spec.engine = "cpu_native";
    spec.config = "depthwise_flat";
    std::unique_ptr<Plan> plan;
    ASSERT_TRUE(find_engine("cpu_native")->build(p, spec, device, {}, plan).is_good());
    EXPECT_NE(plan->describe().find("streamed"), std::string::npos) << plan->describe();
    const verify::Report r = c->check(spec, device);
    EXPECT_TRUE(r.right) << r.message << "\n  " << p.to_string();
  }
}

}  // namespace
}  // namespace octavo::native_test
