// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// The launch path on the fake driver. Oracle: cpu_reference, exact or within the computed bound (src/verify). The fake runs
// the kernels' own source on the host, so index arithmetic, epilogues and argument passing are the real ones.

#include <fstream>

#include "device/cuda_device.h"
#include "device/cuda_memory.h"
#include "octavo/engine.h"
#include "support.h"
#include "verify/device_memory.h"
#include "verify/mode_problems.h"
#include "verify/random_problem.h"

namespace octavo {
namespace {

using testing::Counts;
using testing::fake_counts;

/// Engines whose kernels the fake driver can run.
bool runs_on_fake(std::string_view engine) {
  return engine == "cuda_simt" || engine == "cuda_depthwise" || engine == "cuda_mma";
}

class Launch : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = testing::no_nvrtc(); !why.empty()) GTEST_SKIP() << "not observed: " << why;
    auto found = cuda::device(0);
    ASSERT_TRUE(found.ok()) << found.error().err_msg;
    device = *found;
    auto made = verify::memory_for(device);
    ASSERT_TRUE(made.ok()) << made.error().err_msg;
    memory = std::move(*made);
  }

  void check(const Problem& problem, verify::Options options, int& runs) {
    options.memory = memory.get();
    std::unique_ptr<verify::Case> made;
    const error_t e = verify::Case::make(problem, options, made);
    ASSERT_TRUE(e.is_good()) << e.err_msg;
    int accepted = 0;
    for (const EngineVerdict& row : verdicts(problem, device)) {
      if (!row.verdict || !runs_on_fake(row.engine->name())) continue;
      ++accepted;
      int tried = 0;
      for (const PlanSpec& spec : row.engine->specs(problem, device)) {
        const verify::Report report = made->check(spec, device);
        EXPECT_TRUE(report.right) << spec.engine << ":" << spec.config << " " << problem.to_string() << " seed " << options.seed
                                  << "\n"
                                  << report.message;
        if (++runs; ++tried == most_specs_) break;
      }
    }
    EXPECT_GE(accepted, 1) << "cuda_simt declines a legal problem: " << problem.to_string();
  }

  DeviceTraits device;
  std::unique_ptr<verify::Memory> memory;
  int most_specs_ = 1;
};

void each_smoke_line(const std::function<void(const Problem&)>& visit) {
  std::ifstream in(OCTAVO_TEST_SMOKE);
  ASSERT_TRUE(in.good());
  int count = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    Problem problem;
    const error_t e = parse_problem(line, problem);
    ASSERT_TRUE(e.is_good()) << line << "\n" << e.err_msg;
    visit(problem);
    ++count;
  }
  EXPECT_GE(count, 20);
}

TEST_F(Launch, smoke_list) {
  int runs = 0;
  each_smoke_line([&](const Problem& p) { check(p, {}, runs); });
  EXPECT_GE(runs, 24);
}

TEST_F(Launch, random_problems) {
  verify::ProblemRange range;
  range.max_multiply_adds = 2e5;
  verify::Rng rng(20261130);
  int runs = 0;
  for (int i = 0; i < 24; ++i) {
    verify::Options options;
    options.seed = static_cast<std::uint64_t>(i);
    options.runs = i % 4 == 0 ? 2 : 1;
    options.constant_filter = i % 5 == 0;
    options.misalign_elements = i % 3 == 0 ? 1 : 0;
    check(verify::random_problem(rng, range), options, runs);
  }
  EXPECT_GE(runs, 20);
}

/// Every pointwise mode in every compute type, on zeros of both signs, infinities, NaN, subnormals and the ends of integers:
/// the generated epilogue as C++ against the oracle's evaluation.
TEST_F(Launch, every_mode_at_the_edges) {
  int runs = 0;
  for (const DataType_t input : {DataType_t::INT32, DataType_t::FLOAT, DataType_t::DOUBLE}) {
    for (const Problem& problem : verify::mode_problems(input)) {
      ASSERT_TRUE(problem.validate().is_good()) << problem.validate().err_msg;
      verify::Options options;
      options.fill = verify::Fill::edges;
      check(problem, options, runs);
    }
  }
  EXPECT_GE(runs, 12);
}

/// A filter one plane deep with padding in depth sees planes of padding only.
TEST_F(Launch, depth_padding) {
  int runs = 0;
  for (const char* line : {
           "fprop n=3 c=16 size=1x3x3 k=10 filter=1x1x1 pad=1x0x3 stride=4x1x3 dil=1x1x2 groups=2 mode=conv x=u8:nhwc "
           "w=u8:nhwc "
           "y=s32:nhwc",
           "fprop n=1 c=32 size=2x5x5 k=32 filter=1x3x3 pad=2x1x1 x=s8:nhwc w=s8:nhwc y=s32:nhwc",
           "fprop n=1 c=32 size=1x5x5 k=32 filter=1x3x3 pad=1x1x1 x=s8:nhwc w=s8:nhwc y=s32:nhwc",
           "dgrad n=4 c=3 size=2x2x2 k=1 filter=1x3x5 pad=0x3x4:0x0x4 stride=3x2x4 x=f32:nhwc w=bf16:nhwc y=bf16:nchw",
       }) {
    Problem problem;
    const error_t e = parse_problem(line, problem);
    ASSERT_TRUE(e.is_good()) << line << "\n" << e.err_msg;
    EXPECT_TRUE(find_engine("cuda_mma")->accepts(problem, device).accepted) << line;
    check(problem, {}, runs);
  }
  EXPECT_GE(runs, 8);
}

