// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#if defined(__x86_64__)

#include "engines/cpu_native/depthwise_s8_plain.h"

namespace octavo::cpu_native {

DepthwiseKernels depthwise_s8_avx2() { return {depthwise_plain::fill, depthwise_plain::sums, nullptr, nullptr, nullptr}; }

}  // namespace octavo::cpu_native

#endif
