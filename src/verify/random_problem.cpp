// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/random_problem.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace octavo::verify {
namespace {

bool is_fp8(DataType_t t) { return t == DataType_t::FP8_E4M3 || t == DataType_t::FP8_E5M2; }

template <class T>
T pick_from(Rng& rng, const std::vector<T>& list) {
  return list[static_cast<std::size_t>(rng.between(0, static_cast<std::int64_t>(list.size()) - 1))];
}

/// The second input's type: its own kind, from those allowed.
DataType_t partner(Rng& rng, DataType_t a, const std::vector<DataType_t>& types) {
  std::vector<DataType_t> same;
  for (const DataType_t t : types)
    if (t == a || (is_integer(t) && is_integer(a)) || (is_fp8(t) && is_fp8(a))) same.push_back(t);
  return rng.chance(60) || same.empty() ? a : pick_from(rng, same);
}

void shuffled_strides(Rng& rng, TensorDesc& t, bool gaps) {
  std::array<int, kMaxRank> order{};
  std::iota(order.begin(), order.end(), 0);
  for (int i = t.rank - 1; i > 0; --i)
    std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(rng.between(0, i))]);
  std::int64_t at = 1;
  t.vector = 1;
  t.stride.fill(0);
  for (int i = 0; i < t.rank; ++i) {
    const std::size_t d = static_cast<std::size_t>(order[static_cast<std::size_t>(i)]);
    if (gaps && rng.chance(40)) at += rng.between(1, 3);
    t.stride[d] = at;
    at *= std::max<std::int64_t>(t.dim[d], 1);
  }
}

void choose_layout(Rng& rng, TensorDesc& t, const ProblemRange& range, bool output) {
  const std::int64_t draw = rng.between(1, 100);
  if (draw <= 40 || (!range.odd_strides && draw > 85)) {
    set_layout(t, "nhwc");
  } else if (draw <= 70) {
    set_layout(t, "nchw");
  } else if (draw <= 85) {
    set_layout(t, rng.pick({"nc4", "nc16", "nc32"}));
    if (range.odd_strides && rng.chance(20)) t.stride[0] += rng.between(1, 5);  // a gap between images
  } else {
    shuffled_strides(rng, t, rng.chance(60));
    if (output) return;
    const std::size_t d = static_cast<std::size_t>(rng.between(0, t.rank - 1));
    if (rng.chance(25))
      t.stride[d] = 0;  // expanded
    else if (rng.chance(20))
      t.stride[d] = rng.between(1, std::max<std::int64_t>(t.stride[d], 1));  // overlapping windows
  }
}

DataType_t output_type(Rng& rng, DataType_t input) {
  using T = DataType_t;
  if (is_integer(input))
    return rng.pick({T::INT32, T::INT32, T::INT8, T::INT8, T::UINT8, T::FLOAT, T::HALF, T::BFLOAT16, T::INT64});
  if (input == T::DOUBLE) return rng.pick({T::DOUBLE, T::DOUBLE, T::FLOAT, T::HALF, T::INT32});
  if (is_fp8(input)) return rng.pick({T::FLOAT, T::BFLOAT16, T::HALF, T::FP8_E4M3, T::FP8_E5M2, T::INT8});
  if (rng.chance(60)) return input;
  return rng.pick({T::FLOAT, T::HALF, T::BFLOAT16, T::FP8_E4M3, T::INT8, T::UINT8, T::DOUBLE});
}

