// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/json.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>

#include "octavo/version.h"

namespace octavo::graph {
namespace {

error_t bad_format(std::string text) { return {error_code_t::UNSUPPORTED_GRAPH_FORMAT, std::move(text)}; }

/// NOT_SET is null.
template <class E>
Json name_or_null(E value) {
  std::string const name = to_string(value);
  return name == "NOT_SET" ? Json() : Json(name);
}

template <class E>
bool enum_from(Json const& j, E& out) {
  if (j.is_null()) return out = E{}, true;
  return j.is_string() && from_string(j.get_ref<std::string const&>(), out);
}

// Floats travel as the hexadecimal text of their bits, exact and NaN-safe; numbers are read too.
Json hex_of(float v) {
  char text[16];
  auto const end = std::to_chars(text, text + sizeof text, std::bit_cast<std::uint32_t>(v), 16).ptr;
  return std::string(text, end);
}
bool float_from(Json const& j, float& out) {
  if (j.is_number()) return out = static_cast<float>(j.get<double>()), true;
  if (!j.is_string()) return false;
  std::string const& text = j.get_ref<std::string const&>();
  std::uint32_t bits = 0;
  auto const r = std::from_chars(text.data(), text.data() + text.size(), bits, 16);
  if (r.ec != std::errc() || r.ptr != text.data() + text.size()) return false;
  return out = std::bit_cast<float>(bits), true;
}

Json scalar_to_json(pass_by_values_t const& value) {
  Json j = {{"index", value.index()}};
  std::visit(
      [&](auto const& v) {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, float>) {
          j["value"] = hex_of(v);
        } else if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) {
          j["value"] = hex_of(static_cast<float>(v));
        } else if constexpr (std::is_same_v<T, double>) {
          if (std::isfinite(v)) {
            j["value"] = v;
          } else {
            j["value"] = std::isnan(v) ? "nan" : v > 0 ? "inf" : "-inf";
          }
        } else {
          j["value"] = v;
        }
      },
      value);
  return j;
}

bool double_from(Json const& j, double& out) {
  if (j.is_number()) return out = j.get<double>(), true;
  if (!j.is_string()) return false;
  std::string const& s = j.get_ref<std::string const&>();
  if (s == "nan") return out = std::numeric_limits<double>::quiet_NaN(), true;
  if (s == "inf") return out = std::numeric_limits<double>::infinity(), true;
  if (s == "-inf") return out = -std::numeric_limits<double>::infinity(), true;
  return false;
}

bool scalar_from_json(Json const& j, pass_by_values_t& out) {
  std::int64_t index = 0;
  if (!j.is_object() || !read(j, "index", index) || !j.contains("value")) return false;
  Json const& v = j["value"];
  float f = 0;
  double d = 0;
  switch (index) {
    case 0:
      if (!v.is_number_integer()) return false;
      return out = v.get<std::int64_t>(), true;
    case 1:
      if (!v.is_number_integer()) return false;
      return out = static_cast<std::int32_t>(v.get<std::int64_t>()), true;
    case 2:
      return float_from(v, f) && (out = float16(f), true);
    case 3:
      return float_from(v, f) && (out = f, true);
    case 4:
      return double_from(v, d) && (out = d, true);
    case 5:
      return float_from(v, f) && (out = bfloat16(f), true);
    default:
      return false;
  }
}

Json optional_float(std::optional<float> const& v) { return v ? hex_of(*v) : Json(); }
bool optional_float_from(Json const& j, const char* key, std::optional<float>& out) {
  auto it = j.find(key);
  if (it == j.end() || it->is_null()) return true;
  float f = 0;
  return float_from(*it, f) && (out = f, true);
}

Json ports_to_json(std::vector<Port> const& ports) {
  Json j = Json::object();
  for (Port const& p : ports) j[p.name] = p.tensor ? Json(p.tensor->get_uid()) : Json();
  return j;
}

