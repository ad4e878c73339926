// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// The bf16 paths on AMX: on emulated tiles everywhere, on the real ones where the processor has them. Oracle: cpu_reference
// and its computed bound.

#include "float_support.h"
#include "native/native_test.h"

namespace octavo {
namespace {

const std::vector<std::string> kNames{"amx_bf16", "amx_bf16_wgrad"};

const char* kShapes[] = {
    "n=1 c=64 size=8x20 k=64 filter=3x3 pad=1x1",
    "n=1 c=1 size=5x5 k=1 filter=3x3",
    "n=2 c=72 size=9x11 k=48 filter=5x3 pad=2x1 stride=2x2",
    "n=2 c=40 size=13x12 k=33 filter=3x3 pad=1x1 stride=2x3",
    "n=1 c=3 size=31x30 k=24 filter=7x7 pad=3x3 stride=2x2",
    "n=3 c=19 size=7x7 k=37 filter=3x3 pad=1x1",
    "n=5 c=32 size=7x7 k=16 filter=3x3 pad=1x1",
    "n=2 c=8 size=9x11 k=80 filter=3x3 pad=4x6 dil=4x6",
    "n=2 c=24 size=9x11 k=36 filter=3x3 pad=1x1 groups=4",
    "n=1 c=6 size=5x6x7 k=18 filter=3x2x3 pad=1x0x1",
    "n=2 c=148 size=7x7 k=144 filter=1x1",
    "n=1 c=96 size=3x5 k=40 filter=1x1",
    "n=4 c=64 size=40x41 k=20 filter=1x1",
    "n=2 c=30 size=12x14 k=20 filter=1x1 stride=2x2",
    "n=1 c=40 size=4x750 k=24 filter=3x3 pad=1x1",
    "n=2 c=16 size=5x90 k=10 filter=1x1 stride=1x3",
};

const char* kTypes[] = {"x=bf16:nhwc w=bf16:nhwc y=bf16:nhwc", "x=bf16:nchw w=bf16:nchw y=bf16:nchw",
                        "x=bf16:nhwc w=bf16:nhwc y=f32:nhwc"};

TEST(AmxBf16, NamedShapes) {
  std::uint64_t seed = 1;
  for (const char* direction : {"fprop ", "dgrad ", "wgrad "}) {
    for (const char* shape : kShapes) {
      for (const std::string types : kTypes) {
        if (direction[0] != 'f' && types.find("f32") != std::string::npos) continue;
        const Problem p = native_test::problem_of(direction + std::string(shape) + " " + types);
        const verify::Data data(p, ++seed, verify::Fill::automatic);
        EXPECT_GT(native_test::check_paths(p, data, kNames, seed / 2), 0) << p.to_string();
        if (HasFailure()) return;
      }
    }
  }
}

// Denormals, and products that would be denormals: AMX would count them as zero, the contract does not.
TEST(AmxBf16, TinyValues) {
  std::uint64_t seed = 1;
  for (const char* shape : kShapes) {
    const Problem p = native_test::problem_of("fprop " + std::string(shape) + " x=bf16:nhwc w=bf16:nhwc y=f32:nhwc");
    if (p.x.dim[2] > 40) continue;
    for (const double scale : {0x1p-130, 0x1p-122, 0x1p-90}) {
      verify::Data data(p, ++seed, verify::Fill::integers);
      verify::set_elements(p.x, data.x.data(),
                           [&](const std::int64_t* i) { return scale * verify::get_element(p.x, data.x.data(), i); });
      verify::set_elements(p.w, data.w.data(),
                           [&](const std::int64_t* i) { return 0x1p-14 * verify::get_element(p.w, data.w.data(), i); });
      verify::Expected expected;
      ASSERT_TRUE(verify::Expected::compute(p, data, expected).is_good());
      for (const native_test::Run& run : native_test::runs_of(p, kNames)) {
        std::vector<verify::GuardedBuffer> got;
        ASSERT_EQ(native_test::run_candidate(*run.path, p, run.config, run.traits, data, true, got), "");
        const std::string wrong = expected.judge(p, data, got);
        EXPECT_EQ(wrong, "") << run.to_string() << " " << p.to_string();
        // Not all zero.
        const std::byte* bytes = got[0].data();
        EXPECT_TRUE(
            std::any_of(bytes, bytes + got[0].size(), [](std::byte b) { return b != std::byte{0} && b != std::byte{0x80}; }));
      }
      if (HasFailure()) return;
    }
  }
}

TEST(AmxBf16, SaysNoWithoutAmx) {
  const Problem p =
      native_test::problem_of("fprop n=1 c=64 size=8x20 k=64 filter=3x3 pad=1x1 x=bf16:nhwc w=bf16:nhwc y=bf16:nhwc");
  for (const PlanSpec& spec : find_engine("cpu_native")->specs(p, with_isa(host_cpu(), CpuIsa::avx512_vnni))) {
    EXPECT_NE(spec.config.rfind("amx", 0), 0u) << spec.config;
  }
}

}  // namespace
}  // namespace octavo
