// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The warp's matrix product, one shape for every type: 16 rows x 8 columns over 32 bytes of the reduction (32 s8, 16 f16, 8
// tf32). In all of them ldmatrix brings the fragments: register j of A is rows 8*(j&1).., bytes 16*(j>>1)..; of B bytes 16*j...

#include "mma/types.cuh"

namespace octavo::dev {

template <Elem A>
struct Accumulator {
  using type = float;
};
template <>
struct Accumulator<Elem::s8> {
  using type = int;
};
template <>
struct Accumulator<Elem::u8> {
  using type = int;
};

#ifndef OCTAVO_EMULATED_DEVICE  // see ptx/async.cuh
OCTAVO_DEVICE void load_matrix4(u32 (&r)[4], u32 address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}
OCTAVO_DEVICE void load_matrix2(u32 (&r)[2], u32 address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(address) : "memory");
}

#define OCTAVO_MMA_S(SHAPE, TYPES, C)                                                                               \
  asm volatile("mma.sync.aligned." SHAPE ".row.col." TYPES " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
               : "+" C(c[0]), "+" C(c[1]), "+" C(c[2]), "+" C(c[3])                                                 \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1))
#define OCTAVO_MMA_INT8X8X16(TYPES, C0, C1, A, B) \
  asm volatile("mma.sync.aligned.m8n8k16.row.col." TYPES " {%0,%1}, {%2}, {%3}, {%0,%1};" : "+r"(C0), "+r"(C1) : "r"(A), "r"(B))

/// c += a * b for elements of type A (first operand) and B.
template <Elem A, Elem B, class T>
OCTAVO_DEVICE void multiply(T (&c)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  if constexpr (is_integer(A)) {
#if __CUDA_ARCH__ >= 800
    if constexpr (A == Elem::s8 && B == Elem::s8) OCTAVO_MMA_S("m16n8k32", "s32.s8.s8.s32", "r");
    if constexpr (A == Elem::u8 && B == Elem::s8) OCTAVO_MMA_S("m16n8k32", "s32.u8.s8.s32", "r");
    if constexpr (A == Elem::s8 && B == Elem::u8) OCTAVO_MMA_S("m16n8k32", "s32.s8.u8.s32", "r");
    if constexpr (A == Elem::u8 && B == Elem::u8) OCTAVO_MMA_S("m16n8k32", "s32.u8.u8.s32", "r");
#else
#define OCTAVO_QUARTERS(TYPES)                       \
  OCTAVO_MMA_INT8X8X16(TYPES, c[0], c[1], a[0], b0); \
  OCTAVO_MMA_INT8X8X16(TYPES, c[2], c[3], a[1], b0); \
  OCTAVO_MMA_INT8X8X16(TYPES, c[0], c[1], a[2], b1); \
  OCTAVO_MMA_INT8X8X16(TYPES, c[2], c[3], a[3], b1)
    if constexpr (A == Elem::s8 && B == Elem::s8) {
      OCTAVO_QUARTERS("s32.s8.s8.s32");
    } else if constexpr (A == Elem::u8 && B == Elem::s8) {
      OCTAVO_QUARTERS("s32.u8.s8.s32");
    } else if constexpr (A == Elem::s8 && B == Elem::u8) {
      OCTAVO_QUARTERS("s32.s8.u8.s32");
    } else {
      OCTAVO_QUARTERS("s32.u8.u8.s32");
    }
#undef OCTAVO_QUARTERS
#endif
  } else if constexpr (A == Elem::f16) {
#if __CUDA_ARCH__ >= 800
    OCTAVO_MMA_S("m16n8k16", "f32.f16.f16.f32", "f");
#else
    for (int h = 0; h < 2; ++h)
      asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                   : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                   : "r"(a[2 * h]), "r"(a[2 * h + 1]), "r"(h ? b1 : b0));
#endif
  } else if constexpr (A == Elem::bf16) {
    OCTAVO_MMA_S("m16n8k16", "f32.bf16.bf16.f32", "f");
  } else {
    OCTAVO_MMA_S("m16n8k8", "f32.tf32.tf32.f32", "f");
  }
}
#endif  // OCTAVO_EMULATED_DEVICE

}  // namespace octavo::dev