Json node_to_json(Node const& n) {
  Json j = {{"tag", n.tag},
            {"name", n.name},
            {"compute_data_type", name_or_null(n.compute != DataType_t::NOT_SET ? n.compute : n.declared_compute)},
            {"inputs", ports_to_json(n.inputs)},
            {"outputs", ports_to_json(n.outputs)}};
  if (n.is_convolution()) {
    j["pre_padding"] = n.conv.pre_padding;
    j["post_padding"] = n.conv.post_padding;
    j["stride"] = n.conv.stride;
    j["dilation"] = n.conv.dilation;
    j["math_mode"] = name_or_null(n.conv.mode);
    if (n.conv.x_zero_point != 0) j["x_zero_point"] = n.conv.x_zero_point;
    if (n.conv.w_zero_point) j["w_zero_point"] = *n.conv.w_zero_point;
    if (n.conv.w_zero_points) j["w_zero_points"] = n.conv.w_zero_points->get_uid();
  } else if (n.kind == NodeKind::pointwise) {
    PointwiseParameters const& p = n.pointwise;
    j["mode"] = name_or_null(p.mode);
    j["axis"] = p.axis ? Json(*p.axis) : Json();
    j["relu_lower_clip"] = optional_float(p.relu_lower_clip);
    j["relu_upper_clip"] = optional_float(p.relu_upper_clip);
    j["relu_lower_clip_slope"] = optional_float(p.relu_lower_clip_slope);
    j["swish_beta"] = optional_float(p.swish_beta);
    j["elu_alpha"] = optional_float(p.elu_alpha);
    j["softplus_beta"] = optional_float(p.softplus_beta);
  } else if (n.kind == NodeKind::reduction) {
    j["mode"] = n.reduction ? name_or_null(*n.reduction) : Json();
    j["is_deterministic"] = n.deterministic;
  }
  return j;
}

struct Operation {
  const char* tag;
  const char* call;
  NodeKind kind;
  std::vector<const char*> inputs, outputs;  ///< in our order; the first `required` inputs must be there
  std::size_t required;
};

Operation const* operation_of(std::string const& tag) {
  static const std::vector<Operation> table = {
      {"CONV_FPROP", "conv_fprop", NodeKind::fprop, {"X", "W"}, {"Y"}, 2},
      {"CONV_DGRAD", "conv_dgrad", NodeKind::dgrad, {"DY", "W"}, {"DX"}, 2},
      {"CONV_WGRAD", "conv_wgrad", NodeKind::wgrad, {"X", "DY"}, {"DW"}, 2},
      {"POINTWISE", "pointwise", NodeKind::pointwise, {"IN_0", "IN_1", "IN_2"}, {"OUT_0"}, 1},
      {"REDUCTION", "reduction", NodeKind::reduction, {"X", "Group_offset"}, {"Y"}, 1},
      {"GENSTATS", "genstats", NodeKind::genstats, {"X"}, {"SUM", "SQ_SUM"}, 1},
  };
  for (Operation const& o : table)
    if (tag == o.tag) return &o;
  return nullptr;
}

/// Tensors by the key that nodes use: the uid in 2.0; the uid or the name, as text, in 1.0.
class TensorTable {
 public:
  void add(std::string const& key, TensorPtr const& t) { by_key_[key] = t; }
  TensorPtr find(Json const& j) const {
    std::string key;
    if (j.is_number_integer()) {
      key = std::to_string(j.get<std::int64_t>());
    } else if (j.is_string()) {
      key = j.get<std::string>();
    } else {
      return nullptr;
    }
    auto it = by_key_.find(key);
    return it == by_key_.end() ? nullptr : it->second;
  }

 private:
  std::unordered_map<std::string, TensorPtr> by_key_;
};

error_t ports_from_json(Json const& node, const char* group, TensorTable const& tensors, std::string const& label,
                        std::vector<const char*> const& names, std::size_t required, std::vector<Port>& out) {
  auto it = node.find(group);
  if (it == node.end() || !it->is_object()) return bad_format("Operation " + label + " has no " + group + " object.");
  for (std::size_t i = 0; i < names.size(); ++i) {
    auto p = it->find(names[i]);
    if (p == it->end() || p->is_null()) {
      if (i >= required) break;
      return bad_format("Operation " + label + " has no tensor for its port " + names[i] + ".");
    }
    TensorPtr const t = tensors.find(*p);
    if (!t)
      return bad_format("Port " + std::string(names[i]) + " of operation " + label + " refers to a tensor that is not there.");
    out.push_back({names[i], t});
  }
  return {};
}

/// A list of integers; absent or null is empty.
bool list_from(Json const& j, const char* key, std::vector<std::int64_t>& out) {
  auto it = j.find(key);
  return it == j.end() || it->is_null() || read(j, key, out);
}

