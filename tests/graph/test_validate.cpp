// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// What validate() infers (the quirks that programs can see) and what it refuses: every mistake ends in an error_t with a
// sentence, never in a crash, an exception or a wrong shape.

#include <limits>

#include "graph_util.h"

namespace octavo::test {
namespace {

using D = DataType_t;
using P = PointwiseMode_t;

/// X 2x8x6x6, W 4x8x3x3, everything set; tests break one thing.
struct Plain {
  Graph g;
  TensorPtr X, W, Y;
  explicit Plain(Conv_fprop_attributes const& a = fprop({1, 1}, {1, 1}, {1, 1}), Ints const& xd = {2, 8, 6, 6},
                 Ints const& wd = {4, 8, 3, 3}) {
    g.set_io_data_type(D::HALF).set_intermediate_data_type(D::FLOAT).set_compute_data_type(D::FLOAT);
    X = g.tensor(tensor("image", xd));
    W = g.tensor(tensor("filter", wd));
    Y = g.conv_fprop(X, W, a);
    Y->set_output(true);
  }
};

// ---- quirks ----------------------------------------------------------------------------------------------------------------

TEST(GraphInference, ContextIsCopiedWhenTheOperationIsAdded) {
  Plain p;
  p.g.set_io_data_type(D::FLOAT);
  ASSERT_GOOD(p.g.validate());
  EXPECT_EQ(p.Y->get_data_type(), D::HALF);
}

TEST(GraphInference, TypesComeFromIoOrIntermediate) {
  Plain p;
  auto R = p.g.pointwise(p.Y, pw(P::RELU_FWD));
  ASSERT_GOOD(p.g.validate());
  EXPECT_EQ(p.Y->get_data_type(), D::HALF);
  EXPECT_EQ(p.X->get_data_type_origin(), TypeOrigin::io_data_type);
  EXPECT_EQ(R->get_data_type(), D::FLOAT);
  EXPECT_EQ(R->get_data_type_origin(), TypeOrigin::intermediate_data_type);
  R->set_output(true);  // too late: the type stays
  ASSERT_GOOD(p.g.validate());
  EXPECT_EQ(R->get_data_type(), D::FLOAT);
}

TEST(GraphInference, OutputIsChannelsLastEvenForNchwInputs) {
  Plain p;
  p.X->set_stride(nchw(p.X->get_dim()));
  p.W->set_stride(nchw(p.W->get_dim()));
  ASSERT_GOOD(p.g.validate());
  EXPECT_EQ(p.Y->get_dim(), (Ints{2, 4, 6, 6}));
  EXPECT_EQ(p.Y->get_stride(), (Ints{144, 1, 24, 4}));
}

TEST(GraphInference, StridesSetByTheUserStay) {
  Plain p;
  p.Y->set_stride(nchw({2, 4, 6, 6}));
  ASSERT_GOOD(p.g.validate());
  EXPECT_EQ(p.Y->get_stride(), nchw({2, 4, 6, 6}));
}

TEST(GraphInference, LastOperandGivesThePointwiseLayout) {
  Graph g;
  g.set_io_data_type(D::FLOAT).set_compute_data_type(D::FLOAT);
  Ints const d{2, 3, 4, 5};
  auto a = g.tensor(tensor("a", d)), b = g.tensor(tensor("b", d).set_stride(nchw(d)));
  auto c = g.pointwise(a, b, pw(P::ADD));
  c->set_output(true);
  ASSERT_GOOD(g.validate());
  EXPECT_EQ(c->get_stride(), nchw(d));
}

TEST(GraphInference, PointwiseBroadcasts) {
  Graph g;
  g.set_io_data_type(D::HALF).set_compute_data_type(D::FLOAT);
  auto a = g.tensor(tensor("a", {8, 128, 16, 1})), b = g.tensor(tensor("b", {1, 128, 1, 1}));
  auto c = g.pointwise(a, b, pw(P::ADD));
  c->set_output(true);
  ASSERT_GOOD(g.validate());
  EXPECT_EQ(c->get_dim(), a->get_dim());
  EXPECT_EQ(c->get_stride(), a->get_stride());
  // Rank 3, either operand the larger one.
  Graph h;
  h.set_io_data_type(D::HALF).set_compute_data_type(D::FLOAT);
  auto in0 = h.tensor(Tensor_attributes().set_dim({1, 4194304, 1}).set_stride({1, 1, 4194304}));
  auto in1 = h.tensor(Tensor_attributes().set_dim({1, 4194304, 32}).set_stride({1, 32, 1}));
  auto out = h.pointwise(in0, in1, pw(P::ADD));
  out->set_output(true);
  ASSERT_GOOD(h.validate());
  EXPECT_EQ(out->get_dim(), in1->get_dim());
  EXPECT_EQ(out->get_stride(), in1->get_stride());
}

TEST(GraphInference, ScalarsTakeTheRankOfTheOthers) {
  Plain p;
  auto s = p.g.tensor(2.0f);
  EXPECT_EQ(s->get_dim(), (Ints{1}));
  auto M = p.g.pointwise(p.Y, s, pw(P::MUL));
  M->set_output(true);
  ASSERT_GOOD(p.g.validate());
  EXPECT_EQ(s->get_dim(), (Ints{1, 1, 1, 1}));
  EXPECT_EQ(s->get_data_type(), D::FLOAT);
}

TEST(GraphInference, NamesFollowTheOperationIndex) {
  Graph g;
  g.set_io_data_type(D::FLOAT).set_compute_data_type(D::FLOAT).set_intermediate_data_type(D::FLOAT);
  auto X = g.tensor(tensor("", {1, 2, 4, 4})), W = g.tensor(tensor("", {2, 2, 1, 1}));
  auto Y = g.conv_fprop(X, W, fprop({0, 0}, {1, 1}, {1, 1}));
  auto S = g.tensor(tensor("", {1, 2, 1, 1}));
  auto M = g.pointwise(Y, S, pw(P::MUL));
  EXPECT_EQ(Y->get_name(), "0::Y");
  EXPECT_EQ(M->get_name(), "1::OUT_0");
  EXPECT_EQ(S->get_name(), "1::IN_1");
  EXPECT_EQ(X->get_name(), "");
  auto DX = g.conv_dgrad(Y, W, Conv_dgrad_attributes());
  auto DW = g.conv_wgrad(Y, X, Conv_wgrad_attributes());
  auto R = g.reduction(Y, Reduction_attributes());
  auto [A, B] = g.genstats(Y, Genstats_attributes());
  EXPECT_EQ(DX->get_name(), "::DX");
  EXPECT_EQ(DW->get_name(), "::DW");
  EXPECT_EQ(R->get_name(), "::Y");
  EXPECT_EQ(A->get_name(), "_sum_output");
  EXPECT_EQ(B->get_name(), "_sq_sum_output");
  EXPECT_EQ(g.tensor_like(X)->get_name(), "");
}

TEST(GraphInference, UidsComeAtValidate) {
  Plain p;
  EXPECT_EQ(p.Y->get_uid(), 0);
  EXPECT_FALSE(p.Y->has_uid());
  ASSERT_GOOD(p.g.validate());
  EXPECT_EQ(p.W->get_uid(), 1);
  EXPECT_EQ(p.X->get_uid(), 2);
  EXPECT_EQ(p.Y->get_uid(), 3);
  ASSERT_GOOD(p.g.validate());
  EXPECT_EQ(p.Y->get_uid(), 3);
  Tensor_attributes found;
  ASSERT_GOOD(p.g.query_tensor_attributes_of_uid(1, found));
  EXPECT_EQ(found.get_name(), "filter");
  EXPECT_BAD(p.g.query_tensor_attributes_of_uid(99, found), INVALID_VALUE, "99");
}

TEST(GraphInference, ExplicitUidsAreSkipped) {
  Plain p;
  p.X->set_uid(1);
  ASSERT_GOOD(p.g.validate());
  EXPECT_EQ(p.W->get_uid(), 2);
  EXPECT_EQ(p.Y->get_uid(), 3);
  Plain zero;
  zero.X->set_uid(0);
  ASSERT_GOOD(zero.g.validate());
  EXPECT_EQ(zero.X->get_uid(), 0);
}

TEST(GraphInference, DgradAndWgradNeedTheirDims) {
  Graph g;
  g.set_io_data_type(D::HALF).set_compute_data_type(D::FLOAT);
  auto DY = g.tensor(tensor("dy", {2, 4, 6, 6})), W = g.tensor(tensor("w", {4, 8, 3, 3}));
  auto DX = g.conv_dgrad(DY, W, Conv_dgrad_attributes().set_padding({1, 1}).set_stride({1, 1}).set_dilation({1, 1}));
  DX->set_output(true);
  EXPECT_BAD(g.validate(), ATTRIBUTE_NOT_SET, "For dgrad node, output dimension inferencing is not possible.");
  DX->set_dim({2, 8, 6, 6});
  ASSERT_GOOD(g.validate());
  EXPECT_EQ(DX->get_stride(), nhwc({2, 8, 6, 6}));
  Graph h;
  h.set_io_data_type(D::HALF).set_compute_data_type(D::FLOAT);
  auto dy = h.tensor(tensor("dy", {2, 4, 6, 6})), x = h.tensor(tensor("x", {2, 8, 6, 6}));
  auto DW = h.conv_wgrad(dy, x, Conv_wgrad_attributes().set_padding({1, 1}).set_stride({1, 1}).set_dilation({1, 1}));
  DW->set_output(true);
  EXPECT_BAD(h.validate(), ATTRIBUTE_NOT_SET, "wgrad", "set_dim");
  DW->set_dim({4, 8, 3, 3});
  ASSERT_GOOD(h.validate());
  EXPECT_EQ(DW->get_stride(), nhwc({4, 8, 3, 3}));
}

TEST(GraphInference, RanksThreeToFive) {
  Plain one(fprop({1}, {1}, {1}), {2, 8, 6}, {4, 8, 3});
  ASSERT_GOOD(one.g.validate());
  EXPECT_EQ(one.Y->get_dim(), (Ints{2, 4, 6}));
  Plain three(fprop({0, 1, 2}, {2, 3, 4}, {1, 1, 1}), {4, 16, 8, 9, 10}, {8, 16, 3, 3, 3});
  ASSERT_GOOD(three.g.validate());
  EXPECT_EQ(three.Y->get_dim(), (Ints{4, 8, 3, 3, 3}));
}

TEST(GraphInference, AMovedGraphWorksAndTheOldOneIsEmpty) {
  Plain p;
  Graph moved = std::move(p.g);
  ASSERT_GOOD(moved.validate());
  EXPECT_GOOD(p.g.validate());  // NOLINT(bugprone-use-after-move): an empty graph, not a crash
  Graph assigned;
  assigned = std::move(moved);
  ASSERT_GOOD(assigned.validate());
}

// ---- what cudnn-frontend catches: same code, same words
// ----------------------------------------------------------------------

TEST(GraphRefusal, UnsetAttributes) {
  EXPECT_BAD(Plain(Conv_fprop_attributes().set_stride({1, 1}).set_dilation({1, 1})).g.validate(), ATTRIBUTE_NOT_SET,
             "Pre padding not set.");
  EXPECT_BAD(Plain(Conv_fprop_attributes().set_pre_padding({1, 1}).set_stride({1, 1}).set_dilation({1, 1})).g.validate(),
             ATTRIBUTE_NOT_SET, "Post padding not set.");
  EXPECT_BAD(Plain(Conv_fprop_attributes().set_padding({1, 1}).set_dilation({1, 1})).g.validate(), ATTRIBUTE_NOT_SET,
             "Conv strides not set.");
  EXPECT_BAD(Plain(Conv_fprop_attributes().set_padding({1, 1}).set_stride({1, 1})).g.validate(), ATTRIBUTE_NOT_SET,
             "Conv dilation not set.");
  Plain no_dim;
  no_dim.X->set_dim({});
  EXPECT_BAD(no_dim.g.validate(), ATTRIBUTE_NOT_SET, "Tensor 'image' dims not set.");
  Plain no_stride;
  no_stride.W->set_stride({});
  EXPECT_BAD(no_stride.g.validate(), ATTRIBUTE_NOT_SET, "Tensor 'filter' strides not set.");
  Plain uneven;
  uneven.X->set_stride({1, 2, 3});
  EXPECT_BAD(uneven.g.validate(), ATTRIBUTE_NOT_SET, "'image'", "does not equal dimensionality in dim and stride");
}

TEST(GraphRefusal, TensorRules) {
  Tensor_attributes both = tensor("t", {1}, D::FLOAT).set_is_virtual(true).set_is_pass_by_value(true);
  EXPECT_BAD(both.validate(), ATTRIBUTE_NOT_SET, "'t'", "both virtual and pass_by_value");
  Tensor_attributes unflagged(1.0f);
  unflagged.set_is_pass_by_value(false);
  EXPECT_BAD(unflagged.validate(), ATTRIBUTE_NOT_SET, "fused scalar");
  Tensor_attributes clash(1.0f);
  clash.set_compile_time_constant(2.0f);
  EXPECT_BAD(clash.validate(), ATTRIBUTE_NOT_SET, "compile-time constant");
  Tensor_attributes ragged = tensor("t", {1}).set_ragged_offset_multiplier(0);
  EXPECT_BAD(ragged.validate(), ATTRIBUTE_NOT_SET, "ragged");
}

TEST(GraphRefusal, Broadcast) {
  Graph g;
  g.set_io_data_type(D::FLOAT).set_compute_data_type(D::FLOAT);
  auto c = g.pointwise(g.tensor(tensor("a", {1, 2, 3, 4})), g.tensor(tensor("b", {1, 5, 3, 4})), pw(P::ADD));
  c->set_output(true);
  EXPECT_BAD(g.validate(), SHAPE_DEDUCTION_FAILED, "dimensions mismatch as broadcasting 2 non-one dimension sizes.");
  Graph h;
  h.set_io_data_type(D::FLOAT).set_compute_data_type(D::FLOAT);
  auto d = h.pointwise(h.tensor(tensor("a", {1, 2, 3, 1})), h.tensor(tensor("b", {1, 2, 1, 4})), pw(P::ADD));
  d->set_output(true);
  EXPECT_BAD(h.validate(), SHAPE_DEDUCTION_FAILED, "Pointwise output strides could not be computed");
}

TEST(GraphRefusal, DuplicateAndNegativeUids) {
  Plain p;
  p.X->set_uid(1);
  p.Y->set_uid(1).set_name("response");
  EXPECT_BAD(p.g.validate(), INVALID_VALUE, "uid 1 for tensor named response has been already assigned to another tensor.");
  Plain n;
  n.X->set_uid(-3);
  EXPECT_BAD(n.g.validate(), INVALID_VALUE, "-3", "image");
}

TEST(GraphRefusal, FilterOverInt32) {
  Plain p(fprop({0, 0}, {1, 1}, {1, 1}), {1, 65536, 4, 4}, {32768, 65536, 1, 1});
  EXPECT_BAD(p.g.validate(), GRAPH_NOT_SUPPORTED, "Conv filter total elements exceed INT32_MAX.");
}

TEST(GraphRefusal, KernelCacheWithoutDynamicShapes) {
  Plain p;
  p.g.set_kernel_cache(std::make_shared<KernelCache>());
  EXPECT_BAD(p.g.validate(), GRAPH_NOT_SUPPORTED, "Kernel caching enabled but dynamic shapes is disabled");
  p.g.set_dynamic_shape_enabled(true);
  EXPECT_GOOD(p.g.validate());
}

// ---- what cudnn-frontend lets through to an opaque failure or a crash
// ----------------------------------------------------------

TEST(GraphRefusal, GroupsQuoteEveryNumber) {
  EXPECT_BAD(Plain(fprop({1, 1}, {1, 1}, {1, 1}), {2, 32, 6, 6}, {4, 24, 3, 3}).g.validate(), INVALID_VALUE, "C=32", "C/g=24",
             "K=4");
  EXPECT_BAD(Plain(fprop({1, 1}, {1, 1}, {1, 1}), {2, 4, 6, 6}, {5, 2, 3, 3}).g.validate(), INVALID_VALUE, "C=4", "C/g=2",
             "K=5", "g=2");
}

TEST(GraphRefusal, ShapesThatDoNotFit) {
  EXPECT_BAD(Plain(fprop({0, 0}, {1, 1}, {1, 1}), {2, 8, 2, 6}).g.validate(), SHAPE_DEDUCTION_FAILED, "filter", "axis 0", "3",
             "2");
  EXPECT_BAD(Plain(fprop({1, 1}, {1, 1}, {1, 1}), {2, 8, 6, 6, 6}).g.validate(), INVALID_VALUE, "5 dims", "4");
  Plain y;
  y.Y->set_dim({2, 4, 5, 6});
  EXPECT_BAD(y.g.validate(), INVALID_VALUE, "[2,4,5,6]", "[2,4,6,6]");
  Graph g;
  g.set_io_data_type(D::HALF).set_compute_data_type(D::FLOAT);
  auto DX = g.conv_dgrad(g.tensor(tensor("dy", {2, 4, 6, 6})), g.tensor(tensor("w", {4, 8, 3, 3})),
                         Conv_dgrad_attributes().set_padding({1, 1}).set_stride({2, 2}).set_dilation({1, 1}));
  DX->set_output(true).set_dim({2, 8, 6, 6});
  EXPECT_BAD(g.validate(), INVALID_VALUE, "dy", "[2,4,6,6]", "[2,4,3,3]");
}

TEST(GraphRefusal, ListsOfTheWrongLengthOrValue) {
  EXPECT_BAD(Plain(fprop({1}, {1, 1}, {1, 1})).g.validate(), INVALID_VALUE, "pre padding [1]", "2 spatial");
  EXPECT_BAD(Plain(fprop({1, 1, 1}, {1, 1}, {1, 1})).g.validate(), INVALID_VALUE, "[1,1,1]", "2 spatial");
  EXPECT_BAD(Plain(fprop({1, 1}, {1}, {1, 1})).g.validate(), INVALID_VALUE, "stride [1]");
  EXPECT_BAD(Plain(fprop({1, 1}, {1, 1}, {1, 1, 1})).g.validate(), INVALID_VALUE, "dilation [1,1,1]");
  EXPECT_BAD(Plain(fprop({-1, 1}, {1, 1}, {1, 1})).g.validate(), INVALID_VALUE, "padding [-1,1]");
  EXPECT_BAD(Plain(fprop({1, 1}, {0, 1}, {1, 1})).g.validate(), INVALID_VALUE, "stride [0,1]");
  EXPECT_BAD(Plain(fprop({1, 1}, {1, 1}, {1, 0})).g.validate(), INVALID_VALUE, "dilation [1,0]");
  EXPECT_BAD(Plain(fprop({std::numeric_limits<std::int64_t>::max(), 1}, {1, 1}, {1, 1})).g.validate(), INVALID_VALUE,
             "padding");
  EXPECT_BAD(Plain(fprop({1, 1}, {1, 1}, {1, 1}).set_convolution_mode(ConvolutionMode_t::NOT_SET)).g.validate(),
             ATTRIBUTE_NOT_SET, "convolution mode");
}

TEST(GraphRefusal, SizesAndStrides) {
  EXPECT_BAD(Plain(fprop({1, 1}, {1, 1}, {1, 1}), {2, 0, 6, 6}).g.validate(), INVALID_VALUE, "C=0");
  EXPECT_BAD(Plain(fprop({1, 1}, {1, 1}, {1, 1}), {2, 8, -6, 6}).g.validate(), INVALID_VALUE, "image", "negative");
  EXPECT_BAD(Plain(fprop({1, 1}, {1, 1}, {1, 1}), {2, 8, 0, 6}).g.validate(), INVALID_VALUE, "image size 0");
  EXPECT_GOOD(Plain(fprop({1, 1}, {1, 1}, {1, 1}), {0, 8, 6, 6}).g.validate());  // an empty batch is legal
  Plain flipped;
  flipped.X->set_stride({288, 1, -48, 8});
  EXPECT_BAD(flipped.g.validate(), INVALID_VALUE, "image", "negative strides");
  Plain overlap;
  overlap.Y->set_stride({0, 1, 24, 4});
  EXPECT_BAD(overlap.g.validate(), INVALID_VALUE, "overlap");
  Plain huge;
  huge.X->set_stride({std::numeric_limits<std::int64_t>::max(), 1, 48, 8});
  EXPECT_BAD(huge.g.validate(), INVALID_VALUE, "image");
  std::int64_t const big = std::int64_t{1} << 40;
  EXPECT_BAD(Plain(fprop({1, 1}, {1, 1}, {1, 1}), {big, 8, big, 6}).g.validate(), INVALID_VALUE, "image", "elements");
}

TEST(GraphRefusal, TypesThatAreMissingOrUnknown) {
  Graph g;
  g.set_compute_data_type(D::FLOAT);
  auto Y = g.conv_fprop(g.tensor(tensor("image", {2, 8, 6, 6})), g.tensor(tensor("filter", {4, 8, 3, 3})),
                        fprop({1, 1}, {1, 1}, {1, 1}));
  Y->set_output(true);
  EXPECT_BAD(g.validate(), ATTRIBUTE_NOT_SET, "image", "set_io_data_type");
  Graph h;
  h.set_io_data_type(D::HALF);
  auto Z = h.conv_fprop(h.tensor(tensor("image", {2, 8, 6, 6})), h.tensor(tensor("filter", {4, 8, 3, 3})),
                        fprop({1, 1}, {1, 1}, {1, 1}));
  Z->set_output(true);
  EXPECT_BAD(h.validate(), ATTRIBUTE_NOT_SET, "compute data type", "set_compute_data_type");
  // Two convolutions in a chain, the type between them never set.
  Graph c;
  c.set_io_data_type(D::HALF).set_compute_data_type(D::FLOAT);
  auto A = c.conv_fprop(c.tensor(tensor("image", {2, 8, 6, 6})), c.tensor(tensor("filter", {4, 8, 3, 3})),
                        fprop({1, 1}, {1, 1}, {1, 1}));
  auto B = c.conv_fprop(A, c.tensor(tensor("filter2", {4, 4, 3, 3})), fprop({1, 1}, {1, 1}, {1, 1}));
  B->set_output(true);
  EXPECT_BAD(c.validate(), ATTRIBUTE_NOT_SET, "0::Y", "set_intermediate_data_type");
  Plain fp4;
  fp4.X->set_data_type(D::FP4_E2M1);
  EXPECT_BAD(fp4.g.validate(), GRAPH_NOT_SUPPORTED, "image", "FP4_E2M1");
  Plain mixed;
  mixed.W->set_data_type(D::FLOAT);
  EXPECT_BAD(mixed.g.validate(), INVALID_VALUE, "f16", "f32");
  Plain compute(fprop({1, 1}, {1, 1}, {1, 1}).set_compute_data_type(D::INT32));
  EXPECT_BAD(compute.g.validate(), INVALID_VALUE, "s32", "f16");
}

TEST(GraphRefusal, ModesThatAreUnset) {
  Graph g;
  g.set_io_data_type(D::FLOAT).set_compute_data_type(D::FLOAT);
  auto a = g.tensor(tensor("a", {1, 2, 3, 4}));
  g.pointwise(a, Pointwise_attributes())->set_output(true);
  EXPECT_BAD(g.validate(), ATTRIBUTE_NOT_SET, "pointwise mode");
  Graph r;
  r.set_io_data_type(D::FLOAT).set_compute_data_type(D::FLOAT);
  r.reduction(r.tensor(tensor("a", {1, 2, 3, 4})), Reduction_attributes())->set_output(true).set_dim({1, 2, 1, 1});
  EXPECT_BAD(r.validate(), ATTRIBUTE_NOT_SET, "reduction mode");
  Graph s;
  s.set_io_data_type(D::FLOAT).set_compute_data_type(D::FLOAT);
  s.pointwise(s.tensor(tensor("a", {1, 2, 3, 4})), pw(P::ADD))->set_output(true);
  EXPECT_BAD(s.validate(), ATTRIBUTE_NOT_SET, "ADD", "reads 2 tensors");
}

TEST(GraphRefusal, NullTensorsEverywhere) {
  Graph g;
  g.set_io_data_type(D::FLOAT).set_compute_data_type(D::FLOAT).set_intermediate_data_type(D::FLOAT);
  TensorPtr const null;
  auto const t = g.tensor(tensor("t", {1, 2, 3, 4}));
  const auto refused = [](Graph graph, std::string const& port) {
    EXPECT_BAD(graph.validate(), ATTRIBUTE_NOT_SET, "null tensor", port);
  };
  const auto fresh = [] {
    Graph n;
    n.set_io_data_type(D::FLOAT).set_compute_data_type(D::FLOAT).set_intermediate_data_type(D::FLOAT);
    return n;
  };
  Graph a = fresh();
  a.conv_fprop(null, t, fprop({0, 0}, {1, 1}, {1, 1}));
  refused(std::move(a), "X");
  Graph b = fresh();
  b.conv_fprop(t, null, fprop({0, 0}, {1, 1}, {1, 1}));
  refused(std::move(b), "W");
  Graph c = fresh();
  c.conv_dgrad(null, null, Conv_dgrad_attributes());
  refused(std::move(c), "DY");
  Graph d = fresh();
  d.conv_wgrad(null, null, Conv_wgrad_attributes());
  refused(std::move(d), "X");
  Graph e = fresh();
  e.pointwise(t, null, pw(P::ADD));
  refused(std::move(e), "IN_1");
  Graph f = fresh();
  f.reduction(null, Reduction_attributes().set_mode(ReductionMode_t::ADD));
  refused(std::move(f), "X");
  Graph h = fresh();
  h.genstats(null, Genstats_attributes());
  refused(std::move(h), "X");
  Graph i = fresh();
  i.bn_finalize(null, null, null, null, null, null, BN_finalize_attributes());
  EXPECT_BAD(i.validate(), GRAPH_NOT_SUPPORTED, "bn_finalize");
  EXPECT_GOOD(fresh().tensor_like(null)->validate().is_bad() ? error_t() : error_t(error_code_t::INVALID_VALUE, "accepted"));
}

TEST(GraphRefusal, TooManyOperations) {
  Graph g;
  g.set_io_data_type(D::FLOAT).set_compute_data_type(D::FLOAT).set_intermediate_data_type(D::FLOAT);
  auto t = g.tensor(tensor("t", {1, 2, 3, 4}));
  for (int i = 0; i < 250; ++i) t = g.pointwise(t, pw(P::NEG));
  t->set_output(true);
  EXPECT_GOOD(g.validate());
  g.pointwise(t, pw(P::NEG))->set_output(true);
  EXPECT_BAD(g.validate(), GRAPH_NOT_SUPPORTED, "251", "250");
}

TEST(GraphRefusal, ForeignOperationsByName) {
  const auto refused = [](std::string const& call, std::function<void(Graph&, TensorPtr)> const& add) {
    Graph g;
    g.set_io_data_type(D::HALF).set_compute_data_type(D::FLOAT).set_intermediate_data_type(D::FLOAT);
    add(g, g.tensor(tensor("t", {1, 2, 3, 4})));
    EXPECT_BAD(g.validate(), GRAPH_NOT_SUPPORTED, call, "not supported");
  };
  refused("matmul", [](Graph& g, TensorPtr t) { g.matmul(t, t, Matmul_attributes().set_name("mm")); });
  refused("sdpa",
          [](Graph& g, TensorPtr t) { g.sdpa(t, t, t, SDPA_attributes().set_is_inference(true).set_attn_scale(0.5f)); });
  refused("layernorm", [](Graph& g, TensorPtr t) { g.layernorm(t, t, t, Layernorm_attributes()); });
  refused("rmsnorm", [](Graph& g, TensorPtr t) { g.rmsnorm(t, t, Rmsnorm_attributes()); });
  refused("batchnorm", [](Graph& g, TensorPtr t) { g.batchnorm(t, t, t, Batchnorm_attributes()); });
  refused("batchnorm_inference",
          [](Graph& g, TensorPtr t) { g.batchnorm_inference(t, t, t, t, t, Batchnorm_inference_attributes()); });
  refused("dbn_weight", [](Graph& g, TensorPtr t) { g.dbn_weight(t, t, t, t, t, DBN_weight_attributes()); });
  refused("concatenate", [](Graph& g, TensorPtr t) { g.concatenate({t, t}, Concatenate_attributes().set_axis(1)); });
  refused("reshape", [](Graph& g, TensorPtr t) { g.reshape(t, Reshape_attributes()); });
  refused("slice", [](Graph& g, TensorPtr t) { g.slice(t, Slice_attributes()); });
  refused("transpose", [](Graph& g, TensorPtr t) { g.transpose(t, Transpose_attributes().set_permutation({0, 2, 1, 3})); });
  refused("resample", [](Graph& g, TensorPtr t) { g.resample(t, Resample_attributes()); });
  refused("block_scale_dequantize", [](Graph& g, TensorPtr t) {
    g.block_scale_dequantize(t, t, Block_scale_dequantize_attributes().set_block_size(32));
  });
}

TEST(GraphRefusal, Vectors) {
  Plain three;
  three.X->set_vector_count_and_dimension(3, 1);
  EXPECT_BAD(three.g.validate(), GRAPH_NOT_SUPPORTED, "image", "vector count 3");
  Plain wrong_axis;
  wrong_axis.X->set_vector_count_and_dimension(4, 2);
  EXPECT_BAD(wrong_axis.g.validate(), GRAPH_NOT_SUPPORTED, "image", "dimension 2");
  Plain odd;
  odd.Y->set_vector_count_and_dimension(32, 1);
  EXPECT_BAD(odd.g.validate(), SHAPE_DEDUCTION_FAILED, "32", "4 channels");
  Plain reordered;
  reordered.W->set_reordering_type(TensorReordering_t::F16x16);
  EXPECT_BAD(reordered.g.validate(), GRAPH_NOT_SUPPORTED, "filter", "F16x16");
  Plain int8x32;
  int8x32.W->set_reordering_type(TensorReordering_t::INT8x32);
  EXPECT_BAD(int8x32.g.validate(), GRAPH_NOT_SUPPORTED, "filter", "INT8x32");
}

TEST(GraphRefusal, NothingIsStored) {
  Handle h;
  Plain p;
  p.Y->set_output(false);
  ASSERT_GOOD(p.g.validate());  // a virtual tensor that nothing reads is accepted
  EXPECT_BAD(p.g.build_operation_graph(h), ATTRIBUTE_NOT_SET, "set_output(true)");
  Graph empty;
  EXPECT_GOOD(empty.validate());
  EXPECT_BAD(empty.build_operation_graph(h), ATTRIBUTE_NOT_SET, "no operation");
}

}  // namespace
}  // namespace octavo::test
