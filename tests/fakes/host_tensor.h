// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Behind host_prelude.h, for kernels with tensor-core instructions: named barriers, dynamic shared memory, asynchronous copies
// (as late as the hardware may do them), ldmatrix and mma, warp by warp on the fibers.

#define OCTAVO_EMULATED_DEVICE 1
#define OCTAVO_DEVICE inline

#include <deque>
#include <map>

#include "mma/types.cuh"

struct float4 {
  float x, y, z, w;
};

namespace fake {

alignas(256) static char shared_memory[227 << 10];

struct Copy {
  unsigned to;
  const char* from;
  int bytes, valid;
};
struct Copies {
  std::deque<std::vector<Copy>> groups;
  std::vector<Copy> open;
};
static std::map<unsigned, Copies> copies;  // by thread
static std::map<int, Barrier> named;       // by barrier
struct Operands {
  const unsigned* a[32];
  unsigned b[32][2], address[32];
  unsigned* to[32];
  void* c[32];
};
static Operands operands[32];  // by warp

inline char* shared(unsigned address, unsigned bytes) {
  if (address % bytes != 0 || address + bytes > sizeof shared_memory) __builtin_trap();
  return shared_memory + address;
}
inline void perform(const Copy& c) {
  char* to = shared(c.to, static_cast<unsigned>(c.bytes));
  if (c.valid > 0) {
    if (reinterpret_cast<std::uintptr_t>(c.from) % static_cast<unsigned>(c.bytes) != 0) __builtin_trap();
    std::memcpy(to, c.from, static_cast<std::size_t>(c.valid));
  }
  std::memset(to + c.valid, 0, static_cast<std::size_t>(c.bytes - c.valid));
}
inline void new_block() {
  std::memset(shared_memory, 0xC3, sizeof shared_memory);
  copies.clear();
  named.clear();
}
/// The last lane to arrive does the work of the warp.
template <class F>
void warp(const F& work) {
  Fiber* self = block.current;
  Barrier& b = block.warps[self->linear / 32];
  const unsigned generation = b.generation;
  if (b.arrived + 1 == b.alive) work();
  ++b.arrived;
  b.release_if_full();
  while (b.generation == generation) yield();
  threadIdx = self->index;
}

}  // namespace fake

namespace octavo::dev {

inline u32 shared_address(const void* p) { return static_cast<u32>(static_cast<const char*>(p) - fake::shared_memory); }
template <int N>
void copy_async(u32 to, const void* from, int valid) {
  fake::copies[fake::block.current->linear].open.push_back({to, static_cast<const char*>(from), N, valid});
}
inline void store_shared16(u32 to, const u32 (&word)[4]) { std::memcpy(fake::shared(to, 16), word, 16); }
inline void copy_commit() {
  fake::Copies& c = fake::copies[fake::block.current->linear];
  c.groups.push_back(std::move(c.open));
  c.open.clear();
}
template <int pending>
void copy_wait() {
  fake::Copies& c = fake::copies[fake::block.current->linear];
  while (static_cast<int>(c.groups.size()) > pending) {
    for (const fake::Copy& one : c.groups.front()) fake::perform(one);
    c.groups.pop_front();
  }
}
inline u32 thread_index() { return fake::block.current->index.x; }
inline void barrier(int id, int threads) {
  fake::Fiber* self = fake::block.current;
  fake::Barrier& b = fake::named[id];
  b.alive = static_cast<unsigned>(threads);
  fake::wait(b);
  threadIdx = self->index;
}
inline void barrier_anywhere(int id, int threads) { barrier(id, threads); }
inline void barrier_either(bool one, int id, int threads, int other, int other_threads) {
  barrier(one ? id : other, one ? threads : other_threads);
}
inline void copy_async_bit(u32 to, const void* from, u32 mask, int bit) {
  copy_async<16>(to, from, (mask >> bit) & 1 ? 16 : 0);
}
inline void copy_wait_all_if(bool all) {
  if (all) copy_wait<0>();
}

inline void load_matrix4(u32 (&r)[4], u32 address) {
  const unsigned thread = fake::block.current->linear, lane = thread % 32;
  fake::Operands& o = fake::operands[thread / 32];
  o.address[lane] = address;
  o.to[lane] = r;
  fake::warp([&] {
    for (int m = 0; m < 4; ++m)
      for (int row = 0; row < 8; ++row) {
        const char* from = fake::shared(o.address[8 * m + row], 16);
        for (int t = 0; t < 4; ++t) std::memcpy(&o.to[4 * row + t][m], from + 4 * t, 4);
      }
  });
}

template <Elem E>
auto element(u32 word, int i) {
  if constexpr (E == Elem::s8) {
    return static_cast<int>(static_cast<signed char>(word >> (8 * i)));
  } else if constexpr (E == Elem::u8) {
    return static_cast<int>(static_cast<unsigned char>(word >> (8 * i)));
  } else if constexpr (E == Elem::f16) {
    _Float16 h;
    const unsigned short bits = static_cast<unsigned short>(word >> (16 * i));
    std::memcpy(&h, &bits, 2);
    return static_cast<float>(h);
  } else {
    const u32 bits = E == Elem::bf16 ? (word >> (16 * i)) << 16 : word & ~0x1fffu;
    float f;
    std::memcpy(&f, &bits, 4);
    return f;
  }
}
template <Elem A, Elem B, class T>
void multiply(T (&c)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  const unsigned thread = fake::block.current->linear, lane = thread % 32;
  fake::Operands& o = fake::operands[thread / 32];
  o.a[lane] = a, o.b[lane][0] = b0, o.b[lane][1] = b1, o.c[lane] = c;
  fake::warp([&] {
    for (int row = 0; row < 16; ++row)
      for (int col = 0; col < 8; ++col) {
        T& sum = static_cast<T*>(o.c[row % 8 * 4 + col / 2])[row / 8 * 2 + col % 2];
        for (int word = 0; word < 8; ++word)
          for (int i = 0; i < 4 / bytes_of(A); ++i)
            sum += static_cast<T>(element<A>(o.a[row % 8 * 4 + word % 4][row / 8 + word / 4 * 2], i)) *
                   static_cast<T>(element<B>(o.b[col * 4 + word % 4][word / 4], i));
      }
  });
}

}  // namespace octavo::dev
