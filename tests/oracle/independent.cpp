// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "common/independent.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace octavo::testing {
namespace {

using T = DataType_t;
/// At most five numbers.
struct Dims {
  std::int64_t v[kMaxRank] = {};
  std::size_t n = 0;
  std::size_t size() const { return n; }
  void push_back(std::int64_t i) { v[n++] = i; }
  std::int64_t operator[](std::size_t i) const { return v[i]; }
  const std::int64_t* begin() const { return v; }
  const std::int64_t* end() const { return v + n; }
};

std::int64_t count(const Dims& d) {
  std::int64_t n = 1;
  for (const std::int64_t v : d) n *= v;
  return n;
}

/// Mixed-radix digits of i, last fastest.
Dims digits(std::int64_t i, const Dims& radix) {
  Dims d;
  d.n = radix.size();
  for (std::size_t k = radix.size(); k-- > 0; i /= radix[k]) d.v[k] = i % radix[k];
  return d;
}

std::int64_t address(const TensorDesc& t, const Dims& at, bool broadcast) {
  std::int64_t a = 0;
  for (std::size_t k = 0; k < at.size(); ++k) {
    const std::int64_t i = broadcast && t.dim[k] == 1 ? 0 : at[k];
    if (k == 1 && t.vector != 1) {
      const auto block = std::div(static_cast<long long>(i), static_cast<long long>(t.vector));
      a += block.quot * t.stride[k] + block.rem;
    } else {
      a += i * t.stride[k];
    }
  }
  return a;
}

Dims dims_of(const TensorDesc& t) {
  Dims d;
  for (int i = 0; i < t.rank; ++i) d.push_back(t.dim[static_cast<std::size_t>(i)]);
  return d;
}

std::vector<long double> dense(const TensorDesc& t, const void* data) {
  const Dims dims = dims_of(t);
  std::vector<long double> v(static_cast<std::size_t>(count(dims)));
  for (std::size_t i = 0; i < v.size(); ++i)
    v[i] = decode(t.type, data, address(t, digits(static_cast<std::int64_t>(i), dims), false));
  return v;
}

/// sign * mantissa * 2^exponent formats: p bits of precision, smallest exponent, largest finite value.
struct Format {
  int precision, min_exponent;
  long double largest;
  bool saturates;
};

long double round_float(long double v, const Format& f) {
  if (std::isnan(v) || v == 0) return v;
  if (std::isinf(v)) return f.saturates ? std::copysign(f.largest, v) : v;
  int exponent = 0;
  std::frexp(v, &exponent);  // v = m * 2^exponent, 0.5 <= |m| < 1
  const int quantum = std::max(exponent - f.precision, f.min_exponent - f.precision + 1);
  const long double units = std::ldexp(v, -quantum);
  long double whole = std::floor(units);
  const long double rest = units - whole;
  if (rest > 0.5L || (rest == 0.5L && std::fmod(whole, 2.0L) != 0)) whole += 1;
  const long double r = std::ldexp(whole, quantum);
  if (std::fabs(r) > f.largest) return std::copysign(f.saturates ? f.largest : std::numeric_limits<long double>::infinity(), v);
  return r;
}

const Format kHalf{11, -14, 65504, false}, kBfloat{8, -126, 3.38953138925153547590e38L, false}, kE4m3{4, -6, 448, true},
    kE5m2{3, -14, 57344, true};

long double clamp_integer(long double v, long double low, long double high) {
  if (std::isnan(v)) return 0;
  long double whole = std::floor(v);
  const long double rest = v - whole;
  if (rest > 0.5L || (rest == 0.5L && std::fmod(whole, 2.0L) != 0)) whole += 1;
  return std::max(low, std::min(high, whole));
}

long double binary_float(std::uint32_t bits, int exponent_bits, int mantissa_bits, bool ieee) {
  const std::uint32_t mantissa = bits & ((1u << mantissa_bits) - 1),
                      exponent = bits >> mantissa_bits & ((1u << exponent_bits) - 1);
  const bool negative = bits >> (exponent_bits + mantissa_bits) & 1;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  long double v = 0;
  if (ieee && exponent == (1u << exponent_bits) - 1)
    v = mantissa ? std::numeric_limits<long double>::quiet_NaN() : std::numeric_limits<long double>::infinity();
  else if (!ieee && exponent == (1u << exponent_bits) - 1 && mantissa == (1u << mantissa_bits) - 1)
    v = std::numeric_limits<long double>::quiet_NaN();
  else if (exponent == 0)
    v = std::ldexp(static_cast<long double>(mantissa), 1 - bias - mantissa_bits);
  else
    v = std::ldexp(static_cast<long double>(mantissa | 1u << mantissa_bits), static_cast<int>(exponent) - bias - mantissa_bits);
  return negative ? -v : v;
}

template <class S>
S raw(const void* base, std::int64_t index) {
  S v;
  std::memcpy(&v, static_cast<const char*>(base) + index * static_cast<std::int64_t>(sizeof(S)), sizeof(S));
  return v;
}

long double wrap32(long double exact_integer) {
  // Sums here stay below 2^63, so int64 holds them; the low 32 bits are the accumulator.
  const std::uint32_t low = static_cast<std::uint32_t>(static_cast<std::uint64_t>(static_cast<std::int64_t>(exact_integer)));
  return static_cast<long double>(static_cast<std::int32_t>(low));
}

/// For group-less index arithmetic: which element of the dense input meets row (n, output position) and column (tap).
struct Im2col {
  Dims in, out, filter;
  const Problem& p;
  explicit Im2col(const Problem& problem) : p(problem) {
    for (int i = 2; i < p.x.rank; ++i) {
      in.push_back(p.x.dim[static_cast<std::size_t>(i)]);
      out.push_back(p.y.dim[static_cast<std::size_t>(i)]);
      filter.push_back(p.w.dim[static_cast<std::size_t>(i)]);
    }
  }
  /// Dense spatial index of the input, or -1 for padding. `tap` is the filter's own index: the mirror is on the image's side.
  std::int64_t meets(std::int64_t position, std::int64_t tap) const {
    const Dims o = digits(position, out), t = digits(tap, filter);
    std::int64_t at = 0;
    for (std::size_t a = 0; a < in.size(); ++a) {
      const std::int64_t reach = p.mode == ConvolutionMode_t::CONVOLUTION ? filter[a] - 1 - t[a] : t[a];
      const std::int64_t i = o[a] * p.stride[a] + reach * p.dilation[a] - p.pre_pad[a];
      if (i < 0 || i > in[a] - 1) return -1;
      at = at * in[a] + i;
    }
    return at;
  }
};

}  // namespace

