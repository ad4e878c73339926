// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "ceilings.h"
#include "ceilings_asm.h"

#ifdef __ARM_FEATURE_DOTPROD
#include <arm_neon.h>

namespace octavo::cli {

#define OCTAVO_OP(i) "sdot v" #i ".4s, %0.16b, %1.16b\n\t"
double loop_s8_sdot(std::int64_t iterations) {
  const int8x16_t a = vdupq_n_s8(0x5b), b = vdupq_n_s8(-0x17);
  for (std::int64_t n = 0; n < iterations; ++n) {
    asm volatile(OCTAVO_CHAINS(OCTAVO_OP)
                 :
                 : "w"(a), "w"(b)
                 : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11");
  }
  return static_cast<double>(iterations) * kChains * 16 * 2;
}
#undef OCTAVO_OP

}  // namespace octavo::cli
#endif
