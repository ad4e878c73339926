// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Copies from global to shared memory. cp.async from sm_80 on; before that the same calls are plain loads and stores.

#include "mma/types.cuh"

/// A block's dynamic shared memory.
#ifdef OCTAVO_EMULATED_DEVICE
#define OCTAVO_SHARED(name) char* const name = fake::shared_memory
#else
#define OCTAVO_SHARED(name) extern __shared__ __align__(128) char name[]
#endif

#ifndef OCTAVO_EMULATED_DEVICE  // tests run whole kernels on the host: tests/cuda_host/emulator.h has its own versions of these
namespace octavo::dev {

OCTAVO_DEVICE u32 shared_address(const void* p) { return static_cast<u32>(__cvta_generic_to_shared(p)); }

/// N bytes (4, 8, 16) to shared address `to`; bytes past `valid` are written as zero. `from` is not read when valid is 0.
template <int N>
OCTAVO_DEVICE void copy_async(u32 to, const void* from, int valid) {
#if __CUDA_ARCH__ >= 800
  if constexpr (N == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(valid) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(N), "r"(valid) : "memory");
#else
  u32 word[4] = {0, 0, 0, 0};
  if (valid >= N) {
    if constexpr (N == 16)
      asm volatile("ld.global.nc.v4.u32 {%0,%1,%2,%3}, [%4];"
                   : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
                   : "l"(from));
    else
      for (int i = 0; i < N / 4; ++i) word[i] = static_cast<const u32*>(from)[i];
  } else {
    for (int i = 0; i < valid; ++i) word[i >> 2] |= u32{static_cast<const u8*>(from)[i]} << (8 * (i & 3));
  }
  if constexpr (N == 16)
    asm volatile("st.shared.v4.u32 [%0], {%1,%2,%3,%4};" ::"r"(to), "r"(word[0]), "r"(word[1]), "r"(word[2]), "r"(word[3])
                 : "memory");
  else
    for (int i = 0; i < N / 4; ++i) asm volatile("st.shared.u32 [%0], %1;" ::"r"(to + 4 * i), "r"(word[i]) : "memory");
#endif
}

/// 16 bytes where bit `bit` of `mask` is set, zeros elsewhere.
OCTAVO_DEVICE void copy_async_bit(u32 to, const void* from, u32 mask, int bit) {
#if __CUDA_ARCH__ >= 800
  asm volatile(
      "{.reg .pred p; .reg .b32 t; and.b32 t, %2, %3; setp.ne.u32 p, t, 0; selp.b32 t, 16, 0, p; "
      "cp.async.cg.shared.global [%0], [%1], 16, t;}" ::"r"(to),
      "l"(from), "r"(mask), "r"(1u << bit)
      : "memory");
#else
  copy_async<16>(to, from, (mask >> bit) & 1 ? 16 : 0);
#endif
}

OCTAVO_DEVICE void store_shared16(u32 to, const u32 (&word)[4]) {
  asm volatile("st.shared.v4.u32 [%0], {%1,%2,%3,%4};" ::"r"(to), "r"(word[0]), "r"(word[1]), "r"(word[2]), "r"(word[3])
               : "memory");
}

OCTAVO_DEVICE void copy_commit() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Until at most `pending` of this thread's committed groups are unfinished.
template <int pending>
OCTAVO_DEVICE void copy_wait() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
#endif
}

/// Until all of this thread's committed groups are finished, where `all` says so; without a branch.
OCTAVO_DEVICE void copy_wait_all_if(bool all) {
#if __CUDA_ARCH__ >= 800
  asm volatile("{.reg .pred p; setp.ne.u32 p, %0, 0; @p cp.async.wait_group 0;}" ::"r"(u32(all)) : "memory");
#endif
}

/// threadIdx.x, read anew: keeps values derived from it out of registers across a main loop.
OCTAVO_DEVICE u32 thread_index() {
  u32 t;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(t));
  return t;
}

/// Barrier `id` (1..15; 0 is __syncthreads) among `threads` threads that all wait in this very instruction.
OCTAVO_DEVICE void barrier(int id, int threads) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory"); }
/// The same among warps that may wait for each other in different places of the code.
OCTAVO_DEVICE void barrier_anywhere(int id, int threads) {
  asm volatile("barrier.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
/// Without a branch: barrier_anywhere(id) where `one`, which the threads of a warp agree on, else barrier(other).
OCTAVO_DEVICE void barrier_either(bool one, int id, int threads, int other, int other_threads) {
  asm volatile("{.reg .pred p; setp.ne.u32 p, %0, 0; @p barrier.sync %1, %2; @!p bar.sync %3, %4;}" ::"r"(u32(one)), "r"(id),
               "r"(threads), "r"(other), "r"(other_threads)
               : "memory");
}

}  // namespace octavo::dev
#endif
