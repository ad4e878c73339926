// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// The life of a graph: codes and texts of every wrong turn, plan indices, filters, knobs, autotune, overrides, threads.

#include <atomic>
#include <thread>

#include "graph_util.h"

namespace octavo::test {
namespace {

using D = DataType_t;
using P = PointwiseMode_t;

struct Small {
  Graph g;
  TensorPtr X, W, Y;
  std::vector<std::int8_t> x = std::vector<std::int8_t>(2 * 4 * 5 * 5, 1), w = std::vector<std::int8_t>(4 * 4 * 3 * 3, 2);
  std::vector<std::int32_t> y = std::vector<std::int32_t>(2 * 4 * 3 * 3, -1);
  Small() {
    g.set_io_data_type(D::INT8).set_compute_data_type(D::INT32);
    X = g.tensor(tensor("X", {2, 4, 5, 5}));
    W = g.tensor(tensor("W", {4, 4, 3, 3}));
    Y = g.conv_fprop(X, W, fprop({0, 0}, {1, 1}, {1, 1}));
    Y->set_output(true).set_data_type(D::INT32);
  }
  std::unordered_map<std::int64_t, void*> pack() {
    return {{X->get_uid(), x.data()}, {W->get_uid(), w.data()}, {Y->get_uid(), y.data()}};
  }
};

TEST(GraphLifecycle, StepsOutOfOrder) {
  Small s;
  std::int64_t count = 7;
  std::vector<Knob> knobs;
  std::unordered_map<KnobType_t, std::int64_t> map;
  std::string name;
  std::vector<BehaviorNote_t> notes;
  std::vector<std::uint8_t> bytes;
  char const* const empty = "Empty operation graph provided. Did you forget to call graph.build_operation_graph()?";
  EXPECT_BAD(s.g.create_execution_plans({HeurMode_t::A}), HEURISTIC_QUERY_FAILED, empty);
  EXPECT_BAD(s.g.get_engine_count(count), HEURISTIC_QUERY_FAILED, empty);
  EXPECT_BAD(s.g.get_knobs_for_engine(0, knobs), HEURISTIC_QUERY_FAILED, empty);
  EXPECT_BAD(s.g.create_execution_plan(0, map), HEURISTIC_QUERY_FAILED, empty);
  EXPECT_BAD(s.g.check_support(), GRAPH_EXECUTION_PLAN_CREATION_FAILED,
             "[cudnn_frontend] Error: No execution plans support the graph.");
  EXPECT_BAD(s.g.build_plans(), GRAPH_EXECUTION_PLAN_CREATION_FAILED,
             "[cudnn_frontend] Error: No valid execution plans built.");
  EXPECT_BAD(s.g.build_plan_at_index(0), GRAPH_EXECUTION_FAILED, "Plan index 0 is invalid.");
  EXPECT_BAD(s.g.get_plan_name(name), GRAPH_EXECUTION_FAILED, "Plan index -1 is invalid.");
  EXPECT_BAD(s.g.get_plan_name_at_index(5, name), GRAPH_EXECUTION_FAILED, "Plan index 5 is invalid.");
  EXPECT_BAD(s.g.get_behavior_notes(notes), GRAPH_EXECUTION_FAILED, "invalid");
  EXPECT_BAD(s.g.get_engine_and_knobs_at_index(0, count, map), GRAPH_EXECUTION_FAILED, "Plan index 0 is invalid.");
  EXPECT_BAD(s.g.serialize(bytes), GRAPH_EXECUTION_PLAN_CREATION_FAILED, "no built plan");
  EXPECT_BAD(s.g.execute(nullptr, s.pack(), nullptr), GRAPH_EXECUTION_FAILED, "invalid");
  EXPECT_BAD(s.g.build_operation_graph(nullptr), HANDLE_ERROR, "null");
  EXPECT_BAD(s.g.build_operation_graph(), ATTRIBUTE_NOT_SET, "Device properties are not set.");
  EXPECT_EQ(s.g.get_workspace_size(), 0);
  EXPECT_EQ(s.g.get_workspace_size_plan_at_index(3), 0);
  EXPECT_EQ(s.g.get_autotune_workspace_size(), 0);
  EXPECT_EQ(s.g.get_execution_plan_count(), 0);
  EXPECT_EQ(s.g.get_selected_plan_index(), -1);
  EXPECT_BAD(s.g.autotune(nullptr, s.pack(), nullptr), HANDLE_ERROR, "null");
}

TEST(GraphLifecycle, WholeChain) {
  Handle h;
  Small s;
  ASSERT_GOOD(s.g.validate());
  ASSERT_GOOD(s.g.build_operation_graph(h));
  ASSERT_GOOD(s.g.build_operation_graph(h));  // twice is fine
  ASSERT_GOOD(s.g.create_execution_plans({HeurMode_t::A, HeurMode_t::FALLBACK}));
  std::int64_t const count = s.g.get_execution_plan_count();
  ASSERT_GT(count, 0);
  EXPECT_BAD(s.g.execute(h, s.pack(), nullptr), GRAPH_EXECUTION_FAILED, "invalid");
  ASSERT_GOOD(s.g.check_support(h));
  EXPECT_BAD(s.g.build_plans(h, BuildPlanPolicy_t::HEURISTICS_CHOICE, true), GRAPH_EXECUTION_PLAN_CREATION_FAILED,
             "Doing multithreaded builds is not yet supported.");
  ASSERT_GOOD(s.g.build_plans(h, BuildPlanPolicy_t::ALL));
  EXPECT_EQ(s.g.get_selected_plan_index(), 0);  // the best, not the last
  std::int64_t bytes = -1;
  for (std::int64_t i = 0; i < count; ++i) {
    EXPECT_GOOD(s.g.get_workspace_size_plan_at_index(i, bytes));
    EXPECT_LE(bytes, s.g.get_autotune_workspace_size());
    std::string name;
    EXPECT_GOOD(s.g.get_plan_name_at_index(i, name));
    EXPECT_EQ(name.rfind("eng", 0), 0u) << name;
    EXPECT_NE(name.find("_k"), std::string::npos) << name;
  }
  ASSERT_GOOD(s.g.build_plan_at_index(h, count - 1));
  EXPECT_EQ(s.g.get_selected_plan_index(), count - 1);
  ASSERT_GOOD(s.g.build_plans(h));  // a candidate exists: nothing changes
  EXPECT_EQ(s.g.get_selected_plan_index(), count - 1);
  ASSERT_GOOD(run(s.g, h, s.pack()));
  for (std::int32_t v : s.y) EXPECT_EQ(v, 4 * 9 * 2);
  EXPECT_EQ(s.g.get_variant_pack_uids_sorted(), (Ints{1, 2, 3}));
}

TEST(GraphLifecycle, DeadHandles) {
  handle_t h = nullptr;
  ASSERT_GOOD(create_handle(h, -1));
  EXPECT_FALSE(handle_is_cuda(h));
  EXPECT_EQ(handle_ordinal(h), -1);
  EXPECT_FALSE(handle_device_name(h).empty());
  EXPECT_BAD(set_stream(h, reinterpret_cast<CUstream_st*>(16)), INVALID_VALUE, "CPU");
  EXPECT_GOOD(set_stream(h, nullptr));
  ASSERT_GOOD(destroy_handle(h));
  EXPECT_BAD(destroy_handle(nullptr), HANDLE_ERROR, "null");
  EXPECT_EQ(create_handle(h, 63).code, error_code_t::INVALID_CUDA_DEVICE);
  EXPECT_BAD(create_handle(h, -7), INVALID_CUDA_DEVICE, "-7");
  EXPECT_EQ(h, nullptr);
}

TEST(GraphLifecycle, EnginesAndKnobs) {
  Handle h;
  Small s;
  ASSERT_GOOD(s.g.validate());
  ASSERT_GOOD(s.g.build_operation_graph(h));
  std::int64_t engines = 0;
  ASSERT_GOOD(s.g.get_engine_count(engines));
  ASSERT_GT(engines, 0);
  std::int64_t made = 0;
  for (std::int64_t e = 0; e < engines; ++e) {
    std::vector<Knob> knobs;
    ASSERT_GOOD(s.g.get_knobs_for_engine(e, knobs));
    ASSERT_EQ(knobs.size(), 1u);
    EXPECT_EQ(knobs[0].type, KnobType_t::KERNEL_CFG);
    EXPECT_GE(knobs[0].stride, 1);
    for (std::int64_t v = knobs[0].minValue; v <= knobs[0].maxValue; v += knobs[0].stride) {
      ASSERT_GOOD(s.g.create_execution_plan(e, {{KnobType_t::KERNEL_CFG, v}}));
      std::int64_t engine = -1;
      std::unordered_map<KnobType_t, std::int64_t> back;
      ASSERT_GOOD(s.g.get_engine_and_knobs_at_index(made, engine, back));
      EXPECT_EQ(engine, e);
      EXPECT_EQ(back[KnobType_t::KERNEL_CFG], v);
      ASSERT_GOOD(s.g.build_plan_at_index(made));
      std::fill(s.y.begin(), s.y.end(), -1);
      ASSERT_GOOD(run(s.g, h, s.pack()));
      EXPECT_EQ(s.y.front(), 72);
      EXPECT_EQ(s.y.back(), 72);
      ++made;
    }
    EXPECT_BAD(s.g.create_execution_plan(e, {{KnobType_t::KERNEL_CFG, knobs[0].maxValue + 1}}), INVALID_VALUE, "KERNEL_CFG");
    EXPECT_BAD(s.g.create_execution_plan(e, {{KnobType_t::STAGES, 1}}), INVALID_VALUE, "STAGES");
  }
  EXPECT_EQ(s.g.get_execution_plan_count(), made);
  std::vector<Knob> none;
  EXPECT_BAD(s.g.get_knobs_for_engine(engines, none), INVALID_VALUE, "Engine id");
  EXPECT_BAD(s.g.create_execution_plan(-1, {}), INVALID_VALUE, "Engine id -1");
}

TEST(GraphLifecycle, FiltersKeepIndices) {
  Handle h;
  Small s;
  ASSERT_GOOD(s.g.validate());
  ASSERT_GOOD(s.g.build_operation_graph(h));
  ASSERT_GOOD(s.g.create_execution_plans({HeurMode_t::A}));
  std::int64_t const count = s.g.get_execution_plan_count();
  std::string first;
  ASSERT_GOOD(s.g.get_plan_name_at_index(0, first));
  s.g.deselect_engines({first});
  EXPECT_EQ(s.g.get_execution_plan_count(), count);
  EXPECT_BAD(s.g.build_plan_at_index(0), GRAPH_EXECUTION_PLAN_CREATION_FAILED, "Deselecting execution plan " + first);
  if (count > 1) {
    ASSERT_GOOD(s.g.check_support());
    ASSERT_GOOD(s.g.build_plans());
    EXPECT_GE(s.g.get_selected_plan_index(), 1);
  }
  s.g.deselect_engines({"eng"});
  EXPECT_BAD(s.g.check_support(), GRAPH_EXECUTION_PLAN_CREATION_FAILED, "No execution plans support the graph.",
             "Plan at index 0: Deselecting execution plan");
  Small t;
  ASSERT_GOOD(t.g.validate());
  ASSERT_GOOD(t.g.build_operation_graph(h));
  ASSERT_GOOD(t.g.create_execution_plans({HeurMode_t::A}));
  t.g.select_behavior_notes({BehaviorNote_t::CUBLASLT_DEPENDENCY});
  EXPECT_BAD(t.g.check_support(), GRAPH_EXECUTION_PLAN_CREATION_FAILED, "CUBLASLT_DEPENDENCY");
  EXPECT_BAD(t.g.build_plans(), GRAPH_EXECUTION_PLAN_CREATION_FAILED, "No valid execution plans built.", "Plan at index 0: ");
}

TEST(GraphLifecycle, WorkspaceLimit) {
  Handle h;
  Graph g;
  g.set_io_data_type(D::FLOAT).set_intermediate_data_type(D::FLOAT).set_compute_data_type(D::FLOAT);
  auto X = g.tensor(tensor("X", {1, 2, 4, 4})), W = g.tensor(tensor("W", {2, 2, 3, 3}));
  auto A = g.conv_fprop(X, W, fprop({1, 1}, {1, 1}, {1, 1}));
  auto B = g.conv_fprop(A, W, fprop({1, 1}, {1, 1}, {1, 1}));
  B->set_output(true);
  ASSERT_GOOD(g.validate());
  ASSERT_GOOD(g.build_operation_graph(h));
  ASSERT_GOOD(g.create_execution_plans({HeurMode_t::A}));
  g.deselect_workspace_greater_than(0);
  EXPECT_BAD(g.check_support(), GRAPH_EXECUTION_PLAN_CREATION_FAILED, "Skipping plan since workspace violation. Requires ");
  g.deselect_workspace_greater_than(1 << 20);
  EXPECT_GOOD(g.check_support());
}

TEST(GraphLifecycle, VariantPacks) {
  Handle h;
  Small s;
  ASSERT_GOOD(s.g.build(h, {HeurMode_t::A}));
  std::vector<char> ws(static_cast<std::size_t>(s.g.get_workspace_size()) + 1);
  auto pack = s.pack();
  pack[999] = nullptr;  // extra keys are ignored
  EXPECT_GOOD(s.g.execute(h, pack, ws.data()));
  pack.erase(3);
  EXPECT_BAD(s.g.execute(h, pack, ws.data()), INVALID_VARIANT_PACK, "Uid 3 not found in variant pack.");
  pack[3] = nullptr;
  EXPECT_BAD(s.g.execute(h, pack, ws.data()), INVALID_VARIANT_PACK, "null address", "uid 3");
  pack[3] = reinterpret_cast<char*>(s.y.data()) + 1;
  EXPECT_BAD(s.g.execute(h, pack, ws.data()), INVALID_VARIANT_PACK, "alignment of 4");
  void* sorted[3] = {s.w.data(), s.x.data(), s.y.data()};
  std::fill(s.y.begin(), s.y.end(), -1);
  EXPECT_GOOD(s.g.execute(h, sorted, 3, ws.data()));
  EXPECT_EQ(s.y.front(), 72);
  EXPECT_BAD(s.g.execute(h, sorted, 2, ws.data()), INVALID_VARIANT_PACK, "3 pointers");
  EXPECT_BAD(s.g.execute(h, static_cast<void**>(nullptr), 3, ws.data()), INVALID_VARIANT_PACK, "3 pointers");
  EXPECT_BAD(s.g.execute(nullptr, s.pack(), ws.data()), HANDLE_ERROR, "null");
  EXPECT_BAD(s.g.execute_plan_at_index(h, s.pack(), ws.data(), 12345), GRAPH_EXECUTION_FAILED, "12345");
  std::unordered_map<TensorPtr, void*> by_tensor{{s.X, s.x.data()}, {s.W, s.w.data()}, {s.Y, s.y.data()}, {nullptr, nullptr}};
  EXPECT_GOOD(s.g.execute(h, by_tensor, ws.data()));
  EXPECT_BAD(s.g.populate_cuda_graph(h, s.pack(), ws.data(), nullptr), CUDA_API_FAILED, "CPU");
  EXPECT_FALSE(s.g.cuda_graph_direct_population_eligible());
}

TEST(GraphLifecycle, AutotuneLeavesTheOutputsAlone) {
  Handle h;
  Small s;
  ASSERT_GOOD(s.g.validate());
  ASSERT_GOOD(s.g.build_operation_graph(h));
  ASSERT_GOOD(s.g.create_execution_plans({HeurMode_t::A, HeurMode_t::FALLBACK}));
  auto pack = s.pack();
  EXPECT_BAD(s.g.autotune(h, pack, nullptr), GRAPH_EXECUTION_FAILED, "No execution plans were successfully timed.");
  ASSERT_GOOD(s.g.build_plans(BuildPlanPolicy_t::ALL));
  std::vector<char> ws(static_cast<std::size_t>(s.g.get_autotune_workspace_size()) + 1);
  std::int64_t const count = s.g.get_execution_plan_count();
  std::fill(s.y.begin(), s.y.end(), -77);
  ASSERT_GOOD(s.g.autotune(h, pack, ws.data()));
  for (std::int32_t v : s.y) EXPECT_EQ(v, -77);
  EXPECT_EQ(s.g.get_selected_plan_index(), 0);
  EXPECT_EQ(s.g.get_execution_plan_count(), count);
  ASSERT_GOOD(run(s.g, h, pack));
  EXPECT_EQ(s.y.front(), 72);
}

TEST(GraphLifecycle, OverriddenShapes) {
  Handle h;
  Small s;
  s.g.set_override_shape_enabled(true);
  ASSERT_GOOD(s.g.build(h, {HeurMode_t::A}));
  // X 1x4x4x6 instead of 2x4x5x5: Y becomes 1x4x2x4 by inference.
  Ints const xd{1, 4, 4, 6};
  std::vector<std::int8_t> x(96, 1);
  std::vector<std::int32_t> y(32 + 8, -5);
  std::int64_t bytes = 0;
  ASSERT_GOOD(s.g.get_workspace_size(h, bytes, {2}, {xd}, {nhwc(xd)}));
  std::vector<char> ws(static_cast<std::size_t>(bytes) + 1);
  for (int round = 0; round < 2; ++round) {
    std::fill(y.begin(), y.end(), -5);
    ASSERT_GOOD(s.g.execute(h, std::unordered_map<std::int64_t, void*>{{1, s.w.data()}, {2, x.data()}, {3, y.data()}},
                            ws.data(), {2}, {xd}, {nhwc(xd)}));
    for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(y[i], 72);
    for (std::size_t i = 32; i < 40; ++i) EXPECT_EQ(y[i], -5);
  }
  EXPECT_BAD(s.g.execute(h, s.pack(), ws.data(), {42}, {xd}, {nhwc(xd)}), INVALID_VALUE, "42");
  EXPECT_BAD(s.g.execute(h, s.pack(), ws.data(), {2}, {xd, xd}, {nhwc(xd)}), INVALID_VALUE, "2 shapes");
  EXPECT_BAD(s.g.execute(h, s.pack(), ws.data(), {2}, {{1, 4, 1, 1}}, {{4, 1, 4, 4}}), SHAPE_DEDUCTION_FAILED, "filter");
  Small closed;
  ASSERT_GOOD(closed.g.build(h, {HeurMode_t::A}));
  EXPECT_BAD(closed.g.execute(h, closed.pack(), ws.data(), {2}, {xd}, {nhwc(xd)}), GRAPH_NOT_SUPPORTED,
             "set_override_shape_enabled");
}

TEST(GraphLifecycle, WithoutAHandle) {
  auto properties = std::make_shared<DeviceProperties>();
  std::vector<std::uint8_t> bytes;
  EXPECT_BAD(properties->serialize(bytes), ATTRIBUTE_NOT_SET, "build()");
  ASSERT_GOOD(properties->set_device_name("cpu").build());
  ASSERT_GOOD(properties->serialize(bytes));
  auto copy = std::make_shared<DeviceProperties>();
  ASSERT_GOOD(copy->deserialize(bytes));
  EXPECT_BAD(copy->deserialize({1, 2, 3}), UNSUPPORTED_GRAPH_FORMAT, "device properties");
  ASSERT_GOOD(copy->deserialize(bytes));
  Small s;
  s.g.set_device_properties(copy);
  ASSERT_GOOD(s.g.build({HeurMode_t::A}));
  std::vector<std::uint8_t> blob;
  ASSERT_GOOD(s.g.serialize(blob));
  Handle h;
  Graph back;
  ASSERT_GOOD(back.deserialize(h, blob));
  ASSERT_GOOD(run(back, h, s.pack()));
  EXPECT_EQ(s.y.front(), 72);
  Graph handleless;
  EXPECT_BAD(handleless.deserialize(blob), ATTRIBUTE_NOT_SET, "Device properties are not set.");
  handleless.set_device_properties(copy);
  EXPECT_GOOD(handleless.deserialize(blob));
}

TEST(GraphLifecycle, KernelCacheCounts) {
  Handle h;
  auto cache = std::make_shared<KernelCache>();
  std::string text;
  EXPECT_BAD(cache->to_json(text), INVALID_VALUE, "not built");
  for (std::int64_t n : {1, 2, 2}) {
    Graph g;
    g.set_io_data_type(D::FLOAT).set_compute_data_type(D::FLOAT).set_dynamic_shape_enabled(true).set_kernel_cache(cache);
    auto Y =
        g.conv_fprop(g.tensor(tensor("X", {n, 2, 4, 4})), g.tensor(tensor("W", {2, 2, 1, 1})), fprop({0, 0}, {1, 1}, {1, 1}));
    Y->set_output(true);
    ASSERT_GOOD(g.build(h, {HeurMode_t::A}));
  }
  std::int64_t size = 0;
  ASSERT_GOOD(cache->size(size));
  EXPECT_EQ(size, 2);
  EXPECT_TRUE(cache->is_finalized());
  ASSERT_GOOD(cache->to_json(text));
  KernelCache read;
  ASSERT_GOOD(read.from_json(text));
  EXPECT_BAD(read.from_json("[1"), UNSUPPORTED_GRAPH_FORMAT, "kernel cache");
}

// Eight threads, one plan, own buffers.
TEST(GraphLifecycle, ThreadsShareAPlan) {
  Handle h;
  Ints const xd{2, 16, 9, 9}, wd{8, 16, 3, 3};
  auto const x = values(xd, 31, -128, 127), w = values(wd, 32, -128, 127);
  Ints yd;
  auto const want = conv2d(x, xd, w, wd, {{1, 1}, {1, 1}}, yd);
  Graph g;
  g.set_io_data_type(D::INT8).set_compute_data_type(D::INT32);
  auto X = g.tensor(tensor("X", xd)), W = g.tensor(tensor("W", wd));
  auto Y = g.conv_fprop(X, W, fprop({1, 1}, {1, 1}, {1, 1}));
  Y->set_output(true).set_data_type(D::INT32);
  ASSERT_GOOD(g.build(h, {HeurMode_t::A}));
  auto const xm = place<std::int8_t>(x, xd, nhwc(xd)), wm = place<std::int8_t>(w, wd, nhwc(wd));
  auto const ym = place<std::int32_t>(want, yd, nhwc(yd));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      std::vector<char> ws(static_cast<std::size_t>(g.get_workspace_size()) + 1);
      for (int i = 0; i < 40; ++i) {
        auto mine = xm;
        std::vector<std::int32_t> out(ym.size(), -1);
        std::unordered_map<std::int64_t, void*> pack{
            {X->get_uid(), mine.data()}, {W->get_uid(), const_cast<std::int8_t*>(wm.data())}, {Y->get_uid(), out.data()}};
        if (g.execute(h, pack, ws.data()).is_bad() || out != ym) ++wrong;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace octavo::test
