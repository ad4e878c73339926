// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#if defined(__aarch64__)

#include <arm_neon.h>

#include "engines/cpu_native/direct_s8_kernels.h"

namespace octavo::cpu_native {
namespace {

struct Neon {
  using I = int32x4_t;
  static constexpr int kLanes = 4;
  static constexpr bool kPrefetch = false;
  static constexpr bool kAffine = false;
  static OCTAVO_INLINE I load(const void* p) { return vld1q_s32(static_cast<const std::int32_t*>(p)); }
  static OCTAVO_INLINE void store(void* p, I v) { vst1q_s32(static_cast<std::int32_t*>(p), v); }
  static OCTAVO_INLINE I broadcast(const std::uint8_t* p) {
    std::int32_t v;
    std::memcpy(&v, p, 4);
    return vdupq_n_s32(v);
  }
  static OCTAVO_INLINE void dot(I& acc, I x, I w) { acc = vdotq_s32(acc, vreinterpretq_s8_s32(x), vreinterpretq_s8_s32(w)); }
};

constexpr DirectIsa make() {
  DirectIsa isa{};
  isa.isa = CpuIsa::neon_dotprod;
  isa.encoding = Encoding::s8;
  isa.lanes = Neon::kLanes;
  isa.channels_per_step = 4;
  isa.max_vectors = 4;
  fill_kernels<Neon, 1, 6>(isa);
  fill_kernels<Neon, 2, 6>(isa);
  fill_kernels<Neon, 3, 6>(isa);
  fill_kernels<Neon, 4, 6>(isa);
  isa.pack = &pack_row<Encoding::s8>;
  isa.macs_per_cycle = 28;
  return isa;
}

}  // namespace

const DirectIsa kDirectNeon = make();

}  // namespace octavo::cpu_native

#endif
