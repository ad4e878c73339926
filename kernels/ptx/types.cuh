// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Storage types and their conversions, one rounding each (to nearest even). Compiles under NVRTC and, without the asm, under
// a host compiler, where tests walk through every value.

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define OCTAVO_DEVICE __device__ __forceinline__
#define OCTAVO_HOST_DEVICE __host__ __device__ __forceinline__
#else
#define OCTAVO_DEVICE inline
#define OCTAVO_HOST_DEVICE inline
#endif

namespace octavo {

using s8 = signed char;
using u8 = unsigned char;
using s32 = int;
using s64 = long long;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;

// Narrow floats are bits; only the conversions below look inside.
struct f16 {
  u16 bits;
};
struct bf16 {
  u16 bits;
};
struct e4m3 {
  u8 bits;
};
struct e5m2 {
  u8 bits;
};
struct boolean {
  u8 bits;
};

template <class A, class B>
struct is_same {
  static constexpr bool value = false;
};
template <class A>
struct is_same<A, A> {
  static constexpr bool value = true;
};

namespace detail {

OCTAVO_HOST_DEVICE u32 bits_of(float f) {
#ifdef __CUDA_ARCH__
  return __float_as_uint(f);
#else
  u32 u;
  __builtin_memcpy(&u, &f, 4);
  return u;
#endif
}

OCTAVO_HOST_DEVICE float float_of(u32 u) {
#ifdef __CUDA_ARCH__
  return __uint_as_float(u);
#else
  float f;
  __builtin_memcpy(&f, &u, 4);
  return f;
#endif
}

/// The integer nearest to a value in [0, 2^22), ties to even, whatever the compiler: adding 2^23 leaves no fraction bits.
OCTAVO_HOST_DEVICE u32 nearest_small(float f) {
#ifdef __CUDA_ARCH__
  return static_cast<u32>(__float2int_rn(f));
#else
  volatile float shifted = f + 8388608.f;
  return static_cast<u32>(shifted - 8388608.f);
#endif
}

/// float -> a narrow float with `kExponent` and `kMantissa` bits whose largest code is `largest`. Saturates when
/// `kSaturate`, else gives infinity. NaN keeps its sign.
template <int kExponent, int kMantissa, bool kSaturate>
OCTAVO_HOST_DEVICE u32 narrow(float f, u32 largest, u32 nan) {
  constexpr int kBias = (1 << (kExponent - 1)) - 1;
  const u32 u = bits_of(f), sign = (u >> 31) << (kExponent + kMantissa), magnitude = u & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return sign | nan;
  u32 code;
  if (magnitude < (static_cast<u32>(128 - kBias) << 23)) {  // below the smallest normal 2^(1-bias)
    code = nearest_small(float_of(magnitude) * float_of(static_cast<u32>(127 + kBias - 1 + kMantissa) << 23));
  } else {
    const u32 rounded = magnitude + ((1u << (22 - kMantissa)) - 1) + ((magnitude >> (23 - kMantissa)) & 1);
    code = (rounded >> (23 - kMantissa)) - (static_cast<u32>(127 - kBias) << kMantissa);
  }
  if (code > largest) code = kSaturate ? largest : largest + 1;
  return sign | code;
}

/// 1 or 0. ptxas (12 and 13) makes a choice between -1.f and -0.f out of a converted integer, which has no -0: a truth value
/// that is then negated would lose the sign of its zero. It does not see through this.
OCTAVO_HOST_DEVICE float one_or_zero(bool v) {
#ifdef __CUDA_ARCH__
  u32 bits;
  asm("{ .reg .pred p; setp.ne.u32 p, %1, 0; selp.b32 %0, 0x3f800000, 0, p; }" : "=r"(bits) : "r"(static_cast<u32>(v)));
  return float_of(bits);
#else
  return v ? 1.f : 0.f;
#endif
}

/// double -> float, rounded to odd: a later rounding to a type two or more bits narrower is then the only one.
OCTAVO_HOST_DEVICE float to_odd(double v) {
  float f = static_cast<float>(v);
  const double back = static_cast<double>(f);
  if (back == v || v != v) return f;
  u32 u = bits_of(f);
  if ((u & 0x7fffffffu) == 0x7f800000u) {
    if (v - v != 0) return f;  // v itself is infinite
    return float_of(u - 1);    // past the largest float: its bits are odd
  }
  if (u & 1) return f;
  const bool below = v < 0 ? back < v : back > v;  // |back| > |v|
  return float_of(below ? u - 1 : u + 1);
}

}  // namespace detail

// ---- to float ------------------------------------------------------------------------------------------------------

OCTAVO_HOST_DEVICE float to_float(f16 v) {
#ifdef __CUDA_ARCH__
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(v.bits));
  return f;
#else
  const u32 sign = static_cast<u32>(v.bits & 0x8000u) << 16, exponent = (v.bits >> 10) & 31u, mantissa = v.bits & 0x3ffu;
  if (exponent == 31) return detail::float_of(sign | 0x7f800000u | (mantissa << 13));
  if (exponent != 0) return detail::float_of(sign | ((exponent + 112u) << 23) | (mantissa << 13));
  const float magnitude = static_cast<float>(mantissa) * 5.9604644775390625e-8f;
  return sign ? -magnitude : magnitude;
#endif
}
OCTAVO_HOST_DEVICE float to_float(bf16 v) { return detail::float_of(static_cast<u32>(v.bits) << 16); }
OCTAVO_HOST_DEVICE float to_float(e5m2 v) { return to_float(f16{static_cast<u16>(v.bits << 8)}); }
OCTAVO_HOST_DEVICE float to_float(e4m3 v) {
  // The same bits in an f16 are 2^8 too small; every finite e4m3 fits there.
  if ((v.bits & 0x7f) == 0x7f) return detail::float_of(0x7fc00000u | (static_cast<u32>(v.bits & 0x80) << 24));
  return 256.f * to_float(f16{static_cast<u16>(((v.bits & 0x80) << 8) | ((v.bits & 0x7f) << 7))});
}
OCTAVO_HOST_DEVICE float to_float(float v) { return v; }
OCTAVO_HOST_DEVICE float to_float(double v) { return static_cast<float>(v); }
OCTAVO_HOST_DEVICE float to_float(s8 v) { return static_cast<float>(v); }
OCTAVO_HOST_DEVICE float to_float(u8 v) { return static_cast<float>(v); }
OCTAVO_HOST_DEVICE float to_float(s32 v) { return static_cast<float>(v); }
OCTAVO_HOST_DEVICE float to_float(s64 v) { return static_cast<float>(v); }
OCTAVO_HOST_DEVICE float to_float(boolean v) { return detail::one_or_zero(v.bits != 0); }
OCTAVO_HOST_DEVICE float to_float(bool v) { return detail::one_or_zero(v); }

