// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Conversions between the graph's types and nlohmann::json, found by argument-dependent lookup: `json j = graph;`,
// `j.get<Tensor_attributes>()`. Templates only, so this header needs no JSON header and fits any version of it. C++17.

#include <stdexcept>
#include <string>

#include "graph.h"

namespace octavo {

// Enumerators travel as their names, NOT_SET as null.
#define OCTAVO_JSON_ENUM(Enum)                                                               \
  template <class Json, graph::if_json<Json> = 0>                                            \
  void to_json(Json& j, Enum const& value) {                                                 \
    std::string const name = to_string(value);                                               \
    j = name == "NOT_SET" ? Json() : Json(name);                                             \
  }                                                                                          \
  template <class Json, graph::if_json<Json> = 0>                                            \
  void from_json(Json const& j, Enum& value) {                                               \
    value = Enum{};                                                                          \
    if (j.is_string()) static_cast<void>(from_string(j.template get<std::string>(), value)); \
  }
OCTAVO_JSON_ENUM(DataType_t)
OCTAVO_JSON_ENUM(ConvolutionMode_t)
OCTAVO_JSON_ENUM(PointwiseMode_t)
OCTAVO_JSON_ENUM(ReductionMode_t)
OCTAVO_JSON_ENUM(BehaviorNote_t)
OCTAVO_JSON_ENUM(NumericalNote_t)
OCTAVO_JSON_ENUM(HeurMode_t)
OCTAVO_JSON_ENUM(BuildPlanPolicy_t)
OCTAVO_JSON_ENUM(NormFwdPhase_t)
OCTAVO_JSON_ENUM(TensorReordering_t)
OCTAVO_JSON_ENUM(ReshapeMode_t)
OCTAVO_JSON_ENUM(ResampleMode_t)
OCTAVO_JSON_ENUM(PaddingMode_t)
OCTAVO_JSON_ENUM(KnobType_t)
#undef OCTAVO_JSON_ENUM

namespace graph {

template <class Json, if_json<Json> = 0>
void to_json(Json& j, Tensor_attributes const& tensor) {
  j = Json::parse(tensor.to_json_text());
}
template <class Json, if_json<Json> = 0>
void from_json(Json const& j, Tensor_attributes& tensor) {
  error_t const e = tensor.from_json_text(text_of(j));
  if (e.is_bad()) throw std::invalid_argument(e.err_msg);
}

template <class Json, if_json<Json> = 0>
void to_json(Json& j, Graph const& graph) {
  graph.serialize(j);
}

template <class Json, class Derived, class In, class Out, if_json<Json> = 0>
void to_json(Json& j, Convolution_attributes<Derived, In, Out> const& a) {
  j = Json::object();
  j["name"] = a.name;
  j["compute_data_type"] = a.compute_data_type;
  j["pre_padding"] = a.get_pre_padding();
  j["post_padding"] = a.get_post_padding();
  j["stride"] = a.get_stride();
  j["dilation"] = a.get_dilation();
  j["math_mode"] = a.get_convolution_mode();
}
template <class Json, class Derived, class In, class Out, if_json<Json> = 0>
void from_json(Json const& j, Convolution_attributes<Derived, In, Out>& a) {
  using Ints = std::vector<std::int64_t>;
  a.set_name(j.at("name").template get<std::string>());
  a.set_compute_data_type(j.at("compute_data_type").template get<DataType_t>());
  a.set_pre_padding(j.at("pre_padding").template get<Ints>());
  a.set_post_padding(j.at("post_padding").template get<Ints>());
  a.set_stride(j.at("stride").template get<Ints>());
  a.set_dilation(j.at("dilation").template get<Ints>());
  a.set_convolution_mode(j.at("math_mode").template get<ConvolutionMode_t>());
}

}  // namespace graph
}  // namespace octavo
