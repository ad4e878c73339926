// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "ceilings.h"

#ifdef __ARM_FEATURE_DOTPROD
#include <arm_neon.h>

namespace octavo::cli {

double loop_s8_sdot(std::int64_t iterations) {
  int32x4_t acc[16];
  for (int i = 0; i < 16; ++i) acc[i] = vdupq_n_s32(i);
  int8x16_t a = vdupq_n_s8(0x5b), b = vdupq_n_s8(-0x17);
  for (std::int64_t n = 0; n < iterations; ++n) {
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) asm volatile("sdot %0.4s, %1.16b, %2.16b" : "+w"(acc[i]) : "w"(a), "w"(b));
  }
  for (int i = 0; i < 16; ++i) asm volatile("" ::"w"(acc[i]));
  return static_cast<double>(iterations) * 16 * 16 * 2;
}

}  // namespace octavo::cli
#endif
