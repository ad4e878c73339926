// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Sizes around the blocks of 4, 8, 16, 32 and 64 - equal, divisible, less, greater, one off, with a tail - for channels,
// filters, groups and widths, on every engine. Oracle: cpu_reference, itself checked against the independent evaluation.

#include "common/golden.h"

namespace octavo::testing {
namespace {

struct Types {
  const char *in, *filter, *out;
};

std::string line(const char* direction, int n, int c, int h, int w, int k, const char* tail, const Types& t,
                 const char* layout) {
  const std::string d(direction), l(layout);
  const auto tensor = [&](const char* name, bool result, const char* type) {
    return std::string(" ") + name + "=" + (result ? t.out : type) + ":" + (name[0] == 'w' ? "nhwc" : l);
  };
  return d + " n=" + std::to_string(n) + " c=" + std::to_string(c) + " size=" + std::to_string(h) + "x" + std::to_string(w) +
         " k=" + std::to_string(k) + " " + tail + tensor("x", d == "dgrad", t.in) + tensor("w", d == "wgrad", t.filter) +
         tensor("y", d == "fprop", t.in);
}

class Boundaries : public ::testing::TestWithParam<int> {
 protected:
  std::vector<int> family() const {
    const int b = GetParam();
    std::vector<int> sizes{b, 2 * b, b / 2 + 1, b - 1, b + 1, 2 * b + b / 2 + 1};
    if (scale() < 1) sizes = {b - 1, b, b + 1};
    return sizes;
  }
};

constexpr Types kS8{"s8", "s8", "s32"}, kU8{"u8", "s8", "s32"}, kF32{"f32", "f32", "f32"}, kBf16{"bf16", "bf16", "f32"};

TEST_P(Boundaries, Channels) {
  std::uint64_t seed = 100;
  for (const int c : family())
    for (const int k : {3, c, c + 1})
      for (const Types& t : {kS8, kU8, kF32, kBf16})
        for (const char* direction : {"fprop", "dgrad", "wgrad"})
          Golden::random(line(direction, 1, c, 4, 5, k, "filter=3x3 pad=1x1", t, "nhwc"), seed++).run();
}

TEST_P(Boundaries, Filters) {
  std::uint64_t seed = 200;
  for (const int k : family())
    for (const char* tail : {"filter=1x1", "filter=3x3 pad=1x1 stride=2x2"})
      for (const Types& t : {kS8, kF32, kBf16}) Golden::random(line("fprop", 1, 5, 6, 6, k, tail, t, "nhwc"), seed++).run();
}

TEST_P(Boundaries, Widths) {
  std::uint64_t seed = 300;
  for (const int w : family())
    for (const char* tail : {"filter=1x1", "filter=3x3 pad=1x1", "filter=3x3 pad=1x1 stride=2x2"})
      for (const Types& t : {kS8, kF32})
        for (const char* direction : {"fprop", "dgrad", "wgrad"})
          Golden::random(line(direction, 2, 8, 3, w, 9, tail, t, "nhwc"), seed++).run();
}

TEST_P(Boundaries, Groups) {
  std::uint64_t seed = 400;
  for (const int g : family())
    for (const int per : {1, 2})
      for (const Types& t : {kS8, kF32, kBf16})
        for (const char* direction : {"fprop", "dgrad", "wgrad"}) {
          const std::string tail = "filter=3x3 pad=1x1 groups=" + std::to_string(g);
          Golden::random(line(direction, 1, g * per, 5, 6, g * per, tail.c_str(), t, "nhwc"), seed++).run();
        }
}

TEST_P(Boundaries, VectorLayouts) {
  std::uint64_t seed = 500;
  for (const int c : family())
    for (const char* layout : {"nc4", "nc16", "nc32"})
      for (const Types& t : {kS8, kF32})
        Golden::random(line("fprop", 2, c, 5, 5, c + 3, "filter=3x3 pad=1x1", t, layout), seed++).run();
}

INSTANTIATE_TEST_SUITE_P(Block, Boundaries, ::testing::Values(4, 8, 16, 32, 64));

}  // namespace
}  // namespace octavo::testing
