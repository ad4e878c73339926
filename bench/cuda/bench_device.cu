// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "bench_device.h"

namespace {
__device__ uint32_t mix(uint32_t h) {
  h ^= h >> 16;
  h *= 0x85ebca6bu;
  h ^= h >> 13;
  h *= 0xc2b2ae35u;
  return h ^ (h >> 16);
}
__global__ void random_kernel(void* to, size_t n, unsigned seed, bool half) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
    uint32_t v = mix(uint32_t(i) * 2654435761u ^ uint32_t(i >> 32) ^ seed);
    if (half)
      static_cast<__half*>(to)[i] = __float2half(float(int(v % 7) - 3));
    else
      static_cast<int8_t*>(to)[i] = int8_t(v);
  }
}
__global__ void channels_kernel(float* scales, float* bias, int k, float scale) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < k)
    scales[i] = scale * (0.5f + float(mix(i) % 1000) * 1e-3f), bias[i] = float(int(mix(i + 7777) % 2000) - 1000) * 0.01f;
}
template <class In, class Out>
__global__ void reference_kernel(const In* x, const In* w, Out* y, PeerProblem z, int p_, int q_) {
  size_t total = size_t(z.n) * p_ * q_ * z.k;
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < total; i += size_t(gridDim.x) * blockDim.x) {
    int k = int(i % z.k), q = int(i / z.k % q_), p = int(i / z.k / q_ % p_), n = int(i / z.k / q_ / p_);
    Out sum = 0;
    for (int r = 0; r < z.r; ++r)
      for (int s = 0; s < z.s; ++s) {
        int h = p * z.stride - z.pad + r, ww = q * z.stride - z.pad + s;
        if (h < 0 || h >= z.h || ww < 0 || ww >= z.w) continue;
        const In* a = x + ((size_t(n) * z.h + h) * z.w + ww) * z.c;
        const In* b = w + ((size_t(k) * z.r + r) * z.s + s) * z.c;
        if constexpr (sizeof(In) == 1) {
          int c = 0;
          if (z.c % 4 == 0)
            for (; c < z.c; c += 4)
              sum = __dp4a(*reinterpret_cast<const int*>(a + c), *reinterpret_cast<const int*>(b + c), sum);
          for (; c < z.c; ++c) sum += int(a[c]) * int(b[c]);
        } else {
          for (int c = 0; c < z.c; ++c) sum += __half2float(a[c]) * __half2float(b[c]);
        }
      }
    y[i] = sum;
  }
}
__global__ void interleave_kernel(const int8_t* x, int8_t* to, size_t pixels, size_t per_image, int c) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i >= pixels * c) return;
  size_t ch = i % c, px = i / c, n = px / per_image, hw = px % per_image;
  to[((n * (c / 32) + ch / 32) * per_image + hw) * 32 + ch % 32] = x[i];
}
/// CUTLASS's interleaved epilogue stores without shared memory, so it wants the filters of each 32 in the order of its
/// fragments.
__device__ int cutlass_filter(int k) { return k / 32 * 32 + k % 8 / 2 * 8 + k % 32 / 8 * 2 + k % 2; }
__global__ void interleave_filter_kernel(const int8_t* w, int8_t* to, int k, int rs, int c, bool cutlass) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i >= size_t(k) * rs * c) return;
  size_t ch = i % c, tap = i / c % rs, kk = i / c / rs;
  if (cutlass) kk = size_t(cutlass_filter(int(kk)));
  to[((ch / 32 * rs + tap) * k + kk) * 32 + ch % 32] = w[i];
}
__global__ void check_kernel(const void* y, const void* ref, size_t pixels, size_t per_image, int k, bool half,
                             bool interleaved, float scale, const float* scales, const float* bias, int* wrong) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < pixels * k; i += size_t(gridDim.x) * blockDim.x) {
    size_t ch = i % k, px = i / k, n = px / per_image, hw = px % per_image;
    bool bad;
    if (half) {
      bad = __half2float(static_cast<const __half*>(y)[i]) != __half2float(__float2half(static_cast<const float*>(ref)[i]));
    } else {
      size_t at = interleaved ? ((n * (k / 32) + ch / 32) * per_image + hw) * 32 + ch % 32 : i;
      float f = __fmul_rn(float(static_cast<const int*>(ref)[i]), scales ? scales[ch] : scale);
      if (scales) f = fmaxf(__fadd_rn(f, bias[ch]), 0.f);
      bad = int(fminf(127.f, fmaxf(-128.f, rintf(f)))) != int(static_cast<const int8_t*>(y)[at]);
    }
    if (bad) atomicAdd(wrong, 1);
  }
}
template <bool half>
__global__ void __launch_bounds__(512) rate_kernel(int* out, int rounds) {
  int c[16][4];
  for (auto& row : c)
    for (int& v : row) v = int(threadIdx.x);
  uint32_t a[4], b[2];
  for (uint32_t& v : a) v = mix(threadIdx.x + unsigned(&v - a)) & (half ? 0x3bff3bffu : 0xffffffffu);
  for (uint32_t& v : b) v = mix(threadIdx.x * 3 + unsigned(&v - b)) & (half ? 0x3bff3bffu : 0xffffffffu);
#pragma unroll 1
  for (int i = 0; i < rounds; ++i)
#pragma unroll
    for (int j = 0; j < 16; ++j) {
      if constexpr (half)
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
                     : "+r"(c[j][0]), "+r"(c[j][1]), "+r"(c[j][2]), "+r"(c[j][3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
      else
        asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
                     : "+r"(c[j][0]), "+r"(c[j][1]), "+r"(c[j][2]), "+r"(c[j][3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
  int sum = 0;
  for (auto& row : c)
    for (int v : row) sum ^= v;
  if (sum == 0x12345678) *out = sum;
}
unsigned grid(size_t n) { return unsigned(n / 256 + 1 < 65536 ? n / 256 + 1 : 65536); }
}  // namespace

void bench_random(void* to, size_t n, unsigned seed, bool half) { random_kernel<<<grid(n), 256>>>(to, n, seed, half); }
void bench_channels(float* scales, float* bias, int k, float scale) {
  channels_kernel<<<(k + 255) / 256, 256>>>(scales, bias, k, scale);
}
void bench_reference(const void* x, const void* w, void* y, const PeerProblem& z, bool half) {
  size_t n = size_t(z.n) * z.p() * z.q() * z.k;
  if (half)
    reference_kernel<<<grid(n), 256>>>(static_cast<const __half*>(x), static_cast<const __half*>(w), static_cast<float*>(y), z,
                                       z.p(), z.q());
  else
    reference_kernel<<<grid(n), 256>>>(static_cast<const int8_t*>(x), static_cast<const int8_t*>(w), static_cast<int*>(y), z,
                                       z.p(), z.q());
}
void bench_interleave(const void* x, void* to, size_t pixels, size_t per_image, int c) {
  interleave_kernel<<<unsigned((pixels * c + 255) / 256), 256>>>(static_cast<const int8_t*>(x), static_cast<int8_t*>(to),
                                                                 pixels, per_image, c);
}
void bench_interleave_filter(const void* w, void* to, int k, int rs, int c, bool cutlass) {
  interleave_filter_kernel<<<unsigned((size_t(k) * rs * c + 255) / 256), 256>>>(static_cast<const int8_t*>(w),
                                                                                static_cast<int8_t*>(to), k, rs, c, cutlass);
}
int bench_check(const void* y, const void* ref, const PeerProblem& z, bool half, bool interleaved, float scale,
                const float* scales, const float* bias) {
  static int* wrong = nullptr;
  if (!wrong) cudaMalloc(&wrong, 4);
  cudaMemset(wrong, 0, 4);
  size_t per_image = size_t(z.p()) * z.q(), pixels = per_image * z.n;
  check_kernel<<<grid(pixels * z.k), 256>>>(y, ref, pixels, per_image, z.k, half, interleaved, scale, scales, bias, wrong);
  int host = -1;
  cudaMemcpy(&host, wrong, 4, cudaMemcpyDeviceToHost);
  return host;
}
double bench_mma_rate(bool half, int sms, int threads) {
  int* out;
  cudaMalloc(&out, 4);
  cudaEvent_t a, b;
  cudaEventCreate(&a);
  cudaEventCreate(&b);
  constexpr int kRounds = 4000;
  float best = 1e9f;
  for (int i = 0; i < 6; ++i) {
    cudaEventRecord(a);
    if (half)
      rate_kernel<true><<<sms, threads>>>(out, kRounds);
    else
      rate_kernel<false><<<sms, threads>>>(out, kRounds);
    cudaEventRecord(b);
    cudaEventSynchronize(b);
    float ms;
    cudaEventElapsedTime(&ms, a, b);
    best = ms < best ? ms : best;
  }
  cudaFree(out);
  return 2.0 * 16 * 8 * (half ? 16 : 32) * 16.0 * kRounds * (threads / 32) * sms / (best * 1e-3) * 1e-12;
}
