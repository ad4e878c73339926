// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Pointwise operations alone: a generated epilogue (engines/cuda_common/epilogue_codegen.h) with no sum before it. `S` has:
//   kElements, kChannels, and decode<V>(u64): the linear index of a run of V channels to its place.

#include "epilogue/access.cuh"
#include "epilogue/pointwise.cuh"

namespace octavo::steps {

struct Place {
  u64 d0 = 0, c = 0, s0 = 0, s1 = 0, s2 = 0;
};

template <class S, class E, int V, bool kWide, class Args>
OCTAVO_DEVICE void pointwise_runs(const Args& args) {
  using I = typename E::idx_t;
  const u64 step = static_cast<u64>(gridDim.x) * blockDim.x;
#pragma unroll 1
  for (u64 i = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x; i < S::kElements / V; i += step) {
    const Place at = S::template decode<V>(i);
    const auto row = E::row(static_cast<I>(at.d0), static_cast<I>(at.s0), static_cast<I>(at.s1), static_cast<I>(at.s2));
    const I c = static_cast<I>(at.c);
    const auto channels = E::template channels<V, kWide>(args, c);
    const typename E::acc_t none[V] = {};
    E::template store<V, kWide>(args, row, c, channels, none);
  }
}

template <class S, class E, class Args>
OCTAVO_DEVICE void pointwise(const Args& args, int aligned) {
  constexpr int kRun = E::kRun % 8 == 0 ? 8 : E::kRun % 4 == 0 ? 4 : E::kRun % 2 == 0 ? 2 : 1;
  constexpr int V = S::kChannels % kRun == 0 ? kRun : 1;
  if constexpr (V > 1) {
    if (aligned) return pointwise_runs<S, E, V, true>(args);
  }
  pointwise_runs<S, E, 1, false>(args);
}

}  // namespace octavo::steps
