// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Programs in the style of cudnn-frontend's users: one include, its names, its flow. Built against Octavo's compat header by
// tests/graph/test_compat_programs.cpp; unlike most such programs these check their numbers.

#include <cudnn_frontend.h>

#include <cstdio>

namespace fe = cudnn_frontend;

#define CHECK(condition)                                          \
  do {                                                            \
    if (!(condition)) {                                           \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                               \
    }                                                             \
  } while (0)
#define OK(expr)                                                                                \
  do {                                                                                          \
    auto status_ = (expr);                                                                      \
    if (!status_.is_good()) {                                                                   \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #expr, status_.get_message().c_str()); \
      std::exit(1);                                                                             \
    }                                                                                           \
  } while (0)

template <class T>
struct Surface {
  T* device = nullptr;
  std::size_t n;
  explicit Surface(std::size_t count, T value = T(1.0f)) : n(count) {
    CHECK(cudaMalloc(&device, n * sizeof(T)) == cudaSuccess);
    std::vector<T> host(n, value);
    CHECK(cudaMemcpy(device, host.data(), n * sizeof(T), cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
  }
  Surface(Surface const&) = delete;
  Surface& operator=(Surface const&) = delete;
  ~Surface() { static_cast<void>(cudaFree(device)); }
  std::vector<T> host() const {
    std::vector<T> out(n);
    CHECK(cudaMemcpy(out.data(), device, n * sizeof(T), cudaMemcpyDeviceToHost) == cudaSuccess);
    return out;
  }
};

static std::unique_ptr<cudnnHandle_t, void (*)(cudnnHandle_t*)> create_cudnn_handle() {
  auto* handle = new cudnnHandle_t();
  CHECK(cudnnCreate(handle) == CUDNN_STATUS_SUCCESS);
  return {handle, [](cudnnHandle_t* h) {
            static_cast<void>(cudnnDestroy(*h));
            delete h;
          }};
}

static std::vector<int64_t> channels_last(std::vector<int64_t> const& d) { return {d[1] * d[2] * d[3], 1, d[1] * d[3], d[1]}; }
static fe::graph::Tensor_attributes attributes(char const* name, std::vector<int64_t> const& d) {
  return fe::graph::Tensor_attributes().set_name(name).set_dim(d).set_stride(channels_last(d));
}

static void int8_convolution() {
  auto handle_ptr = create_cudnn_handle();
  auto handle = *handle_ptr;
  fe::graph::Graph graph;
  graph.set_io_data_type(fe::DataType_t::INT8)
      .set_intermediate_data_type(fe::DataType_t::INT32)
      .set_compute_data_type(fe::DataType_t::INT32);
  auto X = graph.tensor(attributes("image", {1, 64, 32, 32}));
  auto W = graph.tensor(attributes("filter", {4, 64, 3, 3}));
  auto conv_options = fe::graph::Conv_fprop_attributes().set_padding({1, 1}).set_stride({1, 1}).set_dilation({1, 1});
  auto conv_output = graph.conv_fprop(X, W, conv_options);
  auto identity = fe::graph::Pointwise_attributes().set_mode(fe::PointwiseMode_t::IDENTITY);
  auto Y = graph.pointwise(conv_output, conv_output, identity);
  Y->set_output(true).set_data_type(fe::DataType_t::INT32);
  OK(graph.validate());
  OK(graph.build_operation_graph(handle));
  OK(graph.create_execution_plans({fe::HeurMode_t::A}));
  OK(graph.check_support(handle));
  OK(graph.build_plans(handle));
  Surface<int8_t> x(64 * 32 * 32, 2), w(4 * 64 * 9, 3);
  Surface<int32_t> y(4 * 32 * 32, -1);
  int64_t workspace_size = 0;
  OK(graph.get_workspace_size(workspace_size));
  Surface<int8_t> workspace(static_cast<std::size_t>(workspace_size) + 1, 0);
  std::unordered_map<int64_t, void*> pack = {{X->get_uid(), x.device}, {W->get_uid(), w.device}, {Y->get_uid(), y.device}};
  OK(graph.execute(handle, pack, workspace.device));
  auto out = y.host();
  CHECK(out[0] == 64 * 4 * 6);  // a corner sees 2x2 of the filter
  CHECK(out[(32 * 16 + 16) * 4] == 64 * 9 * 6);
}

static std::shared_ptr<fe::graph::Graph> csbr_graph(cudnnHandle_t handle) {
  auto graph = std::make_shared<fe::graph::Graph>();
  graph->set_io_data_type(fe::DataType_t::HALF)
      .set_intermediate_data_type(fe::DataType_t::FLOAT)
      .set_compute_data_type(fe::DataType_t::FLOAT);
  auto X = graph->tensor(attributes("image", {2, 8, 6, 6}).set_uid(1));
  auto W = graph->tensor(attributes("filter", {16, 8, 3, 3}).set_uid(2));
  auto conv =
      graph->conv_fprop(X, W, fe::graph::Conv_fprop_attributes().set_padding({1, 1}).set_stride({1, 1}).set_dilation({1, 1}));
  auto S = graph->tensor(attributes("scale", {1, 16, 1, 1}).set_uid(3));
  auto scaled = graph->pointwise(conv, S, fe::graph::Pointwise_attributes().set_mode(fe::PointwiseMode_t::MUL));
  auto B = graph->tensor(attributes("bias", {1, 16, 1, 1}).set_uid(4));
  auto biased = graph->pointwise(scaled, B, fe::graph::Pointwise_attributes().set_mode(fe::PointwiseMode_t::ADD));
  auto Y = graph->pointwise(biased, fe::graph::Pointwise_attributes().set_mode(fe::PointwiseMode_t::RELU_FWD));
  Y->set_output(true).set_uid(5);
  OK(graph->build(handle, {fe::HeurMode_t::A, fe::HeurMode_t::FALLBACK}, fe::BuildPlanPolicy_t::ALL));
  return graph;
}

struct CsbrBuffers {
  Surface<half> x{2 * 8 * 36, half(1.0f)}, w{16 * 8 * 9, half(1.0f)}, s{16, half(0.5f)}, b{16, half(-10.0f)},
      y{2 * 16 * 36, half(-1.0f)};
  std::unordered_map<int64_t, void*> pack() {
    return {{1, x.device}, {2, w.device}, {3, s.device}, {4, b.device}, {5, y.device}};
  }
  void check() {
    auto out = y.host();
    CHECK(static_cast<float>(out[0]) == 8 * 4 * 0.5f - 10);
    CHECK(static_cast<float>(out[(6 * 2 + 2) * 16]) == 8 * 9 * 0.5f - 10);
  }
};

static void csbr() {
  auto handle_ptr = create_cudnn_handle();
  auto graph = csbr_graph(*handle_ptr);
  CsbrBuffers buffers;
  auto pack = buffers.pack();
  Surface<int8_t> workspace(static_cast<std::size_t>(graph->get_workspace_size()) + 1, 0);
  OK(graph->execute(*handle_ptr, pack, workspace.device));
  buffers.check();
  CHECK(graph->key() == csbr_graph(*handle_ptr)->key());
}

static void serialization() {
  auto handle_ptr = create_cudnn_handle();
  std::vector<uint8_t> data;
  OK(csbr_graph(*handle_ptr)->serialize(data));
  fe::graph::Graph graph;
  OK(graph.deserialize(*handle_ptr, data));
  fe::graph::Tensor_attributes y;
  OK(graph.query_tensor_attributes_of_uid(5, y));
  CHECK(y.get_volume() == 2 * 16 * 36);
  CsbrBuffers buffers;
  auto pack = buffers.pack();
  Surface<int8_t> workspace(static_cast<std::size_t>(graph.get_workspace_size()) + 1, 0);
  OK(graph.execute(*handle_ptr, pack, workspace.device));
  buffers.check();
}

static void autotuning() {
  auto handle_ptr = create_cudnn_handle();
  auto handle = *handle_ptr;
  auto graph = csbr_graph(handle);
  CsbrBuffers buffers;
  auto pack = buffers.pack();
  Surface<int8_t> workspace(static_cast<std::size_t>(graph->get_autotune_workspace_size()) + 1, 0);
  OK(graph->autotune(handle, pack, workspace.device, nullptr));
  cudaStream_t stream;
  CHECK(cudnnGetStream(handle, &stream) == CUDNN_STATUS_SUCCESS);
  for (int64_t i = 0; i < graph->get_execution_plan_count(); ++i) {
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start) == cudaSuccess && cudaEventCreate(&stop) == cudaSuccess);
    CHECK(cudaEventRecord(start, stream) == cudaSuccess);
    OK(graph->execute_plan_at_index(handle, pack, workspace.device, i));
    CHECK(cudaEventRecord(stop, stream) == cudaSuccess && cudaEventSynchronize(stop) == cudaSuccess);
    float ms = -1;
    CHECK(cudaEventElapsedTime(&ms, start, stop) == cudaSuccess && ms >= 0);
    CHECK(cudaEventDestroy(start) == cudaSuccess && cudaEventDestroy(stop) == cudaSuccess);
    buffers.check();
  }
}