void choose_shape(Rng& rng, Problem& p, const ProblemRange& range) {
  const std::int64_t kind = rng.between(1, 100);
  const int spatial = kind <= 70 ? 2 : kind <= 85 ? 1 : 3;
  std::int64_t groups = 1, cg = 0, kg = 0;
  if (const std::int64_t form = rng.between(1, 100); form <= 55) {
    cg = boundary_size(rng, 72), kg = boundary_size(rng, 72);
  } else if (form <= 70) {
    groups = boundary_size(rng, 72), cg = 1, kg = rng.pick({1, 1, 1, 2, 3});  // depthwise, with and without a multiplier
  } else {
    groups = rng.pick({2, 3, 4, 5, 8}), cg = rng.pick({1, 2, 3, 4, 5, 8, 16, 32}), kg = rng.pick({1, 2, 3, 4, 5, 8, 16, 32});
  }
  const std::int64_t n = range.empty && rng.chance(3) ? 0 : rng.pick({1, 1, 2, 3, 4, 5});
  p.x.rank = p.w.rank = p.y.rank = spatial + 2;
  p.x.dim = {n, groups * cg}, p.w.dim = {groups * kg, cg}, p.y.dim = {n, groups * kg};
  for (std::size_t i = 0; i < static_cast<std::size_t>(spatial); ++i) {
    const std::int64_t filter = rng.pick({1, 1, 2, 3, 3, 3, 4, 5, 7});
    p.stride[i] = rng.pick({1, 1, 1, 2, 2, 3, 4});
    p.dilation[i] = rng.pick({1, 1, 1, 2, 3});
    const std::int64_t reach = p.dilation[i] * (filter - 1) + 1;
    p.pre_pad[i] = rng.pick({std::int64_t{0}, std::int64_t{1}, filter / 2, filter - 1, filter, filter + 2});
    p.post_pad[i] = rng.chance(60) ? p.pre_pad[i] : rng.between(0, filter + 1);
    const std::int64_t least = std::max<std::int64_t>(1, reach - p.pre_pad[i] - p.post_pad[i]);
    const std::int64_t size = least + (spatial == 1 ? boundary_size(rng, 70) : rng.between(0, spatial == 2 ? 14 : 5));
    p.x.dim[2 + i] = size, p.w.dim[2 + i] = filter;
    p.y.dim[2 + i] = 1 + (size + p.pre_pad[i] + p.post_pad[i] - reach) / p.stride[i];
  }
  if (spatial == 2 && rng.chance(40)) {  // the usual square case
    const std::size_t from = static_cast<std::size_t>(rng.between(0, 1)), to = 1 - from;
    p.stride[to] = p.stride[from], p.dilation[to] = p.dilation[from], p.pre_pad[to] = p.pre_pad[from],
    p.post_pad[to] = p.post_pad[from];
    p.x.dim[2 + to] = p.x.dim[2 + from], p.w.dim[2 + to] = p.w.dim[2 + from], p.y.dim[2 + to] = p.y.dim[2 + from];
  }
}

void choose_types(Rng& rng, Problem& p, const ProblemRange& range) {
  const DataType_t a = pick_from(rng, range.types), b = partner(rng, a, range.types);
  TensorDesc& first = p.direction == Direction::dgrad ? p.y : p.x;
  TensorDesc& second = p.direction == Direction::wgrad ? p.y : p.w;
  first.type = a, second.type = b;
  choose_layout(rng, first, range, false);
  choose_layout(rng, second, range, false);
  p.result().type = accumulator_type(p);
  p.result().stride.fill(0);
  p.compute = accumulator_type(p);
  if (is_integer(a) && rng.chance(10)) p.compute = DataType_t::FLOAT;  // allowed: the sum is exact all the same
  if (range.zero_points && is_integer(a) && p.direction == Direction::fprop) {
    const auto zero_point = [&](DataType_t t) {
      return static_cast<std::int32_t>(t == DataType_t::UINT8 ? rng.between(0, 255) : rng.between(-128, 127));
    };
    if (rng.chance(35)) p.zero_points.x = zero_point(a);
    if (range.foreign_zero_points && p.zero_points.x % 11 == 5) p.zero_points.x -= 300;
    if (rng.chance(15))
      p.zero_points.filter = ZeroPoints::Filter::scalar, p.zero_points.w = zero_point(b);
    else if (rng.chance(15))
      p.zero_points.filter = ZeroPoints::Filter::per_channel;
  }
}

// ---- epilogues ------------------------------------------------------------------------------------------------------

using Node = Epilogue::Node;
using M = PointwiseMode_t;

enum class Shape { scalar, channel, full, other };

int add_operand(Rng& rng, Problem& p, DataType_t type, Shape shape, Epilogue::Source source = Epilogue::Source::device,
                double constant = 0) {
  Epilogue::Operand o;
  const TensorDesc& result = p.result();
  o.source = source;
  if (source == Epilogue::Source::constant) o.constant = constant;
  o.desc.type = type, o.desc.rank = result.rank;
  for (std::size_t d = 0; d < static_cast<std::size_t>(result.rank); ++d) {
    const bool whole = shape == Shape::full || (shape == Shape::channel && d == 1) || (shape == Shape::other && rng.chance(50));
    o.desc.dim[d] = whole ? result.dim[d] : 1;
  }
  const bool vector = shape == Shape::full && rng.chance(15);
  set_layout(o.desc, vector ? rng.pick({"nc4", "nc16", "nc32"}) : rng.pick({"nhwc", "nchw"}));
  p.epilogue.operands.push_back(o);
  return static_cast<int>(p.epilogue.operands.size());
}