error_t node_from_json(Json const& j, GraphContext const& context, TensorTable const& tensors, Node& n) {
  std::string tag;
  if (!j.is_object() || !read(j, "tag", tag)) return bad_format("A node of the graph has no tag.");
  read(j, "name", n.name);
  std::string const label = tag + " '" + n.name + "'";
  n.tag = tag;
  n.context = context;
  if (j.contains("compute_data_type") && !enum_from(j["compute_data_type"], n.declared_compute)) {
    return bad_format("Operation " + label + " has an unknown compute_data_type.");
  }
  Operation const* op = operation_of(tag);
  if (!op) {
    n.kind = NodeKind::foreign;
    for (char const c : tag) n.call += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    for (const char* group : {"inputs", "outputs"}) {
      auto it = j.find(group);
      if (it == j.end() || !it->is_object()) continue;
      for (auto const& [port, ref] : it->items()) {
        TensorPtr const t = tensors.find(ref);
        if (t) (group[0] == 'i' ? n.inputs : n.outputs).push_back({port, t});
      }
    }
    return {};
  }
  n.kind = op->kind;
  n.call = op->call;
  OCTAVO_RETURN_IF_ERROR(ports_from_json(j, "inputs", tensors, label, op->inputs, op->required, n.inputs));
  OCTAVO_RETURN_IF_ERROR(ports_from_json(j, "outputs", tensors, label, op->outputs, op->outputs.size(), n.outputs));
  if (n.is_convolution()) {
    ConvolutionParameters& c = n.conv;
    if (!list_from(j, "pre_padding", c.pre_padding) || !list_from(j, "post_padding", c.post_padding) ||
        !list_from(j, "stride", c.stride) || !list_from(j, "dilation", c.dilation)) {
      return bad_format("Operation " + label + " has a padding, stride or dilation that is no list of integers.");
    }
    if (j.contains("math_mode") && !enum_from(j["math_mode"], c.mode)) {
      return bad_format("Operation " + label + " has an unknown math_mode.");
    }
    std::int64_t v = 0;
    if (read(j, "x_zero_point", v)) c.x_zero_point = static_cast<std::int32_t>(v);
    if (read(j, "w_zero_point", v)) c.w_zero_point = static_cast<std::int32_t>(v);
    if (j.contains("w_zero_points")) {
      c.w_zero_points = tensors.find(j["w_zero_points"]);
      if (!c.w_zero_points) return bad_format("w_zero_points of operation " + label + " refers to a tensor that is not there.");
    }
  } else if (n.kind == NodeKind::pointwise) {
    PointwiseParameters& p = n.pointwise;
    std::int64_t axis = 0;
    if (read(j, "axis", axis)) p.axis = axis;
    if ((j.contains("mode") && !enum_from(j["mode"], p.mode)) ||
        !optional_float_from(j, "relu_lower_clip", p.relu_lower_clip) ||
        !optional_float_from(j, "relu_upper_clip", p.relu_upper_clip) ||
        !optional_float_from(j, "relu_lower_clip_slope", p.relu_lower_clip_slope) ||
        !optional_float_from(j, "swish_beta", p.swish_beta) || !optional_float_from(j, "elu_alpha", p.elu_alpha) ||
        !optional_float_from(j, "softplus_beta", p.softplus_beta)) {
      return bad_format("Operation " + label + " has an unknown mode or a parameter that is no float.");
    }
  } else if (n.kind == NodeKind::reduction) {
    ReductionMode_t mode = ReductionMode_t::NOT_SET;
    if (j.contains("mode") && !enum_from(j["mode"], mode)) return bad_format("Operation " + label + " has an unknown mode.");
    if (mode != ReductionMode_t::NOT_SET) n.reduction = mode;
    read(j, "is_deterministic", n.deterministic);
  }
  return {};
}

}  // namespace

bool read(Json const& j, const char* key, std::int64_t& out) {
  auto it = j.find(key);
  if (it == j.end() || !it->is_number_integer()) return false;
  if (it->is_number_unsigned() && it->get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) return false;
  return out = it->get<std::int64_t>(), true;
}
bool read(Json const& j, const char* key, bool& out) {
  auto it = j.find(key);
  return it != j.end() && it->is_boolean() && (out = it->get<bool>(), true);
}
bool read(Json const& j, const char* key, std::string& out) {
  auto it = j.find(key);
  return it != j.end() && it->is_string() && (out = it->get<std::string>(), true);
}
bool read(Json const& j, const char* key, std::vector<std::int64_t>& out) {
  auto it = j.find(key);
  if (it == j.end() || !it->is_array()) return false;
  std::vector<std::int64_t> values;
  for (Json const& v : *it) {
    if (!v.is_number_integer()) return false;
    if (v.is_number_unsigned() && v.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) return false;
    values.push_back(v.get<std::int64_t>());
  }
  return out = std::move(values), true;
}

