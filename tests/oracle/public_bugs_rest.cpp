// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Public bug reports on sizes, floating point, plans, threads and arguments (A27 - A38), on every engine. Oracle: the stated
// numbers; the same convolution on a crop; the same plan run alone.

#include <cmath>
#include <fstream>
#include <limits>
#include <thread>

#include "common/golden.h"
#include "core/parallel.h"
#include "verify/random.h"

namespace octavo::testing {
namespace {

const double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();

double available_gib() {
  std::ifstream file("/proc/meminfo");
  for (std::string key; file >> key;) {
    double kib = 0;
    if (key == "MemAvailable:" && file >> kib) return kib / (1 << 20);
  }
  return 0;
}

/// Tests of several gigabytes run when asked for (OCTAVO_TEST_BIG=1) and when the machine has the room.
bool has_room(double gib) { return std::getenv("OCTAVO_TEST_BIG") != nullptr && available_gib() > gib; }

/// Each engine at this machine's own level: these runs take minutes.
std::vector<Target> best_targets() {
  std::vector<Target> all = cpu_targets(), best;
  for (const Target& t : all)
    if (t.device.isa == host_cpu().isa) best.push_back(t);
  return best;
}

/// Runs one problem on one target into buffers of the caller's; no oracle on tensors of this size.
error_t run_big(const Target& t, const Problem& p, const void* x, const void* w, void* out) {
  std::unique_ptr<Plan> plan;
  OCTAVO_RETURN_IF_ERROR(build_plan(p, t.engine->specs(p, t.device).front(), t.device, {}, plan));
  verify::GuardedBuffer workspace(plan->workspace_bytes(), 0xff);
  void* outputs[] = {out};
  Args args;
  args.x = x, args.w = w, args.outputs = outputs, args.workspace = workspace.data();
  return plan->execute(args);
}

TEST(PublicBugs, A27_MoreThan2To31ElementsInAnImage) {
  if (!has_room(10))
    GTEST_SKIP() << "not observed: needs OCTAVO_TEST_BIG=1 and 10 GiB of free memory, there are " << available_gib();
  const Problem p = parse("fprop n=1 c=514 size=2048x2048 k=1 filter=3x3 pad=1x1 x=f16:nchw w=f16:nchw y=f32:nchw");
  constexpr std::int64_t kPlane = 2048 * 2048;
  std::vector<std::uint16_t> x(static_cast<std::size_t>(514 * kPlane), 0xbc00);  // -1
  std::fill(x.end() - kPlane, x.end(), static_cast<std::uint16_t>(0x3c00));      // channel 513 is +1
  std::vector<std::uint16_t> w(514 * 9, 0);
  std::fill(w.end() - 9, w.end(), static_cast<std::uint16_t>(0x3800));  // 0.5
  for (const Target& t : best_targets()) {
    if (!t.engine->accepts(p, t.device)) {
      EXPECT_FALSE(meant_for(t, p)) << t.name();
      continue;
    }
    std::vector<float> y(kPlane, NAN);
    const error_t e = run_big(t, p, x.data(), w.data(), y.data());
    ASSERT_TRUE(e.is_good()) << t.name() << e.err_msg;
    for (std::int64_t i = 0; i < kPlane; ++i) {
      const std::int64_t row = i / 2048, column = i % 2048;
      const bool v = row == 0 || row == 2047, h = column == 0 || column == 2047;
      ASSERT_EQ(y[static_cast<std::size_t>(i)], v && h   ? 2.f
                                                : v || h ? 3.f
                                                         : 4.5f)
          << t.name() << " at " << row << "," << column;
    }
  }
}

TEST(PublicBugs, A28_ByteOffsetsBeyond2To32) {
  if (!has_room(13))
    GTEST_SKIP() << "not observed: needs OCTAVO_TEST_BIG=1 and 13 GiB of free memory, there are " << available_gib();
  constexpr std::int64_t kH = 514, kW = 131584, kC = 28, kK = 12;
  const Problem p = parse("fprop n=1 c=28 size=514x131584 k=12 filter=1x1 x=f32:nchw w=f32:nchw y=f32:nchw");
  std::vector<float> x(static_cast<std::size_t>(kC * kH * kW)), w(kK * kC);
  for (std::int64_t c = 0; c < kC; ++c)
    for (std::int64_t h = 0; h < kH; ++h)
      for (std::int64_t i = 0; i < kW; ++i)
        x[static_cast<std::size_t>((c * kH + h) * kW + i)] = static_cast<float>((c + h + i) % 3 - 1);
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(static_cast<int>(i) % 7 - 3);
  std::vector<float> y(static_cast<std::size_t>(kK * kH * kW));
  for (const Target& t : best_targets()) {
    if (!t.engine->accepts(p, t.device)) {
      EXPECT_FALSE(meant_for(t, p)) << t.name();
      continue;
    }
    std::fill(y.begin(), y.end(), NAN);
    const error_t e = run_big(t, p, x.data(), w.data(), y.data());
    ASSERT_TRUE(e.is_good()) << t.name() << e.err_msg;
    for (const std::int64_t h : {std::int64_t{0}, kH / 2, kH - 1})
      for (const std::int64_t i : {std::int64_t{0}, kW / 2, kW - 1})
        for (std::int64_t k = 0; k < kK; ++k) {
          float want = 0;
          for (std::int64_t c = 0; c < kC; ++c)
            want += static_cast<float>((c + h + i) % 3 - 1) * w[static_cast<std::size_t>(k * kC + c)];
          ASSERT_EQ(y[static_cast<std::size_t>((k * kH + h) * kW + i)], want)
              << t.name() << " at " << k << "," << h << "," << i;
        }
  }
}

TEST(PublicBugs, A29_MoreThan65536ImagesOrChannels) {
  for (const auto& [type, out] : {std::pair{"f32", "f32"}, std::pair{"s8", "s32"}}) {
    const std::string types = std::string("x=") + type + ":nhwc w=" + type + ":nhwc y=" + out + ":nhwc";
    const auto by = [](int d) { return [d](const std::int64_t* i) { return static_cast<double>(i[d] % 7); }; };
    // The report's width in f32, a tenth of it in s8.
    const std::string width = std::string(type) == "f32" ? "80" : "8";
    Golden("fprop n=70000 c=1 size=1x" + width + " k=4 filter=1x5 " + types)
        .x(by(0))
        .w(constant(1))
        .want([](const std::int64_t* i) { return 5. * static_cast<double>(i[0] % 7); })
        .run();
    const std::string back = std::string("y=") + type + ":nhwc w=" + type + ":nhwc x=" + out + ":nhwc";
    Golden("dgrad n=70000 c=1 size=1x8 k=4 filter=1x5 " + back)
        .y(by(0))
        .w(constant(1))
        .want([](const std::int64_t* i) {
          return 4. * static_cast<double>(i[0] % 7) * static_cast<double>(std::min<std::int64_t>({i[3] + 1, 8 - i[3], 4}));
        })
        .run();
    const std::string weights = std::string("x=") + type + ":nhwc y=" + type + ":nhwc w=" + out + ":nhwc";
    Golden("wgrad n=70000 c=1 size=1x8 k=4 filter=1x5 " + weights)
        .x(by(0))
        .y(constant(1))
        .want(constant(4. * 3. * 70000))
        .run();  // 0..6 average 3
    // 70000 input channels, then output channels, then both (depthwise).
    Golden("fprop n=1 c=70000 size=1x8 k=4 filter=1x5 " + types)
        .x([](const std::int64_t* i) { return i[1] % 70 == 0 ? 1. : 0.; })
        .w(constant(1))
        .want(constant(5000))
        .run();
    Golden("fprop n=1 c=4 size=4x4 k=70000 filter=1x1 " + types)
        .x(constant(1))
        .w(by(0))
        .want([](const std::int64_t* i) { return 4. * static_cast<double>(i[1] % 7); })
        .run();
    Golden("fprop n=1 c=70000 size=4x4 k=70000 filter=1x1 groups=70000 " + types)
        .x(by(1))
        .w(constant(2))
        .want([](const std::int64_t* i) { return 2. * static_cast<double>(i[1] % 7); })
        .run();
    Golden("dgrad n=1 c=70000 size=4x4 k=70000 filter=1x1 groups=70000 " + back)
        .y(by(1))
        .w(constant(2))
        .want([](const std::int64_t* i) { return 2. * static_cast<double>(i[1] % 7); })
        .run();
    Golden("wgrad n=1 c=70000 size=4x4 k=70000 filter=1x1 groups=70000 " + weights)
        .x(by(1))
        .y(constant(1))
        .want([](const std::int64_t* i) { return 16. * static_cast<double>(i[0] % 7); })
        .run();
  }
}

TEST(PublicBugs, A30_InfAndNanStayLocal) {
  for (const char* type : {"f32", "f16", "bf16"}) {
    const std::string t(type);
    const std::string types = "x=" + t + ":nhwc w=" + t + ":nhwc y=f32:nhwc";
    const std::string line = "fprop n=1 c=128 size=6x6 k=256 filter=3x3 " + types;
    Golden(line).x(constant(kInf)).w(constant(0.0078125)).want(constant(kInf)).run();
    Golden(line)
        .x([](const std::int64_t* i) { return i[1] == 5 && i[2] == 2 && i[3] == 2 ? kInf : 1; })
        .w(constant(1))
        .want([](const std::int64_t* i) { return i[2] <= 2 && i[3] <= 2 ? kInf : 1152.; })
        .run();
    Golden(line)
        .x(constant(1))
        .w([](const std::int64_t* i) { return i[0] + i[1] + i[2] + i[3] == 0 ? kNan : 1; })
        .want([](const std::int64_t* i) { return i[1] == 0 ? kNan : 1152.; })
        .run();
    Golden("fprop n=1 c=128 size=6x6 k=32 filter=3x3 pad=1x1 " + types)
        .x([](const std::int64_t* i) { return i[1] == 7 && i[2] == 0 && i[3] == 0 ? kNan : 1; })
        .w(constant(1))
        .want([](const std::int64_t* i) {
          const double rows = i[2] == 0 || i[2] == 5 ? 2 : 3, columns = i[3] == 0 || i[3] == 5 ? 2 : 3;
          return i[2] <= 1 && i[3] <= 1 ? kNan : 128 * rows * columns;
        })
        .run();
  }
}

TEST(PublicBugs, A31_RealFloat32) {
  Golden("fprop n=1 c=1 size=1x1 k=1 filter=1x1 x=f32:nhwc w=f32:nhwc y=f32:nhwc")
      .x(constant(2077))
      .w(constant(1))
      .want(constant(2077))
      .run();
  // Whole numbers up to 4000 whose sums stay below 2^24: exact in float32, not in TF32.
  verify::Rng rng(9);
  Golden g("fprop n=1 c=64 size=12x12 k=16 filter=3x3 pad=1x1 x=f32:nhwc w=f32:nhwc y=f32:nhwc");
  g.x([&](const std::int64_t*) { return static_cast<double>(rng.between(-4000, 4000)); });
  g.w([&](const std::int64_t*) { return static_cast<double>(rng.between(-7, 7)); });
  g.run();
  const Problem exact = parse("fprop n=1 c=1 size=1x1 k=1 filter=1x1 x=f32:nhwc w=f32:nhwc y=f32:nhwc");
  const Problem tf32 = parse("fprop n=1 c=1 size=1x1 k=1 filter=1x1 compute=fastf32 x=f32:nhwc w=f32:nhwc y=f32:nhwc");
  EXPECT_NE(exact.hash(), tf32.hash()) << "TF32 must be part of every key";
}

TEST(PublicBugs, A32_Fp8Saturates) {
  const auto run = [](const char* out, std::vector<double> want, double x) {
    Golden(std::string("fprop n=1 c=64 size=1x1 k=3 filter=1x1 x=e4m3:nhwc w=e4m3:nhwc y=") + out +
           ":nhwc epi=%1=f32.channel;%2=mul(%0,%1)")
        .x(constant(x))
        .w([](const std::int64_t* i) { return i[0] == 1 ? -8. : 8.; })
        .operand(0, [](const std::int64_t* i) { return i[1] == 2 ? 0.0625 : 1.; })
        .want([=](const std::int64_t* i) { return want[static_cast<std::size_t>(i[1])]; })
        .run();
  };
  run("e4m3", {448, -448, 256}, 8);
  run("e5m2", {4096, -4096, 256}, 8);
  run("e5m2", {57344, -57344, 8192}, 256);  // |acc| = 131072
  run("e4m3", {kNan, kNan, kNan}, kNan);
  run("e5m2", {kNan, kNan, kNan}, kNan);
}

TEST(PublicBugs, A33_PlanRunAgainLater) {
  const Problem p = parse(
      "fprop n=2 c=64 size=28x28 k=64 filter=3x3 pad=1x1 x=s8:nc4 w=s8:nhwc y=s8:nc4 "
      "epi=%1=s32.channel;%2=f32.channel;%3=s8.full:nc4;%4=f32.scalar(0.5);%5=add(%0,%1):s32;%6=mul(%5,%2);%7=mul(%3,%4);"
      "%8=add(%6,%7);%9=relu_fwd(%8)");
  std::unique_ptr<verify::Case> c, other_weights;
  verify::Options options;
  options.runs = 2;
  ASSERT_TRUE(verify::Case::make(p, options, c).is_good());
  options.seed = 99;
  ASSERT_TRUE(verify::Case::make(p, options, other_weights).is_good());
  for (const Target& target : cpu_targets()) {
    if (!target.engine->accepts(p, target.device)) {
      EXPECT_FALSE(meant_for(target, p)) << target.name();
      continue;
    }
    std::unique_ptr<Plan> plan;
    ASSERT_TRUE(build_plan(p, target.engine->specs(p, target.device).front(), target.device, {}, plan).is_good());
    EXPECT_TRUE(c->check(*plan).right) << target.name();
    for (int i = 0; i < 50; ++i) {
      const char* type = i % 3 == 0 ? "f16" : i % 3 == 1 ? "s8" : "f32";
      const std::string line = std::string("fprop n=1 c=") + std::to_string(3 + i) +
                               " size=9x9 k=" + std::to_string(5 + 2 * i) + " filter=3x3 x=" + type + ":nhwc w=" + type +
                               ":nhwc y=" + (i % 3 == 1 ? "s32" : type) + ":nhwc";
      for (const verify::Report& r : verify::verify_problem(parse(line), target.device, {}))
        EXPECT_TRUE(r.right) << r.engine << ": " << r.message;
    }
    EXPECT_TRUE(other_weights->check(*plan).right) << target.name() << ": weights of the first call were kept";
    EXPECT_TRUE(c->check(*plan).right) << target.name();
  }
}

TEST(PublicBugs, A34_TheKeyHoldsEverything) {
  const std::string head = "fprop n=1 c=1 size=9x9 k=1 filter=3x3 ", types = " x=f32:nhwc w=f32:nhwc y=f32:nhwc";
  const auto x = [](const std::int64_t* i) { return static_cast<double>(9 * i[2] + i[3]); };
  const auto sum = [](int d) {
    return [d](const std::int64_t* i) {
      double s = 0;
      for (std::int64_t r = i[2] - d; r <= i[2] + d; r += d)
        for (std::int64_t c = i[3] - d; c <= i[3] + d; c += d)
          if (r >= 0 && r < 9 && c >= 0 && c < 9) s += static_cast<double>(9 * r + c);
      return s;
    };
  };
  const std::int64_t corner[4] = {}, top[4] = {0, 0, 0, 4};
  EXPECT_EQ(sum(1)(corner), 20);
  EXPECT_EQ(sum(2)(corner), 40);
  EXPECT_EQ(sum(1)(top), 51);
  EXPECT_EQ(sum(2)(top), 78);
  Golden(head + "pad=1x1" + types).x(x).w(constant(1)).want(sum(1)).run();
  Golden(head + "pad=2x2 dil=2x2" + types).x(x).w(constant(1)).want(sum(2)).run();
  const std::string lines[] = {head + "pad=1x1" + types,
                               head + "pad=2x2 dil=2x2" + types,
                               head + "pad=1x1 mode=conv" + types,
                               head + "pad=1x1 compute=fastf32" + types,
                               head + "pad=1x1" + types + " epi=%1=relu_fwd(%0)",
                               head + "pad=1x1" + types + " epi=%1=f32.scalar(2);%2=mul(%0,%1)",
                               head + "pad=1x1" + types + " epi=%1=f32.scalar(3);%2=mul(%0,%1)",
                               head + "pad=1x1" + types + " epi=%1=f32.full;%2=add(%0,%1)",
                               head + "pad=0x0:2x2" + types,
                               head + "pad=1x1 x=f32:nhwc w=f32:nhwc y=f16:nhwc",
                               "dgrad n=1 c=1 size=9x9 k=1 filter=3x3 pad=1x1 y=f32:nhwc w=f32:nhwc x=f32:nhwc"};
  std::vector<Hash128> seen;
  for (const std::string& line : lines) seen.push_back(parse(line).hash());
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end()) << "two different problems have one key";
}

TEST(PublicBugs, A35_EightThreadsShareAPlan) {
  const Problem p = parse("fprop n=8 c=32 size=28x28 k=32 filter=3x3 pad=1x1 x=f16:nhwc w=f16:nhwc y=f16:nhwc");
  verify::Data data(p, 4, verify::Fill::reals);
  for (const Target& target : cpu_targets()) {
    if (!target.engine->accepts(p, target.device)) {
      EXPECT_FALSE(meant_for(target, p)) << target.name();
      continue;
    }
    std::unique_ptr<Plan> plan;
    ASSERT_TRUE(build_plan(p, target.engine->specs(p, target.device).front(), target.device, {}, plan).is_good());
    const auto run = [&](std::vector<verify::GuardedBuffer>& outputs) {
      verify::GuardedBuffer workspace(plan->workspace_bytes(), 0xff);
      void* addresses[] = {outputs[0].data()};
      Args args = data.args();
      args.outputs = addresses, args.workspace = workspace.data();
      return plan->execute(args);
    };
    std::vector<verify::GuardedBuffer> alone = verify::make_outputs(p);
    ASSERT_TRUE(run(alone).is_good());
    // The report's 1,000 runs on the fast level; a few on those that are slow.
    const bool fast = target.engine->name() != "cpu_reference" && target.device.isa == host_cpu().isa;
    const int each = std::max(2, scaled(fast ? 125 : 3));
    std::vector<std::thread> threads;
    std::vector<int> wrong(8, 0);
    for (std::size_t t = 0; t < 8; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < each; ++i) {
          std::vector<verify::GuardedBuffer> mine = verify::make_outputs(p);
          wrong[t] += run(mine).is_bad() || mine[0].checksum() != alone[0].checksum() || !mine[0].intact();
        }
      });
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(wrong, std::vector<int>(8, 0)) << target.name();
    // And the bits do not depend on the number of threads.
    for (const int n : {1, 2, 3, 5}) {
      set_num_threads(n);
      std::vector<verify::GuardedBuffer> mine = verify::make_outputs(p);
      EXPECT_TRUE(run(mine).is_good());
      EXPECT_EQ(mine[0].checksum(), alone[0].checksum()) << target.name() << " with " << n << " threads";
    }
    set_num_threads(0);
  }
}