OCTAVO_HOST_DEVICE double to_double(double v) { return v; }
OCTAVO_HOST_DEVICE double to_double(s32 v) { return static_cast<double>(v); }
OCTAVO_HOST_DEVICE double to_double(s64 v) { return static_cast<double>(v); }
template <class T>
OCTAVO_HOST_DEVICE double to_double(T v) {
  return static_cast<double>(to_float(v));
}

// ---- to integers: nearest even, saturated, NaN -> 0 ----------------------------------------------------------------

OCTAVO_HOST_DEVICE s32 to_int(s32 v) { return v; }
OCTAVO_HOST_DEVICE s32 to_int(s8 v) { return v; }
OCTAVO_HOST_DEVICE s32 to_int(u8 v) { return v; }
OCTAVO_HOST_DEVICE s32 to_int(bool v) { return v ? 1 : 0; }
OCTAVO_HOST_DEVICE s32 to_int(boolean v) { return v.bits ? 1 : 0; }
OCTAVO_HOST_DEVICE s32 to_int(s64 v) {
  return v > 2147483647LL ? 2147483647 : v < -2147483648LL ? -2147483647 - 1 : static_cast<s32>(v);
}
OCTAVO_HOST_DEVICE s32 to_int(float v) {
#ifdef __CUDA_ARCH__
  s32 i;
  asm("cvt.rni.s32.f32 %0, %1;" : "=r"(i) : "f"(v));  // saturates; NaN gives 0
  return i;
#else
  if (v != v) return 0;
  const float r = __builtin_nearbyintf(v);
  return r >= 2147483648.f ? 2147483647 : r <= -2147483648.f ? -2147483647 - 1 : static_cast<s32>(r);
#endif
}
OCTAVO_HOST_DEVICE s32 to_int(double v) {
  if (v != v) return 0;
#ifdef __CUDA_ARCH__
  return __double2int_rn(v);
#else
  const double r = __builtin_nearbyint(v);
  return r >= 2147483647. ? 2147483647 : r <= -2147483648. ? -2147483647 - 1 : static_cast<s32>(r);
#endif
}
template <class T>
OCTAVO_HOST_DEVICE s32 to_int(T v) {  // narrow floats
  return to_int(to_float(v));
}

