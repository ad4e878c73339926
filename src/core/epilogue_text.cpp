// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>

#include "core/text.h"

// epi=%1=f32.channel;%2=f32.scalar(0.5);%3=mul(%0,%1);%4=relu_fwd(%3,upper=6);%5=identity(%4)->s32
// Statements in order of value id, %0 being the accumulator. Operands: type.scalar, type.channel, type.full:layout or
// type[d0,d1,...]:layout; "@host" = bound in host memory, "(number)" = a constant. Nodes: mode(inputs,attribute=number...)
// then ":type" when they do not compute in f32 and "->type" when they round to an integer type. Outputs: out(%v)=type:layout.

namespace octavo::text {
namespace {

struct ModeRow {
  PointwiseMode_t mode;
  const char* name;
};
using M = PointwiseMode_t;
constexpr std::array<ModeRow, 50> kModes{{{M::ADD, "add"},
                                          {M::MUL, "mul"},
                                          {M::SQRT, "sqrt"},
                                          {M::MAX, "max"},
                                          {M::MIN, "min"},
                                          {M::RELU_FWD, "relu_fwd"},
                                          {M::TANH_FWD, "tanh_fwd"},
                                          {M::SIGMOID_FWD, "sigmoid_fwd"},
                                          {M::ELU_FWD, "elu_fwd"},
                                          {M::GELU_FWD, "gelu_fwd"},
                                          {M::SOFTPLUS_FWD, "softplus_fwd"},
                                          {M::SWISH_FWD, "swish_fwd"},
                                          {M::RELU_BWD, "relu_bwd"},
                                          {M::TANH_BWD, "tanh_bwd"},
                                          {M::SIGMOID_BWD, "sigmoid_bwd"},
                                          {M::ELU_BWD, "elu_bwd"},
                                          {M::GELU_BWD, "gelu_bwd"},
                                          {M::SOFTPLUS_BWD, "softplus_bwd"},
                                          {M::SWISH_BWD, "swish_bwd"},
                                          {M::ERF, "erf"},
                                          {M::IDENTITY, "identity"},
                                          {M::GELU_APPROX_TANH_BWD, "gelu_approx_tanh_bwd"},
                                          {M::GELU_APPROX_TANH_FWD, "gelu_approx_tanh_fwd"},
                                          {M::GEN_INDEX, "gen_index"},
                                          {M::BINARY_SELECT, "binary_select"},
                                          {M::EXP, "exp"},
                                          {M::LOG, "log"},
                                          {M::NEG, "neg"},
                                          {M::MOD, "mod"},
                                          {M::POW, "pow"},
                                          {M::ABS, "abs"},
                                          {M::CEIL, "ceil"},
                                          {M::COS, "cos"},
                                          {M::FLOOR, "floor"},
                                          {M::RSQRT, "rsqrt"},
                                          {M::SIN, "sin"},
                                          {M::LOGICAL_NOT, "logical_not"},
                                          {M::TAN, "tan"},
                                          {M::SUB, "sub"},
                                          {M::ADD_SQUARE, "add_square"},
                                          {M::DIV, "div"},
                                          {M::CMP_EQ, "cmp_eq"},
                                          {M::CMP_NEQ, "cmp_neq"},
                                          {M::CMP_GT, "cmp_gt"},
                                          {M::CMP_GE, "cmp_ge"},
                                          {M::CMP_LT, "cmp_lt"},
                                          {M::CMP_LE, "cmp_le"},
                                          {M::LOGICAL_AND, "logical_and"},
                                          {M::LOGICAL_OR, "logical_or"},
                                          {M::RECIPROCAL, "reciprocal"}}};

enum class Shape { scalar, channel, full, other };

Shape shape_of(const TensorDesc& t, const TensorDesc& result) {
  bool ones = true;
  bool channel = true;
  for (int i = 0; i < t.rank; ++i) {
    ones = ones && t.dim[i] == 1;
    channel = channel && t.dim[i] == (i == 1 ? result.dim[1] : 1);
  }
  if (ones) return Shape::scalar;
  if (channel) return Shape::channel;
  return t.dim == result.dim ? Shape::full : Shape::other;
}

std::string print_operand(const Epilogue::Operand& o, const TensorDesc& result) {
  std::string s = short_name(o.desc.type);
  const Shape shape = shape_of(o.desc, result);
  if (shape == Shape::scalar) s += ".scalar";
  if (shape == Shape::channel) s += ".channel";
  if (shape == Shape::full) s += ".full";
  if (shape == Shape::other) {
    s += "[";
    for (int i = 0; i < o.desc.rank; ++i) s += (i ? "," : "") + std::to_string(o.desc.dim[i]);
    s += "]";
  }
  if (const std::string storage = print_storage(o.desc); layout_name(o.desc) != "nhwc") s += storage.substr(storage.find(':'));
  if (o.source == Epilogue::Source::host_scalar) s += "@host";
  if (o.source == Epilogue::Source::constant) s += "(" + print_double(o.constant) + ")";
  return s;
}

error_t parse_operand(std::string_view token, std::string_view s, const TensorDesc& result, Epilogue::Operand& o) {
  const std::string where = "Epilogue operand '" + std::string(token) + "'";
  if (s.ends_with("@host")) {
    o.source = Epilogue::Source::host_scalar;
    s.remove_suffix(5);
  } else if (s.ends_with(")")) {
    const std::size_t open = s.find('(');
    if (open == std::string_view::npos || !parse_double(s.substr(open + 1, s.size() - open - 2), o.constant)) {
      return bad(where + " has no number in its parentheses.");
    }
    o.source = Epilogue::Source::constant;
    s = s.substr(0, open);
  }
  std::string_view layout = "nhwc";
  if (const std::size_t colon = s.find(':'); colon != std::string_view::npos) {
    layout = s.substr(colon + 1);
    s = s.substr(0, colon);
  }
  o.desc.rank = result.rank;
  o.desc.dim.fill(0);
  std::string_view type;
  if (const std::size_t open = s.find('['); open != std::string_view::npos && s.ends_with("]")) {
    type = s.substr(0, open);
    const auto parts = split(s.substr(open + 1, s.size() - open - 2), ',');
    if (static_cast<int>(parts.size()) != result.rank) return bad(where + " needs " + std::to_string(result.rank) + " dims.");
    for (int i = 0; i < result.rank; ++i) {
      if (!parse_int(parts[i], o.desc.dim[i])) return bad(where + " has a dim that is not a number.");
    }
  } else {
    const std::size_t dot = s.find('.');
    type = s.substr(0, dot);
    const std::string_view shape = dot == std::string_view::npos ? std::string_view() : s.substr(dot + 1);
    for (int i = 0; i < result.rank; ++i) {
      o.desc.dim[i] = shape == "full" || (shape == "channel" && i == 1) ? result.dim[i] : 1;
    }
    if (shape != "full" && shape != "channel" && shape != "scalar") {
      return bad(where + " has shape '" + std::string(shape) + "'; did you mean '" +
                 nearest(shape, {"scalar", "channel", "full"}) + "'?");
    }
  }
  return parse_storage(token, std::string(type) + ":" + std::string(layout), o.desc);
}

constexpr Epilogue::Node kDefaults{};

std::string print_node(const Epilogue::Node& n) {
  std::string s = mode_name(n.mode);
  s += "(";
  for (int i = 0; i < 3 && n.in[i] >= 0; ++i) s += (i ? ",%" : "%") + std::to_string(n.in[i]);
  auto attribute = [&](const char* key, double v) { s += std::string(",") + key + "=" + print_double(v); };
  if (n.lower_clip != kDefaults.lower_clip) attribute("lower", n.lower_clip);
  if (n.has_upper_clip) attribute("upper", n.upper_clip);
  if (n.slope != kDefaults.slope) attribute("slope", n.slope);
  if (n.alpha != kDefaults.alpha) attribute("alpha", n.alpha);
  if (n.axis != kDefaults.axis) attribute("axis", n.axis);
  s += ")";
  if (n.compute != kDefaults.compute) s += std::string(":") + short_name(n.compute);
  if (n.result != kDefaults.result) s += std::string("->") + short_name(n.result);
  return s;
}

error_t parse_node(std::string_view token, std::string_view s, Epilogue::Node& n) {
  const std::string where = "Epilogue node '" + std::string(token) + "'";
  const std::size_t open = s.find('('), close = s.rfind(')');
  n.mode = parse_mode(s.substr(0, open));
  if (n.mode == M::NOT_SET) {
    return bad(where + " has mode '" + std::string(s.substr(0, open)) + "'; did you mean '" +
               nearest(s.substr(0, open), mode_names()) + "'?");
  }
  if (open == std::string_view::npos || close == std::string_view::npos || close < open)
    return bad(where + " needs its inputs in parentheses.");
  int inputs = 0;
  for (const std::string_view part : split(s.substr(open + 1, close - open - 1), ',')) {
    const std::size_t equals = part.find('=');
    std::int64_t id = 0;
    double number = 0;
    if (part.starts_with("%") && inputs < 3 && parse_int(part.substr(1), id) && id >= 0 && id < 1 << 20) {
      n.in[inputs++] = static_cast<int>(id);
      continue;
    }
    const std::string_view key = part.substr(0, equals);
    if (equals == std::string_view::npos || !parse_double(part.substr(equals + 1), number)) {
      return bad(where + " has '" + std::string(part) + "', which is neither an input such as %0 nor attribute=number.");
    }
    if (key == "lower") {
      n.lower_clip = number;
    } else if (key == "upper") {
      n.upper_clip = number;
      n.has_upper_clip = true;
    } else if (key == "slope") {
      n.slope = number;
    } else if (key == "alpha") {
      n.alpha = number;
    } else if (key == "axis" && number >= -1 && number < kMaxRank) {
      n.axis = static_cast<int>(number);
    } else {
      return bad(where + " has attribute '" + std::string(part) + "'; did you mean '" +
                 nearest(key, {"lower", "upper", "slope", "alpha", "axis"}) + "'?");
    }
  }
  std::string_view tail = s.substr(close + 1);
  if (const std::size_t arrow = tail.find("->"); arrow != std::string_view::npos) {
    if (!parse_type(tail.substr(arrow + 2), n.result)) return bad(where + " has no type after '->'.");
    tail = tail.substr(0, arrow);
  }
  if (!tail.empty() && (tail[0] != ':' || !parse_type(tail.substr(1), n.compute)))
    return bad(where + " has no type after ':'.");
  return {};
}

}  // namespace

const char* mode_name(PointwiseMode_t mode) {
  const auto* it = std::find_if(kModes.begin(), kModes.end(), [&](const ModeRow& r) { return r.mode == mode; });
  return it == kModes.end() ? "not_set" : it->name;
}

PointwiseMode_t parse_mode(std::string_view name) {
  const auto* it = std::find_if(kModes.begin(), kModes.end(), [&](const ModeRow& r) { return name == r.name; });
  return it == kModes.end() ? M::NOT_SET : it->mode;
}

std::vector<std::string> mode_names() {
  std::vector<std::string> names;
  for (const ModeRow& r : kModes) names.emplace_back(r.name);
  return names;
}

std::string print_epilogue(const Problem& p) {
  const Epilogue& e = p.epilogue;
  std::string s;
  int id = 0;
  auto statement = [&](const std::string& body) { s += (s.empty() ? "" : ";") + body; };
  for (const auto& o : e.operands) statement("%" + std::to_string(++id) + "=" + print_operand(o, p.result()));
  for (const auto& n : e.nodes) statement("%" + std::to_string(++id) + "=" + print_node(n));
  const int last = e.nodes.empty() ? 0 : id;
  if (e.outputs.size() != 1 || e.outputs[0].value != last) {
    for (const auto& o : e.outputs) statement("out(%" + std::to_string(o.value) + ")=" + print_storage(o.desc));
  }
  return s;
}

error_t parse_epilogue(std::string_view s, Problem& p) {
  Epilogue& e = p.epilogue;
  std::int64_t next = 1;
  for (const std::string_view statement : split(s, ';')) {
    const std::size_t equals = statement.find('=');
    if (equals == std::string_view::npos) return bad("Epilogue statement '" + std::string(statement) + "' has no '='.");
    const std::string_view left = statement.substr(0, equals), right = statement.substr(equals + 1);
    std::int64_t id = 0;
    if (left.starts_with("out(%") && left.ends_with(")") && parse_int(left.substr(5, left.size() - 6), id) && id >= 0 &&
        id < 1 << 20) {
      Epilogue::Output o;
      o.value = static_cast<int>(id);
      o.desc = p.result();
      OCTAVO_RETURN_IF_ERROR(parse_storage(statement, right, o.desc));
      e.outputs.push_back(o);
      continue;
    }
    if (!left.starts_with("%") || !parse_int(left.substr(1), id) || id != next) {
      return bad("Epilogue statement '" + std::string(statement) + "' must define %" + std::to_string(next) +
                 " or out(%value).");
    }
    ++next;
    const std::size_t open = right.find_first_of(".([");
    const bool node = open != std::string_view::npos && right[open] == '(';
    if (node) {
      Epilogue::Node n;
      OCTAVO_RETURN_IF_ERROR(parse_node(statement, right, n));
      e.nodes.push_back(n);
    } else if (e.nodes.empty()) {
      Epilogue::Operand o;
      OCTAVO_RETURN_IF_ERROR(parse_operand(statement, right, p.result(), o));
      e.operands.push_back(o);
    } else {
      return bad("Epilogue operand '" + std::string(statement) + "' stands after a node; operands come first.");
    }
  }
  return {};
}

}  // namespace octavo::text
