// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "engines/cpu_reference/pointwise.h"

#include <cmath>
#include <limits>

namespace octavo::cpu_reference {
namespace {

using Node = Epilogue::Node;
using Mode = PointwiseMode_t;

double sigmoid(double x) { return 1. / (1. + std::exp(-x)); }
/// The derivative of tanh, without the cancellation of 1 - tanh^2.
double sech2(double x) {
  const double c = std::cosh(x);
  return 1. / (c * c);
}
double gelu_tanh_inner(double x) { return 0.79788456080286535588 * (x + 0.044715 * x * x * x); }  // sqrt(2 / pi)
constexpr double kInvSqrt2 = 0.70710678118654752440, kInvSqrt2Pi = 0.39894228040143267794;

double softplus(double x, double beta) {
  const double t = beta * x;
  return (std::fmax(t, 0.) + std::log1p(std::exp(-std::fabs(t)))) / beta;
}

/// x times the sigmoid of beta x; at -inf the limit, not 0 * inf.
double swish(double x, double beta) {
  const double s = sigmoid(beta * x);
  return s == 0. ? 0. * std::copysign(1., x) : x * s;
}

/// Modes that are not one IEEE operation: evaluated in double. `dy` is in[0] of a *_BWD mode, `x` the forward input.
bool transcendental(const Node& n, double a, double b, double& y) {
  const double dy = a, x = b;
  switch (n.mode) {
    case Mode::SQRT:
      y = std::sqrt(a);
      return true;
    case Mode::RSQRT:
      y = 1. / std::sqrt(a);
      return true;
    case Mode::TANH_FWD:
      y = std::tanh(a);
      return true;
    case Mode::SIGMOID_FWD:
      y = sigmoid(a);
      return true;
    case Mode::ELU_FWD:
      y = a > 0 ? a : n.alpha * std::expm1(a);
      return true;
    case Mode::GELU_FWD:
      y = a == -std::numeric_limits<double>::infinity() ? 0. : 0.5 * a * std::erfc(-a * kInvSqrt2);
      return true;
    case Mode::SOFTPLUS_FWD:
      y = softplus(a, n.alpha);
      return true;
    case Mode::SWISH_FWD:
      y = swish(a, n.alpha);
      return true;
    case Mode::GELU_APPROX_TANH_FWD:
      // (1 + tanh u) / 2 = sigmoid(2u), which does not cancel
      y = a == -std::numeric_limits<double>::infinity() ? 0. : a * sigmoid(2. * gelu_tanh_inner(a));
      return true;
    case Mode::ERF:
      y = std::erf(a);
      return true;
    case Mode::EXP:
      y = std::exp(a);
      return true;
    case Mode::LOG:
      y = std::log(a);
      return true;
    case Mode::POW:
      y = std::pow(a, b);
      return true;
    case Mode::COS:
      y = std::cos(a);
      return true;
    case Mode::SIN:
      y = std::sin(a);
      return true;
    case Mode::TAN:
      y = std::tan(a);
      return true;
    case Mode::TANH_BWD:
      y = dy * sech2(x);
      return true;
    case Mode::SIGMOID_BWD:
      y = dy * (sigmoid(x) * sigmoid(-x));
      return true;
    case Mode::ELU_BWD:
      y = x > 0 ? dy : dy * (n.alpha * std::exp(x));
      return true;
    case Mode::GELU_BWD: {
      const double density = kInvSqrt2Pi * std::exp(-0.5 * x * x);
      y = dy * (0.5 * std::erfc(-x * kInvSqrt2) + (density == 0. ? 0. : x * density));
      return true;
    }
    case Mode::SOFTPLUS_BWD:
      y = dy * sigmoid(n.alpha * x);
      return true;
    case Mode::SWISH_BWD: {
      const double s = sigmoid(n.alpha * x), tail = s * sigmoid(-n.alpha * x);
      y = dy * (s + (tail == 0. ? 0. : n.alpha * x * tail));
      return true;
    }
    case Mode::GELU_APPROX_TANH_BWD: {
      const double slope = 0.79788456080286535588 * (1. + 3. * 0.044715 * x * x);
      const double tail = sech2(gelu_tanh_inner(x));
      y = dy * (sigmoid(2. * gelu_tanh_inner(x)) + (tail == 0. ? 0. : 0.5 * x * tail * slope));
      return true;
    }
    default:
      return false;
  }
}

template <class T>
T relu(const Node& n, T x) {
  const T lower = static_cast<T>(n.lower_clip);
  if (x < lower) {
    // Without a slope the answer is the clip itself, for -inf too.
    return n.slope == 0. ? lower : lower + static_cast<T>(n.slope) * (x - lower);
  }
  if (n.has_upper_clip && x > static_cast<T>(n.upper_clip)) return static_cast<T>(n.upper_clip);
  return x;
}

template <class T>
T relu_backward(const Node& n, T dy, T x) {
  if (std::isnan(x)) return x;
  if (!(x > static_cast<T>(n.lower_clip))) return n.slope == 0. ? T(0) : dy * static_cast<T>(n.slope);
  if (n.has_upper_clip && !(x < static_cast<T>(n.upper_clip))) return T(0);
  return dy;
}

/// FLOAT and DOUBLE: T rounds after every operation.
template <class T>
T evaluate_float(const Node& n, T a, T b) {
  double y = 0;
  switch (n.mode) {
    case Mode::ADD:
      return a + b;
    case Mode::SUB:
      return a - b;
    case Mode::MUL:
      return a * b;
    case Mode::DIV:
      return a / b;
    case Mode::MOD:
      return std::fmod(a, b);
    case Mode::ADD_SQUARE: {
      const T square = b * b;
      return a + square;
    }
    case Mode::MAX:
      return std::isnan(a) ? a : std::isnan(b) ? b : a > b ? a : b;  // NaN propagates
    case Mode::MIN:
      return std::isnan(a) ? a : std::isnan(b) ? b : a < b ? a : b;
    case Mode::RELU_FWD:
      return relu(n, a);
    case Mode::RELU_BWD:
      return relu_backward(n, a, b);
    case Mode::IDENTITY:
      return a;
    case Mode::NEG:
      return -a;
    case Mode::ABS:
      return std::fabs(a);
    case Mode::CEIL:
      return std::ceil(a);
    case Mode::FLOOR:
      return std::floor(a);
    case Mode::RECIPROCAL:
      return T(1) / a;
    case Mode::LOGICAL_NOT:
      return a == 0 ? T(1) : T(0);
    case Mode::LOGICAL_AND:
      return a != 0 && b != 0 ? T(1) : T(0);
    case Mode::LOGICAL_OR:
      return a != 0 || b != 0 ? T(1) : T(0);
    case Mode::CMP_EQ:
      return a == b ? T(1) : T(0);
    case Mode::CMP_NEQ:
      return a != b ? T(1) : T(0);
    case Mode::CMP_GT:
      return a > b ? T(1) : T(0);
    case Mode::CMP_GE:
      return a >= b ? T(1) : T(0);
    case Mode::CMP_LT:
      return a < b ? T(1) : T(0);
    case Mode::CMP_LE:
      return a <= b ? T(1) : T(0);
    default:
      return transcendental(n, a, b, y) ? static_cast<T>(y) : std::numeric_limits<T>::quiet_NaN();
  }
}

std::int32_t wrap(std::int64_t v) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::uint64_t>(v)));
}