/// Depthwise and narrow groups of every path, layout, epilogue and edge, on several configurations each.
TEST_F(Launch, depthwise) {
  most_specs_ = 2;
  int runs = 0, seed = 0;
  for (const char* line : {
           "fprop n=2 c=32 size=9x11 k=32 filter=3x3 pad=1x1 groups=32 x=s8:nhwc w=s8:nhwc y=s8:nhwc zx=5 "
           "epi=%1=f32.channel;%2=mul(%0,%1)",
           "fprop n=1 c=64 size=7x13 k=64 filter=5x5 pad=2x2 stride=2x2 groups=64 x=u8:nc32 w=s8:nhwc y=u8:nc32 "
           "epi=%1=f32.channel;%2=mul(%0,%1)",
           "fprop n=1 c=24 size=6x9 k=24 filter=3x5 pad=1x2 dil=1x2 groups=24 mode=conv x=f16:nhwc w=f16:nchw y=f16:nhwc",
           "fprop n=1 c=32 size=8x8 k=32 filter=3x3 pad=1x1 groups=8 x=s8:nhwc w=s8:nhwc y=s32:nhwc zx=-7",
           "fprop n=1 c=32 size=8x8 k=32 filter=3x3 pad=1x1 groups=4 x=u8:nhwc w=u8:nhwc y=s32:nhwc zw=3",
           "fprop n=1 c=12 size=8x7 k=12 filter=3x3 pad=1x1 stride=1x2 groups=6 x=bf16:nhwc w=bf16:nhwc y=f32:nchw",
           "dgrad n=2 c=16 size=8x9 k=16 filter=3x3 pad=1x1 groups=16 x=f16:nhwc w=f16:nhwc y=f16:nhwc",
           "dgrad n=1 c=8 size=8x9 k=8 filter=3x4 pad=0x1 dil=2x1 groups=8 x=s8:nhwc w=s8:nhwc y=s8:nhwc",
           "fprop n=1 c=33 size=17 k=33 filter=7 pad=3 groups=33 x=f32:nhwc w=f32:nhwc y=f32:nhwc",
       }) {
    Problem problem;
    const error_t e = parse_problem(line, problem);
    ASSERT_TRUE(e.is_good()) << line << "\n" << e.err_msg;
    const Verdict verdict = find_engine("cuda_depthwise")->accepts(problem, device);
    EXPECT_TRUE(verdict.accepted) << line << "\n" << verdict.reason;
    verify::Options options;
    options.seed = static_cast<std::uint64_t>(++seed);
    options.misalign_elements = seed % 4 == 2 ? 1 : 0;
    check(problem, options, runs);
  }
  EXPECT_GE(runs, 20);
}

/// A small problem bound to device memory.
struct Bound {
  Problem problem;
  std::unique_ptr<verify::Data> data;
  verify::Expected expected;
  std::vector<cuda::Buffer> buffers;
  std::vector<const void*> operands;
  std::vector<void*> outputs;
  std::unique_ptr<Plan> plan;
  Args args;
  void* y = nullptr;

  void make(const DeviceTraits& device) {
    error_t e = parse_problem(
        "fprop n=1 c=8 size=5x6 k=8 filter=3x3 pad=1x1 x=s8:nhwc w=s8:nhwc y=s8:nhwc epi=%1=f32.channel;%2=mul(%0,%1)",
        problem);
    ASSERT_TRUE(e.is_good()) << e.err_msg;
    data = std::make_unique<verify::Data>(problem, 3, verify::Fill::automatic);
    e = verify::Expected::compute(problem, *data, expected);
    ASSERT_TRUE(e.is_good()) << e.err_msg;
    const auto put = [&](const verify::GuardedBuffer& host) -> void* {
      buffers.emplace_back();
      EXPECT_TRUE(cuda::Buffer::allocate(device.ordinal, host.size(), buffers.back()).is_good());
      EXPECT_TRUE(buffers.back().upload(host.data(), host.size()).is_good());
      return buffers.back().data();
    };
    args.x = put(data->x);
    args.w = put(data->w);
    operands.push_back(put(data->operands[0]));
    outputs.push_back(put(verify::make_outputs(problem)[0]));
    y = outputs[0];
    args.operands = operands;
    args.outputs = outputs;
    e = build_plan(problem, {"cuda_simt", "", 0}, device, {}, plan);
    ASSERT_TRUE(e.is_good()) << e.err_msg;
  }
  std::string judge() {
    std::vector<verify::GuardedBuffer> got = verify::make_outputs(problem);
    EXPECT_TRUE(buffers.back().download(got[0].data(), got[0].size()).is_good());
    return expected.judge(problem, *data, got);
  }
  void spoil() { EXPECT_TRUE(buffers.back().fill(0x5a).is_good()); }
};

