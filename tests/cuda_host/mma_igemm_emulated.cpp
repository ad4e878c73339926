// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// The implicit GEMM's own source, run thread by thread on the host. Oracle: a direct sum in this file.

#include "emulator.h"
// after the emulator:
#include <gtest/gtest.h>

#include "engines/cuda_mma/igemm_params.h"
#include "kernels/conv/igemm.cuh"

namespace {
using namespace octavo;
using namespace octavo::dev;
using emulator::Block;
using emulator::Copies;
using emulator::Order;

struct Shape {
  int n, in[3], c, k, taps[3], pad[3], post[3], stride[3], dilation[3], groups, splits;
};

template <class T>
struct Sink {
  std::vector<T>* y;
  std::vector<int>* hits;
  int d, p, q, k;
  template <int V>
  int channels(int first, int) const {
    return first;
  }
  template <int V>
  void store(int held, const T (&v)[V], int n, int dd, int pp, int qq, int kk, int valid) const {
    EXPECT_EQ(held, kk);
    for (int i = 0; i < valid; ++i) {
      auto at = static_cast<std::size_t>((((static_cast<long long>(n) * d + dd) * p + pp) * q + qq) * k + kk + i);
      y->at(at) = v[i];
      ++hits->at(at);
    }
  }
};

template <Elem E>
struct Stored {
  using type = std::int8_t;
  static type make(int v) { return static_cast<type>(v); }
  static float value(type v) { return v; }
};
template <>
struct Stored<Elem::u8> {
  using type = std::uint8_t;
  static type make(int v) { return static_cast<type>(v); }
  static float value(type v) { return v; }
};
template <>
struct Stored<Elem::f16> {  // small integers only
  using type = std::uint16_t;
  static type make(int v) {
    v = v % 8;
    unsigned m = static_cast<unsigned>(v < 0 ? -v : v), e = m >= 4 ? 2 : m >= 2 ? 1 : 0;
    return static_cast<type>((v < 0 ? 0x8000u : 0u) | (m == 0 ? 0u : ((15 + e) << 10) | ((m << (10 - e)) & 1023u)));
  }
  static float value(type v) { return element<Elem::f16>(v, 0); }
};
template <>
struct Stored<Elem::tf32> {
  using type = float;
  static type make(int v) { return static_cast<float>(v % 8); }
  static float value(type v) { return v; }
};

template <const IgemmConfig& cfg>
void check(const Shape& z, Copies copies, Order order) {
  using A = Stored<cfg.a>;
  using B = Stored<cfg.b>;
  using T = typename Accumulator<cfg.a>::type;
  constexpr int es = bytes_of(cfg.a);
  const int cg = z.c / z.groups;
  int out[3];
  for (int i = 0; i < 3; ++i) out[i] = (z.in[i] + z.pad[i] + z.post[i] - z.dilation[i] * (z.taps[i] - 1) - 1) / z.stride[i] + 1;
  std::vector<typename A::type> x(static_cast<std::size_t>(z.n * z.in[0] * z.in[1] * z.in[2] * z.c));
  std::vector<typename B::type> w(static_cast<std::size_t>(z.k * z.taps[0] * z.taps[1] * z.taps[2] * cg));
  std::mt19937 random(11);
  for (auto& v : x) v = A::make(static_cast<int>(random() % 256) - 128);
  for (auto& v : w) v = B::make(static_cast<int>(random() % 256) - 128);
  std::vector<T> want(static_cast<std::size_t>(z.n * out[0] * out[1] * out[2] * z.k)), got(want.size(), T(-77777));
  std::vector<int> hits(want.size());
  std::size_t at = 0;
  bool nonzero = false;
  for (int n = 0; n < z.n; ++n)
    for (int d = 0; d < out[0]; ++d)
      for (int p = 0; p < out[1]; ++p)
        for (int q = 0; q < out[2]; ++q)
          for (int k = 0; k < z.k; ++k) {
            double sum = 0;
            for (int t = 0; t < z.taps[0]; ++t)
              for (int r = 0; r < z.taps[1]; ++r)
                for (int s = 0; s < z.taps[2]; ++s) {
                  int dd = d * z.stride[0] - z.pad[0] + t * z.dilation[0], h = p * z.stride[1] - z.pad[1] + r * z.dilation[1],
                      ww = q * z.stride[2] - z.pad[2] + s * z.dilation[2];
                  if (dd < 0 || dd >= z.in[0] || h < 0 || h >= z.in[1] || ww < 0 || ww >= z.in[2]) continue;
                  for (int c = 0; c < cg; ++c)
                    sum += static_cast<double>(A::value(x[static_cast<std::size_t>(
                               (((n * z.in[0] + dd) * z.in[1] + h) * z.in[2] + ww) * z.c + k / (z.k / z.groups) * cg + c)])) *
                           static_cast<double>(B::value(
                               w[static_cast<std::size_t>((((k * z.taps[0] + t) * z.taps[1] + r) * z.taps[2] + s) * cg + c)]));
                }
            want[at++] = static_cast<T>(sum);
            nonzero |= sum != 0;
          }
  ASSERT_TRUE(nonzero);
  IgemmGeometry g;
  g.n = z.n, g.k = z.k, g.groups = z.groups;
  for (int i = 0; i < 3; ++i)
    g.in[i] = z.in[i], g.out[i] = out[i], g.stride[i] = z.stride[i], g.pad[i] = z.pad[i], g.dilation[i] = z.dilation[i];
  g.x_s[2] = z.c * es, g.x_s[1] = z.in[2] * g.x_s[2], g.x_s[0] = z.in[1] * g.x_s[1], g.x_n = z.in[0] * g.x_s[0],
  g.x_group = cg * es;
  g.w_s[2] = cg * es, g.w_s[1] = z.taps[2] * g.w_s[2], g.w_s[0] = z.taps[1] * g.w_s[1], g.w_k = z.taps[0] * g.w_s[0];
  IgemmParams params = igemm_params(cfg, g, z.splits);
  params.x = reinterpret_cast<const char*>(x.data()), params.x_end = params.x + x.size() * es;
  params.w = reinterpret_cast<const char*>(w.data()), params.w_end = params.w + w.size() * es;
  std::vector<T> partial(static_cast<std::size_t>(igemm_partial_bytes(cfg, params) / 4), T(1 << 20));
  params.partial = partial.data();
  Sink<T> sink{&got, &hits, out[0], out[1], out[2], z.k};
  long long conflicts = 0;
  for (unsigned b = 0; b < igemm_blocks(params); ++b) {
    Block block(igemm_threads(cfg), static_cast<std::size_t>(igemm_shared_bytes(cfg)), copies, order, b);
    blockIdx.x = b;
    block.run([&] { Igemm<cfg, Sink<T>>(params, sink, block.shared_.data()).run(); });
    conflicts += block.bank_conflicts;
  }
  if (cfg.split)
    for (unsigned b = 0; b * 128 < igemm_reduce_threads(cfg, params); ++b) {
      Block block(128, 16, copies, order, b);
      block.run([&] { igemm_reduce<cfg>(params, sink, b, 128u); });
    }
  EXPECT_EQ(conflicts, 0);
  std::size_t wrong = 0, missed = 0;
  for (std::size_t i = 0; i < want.size(); ++i) wrong += got[i] != want[i], missed += hits[i] != 1;
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(missed, 0u);
}

constexpr IgemmConfig kPlain{
    .r = 3, .s = 3, .tap_bytes = 64, .bm = 64, .bn = 64, .bk = 64, .warps_m = 2, .warps_n = 2, .stages = 3};
constexpr IgemmConfig kWide{
    .r = 3, .s = 3, .tap_bytes = 48, .bm = 128, .bn = 64, .bk = 128, .warps_m = 2, .warps_n = 2, .stages = 2};
constexpr IgemmConfig kShort{
    .tap_bytes = 64, .padded = false, .bm = 64, .bn = 64, .bk = 128, .warps_m = 2, .warps_n = 2, .stages = 3};
constexpr IgemmConfig kGemm{
    .tap_bytes = 320, .padded = false, .bm = 64, .bn = 128, .bk = 64, .warps_m = 1, .warps_n = 4, .stages = 4};
constexpr IgemmConfig kSplit{
    .r = 3, .s = 3, .tap_bytes = 128, .bm = 64, .bn = 64, .bk = 64, .warps_m = 2, .warps_n = 2, .stages = 3, .split = true};
constexpr IgemmConfig kFour{
    .r = 3, .s = 2, .tap_bytes = 20, .align = 4, .bm = 64, .bn = 32, .bk = 64, .warps_m = 2, .warps_n = 1, .stages = 3};
constexpr IgemmConfig kOdd{
    .r = 2, .s = 3, .tap_bytes = 17, .align = 1, .bm = 64, .bn = 32, .bk = 64, .warps_m = 2, .warps_n = 1, .stages = 3};
constexpr IgemmConfig kRun{.r = 7,
                           .s = 1,
                           .tap_bytes = 21,
                           .align = 1,
                           .run = true,
                           .bm = 64,
                           .bn = 32,
                           .bk = 64,
                           .warps_m = 2,
                           .warps_n = 1,
                           .stages = 2};
constexpr IgemmConfig kVolume{
    .t = 3, .r = 2, .s = 1, .tap_bytes = 32, .bm = 64, .bn = 32, .bk = 32, .warps_m = 2, .warps_n = 1, .stages = 3};
constexpr IgemmConfig kHalf{.a = Elem::f16,
                            .b = Elem::f16,
                            .r = 3,
                            .s = 3,
                            .tap_bytes = 80,
                            .bm = 64,
                            .bn = 64,
                            .bk = 64,
                            .warps_m = 2,
                            .warps_n = 2,
                            .stages = 3};
constexpr IgemmConfig kTf32{.a = Elem::tf32,
                            .b = Elem::tf32,
                            .r = 3,
                            .s = 3,
                            .tap_bytes = 36,
                            .align = 4,
                            .bm = 64,
                            .bn = 64,
                            .bk = 64,
                            .warps_m = 2,
                            .warps_n = 2,
                            .stages = 3};
constexpr IgemmConfig kMixed{.a = Elem::u8,
                             .b = Elem::s8,
                             .r = 1,
                             .s = 3,
                             .tap_bytes = 8,
                             .align = 8,
                             .bm = 64,
                             .bn = 64,
                             .bk = 64,
                             .warps_m = 2,
                             .warps_n = 2,
                             .stages = 3};

class Igemm_ : public testing::TestWithParam<std::tuple<Copies, Order>> {};
TEST_P(Igemm_, Plain) {
  auto [c, o] = GetParam();
  check<kPlain>({2, {1, 9, 7}, 64, 96, {1, 3, 3}, {0, 1, 1}, {0, 1, 1}, {1, 1, 1}, {1, 1, 1}, 1, 1}, c, o);
  check<kPlain>({2, {1, 9, 12}, 128, 80, {1, 3, 3}, {0, 2, 0}, {0, 1, 3}, {1, 2, 3}, {1, 2, 1}, 2, 1}, c, o);
  check<kWide>({2, {1, 9, 12}, 48, 70, {1, 3, 3}, {0, 1, 1}, {0, 1, 1}, {1, 2, 2}, {1, 1, 1}, 1, 1}, c, o);
}
TEST_P(Igemm_, Gemm) {
  auto [c, o] = GetParam();
  check<kShort>({2, {1, 6, 7}, 64, 72, {1, 1, 1}, {}, {}, {1, 1, 2}, {1, 1, 1}, 1, 1}, c, o);  // less than one stage
  check<kGemm>({2, {1, 6, 7}, 320, 136, {1, 1, 1}, {}, {}, {1, 2, 2}, {1, 1, 1}, 1, 1}, c, o);
}
TEST_P(Igemm_, SplitSumsInOrder) {
  auto [c, o] = GetParam();
  check<kSplit>({2, {1, 5, 7}, 128, 72, {1, 3, 3}, {0, 1, 1}, {0, 1, 1}, {1, 1, 1}, {1, 1, 1}, 1, 4}, c, o);
  check<kSplit>({1, {1, 5, 7}, 256, 96, {1, 3, 3}, {0, 1, 1}, {0, 1, 1}, {1, 1, 1}, {1, 1, 1}, 2, 7}, c, o);
}
TEST_P(Igemm_, AnyChannels) {
  auto [c, o] = GetParam();
  check<kFour>({2, {1, 7, 9}, 20, 33, {1, 3, 2}, {0, 1, 1}, {0, 1, 0}, {1, 1, 1}, {1, 1, 1}, 1, 1}, c, o);
  check<kOdd>({2, {1, 7, 9}, 17, 33, {1, 2, 3}, {0, 1, 1}, {0, 1, 0}, {1, 1, 1}, {1, 1, 1}, 1, 1}, c, o);
  check<kOdd>({2, {1, 7, 9}, 51, 9, {1, 2, 3}, {0, 1, 1}, {0, 1, 0}, {1, 1, 1}, {1, 1, 1}, 3, 1}, c, o);
  check<kMixed>({2, {1, 3, 9}, 8, 40, {1, 1, 3}, {0, 0, 1}, {0, 0, 1}, {1, 1, 2}, {1, 1, 1}, 1, 1}, c, o);
}
TEST_P(Igemm_, FirstLayerRuns) {
  auto [c, o] = GetParam();
  // A 7x7 filter of 3 channels as 7 runs of 21 bytes: stride and padding count in pixels of 3 bytes.
  Shape z{2, {1, 12, 15}, 3, 20, {1, 7, 7}, {0, 3, 3}, {0, 3, 3}, {1, 2, 2}, {1, 1, 1}, 1, 1};
  check<kRun>(z, c, o);
}
TEST_P(Igemm_, Volumes) {
  auto [c, o] = GetParam();
  check<kVolume>({2, {5, 4, 6}, 32, 24, {3, 2, 1}, {1, 0, 0}, {1, 1, 0}, {2, 1, 1}, {1, 2, 1}, 1, 1}, c, o);
}
TEST_P(Igemm_, Floats) {
  auto [c, o] = GetParam();
  check<kHalf>({2, {1, 7, 9}, 40, 66, {1, 3, 3}, {0, 1, 1}, {0, 1, 1}, {1, 1, 1}, {1, 1, 1}, 1, 1}, c, o);
  check<kTf32>({1, {1, 7, 9}, 9, 66, {1, 3, 3}, {0, 1, 1}, {0, 1, 1}, {1, 1, 1}, {1, 1, 1}, 1, 1}, c, o);
}
INSTANTIATE_TEST_SUITE_P(All, Igemm_,
                         testing::Combine(testing::Values(Copies::early, Copies::late),
                                          testing::Values(Order::first_warp, Order::last_warp, Order::random)));
}  // namespace
