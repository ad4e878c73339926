// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Whole graphs, executed, against the naive convolution of graph_util.h and arithmetic written out here.

#include <cmath>

#include "graph_util.h"

namespace octavo::test {
namespace {

using D = DataType_t;
using P = PointwiseMode_t;

std::int8_t sat8(double v) {
  double const r = std::nearbyint(v);
  return static_cast<std::int8_t>(r < -128 ? -128 : r > 127 ? 127 : r);
}

TEST(GraphExecute, Int8ConvolutionToInt32) {
  Handle h;
  Ints const xd{2, 6, 7, 5}, wd{4, 3, 3, 2};
  auto const x = values(xd, 1, -128, 127), w = values(wd, 2, -128, 127);
  Conv2d c{{1, 0}, {0, 2}, {2, 1}, {1, 2}};
  Ints yd;
  auto const want = conv2d(x, xd, w, wd, c, yd);
  Graph g;
  g.set_io_data_type(D::INT8).set_compute_data_type(D::INT32);
  auto X = g.tensor(tensor("X", xd)), W = g.tensor(tensor("W", wd));
  auto Y = g.conv_fprop(
      X, W,
      Conv_fprop_attributes().set_pre_padding(c.pre).set_post_padding(c.post).set_stride(c.stride).set_dilation(c.dilation));
  Y->set_output(true).set_data_type(D::INT32);
  ASSERT_GOOD(g.build(h, {HeurMode_t::A}));
  EXPECT_EQ(Y->get_dim(), yd);
  EXPECT_EQ(Y->get_stride(), nhwc(yd));
  auto xm = place<std::int8_t>(x, xd, nhwc(xd)), wm = place<std::int8_t>(w, wd, nhwc(wd));
  std::vector<std::int32_t> ym(want.size() + 16, 0x5A5A5A5A);
  // Every plan in the list, not only the first.
  for (std::int64_t i = 0; i < g.get_execution_plan_count(); ++i) {
    ASSERT_GOOD(g.build_plan_at_index(i));
    std::fill(ym.begin(), ym.end(), 0x5A5A5A5A);
    ASSERT_GOOD(run(g, h, {{X->get_uid(), xm.data()}, {W->get_uid(), wm.data()}, {Y->get_uid(), ym.data()}}));
    double seen = 0;
    each(yd, [&](Ints const& at, std::size_t k) {
      EXPECT_EQ(ym[static_cast<std::size_t>(offset(at, nhwc(yd)))], want[k]) << "plan " << i;
      seen += std::fabs(want[k]);
    });
    EXPECT_GT(seen, 0);
    for (std::size_t k = want.size(); k < ym.size(); ++k) EXPECT_EQ(ym[k], 0x5A5A5A5A);
  }
}

// conv -> * scale -> + bias -> relu, the raw convolution stored beside the result.
TEST(GraphExecute, FusedEpilogueWithTwoOutputs) {
  Handle h;
  Ints const xd{1, 8, 6, 6}, wd{5, 8, 3, 3}, bd{1, 5, 1, 1};
  auto const x = values(xd, 3), w = values(wd, 4), scale = values(bd, 5, 1, 3), bias = values(bd, 6, -60, 60);
  Ints yd;
  auto const acc = conv2d(x, xd, w, wd, {{1, 1}, {1, 1}}, yd);
  Graph g;
  g.set_io_data_type(D::INT8).set_intermediate_data_type(D::FLOAT).set_compute_data_type(D::FLOAT);
  auto X = g.tensor(tensor("X", xd)), W = g.tensor(tensor("W", wd));
  auto S = g.tensor(tensor("S", bd, D::FLOAT)), B = g.tensor(tensor("B", bd, D::FLOAT));
  auto C = g.conv_fprop(X, W, fprop({1, 1}, {1, 1}, {1, 1}).set_compute_data_type(D::INT32));
  C->set_output(true).set_data_type(D::INT32);
  auto M = g.pointwise(C, S, pw(P::MUL));
  auto A = g.pointwise(M, B, pw(P::ADD));
  auto Y = g.pointwise(A, pw(P::RELU_FWD));
  Y->set_output(true);
  ASSERT_GOOD(g.build(h, {HeurMode_t::A}));
  EXPECT_NE(g.explain().find("intermediates in workspace: 0 "), std::string::npos) << g.explain();
  auto xm = place<std::int8_t>(x, xd, nhwc(xd)), wm = place<std::int8_t>(w, wd, nhwc(wd));
  auto sm = place<float>(scale, bd, nhwc(bd)), bm = place<float>(bias, bd, nhwc(bd));
  std::vector<std::int32_t> cm(acc.size(), 77);
  std::vector<std::int8_t> ym(acc.size(), 0x5A);
  std::unordered_map<TensorPtr, void*> pack{{X, xm.data()}, {W, wm.data()}, {S, sm.data()},
                                            {B, bm.data()}, {C, cm.data()}, {Y, ym.data()}};
  std::vector<char> ws(static_cast<std::size_t>(g.get_workspace_size()) + 1);
  ASSERT_GOOD(g.execute(h, pack, ws.data()));
  each(yd, [&](Ints const& at, std::size_t k) {
    std::size_t const o = static_cast<std::size_t>(offset(at, nhwc(yd))), ch = static_cast<std::size_t>(at[1]);
    EXPECT_EQ(cm[o], acc[k]);
    EXPECT_EQ(ym[o], sat8(std::max(0.0, acc[k] * scale[ch] + bias[ch])));
  });
}

TEST(GraphExecute, TwoConvolutionsInAChain) {
  Handle h;
  Ints const xd{1, 3, 6, 6}, wd{4, 3, 3, 3}, vd{2, 4, 1, 1};
  auto const x = values(xd, 7), w = values(wd, 8), v = values(vd, 9);
  Ints md, yd;
  auto mid = conv2d(x, xd, w, wd, {{1, 1}, {1, 1}}, md);
  for (double& m : mid) m = std::max(0.0, m);
  auto const want = conv2d(mid, md, v, vd, {}, yd);
  Graph g;
  g.set_io_data_type(D::HALF).set_intermediate_data_type(D::FLOAT).set_compute_data_type(D::FLOAT);
  auto X = g.tensor(tensor("X", xd)), W = g.tensor(tensor("W", wd)), V = g.tensor(tensor("V", vd));
  auto C = g.conv_fprop(X, W, fprop({1, 1}, {1, 1}, {1, 1}));
  auto R = g.pointwise(C, pw(P::RELU_FWD));
  auto Y = g.conv_fprop(R, V, fprop({0, 0}, {1, 1}, {1, 1}));
  Y->set_output(true).set_data_type(D::FLOAT);
  ASSERT_GOOD(g.build(h, {HeurMode_t::A}));
  EXPECT_GT(g.get_workspace_size(), 0);
  auto xm = place<float16>(x, xd, nhwc(xd)), wm = place<float16>(w, wd, nhwc(wd)), vm = place<float16>(v, vd, nhwc(vd));
  std::vector<float> ym(want.size(), NAN);
  ASSERT_GOOD(
      run(g, h, {{X->get_uid(), xm.data()}, {W->get_uid(), wm.data()}, {V->get_uid(), vm.data()}, {Y->get_uid(), ym.data()}}));
  each(yd, [&](Ints const& at, std::size_t k) { EXPECT_EQ(ym[static_cast<std::size_t>(offset(at, nhwc(yd)))], want[k]); });
  // The workspace is needed: null is an error, not a crash.
  EXPECT_BAD(
      g.execute(h,
                std::unordered_map<std::int64_t, void*>{
                    {X->get_uid(), xm.data()}, {W->get_uid(), wm.data()}, {V->get_uid(), vm.data()}, {Y->get_uid(), ym.data()}},
                nullptr),
      INVALID_VARIANT_PACK, "Plan requires a", "-byte workspace but received null");
}

TEST(GraphExecute, PrologueScaleBiasReluThenGenstats) {
  Handle h;
  Ints const xd{2, 4, 5, 5}, wd{3, 4, 3, 3}, cd{1, 4, 1, 1};
  auto const x = values(xd, 10), w = values(wd, 11), s = values(cd, 12, 1, 2), b = values(cd, 13);
  std::vector<double> pre = x;
  each(xd, [&](Ints const& at, std::size_t k) {
    pre[k] = std::max(0.0, x[k] * s[static_cast<std::size_t>(at[1])] + b[static_cast<std::size_t>(at[1])]);
  });
  Ints yd;
  auto const want = conv2d(pre, xd, w, wd, {{1, 1}, {1, 1}}, yd);
  Graph g;
  g.set_io_data_type(D::HALF).set_intermediate_data_type(D::FLOAT).set_compute_data_type(D::FLOAT);
  auto X = g.tensor(tensor("X", xd)), W = g.tensor(tensor("W", wd));
  auto S = g.tensor(tensor("S", cd)), B = g.tensor(tensor("B", cd));
  auto A = g.pointwise(g.pointwise(g.pointwise(X, S, pw(P::MUL)), B, pw(P::ADD)), pw(P::RELU_FWD));
  auto Y = g.conv_fprop(A, W, fprop({1, 1}, {1, 1}, {1, 1}));
  Y->set_output(true);
  auto [SUM, SQ] = g.genstats(Y, Genstats_attributes());
  SUM->set_output(true).set_data_type(D::FLOAT);
  SQ->set_output(true).set_data_type(D::FLOAT);
  ASSERT_GOOD(g.build(h, {HeurMode_t::A}));
  EXPECT_EQ(SUM->get_dim(), (Ints{1, 3, 1, 1}));
  auto xm = place<float16>(x, xd, nhwc(xd)), wm = place<float16>(w, wd, nhwc(wd)), sm = place<float16>(s, cd, nhwc(cd)),
       bm = place<float16>(b, cd, nhwc(cd));
  std::vector<float16> ym(want.size());
  std::vector<float> sum(3, NAN), sq(3, NAN);
  ASSERT_GOOD(run(g, h,
                  {{X->get_uid(), xm.data()},
                   {W->get_uid(), wm.data()},
                   {S->get_uid(), sm.data()},
                   {B->get_uid(), bm.data()},
                   {Y->get_uid(), ym.data()},
                   {SUM->get_uid(), sum.data()},
                   {SQ->get_uid(), sq.data()}}));
  std::vector<double> want_sum(3), want_sq(3);
  each(yd, [&](Ints const& at, std::size_t k) {
    EXPECT_EQ(static_cast<float>(ym[static_cast<std::size_t>(offset(at, nhwc(yd)))]), want[k]);
    want_sum[static_cast<std::size_t>(at[1])] += want[k];
    want_sq[static_cast<std::size_t>(at[1])] += want[k] * want[k];
  });
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(sum[i], want_sum[i]);
    EXPECT_EQ(sq[i], static_cast<float>(want_sq[i]));
  }
}

TEST(GraphExecute, ZeroPointPrologueFuses) {
  Handle h;
  Ints const xd{1, 3, 5, 4}, wd{2, 3, 3, 3};
  auto const x = values(xd, 14, 0, 255), w = values(wd, 15, -9, 9);
  std::vector<double> centred = x;
  for (double& v : centred) v -= 128;
  Ints yd;
  auto const want = conv2d(centred, xd, w, wd, {{1, 1}, {1, 1}}, yd);
  Graph g;
  g.set_intermediate_data_type(D::INT32).set_compute_data_type(D::INT32);
  auto X = g.tensor(tensor("X", xd, D::UINT8)), W = g.tensor(tensor("W", wd, D::INT8));
  auto Z = g.tensor(Tensor_attributes(static_cast<std::int32_t>(128)));
  auto C = g.pointwise(X, Z, pw(P::SUB));
  auto Y = g.conv_fprop(C, W, fprop({1, 1}, {1, 1}, {1, 1}));
  Y->set_output(true).set_data_type(D::INT32);
  ASSERT_GOOD(g.build(h, {HeurMode_t::A}));
  EXPECT_NE(g.explain().find("intermediates in workspace: 0 "), std::string::npos) << g.explain();
  auto xm = place<std::uint8_t>(x, xd, nhwc(xd));
  auto wm = place<std::int8_t>(w, wd, nhwc(wd));
  std::vector<std::int32_t> ym(want.size(), 9);
  ASSERT_GOOD(run(g, h, {{X->get_uid(), xm.data()}, {W->get_uid(), wm.data()}, {Y->get_uid(), ym.data()}}));
  each(yd, [&](Ints const& at, std::size_t k) { EXPECT_EQ(ym[static_cast<std::size_t>(offset(at, nhwc(yd)))], want[k]); });
}

// The same numbers as a vectorised graph: NC/4HW4 in, NC/32HW32 out.
TEST(GraphExecute, VectorisedTensors) {
  Handle h;
  Ints const xd{2, 8, 4, 4}, wd{32, 8, 3, 3};
  auto const x = values(xd, 16, -20, 20), w = values(wd, 17, -20, 20);
  Ints yd;
  auto const want = conv2d(x, xd, w, wd, {{1, 1}, {1, 1}}, yd);
  Graph g;
  g.set_compute_data_type(D::INT32);
  auto X = g.tensor(Tensor_attributes()
                        .set_name("X")
                        .set_dim({2, 2, 4, 4})
                        .set_stride({32, 16, 4, 1})
                        .set_data_type(D::INT8)
                        .set_vector_count_and_dimension(4, 1));
  auto W =
      g.tensor(Tensor_attributes().set_name("W").set_dim({32, 2, 3, 3}).set_stride({18, 9, 3, 1}).set_data_type(D::INT8x4));
  auto Y = g.conv_fprop(X, W, fprop({1, 1}, {1, 1}, {1, 1}));
  Y->set_output(true).set_data_type(D::INT8).set_vector_count_and_dimension(32, 1);
  ASSERT_GOOD(g.build(h, {HeurMode_t::A}));
  EXPECT_EQ(Y->get_dim(), (Ints{2, 1, 4, 4}));
  const auto vec = [](Ints const& at, Ints const& d, std::int64_t v) {
    return static_cast<std::size_t>((((at[0] * (d[1] / v) + at[1] / v) * d[2] + at[2]) * d[3] + at[3]) * v + at[1] % v);
  };
  std::vector<std::int8_t> xm(x.size()), wm(w.size()), ym(want.size(), 0x5A);
  each(xd, [&](Ints const& at, std::size_t k) { xm[vec(at, xd, 4)] = static_cast<std::int8_t>(x[k]); });
  each(wd, [&](Ints const& at, std::size_t k) { wm[vec(at, wd, 4)] = static_cast<std::int8_t>(w[k]); });
  ASSERT_GOOD(run(g, h, {{X->get_uid(), xm.data()}, {W->get_uid(), wm.data()}, {Y->get_uid(), ym.data()}}));
  each(yd, [&](Ints const& at, std::size_t k) { EXPECT_EQ(ym[vec(at, yd, 32)], sat8(want[k])); });
}

TEST(GraphExecute, ReductionOverChannelsAndAmax) {
  Handle h;
  Ints const xd{1, 4, 5, 5}, wd{6, 4, 1, 1};
  auto const x = values(xd, 18), w = values(wd, 19);
  Ints yd;
  auto const want = conv2d(x, xd, w, wd, {}, yd);
  Graph g;
  g.set_io_data_type(D::FLOAT).set_intermediate_data_type(D::FLOAT).set_compute_data_type(D::FLOAT);
  auto X = g.tensor(tensor("X", xd)), W = g.tensor(tensor("W", wd));
  auto C = g.conv_fprop(X, W, fprop({0, 0}, {1, 1}, {1, 1}));
  auto R = g.reduction(C, Reduction_attributes().set_mode(ReductionMode_t::ADD));
  R->set_output(true).set_dim({1, 1, 5, 5});
  auto M = g.reduction(C, Reduction_attributes().set_mode(ReductionMode_t::AMAX));
  M->set_output(true).set_dim({1, 1, 1, 1});
  ASSERT_GOOD(g.build(h, {HeurMode_t::A}));
  auto xm = place<float>(x, xd, nhwc(xd)), wm = place<float>(w, wd, nhwc(wd));
  std::vector<float> rm(25, NAN), mm(1, NAN);
  ASSERT_GOOD(
      run(g, h, {{X->get_uid(), xm.data()}, {W->get_uid(), wm.data()}, {R->get_uid(), rm.data()}, {M->get_uid(), mm.data()}}));
  std::vector<double> sum(25);
  double amax = 0;
  each(yd, [&](Ints const& at, std::size_t k) {
    sum[static_cast<std::size_t>(at[2] * 5 + at[3])] += want[k];
    amax = std::max(amax, std::fabs(want[k]));
  });
  EXPECT_GT(amax, 0);
  for (std::size_t i = 0; i < 25; ++i) EXPECT_EQ(rm[i], sum[i]);
  EXPECT_EQ(mm[0], amax);
}

// An integer-typed intermediate rounds and saturates; a float-typed one does not.
TEST(GraphExecute, IntegerIntermediateSaturates) {
  Handle h;
  Ints const d{1, 1, 1, 2};
  Graph g;
  g.set_io_data_type(D::INT8).set_compute_data_type(D::INT32).set_intermediate_data_type(D::FLOAT);
  auto X = g.tensor(tensor("X", d)), W = g.tensor(tensor("W", {1, 1, 1, 1}));
  auto C = g.conv_fprop(X, W, fprop({0, 0}, {1, 1}, {1, 1}));
  C->set_data_type(D::INT8);
  auto A = g.pointwise(C, g.tensor(Tensor_attributes(static_cast<std::int32_t>(1))), pw(P::ADD));
  A->set_output(true).set_data_type(D::INT32);
  ASSERT_GOOD(g.build(h, {HeurMode_t::A}));
  std::int8_t x[2] = {100, -100}, w[1] = {100};
  std::int32_t y[2] = {5, 5};
  ASSERT_GOOD(run(g, h, {{X->get_uid(), x}, {W->get_uid(), w}, {A->get_uid(), y}}));
  EXPECT_EQ(y[0], 128);
  EXPECT_EQ(y[1], -127);
}

TEST(GraphExecute, DgradAndWgradAreAdjoint) {
  Handle h;
  Ints const xd{2, 4, 6, 5}, wd{6, 2, 3, 2};
  auto const x = values(xd, 20), w = values(wd, 21);
  Conv2d c{{1, 0}, {1, 2}, {2, 1}, {1, 2}};
  Ints yd;
  auto const y = conv2d(x, xd, w, wd, c, yd);
  auto const dy = values(yd, 22);
  double const want = [&] {
    double s = 0;
    for (std::size_t i = 0; i < y.size(); ++i) s += y[i] * dy[i];
    return s;
  }();
  ASSERT_NE(want, 0);
  auto xm = place<std::int8_t>(x, xd, nhwc(xd)), wm = place<std::int8_t>(w, wd, nhwc(wd)),
       dm = place<std::int8_t>(dy, yd, nhwc(yd));
  {
    Graph g;
    g.set_io_data_type(D::INT8).set_compute_data_type(D::INT32);
    auto DY = g.tensor(tensor("DY", yd)), W = g.tensor(tensor("W", wd));
    auto DX = g.conv_dgrad(
        DY, W,
        Conv_dgrad_attributes().set_pre_padding(c.pre).set_post_padding(c.post).set_stride(c.stride).set_dilation(c.dilation));
    DX->set_output(true).set_dim(xd).set_data_type(D::INT32);
    ASSERT_GOOD(g.build(h, {HeurMode_t::A}));
    std::vector<std::int32_t> out(x.size(), 99);
    ASSERT_GOOD(run(g, h, {{DY->get_uid(), dm.data()}, {W->get_uid(), wm.data()}, {DX->get_uid(), out.data()}}));
    double got = 0;
    each(xd, [&](Ints const& at, std::size_t k) { got += x[k] * out[static_cast<std::size_t>(offset(at, nhwc(xd)))]; });
    EXPECT_EQ(got, want);
  }
  {
    Graph g;
    g.set_io_data_type(D::INT8).set_compute_data_type(D::INT32);
    auto DY = g.tensor(tensor("DY", yd)), X = g.tensor(tensor("X", xd));
    auto DW = g.conv_wgrad(
        DY, X,
        Conv_wgrad_attributes().set_pre_padding(c.pre).set_post_padding(c.post).set_stride(c.stride).set_dilation(c.dilation));
    DW->set_output(true).set_dim(wd).set_data_type(D::INT32);
    ASSERT_GOOD(g.build(h, {HeurMode_t::A}));
    std::vector<std::int32_t> out(w.size(), 99);
    ASSERT_GOOD(run(g, h, {{DY->get_uid(), dm.data()}, {X->get_uid(), xm.data()}, {DW->get_uid(), out.data()}}));
    double got = 0;
    each(wd, [&](Ints const& at, std::size_t k) { got += w[k] * out[static_cast<std::size_t>(offset(at, nhwc(wd)))]; });
    EXPECT_EQ(got, want);
  }
}

}  // namespace
}  // namespace octavo::test
