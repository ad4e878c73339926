// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#if defined(__x86_64__)

#include <immintrin.h>

#include "engines/cpu_native/direct_s8_x86_512.h"

namespace octavo::cpu_native {
namespace {

struct Vnni : Bytes512 {
  static constexpr bool kPrefetch = false;
  static constexpr bool kAffine = true;
  /// As assembly: gcc 12 copies the accumulators of the intrinsic around.
  static OCTAVO_INLINE void dot(I& acc, I x, I w) { __asm__("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(x), "v"(w)); }
};

constexpr DirectIsa make() {
  DirectIsa isa{};
  isa.isa = CpuIsa::avx512_vnni;
  isa.encoding = Encoding::u8;
  isa.lanes = Vnni::kLanes;
  isa.channels_per_step = 4;
  isa.max_vectors = 4;
  fill_kernels<Vnni, 1, 12>(isa);
  fill_kernels<Vnni, 2, 12>(isa);
  fill_kernels<Vnni, 3, 8>(isa);
  fill_kernels<Vnni, 4, 6>(isa);
  isa.pack = &pack_row<Encoding::u8>;
  isa.macs_per_cycle = 120;
  return isa;
}

}  // namespace

const DirectIsa kDirectVnni = make();

}  // namespace octavo::cpu_native

#endif
