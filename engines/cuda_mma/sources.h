// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Kernels of a configuration as text to compile. Pure.

#include "engines/cuda_mma/config.h"
#include "jit/kernel_request.h"
#include "octavo/problem.h"

namespace octavo::cuda::mma {

/// Output channels that a thread may store in one piece, and whether such pieces need aligned pointers.
int store_granule(const Lowered& l);

jit::KernelRequest main_request(const Problem& problem, const Lowered& l, const Config& c, const DeviceTraits& device);
jit::KernelRequest pack_request(const Pack& pack, const DeviceTraits& device);
/// Sums of the filters, for a zero point of x.
jit::KernelRequest sums_request(const Pack& pack, const DeviceTraits& device);

inline constexpr int kPackThreads = 256;
inline constexpr int kReduceThreads = 128;
inline constexpr const char* kReduceEntry = "octavo_reduce";

}  // namespace octavo::cuda::mma
