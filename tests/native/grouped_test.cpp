// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Path "grouped_s8" of cpu_native, every instruction set, equal to cpu_reference in every bit.

#include <string>

#include "native/native_test.h"

namespace octavo::native_test {
namespace {

std::string dims(std::int64_t a, std::int64_t b) { return std::to_string(a) + "x" + std::to_string(b); }

/// Group widths around a dword (4) and a vector (16): padded per group, several groups a vector, a group over vectors.
TEST(GroupedS8, RandomShapes) {
  for (int i = 0; i < scaled(250); ++i) {
    verify::Rng rng(static_cast<std::uint64_t>(i) + 991);
    const std::int64_t groups = rng.pick<std::int64_t>({2, 3, 5, 8, 17, 32});
    const std::int64_t kg = rng.pick<std::int64_t>({1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 20, 32, 33, 48, 64, 70});
    std::int64_t cg = rng.pick<std::int64_t>({1, 2, 3, 4, 5, 8, 12, 16, 17, 32, 60, 68});
    if (kg < 16) cg = std::min<std::int64_t>(cg, 64 / (16 / kg));
    const std::int64_t r = rng.pick<std::int64_t>({1, 2, 3, 3, 3, 5}), s = rng.pick<std::int64_t>({1, 3, 3, 4});
    const std::int64_t dh = rng.pick<std::int64_t>({1, 1, 1, 2, 3}), dw = rng.pick<std::int64_t>({1, 1, 1, 2});
    const std::int64_t h = dh * (r - 1) + rng.between(1, 8),
                       w = dw * (s - 1) + rng.pick<std::int64_t>({1, 2, 6, 7, 10, 13, 14, 15, 30});
    const bool is_unsigned = rng.chance(40);
    std::string line = "fprop n=" + std::to_string(rng.between(1, 2)) + " c=" + std::to_string(cg * groups) +
                       " size=" + dims(h, w) + " k=" + std::to_string(kg * groups) + " groups=" + std::to_string(groups) +
                       " filter=" + dims(r, s) + " pad=" + dims(rng.between(0, 3), rng.between(0, 3)) + ":" +
                       dims(rng.between(0, 3), rng.between(0, 3)) +
                       " stride=" + dims(rng.pick<std::int64_t>({1, 1, 2, 3}), rng.pick<std::int64_t>({1, 1, 2, 3})) +
                       " dil=" + dims(dh, dw) + (rng.chance(20) ? " mode=conv" : "") + " x=" + (is_unsigned ? "u8" : "s8") +
                       ":nhwc w=s8:" + (rng.chance(30) ? "nchw" : "nhwc");
    line += rng.chance(50)   ? " y=s32:nhwc"
            : rng.chance(50) ? " y=s8:nhwc epi=%1=f32.channel;%2=mul(%0,%1)"
                             : " y=f32:nchw epi=%1=f32.channel;%2=add(%0,%1)";
    if (rng.chance(30)) line += " zx=" + std::to_string(is_unsigned ? rng.between(0, 255) : rng.between(-128, 127));
    verify::Options options;
    options.seed = static_cast<std::uint64_t>(i);
    options.constant_filter = rng.chance(50);
    options.misalign_elements = rng.chance(30) ? 1 : 0;
    check_everywhere(problem_of(line), "grouped_s8", options);
    if (::testing::Test::HasFailure()) break;
  }
}

}  // namespace
}  // namespace octavo::native_test