static void dgrad_with_drelu() {
  auto handle_ptr = create_cudnn_handle();
  fe::graph::Graph graph;
  graph.set_io_data_type(fe::DataType_t::HALF)
      .set_intermediate_data_type(fe::DataType_t::FLOAT)
      .set_compute_data_type(fe::DataType_t::FLOAT);
  auto DY = graph.tensor(attributes("grad", {1, 4, 5, 5}));
  auto W = graph.tensor(attributes("weight", {4, 2, 3, 3}));
  auto DX =
      graph.conv_dgrad(DY, W, fe::graph::Conv_dgrad_attributes().set_padding({1, 1}).set_stride({1, 1}).set_dilation({1, 1}));
  DX->set_dim({1, 2, 5, 5});
  auto X = graph.tensor(attributes("input", {1, 2, 5, 5}));
  auto out = graph.pointwise(DX, X, fe::graph::Pointwise_attributes().set_mode(fe::PointwiseMode_t::RELU_BWD));
  out->set_output(true);
  OK(graph.build(*handle_ptr, {fe::HeurMode_t::A}));
  Surface<half> dy(100, half(1.0f)), w(72, half(1.0f)), x(50, half(1.0f)), dx(50, half(-7.0f));
  std::unordered_map<std::shared_ptr<fe::graph::Tensor_attributes>, void*> pack = {
      {DY, dy.device}, {W, w.device}, {X, x.device}, {out, dx.device}};
  Surface<int8_t> workspace(static_cast<std::size_t>(graph.get_workspace_size()) + 1, 0);
  OK(graph.execute(*handle_ptr, pack, workspace.device));
  auto host = dx.host();
  CHECK(static_cast<float>(host[0]) == 16.0f && static_cast<float>(host[(5 * 2 + 2) * 2]) == 36.0f);
}