int add_node(Problem& p, M mode, std::array<int, 3> in, DataType_t compute, DataType_t result) {
  Node n;
  n.mode = mode, n.in = in, n.compute = compute, n.result = result;
  p.epilogue.nodes.push_back(n);
  return p.epilogue.first_node() + static_cast<int>(p.epilogue.nodes.size()) - 1;
}

/// [+ bias] * scale [+ bias] [+ residual] [activation] -> rounded [+ zero point]: quantised inference. Operands come before
/// nodes in the numbering, so they are all declared first.
int requantise(Rng& rng, Problem& p) {
  using T = DataType_t;
  const bool integer_bias = is_integer(p.input_a().type) && rng.chance(50), bias = rng.chance(40), residual = rng.chance(35),
             zero_point = rng.chance(50);
  const int b32 = integer_bias ? add_operand(rng, p, T::INT32, Shape::channel) : 0;
  const int scale = rng.chance(70)
                        ? add_operand(rng, p, T::FLOAT, Shape::channel)
                        : add_operand(rng, p, T::FLOAT, Shape::scalar, Epilogue::Source::constant, 0.0014402703931141053);
  const int bf = bias ? add_operand(rng, p, T::FLOAT, Shape::channel) : 0;
  const int side = residual ? add_operand(rng, p, rng.pick({T::INT8, T::UINT8, T::FLOAT}), Shape::full) : 0;
  const int side_scale = residual ? add_operand(rng, p, T::FLOAT, Shape::scalar,
                                                rng.pick({Epilogue::Source::device, Epilogue::Source::host_scalar}))
                                  : 0;
  const int zp = zero_point ? add_operand(rng, p, T::INT32, Shape::scalar, Epilogue::Source::constant,
                                          static_cast<double>(rng.between(-128, 127)))
                            : 0;
  int v = 0;
  if (integer_bias) v = add_node(p, M::ADD, {v, b32, -1}, T::INT32, T::INT32);
  v = add_node(p, M::MUL, {v, scale, -1}, T::FLOAT, T::FLOAT);
  if (bias) v = add_node(p, M::ADD, {v, bf, -1}, T::FLOAT, T::FLOAT);
  if (residual) {
    const int scaled = add_node(p, M::MUL, {side, side_scale, -1}, T::FLOAT, T::FLOAT);
    v = add_node(p, M::ADD, {v, scaled, -1}, T::FLOAT, T::FLOAT);
  }
  if (rng.chance(60)) {
    v = add_node(p, M::RELU_FWD, {v, -1, -1}, T::FLOAT, T::FLOAT);
    if (rng.chance(40))
      p.epilogue.nodes.back().has_upper_clip = true, p.epilogue.nodes.back().upper_clip = 6;
    else if (rng.chance(20))
      p.epilogue.nodes.back().slope = 0.01;
  }
  if (zero_point) {
    v = add_node(p, M::IDENTITY, {v, -1, -1}, T::FLOAT, T::INT32);
    v = add_node(p, M::ADD, {v, zp, -1}, T::INT32, T::INT32);
  }
  return v;
}