long double decode(DataType_t type, const void* base, std::int64_t i) {
  switch (type) {
    case T::INT8:
      return raw<signed char>(base, i);
    case T::UINT8:
      return raw<unsigned char>(base, i);
    case T::BOOLEAN:
      return raw<unsigned char>(base, i) ? 1 : 0;
    case T::INT32:
      return raw<std::int32_t>(base, i);
    case T::INT64:
      return static_cast<long double>(raw<std::int64_t>(base, i));
    case T::FLOAT:
      return raw<float>(base, i);
    case T::DOUBLE:
      return raw<double>(base, i);
    case T::HALF:
      return binary_float(raw<std::uint16_t>(base, i), 5, 10, true);
    case T::BFLOAT16:
      return binary_float(raw<std::uint16_t>(base, i), 8, 7, true);
    case T::FP8_E4M3:
      return binary_float(raw<std::uint8_t>(base, i), 4, 3, false);
    case T::FP8_E5M2:
      return binary_float(raw<std::uint8_t>(base, i), 5, 2, true);
    default:
      return std::numeric_limits<long double>::quiet_NaN();
  }
}

long double rounded_to(DataType_t type, long double v) {
  switch (type) {
    case T::INT8:
      return clamp_integer(v, -128, 127);
    case T::UINT8:
      return clamp_integer(v, 0, 255);
    case T::BOOLEAN:
      return v != 0 ? 1 : 0;
    case T::INT32:
      return clamp_integer(v, -2147483648.0L, 2147483647.0L);
    case T::INT64:
      return clamp_integer(v, -9223372036854775808.0L, 9223372036854775807.0L);
    case T::FLOAT:
      return static_cast<float>(v);  // the hardware's one rounding
    case T::DOUBLE:
      return static_cast<double>(v);
    case T::HALF:
      return round_float(v, kHalf);
    case T::BFLOAT16:
      return round_float(v, kBfloat);
    case T::FP8_E4M3:
      return round_float(v, kE4m3);
    case T::FP8_E5M2:
      return round_float(v, kE5m2);
    default:
      return std::numeric_limits<long double>::quiet_NaN();
  }
}

