// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// A graph on a CUDA handle (the fake driver's): execute, pointer checks, CUDA graphs. Oracle: x = 1 everywhere and w = 2, so
// every sum without padding is 2 * C * R * S.

#include <cstring>

#include "device/cuda_memory.h"
#include "octavo/octavo.h"
#include "support.h"

namespace octavo {
namespace {

using graph::Conv_fprop_attributes;
using graph::Graph;
using graph::Tensor_attributes;

constexpr int kC = 4, kOut = 2 * 4 * 3 * 3, kSum = 2 * kC * 9;

class CudaGraph : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = testing::no_nvrtc(); !why.empty()) GTEST_SKIP() << "not observed: " << why;
    ASSERT_TRUE(create_handle(handle, 0).is_good());
    ASSERT_TRUE(handle_is_cuda(handle));
    g.set_io_data_type(DataType_t::INT8).set_compute_data_type(DataType_t::INT32);
    x = g.tensor(Tensor_attributes().set_name("X").set_dim({2, kC, 5, 5}).set_stride({kC * 25, 1, kC * 5, kC}));
    w = g.tensor(Tensor_attributes().set_name("W").set_dim({4, kC, 3, 3}).set_stride({kC * 9, 1, kC * 3, kC}));
    y = g.conv_fprop(x, w, Conv_fprop_attributes().set_padding({0, 0}).set_stride({1, 1}).set_dilation({1, 1}));
    y->set_output(true).set_data_type(DataType_t::INT32);
    const error_t built = g.build(handle, {HeurMode_t::A});
    ASSERT_TRUE(built.is_good()) << built.err_msg;
    fill(dx, 2 * kC * 25, 1);
    fill(dw, 4 * kC * 9, 2);
    fill(dy, kOut * 4, 0x5a);
    fill(other, kOut * 4, 0x5a);
    std::int64_t bytes = 0;
    ASSERT_TRUE(g.get_workspace_size(bytes).is_good());
    fill(workspace, static_cast<std::size_t>(bytes) + 16, 0);
  }
  void TearDown() override {
    if (handle) {
      EXPECT_TRUE(destroy_handle(handle).is_good());
    }
  }
  static void fill(cuda::Buffer& buffer, std::size_t bytes, unsigned char value) {
    ASSERT_TRUE(cuda::Buffer::allocate(0, bytes, buffer).is_good());
    ASSERT_TRUE(buffer.fill(value).is_good());
  }
  Graph::UidMap pack(void* out) { return {{x->get_uid(), dx.data()}, {w->get_uid(), dw.data()}, {y->get_uid(), out}}; }
  static int right(const cuda::Buffer& buffer) {
    std::int32_t host[kOut] = {};
    EXPECT_TRUE(buffer.download(host, sizeof host).is_good());
    int count = 0;
    for (const std::int32_t v : host) count += v == kSum;
    return count;
  }

  handle_t handle = nullptr;
  Graph g;
  std::shared_ptr<Tensor_attributes> x, w, y;
  cuda::Buffer dx, dw, dy, other, workspace;
};

TEST_F(CudaGraph, executes_on_device_memory_only) {
  const error_t e = g.execute(handle, pack(dy.data()), workspace.data());
  ASSERT_TRUE(e.is_good()) << e.err_msg;
  EXPECT_EQ(right(dy), kOut);
  std::int32_t host[kOut];
  std::memset(host, 0x5a, sizeof host);
  const error_t wrong = g.execute(handle, pack(host), workspace.data());
  EXPECT_EQ(wrong.code, error_code_t::INVALID_VARIANT_PACK);
  EXPECT_NE(wrong.err_msg.find("host memory"), std::string::npos) << wrong.err_msg;
  cuda::Buffer foreign;
  ASSERT_TRUE(cuda::Buffer::allocate(1, kOut * 4, foreign).is_good());
  const error_t elsewhere = g.execute(handle, pack(foreign.data()), workspace.data());
  EXPECT_EQ(elsewhere.code, error_code_t::INVALID_VARIANT_PACK);
  EXPECT_NE(elsewhere.err_msg.find("device 1"), std::string::npos) << elsewhere.err_msg;
}

TEST_F(CudaGraph, deselects_plans_by_shared_memory) {
  Graph h;
  h.set_io_data_type(DataType_t::HALF).set_compute_data_type(DataType_t::FLOAT);
  auto image = h.tensor(Tensor_attributes().set_name("X").set_dim({2, 64, 28, 28}).set_stride({64 * 784, 1, 64 * 28, 64}));
  auto filter = h.tensor(Tensor_attributes().set_name("W").set_dim({64, 64, 3, 3}).set_stride({576, 1, 192, 64}));
  h.conv_fprop(image, filter, Conv_fprop_attributes().set_padding({1, 1}).set_stride({1, 1}).set_dilation({1, 1}))
      ->set_output(true);
  ASSERT_TRUE(h.validate().is_good());
  ASSERT_TRUE(h.build_operation_graph(handle).is_good());
  ASSERT_TRUE(h.create_execution_plans({HeurMode_t::A}).is_good());
  std::string name;
  ASSERT_TRUE(h.check_support().is_good());
  ASSERT_TRUE(h.get_plan_name_at_index(0, name).is_good());
  ASSERT_NE(name.find("cuda_mma"), std::string::npos) << name;
  h.deselect_shared_mem_greater_than(1024);  // less than any pipeline of tiles
  const error_t barred = h.build_plan_at_index(0);
  EXPECT_TRUE(barred.is_bad());
  EXPECT_NE(barred.err_msg.find("deselect_shared_mem_greater_than"), std::string::npos) << barred.err_msg;
  ASSERT_TRUE(h.check_support().is_good());
  ASSERT_TRUE(h.build_plans().is_good());
  ASSERT_TRUE(h.get_plan_name(name).is_good());
  EXPECT_EQ(name.find("cuda_mma"), std::string::npos) << name;
}

TEST_F(CudaGraph, populates_and_updates_a_graph) {
  const cuda::Driver& d = *cuda::driver();
  cuda::Context context = nullptr;
  ASSERT_TRUE(cuda::primary_context(0, context).is_good());
  const cuda::CurrentContext current(context);
  cuda::Graph made = nullptr;
  ASSERT_EQ(d.GraphCreate(&made, 0), 0);
  auto* target = reinterpret_cast<CUgraph_st*>(made);
  error_t e = g.populate_cuda_graph(handle, pack(dy.data()), workspace.data(), target);
  ASSERT_TRUE(e.is_good()) << e.err_msg;
  EXPECT_EQ(right(dy), 0) << "populating must not run anything";
  EXPECT_TRUE(g.populate_cuda_graph(handle, pack(dy.data()), workspace.data(), target).is_bad()) << "the graph is not empty";
  const auto launch = [&] {
    cuda::GraphExec exec = nullptr;
    ASSERT_EQ(d.GraphInstantiate(&exec, made, 0), 0);
    ASSERT_EQ(d.GraphLaunch(exec, nullptr), 0);
    ASSERT_TRUE(cuda::synchronize(0).is_good());
    d.GraphExecDestroy(exec);
  };
  launch();
  EXPECT_EQ(right(dy), kOut);
  ASSERT_TRUE(dy.fill(0x5a).is_good());
  e = g.update_cuda_graph(handle, pack(other.data()), workspace.data(), target);
  ASSERT_TRUE(e.is_good()) << e.err_msg;
  launch();
  EXPECT_EQ(right(other), kOut);
  EXPECT_EQ(right(dy), 0) << "the updated graph still writes to the old buffer";
  d.GraphDestroy(made);
}

}  // namespace
}  // namespace octavo