error_t parse_json(std::string const& text, Json& out) {
  out = Json::parse(text, nullptr, false);
  if (out.is_discarded()) return bad_format("The text is no JSON.");
  return {};
}

Json tensor_to_json(Tensor_attributes const& t) {
  Json j = {{"data_type", name_or_null(t.get_data_type())},
            {"dim", t.get_dim()},
            {"stride", t.get_stride()},
            {"is_virtual", t.get_is_virtual()},
            {"pass_by_value", t.get_pass_by_value() ? scalar_to_json(*t.get_pass_by_value()) : Json()},
            {"is_pass_by_value", t.get_is_pass_by_value()},
            {"reordering_type", to_string(t.get_reordering_type())},
            {"uid", t.get_uid()}};
  if (!t.get_name().empty()) j["name"] = t.get_name();
  if (t.get_alignment() != Tensor_attributes::default_alignment) j["alignment"] = t.get_alignment();
  if (t.get_ragged_offset()) j["ragged_offset_uid"] = t.get_ragged_offset()->get_uid();
  if (t.has_ragged_offset_multiplier()) j["ragged_offset_multiplier"] = t.get_ragged_offset_multiplier();
  // Ours: without them the graph that is read back would compute something else.
  if (t.get_vector_count() != 1) {
    j["vector_count"] = t.get_vector_count();
    j["vector_dimension"] = t.get_vector_dimension();
  }
  if (t.get_compile_time_constant()) j["compile_time_constant"] = scalar_to_json(*t.get_compile_time_constant());
  if (t.get_data_type_origin() == TypeOrigin::io_data_type) j["data_type_from"] = "io_data_type";
  if (t.get_data_type_origin() == TypeOrigin::intermediate_data_type) j["data_type_from"] = "intermediate_data_type";
  return j;
}

error_t tensor_from_json(Json const& j, Tensor_attributes& t) {
  if (!j.is_object()) return bad_format("A tensor of the graph is no JSON object.");
  t = Tensor_attributes();
  std::string name, from;
  read(j, "name", name);
  t.set_name(name);
  std::string const label = "Tensor '" + name + "'";
  DataType_t type = DataType_t::NOT_SET;
  std::vector<std::int64_t> dim, stride;
  bool is_virtual = false, by_value = false;
  if (!j.contains("data_type") || !enum_from(j["data_type"], type)) return bad_format(label + " has an unknown data_type.");
  if (!read(j, "dim", dim)) return bad_format(label + " has no list of integers as dim.");
  if (!read(j, "stride", stride)) return bad_format(label + " has no list of integers as stride.");
  if (!read(j, "is_virtual", is_virtual)) return bad_format(label + " has no is_virtual.");
  if (!read(j, "is_pass_by_value", by_value)) return bad_format(label + " has no is_pass_by_value.");
  t.set_data_type(type).set_dim(dim).set_stride(stride).set_is_virtual(is_virtual).set_is_pass_by_value(by_value);
  if (read(j, "data_type_from", from)) {
    TensorAccess::inherit_type(t, type, from == "io_data_type" ? TypeOrigin::io_data_type : TypeOrigin::intermediate_data_type);
  }
  TensorReordering_t reordering = TensorReordering_t::NONE;
  auto r = j.find("reordering_type");
  if (r != j.end() && !enum_from(*r, reordering)) return bad_format(label + " has an unknown reordering_type.");
  t.set_reordering_type(reordering);
  std::int64_t uid = 0, number = 0, dimension = -1;
  bool assigned = true;
  read(j, "uid_assigned", assigned);
  if (assigned && read(j, "uid", uid)) t.set_uid(uid);
  auto value = j.find("pass_by_value");
  if (by_value && value != j.end() && !value->is_null()) {
    pass_by_values_t v;
    if (!scalar_from_json(*value, v)) return bad_format(label + " has a pass_by_value that cannot be read.");
    TensorAccess::set_stored_value(t, v);
  }
  auto constant = j.find("compile_time_constant");
  if (constant != j.end()) {
    pass_by_values_t v;
    if (!scalar_from_json(*constant, v)) return bad_format(label + " has a compile_time_constant that cannot be read.");
    t.set_compile_time_constant(v);
  }
  if (read(j, "alignment", number)) t.set_alignment(number);
  if (read(j, "vector_count", number) && read(j, "vector_dimension", dimension)) {
    t.set_vector_count_and_dimension(number, dimension);
  }
  if (read(j, "ragged_offset_uid", number)) {
    auto ragged = std::make_shared<Tensor_attributes>();
    ragged->set_uid(number);
    t.set_ragged_offset(ragged);
  }
  if (read(j, "ragged_offset_multiplier", number)) t.set_ragged_offset_multiplier(number);
  return {};
}