Accumulators independent_accumulators(const Problem& p, const verify::Data& data) {
  const Im2col map(p);
  const std::int64_t n = p.x.dim[0], c = p.x.dim[1], k = p.w.dim[0], cg = p.w.dim[1], g = c / cg, kg = k / g;
  const std::int64_t taps = count(map.filter), positions = count(map.out), pixels = count(map.in);
  std::vector<long double> x, w, y;
  if (p.direction != Direction::dgrad) x = dense(p.x, data.x.data());
  if (p.direction != Direction::wgrad) w = dense(p.w, data.w.data());
  if (p.direction != Direction::fprop) y = dense(p.y, data.y.data());
  for (long double& v : x) v -= p.zero_points.x;
  for (std::size_t i = 0; i < w.size(); ++i) {
    const std::size_t row = i / static_cast<std::size_t>(cg * taps);
    if (p.zero_points.filter == ZeroPoints::Filter::scalar) w[i] -= p.zero_points.w;
    if (p.zero_points.filter == ZeroPoints::Filter::per_channel) w[i] -= data.w_zero_points[row];
  }
  Accumulators acc;
  acc.sum.assign(static_cast<std::size_t>(count(dims_of(p.result()))), 0);
  acc.magnitude = acc.sum;
  const bool floats = !is_integer(p.input_a().type);
  const auto add = [&](std::size_t at, long double a, long double o) {
    acc.sum[at] += a * o;
    if (floats) acc.magnitude[at] += std::fabs(a * o);
  };
  // One column of the im2col matrix at a time: (group, channel, tap) against every row (image, position).
  std::vector<std::int64_t> met(static_cast<std::size_t>(positions));
  for (std::int64_t tap = 0; tap < taps; ++tap) {
    for (std::int64_t q = 0; q < positions; ++q) met[static_cast<std::size_t>(q)] = map.meets(q, tap);
    for (std::int64_t ch = 0; ch < c; ++ch) {
      for (std::int64_t kk = ch / cg * kg; kk < (ch / cg + 1) * kg; ++kk) {
        const std::size_t wi = static_cast<std::size_t>((kk * cg + ch % cg) * taps + tap);
        for (std::int64_t b = 0; b < n; ++b) {
          for (std::int64_t q = 0; q < positions; ++q) {
            if (met[static_cast<std::size_t>(q)] < 0) continue;
            const std::size_t xi = static_cast<std::size_t>((b * c + ch) * pixels + met[static_cast<std::size_t>(q)]);
            const std::size_t yi = static_cast<std::size_t>((b * k + kk) * positions + q);
            switch (p.direction) {
              case Direction::fprop:
                add(yi, x[xi], w[wi]);
                break;
              case Direction::dgrad:
                add(xi, y[yi], w[wi]);
                break;
              case Direction::wgrad:
                add(wi, x[xi], y[yi]);
                break;
            }
          }
        }
      }
    }
  }
  if (is_integer(p.input_a().type))
    for (long double& v : acc.sum) v = wrap32(v);  // every product < 2^62 and long double keeps 64 bits: exact before the wrap
  return acc;
}

