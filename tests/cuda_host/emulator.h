// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs the tensor-core kernels of kernels/ unchanged on the host: every thread of a block is a fiber, warp-wide operations
// and named barriers block it, asynchronous copies happen as early or as late as the hardware would be allowed to. Include
// before any kernel header. What it does not show: timing, and what the real memory system does beyond these orders.

#define OCTAVO_EMULATED_DEVICE 1
#define OCTAVO_DEVICE inline
#define __device__
#define __host__
#define __forceinline__ inline
#define __global__

#include <ucontext.h>

#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/mma/types.cuh"

namespace octavo::emulator {

enum class Copies { early, late };
enum class Order { first_warp, last_warp, random };

struct Copy {
  std::uint32_t to;
  const char* from;
  int bytes, valid;
};

struct Fiber {
  ucontext_t context{};
  std::vector<char> stack = std::vector<char>(256 << 10);
  bool done = false;
  const int* wait_generation = nullptr;  ///< runnable once *wait_generation != waited
  int waited = 0;
  std::deque<std::vector<Copy>> groups;  ///< committed, oldest first
  std::vector<Copy> open;
};

struct Rendezvous {
  int arrived = 0, generation = 0;
};

struct WarpOp {
  Rendezvous meet;
  std::uint32_t address[32];
  std::uint32_t* destination[32];
  const std::uint32_t* a[32];
  std::uint32_t b[32][2];
  void* c[32];
};

class Block {
 public:
  Block(int threads, std::size_t shared, Copies copies, Order order, unsigned seed)
      : shared_(shared, static_cast<char>(0xC3)),
        fibers_(static_cast<std::size_t>(threads)),
        warps_(static_cast<std::size_t>(threads + 31) / 32),
        copies_(copies),
        order_(order),
        random_(seed) {}

  void run(const std::function<void()>& body) {
    current_block() = this;
    body_ = &body;
    for (auto& f : fibers_) {
      getcontext(&f.context);
      f.context.uc_stack.ss_sp = f.stack.data();
      f.context.uc_stack.ss_size = f.stack.size();
      f.context.uc_link = &scheduler_;
      makecontext(&f.context, &Block::enter, 0);
    }
    for (;;) {
      std::vector<int> ready;
      bool all = true;
      for (int i = 0; i < static_cast<int>(fibers_.size()); ++i) {
        auto& f = fibers_[static_cast<std::size_t>(i)];
        if (f.done) continue;
        all = false;
        if (!f.wait_generation || *f.wait_generation != f.waited) ready.push_back(i);
      }
      if (all) return;
      if (ready.empty()) throw std::runtime_error("deadlock: a barrier or a warp operation waits for threads that never come");
      int pick = order_ == Order::first_warp  ? ready.front()
                 : order_ == Order::last_warp ? ready.back()
                                              : ready[random_() % ready.size()];
      // The whole warp of the pick goes on, so that warps drift as far apart as the barriers allow.
      int warp = pick / 32;
      for (int i : ready)
        if (i / 32 == warp) {
          running_ = i;
          fibers_[static_cast<std::size_t>(i)].wait_generation = nullptr;
          swapcontext(&scheduler_, &fibers_[static_cast<std::size_t>(i)].context);
        }
      if (!error_.empty()) throw std::runtime_error(error_);
    }
  }

  static Block*& current_block() {
    static Block* block = nullptr;
    return block;
  }
  int thread() const { return running_; }
  char* shared(std::uint32_t address, int bytes) {
    if (address % static_cast<unsigned>(bytes) != 0 || address + static_cast<unsigned>(bytes) > shared_.size())
      fail("shared access of " + std::to_string(bytes) + " bytes at " + std::to_string(address) + " of " +
           std::to_string(shared_.size()));
    return shared_.data() + (error_.empty() ? address : 0);
  }
  void fail(const std::string& what) {
    if (error_.empty()) error_ = what;
  }

  void barrier(int id, int threads) {
    auto& b = barriers_[id];
    meet(b, threads);
  }
  void copy(std::uint32_t to, const void* from, int bytes, int valid) {
    Copy c{to, static_cast<const char*>(from), bytes, valid};
    shared(to, bytes);
    if (copies_ == Copies::early)
      perform(c);
    else
      fiber().open.push_back(c);
  }
  void commit() {
    fiber().groups.push_back(std::move(fiber().open));
    fiber().open.clear();
  }
  void wait(int pending) {
    while (static_cast<int>(fiber().groups.size()) > pending) {
      for (auto& c : fiber().groups.front()) perform(c);
      fiber().groups.pop_front();
    }
  }
  void load_matrix(std::uint32_t* destination, std::uint32_t address, int matrices) {
    auto& w = warps_[static_cast<std::size_t>(running_) / 32];
    int lane = running_ % 32;
    w.address[lane] = address;
    w.destination[lane] = destination;
    meet(w.meet, 32, [&] {
      for (int m = 0; m < matrices; ++m) {
        unsigned banks = 0;
        for (int r = 0; r < 8; ++r) {
          std::uint32_t from = w.address[8 * m + r];
          banks |= 1u << (from / 16 % 8);
          const char* row = shared(from, 16);
          for (int t = 0; t < 4; ++t) std::memcpy(&w.destination[4 * r + t][m], row + 4 * t, 4);
        }
        if (banks != 255) ++bank_conflicts;
      }
      ++matrix_loads;
    });
  }
  template <class T, class Product>
  void multiply(T* c, const std::uint32_t* a, std::uint32_t b0, std::uint32_t b1, int elements, const Product& product) {
    auto& w = warps_[static_cast<std::size_t>(running_) / 32];
    int lane = running_ % 32;
    w.a[lane] = a, w.b[lane][0] = b0, w.b[lane][1] = b1, w.c[lane] = c;
    meet(w.meet, 32, [&] {
      for (int row = 0; row < 16; ++row)
        for (int col = 0; col < 8; ++col) {
          T& sum = static_cast<T*>(w.c[row % 8 * 4 + col / 2])[row / 8 * 2 + col % 2];
          for (int word = 0; word < 8; ++word)
            sum =
                product(sum, w.a[row % 8 * 4 + word % 4][row / 8 + word / 4 * 2], w.b[col * 4 + word % 4][word / 4], elements);
        }
      ++products;
    });
  }