TEST_F(Launch, execute_neither_allocates_nor_synchronises) {
  Bound b;
  b.make(device);
  const Counts before = fake_counts();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(b.plan->execute(b.args).is_good());
  const Counts after = fake_counts();
  EXPECT_EQ(after.launches, before.launches + 10);
  EXPECT_EQ(after.allocations, before.allocations);
  EXPECT_EQ(after.synchronisations, before.synchronisations);
  EXPECT_EQ(b.judge(), "");
}

TEST_F(Launch, capture_records_the_launch_and_replays_it) {
  Bound b;
  b.make(device);
  const cuda::Driver& d = *cuda::driver();
  cuda::Context context = nullptr;
  ASSERT_TRUE(cuda::primary_context(0, context).is_good());
  const cuda::CurrentContext current(context);
  cuda::Stream stream = nullptr;
  cuda::Graph graph = nullptr;
  cuda::GraphExec exec = nullptr;
  ASSERT_EQ(d.StreamCreate(&stream, 1), 0);
  ASSERT_EQ(d.StreamBeginCapture(stream, 2), 0);
  b.args.stream = stream;
  ASSERT_TRUE(b.plan->execute(b.args).is_good());
  ASSERT_EQ(d.StreamEndCapture(stream, &graph), 0);
  EXPECT_NE(b.judge(), "") << "captured work ran at once";
  std::size_t nodes = 0;
  ASSERT_EQ(d.GraphGetNodes(graph, nullptr, &nodes), 0);
  EXPECT_EQ(nodes, 1u);
  ASSERT_EQ(d.GraphInstantiate(&exec, graph, 0), 0);
  for (int replay = 0; replay < 2; ++replay) {
    b.spoil();
    ASSERT_EQ(d.GraphLaunch(exec, stream), 0);
    EXPECT_EQ(b.judge(), "");
  }
  d.GraphExecDestroy(exec);
  d.GraphDestroy(graph);
  d.StreamDestroy(stream);
}

TEST_F(Launch, failures_are_errors_and_pass) {
  Bound b;
  b.make(device);
  testing::fail_launches(1);
  const error_t e = b.plan->execute(b.args);
  EXPECT_EQ(e.code, error_code_t::GRAPH_EXECUTION_FAILED);
  EXPECT_NE(e.err_msg.find("CUDA_ERROR_FAKE"), std::string::npos) << e.err_msg;
  EXPECT_TRUE(b.plan->execute(b.args).is_good());
  EXPECT_EQ(b.judge(), "");
  Args missing = b.args;
  missing.x = nullptr;
  EXPECT_EQ(b.plan->execute(missing).code, error_code_t::INVALID_VARIANT_PACK);
  missing = b.args;
  missing.outputs = {};
  EXPECT_EQ(b.plan->execute(missing).code, error_code_t::INVALID_VARIANT_PACK);
  cuda::Buffer huge;
  EXPECT_EQ(cuda::Buffer::allocate(0, std::size_t{1} << 50, huge).code, error_code_t::CUDA_API_FAILED);
}

TEST_F(Launch, memory_comes_back) {
  const Counts before = fake_counts();
  {
    Bound b;
    b.make(device);
    EXPECT_GT(fake_counts().live, before.live);
  }
  EXPECT_EQ(fake_counts().live, before.live);
}

TEST(Pointers, host_foreign_and_null_are_errors) {
  cuda::Buffer own, other;
  ASSERT_TRUE(cuda::Buffer::allocate(0, 1000, own).is_good());
  ASSERT_TRUE(cuda::Buffer::allocate(1, 1000, other).is_good());
  int host = 0;
  EXPECT_TRUE(cuda::check_pointer(own.data(), 0, "Tensor x").is_good());
  EXPECT_TRUE(cuda::check_pointer(static_cast<char*>(own.data()) + 999, 0, "Tensor x").is_good());
  for (const auto& [pointer, word] : {std::pair<const void*, const char*>{&host, "host memory"},
                                      {other.data(), "CUDA device 1"},
                                      {nullptr, "null pointer"}}) {
    const error_t e = cuda::check_pointer(pointer, 0, "Tensor x");
    EXPECT_EQ(e.code, error_code_t::INVALID_VARIANT_PACK);
    EXPECT_NE(e.err_msg.find(word), std::string::npos) << e.err_msg;
    EXPECT_EQ(e.err_msg.rfind("Tensor x", 0), 0u) << e.err_msg;
  }
  EXPECT_EQ(cuda::pointer_device(own.data()), 0);
  EXPECT_EQ(cuda::pointer_device(other.data()), 1);
  EXPECT_EQ(cuda::pointer_device(&host), -1);
}

}  // namespace
}  // namespace octavo
