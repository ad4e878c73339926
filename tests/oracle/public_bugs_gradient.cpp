// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Public bug reports on data and weight gradients (A19 - A25), on every engine. Oracle: the stated numbers. A26 needs a GPU.

#include "common/golden.h"

namespace octavo::testing {
namespace {

TEST(PublicBugs, A19_DepthwiseWeightGradient) {
  for (const char* type : {"f32", "bf16", "s8"})
    for (const int g : {23, 24, 25, 31, 32, 33})
      for (const char* layout : {"nchw", "nhwc"}) {
        const std::string c = std::to_string(g), t(type), l(layout);
        Golden("wgrad n=1 c=" + c + " size=6x6 k=" + c + " filter=3x3 pad=1x1 stride=2x2 groups=" + c + " x=" + t + ":" + l +
               " y=" + t + ":" + l + " w=" + (t == "s8" ? "s32" : t) + ":" + l)
            .x(constant(1))
            .y(constant(1))
            .want(grid({4, 6, 6, 6, 9, 9, 6, 9, 9}, 3))
            .run();
      }
}

TEST(PublicBugs, A20_DataGradientGroupsTimesStride) {
  for (const char* type : {"f32", "f16", "s8"}) {
    const std::string t(type), out = t == "s8" ? "s32" : t;
    for (const char* layout : {"nchw", "nhwc"}) {
      const std::string types = std::string(" y=") + t + ":" + layout + " w=" + t + ":" + layout + " x=" + out + ":" + layout;
      const auto taps = [](std::int64_t i) { return i == 15 ? 1. : i % 2 == 0 ? 1. : 2.; };
      Golden("dgrad n=2 c=8 size=16x16 k=8 filter=3x3 pad=1x1 stride=2x2 groups=8" + types)
          .y(constant(1))
          .w(constant(1))
          .want([=](const std::int64_t* i) { return taps(i[2]) * taps(i[3]); })
          .run();
      Golden::random("dgrad n=2 c=8 size=16x16 k=8 filter=7x7 pad=3x3 stride=2x2 groups=8" + types, 7).run();
      Golden("dgrad n=2 c=8 size=16x16 k=8 filter=1x1 stride=2x2 groups=4" + types)
          .y(constant(1))
          .w(constant(1))
          .want([](const std::int64_t* i) { return i[2] % 2 == 0 && i[3] % 2 == 0 ? 2. : 0.; })
          .run();
    }
  }
}

TEST(PublicBugs, A21_EveryImageEveryChannelEveryPhase) {
  std::uint64_t seed = 50;
  for (const char* direction : {"dgrad", "fprop", "wgrad"})
    for (const int k : {16, 20, 23})
      for (const int stride : {1, 2})
        for (const verify::Fill fill : {verify::Fill::integers, verify::Fill::reals})
          Golden::random(std::string(direction) + " n=4 c=16 size=14x14 k=" + std::to_string(k) +
                             " filter=3x3 pad=1x1 stride=" + std::to_string(stride) + " x=f16:nhwc w=f16:nhwc y=f16:nhwc",
                         seed++, fill)
              .run();
}

TEST(PublicBugs, A22_PaddingBeyondTheFilter) {
  for (const char* type : {"f32", "f16", "s8"}) {
    const std::string t(type), out = t == "s8" ? "s32" : t;
    const std::string head = " n=5 c=2 size=11x14 k=3 filter=3x3 pad=4x4 ";
    Golden("dgrad" + head + "y=" + t + ":nhwc w=" + t + ":nhwc x=" + out + ":nhwc")
        .y(constant(1))
        .w(constant(1))
        .want(constant(27))
        .run();
    Golden("wgrad" + head + "x=" + t + ":nhwc y=" + t + ":nhwc w=" + out + ":nhwc")
        .x(constant(1))
        .y(constant(1))
        .want(constant(770))
        .run();
    Golden("fprop" + head + "x=" + t + ":nhwc w=" + t + ":nhwc y=" + out + ":nhwc")
        .x(constant(1))
        .w(constant(1))
        .want([](const std::int64_t* i) {
          // Output row p meets image rows p-4 .. p-2; the outer two rings meet none.
          const auto met = [](std::int64_t p, std::int64_t size) {
            double n = 0;
            for (std::int64_t r = 0; r < 3; ++r) n += p - 4 + r >= 0 && p - 4 + r < size;
            return n;
          };
          return 2 * met(i[2], 11) * met(i[3], 14);
        })
        .run();
  }
}

TEST(PublicBugs, A23_SumsAreNotKeptInBf16) {
  // The bias gradient of the report is a reduction (tests/graph); this is its weight gradient.
  for (const auto& [out, corner, edge] : {std::tuple{"bf16", 1520., 1560.}, std::tuple{"f32", 1521., 1560.}})
    Golden(std::string("wgrad n=1 c=1 size=80x80 k=2 filter=3x3 pad=1x1 stride=2x2 x=bf16:nhwc y=bf16:nhwc w=") + out + ":nhwc")
        .x(constant(1))
        .y(constant(1))
        // Named again: Clang 14 does not capture a structured binding.
        .want([corner = corner, edge = edge](const std::int64_t* i) {
          return i[2] >= 1 && i[3] >= 1 ? 1600. : i[2] == 0 && i[3] == 0 ? corner : edge;
        })
        .run();
}

TEST(PublicBugs, A24_EmptyBatch) {
  for (const char* type : {"f32", "f64", "f16", "bf16", "e4m3", "e5m2", "s8", "u8", "s32"})
    for (const char* layout : {"nchw", "nhwc"}) {
      const std::string t(type), l(layout), out = t == "s8" || t == "u8" ? "s32" : t;
      const std::string head = " n=0 c=3 size=8x8 k=4 filter=3x3 ";
      Golden("fprop" + head + "x=" + t + ":" + l + " w=" + t + ":" + l + " y=" + out + ":" + l).w(constant(1)).run();
      Golden("dgrad" + head + "y=" + t + ":" + l + " w=" + t + ":" + l + " x=" + out + ":" + l).w(constant(1)).run();
      Golden("wgrad" + head + "x=" + t + ":" + l + " y=" + t + ":" + l + " w=" + out + ":" + l).want(constant(0)).run();
    }
  // The epilogue still runs on the zero gradient.
  Golden("wgrad n=0 c=3 size=8x8 k=4 filter=3x3 x=f16:nhwc y=f16:nhwc w=f32:nhwc epi=%1=f32.scalar(2.5);%2=add(%0,%1)")
      .want(constant(2.5))
      .run();
}

TEST(PublicBugs, A25_AdjointOfTheReportedGeometry) {
  // One geometry for all three; the sums are compared in tests/oracle/adjoint.cpp, with 2,000 random ones.
  const std::string head = " n=1 c=4 size=7x6 k=6 filter=3x2 groups=2 pad=1x2:0x1 stride=2x3 dil=1x2 ";
  for (const auto& [types, seed] :
       {std::pair{"x=s8:nchw w=s8:nchw y=s32:nchw", 61}, std::pair{"x=s8:nhwc w=s8:nhwc y=s32:nhwc", 62}})
    Golden::random("fprop" + head + types, static_cast<std::uint64_t>(seed)).run();
  Golden::random("dgrad" + head + "y=s8:nhwc w=s8:nhwc x=s32:nhwc", 63).run();
  Golden::random("wgrad" + head + "x=s8:nhwc y=s8:nhwc w=s32:nhwc", 64).run();
}

}  // namespace
}  // namespace octavo::testing
