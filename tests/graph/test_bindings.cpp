// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Buffers that carry their type against the declared tensors, and constant filters.

#include "graph_util.h"

namespace octavo::test {
namespace {

using D = DataType_t;
using P = PointwiseMode_t;
using Buffers = std::unordered_map<std::int64_t, BoundBuffer>;

BoundBuffer buffer(void* ptr, D type, Ints const& dim, Ints const& stride) {
  BoundBuffer b;
  b.ptr = ptr;
  b.type = type;
  b.dim = dim;
  b.stride = stride;
  b.space = BoundBuffer::Space::host;
  return b;
}

/// The reported program: X and W INT8 through io_data_type, Y's type never set, an int32 buffer bound to Y.
struct Reported {
  Handle h;
  Graph g;
  TensorPtr X, W, Y;
  std::vector<std::int8_t> x = std::vector<std::int8_t>(25), w = std::vector<std::int8_t>(9);
  std::vector<std::int32_t> y = std::vector<std::int32_t>(9, -1);
  explicit Reported(bool mended) {
    for (std::size_t i = 0; i < 25; ++i) x[i] = static_cast<std::int8_t>(i * 5);
    for (std::size_t i = 0; i < 9; ++i) w[i] = static_cast<std::int8_t>(i + 1);
    g.set_io_data_type(D::INT8).set_compute_data_type(D::INT32);
    X = g.tensor(Tensor_attributes().set_name("X").set_dim({1, 1, 5, 5}).set_stride({25, 1, 5, 1}));
    W = g.tensor(Tensor_attributes().set_name("W").set_dim({1, 1, 3, 3}).set_stride({9, 1, 3, 1}));
    Y = g.conv_fprop(X, W, fprop({0, 0}, {1, 1}, {1, 1}));
    Y->set_output(true).set_name("Y");
    if (mended) Y->set_data_type(D::INT32);
  }
  Buffers buffers() {
    return {{X->get_uid(), buffer(x.data(), D::INT8, {1, 1, 5, 5}, {25, 25, 5, 1})},
            {W->get_uid(), buffer(w.data(), D::INT8, {1, 1, 3, 3}, {9, 9, 3, 1})},
            {Y->get_uid(), buffer(y.data(), D::INT32, {1, 1, 3, 3}, {9, 9, 3, 1})}};
  }
  error_t run() {
    std::vector<char> ws(static_cast<std::size_t>(g.get_workspace_size()) + 1);
    return g.execute(h, buffers(), ws.data());
  }
};

TEST(GraphBindings, ReportedProgramNamesEverything) {
  Reported p(false);
  ASSERT_GOOD(p.g.build(p.h, {HeurMode_t::A}));
  EXPECT_BAD(p.run(), INVALID_VARIANT_PACK, "'Y'", "INT8", "io_data_type", "INT32", "set_data_type");
  for (std::int32_t v : p.y) EXPECT_EQ(v, -1);  // nothing was written
}

TEST(GraphBindings, ReportedProgramMended) {
  Reported p(true);
  ASSERT_GOOD(p.g.build(p.h, {HeurMode_t::A}));
  ASSERT_GOOD(p.run());
  for (int r = 0; r < 3; ++r) {
    for (int q = 0; q < 3; ++q) {
      std::int32_t want = 0;
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
          want += p.x[static_cast<std::size_t>((r + i) * 5 + q + j)] * p.w[static_cast<std::size_t>(i * 3 + j)];
      EXPECT_EQ(p.y[static_cast<std::size_t>(r * 3 + q)], want);
      EXPECT_NE(want, 0);
    }
  }
}

TEST(GraphBindings, EveryMismatchIsNamed) {
  Handle h;
  Ints const xd{2, 4, 3, 3}, wd{4, 4, 1, 1};
  Graph g;
  g.set_io_data_type(D::FLOAT).set_compute_data_type(D::FLOAT);
  auto X = g.tensor(tensor("X", xd)), W = g.tensor(tensor("W", wd));
  auto Y = g.conv_fprop(X, W, fprop({0, 0}, {1, 1}, {1, 1}));
  Y->set_output(true).set_name("Y");
  ASSERT_GOOD(g.build(h, {HeurMode_t::A}));
  std::vector<float> x(72, 1), w(16, 1), y(72, -1);
  std::vector<char> ws(static_cast<std::size_t>(g.get_workspace_size()) + 1);
  Buffers const right{{X->get_uid(), buffer(x.data(), D::FLOAT, xd, nhwc(xd))},
                      {W->get_uid(), buffer(w.data(), D::FLOAT, wd, nhwc(wd))},
                      {Y->get_uid(), buffer(y.data(), D::FLOAT, xd, nhwc(xd))}};
  ASSERT_GOOD(g.check_bindings(h, right));
  ASSERT_GOOD(g.execute(h, right, ws.data()));
  EXPECT_EQ(y.front(), 4);
  const auto with = [&](TensorPtr const& t, std::function<void(BoundBuffer&)> const& change) {
    Buffers b = right;
    change(b[t->get_uid()]);
    return g.execute(h, b, ws.data());
  };
  // The same memory in another order of dims, flat, or as a raw address is fine.
  EXPECT_GOOD(with(X, [](BoundBuffer& b) { b.dim = {2, 3, 3, 4}, b.stride = {36, 12, 4, 1}; }));
  EXPECT_GOOD(with(X, [](BoundBuffer& b) { b.dim = {72}, b.stride = {1}; }));
  EXPECT_GOOD(with(X, [](BoundBuffer& b) { b.type = D::NOT_SET, b.dim = {}, b.stride = {}; }));
  EXPECT_GOOD(with(W, [](BoundBuffer& b) { b.dim = {4, 4}, b.stride = {4, 1}; }));
  EXPECT_BAD(with(X, [](BoundBuffer& b) { b.type = D::HALF; }), INVALID_VARIANT_PACK, "'X'", "FLOAT", "HALF");
  EXPECT_BAD(with(X, [](BoundBuffer& b) { b.stride = {36, 9, 3, 1}; }), INVALID_VARIANT_PACK, "'X'", "strides");
  EXPECT_BAD(with(X, [](BoundBuffer& b) { b.dim = {1, 4, 3, 3}; }), INVALID_VARIANT_PACK, "'X'", "288 bytes", "144");
  EXPECT_BAD(with(X, [](BoundBuffer& b) { b.bytes = 100; }), INVALID_VARIANT_PACK, "'X'", "100");
  EXPECT_BAD(with(X, [](BoundBuffer& b) { b.type = D::NOT_SET, b.bytes = 100; }), INVALID_VARIANT_PACK, "'X'", "100");
  EXPECT_BAD(with(X, [](BoundBuffer& b) { b.dim = {71}, b.stride = {1}; }), INVALID_VARIANT_PACK, "'X'", "bytes");
  EXPECT_BAD(with(X, [](BoundBuffer& b) { b.space = BoundBuffer::Space::cuda, b.ordinal = 0; }), INVALID_VARIANT_PACK, "'X'",
             "CPU", "GPU 0");
  EXPECT_BAD(with(X, [](BoundBuffer& b) { b.ptr = nullptr; }), INVALID_VARIANT_PACK, "'X'", "null");
  EXPECT_BAD(with(X, [](BoundBuffer& b) { b.ptr = static_cast<char*>(b.ptr) + 2; }), INVALID_VARIANT_PACK, "'X'", "alignment");
  EXPECT_BAD(with(X, [](BoundBuffer& b) { b.stride = {-36, 1, 12, 4}; }), INVALID_VARIANT_PACK, "'X'", "negative");
  EXPECT_BAD(with(X, [](BoundBuffer& b) { b.stride = {1}; }), INVALID_VARIANT_PACK, "'X'", "agree");
  EXPECT_BAD(with(Y, [](BoundBuffer& b) { b.read_only = true; }), INVALID_VARIANT_PACK, "'Y'", "read-only");
  EXPECT_BAD(with(Y, [&](BoundBuffer& b) { b.ptr = x.data(); }), INVALID_VARIANT_PACK, "'Y'", "overlaps", "'X'");
  Buffers missing = right;
  missing.erase(Y->get_uid());
  EXPECT_BAD(g.execute(h, missing, ws.data()), INVALID_VARIANT_PACK, "not found in variant pack", "'Y'");
}

TEST(GraphBindings, DeclaredAlignment) {
  Handle h;
  Graph g;
  g.set_io_data_type(D::FLOAT).set_compute_data_type(D::FLOAT);
  auto X = g.tensor(tensor("X", {1, 1, 2, 2}).set_alignment(64));
  auto Y = g.pointwise(X, pw(P::NEG));
  Y->set_output(true);
  ASSERT_GOOD(g.build(h, {HeurMode_t::A}));
  alignas(64) float x[32] = {1, 2, 3, 4};
  float y[4];
  EXPECT_GOOD(g.execute(h, std::unordered_map<std::int64_t, void*>{{X->get_uid(), x}, {Y->get_uid(), y}}, nullptr));
  EXPECT_EQ(y[3], -4);
  EXPECT_BAD(g.execute(h, std::unordered_map<std::int64_t, void*>{{X->get_uid(), x + 1}, {Y->get_uid(), y}}, nullptr),
             INVALID_VARIANT_PACK, "'X'", "64 bytes", "set_alignment");
}

TEST(GraphBindings, HostScalarsAndConstants) {
  Handle h;
  Graph g;
  g.set_io_data_type(D::FLOAT).set_intermediate_data_type(D::FLOAT).set_compute_data_type(D::FLOAT);
  auto X = g.tensor(tensor("X", {1, 2, 2, 2}));
  auto A =
      g.tensor(Tensor_attributes().set_name("A").set_dim({1, 1, 1, 1}).set_stride({1, 1, 1, 1}).set_is_pass_by_value(true));
  auto B = g.tensor(0.5f), C = g.tensor(static_cast<std::int32_t>(3), ScalarType::COMPILE_TIME_CONST);
  auto Y = g.pointwise(g.pointwise(g.pointwise(X, A, pw(P::MUL)), B, pw(P::ADD)), C, pw(P::MUL));
  Y->set_output(true);
  ASSERT_GOOD(g.build(h, {HeurMode_t::A}));
  EXPECT_EQ(g.get_variant_pack_uids_sorted().size(), 3u);  // X, A, Y
  float x[8] = {0, 1, 2, 3, 4, 5, 6, 7}, a = 10, y[8];
  for (int i = 0; i < 2; ++i) {
    a = static_cast<float>(10 + i);
    ASSERT_GOOD(g.execute(h, std::unordered_map<std::int64_t, void*>{{X->get_uid(), x}, {A->get_uid(), &a}, {Y->get_uid(), y}},
                          nullptr));
    for (int k = 0; k < 8; ++k) EXPECT_EQ(y[k], (x[k] * a + 0.5f) * 3);
  }
  EXPECT_BAD(g.execute(h, std::unordered_map<std::int64_t, void*>{{X->get_uid(), x}, {Y->get_uid(), y}}, nullptr),
             INVALID_VARIANT_PACK, "not found", "'A'");
}

// A filter declared constant is read when the plan is built: its memory may go, and nothing is bound to it.
TEST(GraphBindings, ConstantFilter) {
  Handle h;
  Ints const xd{1, 8, 5, 5}, wd{16, 8, 3, 3};
  auto const x = values(xd, 41, -100, 100), w = values(wd, 42, -100, 100);
  Ints yd;
  auto const want = conv2d(x, xd, w, wd, {{1, 1}, {1, 1}}, yd);
  Graph g;
  g.set_io_data_type(D::INT8).set_compute_data_type(D::INT32);
  auto wm = std::make_unique<std::vector<std::int8_t>>(place<std::int8_t>(w, wd, nhwc(wd)));
  auto X = g.tensor(tensor("X", xd)), W = g.tensor(tensor("W", wd).set_constant_data(wm->data()));
  auto Y = g.conv_fprop(X, W, fprop({1, 1}, {1, 1}, {1, 1}));
  Y->set_output(true).set_data_type(D::INT32);
  ASSERT_GOOD(g.validate());
  ASSERT_GOOD(g.build_operation_graph(h));
  ASSERT_GOOD(g.create_execution_plans({HeurMode_t::A, HeurMode_t::FALLBACK}));
  ASSERT_GOOD(g.build_plans(BuildPlanPolicy_t::ALL));
  std::fill(wm->begin(), wm->end(), static_cast<std::int8_t>(0x5A));
  wm.reset();
  EXPECT_EQ(g.get_variant_pack_uids_sorted(), (Ints{X->get_uid(), Y->get_uid()}));
  auto xm = place<std::int8_t>(x, xd, nhwc(xd));
  auto const ym = place<std::int32_t>(want, yd, nhwc(yd));
  for (std::int64_t i = 0; i < g.get_execution_plan_count(); ++i) {
    ASSERT_GOOD(g.build_plan_at_index(i));
    std::vector<std::int32_t> out(ym.size(), -1);
    ASSERT_GOOD(run(g, h, {{X->get_uid(), xm.data()}, {Y->get_uid(), out.data()}}));
    EXPECT_EQ(out, ym) << "plan " << i;
  }
}

// The zero points of both inputs as attributes, per output channel for the filter.
TEST(GraphBindings, ZeroPointAttributes) {
  Handle h;
  Ints const xd{1, 2, 4, 4}, wd{3, 2, 3, 3};
  auto const x = values(xd, 43, 0, 255), w = values(wd, 44, 0, 255);
  std::vector<std::int32_t> zw{5, 90, 17};
  std::vector<double> xc = x, wc = w;
  for (double& v : xc) v -= 128;
  each(wd, [&](Ints const& at, std::size_t k) { wc[k] -= zw[static_cast<std::size_t>(at[0])]; });
  Ints yd;
  auto const want = conv2d(xc, xd, wc, wd, {{1, 1}, {1, 1}}, yd);
  Graph g;
  g.set_io_data_type(D::UINT8).set_compute_data_type(D::INT32);
  auto X = g.tensor(tensor("X", xd)), W = g.tensor(tensor("W", wd)), Z = g.tensor(tensor("Z", {1, 3, 1, 1}, D::INT32));
  auto Y = g.conv_fprop(X, W, fprop({1, 1}, {1, 1}, {1, 1}).set_x_zero_point(128).set_w_zero_points(Z));
  Y->set_output(true).set_data_type(D::INT32);
  ASSERT_GOOD(g.build(h, {HeurMode_t::A}));
  auto xm = place<std::uint8_t>(x, xd, nhwc(xd)), wm = place<std::uint8_t>(w, wd, nhwc(wd));
  std::vector<std::int32_t> out(want.size(), -1);
  ASSERT_GOOD(
      run(g, h, {{X->get_uid(), xm.data()}, {W->get_uid(), wm.data()}, {Z->get_uid(), zw.data()}, {Y->get_uid(), out.data()}}));
  EXPECT_EQ(out, place<std::int32_t>(want, yd, nhwc(yd)));
  Z->set_data_type(D::FLOAT);
  EXPECT_BAD(g.validate(), INVALID_VALUE, "'Z'", "INT32", "K=3");
}

// cuDNN's reordered INT8x32 filter gives what the plain filter gives.
TEST(GraphBindings, ReorderedFilter) {
  Handle h;
  Ints const xd{1, 32, 4, 4}, wd{32, 32, 3, 3};
  auto const x = values(xd, 45, -20, 20), w = values(wd, 46, -20, 20);
  Ints yd;
  auto const want = conv2d(x, xd, w, wd, {{1, 1}, {1, 1}}, yd);
  Graph g;
  g.set_compute_data_type(D::INT32);
  auto X = g.tensor(tensor("X", xd, D::INT8));
  auto W = g.tensor(Tensor_attributes()
                        .set_name("W")
                        .set_dim({32, 1, 3, 3})
                        .set_stride({9, 9, 3, 1})
                        .set_data_type(D::INT8)
                        .set_vector_count_and_dimension(32, 1)
                        .set_reordering_type(TensorReordering_t::INT8x32));
  auto Y = g.conv_fprop(X, W, fprop({1, 1}, {1, 1}, {1, 1}));
  Y->set_output(true).set_data_type(D::INT32);
  ASSERT_GOOD(g.build(h, {HeurMode_t::A}));
  // The documented transpose: [O/8,4,2][I/32,8,4][H][W] -> [I/32][H][W][O/8][2][8][4][4].
  std::vector<std::int8_t> wm(w.size());
  each({1, 3, 3, 4, 2, 8, 4, 4}, [&](Ints const& a, std::size_t k) {
    std::int64_t const o = a[3] * 8 + a[6] * 2 + a[4], i = a[0] * 32 + a[5] * 4 + a[7];
    wm[k] = static_cast<std::int8_t>(w[static_cast<std::size_t>(((o * 32 + i) * 3 + a[1]) * 3 + a[2])]);
  });
  auto xm = place<std::int8_t>(x, xd, nhwc(xd));
  std::vector<std::int32_t> out(want.size(), -1);
  ASSERT_GOOD(run(g, h, {{X->get_uid(), xm.data()}, {W->get_uid(), wm.data()}, {Y->get_uid(), out.data()}}));
  EXPECT_EQ(out, place<std::int32_t>(want, yd, nhwc(yd)));
}

TEST(GraphBindings, EmptyBatch) {
  Handle h;
  Graph g;
  g.set_io_data_type(D::FLOAT).set_compute_data_type(D::FLOAT);
  auto X = g.tensor(tensor("X", {0, 3, 8, 8})), DY = g.tensor(tensor("DY", {0, 4, 6, 6}));
  auto DW = g.conv_wgrad(DY, X, Conv_wgrad_attributes().set_padding({0, 0}).set_stride({1, 1}).set_dilation({1, 1}));
  DW->set_output(true).set_dim({4, 3, 3, 3});
  ASSERT_GOOD(g.build(h, {HeurMode_t::A}));
  std::vector<float> dw(108, -3);
  ASSERT_GOOD(run(g, h, {{X->get_uid(), nullptr}, {DY->get_uid(), nullptr}, {DW->get_uid(), dw.data()}}));
  for (float v : dw) EXPECT_EQ(v, 0);
}

}  // namespace
}  // namespace octavo::test
