// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reductions in two launches: a warp for each slice of each output, then a thread for each output over its slices in order. The
// shape alone decides the slices, so the bits are the same every time. `R` has the constants:
//   In, Out, Acc (double, or s64 for INT32 arithmetic), kMode (ReductionMode_t, or kSquareSum), kCompute (0 f32, 1 f64, 2 s32),
//   kOutputs, kCovered, kSlices, and base(o), inner(i), out(o): element offsets.

#include "ptx/types.cuh"

namespace octavo::steps {

enum Mode : int { kAdd = 1, kMul, kMin, kMax, kAmax, kAvg, kNorm1, kNorm2, kMulNoZeros, kSquareSum = 100 };

template <class Acc>
OCTAVO_DEVICE Acc wrap(Acc v) {
  return v;
}
template <>
OCTAVO_DEVICE s64 wrap<s64>(s64 v) {
  return static_cast<s32>(static_cast<u32>(static_cast<u64>(v)));
}

template <class R>
OCTAVO_DEVICE typename R::Acc first() {
  using Acc = typename R::Acc;
  if constexpr (R::kMode == kMul || R::kMode == kMulNoZeros) return Acc(1);
  constexpr bool kWhole = is_same<Acc, s64>::value;
  if constexpr (R::kMode == kMin) return kWhole ? Acc(2147483647) : Acc(detail::float_of(0x7f800000u));
  if constexpr (R::kMode == kMax) return kWhole ? Acc(-2147483648LL) : Acc(detail::float_of(0xff800000u));
  return Acc(0);
}

/// What one element contributes.
template <class R>
OCTAVO_DEVICE typename R::Acc term(typename R::In v) {
  using Acc = typename R::Acc;
  Acc x;
  if constexpr (is_same<Acc, s64>::value || R::kCompute == 2) {
    x = static_cast<Acc>(to_int(v));
  } else {
    x = to_double(v);
  }
  if constexpr (R::kMode == kNorm1 || R::kMode == kAmax) return wrap<Acc>(x < 0 ? -x : x);
  if constexpr (R::kMode == kNorm2 || R::kMode == kSquareSum) return wrap<Acc>(x * x);
  if constexpr (R::kMode == kMulNoZeros) return x == 0 ? Acc(1) : x;
  return x;
}

template <class R>
OCTAVO_DEVICE typename R::Acc join(typename R::Acc a, typename R::Acc b) {
  using Acc = typename R::Acc;
  if constexpr (R::kMode == kMul || R::kMode == kMulNoZeros) return wrap<Acc>(wrap<Acc>(a) * wrap<Acc>(b));
  if constexpr (R::kMode == kMin) return b < a || b != b ? b : a;  // NaN wins
  if constexpr (R::kMode == kMax || R::kMode == kAmax) return b > a || b != b ? b : a;
  return a + b;
}

template <class R>
OCTAVO_DEVICE void partial(const typename R::In* in, typename R::Acc* slices) {
  const int lane = threadIdx.x % 32;
  const u64 step = static_cast<u64>(gridDim.x) * blockDim.x / 32;
#pragma unroll 1
  for (u64 i = (static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x) / 32; i < R::kOutputs * R::kSlices; i += step) {
    const u64 o = i / R::kSlices, s = i % R::kSlices;
    const u64 begin = R::kCovered / R::kSlices * s + (s < R::kCovered % R::kSlices ? s : R::kCovered % R::kSlices);
    const u64 end = begin + R::kCovered / R::kSlices + (s < R::kCovered % R::kSlices ? 1 : 0);
    const s64 base = R::base(o);
    typename R::Acc acc = first<R>();
#pragma unroll 1
    for (u64 k = begin + lane; k < end; k += 32) acc = join<R>(acc, term<R>(in[base + R::inner(k)]));
#pragma unroll
    for (int d = 16; d > 0; d /= 2) acc = join<R>(acc, __shfl_xor_sync(0xffffffffu, acc, d));
    if (lane == 0) slices[i] = acc;
  }
}

template <class R>
OCTAVO_DEVICE void combine(const typename R::Acc* slices, typename R::Out* out) {
  const u64 step = static_cast<u64>(gridDim.x) * blockDim.x;
#pragma unroll 1
  for (u64 o = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x; o < R::kOutputs; o += step) {
    typename R::Acc acc = first<R>();
#pragma unroll 1
    for (u64 s = 0; s < R::kSlices; ++s) acc = join<R>(acc, slices[o * R::kSlices + s]);
    typename R::Out* to = out + R::out(o);
    if constexpr (is_same<typename R::Acc, s64>::value && R::kMode != kAvg) {
      *to = Store<typename R::Out>::from(static_cast<s32>(wrap<s64>(acc)));
    } else {
      double v = static_cast<double>(acc);
      if constexpr (R::kMode == kAvg) v = R::kCovered == 0 ? 0. : v / static_cast<double>(R::kCovered);
      if constexpr (R::kMode == kNorm2) v = ::sqrt(v);
      if constexpr (R::kCompute == 0) {
        *to = Store<typename R::Out>::from(static_cast<float>(v));
      } else {
        *to = Store<typename R::Out>::from(v);
      }
    }
  }
}

}  // namespace octavo::steps
