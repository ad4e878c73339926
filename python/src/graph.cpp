// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "common.h"

namespace octavo::python {
namespace {

using graph::Graph;
using graph::TensorPtr;
using Ints = std::vector<std::int64_t>;
using OptionalInts = std::optional<Ints>;

/// Padding, stride, dilation: none = never set, which validate() reports.
template <class Attributes>
Attributes convolution(const OptionalInts& pre, const OptionalInts& post, const OptionalInts& stride,
                       const OptionalInts& dilation, int mode, int compute, const std::string& name, std::int32_t x_zero,
                       const std::optional<std::int32_t>& w_zero, const TensorPtr& w_zeros) {
  Attributes a;
  if (pre) a.set_pre_padding(*pre);
  if (post) a.set_post_padding(*post);
  if (stride) a.set_stride(*stride);
  if (dilation) a.set_dilation(*dilation);
  a.set_convolution_mode(static_cast<ConvolutionMode_t>(mode));
  a.set_compute_data_type(static_cast<DataType_t>(compute));
  a.set_name(name);
  if (x_zero != 0) a.set_x_zero_point(x_zero);
  if (w_zero) a.set_w_zero_point(*w_zero);
  if (w_zeros) a.set_w_zero_points(w_zeros);
  return a;
}

TensorPtr add_convolution(Graph& graph, const std::string& kind, const TensorPtr& a, const TensorPtr& b,
                          const OptionalInts& pre, const OptionalInts& post, const OptionalInts& stride,
                          const OptionalInts& dilation, int mode, int compute, const std::string& name, std::int32_t x_zero,
                          const std::optional<std::int32_t>& w_zero, const TensorPtr& w_zeros) {
  if (kind == "CONV_FPROP") {
    return graph.conv_fprop(
        a, b,
        convolution<graph::Conv_fprop_attributes>(pre, post, stride, dilation, mode, compute, name, x_zero, w_zero, w_zeros));
  }
  if (kind == "CONV_DGRAD") {
    return graph.conv_dgrad(
        a, b,
        convolution<graph::Conv_dgrad_attributes>(pre, post, stride, dilation, mode, compute, name, x_zero, w_zero, w_zeros));
  }
  // Python's operand order is (image, loss), C++'s is (dy, x).
  return graph.conv_wgrad(
      b, a,
      convolution<graph::Conv_wgrad_attributes>(pre, post, stride, dilation, mode, compute, name, x_zero, w_zero, w_zeros));
}

TensorPtr add_pointwise(Graph& graph, int mode, const std::vector<TensorPtr>& in, int compute, const std::string& name,
                        std::optional<double> lower_clip, std::optional<double> upper_clip, std::optional<double> slope,
                        std::optional<double> swish_beta, std::optional<std::int64_t> axis) {
  graph::Pointwise_attributes a;
  a.set_mode(static_cast<PointwiseMode_t>(mode));
  a.set_compute_data_type(static_cast<DataType_t>(compute));
  a.set_name(name);
  if (lower_clip) a.set_relu_lower_clip(static_cast<float>(*lower_clip));
  if (upper_clip) a.set_relu_upper_clip(static_cast<float>(*upper_clip));
  if (slope) a.set_relu_lower_clip_slope(static_cast<float>(*slope));
  if (swish_beta) a.set_swish_beta(static_cast<float>(*swish_beta));
  if (axis) a.set_axis(*axis);
  if (in.size() == 1) return graph.pointwise(in[0], a);
  if (in.size() == 2) return graph.pointwise(in[0], in[1], a);
  if (in.size() == 3) return graph.pointwise(in[0], in[1], in[2], a);
  throw Failure{{error_code_t::INVALID_VALUE, "A pointwise operation takes one, two or three tensors."}};
}

// uid, address, data type (0 = untyped), dim, stride, space, ordinal, bytes, read only
using Buffer = std::tuple<std::int64_t, std::uintptr_t, int, Ints, Ints, int, int, std::int64_t, bool>;
using Buffers = std::unordered_map<std::int64_t, BoundBuffer>;

Buffers to_buffers(const std::vector<Buffer>& list) {
  Buffers map;
  map.reserve(list.size());
  for (const auto& [uid, address, type, dim, stride, space, ordinal, bytes, read_only] : list) {
    BoundBuffer buffer;
    buffer.ptr = reinterpret_cast<void*>(address);
    buffer.type = static_cast<DataType_t>(type);
    buffer.dim = dim;
    buffer.stride = stride;
    buffer.space = static_cast<BoundBuffer::Space>(space);
    buffer.ordinal = ordinal;
    buffer.bytes = bytes;
    buffer.read_only = read_only;
    map[uid] = std::move(buffer);
  }
  return map;
}

Graph::UidMap to_pointers(const std::vector<Buffer>& list) {
  Graph::UidMap map;
  for (const Buffer& buffer : list) map[std::get<0>(buffer)] = reinterpret_cast<void*>(std::get<1>(buffer));
  return map;
}

/// index < 0: the selected plan.
void execute(const Graph& graph, std::uintptr_t handle, const std::vector<Buffer>& buffers, std::uintptr_t workspace,
             std::int64_t index) {
  void* scratch = reinterpret_cast<void*>(workspace);
  if (index < 0) {
    check(graph.execute(to_handle(handle), to_buffers(buffers), scratch));
  } else {
    check(graph.execute_plan_at_index(to_handle(handle), to_buffers(buffers), scratch, index));
  }
}

void execute_with_overrides(const Graph& graph, std::uintptr_t handle, const std::vector<Buffer>& buffers,
                            std::uintptr_t workspace, std::int64_t index, const Ints& uids, const std::vector<Ints>& shapes,
                            const std::vector<Ints>& strides) {
  const std::int64_t plan = index < 0 ? graph.get_selected_plan_index() : index;
  check(graph.execute_plan_at_index(to_handle(handle), to_buffers(buffers), reinterpret_cast<void*>(workspace), plan, uids,
                                    shapes, strides));
}

template <class Enum>
std::vector<int> to_ints(const std::vector<Enum>& values) {
  std::vector<int> out;
  for (Enum value : values) out.push_back(static_cast<int>(value));
  return out;
}

template <class Enum>
std::vector<Enum> to_enums(const std::vector<int>& values) {
  std::vector<Enum> out;
  for (int value : values) out.push_back(static_cast<Enum>(value));
  return out;
}

using KnobList = std::vector<std::tuple<std::int64_t, std::int64_t>>;

std::unordered_map<KnobType_t, std::int64_t> to_knobs(const KnobList& list) {
  std::unordered_map<KnobType_t, std::int64_t> knobs;
  for (const auto& [type, value] : list) knobs[static_cast<KnobType_t>(type)] = value;
  return knobs;
}

void bind_construction(nb::class_<Graph>& c) {
  c.def("__init__", [](Graph* self) { new (self) Graph(); })
      .def("set_name", [](Graph& g, const std::string& v) { g.set_name(v); })
      .def("set_data_types",
           [](Graph& g, int io, int intermediate, int compute) {
             g.set_io_data_type(static_cast<DataType_t>(io));
             g.set_intermediate_data_type(static_cast<DataType_t>(intermediate));
             g.set_compute_data_type(static_cast<DataType_t>(compute));
           })
      .def("set_dynamic_shape_enabled", [](Graph& g, bool v) { g.set_dynamic_shape_enabled(v); })
      .def("set_override_shape_enabled", [](Graph& g, bool v) { g.set_override_shape_enabled(v); })
      .def("set_sm_count", [](Graph& g, int v) { g.set_sm_count(v); })
      .def("set_sm_version", [](Graph& g, int v) { g.set_sm_version(v); })
      .def("set_kernel_cache", [](Graph& g, std::shared_ptr<KernelCache> v) { g.set_kernel_cache(std::move(v)); })
      .def("set_device_properties",
           [](Graph& g, std::shared_ptr<DeviceProperties> v) { g.set_device_properties(std::move(v)); })
      .def("set_cuda_graph_retention",
           [](Graph& g, int v) { g.set_cuda_graph_retention(static_cast<CudaGraphRetention_t>(v)); })
      .def("tensor", [](Graph& g, const graph::Tensor_attributes& attributes) { return g.tensor(attributes); })
      .def("tensors", &Graph::tensors)
      .def("convolution", &add_convolution, nb::arg("kind"), nb::arg("a"), nb::arg("b"), nb::arg("pre").none(),
           nb::arg("post").none(), nb::arg("stride").none(), nb::arg("dilation").none(), nb::arg("mode"), nb::arg("compute"),
           nb::arg("name"), nb::arg("x_zero"), nb::arg("w_zero").none(), nb::arg("w_zeros").none())
      .def("pointwise", &add_pointwise, nb::arg("mode"), nb::arg("inputs"), nb::arg("compute"), nb::arg("name"),
           nb::arg("lower_clip").none(), nb::arg("upper_clip").none(), nb::arg("slope").none(), nb::arg("swish_beta").none(),
           nb::arg("axis").none())
      .def("reduction",
           [](Graph& g, const TensorPtr& x, int mode, int compute, const std::string& name, bool deterministic) {
             graph::Reduction_attributes a;
             a.set_mode(static_cast<ReductionMode_t>(mode)).set_compute_data_type(static_cast<DataType_t>(compute));
             a.set_name(name).set_is_deterministic(deterministic);
             return g.reduction(x, a);
           })
      .def("genstats", [](Graph& g, const TensorPtr& x, int compute, const std::string& name) {
        graph::Genstats_attributes a;
        a.set_compute_data_type(static_cast<DataType_t>(compute)).set_name(name);
        return g.genstats(x, a);
      });
}

void bind_lifecycle(nb::class_<Graph>& c) {
  using Release = nb::call_guard<nb::gil_scoped_release>;
  c.def("validate", [](Graph& g) { check(g.validate()); })
      .def("build_operation_graph",
           [](Graph& g, std::uintptr_t handle) {
             check(handle != 0 ? g.build_operation_graph(to_handle(handle)) : g.build_operation_graph());
           })
      .def(
          "create_execution_plans",
          [](Graph& g, const std::vector<int>& modes) { check(g.create_execution_plans(to_enums<HeurMode_t>(modes))); },
          Release())
      .def("create_execution_plan", [](Graph& g, std::int64_t engine,
                                       const KnobList& knobs) { check(g.create_execution_plan(engine, to_knobs(knobs))); })
      .def("get_execution_plan_count", &Graph::get_execution_plan_count)
      .def("get_engine_count",
           [](const Graph& g) {
             std::int64_t count = 0;
             check(g.get_engine_count(count));
             return count;
           })
      .def("get_knobs_for_engine",
           [](const Graph& g, std::int64_t engine) {
             std::vector<Knob> knobs;
             check(g.get_knobs_for_engine(engine, knobs));
             std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>> out;
             for (const Knob& k : knobs) {
               out.emplace_back(static_cast<std::int64_t>(k.type), k.maxValue, k.minValue, k.stride);
             }
             return out;
           })
      .def("get_engine_and_knobs_at_index",
           [](const Graph& g, std::int64_t index) {
             std::int64_t engine = 0;
             std::unordered_map<KnobType_t, std::int64_t> knobs;
             check(g.get_engine_and_knobs_at_index(index, engine, knobs));
             KnobList out;
             for (const auto& [type, value] : knobs) out.emplace_back(static_cast<std::int64_t>(type), value);
             return std::make_tuple(engine, out);
           })
      .def(
          "check_support", [](Graph& g) { check(g.check_support()); }, Release())
      .def(
          "build_plans", [](Graph& g, int policy) { check(g.build_plans(static_cast<BuildPlanPolicy_t>(policy))); }, Release())
      .def(
          "build_plan_at_index", [](Graph& g, std::int64_t index) { check(g.build_plan_at_index(index)); }, Release())
      .def("get_workspace_size",
           [](const Graph& g, std::int64_t index) {
             std::int64_t bytes = 0;
             check(index < 0 ? g.get_workspace_size(bytes) : g.get_workspace_size_plan_at_index(index, bytes));
             return bytes;
           })
      .def("get_workspace_size_with_overrides",
           [](const Graph& g, std::uintptr_t handle, std::int64_t index, const Ints& uids, const std::vector<Ints>& shapes,
              const std::vector<Ints>& strides) {
             std::int64_t bytes = 0;
             check(index < 0 ? g.get_workspace_size(to_handle(handle), bytes, uids, shapes, strides)
                             : g.get_workspace_size_plan_at_index(to_handle(handle), index, bytes, uids, shapes, strides));
             return bytes;
           })
      .def("get_autotune_workspace_size", &Graph::get_autotune_workspace_size)
      .def("get_plan_name",
           [](const Graph& g, std::int64_t index) {
             std::string name;
             check(index < 0 ? g.get_plan_name(name) : g.get_plan_name_at_index(index, name));
             return name;
           })
      .def("get_behavior_notes",
           [](const Graph& g, std::int64_t index) {
             std::vector<BehaviorNote_t> notes;
             check(index < 0 ? g.get_behavior_notes(notes) : g.get_behavior_notes_for_plan_at_index(index, notes));
             return to_ints(notes);
           })
      .def("get_numeric_notes",
           [](const Graph& g, std::int64_t index) {
             std::vector<NumericalNote_t> notes;
             check(index < 0 ? g.get_numeric_notes(notes) : g.get_numeric_notes_for_plan_at_index(index, notes));
             return to_ints(notes);
           })
      .def("get_selected_plan_index", &Graph::get_selected_plan_index)
      .def("explain", &Graph::explain, Release())
      .def("deselect_workspace_greater_than", [](Graph& g, std::int64_t v) { g.deselect_workspace_greater_than(v); })
      .def("deselect_shared_mem_greater_than", [](Graph& g, std::int64_t v) { g.deselect_shared_mem_greater_than(v); })
      .def("deselect_engines", [](Graph& g, const std::vector<std::string>& v) { g.deselect_engines(v); })
      .def("select_behavior_notes",
           [](Graph& g, const std::vector<int>& v) { g.select_behavior_notes(to_enums<BehaviorNote_t>(v)); })
      .def("deselect_behavior_notes",
           [](Graph& g, const std::vector<int>& v) { g.deselect_behavior_notes(to_enums<BehaviorNote_t>(v)); })
      .def("select_numeric_notes",
           [](Graph& g, const std::vector<int>& v) { g.select_numeric_notes(to_enums<NumericalNote_t>(v)); })
      .def("deselect_numeric_notes",
           [](Graph& g, const std::vector<int>& v) { g.deselect_numeric_notes(to_enums<NumericalNote_t>(v)); });
}

void bind_execution(nb::class_<Graph>& c) {
  using Release = nb::call_guard<nb::gil_scoped_release>;
  c.def("execute", &execute, nb::arg("handle"), nb::arg("buffers"), nb::arg("workspace"), nb::arg("index"), Release())
      .def("execute_with_overrides", &execute_with_overrides, nb::arg("handle"), nb::arg("buffers"), nb::arg("workspace"),
           nb::arg("index"), nb::arg("uids"), nb::arg("shapes"), nb::arg("strides"), Release())
      .def(
          "execute_sorted",
          [](const Graph& g, std::uintptr_t handle, const std::vector<std::uintptr_t>& addresses, std::uintptr_t workspace) {
            std::vector<void*> pointers;
            for (std::uintptr_t address : addresses) pointers.push_back(reinterpret_cast<void*>(address));
            check(g.execute(to_handle(handle), pointers.data(), static_cast<int>(pointers.size()),
                            reinterpret_cast<void*>(workspace)));
          },
          Release())
      .def("check_bindings",
           [](const Graph& g, std::uintptr_t handle, const std::vector<Buffer>& buffers) {
             check(g.check_bindings(to_handle(handle), to_buffers(buffers)));
           })
      .def("prepare_variant_pack_template", [](Graph& g) { check(g.prepare_variant_pack_template()); })
      .def("get_variant_pack_uids_sorted", &Graph::get_variant_pack_uids_sorted)
      .def(
          "warmup", [](const Graph& g, std::uintptr_t handle) { check(g.warmup(to_handle(handle))); }, Release())
      .def(
          "autotune",
          [](Graph& g, std::uintptr_t handle, const std::vector<Buffer>& buffers, std::uintptr_t workspace) {
            check(g.check_bindings(to_handle(handle), to_buffers(buffers)));
            check(g.autotune(to_handle(handle), to_pointers(buffers), reinterpret_cast<void*>(workspace)));
          },
          Release())
      .def("populate_cuda_graph",
           [](const Graph& g, std::uintptr_t handle, const std::vector<Buffer>& buffers, std::uintptr_t workspace,
              std::uintptr_t cuda_graph) {
             check(g.populate_cuda_graph(to_handle(handle), to_pointers(buffers), reinterpret_cast<void*>(workspace),
                                         reinterpret_cast<CUgraph_st*>(cuda_graph)));
           })
      .def("update_cuda_graph",
           [](const Graph& g, std::uintptr_t handle, const std::vector<Buffer>& buffers, std::uintptr_t workspace,
              std::uintptr_t cuda_graph) {
             check(g.update_cuda_graph(to_handle(handle), to_pointers(buffers), reinterpret_cast<void*>(workspace),
                                       reinterpret_cast<CUgraph_st*>(cuda_graph)));
           })
      .def("cuda_graph_direct_population_eligible", &Graph::cuda_graph_direct_population_eligible);
}

void bind_text(nb::class_<Graph>& c) {
  c.def("serialize",
        [](const Graph& g, bool structure) {
          std::vector<std::uint8_t> data;
          check(g.serialize(data, structure));
          return nb::bytes(reinterpret_cast<const char*>(data.data()), data.size());
        })
      .def("deserialize",
           [](Graph& g, std::uintptr_t handle, nb::bytes bytes, bool enforce_precompiled) {
             const auto* begin = reinterpret_cast<const std::uint8_t*>(bytes.c_str());
             const std::vector<std::uint8_t> data(begin, begin + bytes.size());
             check(handle != 0 ? g.deserialize(to_handle(handle), data, enforce_precompiled)
                               : g.deserialize(data, enforce_precompiled));
           })
      .def("to_json",
           [](const Graph& g) {
             std::string text;
             check(g.serialize_text(text));
             return text;
           })
      .def("from_json", [](Graph& g, const std::string& text) { check(g.deserialize_text(text)); })
      .def("key", &Graph::key)
      .def("print", &Graph::print)
      .def("query", [](const Graph& g, std::int64_t uid) {
        auto tensor = std::make_shared<graph::Tensor_attributes>();
        check(g.query_tensor_attributes_of_uid(uid, *tensor));
        return tensor;
      });
}

}  // namespace

void bind_graph(nb::module_& m) {
  nb::class_<Graph> c(m, "Graph");
  bind_construction(c);
  bind_lifecycle(c);
  bind_execution(c);
  bind_text(c);
}

}  // namespace octavo::python
