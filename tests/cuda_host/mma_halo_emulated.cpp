// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// The halo kernel's own source, run thread by thread on the host. Oracle: a direct sum in this file.

#include "emulator.h"
// after the emulator:
#include <gtest/gtest.h>

#include "engines/cuda_mma/halo_params.h"
#include "kernels/conv/halo.cuh"

namespace {
using namespace octavo;
using namespace octavo::dev;
using emulator::Block;
using emulator::Copies;
using emulator::Order;

struct Shape {
  int n, h, w, r, s, pad_top, pad_bottom, pad_left, pad_right, chunks, groups, k;  // k: per group
  int ranges;
};

struct Sink {
  std::vector<std::int32_t>* y;
  std::vector<int>* hits;
  int p, q, k;
  template <int V>
  int channels(int first, int) const {
    return first;
  }
  template <int V>
  void store(int held, const int (&v)[V], int n, int, int pp, int qq, int kk, int) const {
    EXPECT_EQ(held, kk);
    for (int i = 0; i < V; ++i) {
      std::size_t at = ((static_cast<std::size_t>(n) * static_cast<std::size_t>(p) + static_cast<std::size_t>(pp)) *
                            static_cast<std::size_t>(q) +
                        static_cast<std::size_t>(qq)) *
                           static_cast<std::size_t>(k) +
                       static_cast<std::size_t>(kk + i);
      y->at(at) = v[i];
      ++hits->at(at);
    }
  }
};

template <const HaloConfig& cfg>
void check(const Shape& z, bool interleaved, Copies copies, Order order) {
  const int c = z.groups * z.chunks * 32, k = z.groups * z.k, cg = z.chunks * 32;
  const int p = z.h + z.pad_top + z.pad_bottom - z.r + 1, q = z.w + z.pad_left + z.pad_right - z.s + 1;
  auto size = [](auto... d) { return (std::size_t{1} * ... * static_cast<std::size_t>(d)); };
  std::vector<std::int8_t> x(size(z.n, z.h, z.w, c)), w(size(k, z.r, z.s, cg));
  std::mt19937 random(7);
  for (auto& v : x) v = static_cast<std::int8_t>(random());
  for (auto& v : w) v = static_cast<std::int8_t>(random());
  // NC/32HW32: N, C/32, H, W, 32 and K, C/32, R, S, 32; else NHWC and KRSC.
  auto xi = [&](int n, int h, int ww, int ch) {
    return interleaved ? (((size(n, c / 32) + size(ch / 32)) * size(z.h) + size(h)) * size(z.w) + size(ww)) * 32 + size(ch % 32)
                       : ((size(n, z.h) + size(h)) * size(z.w) + size(ww)) * size(c) + size(ch);
  };
  auto wi = [&](int kk, int r, int s, int ch) {
    return interleaved
               ? (((size(kk, z.chunks) + size(ch / 32)) * size(z.r) + size(r)) * size(z.s) + size(s)) * 32 + size(ch % 32)
               : ((size(kk, z.r) + size(r)) * size(z.s) + size(s)) * size(cg) + size(ch);
  };
  std::vector<std::int32_t> want(size(z.n, p, q, k)), got(want.size(), 0x5A5A5A5A);
  std::vector<int> hits(want.size());
  bool nonzero = false;
  for (int n = 0; n < z.n; ++n)
    for (int pp = 0; pp < p; ++pp)
      for (int qq = 0; qq < q; ++qq)
        for (int kk = 0; kk < k; ++kk) {
          int sum = 0;
          for (int r = 0; r < z.r; ++r)
            for (int s = 0; s < z.s; ++s) {
              int h = pp + r - z.pad_top, ww = qq + s - z.pad_left;
              if (h < 0 || h >= z.h || ww < 0 || ww >= z.w) continue;
              for (int ch = 0; ch < cg; ++ch) sum += x[xi(n, h, ww, kk / z.k * cg + ch)] * w[wi(kk, r, s, ch)];
            }
          want[((size(n, p) + size(pp)) * size(q) + size(qq)) * size(k) + size(kk)] = sum;
          nonzero |= sum != 0;
        }
  ASSERT_TRUE(nonzero);

  HaloGeometry g;
  g.n = z.n, g.h = z.h, g.w = z.w, g.p = p, g.q = q, g.pad_top = z.pad_top, g.pad_bottom = z.pad_bottom,
  g.pad_left = z.pad_left;
  g.k = k, g.groups = z.groups;
  g.x_n = static_cast<std::int64_t>(size(z.h, z.w, c)), g.x_h = z.w * (interleaved ? 32 : c), g.x_w = interleaved ? 32 : c;
  g.x_chunk = interleaved ? static_cast<std::int64_t>(size(z.h, z.w)) * 32 : 32;
  g.w_k = static_cast<std::int64_t>(size(z.r, z.s, cg)), g.w_r = z.s * (interleaved ? 32 : cg), g.w_s = interleaved ? 32 : cg;
  g.w_chunk = interleaved ? static_cast<std::int64_t>(size(z.r, z.s)) * 32 : 32;
  HaloParams params = halo_params(cfg, g, z.ranges);
  params.x = reinterpret_cast<const char*>(x.data());
  params.w = reinterpret_cast<const char*>(w.data());
  Sink sink{&got, &hits, p, q, k};
  long long conflicts = 0;
  for (int b = 0; b < static_cast<int>(halo_blocks(params)); ++b) {
    Block block(halo_threads(cfg), static_cast<std::size_t>(halo_shared_bytes(cfg)), copies, order, static_cast<unsigned>(b));
    blockIdx.x = static_cast<unsigned>(b);
    block.run([&] { Halo<cfg, Sink>(params, sink, block.shared_.data()).run(); });
    conflicts += block.bank_conflicts;
  }
  EXPECT_EQ(conflicts, 0) << "ldmatrix rows that share a bank";
  std::size_t wrong = 0, missed = 0;
  for (std::size_t i = 0; i < want.size(); ++i) wrong += got[i] != want[i], missed += hits[i] != 1;
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(missed, 0u) << "outputs not written exactly once";
}

constexpr HaloConfig kStated{Elem::s8, Elem::s8, 3, 3, 4, 128, 2, 2, 2, 4, 5, true};
constexpr HaloConfig kOrin{Elem::s8, Elem::s8, 3, 3, 2, 64, 4, 1, 2, 4, 3, true};
constexpr HaloConfig kStreamed{Elem::s8, Elem::s8, 3, 3, 3, 64, 2, 2, 1, 3, 3, false};
constexpr HaloConfig kSmall{Elem::s8, Elem::s8, 1, 7, 1, 32, 2, 1, 2, 2, 2, true};
constexpr HaloConfig kFive{Elem::s8, Elem::s8, 5, 5, 1, 32, 1, 2, 2, 2, 3, true};
constexpr HaloConfig kOne{Elem::s8, Elem::s8, 1, 1, 2, 64, 2, 1, 1, 4, 4, false};

class Halo_ : public testing::TestWithParam<std::tuple<bool, Copies, Order>> {};
TEST_P(Halo_, Stated) {
  auto [il, copies, order] = GetParam();
  if (order == Order::random)
    check<kStated>({2, 9, 17, 3, 3, 1, 1, 1, 1, 4, 1, 128, 3}, il, copies, order);
  else
    check<kStated>({1, 24, 12, 3, 3, 1, 1, 1, 1, 4, 1, 128, 1}, il, copies, order);
}
TEST_P(Halo_, Orin) {
  auto [il, copies, order] = GetParam();
  check<kOrin>({2, 20, 13, 3, 3, 1, 1, 1, 1, 2, 1, 128, 2}, il, copies, order);
}
TEST_P(Halo_, Streamed) {
  auto [il, copies, order] = GetParam();
  check<kStreamed>({2, 11, 13, 3, 3, 0, 1, 2, 1, 3, 2, 64, 2}, il, copies, order);
}
TEST_P(Halo_, OtherFilters) {
  auto [il, copies, order] = GetParam();
  check<kSmall>({2, 6, 9, 1, 7, 0, 0, 3, 3, 1, 1, 64, 2}, il, copies, order);
  check<kFive>({1, 12, 9, 5, 5, 2, 2, 2, 2, 1, 3, 32, 2}, il, copies, order);
  check<kFive>({1, 12, 9, 5, 5, 0, 0, 0, 0, 1, 1, 32, 5}, il, copies, order);
  check<kOne>({3, 5, 9, 1, 1, 0, 0, 0, 0, 2, 1, 128, 2}, il, copies, order);
}
INSTANTIATE_TEST_SUITE_P(All, Halo_,
                         testing::Combine(testing::Bool(), testing::Values(Copies::early, Copies::late),
                                          testing::Values(Order::first_warp, Order::last_warp, Order::random)));
}  // namespace
