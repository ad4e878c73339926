// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Loads and stores of V elements that lie one after the other, in the widest pieces that alignment allows.

#include "ptx/types.cuh"

namespace octavo {

template <int kBytes>
struct Piece;
template <>
struct Piece<1> {
  using type = u8;
};
template <>
struct Piece<2> {
  using type = u16;
};
template <>
struct Piece<4> {
  using type = u32;
};
template <>
struct Piece<8> {
  using type = uint2;
};
template <>
struct Piece<16> {
  using type = uint4;
};

constexpr OCTAVO_HOST_DEVICE int piece_bytes(int total) {
  return total % 16 == 0 ? 16 : total % 8 == 0 ? 8 : total % 4 == 0 ? 4 : total % 2 == 0 ? 2 : 1;
}

/// An epilogue operand may be the very buffer that an output of the same element goes to, so no read-only cache here.
template <int V, bool kWide, class T>
OCTAVO_DEVICE void load_run(const T* from, T (&out)[V]) {
  if constexpr (kWide && V > 1) {
    constexpr int kPiece = piece_bytes(V * static_cast<int>(sizeof(T)));
    using P = typename Piece<kPiece>::type;
    union {
      P pieces[V * sizeof(T) / kPiece];
      T items[V];
    } u;
#pragma unroll
    for (int i = 0; i < static_cast<int>(V * sizeof(T)) / kPiece; ++i) u.pieces[i] = reinterpret_cast<const P*>(from)[i];
#pragma unroll
    for (int i = 0; i < V; ++i) out[i] = u.items[i];
  } else {
#pragma unroll
    for (int i = 0; i < V; ++i) out[i] = from[i];
  }
}

template <int V, bool kWide, class T>
OCTAVO_DEVICE void store_run(T* to, const T (&in)[V]) {
  if constexpr (kWide && V > 1) {
    constexpr int kPiece = piece_bytes(V * static_cast<int>(sizeof(T)));
    using P = typename Piece<kPiece>::type;
    union {
      P pieces[V * sizeof(T) / kPiece];
      T items[V];
    } u;
#pragma unroll
    for (int i = 0; i < V; ++i) u.items[i] = in[i];
#pragma unroll
    for (int i = 0; i < static_cast<int>(V * sizeof(T)) / kPiece; ++i) reinterpret_cast<P*>(to)[i] = u.pieces[i];
  } else {
#pragma unroll
    for (int i = 0; i < V; ++i) to[i] = in[i];
  }
}

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
inline constexpr bool kPacks = true;
#else
inline constexpr bool kPacks = false;  // under a host compiler there is no such instruction
#endif

/// Runs of bytes made from ints by saturation: pairs go through one instruction.
template <int V>
OCTAVO_DEVICE void pack_s8(const s32 (&in)[V], s8 (&out)[V]) {
  if constexpr (kPacks && V % 4 == 0) {
    union {
      u32 words[V / 4];
      s8 items[V];
    } u;
#pragma unroll
    for (int i = 0; i < V; i += 4) {
      u32 high, all;
      asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, 0;" : "=r"(high) : "r"(in[i + 3]), "r"(in[i + 2]));
      asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;" : "=r"(all) : "r"(in[i + 1]), "r"(in[i]), "r"(high));
      u.words[i / 4] = all;
    }
#pragma unroll
    for (int i = 0; i < V; ++i) out[i] = u.items[i];
  } else {
#pragma unroll
    for (int i = 0; i < V; ++i) out[i] = Store<s8>::from(in[i]);
  }
}
template <int V>
OCTAVO_DEVICE void pack_u8(const s32 (&in)[V], u8 (&out)[V]) {
  if constexpr (kPacks && V % 4 == 0) {
    union {
      u32 words[V / 4];
      u8 items[V];
    } u;
#pragma unroll
    for (int i = 0; i < V; i += 4) {
      u32 high, all;
      asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, 0;" : "=r"(high) : "r"(in[i + 3]), "r"(in[i + 2]));
      asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(all) : "r"(in[i + 1]), "r"(in[i]), "r"(high));
      u.words[i / 4] = all;
    }
#pragma unroll
    for (int i = 0; i < V; ++i) out[i] = u.items[i];
  } else {
#pragma unroll
    for (int i = 0; i < V; ++i) out[i] = Store<u8>::from(in[i]);
  }
}

}  // namespace octavo
