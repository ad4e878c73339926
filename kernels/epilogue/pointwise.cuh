// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The pointwise modes that are not one operator, in float and double (templates) and in wrapping 32-bit integers. Generated
// epilogues call them by name. Modules are compiled without FMA contraction, so a * b + c is two roundings.

#include "ptx/types.cuh"

namespace octavo::pw {

template <class T>
OCTAVO_DEVICE bool nan(T v) {
  return v != v;
}

/// For constants too, where ptxas would lose a -0 (see detail::one_or_zero).
OCTAVO_DEVICE float select(bool condition, float yes, float no) {
#ifdef __CUDA_ARCH__
  u32 bits;
  asm("{ .reg .pred p; setp.ne.u32 p, %1, 0; selp.b32 %0, %2, %3, p; }"
      : "=r"(bits)
      : "r"(static_cast<u32>(condition)), "r"(detail::bits_of(yes)), "r"(detail::bits_of(no)));
  return detail::float_of(bits);
#else
  return condition ? yes : no;
#endif
}

// NaN propagates, the first operand's first.
template <class T>
OCTAVO_DEVICE T max(T a, T b) {
  return nan(a) ? a : nan(b) ? b : a > b ? a : b;
}
template <class T>
OCTAVO_DEVICE T min(T a, T b) {
  return nan(a) ? a : nan(b) ? b : a < b ? a : b;
}

template <class T>
OCTAVO_DEVICE T relu(T x, T lower) {
  return x < lower ? lower : x;
}
template <class T>
OCTAVO_DEVICE T relu_clip(T x, T lower, T upper) {
  return x < lower ? lower : x > upper ? upper : x;
}
template <class T>
OCTAVO_DEVICE T relu_slope(T x, T lower, T slope) {
  return x < lower ? lower + slope * (x - lower) : x;
}
template <class T>
OCTAVO_DEVICE T relu_slope_clip(T x, T lower, T slope, T upper) {
  return x < lower ? lower + slope * (x - lower) : x > upper ? upper : x;
}
template <class T>
OCTAVO_DEVICE T relu_bwd(T dy, T x, T lower, T slope, bool has_upper, T upper) {
  if (nan(x)) return x;
  if (!(x > lower)) return slope == T(0) ? T(0) : dy * slope;
  if (has_upper && !(x < upper)) return T(0);
  return dy;
}

#define OCTAVO_PW_MATH(name, f32_name, f64_name)            \
  OCTAVO_DEVICE float name(float x) { return f32_name(x); } \
  OCTAVO_DEVICE double name(double x) { return f64_name(x); }
OCTAVO_PW_MATH(exp, expf, ::exp)
OCTAVO_PW_MATH(expm1, expm1f, ::expm1)
OCTAVO_PW_MATH(log, logf, ::log)
OCTAVO_PW_MATH(log1p, log1pf, ::log1p)
OCTAVO_PW_MATH(tanh, tanhf, ::tanh)
OCTAVO_PW_MATH(erf, erff, ::erf)
OCTAVO_PW_MATH(erfc, erfcf, ::erfc)
OCTAVO_PW_MATH(sin, sinf, ::sin)
OCTAVO_PW_MATH(cos, cosf, ::cos)
OCTAVO_PW_MATH(tan, tanf, ::tan)
OCTAVO_PW_MATH(abs, fabsf, ::fabs)
OCTAVO_PW_MATH(ceil, ceilf, ::ceil)
OCTAVO_PW_MATH(floor, floorf, ::floor)
OCTAVO_PW_MATH(sqrt, __fsqrt_rn, __dsqrt_rn)
OCTAVO_PW_MATH(rsqrt, __frsqrt_rn, ::rsqrt)
#undef OCTAVO_PW_MATH
OCTAVO_DEVICE float div(float a, float b) { return __fdiv_rn(a, b); }
OCTAVO_DEVICE double div(double a, double b) { return __ddiv_rn(a, b); }
OCTAVO_DEVICE float mod(float a, float b) { return fmodf(a, b); }
OCTAVO_DEVICE double mod(double a, double b) { return ::fmod(a, b); }
OCTAVO_DEVICE float pow(float a, float b) { return powf(a, b); }
OCTAVO_DEVICE double pow(double a, double b) { return ::pow(a, b); }

template <class T>
OCTAVO_DEVICE T sigmoid(T x) {
  return div(T(1), T(1) + exp(-x));
}
template <class T>
OCTAVO_DEVICE T elu(T x, T alpha) {
  return x > T(0) ? x : alpha * expm1(x);
}
template <class T>
OCTAVO_DEVICE bool minus_infinity(T x) {
  return x < T(0) && x - x != T(0);
}
template <class T>
OCTAVO_DEVICE T gelu(T x) {
  return minus_infinity(x) ? T(0) : T(0.5) * x * erfc(-x * T(0.70710678118654752440));
}
template <class T>
OCTAVO_DEVICE T softplus(T x, T beta) {
  const T t = beta * x;
  return div((t > T(0) ? t : nan(t) ? t : T(0)) + log1p(exp(-abs(t))), beta);
}
template <class T>
OCTAVO_DEVICE T swish(T x, T beta) {
  const T s = sigmoid(beta * x);
  return s == T(0) ? T(0) * (x < T(0) ? T(-1) : T(1)) : x * s;
}
template <class T>
OCTAVO_DEVICE T gelu_inner(T x) {
  return T(0.79788456080286535588) * (x + T(0.044715) * x * x * x);
}
template <class T>
OCTAVO_DEVICE T gelu_tanh(T x) {
  return minus_infinity(x) ? T(0) : T(0.5) * x * (T(1) + tanh(gelu_inner(x)));
}

// Gradients: dy is the incoming one, x the forward input.
template <class T>
OCTAVO_DEVICE T tanh_bwd(T dy, T x) {
  const T t = tanh(x);
  return dy * (T(1) - t * t);
}
template <class T>
OCTAVO_DEVICE T sigmoid_bwd(T dy, T x) {
  const T s = sigmoid(x);
  return dy * (s * (T(1) - s));
}
template <class T>
OCTAVO_DEVICE T elu_bwd(T dy, T x, T alpha) {
  return x > T(0) ? dy : dy * (alpha * exp(x));
}
template <class T>
OCTAVO_DEVICE T gelu_bwd(T dy, T x) {
  const T density = T(0.39894228040143267794) * exp(T(-0.5) * x * x);
  return dy * (T(0.5) * erfc(-x * T(0.70710678118654752440)) + (density == T(0) ? T(0) : x * density));
}
template <class T>
OCTAVO_DEVICE T softplus_bwd(T dy, T x, T beta) {
  return dy * sigmoid(beta * x);
}
template <class T>
OCTAVO_DEVICE T swish_bwd(T dy, T x, T beta) {
  const T s = sigmoid(beta * x), tail = s * (T(1) - s);
  return dy * (s + (tail == T(0) ? T(0) : beta * x * tail));
}
template <class T>
OCTAVO_DEVICE T gelu_tanh_bwd(T dy, T x) {
  const T t = tanh(gelu_inner(x)), slope = T(0.79788456080286535588) * (T(1) + T(3. * 0.044715) * x * x);
  const T tail = T(1) - t * t;
  return dy * (T(0.5) * (T(1) + t) + (tail == T(0) ? T(0) : T(0.5) * x * tail * slope));
}

// INT32: + - * wrap, a division by zero gives 0.
OCTAVO_DEVICE s32 iadd(s32 a, s32 b) { return static_cast<s32>(static_cast<u32>(a) + static_cast<u32>(b)); }
OCTAVO_DEVICE s32 isub(s32 a, s32 b) { return static_cast<s32>(static_cast<u32>(a) - static_cast<u32>(b)); }
OCTAVO_DEVICE s32 imul(s32 a, s32 b) { return static_cast<s32>(static_cast<u32>(a) * static_cast<u32>(b)); }
OCTAVO_DEVICE s32 idiv(s32 a, s32 b) { return b == 0 ? 0 : b == -1 ? isub(0, a) : a / b; }
OCTAVO_DEVICE s32 imod(s32 a, s32 b) { return b == 0 || b == -1 ? 0 : a % b; }
OCTAVO_DEVICE s32 imax(s32 a, s32 b) { return a > b ? a : b; }
OCTAVO_DEVICE s32 imin(s32 a, s32 b) { return a < b ? a : b; }
OCTAVO_DEVICE s32 iabs(s32 a) { return a < 0 ? isub(0, a) : a; }

}  // namespace octavo::pw
