// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// cpu_native takes every s8/u8 problem that the oracle takes, on every instruction set, and keeps little work on the caller.

#include <filesystem>

#include "core/parallel.h"
#include "native/native_test.h"

namespace octavo::native_test {
namespace {

TEST(NativeInt8, AcceptsWhatTheOracleAccepts) {
  const Engine *native = find_engine("cpu_native"), *oracle = find_engine("cpu_reference");
  ASSERT_TRUE(native && oracle);
  verify::ProblemRange range;
  range.types = {DataType_t::INT8, DataType_t::UINT8};
  int index_behind_stride = 0;
  for (int i = 0; i < scaled(4000); ++i) {
    verify::Rng rng(static_cast<std::uint64_t>(i) + 90001);
    const Problem p = verify::random_problem(rng, range);
    ASSERT_TRUE(oracle->accepts(p, host_cpu())) << p.to_string();
    for (const DeviceTraits& device : forced_devices()) {
      const Verdict verdict = native->accepts(p, device);
      ASSERT_TRUE(verdict) << to_string(device.isa) << ": " << verdict.reason << "\n  " << p.to_string();
    }
    for (const Epilogue::Node& node : p.epilogue.nodes) {
      if (p.direction == Direction::dgrad && p.stride[0] > 1 && node.mode == PointwiseMode_t::GEN_INDEX) {
        ++index_behind_stride;
        verify::Options options;
        options.seed = static_cast<std::uint64_t>(i);
        check_everywhere(p, "dgrad_s8", options);
        break;
      }
    }
  }
  EXPECT_GT(index_behind_stride, 0);
}

#if defined(__linux__)
int threads_of_process() {
  int n = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) n += entry.exists();
  return n;
}

TEST(NativeInt8, LittleWorkStaysOnTheCaller) {
  const char* little[] = {
      "fprop n=1 c=8 size=6x6 k=16 filter=3x3 pad=1x1 x=s8:nhwc w=s8:nhwc y=s8:nhwc",
      "fprop n=1 c=32 size=6x6 k=32 filter=3x3 pad=1x1 groups=32 x=s8:nhwc w=s8:nhwc y=s8:nhwc",
      "fprop n=1 c=32 size=6x6 k=32 filter=3x3 pad=1x1 groups=8 x=s8:nhwc w=s8:nhwc y=s8:nhwc",
      "dgrad n=1 c=8 size=6x6 k=16 filter=3x3 pad=1x1 stride=2x2 x=s8:nhwc w=s8:nhwc y=s8:nhwc",
      "wgrad n=1 c=8 size=6x6 k=16 filter=3x3 pad=1x1 x=s8:nhwc w=s32:nhwc y=s8:nhwc",
  };
  const DeviceTraits device = with_isa(host_cpu(), CpuIsa::avx512_vnni);
  const Engine* engine = find_engine("cpu_native");
  for (const char* line : little) {
    const Problem p = problem_of(line);
    const verify::Data data(p, 1, verify::Fill::automatic);
    std::vector<verify::GuardedBuffer> outputs = verify::make_outputs(p);
    std::vector<void*> addresses;
    for (verify::GuardedBuffer& o : outputs) addresses.push_back(o.data());
    // The pool is made anew by the first use with another number of threads: 5 workers until then, 3 afterwards.
    const auto use_pool = [] { parallel_for(100, [](std::int64_t, int) {}); };
    set_num_threads(6);
    use_pool();
    const int before = threads_of_process();
    set_num_threads(4);
    std::unique_ptr<Plan> plan;
    ASSERT_TRUE(engine->build(p, engine->specs(p, device).front(), device, {}, plan).is_good()) << line;
    std::vector<std::byte> workspace(plan->workspace_bytes());
    Args args = data.args();
    args.outputs = addresses;
    args.workspace = workspace.data();
    ASSERT_TRUE(plan->execute(args).is_good()) << line;
    EXPECT_EQ(threads_of_process(), before) << line << " used the pool (" << plan->describe() << ")";
    use_pool();
    EXPECT_EQ(threads_of_process(), before - 2) << "the test cannot see the pool";
  }
  set_num_threads(0);
}
#endif

}  // namespace
}  // namespace octavo::native_test
