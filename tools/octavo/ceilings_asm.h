// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Chains in fixed registers: a compiler that keeps an array of accumulators in memory would measure the stack. Twelve chains
// hide the latency of every instruction used here (5 cycles at two a cycle).

#define OCTAVO_CHAINS(OP) OP(0) OP(1) OP(2) OP(3) OP(4) OP(5) OP(6) OP(7) OP(8) OP(9) OP(10) OP(11)
#define OCTAVO_CHAIN_CLOBBERS \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13"

namespace octavo::cli {
inline constexpr int kChains = 12;
}
