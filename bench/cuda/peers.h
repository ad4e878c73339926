// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// CUTLASS fprop kernels as plain functions, one translation unit each.

#include <cuda_runtime.h>

#include <functional>

struct PeerProblem {
  int n, h, w, c, k, r, s, pad, stride;
  int p() const { return (h + 2 * pad - r) / stride + 1; }
  int q() const { return (w + 2 * pad - s) / stride + 1; }
};
/// A launcher for fixed addresses, or null where CUTLASS cannot run the problem.
using PeerLaunch = std::function<void(cudaStream_t)>;
using PeerMake = PeerLaunch (*)(const PeerProblem&, const void* x, const void* w, void* y, float scale);

PeerLaunch cutlass_nc32_128x128x64_4(const PeerProblem&, const void*, const void*, void*, float);
PeerLaunch cutlass_nhwc_128x128x64_4(const PeerProblem&, const void*, const void*, void*, float);
PeerLaunch cutlass_nhwc_256x128x64_3(const PeerProblem&, const void*, const void*, void*, float);
PeerLaunch cutlass_nhwc_128x64x64_4(const PeerProblem&, const void*, const void*, void*, float);
PeerLaunch cutlass_nhwc_64x64x64_6(const PeerProblem&, const void*, const void*, void*, float);