/// INT32: + - * wrap; a division by zero gives 0; modes that leave the integers are evaluated in double, then rounded.
std::int32_t evaluate_int(const Node& n, std::int32_t a, std::int32_t b) {
  const std::int64_t wa = a, wb = b;
  double y = 0;
  switch (n.mode) {
    case Mode::ADD:
      return wrap(wa + wb);
    case Mode::SUB:
      return wrap(wa - wb);
    case Mode::MUL:
      return wrap(wa * wb);
    case Mode::DIV:
      return b == 0 ? 0 : wrap(wa / wb);
    case Mode::MOD:
      return b == 0 ? 0 : wrap(wa % wb);
    case Mode::ADD_SQUARE:
      return wrap(wa + wrap(wb * wb));
    case Mode::MAX:
      return a > b ? a : b;
    case Mode::MIN:
      return a < b ? a : b;
    case Mode::RELU_FWD:
      return round_to_i32(relu<double>(n, a));
    case Mode::RELU_BWD:
      return round_to_i32(relu_backward<double>(n, a, b));
    case Mode::IDENTITY:
    case Mode::CEIL:
    case Mode::FLOOR:
      return a;
    case Mode::NEG:
      return wrap(-wa);
    case Mode::ABS:
      return wrap(wa < 0 ? -wa : wa);
    case Mode::RECIPROCAL:
      return a == 0 ? 0 : 1 / a;
    case Mode::LOGICAL_NOT:
      return a == 0;
    case Mode::LOGICAL_AND:
      return a != 0 && b != 0;
    case Mode::LOGICAL_OR:
      return a != 0 || b != 0;
    case Mode::CMP_EQ:
      return a == b;
    case Mode::CMP_NEQ:
      return a != b;
    case Mode::CMP_GT:
      return a > b;
    case Mode::CMP_GE:
      return a >= b;
    case Mode::CMP_LT:
      return a < b;
    case Mode::CMP_LE:
      return a <= b;
    default:
      return transcendental(n, a, b, y) ? round_to_i32(y) : 0;
  }
}

