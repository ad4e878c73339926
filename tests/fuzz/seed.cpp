// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Writes what the fuzzers start from: real problem lines and real graphs. Argument: a folder.

#include <filesystem>
#include <fstream>
#include <string>

#include "octavo/octavo.h"
#include "verify/random_problem.h"

namespace {

namespace fs = std::filesystem;
namespace og = octavo::graph;

void write(const fs::path& path, const std::string& bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const fs::path folder = argv[1];
  for (std::uint64_t i = 0; i < 40; ++i) {
    octavo::verify::Rng rng(i);
    write(folder / "problem" / std::to_string(i), octavo::verify::random_problem(rng).to_string());
  }
  octavo::handle_t handle = nullptr;
  if (octavo::create_handle(handle, static_cast<std::int32_t>(octavo::DevicePick::cpu)).is_bad()) return 1;
  for (int i = 0; i < 4; ++i) {
    og::Graph graph;
    const auto type = i % 2 ? octavo::DataType_t::INT8 : octavo::DataType_t::FLOAT;
    graph.set_io_data_type(type)
        .set_intermediate_data_type(octavo::DataType_t::FLOAT)
        .set_compute_data_type(i % 2 ? octavo::DataType_t::INT32 : octavo::DataType_t::FLOAT);
    auto x = graph.tensor(og::Tensor_attributes().set_name("X").set_dim({1, 2, 4, 4}).set_stride({32, 1, 8, 2}).set_uid(1));
    auto w = graph.tensor(og::Tensor_attributes().set_name("W").set_dim({3, 2, 1, 1}).set_stride({2, 1, 2, 2}).set_uid(2));
    auto y = graph.conv_fprop(x, w, og::Conv_fprop_attributes().set_padding({0, 0}).set_stride({1, 1}).set_dilation({1, 1}));
    if (i >= 2) {
      y = graph.pointwise(y, og::Pointwise_attributes()
                                 .set_mode(octavo::PointwiseMode_t::RELU_FWD)
                                 .set_compute_data_type(octavo::DataType_t::FLOAT));
    }
    y->set_output(true).set_uid(3);
    if (graph.build(handle, {octavo::HeurMode_t::A}).is_bad()) return 1;
    std::string text;
    std::vector<std::uint8_t> bytes;
    if (graph.serialize_text(text).is_bad() || graph.serialize(bytes).is_bad()) return 1;
    write(folder / "graph_text" / std::to_string(i), text);
    write(folder / "graph_binary" / std::to_string(i), std::string(bytes.begin(), bytes.end()));
  }
  return octavo::destroy_handle(handle).is_bad();
}
