// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// A 3x3 int8 convolution through the installed package, checked against the sum written out here.

#include <octavo/octavo.h>

#include <cstdint>
#include <cstdio>
#include <unordered_map>
#include <vector>

namespace {

int fail(const octavo::error_t& error) {
  std::printf("failed: %s\n", error.get_message().c_str());
  return 1;
}

}  // namespace

int main() {
  namespace og = octavo::graph;
  using octavo::DataType_t;
  og::Graph graph;
  graph.set_io_data_type(DataType_t::INT8).set_compute_data_type(DataType_t::INT32);
  auto x = graph.tensor(og::Tensor_attributes().set_name("X").set_dim({1, 1, 5, 5}).set_stride({25, 1, 5, 1}).set_uid(1));
  auto w = graph.tensor(og::Tensor_attributes().set_name("W").set_dim({1, 1, 3, 3}).set_stride({9, 1, 3, 1}).set_uid(2));
  auto y = graph.conv_fprop(x, w, og::Conv_fprop_attributes().set_padding({1, 1}).set_stride({1, 1}).set_dilation({1, 1}));
  y->set_output(true).set_data_type(DataType_t::INT32).set_uid(3);

  octavo::handle_t handle = nullptr;
  octavo::error_t error = octavo::create_handle(handle, static_cast<std::int32_t>(octavo::DevicePick::cpu));
  if (error.is_bad()) return fail(error);
  error = graph.build(handle, {octavo::HeurMode_t::A});
  if (error.is_bad()) return fail(error);

  std::vector<std::int8_t> xs(25), ws(9);
  for (int i = 0; i < 25; ++i) xs[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(i * 7 % 255 - 127);
  for (int i = 0; i < 9; ++i) ws[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(127 - i * 31 % 255);
  std::vector<std::int32_t> ys(25, 0x5A5A5A5A);
  std::vector<std::uint8_t> workspace(static_cast<std::size_t>(graph.get_workspace_size()) + 1);
  std::unordered_map<std::int64_t, void*> pack = {{1, xs.data()}, {2, ws.data()}, {3, ys.data()}};
  error = graph.execute(handle, pack, workspace.data());
  if (error.is_bad()) return fail(error);

  int wrong = 0, nonzero = 0;
  for (int p = 0; p < 5; ++p) {
    for (int q = 0; q < 5; ++q) {
      std::int32_t sum = 0;
      for (int r = 0; r < 3; ++r) {
        for (int s = 0; s < 3; ++s) {
          const int h = p + r - 1, v = q + s - 1;
          if (h < 0 || h > 4 || v < 0 || v > 4) continue;
          sum += xs[static_cast<std::size_t>(h * 5 + v)] * ws[static_cast<std::size_t>(r * 3 + s)];
        }
      }
      nonzero += sum != 0;
      wrong += sum != ys[static_cast<std::size_t>(p * 5 + q)];
    }
  }
  error = octavo::destroy_handle(handle);
  if (error.is_bad()) return fail(error);
  std::printf("%d of 25 wrong, %d not zero\n", wrong, nonzero);
  return wrong == 0 && nonzero > 20 ? 0 : 1;
}