static void wgrad() {
  auto handle_ptr = create_cudnn_handle();
  fe::graph::Graph graph;
  graph.set_io_data_type(fe::DataType_t::BFLOAT16)
      .set_intermediate_data_type(fe::DataType_t::FLOAT)
      .set_compute_data_type(fe::DataType_t::FLOAT);
  auto X = graph.tensor(attributes("image", {2, 3, 5, 5}));
  auto DY = graph.tensor(attributes("grad", {2, 4, 5, 5}));
  auto DW =
      graph.conv_wgrad(DY, X, fe::graph::Conv_wgrad_attributes().set_padding({1, 1}).set_stride({1, 1}).set_dilation({1, 1}));
  DW->set_output(true).set_dim({4, 3, 3, 3});
  OK(graph.validate());
  OK(graph.build_operation_graph(*handle_ptr));
  OK(graph.create_execution_plans({fe::HeurMode_t::A}));
  OK(graph.check_support());
  OK(graph.build_plans(fe::BuildPlanPolicy_t::HEURISTICS_CHOICE));
  Surface<nv_bfloat16> x(150, nv_bfloat16(1.0f)), dy(200, nv_bfloat16(2.0f)), dw(108, nv_bfloat16(-1.0f));
  std::unordered_map<int64_t, void*> pack = {{X->get_uid(), x.device}, {DY->get_uid(), dy.device}, {DW->get_uid(), dw.device}};
  Surface<int8_t> workspace(static_cast<std::size_t>(graph.get_workspace_size()) + 1, 0);
  OK(graph.execute(*handle_ptr, pack, workspace.device));
  auto host = dw.host();
  CHECK(static_cast<float>(host[0]) == 2 * 16 * 2.0f && static_cast<float>(host[(3 + 1) * 3]) == 2 * 25 * 2.0f);
}

