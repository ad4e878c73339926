// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

// Scalar conversions between float32 and the narrow types, one rounding each (to nearest even). fp8 saturates, NaN stays NaN.

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace octavo {

inline float bf16_to_float(std::uint16_t h) { return std::bit_cast<float>(static_cast<std::uint32_t>(h) << 16); }

inline std::uint16_t float_to_bf16(float f) {
  const std::uint32_t u = std::bit_cast<std::uint32_t>(f);
  if ((u & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((u >> 16) | 0x40u);  // NaN stays NaN, quiet
  return static_cast<std::uint16_t>((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
}

inline float f16_to_float(std::uint16_t h) {
  const std::uint32_t sign = static_cast<std::uint32_t>(h & 0x8000u) << 16;
  const std::uint32_t exponent = (h >> 10) & 31u;
  const std::uint32_t mantissa = h & 0x3ffu;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | ((exponent + 112u) << 23) | (mantissa << 13));
}

inline std::uint16_t float_to_f16(float f) {
  const std::uint32_t u = std::bit_cast<std::uint32_t>(f);
  const std::uint16_t sign = static_cast<std::uint16_t>((u >> 16) & 0x8000u);
  const std::uint32_t magnitude = u & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // rounds to 65536 or more: infinity
  if (magnitude < 0x38800000u) {                                                    // subnormal: let the FPU round to 2^-24
    const float scaled = std::bit_cast<float>(magnitude) * 0x1p24f;
    return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(std::nearbyint(scaled)));
  }
  const std::uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return static_cast<std::uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}

namespace detail {
template <int kExponentBits, int kMantissaBits, bool kIeee>
float fp8_to_float(std::uint8_t v) {
  constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  const int exponent = (v >> kMantissaBits) & ((1 << kExponentBits) - 1);
  const int mantissa = v & ((1 << kMantissaBits) - 1);
  const bool negative = (v & 0x80u) != 0;
  float magnitude = 0;
  if (kIeee && exponent == (1 << kExponentBits) - 1) {
    magnitude = mantissa ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity();
  } else if (!kIeee && (v & 0x7fu) == 0x7fu) {
    magnitude = std::numeric_limits<float>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<float>(mantissa), 1 - kBias - kMantissaBits);
  } else {
    magnitude = std::ldexp(static_cast<float>(mantissa + (1 << kMantissaBits)), exponent - kBias - kMantissaBits);
  }
  return negative ? -magnitude : magnitude;
}

template <int kExponentBits, int kMantissaBits>
std::uint8_t float_to_fp8(float f, float largest, std::uint8_t nan) {
  const std::uint8_t sign = std::signbit(f) ? 0x80u : 0u;
  if (std::isnan(f)) return static_cast<std::uint8_t>(sign | nan);
  constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  float magnitude = std::fabs(f);
  if (magnitude > largest) magnitude = largest;  // infinities too
  int exponent = magnitude == 0 ? -kBias : std::ilogb(magnitude);
  if (exponent < 1 - kBias) exponent = 1 - kBias;
  const float quantum = std::ldexp(1.0f, exponent - kMantissaBits);
  const float rounded = std::nearbyint(magnitude / quantum);  // exact division: a power of two
  const int units = static_cast<int>(rounded);                // may carry into the next binade: the sum below does it right
  const int biased = exponent + kBias - 1;
  const int code = (biased << kMantissaBits) + units;
  return static_cast<std::uint8_t>(sign | code);
}
}  // namespace detail

inline float e4m3_to_float(std::uint8_t v) { return detail::fp8_to_float<4, 3, false>(v); }
inline float e5m2_to_float(std::uint8_t v) { return detail::fp8_to_float<5, 2, true>(v); }
inline std::uint8_t float_to_e4m3(float f) { return detail::float_to_fp8<4, 3>(f, 448.0f, 0x7fu); }
inline std::uint8_t float_to_e5m2(float f) { return detail::float_to_fp8<5, 2>(f, 57344.0f, 0x7fu); }

/// Round to nearest even, saturate to T, NaN -> 0.
template <class T>
T round_saturate(double v) {
  if (std::isnan(v)) return 0;
  const double r = std::nearbyint(v);
  if (r <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  if (r >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  return static_cast<T>(r);
}

}  // namespace octavo
