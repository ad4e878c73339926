// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "engines/cuda_common/epilogue_nodes.h"

#include <cmath>
#include <cstdio>
#include <cstring>

#include "kernels/ptx/types.cuh"

namespace octavo::cuda {
namespace {

using Mode = PointwiseMode_t;

std::string cast(Kind to, Kind from, const std::string& value) {
  if (to == from) return value;
  switch (to) {
    case Kind::f32:
      return "to_float(" + value + ")";
    case Kind::f64:
      return "to_double(" + value + ")";
    case Kind::i64:
      return "to_long(" + value + ")";
    case Kind::boolean:
      return "to_bool(" + value + ")";
    default:
      return "to_int(" + value + ")";
  }
}

std::string call(const std::string& name, std::initializer_list<std::string> parameters) {
  std::string text = "pw::" + name + "(";
  bool first = true;
  for (const std::string& p : parameters) {
    text += (first ? "" : ", ") + p;
    first = false;
  }
  return text + ")";
}

/// FLOAT and DOUBLE. `lit` writes a literal of the type.
template <class Literal>
std::string float_expression(const Epilogue::Node& n, const std::string& a, const std::string& b, Literal lit) {
  const auto truth = [](const std::string& condition) { return "to_float(" + condition + ")"; };  // 1 or 0, in a double too
  const std::string lower = lit(n.lower_clip), upper = lit(n.upper_clip), slope = lit(n.slope), alpha = lit(n.alpha);
  switch (n.mode) {
    case Mode::ADD:
      return a + " + " + b;
    case Mode::SUB:
      return a + " - " + b;
    case Mode::MUL:
      return a + " * " + b;
    case Mode::DIV:
      return call("div", {a, b});
    case Mode::MOD:
      return call("mod", {a, b});
    case Mode::ADD_SQUARE:
      return a + " + " + b + " * " + b;
    case Mode::MAX:
      return call("max", {a, b});
    case Mode::MIN:
      return call("min", {a, b});
    case Mode::POW:
      return call("pow", {a, b});
    case Mode::RELU_FWD:
      if (n.slope != 0)
        return n.has_upper_clip ? call("relu_slope_clip", {a, lower, slope, upper}) : call("relu_slope", {a, lower, slope});
      return n.has_upper_clip ? call("relu_clip", {a, lower, upper}) : call("relu", {a, lower});
    case Mode::RELU_BWD:
      return call("relu_bwd", {a, b, lower, slope, n.has_upper_clip ? "true" : "false", upper});
    case Mode::IDENTITY:
      return a;
    case Mode::NEG:
      return "-" + a;
    case Mode::ABS:
      return call("abs", {a});
    case Mode::CEIL:
      return call("ceil", {a});
    case Mode::FLOOR:
      return call("floor", {a});
    case Mode::RECIPROCAL:
      return call("div", {lit(1), a});
    case Mode::SQRT:
      return call("sqrt", {a});
    case Mode::RSQRT:
      return call("rsqrt", {a});
    case Mode::TANH_FWD:
      return call("tanh", {a});
    case Mode::SIGMOID_FWD:
      return call("sigmoid", {a});
    case Mode::ELU_FWD:
      return call("elu", {a, alpha});
    case Mode::GELU_FWD:
      return call("gelu", {a});
    case Mode::SOFTPLUS_FWD:
      return call("softplus", {a, alpha});
    case Mode::SWISH_FWD:
      return call("swish", {a, alpha});
    case Mode::GELU_APPROX_TANH_FWD:
      return call("gelu_tanh", {a});
    case Mode::ERF:
      return call("erf", {a});
    case Mode::EXP:
      return call("exp", {a});
    case Mode::LOG:
      return call("log", {a});
    case Mode::SIN:
      return call("sin", {a});
    case Mode::COS:
      return call("cos", {a});
    case Mode::TAN:
      return call("tan", {a});
    case Mode::TANH_BWD:
      return call("tanh_bwd", {a, b});
    case Mode::SIGMOID_BWD:
      return call("sigmoid_bwd", {a, b});
    case Mode::ELU_BWD:
      return call("elu_bwd", {a, b, alpha});
    case Mode::GELU_BWD:
      return call("gelu_bwd", {a, b});
    case Mode::SOFTPLUS_BWD:
      return call("softplus_bwd", {a, b, alpha});
    case Mode::SWISH_BWD:
      return call("swish_bwd", {a, b, alpha});
    case Mode::GELU_APPROX_TANH_BWD:
      return call("gelu_tanh_bwd", {a, b});
    case Mode::LOGICAL_NOT:
      return truth(a + " == 0");
    case Mode::LOGICAL_AND:
      return truth(a + " != 0 && " + b + " != 0");
    case Mode::LOGICAL_OR:
      return truth(a + " != 0 || " + b + " != 0");
    case Mode::CMP_EQ:
      return truth(a + " == " + b);
    case Mode::CMP_NEQ:
      return truth(a + " != " + b);
    case Mode::CMP_GT:
      return truth(a + " > " + b);
    case Mode::CMP_GE:
      return truth(a + " >= " + b);
    case Mode::CMP_LT:
      return truth(a + " < " + b);
    case Mode::CMP_LE:
      return truth(a + " <= " + b);
    default:
      return a;
  }
}

bool is_s32(double v) { return v == std::floor(v) && v >= -2147483648. && v <= 2147483647.; }

std::string int_expression(const Epilogue::Node& n, const std::string& a, const std::string& b) {
  switch (n.mode) {
    case Mode::ADD:
      return call("iadd", {a, b});
    case Mode::SUB:
      return call("isub", {a, b});
    case Mode::MUL:
      return call("imul", {a, b});
    case Mode::DIV:
      return call("idiv", {a, b});
    case Mode::MOD:
      return call("imod", {a, b});
    case Mode::ADD_SQUARE:
      return call("iadd", {a, call("imul", {b, b})});
    case Mode::MAX:
      return call("imax", {a, b});
    case Mode::MIN:
      return call("imin", {a, b});
    case Mode::IDENTITY:
    case Mode::CEIL:
    case Mode::FLOOR:
      return a;
    case Mode::NEG:
      return call("isub", {"0", a});
    case Mode::ABS:
      return call("iabs", {a});
    case Mode::RECIPROCAL:
      return call("idiv", {"1", a});
    case Mode::LOGICAL_NOT:
      return "s32(" + a + " == 0)";
    case Mode::LOGICAL_AND:
      return "s32(" + a + " != 0 && " + b + " != 0)";
    case Mode::LOGICAL_OR:
      return "s32(" + a + " != 0 || " + b + " != 0)";
    case Mode::CMP_EQ:
      return "s32(" + a + " == " + b + ")";
    case Mode::CMP_NEQ:
      return "s32(" + a + " != " + b + ")";
    case Mode::CMP_GT:
      return "s32(" + a + " > " + b + ")";
    case Mode::CMP_GE:
      return "s32(" + a + " >= " + b + ")";
    case Mode::CMP_LT:
      return "s32(" + a + " < " + b + ")";
    case Mode::CMP_LE:
      return "s32(" + a + " <= " + b + ")";
    case Mode::RELU_FWD:
      if (n.slope == 0 && is_s32(n.lower_clip) && (!n.has_upper_clip || is_s32(n.upper_clip))) {
        const auto lit = [](double v) { return "s32(" + std::to_string(static_cast<std::int64_t>(v)) + "LL)"; };
        return n.has_upper_clip ? call("relu_clip", {a, lit(n.lower_clip), lit(n.upper_clip)})
                                : call("relu", {a, lit(n.lower_clip)});
      }
      break;
    default:
      break;
  }
  // Modes that leave the integers are evaluated in double, then rounded.
  return "to_int(" + float_expression(n, "to_double(" + a + ")", "to_double(" + b + ")", double_literal) + ")";
}

std::string generate_select(const Epilogue::Node& n, const std::vector<Kind>& kinds, Kind kind) {
  const auto value = [&](int i) { return "v" + std::to_string(n.in[static_cast<std::size_t>(i)]); };
  const auto of = [&](int i) { return kinds[static_cast<std::size_t>(n.in[static_cast<std::size_t>(i)])]; };
  const std::string condition = cast(Kind::boolean, of(2), value(2)), yes = cast(kind, of(0), value(0)),
                    no = cast(kind, of(1), value(1));
  return kind == Kind::f32 ? call("select", {condition, yes, no}) : "(" + condition + " ? " + yes + " : " + no + ")";
}

}  // namespace

Kind kind_of_storage(DataType_t type) {
  switch (type) {
    case DataType_t::DOUBLE:
      return Kind::f64;
    case DataType_t::INT64:
      return Kind::i64;
    case DataType_t::INT8:
    case DataType_t::UINT8:
    case DataType_t::INT32:
      return Kind::i32;
    case DataType_t::BOOLEAN:
      return Kind::boolean;
    default:
      return Kind::f32;
  }
}

Kind kind_of_accumulator(const Problem& problem) { return kind_of_storage(accumulator_type(problem)); }

std::string float_literal(float value) {
  if (!std::isfinite(value)) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    char text[40];
    std::snprintf(text, sizeof text, "detail::float_of(0x%08xu)", bits);
    return text;
  }
  char text[40];
  std::snprintf(text, sizeof text, "%.9e", static_cast<double>(value));
  return std::string("(") + text + "f)";
}

