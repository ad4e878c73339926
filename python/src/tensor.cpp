// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <variant>

#include "common.h"

namespace octavo::python {
namespace {

using graph::pass_by_values_t;
using graph::Tensor_attributes;

/// The value of a scalar in the C type that its data type names.
pass_by_values_t scalar_of(double number, std::int64_t integer, DataType_t type) {
  switch (type) {
    case DataType_t::INT64:
      return integer;
    case DataType_t::INT32:
      return static_cast<std::int32_t>(integer);
    case DataType_t::HALF:
      return float16(static_cast<float>(number));
    case DataType_t::BFLOAT16:
      return bfloat16(static_cast<float>(number));
    case DataType_t::DOUBLE:
      return number;
    default:
      return static_cast<float>(number);
  }
}

/// A scalar owned by the graph; `rank` ones as its dims.
std::shared_ptr<Tensor_attributes> scalar(double number, std::int64_t integer, int type, bool compile_time, int rank) {
  const auto data_type = static_cast<DataType_t>(type);
  const auto kind = compile_time ? graph::ScalarType::COMPILE_TIME_CONST : graph::ScalarType::RUNTIME_PARAM;
  auto tensor = std::visit([kind](auto value) { return std::make_shared<Tensor_attributes>(value, kind); },
                           scalar_of(number, integer, data_type));
  const std::vector<std::int64_t> ones(static_cast<std::size_t>(rank), 1);
  tensor->set_dim(ones).set_stride(ones);
  return tensor;
}

}  // namespace

void bind_tensor(nb::module_& m) {
  using T = Tensor_attributes;
  nb::class_<T>(m, "Tensor")
      .def("__init__", [](T* self) { new (self) T(); })
      .def_static("scalar", &scalar, nb::arg("number"), nb::arg("integer"), nb::arg("type"), nb::arg("compile_time"),
                  nb::arg("rank"))
      .def_prop_rw("name", &T::get_name, [](T& t, const std::string& v) { t.set_name(v); })
      .def_prop_rw("dim", &T::get_dim, [](T& t, const std::vector<std::int64_t>& v) { t.set_dim(v); })
      .def_prop_rw("stride", &T::get_stride, [](T& t, const std::vector<std::int64_t>& v) { t.set_stride(v); })
      .def_prop_rw(
          "data_type", [](const T& t) { return static_cast<int>(t.get_data_type()); },
          [](T& t, int v) { t.set_data_type(static_cast<DataType_t>(v)); })
      .def_prop_ro("data_type_origin", [](const T& t) { return static_cast<int>(t.get_data_type_origin()); })
      .def_prop_rw("is_virtual", &T::get_is_virtual, [](T& t, bool v) { t.set_is_virtual(v); })
      .def_prop_rw("is_pass_by_value", &T::get_is_pass_by_value, [](T& t, bool v) { t.set_is_pass_by_value(v); })
      .def_prop_ro("has_value", [](const T& t) { return t.get_pass_by_value() || t.get_has_compile_time_constant(); })
      .def_prop_ro("has_compile_time_constant", &T::get_has_compile_time_constant)
      .def_prop_rw(
          "reordering_type", [](const T& t) { return static_cast<int>(t.get_reordering_type()); },
          [](T& t, int v) { t.set_reordering_type(static_cast<TensorReordering_t>(v)); })
      .def_prop_rw("alignment", &T::get_alignment, [](T& t, std::int64_t v) { t.set_alignment(v); })
      .def_prop_ro("vector_count", &T::get_vector_count)
      .def_prop_ro("vector_dimension", &T::get_vector_dimension)
      .def("set_vector", [](T& t, std::int64_t count, std::int64_t dim) { t.set_vector_count_and_dimension(count, dim); })
      .def_prop_rw("uid", &T::get_uid, [](T& t, std::int64_t v) { t.set_uid(v); })
      .def_prop_ro("has_uid", &T::has_uid)
      .def("set_ragged_offset", [](T& t, const graph::TensorPtr& v) { t.set_ragged_offset(v); })
      .def("set_constant_data", [](T& t, std::uintptr_t data) { t.set_constant_data(reinterpret_cast<const void*>(data)); })
      .def("to_json", &T::to_json_text);
}

}  // namespace octavo::python