OCTAVO_HOST_DEVICE s64 to_long(s64 v) { return v; }
OCTAVO_HOST_DEVICE s64 to_long(double v) {
  if (v != v) return 0;
#ifdef __CUDA_ARCH__
  return __double2ll_rn(v);
#else
  const double r = __builtin_nearbyint(v);
  return r >= 9223372036854775808.    ? 9223372036854775807LL
         : r <= -9223372036854775808. ? -9223372036854775807LL - 1
                                      : static_cast<s64>(r);
#endif
}
OCTAVO_HOST_DEVICE s64 to_long(float v) { return to_long(static_cast<double>(v)); }
template <class T>
OCTAVO_HOST_DEVICE s64 to_long(T v) {
  return to_int(v);
}

OCTAVO_HOST_DEVICE bool to_bool(bool v) { return v; }
OCTAVO_HOST_DEVICE bool to_bool(boolean v) { return v.bits != 0; }
OCTAVO_HOST_DEVICE bool to_bool(s64 v) { return v != 0; }
OCTAVO_HOST_DEVICE bool to_bool(s32 v) { return v != 0; }
OCTAVO_HOST_DEVICE bool to_bool(s8 v) { return v != 0; }
OCTAVO_HOST_DEVICE bool to_bool(u8 v) { return v != 0; }
OCTAVO_HOST_DEVICE bool to_bool(double v) { return v != 0; }
template <class T>
OCTAVO_HOST_DEVICE bool to_bool(T v) {
  return to_float(v) != 0;
}

// ---- stores: value of any kind (float, double, s32, s64, bool) -> storage type --------------------------------------

OCTAVO_HOST_DEVICE float for_narrow(float v) { return v; }
OCTAVO_HOST_DEVICE float for_narrow(double v) { return detail::to_odd(v); }
OCTAVO_HOST_DEVICE float for_narrow(s32 v) { return detail::to_odd(static_cast<double>(v)); }
OCTAVO_HOST_DEVICE float for_narrow(s64 v) {
  // Past 2^53 a double drops bits: keep them alive in the last one that it keeps.
  if (v > (1LL << 53) || v < -(1LL << 53)) v = (v & ~0x7ffLL) | ((v & 0x7ff) ? 0x400 : 0);
  return detail::to_odd(static_cast<double>(v));
}
OCTAVO_HOST_DEVICE float for_narrow(bool v) { return to_float(v); }

template <class T>
struct Store;

