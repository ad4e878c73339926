// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// cuDNN's INT8x32 filter order, [C/32][R][S][K/8][2][8][4][4] in memory, back into plain order. `R` has the sizes kK, kC, kR,
// kS and out(i): where element i of [K][C][R][S] belongs. src/graph/cpu_steps.cpp says which axis holds what.

#include "ptx/types.cuh"

namespace octavo::steps {

template <class R>
OCTAVO_DEVICE void reorder(const s8* from, s8* to) {
  const u64 step = static_cast<u64>(gridDim.x) * blockDim.x;
#pragma unroll 1
  for (u64 i = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x; i < R::kK * R::kC * R::kR * R::kS; i += step) {
    u64 rest = i;
    const u64 s = rest % R::kS;
    rest /= R::kS;
    const u64 r = rest % R::kR;
    rest /= R::kR;
    const u64 c = rest % R::kC, k = rest / R::kC;
    u64 at = (c / 32 * R::kR + r) * R::kS + s;
    at = (at * (R::kK / 8) + k / 8) * 2 + k % 2;
    at = (at * 8 + c % 32 / 4) * 4 + k % 8 / 2;
    to[R::out(i)] = from[at * 4 + c % 4];
  }
}

}  // namespace octavo::steps
