// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// The portable kernels (four lanes: SSE2 and NEON get them as vector code) and the choice among instruction sets.

#include "engines/cpu_native/gemm_f32.h"

#include "core/float.h"

namespace octavo::cpu_native {
namespace {

inline float scalar_bf16(std::uint16_t v) { return __builtin_bit_cast(float, static_cast<std::uint32_t>(v) << 16); }
inline float scalar_f16(std::uint16_t v) { return f16_to_float(v); }

struct Vec4 {
  typedef float Reg __attribute__((vector_size(16)));
  typedef float Unaligned __attribute__((vector_size(16), aligned(4), may_alias));
  static constexpr int kLanes = 4, kRows1 = 8, kRows2 = 6, kRows3 = 4, kRows4 = 0, kLaneRows = 12;
  static constexpr bool kHasTranspose = false;
  static void opaque(Reg& v) { (void)v; }
  static Reg zero() { return Reg{0, 0, 0, 0}; }
  static Reg load(const float* p) { return *reinterpret_cast<const Unaligned*>(p); }
  static Reg load_aligned(const float* p) { return load(p); }
  static Reg load_tail(const float* p, int n) { return Reg{p[0], n > 1 ? p[1] : 0, n > 2 ? p[2] : 0, 0}; }
  static Reg broadcast(const float* p) { return Reg{*p, *p, *p, *p}; }
  static Reg fma(Reg a, Reg b, Reg c) { return a * b + c; }
  static void store(float* p, Reg v) { *reinterpret_cast<Unaligned*>(p) = v; }
  static void store_tail(float* p, Reg v, int n) {
    for (int i = 0; i < n; ++i) p[i] = v[i];
  }
  static Reg load_bf16(const std::uint16_t* p) {
    return Reg{scalar_bf16(p[0]), scalar_bf16(p[1]), scalar_bf16(p[2]), scalar_bf16(p[3])};
  }
  static Reg load_f16(const std::uint16_t* p) {
    return Reg{scalar_f16(p[0]), scalar_f16(p[1]), scalar_f16(p[2]), scalar_f16(p[3])};
  }
  static Reg load_bf16_tail(const std::uint16_t* p, int n) {
    return Reg{scalar_bf16(p[0]), n > 1 ? scalar_bf16(p[1]) : 0, n > 2 ? scalar_bf16(p[2]) : 0, 0};
  }
  static Reg load_f16_tail(const std::uint16_t* p, int n) {
    return Reg{scalar_f16(p[0]), n > 1 ? scalar_f16(p[1]) : 0, n > 2 ? scalar_f16(p[2]) : 0, 0};
  }
  static void store_bf16(std::uint16_t* p, Reg v, int n) {
    for (int i = 0; i < n; ++i) p[i] = float_to_bf16(v[i]);
  }
  static void store_f16(std::uint16_t* p, Reg v, int n) {
    for (int i = 0; i < n; ++i) p[i] = float_to_f16(v[i]);
  }
  static Reg gather(const float* src, const std::int32_t* index) {
    return Reg{src[index[0]], src[index[1]], src[index[2]], src[index[3]]};
  }
  static void expand_near(float* dst, const float* src, const std::int32_t* index, std::int64_t depth) {
    for (std::int64_t j = 0; j < depth; ++j) {
      store(dst + 2 * j * kLanes, gather(src, index + j * kLanes));
    }
  }
  static void transpose(float*, std::int64_t, const char*, std::int64_t, DataType_t) {}
};

#include "engines/cpu_native/gemm_f32_impl.h"

}  // namespace

namespace detail {
constexpr F32Kernels kF32Portable = make_kernels<Vec4>();
}  // namespace detail

const F32Kernels& f32_kernels(CpuIsa isa) {
#if defined(__x86_64__)
  if (isa >= CpuIsa::avx512) return detail::kF32Avx512;
  if (isa >= CpuIsa::avx2) return detail::kF32Avx2;
#endif
  (void)isa;
  return detail::kF32Portable;
}

}  // namespace octavo::cpu_native
