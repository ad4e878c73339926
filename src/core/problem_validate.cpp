// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "octavo/problem.h"

// Stage 1's last gate: what passes here, some engine must run.

namespace octavo {
namespace {

error_t bad(std::string message) { return {error_code_t::INVALID_VALUE, std::move(message)}; }
std::string str(std::int64_t v) { return std::to_string(v); }

std::string dims_text(const TensorDesc& t) {
  std::string s = "[";
  for (int i = 0; i < t.rank; ++i) s += (i ? "," : "") + str(t.dim[i]);
  return s + "]";
}

error_t check_shape(const char* name, const TensorDesc& t, int rank) {
  if (t.rank != rank) {
    return bad(std::string("Tensor ") + name + " has " + str(t.rank) + " dims and x has " + str(rank) +
               "; x, w and y need the same number (N,C,spatial and K,C/g,spatial).");
  }
  std::int64_t product = 1;
  for (int i = 0; i < rank; ++i) {
    const bool batch = i == 0 && *name != 'w';
    if (t.dim[i] < (batch ? 0 : 1)) {
      return bad(std::string("Tensor ") + name + " has dims " + dims_text(t) + "; dim " + str(i) + " must be " +
                 (batch ? "0 or more." : "1 or more (only the batch may be empty)."));
    }
    if (t.dim[i] != 0 && product > (std::int64_t{1} << 59) / t.dim[i]) {
      return bad(std::string("Tensor ") + name + " has dims " + dims_text(t) + ", more than 2^59 elements; make it smaller.");
    }
    product *= t.dim[i] == 0 ? 1 : t.dim[i];
  }
  return {};
}

bool is_input_type(DataType_t t) {
  switch (t) {
    case DataType_t::INT8:
    case DataType_t::UINT8:
    case DataType_t::INT32:
    case DataType_t::HALF:
    case DataType_t::BFLOAT16:
    case DataType_t::FLOAT:
    case DataType_t::DOUBLE:
    case DataType_t::FP8_E4M3:
    case DataType_t::FP8_E5M2:
      return true;
    default:
      return false;
  }
}

bool is_fp8(DataType_t t) { return t == DataType_t::FP8_E4M3 || t == DataType_t::FP8_E5M2; }

error_t check_types(const Problem& p) {
  const DataType_t a = p.input_a().type, b = p.input_b().type;
  const char* names[2] = {p.direction == Direction::dgrad ? "y" : "x", p.direction == Direction::wgrad ? "y" : "w"};
  for (int i = 0; i < 2; ++i) {
    if (!is_input_type(i ? b : a)) {
      return bad(std::string("Tensor ") + names[i] + " has type " + short_name(i ? b : a) +
                 "; a convolution reads s8, u8, s32, f16, bf16, f32, f64, e4m3 or e5m2.");
    }
  }
  const bool both_integer = is_integer(a) && is_integer(b);
  if (a != b && !both_integer && !(is_fp8(a) && is_fp8(b))) {
    return bad(std::string("Tensors ") + names[0] + " and " + names[1] + " have types " + short_name(a) + " and " +
               short_name(b) + "; integers mix with integers, e4m3 with e5m2, and any other type only with itself.");
  }
  const DataType_t acc = accumulator_type(p);
  const bool tf32 = p.compute == DataType_t::FAST_FLOAT_FOR_FP8 && a == DataType_t::FLOAT;
  const bool exact_in_float = acc == DataType_t::INT32 && p.compute == DataType_t::FLOAT;
  if (p.compute != acc && !tf32 && !exact_in_float) {
    return bad(std::string("The compute type is ") + short_name(p.compute) + " and the inputs are " + short_name(a) +
               "; such sums are carried in " + short_name(acc) + ", so set the compute type to it.");
  }
  return {};
}

error_t check_geometry(const Problem& p) {
  const std::int64_t c = p.x.dim[1], cg = p.w.dim[1], k = p.w.dim[0];
  if (c % cg != 0) {
    return bad("Channels do not divide into groups: x has C=" + str(c) + ", w has C/g=" + str(cg) + " and K=" + str(k) +
               "; g = C / (C/g) must be whole.");
  }
  const std::int64_t g = c / cg;
  if (k % g != 0) {
    return bad("Output channels do not divide into groups: x has C=" + str(c) + ", w has C/g=" + str(cg) + " and K=" + str(k) +
               ", so g=" + str(g) + "; K must be a multiple of g.");
  }
  if (p.y.dim[1] != k)
    return bad("Tensor y has " + str(p.y.dim[1]) + " channels and w has K=" + str(k) + "; they must be equal.");
  if (p.y.dim[0] != p.x.dim[0]) {
    return bad("Tensor y has batch " + str(p.y.dim[0]) + " and x has " + str(p.x.dim[0]) + "; they must be equal.");
  }
  for (int i = 0; i < p.spatial(); ++i) {
    const std::string axis = " on spatial axis " + str(i);
    constexpr std::int64_t kLimit = std::int64_t{1} << 31;
    if (p.pre_pad[i] < 0 || p.post_pad[i] < 0 || p.pre_pad[i] > kLimit || p.post_pad[i] > kLimit) {
      return bad("Padding is " + str(p.pre_pad[i]) + " before and " + str(p.post_pad[i]) + " after" + axis +
                 "; both must be 0 to 2^31.");
    }
    if (p.stride[i] < 1 || p.stride[i] > kLimit) return bad("Stride is " + str(p.stride[i]) + axis + "; it must be 1 to 2^31.");
    if (p.dilation[i] < 1 || p.dilation[i] > kLimit)
      return bad("Dilation is " + str(p.dilation[i]) + axis + "; it must be 1 to 2^31.");
    const std::int64_t padded = p.x.dim[2 + i] + p.pre_pad[i] + p.post_pad[i];
    if (p.w.dim[2 + i] - 1 > (kLimit << 28) / p.dilation[i]) {
      return bad("The filter's size is " + str(p.w.dim[2 + i]) + " with dilation " + str(p.dilation[i]) + axis +
                 "; that is out of range.");
    }
    const std::int64_t reach = p.dilation[i] * (p.w.dim[2 + i] - 1) + 1;
    if (reach > padded) {
      return bad("The filter covers " + str(reach) + " positions" + axis + " (size " + str(p.w.dim[2 + i]) + ", dilation " +
                 str(p.dilation[i]) + ") and the padded image has " + str(padded) + "; pad more or use a smaller filter.");
    }
    const std::int64_t out = 1 + (padded - reach) / p.stride[i];
    if (p.y.dim[2 + i] != out) {
      return bad("Tensor y has size " + str(p.y.dim[2 + i]) + axis +
                 "; 1 + (size + pre + post - dilation*(filter-1) - 1) / stride gives " + str(out) + ".");
    }
  }
  return {};
}

error_t check_readable(const std::string& name, const TensorDesc& t) {
  if (t.vector != 1 && t.vector != 4 && t.vector != 16 && t.vector != 32) {
    return bad("Tensor " + name + " has vector count " + str(t.vector) + "; it must be 1, 4, 16 or 32.");
  }
  double reach = static_cast<double>(t.vector);
  for (int i = 0; i < t.rank; ++i) {
    if (t.stride[i] < 0) {
      return bad("Tensor " + name + " has stride " + str(t.stride[i]) + " on dim " + str(i) +
                 "; negative strides are not supported, so pass a flipped copy.");
    }
    reach += static_cast<double>(t.stride[i]) * static_cast<double>(std::max<std::int64_t>(t.dim[i] - 1, 0));
  }
  // 2^59 elements of 8 bytes: byte offsets stay inside 64 bits.
  if (!(reach < 0x1p59)) return bad("Tensor " + name + " reaches past 2^59 elements by its strides; check them.");
  return {};
}

// Sufficient for writing every element to an address of its own: in rising order of stride, each stride is past the span of all
// smaller ones.
error_t check_writable(const std::string& name, const TensorDesc& t) {
  if (error_t e = check_readable(name, t); e.is_bad()) return e;
  std::array<int, kMaxRank> order{};
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.begin() + t.rank, [&](int a, int b) { return t.stride[a] < t.stride[b]; });
  std::int64_t span = t.vector;
  for (int i = 0; i < t.rank; ++i) {
    const int d = order[i];
    const std::int64_t size = d == 1 && t.vector > 1 ? (t.dim[1] + t.vector - 1) / t.vector : t.dim[d];
    if (size <= 1) continue;
    if (t.stride[d] < span) {
      return bad("Output " + name + " has stride " + str(t.stride[d]) + " on dim " + str(d) + ", inside the " + str(span) +
                 " elements that its inner dims span; outputs must not overlap themselves.");
    }
    span += t.stride[d] * (size - 1);
  }
  return {};
}

bool is_output_type(DataType_t t) { return is_input_type(t) || t == DataType_t::BOOLEAN || t == DataType_t::INT64; }

int arity(PointwiseMode_t m) {
  using M = PointwiseMode_t;
  switch (m) {
    case M::NOT_SET:
      return 0;
    case M::ADD:
    case M::MUL:
    case M::MAX:
    case M::MIN:
    case M::RELU_BWD:
    case M::TANH_BWD:
    case M::SIGMOID_BWD:
    case M::ELU_BWD:
    case M::GELU_BWD:
    case M::SOFTPLUS_BWD:
    case M::SWISH_BWD:
    case M::GELU_APPROX_TANH_BWD:
    case M::MOD:
    case M::POW:
    case M::SUB:
    case M::ADD_SQUARE:
    case M::DIV:
    case M::CMP_EQ:
    case M::CMP_NEQ:
    case M::CMP_GT:
    case M::CMP_GE:
    case M::CMP_LT:
    case M::CMP_LE:
    case M::LOGICAL_AND:
    case M::LOGICAL_OR:
      return 2;
    case M::BINARY_SELECT:
      return 3;
    default:
      return 1;
  }
}

error_t check_epilogue(const Problem& p) {
  const Epilogue& e = p.epilogue;
  const TensorDesc& r = p.result();
  for (std::size_t i = 0; i < e.operands.size(); ++i) {
    const Epilogue::Operand& o = e.operands[i];
    const std::string name = "operand " + str(static_cast<std::int64_t>(i) + 1);
    if (o.desc.rank != r.rank)
      return bad("Epilogue " + name + " has " + str(o.desc.rank) + " dims; it needs the result's " + str(r.rank) + ".");
    for (int d = 0; d < r.rank; ++d) {
      if (o.desc.dim[d] != r.dim[d] && o.desc.dim[d] != 1) {
        return bad("Epilogue " + name + " has dims " + dims_text(o.desc) + " and the result " + dims_text(r) +
                   "; every dim must be equal or 1.");
      }
    }
    if (!is_output_type(o.desc.type))
      return bad("Epilogue " + name + " has type " + short_name(o.desc.type) + ", which cannot be read.");
    if (o.source != Epilogue::Source::device && o.desc.elements() != 1 && r.elements() != 0) {
      return bad("Epilogue " + name + " is a by-value scalar and has dims " + dims_text(o.desc) + "; all must be 1.");
    }
    OCTAVO_RETURN_IF_ERROR(check_readable(name, o.desc));
  }
  for (std::size_t i = 0; i < e.nodes.size(); ++i) {
    const Epilogue::Node& n = e.nodes[i];
    const int id = e.first_node() + static_cast<int>(i);
    const int need = arity(n.mode);
    if (need == 0) return bad("Epilogue node " + str(id) + " has no pointwise mode; set one.");
    for (int a = 0; a < need; ++a) {
      if (n.in[a] < 0 || n.in[a] >= id) {
        return bad("Epilogue node " + str(id) + " reads value " + str(n.in[a]) + "; it must be an earlier value, 0 to " +
                   str(id - 1) + ".");
      }
    }
    if (n.mode == PointwiseMode_t::GEN_INDEX && (n.axis < 0 || n.axis >= r.rank)) {
      return bad("Epilogue node " + str(id) + " is gen_index with axis " + str(n.axis) + "; it must be 0 to " +
                 str(r.rank - 1) + ".");
    }
    switch (n.compute) {
      case DataType_t::FLOAT:
      case DataType_t::DOUBLE:
      case DataType_t::INT32:
      case DataType_t::BOOLEAN:
        break;
      default:
        return bad("Epilogue node " + str(id) + " computes in " + short_name(n.compute) +
                   "; it must be f32, f64, s32 or bool.");
    }
  }
  if (e.outputs.empty()) return bad("The problem stores nothing; give it at least one output.");
  const int values = e.first_node() + static_cast<int>(e.nodes.size());
  for (std::size_t i = 0; i < e.outputs.size(); ++i) {
    const Epilogue::Output& o = e.outputs[i];
    const std::string name = e.outputs.size() == 1 ? std::string(p.direction == Direction::fprop   ? "y"
                                                                 : p.direction == Direction::dgrad ? "x"
                                                                                                   : "w")
                                                   : "output " + str(static_cast<std::int64_t>(i));
    if (o.value < 0 || o.value >= values)
      return bad("Output " + name + " stores value " + str(o.value) + " of " + str(values) + ".");
    if (o.desc.rank != r.rank || o.desc.dim != r.dim) {
      return bad("Output " + name + " has dims " + dims_text(o.desc) + " and the convolution's result " + dims_text(r) +
                 "; they must be equal.");
    }
    if (!is_output_type(o.desc.type)) {
      return bad("Output " + name + " has type " + short_name(o.desc.type) +
                 "; set it to s8, u8, s32, s64, bool, f16, bf16, f32, f64, e4m3 or e5m2.");
    }
    OCTAVO_RETURN_IF_ERROR(check_writable(name, o.desc));
  }
  return {};
}

}  // namespace

