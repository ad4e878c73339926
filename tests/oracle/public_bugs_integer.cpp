// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Public bug reports on integer convolutions (A01 - A12), on every engine. Oracle: the numbers stated with each case, which
// follow from integer arithmetic by hand; the URLs are in cases/regressions.txt.

#include "common/golden.h"

namespace octavo::testing {
namespace {

// Requantisation: scale, round once, add the zero point, saturate.
std::string requantise(const std::string& scale, int zero_point, const std::string& after_scale = "") {
  if (zero_point == 0 && after_scale.empty()) return " epi=%1=" + scale + ";%2=mul(%0,%1)";
  const std::string zp = std::to_string(zero_point);
  if (after_scale.empty())
    return " epi=%1=" + scale + ";%2=s32.scalar(" + zp + ");%3=mul(%0,%1);%4=identity(%3)->s32;%5=add(%4,%2):s32";
  return " epi=%1=" + scale + ";%2=s32.scalar(" + zp + ");%3=mul(%0,%1);%4=" + after_scale +
         "(%3);%5=identity(%4)->s32;%6=add(%5,%2):s32";
}

TEST(PublicBugs, A01_GroupsOfTwo) {
  Golden("fprop n=1 c=4 size=1x1 k=4 filter=1x1 groups=2 x=s8:nhwc w=s8:nhwc y=s32:nhwc")
      .x([](const std::int64_t* i) { return static_cast<double>(i[1] % 5 - 2); })
      .w([](const std::int64_t* i) { return static_cast<double>((2 * i[0] + i[1]) % 7 - 3); })
      .want([](const std::int64_t* i) {
        return std::vector<double>{8, 2, 2, -3}[static_cast<std::size_t>(i[1])];
      })
      .run();
  std::uint64_t seed = 1;
  for (const int cg : {1, 2, 3, 4, 5, 8, 16, 32})
    for (const int kg : {1, 2, 3, 4, 5, 8, 16, 32}) {
      const std::string line = "fprop n=1 c=" + std::to_string(2 * cg) + " size=5x6 k=" + std::to_string(2 * kg) +
                               " filter=3x3 pad=1x1 groups=2 x=s8:nhwc w=s8:nhwc y=s32:nhwc";
      Golden::random(line, seed++).run();
    }
}

TEST(PublicBugs, A02_NoFloatOnTheWayToInt32) {
  for (const char* layout : {"nhwc", "nchw"})
    Golden(std::string("fprop n=1 c=8192 size=1x1 k=1 filter=1x1 x=s8:") + layout + " w=s8:" + layout + " y=s32:" + layout)
        .x(constant(50))
        .w([](const std::int64_t* i) { return i[1] == 0 ? -87. : -128.; })
        .want(constant(-52426750))
        .run();
}

TEST(PublicBugs, A03_ScaleBeforeSaturation) {
  Golden("fprop n=1 c=4 size=1x2 k=1 filter=1x1 x=s8:nhwc w=s8:nhwc y=s8:nhwc epi=%1=f32.scalar(0.5);%2=mul(%0,%1)")
      .x([](const std::int64_t* i) { return i[3] == 0  ? -37.
                                            : i[1] < 2 ? 39.
                                                       : 40.; })  // -148 and 158
      .w(constant(1))
      .want([](const std::int64_t* i) { return i[3] == 0 ? -74. : 79.; })
      .run();
  Golden::random(
      "fprop n=2 c=20 size=5x5 k=20 filter=3x3 pad=1x1 groups=4 x=s8:nhwc w=s8:nhwc y=s8:nhwc "
      "epi=%1=f32.scalar(0.5);%2=mul(%0,%1)",
      3)
      .run();
}

TEST(PublicBugs, A04_ZeroPointPerOutputChannel) {
  Golden("fprop n=1 c=1 size=3x3 k=2 filter=2x2 x=u8:nchw w=u8:nchw y=u8:nchw zx=128 zw=channel" +
         requantise("f32.scalar(0.01)", 128))
      .x(constant(130))
      .w(constant(100))
      .zero_points({5, 90})
      .want([](const std::int64_t* i) { return i[1] == 0 ? 136. : 129.; })
      .run();
}

TEST(PublicBugs, A05_PairsOfProductsDoNotSaturate) {
  for (const bool second : {false, true}) {
    const auto w = [=](const std::int64_t* i) { return second && i[1] == 0 ? 114. : 113.; };
    const std::string line = "fprop n=1 c=2 size=1x1 k=1 filter=1x1 zx=144 x=u8:nhwc w=s8:nhwc y=";
    Golden(line + "s32:nhwc").x(constant(255)).w(w).want(constant(second ? 25197 : 25086)).run();
    Golden(line + "u8:nhwc").x(constant(255)).w(w).want(constant(255)).run();
  }
}

TEST(PublicBugs, A06_OutputRangeAndReluAtTheZeroPoint) {
  struct Row {
    const char* type;
    int zero_point;
    const char* activation;
    double want;
  };
  for (const Row& r : {Row{"s8", 0, "", -63}, Row{"u8", 0, "", 0}, Row{"u8", 128, "", 65}, Row{"s8", 0, "relu_fwd", 0},
                       Row{"s8", 7, "relu_fwd", 7}})
    Golden(std::string("fprop n=1 c=1 size=3x3 k=1 filter=3x3 x=s8:nhwc w=s8:nhwc y=") + r.type + ":nhwc" +
           requantise("f32.scalar(0.03125)", r.zero_point, r.activation))
        .x(grid({3, 9, 30, 14, 4, 22, 11, 7, 5}, 3))
        .w(grid({17, 21, -59, -4, -10, -31, 2, -3, 59}, 3))
        .want(constant(r.want))
        .run();
}

TEST(PublicBugs, A07_RoundOnce) {
  for (const char* type : {"s8", "u8"})
    Golden(std::string("fprop n=1 c=2 size=1x1 k=1 filter=1x1 x=s8:nhwc w=s8:nhwc y=") + type + ":nhwc" +
           requantise("f32.scalar(0.0014402703931141053)", 0))
        .x([](const std::int64_t* i) { return i[1] == 0 ? 64. : 48.; })
        .w([](const std::int64_t* i) { return i[1] == 0 ? 124. : 1.; })
        .want(constant(11))
        .run();
}

TEST(PublicBugs, A08_ScalePerChannel) {
  const std::vector<double> x{1, 1, 1, 1, 3, 3, 3, 3, 1, 3, 5, 7, 1, 3, 5, 7};
  const std::vector<double> w{1, 2, 3, 4, -2, 2, -2, 2, -4, -4, 4, 4};
  const std::vector<double> want{35, 3, 9, 35, 3, 9, 33, 7, 5, 73, 7, 5};
  Golden(
      "fprop n=2 c=1 size=2x4 k=3 filter=2x2 stride=2x2 x=s8:nhwc w=s8:nhwc y=s8:nhwc zx=-1 "
      "epi=%1=f32.channel;%2=f32.channel;%3=s32.scalar(-1);%4=mul(%0,%1);%5=add(%4,%2);%6=identity(%5)->s32;%7=add(%6,%3):s32")
      .x([=](const std::int64_t* i) { return x[static_cast<std::size_t>(i[0] * 8 + i[2] * 4 + i[3])]; })
      .w([=](const std::int64_t* i) { return w[static_cast<std::size_t>(i[0] * 4 + i[2] * 2 + i[3])]; })
      .operand(0, [](const std::int64_t* i) { return i[1] == 0   ? 1.
                                                     : i[1] == 1 ? 0.5
                                                                 : 0.25; })  // xs * ws / ys
      .operand(1, [](const std::int64_t* i) { return 2. * static_cast<double>(i[1] + 1); })       // bias / ys
      .want([=](const std::int64_t* i) { return want[static_cast<std::size_t>(i[0] * 6 + i[3] * 3 + i[1])]; })
      .run();
}

TEST(PublicBugs, A09_PaddingIsTheZeroPoint) {
  Golden("fprop n=1 c=1 size=3x3 k=1 filter=3x3 pad=1x1 zx=7 x=s8:nhwc w=s8:nhwc y=s32:nhwc")
      .x(constant(10))
      .w(constant(2))
      .want(grid({24, 36, 24, 36, 54, 36, 24, 36, 24}, 3))
      .run();
}

TEST(PublicBugs, A10_Int32BiasThenScalePerChannel) {
  Golden(
      "fprop n=1 c=10 size=1x1 k=2 filter=1x1 x=s8:nhwc w=s8:nhwc y=s8:nhwc "
      "epi=%1=s32.channel;%2=f32.channel;%3=add(%0,%1):s32;%4=mul(%3,%2)")
      .x(constant(10))
      .w(constant(10))
      .operand(0, constant(300000))
      .operand(1, [](const std::int64_t* i) { return i[1] == 0 ? 0x1p-12 : 0x1p-11; })
      .want([](const std::int64_t* i) { return i[1] == 0 ? 73. : 127.; })
      .run();
}

TEST(PublicBugs, A11_EveryOutputTypeOfAnInt8Convolution) {
  for (const auto& [type, want] : {std::pair{"s32", 435483.}, std::pair{"f32", 435483.}, std::pair{"s8", 127.}})
    Golden(std::string("fprop n=1 c=3 size=3x3 k=1 filter=3x3 x=s8:nhwc w=s8:nhwc y=") + type + ":nhwc")
        .x(constant(127))
        .w(constant(127))
        .want(constant(want))
        .run();
  // With no output at all the problem is refused, never narrowed silently.
  Problem p;
  const error_t e = parse_problem("fprop n=1 c=3 size=3x3 k=1 filter=3x3 x=s8:nhwc w=s8:nhwc", p);
  EXPECT_TRUE(e.is_bad());
  EXPECT_NE(e.err_msg.find("y="), std::string::npos) << e.err_msg;
}

TEST(PublicBugs, A12_OneChannelInOneOut) {
  Golden("fprop n=1 c=1 size=6x6 k=1 filter=3x3 pad=1x1 x=s8:nchw w=s8:nchw y=s32:nchw")
      .x(constant(1))
      .w(constant(1))
      .want([](const std::int64_t* i) {
        const bool row = i[2] == 0 || i[2] == 5, column = i[3] == 0 || i[3] == 5;
        return row && column ? 4. : row || column ? 6. : 9.;
      })
      .run();
}

}  // namespace
}  // namespace octavo::testing