TEST(PublicBugs, A36_BadArgumentsAreNamed) {
  struct Row {
    const char* line;
    const char* names;  ///< must be in the message
  };
  const Row rows[] = {
      {"fprop n=1 c=4 size=5x5 k=5 filter=3x3 groups=2 x=f32 w=f32 y=f32", "K=5"},
      {"fprop n=1 c=4 size=5x5 k=4 filter=3x3 groups=0 x=f32 w=f32 y=f32", "groups"},
      {"fprop n=1 c=4 size=5x5 k=4 filter=3x3 stride=0x0 x=f32 w=f32 y=f32", "tride"},
      {"fprop n=1 c=4 size=5x5 k=4 filter=3x3 dil=0x0 x=f32 w=f32 y=f32", "ilation"},
      {"fprop n=1 c=4 size=2x2 k=4 filter=3x3 x=f32 w=f32 y=f32", "filter"},
      {"fprop n=1 c=4 size=5x5 k=4 filter=3x3 x=f32 w=f32 y=f32 epi=%1=f32[1,5,1,1];%2=add(%0,%1)", "[1,5,1,1]"},
      {"fprop n=1 c=6 size=5x5 k=4 filter=3x3 groups=4 x=f32 w=f32 y=f32", "c=6"},
      {"fprop n=1 c=4 size=5x5 k=4 filter=3x3 groups=-9223372036854775808 x=f32 w=f32 y=f32", "groups"},
      {"fprop n=1 c=4 size=5x5 k=4 filter=3x3 pad=-1x-1 x=f32 w=f32 y=f32", "adding"},
      {"fprop n=1 c=4 size=5x5 k=4 filter=3x3 x=f32:100,-1,5,1 w=f32 y=f32", "-1"},
      {"fprop n=1 c=4 size=5x5 k=4 filter=3x3 x=f32 w=f32 y=f32:36,0,3,1", "overlap"},
  };
  for (const Row& row : rows) {
    Problem p;
    const error_t e = parse_problem(row.line, p);
    EXPECT_TRUE(e.is_bad()) << row.line;
    EXPECT_EQ(e.code, error_code_t::INVALID_VALUE) << row.line;
    EXPECT_NE(e.err_msg.find(row.names), std::string::npos) << row.line << "\n" << e.err_msg;
  }
  // C=6 with a filter that expects 4; built by hand, because the text cannot say it. Every engine declines, none crashes.
  Problem p = parse("fprop n=1 c=4 size=5x5 k=4 filter=3x3 x=f32 w=f32 y=f32");
  p.x.dim[1] = 6;
  EXPECT_TRUE(p.validate().is_bad());
  for (const EngineVerdict& row : verdicts(p, host_cpu())) {
    EXPECT_FALSE(row.verdict.accepted) << row.engine->name();
    EXPECT_FALSE(row.verdict.reason.empty()) << row.engine->name();
  }
}

TEST(PublicBugs, A37_NothingOutsideTheBuffers) {
  // The guards and the inputs' checksums are part of every case; this is the reported layer.
  const int n = std::getenv("OCTAVO_TEST_BIG") != nullptr ? 155 : 7;
  for (const char* direction : {"wgrad", "fprop", "dgrad"})
    Golden::random(
        std::string(direction) + " n=" + std::to_string(n) + " c=2 size=64x64 k=64 filter=5x5 x=f32:nhwc w=f32:nhwc y=f32:nhwc",
        71, verify::Fill::reals)
        .run();
}

TEST(PublicBugs, A38_ChannelsThatAreNoMultiple) {
  for (const int c : {18, 36})
    for (const char* layout : {"nhwc", "nc32"}) {
      const std::string text = std::to_string(c), l(layout);
      Golden::random(
          "fprop n=1 c=" + text + " size=128x240 k=" + text + " filter=3x3 pad=1x1 x=s8:" + l + " w=s8:nhwc y=s32:" + l, 73)
          .run();
    }
}

}  // namespace
}  // namespace octavo::testing
