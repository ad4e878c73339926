// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// JSON 2.0 and 1.0, binary serialisation, keys.

#include <limits>
#include <nlohmann/json.hpp>

#include "graph_util.h"
#include "octavo/graph/json_interop.h"

namespace octavo::test {
namespace {

using D = DataType_t;
using P = PointwiseMode_t;
using json = nlohmann::json;

/// Every kind of node, scalar and attribute that JSON carries.
Graph rich() {
  Graph g;
  g.set_name("rich").set_io_data_type(D::INT8).set_intermediate_data_type(D::FLOAT).set_compute_data_type(D::FLOAT);
  auto X = g.tensor(Tensor_attributes()
                        .set_name("X")
                        .set_dim({2, 2, 6, 6})
                        .set_stride({72, 36, 6, 1})
                        .set_alignment(4)
                        .set_vector_count_and_dimension(4, 1));
  auto W = g.tensor(tensor("", {4, 4, 3, 3}));
  auto C = g.conv_fprop(X, W,
                        Conv_fprop_attributes()
                            .set_pre_padding({1, 0})
                            .set_post_padding({0, 2})
                            .set_stride({2, 1})
                            .set_dilation({1, 2})
                            .set_compute_data_type(D::INT32)
                            .set_x_zero_point(3)
                            .set_w_zero_point(-2)
                            .set_convolution_mode(ConvolutionMode_t::CONVOLUTION));
  auto S = g.pointwise(C, g.tensor(0.1f), pw(P::MUL));
  auto T = g.pointwise(S, g.tensor(-1e300), pw(P::MAX));
  auto H = g.pointwise(T, g.tensor(float16(1.5f), ScalarType::COMPILE_TIME_CONST), pw(P::ADD));
  auto B = g.pointwise(H, g.tensor(bfloat16(2.5f)), pw(P::ADD));
  auto I = g.pointwise(B, g.tensor(static_cast<std::int64_t>(7)), pw(P::ADD));
  auto R = g.pointwise(
      I, pw(P::RELU_FWD).set_relu_lower_clip(0.25f).set_relu_upper_clip(6.f).set_relu_lower_clip_slope(0.01f).set_name("relu"));
  R->set_output(true);
  auto A = g.reduction(R, Reduction_attributes().set_mode(ReductionMode_t::AMAX).set_name("amax"));
  A->set_output(true).set_dim({1, 1, 1, 1}).set_data_type(D::FLOAT);
  auto [SUM, SQ] = g.genstats(R, Genstats_attributes().set_name("stats"));
  SUM->set_output(true).set_data_type(D::FLOAT);
  SQ->set_output(true).set_data_type(D::FLOAT);
  return g;
}

TEST(GraphJson, RoundTripIsEqual) {
  for (bool validated : {false, true}) {
    Graph g = rich();
    if (validated) ASSERT_GOOD(g.validate());
    json j = g;
    ASSERT_EQ(j["json_version"], "2.0");
    ASSERT_TRUE(j["tensors"].is_array());
    for (std::size_t i = 1; i < j["tensors"].size(); ++i) EXPECT_LT(j["tensors"][i - 1]["uid"], j["tensors"][i]["uid"]);
    Graph back;
    ASSERT_GOOD(back.deserialize(j));
    json const again = back;
    EXPECT_EQ(j, again);
    EXPECT_EQ(g.key(), back.key());
    ASSERT_GOOD(back.validate());
  }
}

TEST(GraphJson, SchemaOfAPlainConvolution) {
  Graph g;
  g.set_io_data_type(D::HALF).set_compute_data_type(D::FLOAT).set_sm_count(24);
  auto Y = g.conv_fprop(g.tensor(tensor("image", {4, 32, 16, 16}).set_alignment(4)), g.tensor(tensor("weight", {64, 32, 3, 3})),
                        fprop({1, 1}, {1, 1}, {1, 1}).set_name("conv"));
  Y->set_output(true).set_name("output");
  json const j = g;
  EXPECT_EQ(j["context"], json({{"compute_data_type", "FLOAT"},
                                {"intermediate_data_type", nullptr},
                                {"io_data_type", "HALF"},
                                {"sm_count", 24},
                                {"is_dynamic_shape_enabled", false},
                                {"is_override_shape_enabled", false}}));
  EXPECT_EQ(j["cudnn_frontend_version"], 13200);
  json node = j["nodes"][0];
  EXPECT_EQ(node["tag"], "CONV_FPROP");
  EXPECT_EQ(node["name"], "conv");
  EXPECT_EQ(node["math_mode"], "CROSS_CORRELATION");
  EXPECT_EQ(node["pre_padding"], json({1, 1}));
  EXPECT_EQ(node["inputs"], json({{"W", 1}, {"X", 2}}));
  EXPECT_EQ(node["outputs"], json({{"Y", 3}}));
  EXPECT_EQ(j["tensors"][1]["alignment"], 4);
  EXPECT_FALSE(j["tensors"][0].contains("alignment"));
  EXPECT_EQ(j["tensors"][1]["name"], "image");
  EXPECT_EQ(j["tensors"][1]["reordering_type"], "NONE");
  EXPECT_EQ(j["tensors"][1]["pass_by_value"], nullptr);
}

TEST(GraphJson, Version1IsRead) {
  json const j = json::parse(R"({
    "context": {"compute_data_type": "FLOAT", "intermediate_data_type": null, "io_data_type": "HALF", "name": "", "sm_count": -1},
    "json_version": "1.0",
    "nodes": [{"tag": "CONV_FPROP", "name": "c", "compute_data_type": "FLOAT", "pre_padding": [1, 1], "post_padding": [1, 1],
               "stride": [1, 1], "dilation": [1, 1], "math_mode": "CROSS_CORRELATION",
               "inputs": {"X": "image", "W": "7"}, "outputs": {"Y": "c::Y"}}],
    "tensors": {
      "image": {"name": "image", "data_type": "HALF", "dim": [1, 8, 4, 4], "stride": [128, 1, 32, 8], "is_virtual": false,
                "pass_by_value": null, "is_pass_by_value": false, "reordering_type": "NONE", "uid": 0, "uid_assigned": false},
      "7": {"name": "w", "data_type": "HALF", "dim": [8, 8, 3, 3], "stride": [72, 1, 24, 8], "is_virtual": false,
            "pass_by_value": null, "is_pass_by_value": false, "reordering_type": "NONE", "uid": 7, "uid_assigned": true},
      "c::Y": {"name": "c::Y", "data_type": null, "dim": [], "stride": [], "is_virtual": false, "pass_by_value": null,
               "is_pass_by_value": false, "reordering_type": "NONE", "uid": 0, "uid_assigned": false}}})");
  Graph g;
  ASSERT_GOOD(g.deserialize(j));
  ASSERT_GOOD(g.validate());
  Tensor_attributes w;
  ASSERT_GOOD(g.query_tensor_attributes_of_uid(7, w));
  EXPECT_EQ(w.get_name(), "w");
  json const now = g;
  EXPECT_EQ(now["json_version"], "2.0");
  EXPECT_EQ(now["nodes"][0]["inputs"]["W"], 7);
}

TEST(GraphJson, GarbageIsAnError) {
  Graph g = rich();
  json const whole = g;
  Graph h;
  EXPECT_BAD(h.deserialize_text("{"), UNSUPPORTED_GRAPH_FORMAT, "JSON");
  EXPECT_BAD(h.deserialize_text(""), UNSUPPORTED_GRAPH_FORMAT, "JSON");
  EXPECT_BAD(h.deserialize(json("text")), UNSUPPORTED_GRAPH_FORMAT, "Expected 2.0");
  EXPECT_BAD(h.deserialize(json::array()), UNSUPPORTED_GRAPH_FORMAT, "Expected 2.0");
  json j = whole;
  j["json_version"] = "3.0";
  EXPECT_BAD(h.deserialize(j), UNSUPPORTED_GRAPH_FORMAT, "Unsupported graph JSON version. Expected 2.0");
  j = whole;
  j["nodes"][0]["inputs"]["X"] = 12345;
  EXPECT_BAD(h.deserialize(j), UNSUPPORTED_GRAPH_FORMAT, "CONV_FPROP", "X", "not there");
  j = whole;
  j["tensors"][0]["dim"] = "abc";
  EXPECT_BAD(h.deserialize(j), UNSUPPORTED_GRAPH_FORMAT, "dim");
  j = whole;
  j["tensors"][0]["data_type"] = "FLOAT7";
  EXPECT_BAD(h.deserialize(j), UNSUPPORTED_GRAPH_FORMAT, "data_type");
  j = whole;
  j["nodes"][1]["mode"] = "FROB";
  EXPECT_BAD(h.deserialize(j), UNSUPPORTED_GRAPH_FORMAT, "mode");
  // Removing or replacing any value anywhere never throws, and validate() holds out too.
  const std::vector<json> poison{nullptr,
                                 -1,
                                 1e300,
                                 "x",
                                 json::array(),
                                 json::object(),
                                 std::numeric_limits<std::int64_t>::min(),
                                 std::numeric_limits<std::uint64_t>::max(),
                                 json({1, "a", nullptr})};
  int tried = 0;
  json const flat = whole.flatten();
  for (auto const& path : flat.items()) {
    for (json const& p : poison) {
      json broken = whole;
      broken[json::json_pointer(path.key())] = p;
      Graph victim;
      if (victim.deserialize(broken).is_good()) static_cast<void>(victim.validate().is_good());
      ++tried;
    }
  }
  EXPECT_GT(tried, 500);
  json circle = whole;
  circle["nodes"][1]["inputs"]["IN_0"] = circle["nodes"][6]["outputs"]["OUT_0"];
  ASSERT_GOOD(h.deserialize(circle));
  EXPECT_BAD(h.validate(), INVALID_VALUE, "circle");
  auto status = Graph().deserialize(whole, true);
  EXPECT_BAD(status, UNSUPPORTED_GRAPH_FORMAT, "enforce_precompiled");
}

TEST(GraphJson, OperationsInAnyOrder) {
  Graph g = rich();
  ASSERT_GOOD(g.validate());
  json j = g;
  std::reverse(j["nodes"].begin(), j["nodes"].end());
  Graph back;
  ASSERT_GOOD(back.deserialize(j));
  ASSERT_GOOD(back.validate());
  EXPECT_EQ(back.get_variant_pack_uids_sorted(), g.get_variant_pack_uids_sorted());
}

TEST(GraphJson, ForeignNodesSurviveTheTrip) {
  Graph g;
  g.set_io_data_type(D::HALF).set_compute_data_type(D::FLOAT).set_intermediate_data_type(D::FLOAT);
  auto t = g.tensor(tensor("t", {1, 2, 3, 4}));
  g.matmul(t, t, Matmul_attributes().set_name("mm"))->set_output(true);
  json const j = g;
  Graph back;
  ASSERT_GOOD(back.deserialize(j));
  json const again = back;
  EXPECT_EQ(j, again);
  EXPECT_BAD(back.validate(), GRAPH_NOT_SUPPORTED, "matmul", "mm");
}

TEST(GraphJson, KeysTellGraphsApart) {
  const auto make = [](Ints const& xd, Ints const& stride, std::int64_t alignment, bool dynamic) {
    Graph g;
    g.set_io_data_type(D::HALF).set_compute_data_type(D::FLOAT).set_dynamic_shape_enabled(dynamic);
    auto Y = g.conv_fprop(g.tensor(tensor("", xd).set_stride(stride).set_alignment(alignment)),
                          g.tensor(tensor("", {4, 8, 3, 3})), fprop({1, 1}, {1, 1}, {1, 1}));
    Y->set_output(true);
    return g;
  };
  Ints const d{2, 8, 6, 6}, e{4, 8, 6, 6};
  std::size_t const base = make(d, nhwc(d), 16, false).key();
  EXPECT_EQ(base, make(d, nhwc(d), 16, false).key());
  EXPECT_NE(base, make(d, nchw(d), 16, false).key());
  EXPECT_NE(base, make(e, nhwc(e), 16, false).key());
  EXPECT_NE(base, make(d, nhwc(d), 4, false).key());
  EXPECT_EQ(make(d, nhwc(d), 16, true).key(), make(e, nhwc(e), 16, true).key());
  Handle h;
  Graph g = make(d, nhwc(d), 16, false);
  ASSERT_GOOD(g.validate());
  std::size_t const after = g.key();
  ASSERT_GOOD(g.build(h, {HeurMode_t::A}));
  EXPECT_EQ(after, g.key());
  EXPECT_NE(g.print().find("CONV_FPROP"), std::string::npos);
}

TEST(GraphBinary, RestoresAnExecutableGraph) {
  Handle h;
  Ints const xd{1, 6, 5, 5}, wd{4, 6, 3, 3};
  auto const x = values(xd, 51), w = values(wd, 52);
  Ints yd;
  auto const want = conv2d(x, xd, w, wd, {{1, 1}, {1, 1}}, yd);
  std::vector<std::uint8_t> bytes;
  std::string name;
  {
    Graph g;
    g.set_io_data_type(D::FLOAT).set_intermediate_data_type(D::FLOAT).set_compute_data_type(D::FLOAT);
    auto C = g.conv_fprop(g.tensor(tensor("X", xd).set_uid(10)), g.tensor(tensor("W", wd).set_uid(11)),
                          fprop({1, 1}, {1, 1}, {1, 1}));
    auto Y = g.pointwise(C, g.tensor(0.5f), pw(P::MUL));
    Y->set_output(true).set_uid(12);
    ASSERT_GOOD(g.validate());
    ASSERT_GOOD(g.build_operation_graph(h));
    ASSERT_GOOD(g.create_execution_plans({HeurMode_t::A}));
    ASSERT_GOOD(g.build_plan_at_index(g.get_execution_plan_count() - 1));  // not the first: the choice is kept
    ASSERT_GOOD(g.get_plan_name(name));
    ASSERT_GOOD(g.serialize(bytes));
  }
  Graph back;
  ASSERT_GOOD(back.deserialize(h, bytes, true));
  std::string restored;
  ASSERT_GOOD(back.get_plan_name(restored));
  EXPECT_EQ(restored, name);
  auto xm = place<float>(x, xd, nhwc(xd)), wm = place<float>(w, wd, nhwc(wd));
  std::vector<float> y(want.size(), -1);
  ASSERT_GOOD(run(back, h, {{10, xm.data()}, {11, wm.data()}, {12, y.data()}}));
  each(yd, [&](Ints const& at, std::size_t k) { EXPECT_EQ(y[static_cast<std::size_t>(offset(at, nhwc(yd)))], want[k] * 0.5); });
  Tensor_attributes t;
  ASSERT_GOOD(back.query_tensor_attributes_of_uid(12, t));
  EXPECT_EQ(t.get_dim(), yd);
  ASSERT_GOOD(back.deserialize(h, bytes));  // again into the same graph

  // Every cut, and every flipped byte of the first 200 and of a sample, is an error.
  for (std::size_t n = 0; n < bytes.size(); n += n < 64 ? 1 : 97) {
    std::vector<std::uint8_t> const cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n));
    EXPECT_TRUE(Graph().deserialize(h, cut).is_bad()) << n;
  }
  for (std::size_t n = 0; n < bytes.size(); n += n < 200 ? 1 : 31) {
    std::vector<std::uint8_t> flipped = bytes;
    flipped[n] ^= 0x10;
    EXPECT_TRUE(Graph().deserialize(h, flipped).is_bad()) << n;
  }
  EXPECT_BAD(Graph().deserialize(h, std::vector<std::uint8_t>{1, 2, 3}), UNSUPPORTED_GRAPH_FORMAT, "serialised");
  EXPECT_BAD(Graph().deserialize(nullptr, bytes), HANDLE_ERROR, "null");
}

}  // namespace
}  // namespace octavo::test
