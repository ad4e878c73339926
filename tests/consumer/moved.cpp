// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Written as a cudnn-frontend program: nothing here names Octavo.

#include <cudnn_frontend.h>

#include <cstdio>
#include <unordered_map>
#include <vector>

namespace fe = cudnn_frontend;

int main() {
  fe::graph::Graph graph;
  graph.set_io_data_type(fe::DataType_t::FLOAT)
      .set_intermediate_data_type(fe::DataType_t::FLOAT)
      .set_compute_data_type(fe::DataType_t::FLOAT);
  auto X = graph.tensor(fe::graph::Tensor_attributes().set_name("image").set_dim({1, 2, 4, 4}).set_stride({32, 1, 8, 2}));
  auto W = graph.tensor(fe::graph::Tensor_attributes().set_name("filter").set_dim({3, 2, 1, 1}).set_stride({2, 1, 2, 2}));
  auto conv =
      graph.conv_fprop(X, W, fe::graph::Conv_fprop_attributes().set_padding({0, 0}).set_stride({1, 1}).set_dilation({1, 1}));
  auto Y = graph.pointwise(conv, fe::graph::Pointwise_attributes().set_mode(fe::PointwiseMode_t::RELU_FWD));
  Y->set_output(true);

  cudnnHandle_t handle;
  if (cudnnCreate(&handle) != CUDNN_STATUS_SUCCESS) return 1;
  auto status = graph.build(handle, {fe::HeurMode_t::A});
  if (status.is_bad()) {
    std::printf("failed: %s\n", status.get_message().c_str());
    return 1;
  }
  std::vector<float> x(32), w = {1, 2, 3, -4, -1, -1}, y(48, -1.0f);
  for (int i = 0; i < 32; ++i) x[static_cast<std::size_t>(i)] = static_cast<float>(i);
  std::vector<char> workspace(static_cast<std::size_t>(graph.get_workspace_size()) + 1);
  std::unordered_map<std::shared_ptr<fe::graph::Tensor_attributes>, void*> pack = {{X, x.data()}, {W, w.data()}, {Y, y.data()}};
  status = graph.execute(handle, pack, workspace.data());
  if (status.is_bad()) {
    std::printf("failed: %s\n", status.get_message().c_str());
    return 1;
  }
  int wrong = 0;
  for (int p = 0; p < 16; ++p) {
    for (int k = 0; k < 3; ++k) {
      const float a = static_cast<float>(2 * p), b = static_cast<float>(2 * p + 1);
      const float sum = a * w[static_cast<std::size_t>(2 * k)] + b * w[static_cast<std::size_t>(2 * k + 1)];
      wrong += y[static_cast<std::size_t>(3 * p + k)] != (sum > 0 ? sum : 0.0f);
    }
  }
  std::printf("%d of 48 wrong\n", wrong);
  return cudnnDestroy(handle) == CUDNN_STATUS_SUCCESS && wrong == 0 ? 0 : 1;
}