int random_dag(Rng& rng, Problem& p, bool inexact) {
  using T = DataType_t;
  const int operands = static_cast<int>(rng.between(0, 3));
  for (int i = 0; i < operands; ++i) {
    const T type = rng.pick({T::FLOAT, T::FLOAT, T::HALF, T::BFLOAT16, T::INT8, T::UINT8, T::INT32, T::DOUBLE, T::BOOLEAN});
    const Shape shape = rng.pick({Shape::scalar, Shape::channel, Shape::full, Shape::other});
    if (shape == Shape::scalar && rng.chance(60))
      add_operand(rng, p, type, shape, rng.pick({Epilogue::Source::host_scalar, Epilogue::Source::constant}),
                  static_cast<double>(rng.between(-3, 3)) * 0.5);
    else
      add_operand(rng, p, type, shape);
  }
  int last = 0;
  for (int i = static_cast<int>(rng.between(1, 5)); i > 0; --i) {
    const int values = p.epilogue.first_node() + static_cast<int>(p.epilogue.nodes.size());
    const auto any = [&] { return rng.chance(50) ? last : static_cast<int>(rng.between(0, values - 1)); };
    const M mode = inexact && rng.chance(45)
                       ? rng.pick({M::TANH_FWD, M::SIGMOID_FWD, M::ELU_FWD, M::GELU_FWD, M::SOFTPLUS_FWD, M::SWISH_FWD,
                                   M::GELU_APPROX_TANH_FWD, M::ERF, M::SIN, M::COS, M::DIV, M::TANH_BWD, M::SIGMOID_BWD,
                                   M::ELU_BWD, M::GELU_BWD, M::SOFTPLUS_BWD, M::SWISH_BWD, M::GELU_APPROX_TANH_BWD})
                       : rng.pick({M::ADD,    M::ADD,      M::SUB,         M::MUL,        M::MUL,           M::MAX,
                                   M::MIN,    M::RELU_FWD, M::RELU_BWD,    M::IDENTITY,   M::NEG,           M::ABS,
                                   M::CEIL,   M::FLOOR,    M::ADD_SQUARE,  M::GEN_INDEX,  M::BINARY_SELECT, M::CMP_GT,
                                   M::CMP_EQ, M::CMP_LE,   M::LOGICAL_NOT, M::LOGICAL_AND});
    const T compute = mode == M::LOGICAL_AND || mode == M::LOGICAL_NOT
                          ? rng.pick({T::BOOLEAN, T::FLOAT, T::INT32})
                          : rng.pick({T::FLOAT, T::FLOAT, T::FLOAT, T::INT32, T::DOUBLE});
    last =
        add_node(p, mode, {any(), any(), any()}, compute, rng.chance(20) ? rng.pick({T::INT8, T::UINT8, T::INT32}) : compute);
    Node& n = p.epilogue.nodes.back();
    if (mode == M::RELU_FWD || mode == M::RELU_BWD) {
      if (rng.chance(30)) n.lower_clip = static_cast<double>(rng.between(-2, 2));
      if (rng.chance(30)) n.has_upper_clip = true, n.upper_clip = n.lower_clip + static_cast<double>(rng.between(1, 6));
      if (rng.chance(30)) n.slope = 0.125;
    }
    if (mode == M::GEN_INDEX) n.axis = static_cast<int>(rng.between(0, p.result().rank - 1));
    if (mode == M::ELU_FWD || mode == M::ELU_BWD || mode == M::SWISH_FWD || mode == M::SWISH_BWD)
      n.alpha = rng.pick({1., 0.5, 2.});
  }
  return last;
}

}  // namespace

std::int64_t boundary_size(Rng& rng, std::int64_t most) {
  const std::int64_t block = rng.pick({4, 8, 16, 32, 64});
  std::int64_t size = 1;
  switch (rng.between(0, 6)) {
    case 0:
      size = block;
      break;  // equal
    case 1:
      size = block * rng.between(2, 4);
      break;  // divides
    case 2:
      size = rng.between(1, block);
      break;  // less
    case 3:
      size = block - 1;
      break;  // one off
    case 4:
      size = block + 1;
      break;
    case 5:
      size = block * rng.between(1, 3) + rng.between(1, block - 1);
      break;  // a tail
    default:
      size = rng.between(1, 3);
      break;
  }
  return std::clamp<std::int64_t>(size, 1, most);
}

void add_random_epilogue(Rng& rng, Problem& p, bool inexact) {
  const bool narrow_float = !is_integer(p.input_a().type);
  const int value = rng.chance(narrow_float ? 25 : 60) ? requantise(rng, p) : random_dag(rng, p, inexact);
  const auto store_value = [&](int v, DataType_t type) {
    Epilogue::Output out;
    out.value = v;
    out.desc = p.result();
    out.desc.type = type;
    choose_layout(rng, out.desc, {}, true);
    p.epilogue.outputs.push_back(out);
  };
  store_value(value, output_type(rng, p.input_a().type));
  if (rng.chance(20)) store_value(0, accumulator_type(p));  // the convolution's own result beside it
  if (rng.chance(5)) store_value(static_cast<int>(rng.between(1, value)), DataType_t::FLOAT);
}

Problem random_problem(Rng& rng, const ProblemRange& range) {
  for (;;) {
    Problem p;
    p.direction = pick_from(rng, range.directions);
    choose_shape(rng, p, range);
    if (p.operations() > 2 * range.max_multiply_adds) continue;
    p.mode = rng.chance(25) ? ConvolutionMode_t::CONVOLUTION : ConvolutionMode_t::CROSS_CORRELATION;
    choose_types(rng, p, range);
    if (range.epilogues && rng.chance(50)) {
      add_random_epilogue(rng, p, range.inexact_epilogues);
    } else {
      Epilogue::Output out;
      out.desc = p.result();
      out.desc.type = output_type(rng, p.input_a().type);
      choose_layout(rng, out.desc, range, true);
      p.epilogue.outputs.push_back(out);
    }
    if (p.validate().is_good()) return p;
  }
}

}  // namespace octavo::verify
