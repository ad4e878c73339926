// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A convolution as three spatial axes whatever its rank (missing leading axes have size 1), and small memory helpers.

#include <sys/mman.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "octavo/problem.h"

namespace octavo::cpu_native {

using Triple = std::array<std::int64_t, kMaxSpatial>;

struct Geometry {
  std::int64_t n = 0, c = 0, k = 0, groups = 1, cg = 0, kg = 0;
  Triple in{1, 1, 1}, out{1, 1, 1}, filter{1, 1, 1}, pad{}, stride{1, 1, 1}, dilation{1, 1, 1};
  bool flip = false;

  explicit Geometry(const Problem& p)
      : n(p.x.dim[0]), c(p.x.dim[1]), k(p.w.dim[0]), groups(p.groups()), cg(p.w.dim[1]), kg(k / groups) {
    flip = p.mode == ConvolutionMode_t::CONVOLUTION;
    const int spatial = p.spatial();
    for (int i = 0; i < spatial; ++i) {
      const std::size_t from = static_cast<unsigned>(i), to = static_cast<unsigned>(kMaxSpatial - spatial + i);
      in[to] = p.x.dim[from + 2];
      out[to] = p.y.dim[from + 2];
      filter[to] = p.w.dim[from + 2];
      pad[to] = p.pre_pad[from];
      stride[to] = p.stride[from];
      dilation[to] = p.dilation[from];
    }
  }
  std::int64_t taps() const { return filter[0] * filter[1] * filter[2]; }
  /// Tap t of the walk reads this filter element (mirrored in CONVOLUTION mode).
  std::int64_t filter_tap(std::int64_t t) const { return flip ? taps() - 1 - t : t; }
};

/// Strides of a tensor's three spatial axes (0 for missing ones).
inline Triple spatial_strides(const TensorDesc& t) {
  Triple s{};
  for (int i = 0; i < t.rank - 2; ++i) {
    const int at = kMaxSpatial - (t.rank - 2) + i;
    s[static_cast<std::size_t>(at)] = t.stride[static_cast<std::size_t>(i) + 2];
  }
  return s;
}

/// The coordinate that Rows wants, from three axes.
inline std::array<std::int64_t, kMaxSpatial> rows_spatial(int rank, std::int64_t d, std::int64_t h, std::int64_t w) {
  if (rank == 5) return {d, h, w};
  if (rank == 4) return {h, w, 0};
  return {w, 0, 0};
}

inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
inline std::int64_t round_up(std::int64_t a, std::int64_t b) { return ceil_div(a, b) * b; }

/// Bytes on a cache line boundary, for what a plan keeps.
class AlignedBytes {
 public:
  AlignedBytes() = default;
  explicit AlignedBytes(std::size_t bytes) {
    // Large filters in large pages: a fault a page of 4 KB is most of the time of planning them.
    constexpr std::size_t kLargePage = 2 << 20;
    const std::size_t align = bytes >= kLargePage ? kLargePage : 64;
    const std::size_t size = (bytes + 64 + align - 1) / align * align;
    data_.reset(static_cast<std::byte*>(std::aligned_alloc(align, size)));
    if (!data_) throw std::bad_alloc();
#if defined(MADV_HUGEPAGE)
    if (align == kLargePage) (void)madvise(data_.get(), size, MADV_HUGEPAGE);  // a wish; nothing depends on it
#endif
  }
  std::byte* get() const { return data_.get(); }
  explicit operator bool() const { return data_ != nullptr; }

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::unique_ptr<std::byte, Free> data_;
};

/// Hands out 64-byte aligned pieces; from a null base it only measures, so that size and use come from the same code.
class Carver {
 public:
  explicit Carver(void* base = nullptr) : base_(static_cast<std::byte*>(base)) {}
  template <class T>
  T* take(std::int64_t count) {
    std::byte* at = base_ + used_;
    used_ += static_cast<std::size_t>(round_up(count * static_cast<std::int64_t>(sizeof(T)), 64));
    return reinterpret_cast<T*>(at);
  }
  std::size_t used() const { return used_; }

 private:
  std::byte* base_;
  std::size_t used_ = 0;
};

inline std::size_t align64(std::size_t n) { return (n + 63) & ~std::size_t{63}; }
inline void* align64(void* p) {
  return reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(p) + 63) & ~std::uintptr_t{63});
}

}  // namespace octavo::cpu_native
