// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#if defined(__x86_64__)

#include "engines/cpu_native/direct_s8_kernels.h"
#include "engines/cpu_native/winograd_s8_x86_512.h"

namespace octavo::cpu_native {
namespace {

/// vpdpwssd: pairs of 16-bit products at half the rate of vpdpbusd.
struct VnniWords {
  using I = __m512i;
  static constexpr int kLanes = 16;
  static constexpr bool kPrefetch = true;
  static constexpr bool kAffine = false;
  static OCTAVO_INLINE I load(const void* p) { return _mm512_loadu_si512(p); }
  static OCTAVO_INLINE void store(void* p, I v) { _mm512_storeu_si512(p, v); }
  static OCTAVO_INLINE I broadcast(const std::uint8_t* p) {
    int v;
    std::memcpy(&v, p, 4);
    return _mm512_set1_epi32(v);
  }
  static OCTAVO_INLINE void dot(I& acc, I x, I w) { __asm__("vpdpwssd %2, %1, %0" : "+v"(acc) : "v"(x), "v"(w)); }
};

constexpr DirectIsa make() {
  DirectIsa isa{};
  isa.isa = CpuIsa::avx512_vnni;
  isa.encoding = Encoding::s16;
  isa.lanes = VnniWords::kLanes;
  isa.channels_per_step = 2;
  isa.max_vectors = 4;
  fill_kernels<VnniWords, 1, 12>(isa);
  fill_kernels<VnniWords, 2, 12>(isa);
  fill_kernels<VnniWords, 3, 8>(isa);
  fill_kernels<VnniWords, 4, 6>(isa);
  isa.pack = &pack_row<Encoding::s16>;
  isa.macs_per_cycle = 62;
  return isa;
}

}  // namespace

const DirectIsa kWordsVnni = make();
const WinogradIsa kWinogradVnni{&kWordsVnni, Words512::kWords, &Winograd<Words512>::input, &Winograd<Words512>::output,
                                &Winograd<Words512>::filter};

}  // namespace octavo::cpu_native

#endif