std::string double_literal(double value) {
  if (!std::isfinite(value)) return "double(" + float_literal(static_cast<float>(value)) + ")";
  char text[48];
  std::snprintf(text, sizeof text, "(%.17e)", value);
  return text;
}

std::string constant_literal(DataType_t type, double value) {
  const auto integer = [](std::int64_t v) {
    if (v == INT64_MIN) return std::string("(-9223372036854775807LL - 1)");
    return "(" + std::to_string(v) + "LL)";
  };
  switch (type) {
    case DataType_t::INT8:
      return "s32" + integer(Store<s8>::from(value));
    case DataType_t::UINT8:
      return "s32" + integer(Store<u8>::from(value));
    case DataType_t::INT32:
      return "s32" + integer(Store<s32>::from(value));
    case DataType_t::INT64:
      return integer(Store<s64>::from(value));
    case DataType_t::BOOLEAN:
      return value != 0 ? "true" : "false";
    case DataType_t::DOUBLE:
      return double_literal(value);
    case DataType_t::HALF:
      return float_literal(to_float(Store<f16>::from(value)));
    case DataType_t::BFLOAT16:
      return float_literal(to_float(Store<bf16>::from(value)));
    case DataType_t::FP8_E4M3:
      return float_literal(to_float(Store<e4m3>::from(value)));
    case DataType_t::FP8_E5M2:
      return float_literal(to_float(Store<e5m2>::from(value)));
    default:
      return float_literal(static_cast<float>(value));
  }
}

