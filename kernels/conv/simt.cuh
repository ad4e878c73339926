// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kernel that runs everything: one output element a thread, or a warp where the sums are long and the outputs few.
// Grid-stride, so no size is too large; every number of the problem is a constant; integers are exact modulo 2^32.

#include "conv/geometry.cuh"
#include "epilogue/access.cuh"
#include "epilogue/pointwise.cuh"
#include "ptx/types.cuh"

namespace octavo::conv {

template <class Acc>
struct Sum;
template <>
struct Sum<s32> {
  template <class A, class B>
  static OCTAVO_DEVICE s32 add(s32 acc, A a, B b, s32 za, s32 zb) {
    return static_cast<s32>(static_cast<u32>(acc) + (static_cast<u32>(to_int(a)) - static_cast<u32>(za)) *
                                                        (static_cast<u32>(to_int(b)) - static_cast<u32>(zb)));
  }
  static OCTAVO_DEVICE s32 plus(s32 a, s32 b) { return pw::iadd(a, b); }
};
template <>
struct Sum<float> {
  template <class A, class B>
  static OCTAVO_DEVICE float add(float acc, A a, B b, s32, s32) {
    return fmaf(to_float(a), to_float(b), acc);
  }
  static OCTAVO_DEVICE float plus(float a, float b) { return a + b; }
};
template <>
struct Sum<double> {
  template <class A, class B>
  static OCTAVO_DEVICE double add(double acc, A a, B b, s32, s32) {
    return ::fma(to_double(a), to_double(b), acc);
  }
  static OCTAVO_DEVICE double plus(double a, double b) { return a + b; }
};

/// Coordinates of one result element: dim 0, channel, spatial.
template <class I>
struct Coordinate {
  I d0, c, s0, s1, s2;
};

template <class Conv, class Acc>
OCTAVO_DEVICE Acc sum_fprop(const typename Conv::A* __restrict__ x, const typename Conv::B* __restrict__ w,
                            const s32* zero_points, const Coordinate<typename Conv::idx_t>& at, int lane) {
  using I = typename Conv::idx_t;
  const I group = at.c / Conv::KG;
  s32 zw = Conv::kZeroW;
  if constexpr (Conv::kFilterZero == 2) zw = zero_points[at.c];
  Acc acc = 0;
#pragma unroll 1
  for (I t0 = 0; t0 < Conv::R0; ++t0) {
    const I i0 = input_of<I>(at.s0, t0, Conv::S0, Conv::D0, Conv::B0);
    if (i0 < 0 || i0 >= Conv::X0) continue;
#pragma unroll 1
    for (I t1 = 0; t1 < Conv::R1; ++t1) {
      const I i1 = input_of<I>(at.s1, t1, Conv::S1, Conv::D1, Conv::B1);
      if (i1 < 0 || i1 >= Conv::X1) continue;
#pragma unroll 1
      for (I t2 = 0; t2 < Conv::R2; ++t2) {
        const I i2 = input_of<I>(at.s2, t2, Conv::S2, Conv::D2, Conv::B2);
        if (i2 < 0 || i2 >= Conv::X2) continue;
        const auto* xp = x + (at.d0 * Conv::XS0 + i0 * Conv::XS2 + i1 * Conv::XS3 + i2 * Conv::XS4);
        const auto* wp = w + (at.c * Conv::WS0 + filter_index<I>(t0, Conv::R0, Conv::kFlip) * Conv::WS2 +
                              filter_index<I>(t1, Conv::R1, Conv::kFlip) * Conv::WS3 +
                              filter_index<I>(t2, Conv::R2, Conv::kFlip) * Conv::WS4);
#pragma unroll 4
        for (I c = lane; c < Conv::CG; c += Conv::kLanes)
          acc = Sum<Acc>::add(acc, xp[channel_offset<I>(group * Conv::CG + c, Conv::XS1, Conv::XV)],
                              wp[channel_offset<I>(c, Conv::WS1, Conv::WV)], Conv::kZeroX, zw);
      }
    }
  }
  return acc;
}

template <class Conv, class Acc>
OCTAVO_DEVICE Acc sum_dgrad(const typename Conv::A* __restrict__ y, const typename Conv::B* __restrict__ w, const s32*,
                            const Coordinate<typename Conv::idx_t>& at, int lane) {
  using I = typename Conv::idx_t;
  const I group = at.c / Conv::CG, in_group = at.c % Conv::CG;
  Acc acc = 0;
#pragma unroll 1
  for (I t0 = 0; t0 < Conv::R0; ++t0) {
    const I p0 = output_of<I>(at.s0, t0, Conv::S0, Conv::D0, Conv::B0, Conv::Y0);
    if (p0 < 0) continue;
#pragma unroll 1
    for (I t1 = 0; t1 < Conv::R1; ++t1) {
      const I p1 = output_of<I>(at.s1, t1, Conv::S1, Conv::D1, Conv::B1, Conv::Y1);
      if (p1 < 0) continue;
#pragma unroll 1
      for (I t2 = 0; t2 < Conv::R2; ++t2) {
        const I p2 = output_of<I>(at.s2, t2, Conv::S2, Conv::D2, Conv::B2, Conv::Y2);
        if (p2 < 0) continue;
        const auto* yp = y + (at.d0 * Conv::YS0 + p0 * Conv::YS2 + p1 * Conv::YS3 + p2 * Conv::YS4);
        const auto* wp =
            w +
            (channel_offset<I>(in_group, Conv::WS1, Conv::WV) + filter_index<I>(t0, Conv::R0, Conv::kFlip) * Conv::WS2 +
             filter_index<I>(t1, Conv::R1, Conv::kFlip) * Conv::WS3 + filter_index<I>(t2, Conv::R2, Conv::kFlip) * Conv::WS4);
#pragma unroll 4
        for (I k = lane; k < Conv::KG; k += Conv::kLanes)
          acc = Sum<Acc>::add(acc, yp[channel_offset<I>(group * Conv::KG + k, Conv::YS1, Conv::YV)],
                              wp[(group * Conv::KG + k) * Conv::WS0], 0, 0);
      }
    }
  }
  return acc;
}

template <class Conv, class Acc>
OCTAVO_DEVICE Acc sum_wgrad(const typename Conv::A* __restrict__ x, const typename Conv::B* __restrict__ y, const s32*,
                            const Coordinate<typename Conv::idx_t>& at, int lane) {
  using I = typename Conv::idx_t;
  const I group = at.d0 / Conv::KG;
  const I t0 = filter_index<I>(at.s0, Conv::R0, Conv::kFlip), t1 = filter_index<I>(at.s1, Conv::R1, Conv::kFlip),
          t2 = filter_index<I>(at.s2, Conv::R2, Conv::kFlip);
  const auto* xp = x + channel_offset<I>(group * Conv::CG + at.c, Conv::XS1, Conv::XV);
  const auto* yp = y + channel_offset<I>(at.d0, Conv::YS1, Conv::YV);
  Acc acc = 0;
#pragma unroll 1
  for (s64 m = lane; m < Conv::kPixels; m += Conv::kLanes) {
    typename Conv::pixel_t rest = static_cast<typename Conv::pixel_t>(m);
    const I q2 = static_cast<I>(rest % Conv::Y2);
    rest /= Conv::Y2;
    const I q1 = static_cast<I>(rest % Conv::Y1);
    rest /= Conv::Y1;
    const I q0 = static_cast<I>(rest % Conv::Y0), n = static_cast<I>(rest / Conv::Y0);
    const I i0 = input_of<I>(q0, t0, Conv::S0, Conv::D0, Conv::B0), i1 = input_of<I>(q1, t1, Conv::S1, Conv::D1, Conv::B1),
            i2 = input_of<I>(q2, t2, Conv::S2, Conv::D2, Conv::B2);
    if (i0 < 0 || i0 >= Conv::X0 || i1 < 0 || i1 >= Conv::X1 || i2 < 0 || i2 >= Conv::X2) continue;
    acc = Sum<Acc>::add(acc, xp[n * Conv::XS0 + i0 * Conv::XS2 + i1 * Conv::XS3 + i2 * Conv::XS4],
                        yp[n * Conv::YS0 + q0 * Conv::YS2 + q1 * Conv::YS3 + q2 * Conv::YS4], 0, 0);
  }
  return acc;
}

template <class Conv, class Epilogue, class EpilogueArgs>
OCTAVO_DEVICE void simt(const typename Conv::A* __restrict__ a, const typename Conv::B* __restrict__ b, const s32* zero_points,
                        const EpilogueArgs& args) {
  using I = typename Conv::idx_t;
  using Acc = typename Epilogue::acc_t;
  using E = typename Epilogue::idx_t;
  const int lane = Conv::kLanes > 1 ? static_cast<int>(threadIdx.x) % Conv::kLanes : 0;
  const u64 step = static_cast<u64>(gridDim.x) * blockDim.x / Conv::kLanes;
#pragma unroll 1
  for (u64 i = (static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x) / Conv::kLanes; i < Conv::kElements; i += step) {
    const Coordinate<I> at = Conv::decode(i);
    Acc acc;
    if constexpr (Conv::kDirection == 0) {
      acc = sum_fprop<Conv, Acc>(a, b, zero_points, at, lane);
    } else if constexpr (Conv::kDirection == 1) {
      acc = sum_dgrad<Conv, Acc>(a, b, zero_points, at, lane);
    } else {
      acc = sum_wgrad<Conv, Acc>(a, b, zero_points, at, lane);
    }
    if constexpr (Conv::kLanes > 1) {
      // A fixed tree: the same bits every time. All lanes of a warp are on the same element, so all take part.
#pragma unroll
      for (int d = Conv::kLanes / 2; d > 0; d /= 2) acc = Sum<Acc>::plus(acc, __shfl_xor_sync(0xffffffffu, acc, d));
      if (lane != 0) continue;
    }
    const auto row = Epilogue::row(static_cast<E>(at.d0), static_cast<E>(at.s0), static_cast<E>(at.s1), static_cast<E>(at.s2));
    const E c = static_cast<E>(at.c);
    const Acc one[1] = {acc};
    const auto channels = Epilogue::template channels<1, false>(args, c);
    Epilogue::template store<1, false>(args, row, c, channels, one);
  }
}

}  // namespace octavo::conv
