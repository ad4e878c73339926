// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Public bug reports on layouts, strides and alignment (A13 - A18), on every engine. Oracle: the stated numbers, and the
// same convolution in another layout.

#include "common/golden.h"

namespace octavo::testing {
namespace {

TEST(PublicBugs, A13_InterleavedChannelsWholeBatch) {
  const auto x = [](const std::int64_t* i) { return static_cast<double>((7 * i[0] + 3 * i[1] + 5 * i[2] + i[3]) % 11 - 5); };
  const auto w = [](const std::int64_t* i) { return static_cast<double>((5 * i[0] + i[1]) % 7 - 3); };
  // The report's numbers, once from the layout itself.
  Golden g("fprop n=4 c=64 size=4x4 k=32 filter=1x1 x=s8:nc32 w=s8:nhwc y=s32:nc32");
  g.x(x).w(w);
  std::unique_ptr<verify::Case> c;
  ASSERT_TRUE(verify::Case::make(g.problem, std::move(g.data), {}, c).is_good());
  const auto at = [&](std::vector<std::int64_t> i) {
    return verify::get_element(g.problem.epilogue.outputs[0].desc, c->expected().outputs()[0].data(), i.data());
  };
  const double first[4] = {-27, -4, 19, -24}, last[4] = {-6, -42, 10, 7}, sums[4] = {51, 78, -82, -77};
  for (std::int64_t n = 0; n < 4; ++n) {
    double sum = 0;
    for (std::int64_t k = 0; k < 32; ++k)
      for (std::int64_t q = 0; q < 16; ++q) sum += at({n, k, q / 4, q % 4});
    EXPECT_EQ(at({n, 0, 0, 0}), first[n]);
    EXPECT_EQ(at({n, 31, 3, 3}), last[n]);
    EXPECT_EQ(sum, sums[n]);
  }
  for (const char* layout : {"nc32", "nc16", "nc4", "nhwc", "nchw"})
    for (const char* filter : {"nhwc", "nchw", "nc32", "nc4"}) {
      const std::string line =
          std::string("fprop n=4 c=64 size=4x4 k=32 filter=1x1 x=s8:") + layout + " w=s8:" + filter + " y=s32:" + layout;
      Golden(line).x(x).w(w).run();
      // One-hot filters: channel k is channel (k + 17) % 64 of x. A swapped K and C order cannot hide.
      Golden(line)
          .x(x)
          .w([](const std::int64_t* i) { return i[1] == (i[0] + 17) % 64 ? 1. : 0.; })
          .want([=](const std::int64_t* i) {
            const std::int64_t from[4] = {i[0], (i[1] + 17) % 64, i[2], i[3]};
            return x(from);
          })
          .run();
    }
}

TEST(PublicBugs, A14_LayoutTimesEpilogueTimesType) {
  const std::string epilogues[] = {
      "", " epi=%1=s32.channel;%2=add(%0,%1):s32", " epi=%1=s32.channel;%2=add(%0,%1):s32;%3=relu_fwd(%2):s32",
      " epi=%1=f32.channel;%2=f32.channel;%3=s8.full:LAYOUT;%4=f32.scalar(0.5);%5=mul(%0,%1);%6=add(%5,%2);"
      "%7=mul(%3,%4);%8=add(%6,%7);%9=relu_fwd(%8)"};
  std::uint64_t seed = 1;
  for (const char* layout : {"nchw", "nhwc", "nc4", "nc32"})
    for (std::string epilogue : epilogues)
      for (const char* type : {"s8", "s32", "f32"}) {
        if (const std::size_t at = epilogue.find("LAYOUT"); at != std::string::npos) epilogue.replace(at, 6, layout);
        Golden::random(std::string("fprop n=2 c=32 size=14x14 k=32 filter=3x3 pad=1x1 x=s8:") + layout +
                           " w=s8:nhwc y=" + type + ":" + layout + epilogue,
                       seed++)
            .run();
      }
}

TEST(PublicBugs, A15_AmbiguousStridesOfOneChannel) {
  // x has one channel, so its strides read as NCHW and as NHWC; w is channels-last.
  std::uint64_t seed = 20;
  for (const char* types :
       {"x=f32:nchw w=f32:nhwc y=f32:nchw", "x=f32:nhwc w=f32:nhwc y=f32:nchw", "x=f32:10000,1,100,1 w=f32:9,1,3,1 y=f32:nhwc"})
    for (const char* direction : {"fprop", "dgrad", "wgrad"}) {
      const std::string head = std::string(direction) + " n=1 c=1 size=100x100 k=64 filter=3x3 pad=1x1 ";
      Golden::random(head + types, seed++).run();
    }
  for (const char* direction : {"fprop", "dgrad", "wgrad"})
    for (const char* layout : {"nchw", "nhwc"})
      for (const int c : {1, 3, 16, 37}) {
        const std::string l(layout);
        Golden::random(std::string(direction) + " n=1 c=" + std::to_string(c) + " size=1x1 k=8 filter=1x1 x=f32:" + l +
                           " w=f32:nhwc y=f32:" + l,
                       seed++)
            .run();
      }
}

TEST(PublicBugs, A16_ExpandedTensors) {
  for (const char* type : {"f64", "f32"}) {
    const std::string t(type);
    // The filter is one number with stride 0.
    Golden("fprop n=1 c=1 size=3 k=1 filter=2 x=" + t + ":nchw w=" + t + ":1,1,0 y=" + t + ":nchw")
        .x(constant(1))
        .w(constant(1))
        .want(constant(2))
        .run();
    // dy is one number expanded to the whole shape.
    Golden("dgrad n=2 c=3 size=6x6 k=4 filter=3x3 pad=1x1 y=" + t + ":0,0,0,0 w=" + t + ":nchw x=" + t + ":nchw")
        .y(constant(1))
        .w([](const std::int64_t* i) { return static_cast<double>(i[0] + i[1]); })
        .want([](const std::int64_t* i) {
          // sum over k of (k + c) is 6 + 4c, times the taps that meet the image
          const double rows = i[2] == 0 || i[2] == 5 ? 2 : 3, columns = i[3] == 0 || i[3] == 5 ? 2 : 3;
          return (6. + 4. * static_cast<double>(i[1])) * rows * columns;
        })
        .run();
    Golden("wgrad n=2 c=3 size=6x6 k=4 filter=3x3 y=" + t + ":0,0,0,0 x=" + t + ":nchw w=" + t + ":nchw")
        .y(constant(1))
        .x([](const std::int64_t* i) { return static_cast<double>(i[1] + 1); })
        .want([](const std::int64_t* i) { return 2. * 16. * static_cast<double>(i[1] + 1); })
        .run();
    // w = big[:, :, ::2, ::2] of a 5x5 filter.
    Golden::random("fprop n=2 c=3 size=6x6 k=4 filter=3x3 x=" + t + ":nchw w=" + t + ":75,25,10,2 y=" + t + ":nchw", 31).run();
  }
  Golden("fprop n=1 c=1 size=3 k=1 filter=2 x=s8:nchw w=s8:1,1,0 y=s32:nchw")
      .x(constant(1))
      .w(constant(1))
      .want(constant(2))
      .run();
  Golden::random("dgrad n=2 c=3 size=6x6 k=4 filter=3x3 pad=1x1 y=s8:0,0,0,0 w=s8:nhwc x=s32:nhwc", 32).run();
  Golden::random("wgrad n=2 c=3 size=6x6 k=4 filter=3x3 y=s8:0,0,0,0 x=s8:nhwc w=s32:nhwc", 33).run();
}

TEST(PublicBugs, A17_UnalignedViews) {
  for (const char* type : {"f16", "s8"}) {
    const std::string t(type), out = t == "s8" ? "s32" : "f16";
    const std::string line = "fprop n=1 c=3 size=5x5 k=4 filter=3x3 pad=1x1 x=" + t + ":nchw w=" + t + ":nchw y=" + out +
                             ":nchw epi=%1=f32.channel;%2=add(%0,%1)";
    for (const std::int64_t shift : {1, 3, 75}) Golden::random(line, 41, verify::Fill::automatic, shift).run();
    Golden::random("fprop n=1 c=32 size=9x9 k=64 filter=3x3 pad=1x1 x=" + t + ":nhwc w=" + t + ":nhwc y=" + out + ":nhwc", 43,
                   verify::Fill::automatic, 75)
        .run();
    // A plan that has run on aligned pointers runs on others.
    verify::Options aligned, shifted;
    shifted.misalign_elements = 75;
    const Problem p = parse(line);
    std::unique_ptr<verify::Case> first, second;
    ASSERT_TRUE(verify::Case::make(p, aligned, first).is_good());
    ASSERT_TRUE(verify::Case::make(p, shifted, second).is_good());
    for (const Target& target : cpu_targets()) {
      if (!target.engine->accepts(p, target.device)) continue;
      for (const PlanSpec& spec : target.engine->specs(p, target.device)) {
        std::unique_ptr<Plan> plan;
        ASSERT_TRUE(build_plan(p, spec, target.device, {}, plan).is_good());
        for (const auto* c : {first.get(), second.get(), first.get()}) {
          const verify::Report r = c->check(*plan);
          EXPECT_TRUE(r.right) << target.name() << ": " << r.message;
        }
      }
    }
  }
}

TEST(PublicBugs, A18_AsymmetricPaddingStrideTwo) {
  const auto x = [](const std::int64_t* i) { return static_cast<double>(4 * i[2] + i[3] + 1); };
  const auto w = [](const std::int64_t* i) { return static_cast<double>(3 * i[2] + i[3] + 1); };
  for (const auto& [type, out] :
       {std::pair{"f32", "f32"}, std::pair{"f16", "f16"}, std::pair{"bf16", "f32"}, std::pair{"s8", "s32"}}) {
    const std::string types = std::string(" x=") + type + ":nhwc w=" + type + ":nhwc y=" + out + ":nhwc";
    Golden("fprop n=1 c=1 size=4x4 k=1 filter=3x3 stride=2x2 pad=0x0:1x1" + types)
        .x(x)
        .w(w)
        .want(grid({348, 252, 274, 175}, 2))
        .run();
    Golden("fprop n=1 c=1 size=4x4 k=1 filter=3x3 stride=2x2 pad=1x1:0x0" + types)
        .x(x)
        .w(w)
        .want(grid({111, 217, 363, 573}, 2))
        .run();
  }
  // The report's layer: one image of its sixteen; its gradients with a quarter of the channels.
  const std::string tail = " filter=3x3 stride=2x2 pad=0x0:1x1 x=f32:nhwc w=f32:nhwc y=f32:nhwc";
  Golden::random("fprop n=1 c=128 size=256x256 k=128" + tail, 5, verify::Fill::integers).run();
  for (const char* direction : {"dgrad", "wgrad"})
    Golden::random(direction + (" n=1 c=32 size=256x256 k=32" + tail), 5, verify::Fill::integers).run();
}

}  // namespace
}  // namespace octavo::testing