  long long bank_conflicts = 0, matrix_loads = 0, products = 0;
  std::vector<char> shared_;

 private:
  static void enter() {
    Block* block = current_block();
    (*block->body_)();
    block->fiber().done = true;
    if (!block->fiber().open.empty() || block->fiber().groups.size() > 64) block->fail("copies never committed");
  }
  Fiber& fiber() { return fibers_[static_cast<std::size_t>(running_)]; }
  void perform(const Copy& c) {
    char* to = shared(c.to, c.bytes);
    if (c.valid) std::memcpy(to, c.from, static_cast<std::size_t>(c.valid));
    std::memset(to + c.valid, 0, static_cast<std::size_t>(c.bytes - c.valid));
  }
  void meet(Rendezvous& r, int count, const std::function<void()>& action = {}) {
    if (++r.arrived == count) {
      if (action) action();
      r.arrived = 0;
      ++r.generation;
      return;
    }
    auto& f = fiber();
    f.wait_generation = &r.generation;
    f.waited = r.generation;
    swapcontext(&f.context, &scheduler_);
  }

  std::vector<Fiber> fibers_;
  std::vector<WarpOp> warps_;
  Rendezvous barriers_[16];
  ucontext_t scheduler_{};
  int running_ = 0;
  const std::function<void()>* body_ = nullptr;
  Copies copies_;
  Order order_;
  std::mt19937 random_;
  std::string error_;
};

inline Block& block() { return *Block::current_block(); }
struct ThreadIndex {
  struct X {
    operator unsigned() const { return static_cast<unsigned>(block().thread()); }
  } x;
};
struct BlockIndex {
  unsigned x = 0, y = 0, z = 0;
};

/// Sum of products over the elements of one 32-bit word of A and B.
template <class T>
T word_product(T sum, std::uint32_t a, std::uint32_t b, dev::Elem ea, dev::Elem eb);

}  // namespace octavo::emulator

inline octavo::emulator::ThreadIndex threadIdx;
inline octavo::emulator::BlockIndex blockIdx;

namespace octavo::dev {

inline u32 shared_address(const void* p) {
  return static_cast<u32>(static_cast<const char*>(p) - emulator::block().shared_.data());
}
template <int N>
void copy_async(u32 to, const void* from, int valid) {
  emulator::block().copy(to, from, N, valid);
}
inline void store_shared16(u32 to, const u32 (&word)[4]) { std::memcpy(emulator::block().shared(to, 16), word, 16); }
inline void copy_commit() { emulator::block().commit(); }
template <int pending>
void copy_wait() {
  emulator::block().wait(pending);
}
inline void barrier(int id, int threads) { emulator::block().barrier(id, threads); }
inline void copy_async_bit(u32 to, const void* from, u32 mask, int bit) {
  emulator::block().copy(to, from, 16, (mask >> bit) & 1 ? 16 : 0);
}
inline void barrier_either(bool one, int id, int threads, int other, int other_threads) {
  barrier(one ? id : other, one ? threads : other_threads);
}
inline void copy_wait_all_if(bool all) {
  if (all) copy_wait<0>();
}
inline void barrier_anywhere(int id, int threads) { barrier(id, threads); }
inline u32 thread_index() { return threadIdx.x; }

inline void load_matrix4(u32 (&r)[4], u32 address) { emulator::block().load_matrix(r, address, 4); }
inline void load_matrix2(u32 (&r)[2], u32 address) { emulator::block().load_matrix(r, address, 2); }

template <Elem E>
auto element(u32 word, int i) {
  if constexpr (E == Elem::s8)
    return static_cast<int>(static_cast<i8>(word >> (8 * i)));
  else if constexpr (E == Elem::u8)
    return static_cast<int>(static_cast<u8>(word >> (8 * i)));
  else if constexpr (E == Elem::bf16) {
    u32 bits = (word >> (16 * i)) << 16;
    float f;
    std::memcpy(&f, &bits, 4);
    return f;
  } else if constexpr (E == Elem::tf32) {
    word &= ~0x1fffu;
    float f;
    std::memcpy(&f, &word, 4);
    return f;
  } else {
    u32 h = (word >> (16 * i)) & 0xffff, exponent = (h >> 10) & 31, mantissa = h & 1023;
    float f = exponent == 0 ? static_cast<float>(mantissa) * 0x1p-24f
                            : static_cast<float>(mantissa + 1024) * 0x1p-25f * static_cast<float>(1u << exponent);
    return (h & 0x8000) ? -f : f;
  }
}
template <Elem A, Elem B, class T>
void multiply(T (&c)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  emulator::block().multiply(c, a, b0, b1, 4 / bytes_of(A), [](T sum, u32 wa, u32 wb, int n) {
    for (int i = 0; i < n; ++i) sum += static_cast<T>(element<A>(wa, i)) * static_cast<T>(element<B>(wb, i));
    return sum;
  });
}

}  // namespace octavo::dev