error_t graph_to_json(Graph::Impl& g, Json& out) {
  OCTAVO_RETURN_IF_ERROR(g.assign_uids());
  Json context = {
      {"compute_data_type", name_or_null(g.context.compute)}, {"intermediate_data_type", name_or_null(g.context.intermediate)},
      {"io_data_type", name_or_null(g.context.io)},           {"sm_count", g.context.sm_count},
      {"is_dynamic_shape_enabled", g.context.dynamic_shape},  {"is_override_shape_enabled", g.context.override_shape}};
  if (!g.context.name.empty()) context["name"] = g.context.name;
  Json nodes = Json::array(), tensors = Json::array();
  for (Node const& n : g.nodes) nodes.push_back(node_to_json(n));
  std::map<std::int64_t, TensorPtr> by_uid;
  for (TensorPtr const& t : g.all_tensors()) by_uid[t->get_uid()] = t;
  for (auto const& [uid, t] : by_uid) tensors.push_back(tensor_to_json(*t));
  out = {{"context", context},
         {"json_version", "2.0"},
         {"cudnn_backend_version", "9.19.0"},
         {"cudnn_frontend_version", OCTAVO_COMPAT_FRONTEND_VERSION},
         {"gid", g.gid},
         {"nodes", nodes},
         {"tensors", tensors}};
  return {};
}

error_t graph_from_json(Json const& j, Graph::Impl& g) {
  std::string version;
  if (!j.is_object() || !read(j, "json_version", version) || (version != "2.0" && version != "1.0")) {
    return bad_format("Unsupported graph JSON version. Expected 2.0");
  }
  Graph::Impl fresh;
  fresh.kernel_cache = g.kernel_cache;
  fresh.device_properties = g.device_properties;
  fresh.retention = g.retention;
  auto context = j.find("context");
  if (context != j.end()) {
    if (!context->is_object()) return bad_format("The context of the graph is no JSON object.");
    GraphContext& c = fresh.context;
    const auto type = [&](const char* key, DataType_t& out) {
      auto it = context->find(key);
      return it == context->end() || enum_from(*it, out);
    };
    if (!type("compute_data_type", c.compute) || !type("intermediate_data_type", c.intermediate) ||
        !type("io_data_type", c.io)) {
      return bad_format("The context of the graph has an unknown data type.");
    }
    std::int64_t count = -1;
    if (read(*context, "sm_count", count)) c.sm_count = static_cast<std::int32_t>(count);
    read(*context, "name", c.name);
    read(*context, "is_dynamic_shape_enabled", c.dynamic_shape);
    read(*context, "is_override_shape_enabled", c.override_shape);
  }
  read(j, "gid", fresh.gid);
  TensorTable table;
  auto tensors = j.find("tensors");
  if (tensors == j.end() || !(version == "2.0" ? tensors->is_array() : tensors->is_object() || tensors->is_null())) {
    return bad_format("The graph has no tensors.");
  }
  for (auto const& [key, value] : tensors->items()) {
    auto t = std::make_shared<Tensor_attributes>();
    OCTAVO_RETURN_IF_ERROR(tensor_from_json(value, *t));
    if (version == "2.0" && !t->has_uid()) return bad_format("Tensor '" + t->get_name() + "' has no uid.");
    table.add(version == "2.0" ? std::to_string(t->get_uid()) : key, t);
    fresh.tensors.push_back(std::move(t));
  }
  auto nodes = j.find("nodes");
  if (nodes == j.end() || !(nodes->is_array() || nodes->is_null())) return bad_format("The graph has no nodes.");
  for (Json const& node : *nodes) {
    Node n;
    OCTAVO_RETURN_IF_ERROR(node_from_json(node, fresh.context, table, n));
    fresh.nodes.push_back(std::move(n));
  }
  g = std::move(fresh);
  return {};
}

}  // namespace octavo::graph