namespace {

using Mode = PointwiseMode_t;

/// Sums whose terms may cancel: 1 + tanh, 1 + erf, 1 - t^2, s * (1 - s).
bool cancels(Mode m) {
  switch (m) {
    case Mode::GELU_FWD:
    case Mode::GELU_BWD:
    case Mode::GELU_APPROX_TANH_FWD:
    case Mode::GELU_APPROX_TANH_BWD:
    case Mode::TANH_BWD:
    case Mode::SIGMOID_BWD:
    case Mode::SWISH_BWD:
      return true;
    default:
      return false;
  }
}

bool transcendental(Mode m) {
  switch (m) {
    case Mode::SQRT:
    case Mode::TANH_FWD:
    case Mode::SIGMOID_FWD:
    case Mode::ELU_FWD:
    case Mode::GELU_FWD:
    case Mode::SOFTPLUS_FWD:
    case Mode::SWISH_FWD:
    case Mode::TANH_BWD:
    case Mode::SIGMOID_BWD:
    case Mode::ELU_BWD:
    case Mode::GELU_BWD:
    case Mode::SOFTPLUS_BWD:
    case Mode::SWISH_BWD:
    case Mode::ERF:
    case Mode::GELU_APPROX_TANH_BWD:
    case Mode::GELU_APPROX_TANH_FWD:
    case Mode::EXP:
    case Mode::LOG:
    case Mode::POW:
    case Mode::COS:
    case Mode::RSQRT:
    case Mode::SIN:
    case Mode::TAN:
      return true;
    default:
      return false;
  }
}

/// The mathematical function. Derivatives by the textbook; at infinities the limits.
long double function(const Epilogue::Node& n, long double a, long double b) {
  const long double infinity = std::numeric_limits<long double>::infinity();
  switch (n.mode) {
    case Mode::ELU_FWD:
    case Mode::GELU_FWD:
    case Mode::SOFTPLUS_FWD:
    case Mode::SWISH_FWD:
    case Mode::GELU_APPROX_TANH_FWD:
      if (a == infinity) return a;
      if (a == -infinity) return function(n, -1e4L, b);
      break;
    case Mode::TANH_BWD:
    case Mode::SIGMOID_BWD:
    case Mode::ELU_BWD:
    case Mode::GELU_BWD:
    case Mode::SOFTPLUS_BWD:
    case Mode::SWISH_BWD:
    case Mode::GELU_APPROX_TANH_BWD:
      // Far out the derivative is 0 or 1, and an infinite dy times 0 is NaN.
      if (std::fabs(b) > 700 && std::fabs(b) != 1e5L) return function(n, a, std::copysign(1e5L, b));
      break;
    default:
      break;
  }
  const long double pi = 3.14159265358979323846264338327950288L, alpha = n.alpha;
  const auto logistic = [](long double v) { return 1 / (1 + std::exp(-v)); };
  const auto phi = [&](long double v) { return std::erfc(-v / std::sqrt(2.0L)) / 2; };
  const auto inner = [&](long double v) { return std::sqrt(2 / pi) * (v + 0.044715L * v * v * v); };
  switch (n.mode) {
    case Mode::SQRT:
      return std::sqrt(a);
    case Mode::RSQRT:
      return 1 / std::sqrt(a);
    case Mode::TANH_FWD:
      return std::tanh(a);
    case Mode::SIGMOID_FWD:
      return logistic(a);
    case Mode::ELU_FWD:
      return a > 0 ? a : alpha * std::expm1(a);
    case Mode::GELU_FWD:
      return a * phi(a);
    case Mode::SOFTPLUS_FWD:
      return alpha * a > 60 ? a : std::log1p(std::exp(alpha * a)) / alpha;
    case Mode::SWISH_FWD:
      return a * logistic(alpha * a);
    case Mode::GELU_APPROX_TANH_FWD:
      return a * logistic(2 * inner(a));  // (1 + tanh u) / 2
    case Mode::ERF:
      return std::erf(a);
    case Mode::EXP:
      return std::exp(a);
    case Mode::LOG:
      return std::log(a);
    case Mode::POW:
      return std::pow(a, b);
    case Mode::COS:
      return std::cos(a);
    case Mode::SIN:
      return std::sin(a);
    case Mode::TAN:
      return std::tan(a);
    case Mode::TANH_BWD:
      return a / (std::cosh(b) * std::cosh(b));
    case Mode::SIGMOID_BWD:
      return a * logistic(b) * logistic(-b);
    case Mode::ELU_BWD:
      return b > 0 ? a : a * alpha * std::exp(b);
    case Mode::GELU_BWD:
      return a * (phi(b) + b * std::exp(-b * b / 2) / std::sqrt(2 * pi));
    case Mode::SOFTPLUS_BWD:
      return a * logistic(alpha * b);
    case Mode::SWISH_BWD:
      return a * (logistic(alpha * b) + alpha * b * logistic(alpha * b) * logistic(-alpha * b));
    case Mode::GELU_APPROX_TANH_BWD: {
      const long double half = logistic(2 * inner(b)), other = logistic(-2 * inner(b));
      return a * (half + 2 * b * half * other * std::sqrt(2 / pi) * (1 + 3 * 0.044715L * b * b));
    }
    default:
      return std::numeric_limits<long double>::quiet_NaN();
  }
}

/// One arithmetic node: R rounds a real to the compute type.
template <class R>
long double arithmetic(const Epilogue::Node& n, long double a, long double b, const R& round) {
  const auto truth = [](bool v) { return v ? 1.0L : 0.0L; };
  const long double low = round(n.lower_clip), high = round(n.upper_clip), slope = round(n.slope);
  switch (n.mode) {
    case Mode::ADD:
      return round(a + b);
    case Mode::SUB:
      return round(a - b);
    case Mode::MUL:
      return round(a * b);
    case Mode::DIV:
      return round(a / b);
    case Mode::RECIPROCAL:
      return round(1 / a);
    case Mode::ADD_SQUARE:
      return round(a + round(b * b));
    case Mode::MAX:
      return std::isnan(a) || std::isnan(b) ? a + b : std::max(a, b);
    case Mode::MIN:
      return std::isnan(a) || std::isnan(b) ? a + b : std::min(a, b);
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
    case Mode::RELU_FWD:
      if (std::isnan(a)) return a;
      if (a < low) return slope == 0 ? low : round(low + round(slope * round(a - low)));
      return n.has_upper_clip ? std::min(a, high) : a;
    case Mode::RELU_BWD:
      if (std::isnan(b)) return b;
      if (b <= low) return slope == 0 ? 0 : round(a * slope);
      return n.has_upper_clip && b >= high ? 0 : a;
    case Mode::LOGICAL_NOT:
      return truth(a == 0);
    case Mode::LOGICAL_AND:
      return truth(a != 0 && b != 0);
    case Mode::LOGICAL_OR:
      return truth(a != 0 || b != 0);
    case Mode::CMP_EQ:
      return truth(a == b);
    case Mode::CMP_NEQ:
      return truth(a != b);
    case Mode::CMP_GT:
      return truth(a > b);
    case Mode::CMP_GE:
      return truth(a >= b);
    case Mode::CMP_LT:
      return truth(a < b);
    case Mode::CMP_LE:
      return truth(a <= b);
    default:
      return transcendental(n.mode) ? round(function(n, a, b)) : std::numeric_limits<long double>::quiet_NaN();
  }
}

long double to_compute(T compute, long double v) { return rounded_to(compute, v); }

long double node_value(const Epilogue::Node& n, const long double in[3], const Dims& at) {
  const long double a = to_compute(n.compute, in[0]), b = to_compute(n.compute, in[1]);
  long double v = 0;
  if (n.mode == Mode::GEN_INDEX) {
    v = to_compute(n.compute, static_cast<long double>(at[static_cast<std::size_t>(n.axis)]));
  } else if (n.mode == Mode::BINARY_SELECT) {
    v = to_compute(n.compute, in[2] != 0 ? in[0] : in[1]);
  } else if (n.compute == T::INT32) {
    // Integers wrap after + - *; clips and slopes are real numbers, rounded at the end.
    const auto exact = [](long double r) { return r; };
    switch (n.mode) {
      case Mode::ADD:
      case Mode::SUB:
      case Mode::MUL:
      case Mode::NEG:
      case Mode::ABS:
        v = wrap32(arithmetic(n, a, b, exact));
        break;
      case Mode::ADD_SQUARE:
        v = wrap32(a + wrap32(b * b));
        break;
      case Mode::DIV:
        v = b == 0 ? 0 : wrap32(std::trunc(a / b));
        break;
      case Mode::RECIPROCAL:
        v = a == 0 ? 0 : std::trunc(1 / a);
        break;
      default:
        v = rounded_to(T::INT32, arithmetic(n, a, b, exact));
        break;
    }
  } else if (n.compute == T::BOOLEAN) {
    v = arithmetic(n, a, b, [](long double r) { return r; }) != 0 ? 1 : 0;
  } else {
    v = arithmetic(n, a, b, [&](long double r) { return rounded_to(n.compute, r); });
  }
  return n.result == T::INT8 || n.result == T::UINT8 || n.result == T::INT32 ? rounded_to(n.result, v) : v;
}

bool equal(long double a, long double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

std::string independent_check(const Problem& p, const verify::Data& data, const std::vector<verify::GuardedBuffer>& outputs) {
  const Accumulators acc = independent_accumulators(p, data);
  const bool integers = is_integer(p.input_a().type);
  const T carried = integers ? T::INT32 : p.input_a().type == T::DOUBLE ? T::DOUBLE : T::FLOAT;
  const bool inexact = std::any_of(p.epilogue.nodes.begin(), p.epilogue.nodes.end(),
                                   [](const Epilogue::Node& n) { return transcendental(n.mode); });
  const Dims dims = dims_of(p.result());
  const std::size_t operands = p.epilogue.operands.size();
  std::vector<long double> values(1 + operands + p.epilogue.nodes.size());

  for (std::size_t i = 0; i < acc.sum.size(); ++i) {
    const Dims at = digits(static_cast<std::int64_t>(i), dims);
    for (std::size_t o = 0; o < operands; ++o) {
      const Epilogue::Operand& operand = p.epilogue.operands[o];
      values[1 + o] = operand.source == Epilogue::Source::constant ? rounded_to(operand.desc.type, operand.constant)
                      : operand.source == Epilogue::Source::host_scalar
                          ? decode(operand.desc.type, data.operands[o].data(), 0)
                          : decode(operand.desc.type, data.operands[o].data(), address(operand.desc, at, true));
    }
    // Candidates for the accumulator: the exact sum rounded once; and, as the oracle sums in float64, the neighbours that
    // its error reaches. Candidates for a transcendental: its two neighbours.
    const long double reach =
        integers ? 0
                 : acc.magnitude[i] * 0x1p-53L * static_cast<long double>(std::max<std::int64_t>(p.accumulation_length(), 1));
    std::vector<std::vector<long double>> candidates;
    for (const long double shift : {0.0L, -1.0L, 1.0L}) {
      if (shift != 0 && (integers || !std::isfinite(acc.sum[i]))) continue;
      for (const int nudge : {0, -1, 1}) {
        if (nudge != 0 && !inexact) continue;
        values[0] = rounded_to(carried, acc.sum[i] + shift * reach);
        for (std::size_t k = 0; k < p.epilogue.nodes.size(); ++k) {
          const Epilogue::Node& n = p.epilogue.nodes[k];
          long double in[3] = {0, 0, 0};
          for (std::size_t j = 0; j < 3; ++j)
            if (n.in[j] >= 0) in[j] = values[static_cast<std::size_t>(n.in[j])];
          long double v = node_value(n, in, at);
          if (nudge != 0 && transcendental(n.mode) && (v != 0 || cancels(n.mode)) && std::isfinite(v) && n.result != T::INT8 &&
              n.result != T::UINT8 && n.result != T::INT32) {
            // 1 + tanh and the like leave an error of the terms, not of what remains of them.
            const long double terms = cancels(n.mode) ? std::abs(in[0]) * (2 + std::abs(in[1])) : 0;
            const long double size = std::isfinite(terms) ? std::max(std::abs(v), terms) : std::abs(v);
            v = rounded_to(n.compute,
                           v + static_cast<long double>(nudge) * size * (n.compute == T::DOUBLE ? 0x1p-49L : 0x1p-23L));
          }
          values[1 + operands + k] = v;
        }
        candidates.push_back(values);
      }
    }
    for (std::size_t o = 0; o < p.epilogue.outputs.size(); ++o) {
      const Epilogue::Output& out = p.epilogue.outputs[o];
      const long double have = decode(out.desc.type, outputs[o].data(), address(out.desc, at, false));
      long double low = std::numeric_limits<long double>::infinity(), high = -low;
      bool matches = false;
      for (const auto& candidate : candidates) {
        const long double want = rounded_to(out.desc.type, candidate[static_cast<std::size_t>(out.value)]);
        matches = matches || equal(want, have);
        if (!std::isnan(want)) low = std::min(low, want), high = std::max(high, want);
      }
      if (matches || (candidates.size() > 1 && have >= low && have <= high)) continue;
      std::string where;
      for (const std::int64_t d : at) where += (where.empty() ? "[" : ",") + std::to_string(d);
      return "output " + std::to_string(o) + " at " + where + "]: " + std::to_string(have) + ", the definition gives " +
             std::to_string(rounded_to(out.desc.type, candidates[0][static_cast<std::size_t>(out.value)]));
    }
  }
  return {};
}

}  // namespace octavo::testing