NodeText generate_node(const Epilogue::Node& n, const std::vector<Kind>& kinds, int rank) {
  NodeText out;
  out.kind = n.compute == DataType_t::DOUBLE    ? Kind::f64
             : n.compute == DataType_t::INT32   ? Kind::i32
             : n.compute == DataType_t::BOOLEAN ? Kind::boolean
                                                : Kind::f32;
  const auto input = [&](std::size_t i, Kind as) {
    if (n.in[i] < 0) return std::string("0");
    return cast(as, kinds[static_cast<std::size_t>(n.in[i])], "v" + std::to_string(n.in[i]));
  };
  if (n.mode == Mode::GEN_INDEX) {
    const char* const names[5] = {"row.d0", "(c + i)", "row.s0", "row.s1", "row.s2"};
    const int axis = n.axis < 2 ? n.axis : n.axis + kMaxRank - rank;
    out.expression = cast(out.kind, Kind::i64, n.axis < 0 ? std::string("s64(0)") : "s64(" + std::string(names[axis]) + ")");
  } else if (n.mode == Mode::BINARY_SELECT) {
    out.expression = generate_select(n, kinds, out.kind);
  } else if (out.kind == Kind::f32) {
    out.expression = float_expression(n, input(0, Kind::f32), input(1, Kind::f32),
                                      [](double v) { return float_literal(static_cast<float>(v)); });
  } else if (out.kind == Kind::f64) {
    out.expression = float_expression(n, input(0, Kind::f64), input(1, Kind::f64), double_literal);
  } else if (out.kind == Kind::i32) {
    out.expression = int_expression(n, input(0, Kind::i32), input(1, Kind::i32));
  } else {
    const auto truth = [&](std::size_t i) { return n.in[i] < 0 ? std::string("0") : "s32(" + input(i, Kind::boolean) + ")"; };
    out.expression = "(" + int_expression(n, truth(0), truth(1)) + ") != 0";
  }
  switch (n.result) {
    case DataType_t::INT8:
      out.expression = "s32(Store<s8>::from(" + out.expression + "))";
      out.kind = Kind::i32;
      break;
    case DataType_t::UINT8:
      out.expression = "s32(Store<u8>::from(" + out.expression + "))";
      out.kind = Kind::i32;
      break;
    case DataType_t::INT32:
      out.expression = cast(Kind::i32, out.kind, "(" + out.expression + ")");
      out.kind = Kind::i32;
      break;
    case DataType_t::INT64:
      out.expression = cast(Kind::i64, out.kind, "(" + out.expression + ")");
      out.kind = Kind::i64;
      break;
    case DataType_t::BOOLEAN:
      out.expression = cast(Kind::boolean, out.kind, "(" + out.expression + ")");
      out.kind = Kind::boolean;
      break;
    default:
      break;
  }
  return out;
}

}  // namespace octavo::cuda
