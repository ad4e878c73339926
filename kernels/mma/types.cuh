// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Fixed-size types without a system header (NVRTC has none), and the marks for index code that also runs on the host.

#if defined(OCTAVO_EMULATED_DEVICE)
#define OCTAVO_HD inline constexpr
#elif defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define OCTAVO_DEVICE __device__ __forceinline__
#define OCTAVO_HD __host__ __device__ __forceinline__ constexpr
#else
#define OCTAVO_HD inline constexpr
#endif

namespace octavo::dev {

/// Element types of the tensor-core operands. The numbers are part of kernel stubs.
enum class Elem : int { s8, u8, f16, bf16, tf32 };

using i8 = signed char;
using u8 = unsigned char;
using u16 = unsigned short;
using i32 = int;
using u32 = unsigned int;
using i64 = long long;
using u64 = unsigned long long;

OCTAVO_HD int bytes_of(Elem e) { return e == Elem::s8 || e == Elem::u8 ? 1 : e == Elem::tf32 ? 4 : 2; }
OCTAVO_HD bool is_integer(Elem e) { return e == Elem::s8 || e == Elem::u8; }

OCTAVO_HD int div_up(int a, int b) { return (a + b - 1) / b; }
OCTAVO_HD int round_up(int a, int b) { return div_up(a, b) * b; }

/// Division of numbers below 2^31 by a run-time constant: q = (n * mul) >> (32 + shift).
struct FastDiv {
  u32 divisor, mul, shift;
};
OCTAVO_HD FastDiv fast_div(u32 d) {
  // The round-up method with a 32-bit multiplier is exact for n < 2^31 when 2^(32 + s) / d is rounded up and s = ceil(log2 d)
  // - 1.
  u32 s = 0;
  while ((u64{1} << (s + 1)) < d) ++s;
  if (d == 1) return {1, 0, 0};
  u64 m = ((u64{1} << (32 + s)) + d - 1) / d;
  return {d, static_cast<u32>(m), s};
}
OCTAVO_HD u32 quotient(u32 n, const FastDiv& d) {
  return d.divisor == 1 ? n : static_cast<u32>((u64{n} * d.mul) >> 32) >> d.shift;
}

}  // namespace octavo::dev
