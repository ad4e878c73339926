// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Four bytes in a word: dot products, transposes, windows. Without a device the same arithmetic in C++.

#include "ptx/types.cuh"

namespace octavo {

/// acc + the dot product of the four bytes of a and b, each signed or unsigned.
template <bool kSignedA, bool kSignedB>
OCTAVO_DEVICE s32 dot4(u32 a, u32 b, s32 acc) {
#ifdef __CUDA_ARCH__
  s32 out;
  if constexpr (kSignedA && kSignedB) {
    asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(out) : "r"(a), "r"(b), "r"(acc));
  } else if constexpr (kSignedA) {
    asm("dp4a.s32.u32 %0, %1, %2, %3;" : "=r"(out) : "r"(a), "r"(b), "r"(acc));
  } else if constexpr (kSignedB) {
    asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(out) : "r"(a), "r"(b), "r"(acc));
  } else {
    asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(out) : "r"(a), "r"(b), "r"(acc));
  }
  return out;
#else
  for (int i = 0; i < 4; ++i) {
    const u8 x = static_cast<u8>(a >> (8 * i)), y = static_cast<u8>(b >> (8 * i));
    acc += (kSignedA ? static_cast<s32>(static_cast<s8>(x)) : static_cast<s32>(x)) *
           (kSignedB ? static_cast<s32>(static_cast<s8>(y)) : static_cast<s32>(y));
  }
  return acc;
#endif
}

/// Byte i of the result is the byte of {high, low} that nibble i of the selector names (0..3 low, 4..7 high).
OCTAVO_DEVICE u32 permute(u32 low, u32 high, u32 selector) {
#ifdef __CUDA_ARCH__
  u32 out;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(out) : "r"(low), "r"(high), "r"(selector));
  return out;
#else
  const u64 all = (static_cast<u64>(high) << 32) | low;
  u32 out = 0;
  for (int i = 0; i < 4; ++i) out |= static_cast<u32>((all >> (8 * ((selector >> (4 * i)) & 7))) & 0xff) << (8 * i);
  return out;
#endif
}

/// out[c] = byte c of in[0], in[1], in[2], in[3].
OCTAVO_DEVICE void transpose4(const u32 (&in)[4], u32 (&out)[4]) {
  const u32 a = permute(in[0], in[1], 0x5140), b = permute(in[2], in[3], 0x5140);  // bytes 0 and 1 of each, in pairs
  const u32 c = permute(in[0], in[1], 0x7362), d = permute(in[2], in[3], 0x7362);  // bytes 2 and 3
  out[0] = permute(a, b, 0x5410);
  out[1] = permute(a, b, 0x7632);
  out[2] = permute(c, d, 0x5410);
  out[3] = permute(c, d, 0x7632);
}

/// The four bytes from byte `kShift` of {high, low} on.
template <int kShift>
OCTAVO_DEVICE u32 window4(u32 low, u32 high) {
  if constexpr (kShift == 0) {
    return low;
  } else {
    return permute(low, high, 0x3210u + 0x1111u * kShift);
  }
}

}  // namespace octavo