error_t Problem::validate() const {
  if (x.rank < 3 || x.rank > kMaxRank) {
    return bad("Tensor x has " + str(x.rank) + " dims; a convolution has 3 (1-D), 4 (2-D) or 5 (3-D).");
  }
  OCTAVO_RETURN_IF_ERROR(check_shape("x", x, x.rank));
  OCTAVO_RETURN_IF_ERROR(check_shape("w", w, x.rank));
  OCTAVO_RETURN_IF_ERROR(check_shape("y", y, x.rank));
  OCTAVO_RETURN_IF_ERROR(check_geometry(*this));
  OCTAVO_RETURN_IF_ERROR(check_types(*this));
  if (direction != Direction::dgrad) OCTAVO_RETURN_IF_ERROR(check_readable("x", x));
  if (direction != Direction::wgrad) OCTAVO_RETURN_IF_ERROR(check_readable("w", w));
  if (direction != Direction::fprop) OCTAVO_RETURN_IF_ERROR(check_readable("y", y));
  if (mode == ConvolutionMode_t::NOT_SET) return bad("The convolution mode is not set; use CROSS_CORRELATION or CONVOLUTION.");
  const bool has_zero_points = zero_points.x != 0 || zero_points.filter != ZeroPoints::Filter::none;
  if (has_zero_points && !is_integer(input_a().type)) {
    return bad(std::string("Zero points are set and the inputs are ") + short_name(input_a().type) +
               "; they belong to integer inputs.");
  }
  if (has_zero_points && direction != Direction::fprop) {
    return bad(std::string("Zero points are set on a ") + octavo::to_string(direction) + "; only fprop has them.");
  }
  return check_epilogue(*this);
}

}  // namespace octavo