static void custom_plan_and_json() {
  auto handle_ptr = create_cudnn_handle();
  fe::graph::Graph graph;
  graph.set_io_data_type(fe::DataType_t::FLOAT).set_compute_data_type(fe::DataType_t::FLOAT);
  auto X = graph.tensor(attributes("x", {1, 4, 4, 4}));
  auto W = graph.tensor(attributes("w", {4, 4, 1, 1}));
  auto Y =
      graph.conv_fprop(X, W, fe::graph::Conv_fprop_attributes().set_padding({0, 0}).set_stride({1, 1}).set_dilation({1, 1}));
  Y->set_output(true);
  json j = graph;
  fe::graph::Graph copy;
  OK(copy.deserialize(j));
  json again = copy;
  CHECK(j == again);
  json t = *X;
  CHECK(t == *X && t.get<fe::graph::Tensor_attributes>().get_name() == "x");
  CHECK(json(fe::DataType_t::HALF) == "HALF" && json(fe::PointwiseMode_t::NOT_SET).is_null());
  OK(graph.validate());
  OK(graph.build_operation_graph(*handle_ptr));
  int64_t engines = 0;
  OK(graph.get_engine_count(engines));
  CHECK(engines > 0);
  std::vector<fe::Knob> knobs;
  OK(graph.get_knobs_for_engine(0, knobs));
  std::unordered_map<fe::KnobType_t, int64_t> choice;
  for (auto const& knob : knobs) choice[knob.type] = knob.minValue;
  OK(graph.create_execution_plan(0, choice));
  OK(graph.check_support());
  OK(graph.build_plans());
  std::string name;
  OK(graph.get_plan_name(name));
  CHECK(!name.empty());
  auto bad = graph.build_plan_at_index(77);
  CHECK(bad.is_bad() && bad.get_code() == fe::error_code_t::GRAPH_EXECUTION_FAILED && bad != fe::error_code_t::OK);
  std::stringstream text;
  text << bad << graph;
  CHECK(text.str().find("GRAPH_EXECUTION_FAILED") != std::string::npos);
}

static void versions_and_exceptions() {
  CHECK(cudnnGetVersion() >= 91900 && cudnnGetCudartVersion() >= 12000 && CUDNN_VERSION >= 91100);
  static_assert(CUDNN_FRONTEND_VERSION == 13200, "the interface this header follows");
  CHECK(fe::detail::convert_version_to_str(8907) == "8.9.7" && fe::detail::convert_version_to_str(90100) == "9.1.0");
  CHECK(fe::detail::convert_version_to_str(123456) == "12.34.56" && fe::detail::get_backend_version() == cudnnGetVersion());
  try {
    throw fe::cudnnException("no", CUDNN_STATUS_BAD_PARAM);
  } catch (fe::cudnnException const& e) {
    CHECK(e.getCudnnStatus() == CUDNN_STATUS_BAD_PARAM && std::string(cudnnGetErrorString(e.getCudnnStatus())).size() > 4);
  }
  CHECK(static_cast<int>(fe::DataType_t::FP8_E4M3) == 14 && static_cast<int>(fe::DataType_t::COMPLEX_FP64) == 22);
  CHECK(static_cast<int64_t>(fe::KnobType_t::TILE_CGA) == 32 && static_cast<int64_t>(fe::KnobType_t::WARPS_N) == 1009);
  CHECK(static_cast<int>(fe::PointwiseMode_t::RECIPROCAL) == 50 && static_cast<int>(fe::error_code_t::HANDLE_ERROR) == 13);
  cudnnHandle_t handle = nullptr;
  CHECK(cudnnDestroy(handle) == CUDNN_STATUS_BAD_PARAM);
}

int main() {
  int programs = 0;
  for (auto program : {int8_convolution, csbr, serialization, autotuning, dgrad_with_drelu, wgrad, custom_plan_and_json,
                       versions_and_exceptions}) {
    program();
    ++programs;
  }
  std::printf("%d programs right\n", programs);
  return 0;
}
