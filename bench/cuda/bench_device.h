// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Data, exact references, checks and ceilings on the GPU.

#include <cstddef>

#include "peers.h"

/// s8: the full range. f16: integers -3..3, so that float sums are exact in any order.
void bench_random(void* to, std::size_t n, unsigned seed, bool half);
void bench_channels(float* scales, float* bias, int k, float scale);
/// int32 (s8) or float (f16) sums in NPQK order.
void bench_reference(const void* x, const void* w, void* y, const PeerProblem& z, bool half);
void bench_interleave(const void* x, void* to, std::size_t pixels, std::size_t per_image, int c);
/// KRSC -> C/32, R, S, K, 32; `cutlass`: with the filters of each 32 in the order that its interleaved kernels read.
void bench_interleave_filter(const void* w, void* to, int k, int rs, int c, bool cutlass);
/// Elements of y that differ from the reference's epilogue. scales: per channel with bias and ReLU, or null.
int bench_check(const void* y, const void* ref, const PeerProblem& z, bool half, bool interleaved, float scale,
                const float* scales, const float* bias);
/// Rate of mma.sync from registers, in 1e12 operations a second.
double bench_mma_rate(bool half, int sms, int threads = 256);
