// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Path "winograd": equal to cpu_reference in every bit, at the edge of its range too.

#include "native/native_test.h"
#include "verify/data.h"

namespace octavo::native_test {
namespace {

const char* kLines[] = {
    "fprop n=1 c=1 size=5x5 k=1 filter=3x3 pad=0x0 x=s8:nhwc w=s8:nhwc y=s8:nhwc",
    "fprop n=2 c=64 size=14x14 k=64 filter=3x3 pad=1x1 x=s8:nhwc w=s8:nhwc y=s32:nhwc",
    "fprop n=1 c=19 size=9x11 k=37 filter=3x3 pad=1x1 x=s8:nhwc w=s8:nhwc y=s32:nhwc",
    "fprop n=1 c=33 size=9x30 k=65 filter=3x3 pad=1x1 x=u8:nhwc w=s8:nhwc y=s32:nhwc",
    "fprop n=1 c=33 size=9x30 k=65 filter=3x3 pad=1x1 x=u8:nchw w=u8:nchw y=s32:nchw zx=7 zw=128",
    "fprop n=1 c=40 size=9x11 k=48 filter=3x3 pad=2x2 x=s8:nc32 w=s8:nc32 y=s32:nc32 zx=-128",
    "fprop n=1 c=64 size=9x11 k=48 filter=3x3 pad=0x1:2x0 x=s8:nc32 w=s8:nc16 y=s32:nc16 zx=127",
    "fprop n=3 c=40 size=7x7 k=48 filter=3x3 pad=1x1 x=s8:nc16 w=s8:nhwc y=s8:nhwc",
    "fprop n=1 c=40 size=3x50 k=48 filter=3x3 pad=0x0 x=s8:nc4 w=s8:nhwc y=s8:nhwc mode=conv",
    "fprop n=2 c=8 size=1x1 k=8 filter=3x3 pad=1x1 x=s8:nhwc w=s8:nhwc y=s32:nhwc",
    "fprop n=2 c=8 size=1x1 k=8 filter=3x3 pad=9x9 x=u8:nhwc w=s8:nhwc y=s32:nhwc zx=255",
};

TEST(WinogradS8, NamedShapes) {
  for (const char* line : kLines) {
    for (const bool constant : {false, true}) {
      verify::Options options;
      options.constant_filter = constant;
      options.runs = 2;
      check_everywhere(problem_of(line), "winograd", options);
    }
  }
}

/// Every input x, every weight w: the sum at an inner point is 9 C x w.
void check_constant(const std::string& line, int x, int w, bool constant_filter) {
  const Problem p = problem_of(line);
  verify::Data data(p);
  verify::set_elements(p.x, data.x.data(), [&](const std::int64_t*) { return x; });
  verify::set_elements(p.w, data.w.data(), [&](const std::int64_t*) { return w; });
  verify::Options options;
  options.constant_filter = constant_filter;
  std::unique_ptr<verify::Case> c;
  const error_t e = verify::Case::make(p, std::move(data), options, c);
  ASSERT_TRUE(e.is_good()) << e.get_message();
  for (const DeviceTraits& device : forced_devices()) {
    int ran = 0;
    for (const PlanSpec& spec : find_engine("cpu_native")->specs(p, device)) {
      if (spec.config.rfind("winograd", 0) != 0) continue;
      const verify::Report r = c->check(spec, device);
      EXPECT_TRUE(r.right) << to_string(device.isa) << ": " << r.message << "\n  " << line;
      ++ran;
    }
    EXPECT_GT(ran, 0) << to_string(device.isa) << " " << line;
  }
}

// 64 |y| < 2^31: C = 227 is the last that fits whatever the data are (s8), 114 for u8. One more, and C is split.
TEST(WinogradS8, OverflowEdge) {
  const auto line = [](const char* type, int c) {
    return "fprop n=1 c=" + std::to_string(c) + " size=6x6 k=17 filter=3x3 pad=1x1 x=" + type + ":nhwc w=s8:nhwc y=s32:nhwc";
  };
  for (const bool constant : {false, true}) {
    for (const int c : {226, 227, 228, 229, 454, 455, 456, 700}) {
      check_constant(line("s8", c), -128, -128, constant);
      check_constant(line("s8", c), -128, 127, constant);
    }
    for (const int c : {113, 114, 115, 116, 228, 229, 400}) {
      check_constant(line("u8", c), 255, -128, constant);
      check_constant(line("u8", c), 255, 127, constant);
    }
    check_constant(line("s8", 2048), 127, 1, constant);  // a small filter: one part at any C when it is constant
  }
}

TEST(WinogradS8, PartsOfC) {
  const auto parts = [](int c, int w) {
    const Problem p =
        problem_of("fprop n=1 c=" + std::to_string(c) + " size=6x6 k=17 filter=3x3 pad=1x1 x=s8:nhwc w=s8:nhwc y=s32:nhwc");
    std::vector<std::int8_t> filter(static_cast<std::size_t>(p.w.span_bytes()), static_cast<std::int8_t>(w));
    for (const PlanSpec& spec : find_engine("cpu_native")->specs(p, host_cpu())) {
      if (spec.config.rfind("winograd", 0) != 0) continue;
      std::unique_ptr<Plan> plan;
      const error_t e = find_engine("cpu_native")->build(p, spec, host_cpu(), {filter.data()}, plan);
      EXPECT_TRUE(e.is_good()) << e.get_message();
      return plan ? plan->describe() : std::string();
    }
    return std::string();
  };
  EXPECT_NE(parts(227, -128).find("C in 1 part"), std::string::npos) << parts(227, -128);
  EXPECT_NE(parts(228, -128).find("C in 2 parts"), std::string::npos) << parts(228, -128);
  EXPECT_NE(parts(1024, 20).find("C in 1 part"), std::string::npos) << parts(1024, 20);
}

TEST(WinogradS8, RandomProblems) {
  for (int i = 0; i < scaled(300); ++i) {
    verify::Rng rng(static_cast<std::uint64_t>(i) + 77000);
    Problem p;
    p.direction = Direction::fprop;
    const auto type = [&] { return rng.chance(60) ? "s8" : "u8"; };
    const auto layout = [&] { return rng.pick({"nhwc", "nhwc", "nchw", "nc4", "nc16", "nc32"}); };
    const std::string x_type = type(), w_type = rng.chance(80) ? "s8" : "u8";
    const std::int64_t h = rng.between(1, 19), w = rng.between(1, 27);
    const std::int64_t ph = h < 3 ? 1 : rng.between(0, 2), pw = w < 3 ? 1 : rng.between(0, 2);
    std::string line = "fprop n=" + std::to_string(rng.between(1, 3)) + " c=" + std::to_string(verify::boundary_size(rng, 70)) +
                       " size=" + std::to_string(h) + "x" + std::to_string(w) +
                       " k=" + std::to_string(verify::boundary_size(rng, 70)) + " filter=3x3 pad=" + std::to_string(ph) + "x" +
                       std::to_string(pw) + " x=" + x_type + ":" + layout() + " w=" + w_type + ":" + layout() +
                       " y=s32:" + layout();
    if (rng.chance(30)) line += " zx=" + std::to_string(x_type == "s8" ? rng.between(-128, 127) : rng.between(0, 255));
    if (w_type == "u8") line += " zw=" + std::to_string(rng.between(100, 150));
    if (rng.chance(20)) line += " mode=conv";
    p = problem_of(line);
    if (rng.chance(60)) {
      p.epilogue = {};
      verify::add_random_epilogue(rng, p, false);
    }
    verify::Options options;
    options.seed = static_cast<std::uint64_t>(i);
    options.constant_filter = rng.chance(50);
    options.misalign_elements = rng.chance(30) ? 1 : 0;
    check_everywhere(p, "winograd", options);
    if (::testing::Test::HasFailure()) FAIL() << "seed " << i;
  }
}

}  // namespace
}  // namespace octavo::native_test
