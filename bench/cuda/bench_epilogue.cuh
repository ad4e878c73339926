// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Hand-written epilogues for the kernel benchmark; the library generates its own.

struct BenchEpilogue {
  void* y;
  float scale;
  const float* scales;  // per channel, with bias and ReLU; null: per tensor
  const float* bias;
};

/// kKind 0: s8 per tensor, 1: s8 per channel + bias + ReLU, 2: f16. Then the strides of y in elements, constants as in the
/// library; kSk: to the next 32 channels.
template <int kKind, int kSn, int kSp, int kSq, int kSk>
struct BenchStore : BenchEpilogue {
  template <int V>
  struct Channels {
    float4 scales[kKind == 1 ? V / 4 : 1], bias[kKind == 1 ? V / 4 : 1];
  };
  template <int V>
  __device__ __forceinline__ Channels<V> channels(int k, int) const {
    Channels<V> held;
    if constexpr (kKind == 1)
#pragma unroll
      for (int i = 0; i < V / 4; ++i) {
        held.scales[i] = *reinterpret_cast<const float4*>(scales + k + 4 * i);
        held.bias[i] = *reinterpret_cast<const float4*>(bias + k + 4 * i);
      }
    return held;
  }
  template <int V, class Acc>
  __device__ __forceinline__ void store(const Channels<V>& held, const Acc (&v)[V], int n, int d, int p, int q, int k,
                                        int valid) const {
    const int at = n * kSn + p * kSp + q * kSq + (k >> 5) * kSk + (k & 31);
    if constexpr (kKind < 2) {
      signed char* out = static_cast<signed char*>(y) + at;
      unsigned word[V / 4];
#pragma unroll
      for (int i = 0; i < V / 4; ++i) {
        int a[4];
        float s[4] = {scale, scale, scale, scale}, b[4] = {0, 0, 0, 0};
        if constexpr (kKind == 1) {
          const float4 s4 = held.scales[i], b4 = held.bias[i];
          s[0] = s4.x, s[1] = s4.y, s[2] = s4.z, s[3] = s4.w, b[0] = b4.x, b[1] = b4.y, b[2] = b4.z, b[3] = b4.w;
        }
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          float f = __fmul_rn(__int2float_rn(v[4 * i + j]), s[j]);
          if constexpr (kKind == 1) f = fmaxf(__fadd_rn(f, b[j]), 0.f);
          a[j] = __float2int_rn(f);
        }
        asm("{.reg .b32 t; cvt.pack.sat.s8.s32.b32 t, %4, %3, 0; cvt.pack.sat.s8.s32.b32 %0, %2, %1, t;}"
            : "=r"(word[i])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]));
      }
      if (valid == V) {
        if constexpr (V % 16 == 0) {
#pragma unroll
          for (int i = 0; i < V / 16; ++i)
            reinterpret_cast<uint4*>(out)[i] = make_uint4(word[4 * i], word[4 * i + 1], word[4 * i + 2], word[4 * i + 3]);
        } else {
#pragma unroll
          for (int i = 0; i < V / 4; i += 2) reinterpret_cast<uint2*>(out)[i / 2] = make_uint2(word[i], word[i + 1]);
        }
      } else {
#pragma unroll
        for (int i = 0; i < V; ++i)
          if (i < valid) out[i] = static_cast<signed char>(word[i / 4] >> (8 * (i & 3)));
      }
    } else {
      unsigned short* out = static_cast<unsigned short*>(y) + at;
      unsigned word[V / 2];
#pragma unroll
      for (int i = 0; i < V / 2; ++i)
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word[i]) : "f"(float(v[2 * i + 1])), "f"(float(v[2 * i])));
      if (valid == V) {
#pragma unroll
        for (int i = 0; i < V / 8; ++i)
          reinterpret_cast<uint4*>(out)[i] = make_uint4(word[4 * i], word[4 * i + 1], word[4 * i + 2], word[4 * i + 3]);
      } else {
#pragma unroll
        for (int i = 0; i < V; ++i)
          if (i < valid) out[i] = static_cast<unsigned short>(word[i / 2] >> (16 * (i & 1)));
      }
    }
  }
};
