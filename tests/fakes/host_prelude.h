// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Forced in front of a kernel's source to compile it as C++ for the fake driver: every thread of a block is a fiber, so
// barriers and shuffles work. Tensor-core and asynchronous-copy instructions are not there.

#include <ucontext.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#define __device__
#define __host__
#define __global__
#define __constant__ static
#define __shared__ static
#define __forceinline__ inline
#define __restrict__
#define __launch_bounds__(...)
#define __grid_constant__

struct uint2 {
  unsigned x, y;
};
struct uint4 {
  unsigned x, y, z, w;
};
struct FakeDim {
  unsigned x = 1, y = 1, z = 1;
};
static FakeDim threadIdx, blockIdx, blockDim, gridDim;

inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline double __dsqrt_rn(double x) { return sqrt(x); }
inline float __frsqrt_rn(float x) { return static_cast<float>(1. / sqrt(static_cast<double>(x))); }
inline double rsqrt(double x) { return 1. / sqrt(x); }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 4; ++i) c += static_cast<signed char>(a >> (8 * i)) * static_cast<signed char>(b >> (8 * i));
  return c;
}
template <class T>
T __ldg(const T* p) {
  return *p;
}

namespace fake {

struct Barrier {
  unsigned arrived = 0, alive = 0, generation = 0;
  void leave() {
    --alive;
    release_if_full();
  }
  void release_if_full() {
    if (alive > 0 && arrived == alive) {
      arrived = 0;
      ++generation;
    }
  }
};

struct Fiber {
  ucontext_t context;
  bool done = false;
  FakeDim index;
  unsigned linear = 0;
};

struct Block {
  ucontext_t scheduler;
  std::vector<Fiber> fibers;
  std::vector<char> stacks;
  Barrier all;
  std::vector<Barrier> warps;
  std::vector<uint64_t> slots;
  Fiber* current = nullptr;
  void (*body)(void*) = nullptr;
  void* argument = nullptr;
};
static Block block;

inline void yield() {
  Fiber* self = block.current;
  swapcontext(&self->context, &block.scheduler);
}
inline void wait(Barrier& barrier) {
  const unsigned generation = barrier.generation;
  ++barrier.arrived;
  barrier.release_if_full();
  while (barrier.generation == generation) yield();
}
inline void enter() {
  block.body(block.argument);
  Fiber* self = block.current;
  self->done = true;
  block.all.leave();
  block.warps[self->linear / 32].leave();
  yield();
}

inline void run_block(void (*body)(void*), void* argument) {
  constexpr std::size_t kStack = 128 << 10;
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  block.body = body;
  block.argument = argument;
  block.fibers.assign(threads, Fiber{});
  if (block.stacks.size() < threads * kStack) block.stacks.resize(threads * kStack);
  block.warps.assign((threads + 31) / 32, Barrier{});
  block.slots.assign(threads, 0);
  block.all = Barrier{};
  block.all.alive = threads;
  for (unsigned t = 0; t < threads; ++t) {
    Fiber& fiber = block.fibers[t];
    fiber.linear = t;
    fiber.index = {t % blockDim.x, t / blockDim.x % blockDim.y, t / (blockDim.x * blockDim.y)};
    ++block.warps[t / 32].alive;
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = block.stacks.data() + t * kStack;
    fiber.context.uc_stack.ss_size = kStack;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, reinterpret_cast<void (*)()>(&enter), 0);
  }
  for (unsigned left = threads; left > 0;) {
    for (Fiber& fiber : block.fibers) {
      if (fiber.done) continue;
      block.current = &fiber;
      threadIdx = fiber.index;
      swapcontext(&block.scheduler, &fiber.context);
      if (fiber.done) --left;
    }
  }
}

template <class... P, std::size_t... I>
void call(void (*kernel)(P...), void** params, std::index_sequence<I...>) {
  kernel(*static_cast<std::remove_const_t<P>*>(params[I])...);
}
template <class... P>
void call(void (*kernel)(P...), void** params) {
  call(kernel, params, std::index_sequence_for<P...>());
}
template <class... P>
int sizes(void (*)(P...), std::size_t* out) {
  const std::size_t all[] = {sizeof(P)..., 0};
  for (std::size_t i = 0; i < sizeof...(P); ++i) out[i] = all[i];
  return static_cast<int>(sizeof...(P));
}

}  // namespace fake

inline void __syncthreads() { fake::wait(fake::block.all); }
inline void __syncwarp(unsigned = 0xffffffffu) { fake::wait(fake::block.warps[fake::block.current->linear / 32]); }
template <class T>
T fake_shuffle(T value, unsigned from) {
  fake::Fiber* self = fake::block.current;
  fake::Barrier& warp = fake::block.warps[self->linear / 32];
  std::memcpy(&fake::block.slots[self->linear], &value, sizeof value);
  fake::wait(warp);
  threadIdx = self->index;
  T out;
  std::memcpy(&out, &fake::block.slots[self->linear / 32 * 32 + from % 32], sizeof out);
  fake::wait(warp);
  threadIdx = self->index;
  return out;
}
template <class T>
T __shfl_xor_sync(unsigned, T value, int mask) {
  return fake_shuffle(value, (fake::block.current->linear ^ static_cast<unsigned>(mask)) % 32);
}
template <class T>
T __shfl_sync(unsigned, T value, int from) {
  return fake_shuffle(value, static_cast<unsigned>(from));
}
template <class T>
T __shfl_down_sync(unsigned, T value, unsigned by) {
  return fake_shuffle(value, fake::block.current->linear % 32 + by);
}