/// How an operand becomes a compute value, and back.
Scalar in_type(DataType_t compute, const Scalar& s) {
  switch (compute) {
    case DataType_t::DOUBLE:
      return Scalar::of_f64(s.to_f64());
    case DataType_t::INT32:
      return Scalar::of_i32(s.to_i32());
    case DataType_t::BOOLEAN:
      return Scalar::of_bool(s.to_bool());
    default:
      return Scalar::of_f32(s.to_f32());
  }
}

Scalar evaluate_in_compute_type(const Node& n, const Scalar in[3], const std::int64_t* index) {
  if (n.mode == Mode::GEN_INDEX) return in_type(n.compute, Scalar::of_i64(n.axis < 0 ? 0 : index[n.axis]));
  if (n.mode == Mode::BINARY_SELECT) return in_type(n.compute, in[2].to_bool() ? in[0] : in[1]);
  switch (n.compute) {
    case DataType_t::DOUBLE:
      return Scalar::of_f64(evaluate_float<double>(n, in[0].to_f64(), in[1].to_f64()));
    case DataType_t::INT32:
      return Scalar::of_i32(evaluate_int(n, in[0].to_i32(), in[1].to_i32()));
    case DataType_t::BOOLEAN:
      return Scalar::of_bool(evaluate_int(n, in[0].to_bool(), in[1].to_bool()) != 0);
    default:
      return Scalar::of_f32(evaluate_float<float>(n, in[0].to_f32(), in[1].to_f32()));
  }
}

}  // namespace

int pointwise_arity(PointwiseMode_t mode) {
  switch (mode) {
    case Mode::BINARY_SELECT:
      return 3;
    case Mode::ADD:
    case Mode::MUL:
    case Mode::MAX:
    case Mode::MIN:
    case Mode::RELU_BWD:
    case Mode::TANH_BWD:
    case Mode::SIGMOID_BWD:
    case Mode::ELU_BWD:
    case Mode::GELU_BWD:
    case Mode::SOFTPLUS_BWD:
    case Mode::SWISH_BWD:
    case Mode::GELU_APPROX_TANH_BWD:
    case Mode::MOD:
    case Mode::POW:
    case Mode::SUB:
    case Mode::ADD_SQUARE:
    case Mode::DIV:
    case Mode::CMP_EQ:
    case Mode::CMP_NEQ:
    case Mode::CMP_GT:
    case Mode::CMP_GE:
    case Mode::CMP_LT:
    case Mode::CMP_LE:
    case Mode::LOGICAL_AND:
    case Mode::LOGICAL_OR:
      return 2;
    default:
      return 1;
  }
}

Scalar evaluate(const Epilogue::Node& node, const Scalar in[3], const std::int64_t* index) {
  return round_to_result(node.result, evaluate_in_compute_type(node, in, index));
}

}  // namespace octavo::cpu_reference
