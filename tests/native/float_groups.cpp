// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Depthwise and narrow groups at the edges of vectors, and the same bits at any thread count. Oracle: cpu_reference.

#include <cstring>

#include "float_support.h"

namespace octavo {
namespace {

struct Shape {
  std::int64_t n, groups, cg, kg, h, w, r, s, stride, pad, dilation;
};

Problem make(Direction direction, DataType_t type, const Shape& v, const char* layout) {
  Problem p;
  p.direction = direction;
  const auto set = [&](TensorDesc& t, std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
    t.type = type;
    t.rank = 4;
    t.dim = {a, b, c, d, 0};
    EXPECT_TRUE(set_layout(t, layout));
  };
  const auto out = [&](std::int64_t in, std::int64_t filter) {
    return 1 + (in + 2 * v.pad - v.dilation * (filter - 1) - 1) / v.stride;
  };
  set(p.x, v.n, v.groups * v.cg, v.h, v.w);
  set(p.w, v.groups * v.kg, v.cg, v.r, v.s);
  set(p.y, v.n, v.groups * v.kg, out(v.h, v.r), out(v.w, v.s));
  p.pre_pad = {v.pad, v.pad, 0};
  p.post_pad = {v.pad, v.pad, 0};
  p.stride = {v.stride, v.stride, 1};
  p.dilation = {v.dilation, v.dilation, 1};
  p.compute = DataType_t::FLOAT;
  Epilogue::Output output;
  output.desc = p.result();
  p.epilogue.outputs.push_back(output);
  p.result().type = DataType_t::FLOAT;
  p.result().stride = {};
  p.result().vector = 1;
  return p;
}

const std::vector<std::string> kNames{"direct_float",      "direct_float_lanes", "wgrad_float",
                                      "wgrad_float_lanes", "amx_bf16",           "amx_bf16_wgrad"};

TEST(FloatGroups, EdgesOfVectors) {
  std::uint64_t seed = 1;
  for (const Direction direction : {Direction::fprop, Direction::dgrad, Direction::wgrad}) {
    for (const Shape& v : {Shape{2, 32, 1, 1, 9, 17, 3, 3, 1, 1, 1}, Shape{1, 48, 1, 1, 7, 7, 3, 3, 2, 1, 1},
                           Shape{1, 33, 1, 1, 6, 15, 3, 3, 1, 1, 1}, Shape{1, 15, 1, 1, 5, 5, 5, 5, 1, 2, 1},
                           Shape{1, 64, 1, 1, 12, 10, 3, 3, 1, 2, 2}, Shape{2, 16, 1, 2, 8, 9, 3, 3, 2, 1, 1},
                           Shape{1, 8, 4, 4, 9, 8, 3, 3, 1, 1, 1}, Shape{1, 5, 8, 8, 6, 6, 3, 3, 1, 1, 1},
                           Shape{1, 7, 3, 5, 6, 7, 3, 2, 1, 1, 1}, Shape{1, 6, 8, 2, 7, 9, 1, 1, 1, 0, 1},
                           Shape{1, 32, 1, 1, 2, 3, 3, 3, 1, 3, 1}}) {
      for (const DataType_t type : {DataType_t::FLOAT, DataType_t::BFLOAT16, DataType_t::HALF}) {
        const Problem p = make(direction, type, v, seed % 3 == 0 ? "nchw" : "nhwc");
        ASSERT_TRUE(p.validate().is_good()) << p.validate().err_msg;
        const verify::Data data(p, seed, verify::Fill::automatic);
        EXPECT_GT(native_test::check_paths(p, data, kNames, seed), 1);
        ++seed;
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

std::vector<std::byte> run_with(const native_test::Run& run, const Problem& p, const verify::Data& data, int threads) {
  DeviceTraits traits = run.traits;
  traits.threads = threads;
  set_num_threads(threads);
  std::vector<verify::GuardedBuffer> out;
  EXPECT_EQ(native_test::run_candidate(*run.path, p, run.config, traits, data, false, out), "");
  set_num_threads(0);
  return {out[0].data(), out[0].data() + out[0].size()};
}

TEST(FloatThreads, SameBits) {
  std::uint64_t seed = 77;
  int ran = 0;
  for (const Direction direction : {Direction::fprop, Direction::dgrad, Direction::wgrad}) {
    for (const Shape& v : {Shape{3, 1, 40, 37, 19, 21, 3, 3, 1, 1, 1}, Shape{5, 1, 64, 48, 14, 14, 1, 1, 1, 0, 1},
                           Shape{4, 48, 1, 1, 20, 20, 3, 3, 1, 1, 1}, Shape{2, 1, 3, 24, 40, 40, 7, 7, 2, 3, 1},
                           Shape{3, 6, 8, 8, 15, 16, 3, 3, 1, 1, 1}}) {
      for (const DataType_t type : {DataType_t::FLOAT, DataType_t::BFLOAT16}) {
        const Problem p = make(direction, type, v, "nhwc");
        const verify::Data data(p, seed++, verify::Fill::reals);
        for (const native_test::Run& run : native_test::runs_of(p, kNames)) {
          const std::vector<std::byte> one = run_with(run, p, data, 1);
          for (const int threads : {2, 3, 8}) {
            EXPECT_TRUE(one == run_with(run, p, data, threads)) << run.to_string() << " " << p.to_string();
          }
          ++ran;
        }
      }
    }
  }
  EXPECT_GT(ran, 200);
}

}  // namespace
}  // namespace octavo