template <>
struct Store<f16> {
  template <class V>
  static OCTAVO_HOST_DEVICE f16 from(V value) {
    const float f = for_narrow(value);
#ifdef __CUDA_ARCH__
    f16 out;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(out.bits) : "f"(f));
    return out;
#else
    return f16{static_cast<u16>(detail::narrow<5, 10, false>(f, 0x7bff, 0x7e00))};
#endif
  }
};

template <>
struct Store<bf16> {
  template <class V>
  static OCTAVO_HOST_DEVICE bf16 from(V value) {
    const float f = for_narrow(value);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    bf16 out;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(out.bits) : "f"(f));
    return out;
#else
    const u32 u = detail::bits_of(f);
    if ((u & 0x7fffffffu) > 0x7f800000u) return bf16{static_cast<u16>((u >> 16) | 0x40u)};
    return bf16{static_cast<u16>((u + 0x7fffu + ((u >> 16) & 1u)) >> 16)};
#endif
  }
};

template <>
struct Store<e4m3> {
  template <class V>
  static OCTAVO_HOST_DEVICE e4m3 from(V value) {
    const float f = for_narrow(value);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
    u16 pair;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.f), "f"(f));
    return e4m3{static_cast<u8>(pair)};
#else
    return e4m3{static_cast<u8>(detail::narrow<4, 3, true>(f, 0x7e, 0x7f))};
#endif
  }
};

template <>
struct Store<e5m2> {
  template <class V>
  static OCTAVO_HOST_DEVICE e5m2 from(V value) {
    const float f = for_narrow(value);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
    u16 pair;
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.f), "f"(f));
    return e5m2{static_cast<u8>(pair)};
#else
    return e5m2{static_cast<u8>(detail::narrow<5, 2, true>(f, 0x7b, 0x7f))};
#endif
  }
};

template <>
struct Store<float> {
  template <class V>
  static OCTAVO_HOST_DEVICE float from(V value) {
    return to_float(value);
  }
};
template <>
struct Store<double> {
  template <class V>
  static OCTAVO_HOST_DEVICE double from(V value) {
    return to_double(value);
  }
};
template <>
struct Store<s32> {
  template <class V>
  static OCTAVO_HOST_DEVICE s32 from(V value) {
    return to_int(value);
  }
};
template <>
struct Store<s64> {
  template <class V>
  static OCTAVO_HOST_DEVICE s64 from(V value) {
    return to_long(value);
  }
};
template <>
struct Store<s8> {
  template <class V>
  static OCTAVO_HOST_DEVICE s8 from(V value) {
    const s32 i = to_int(value);
    return static_cast<s8>(i > 127 ? 127 : i < -128 ? -128 : i);
  }
};
template <>
struct Store<u8> {
  template <class V>
  static OCTAVO_HOST_DEVICE u8 from(V value) {
    const s32 i = to_int(value);
    return static_cast<u8>(i > 255 ? 255 : i < 0 ? 0 : i);
  }
};
template <>
struct Store<boolean> {
  template <class V>
  static OCTAVO_HOST_DEVICE boolean from(V value) {
    return boolean{static_cast<u8>(to_bool(value) ? 1 : 0)};
  }
};

// ---- a value as the kind that a node computes in ---------------------------------------------------------------------

template <class To>
struct As;
template <>
struct As<float> {
  template <class V>
  static OCTAVO_HOST_DEVICE float from(V v) {
    return to_float(v);
  }
};
template <>
struct As<double> {
  template <class V>
  static OCTAVO_HOST_DEVICE double from(V v) {
    return to_double(v);
  }
};
template <>
struct As<s32> {
  template <class V>
  static OCTAVO_HOST_DEVICE s32 from(V v) {
    return to_int(v);
  }
};
template <>
struct As<s64> {
  template <class V>
  static OCTAVO_HOST_DEVICE s64 from(V v) {
    return to_long(v);
  }
};
template <>
struct As<bool> {
  template <class V>
  static OCTAVO_HOST_DEVICE bool from(V v) {
    return to_bool(v);
  }
};

}  // namespace octavo
