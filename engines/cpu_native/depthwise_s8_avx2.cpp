// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#if defined(__x86_64__)

#include "engines/cpu_native/depthwise_s8_plain.h"

namespace octavo::cpu_native {

void depthwise_s8_avx2(const DepthwiseTile& tile) { depthwise_plain::run(tile); }

}  // namespace octavo::cpu_native

#endif
