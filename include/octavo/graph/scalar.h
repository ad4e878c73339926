// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Scalars that live in the graph. float16 and bfloat16 are two bytes of storage, so that the library's ABI needs no CUDA
// header; scalar_traits<T> is the door for CUDA's own half types (the compat header opens it). C++17.

#include <cstdint>
#include <type_traits>
#include <variant>

#include "../enums.h"

namespace octavo {

/// IEEE half, storage only: converts from and to float with round to nearest even.
struct float16 {
  std::uint16_t bits = 0;
  float16() = default;
  float16(float value);    // NOLINT(google-explicit-constructor)
  operator float() const;  // NOLINT(google-explicit-constructor)
  static float16 from_bits(std::uint16_t raw) {
    float16 h;
    h.bits = raw;
    return h;
  }
};

/// bfloat16, storage only.
struct bfloat16 {
  std::uint16_t bits = 0;
  bfloat16() = default;
  bfloat16(float value);   // NOLINT(google-explicit-constructor)
  operator float() const;  // NOLINT(google-explicit-constructor)
  static bfloat16 from_bits(std::uint16_t raw) {
    bfloat16 b;
    b.bits = raw;
    return b;
  }
};

namespace graph {

enum class ScalarType { RUNTIME_PARAM, COMPILE_TIME_CONST };

/// The closed set of types that may be passed by value.
using pass_by_values_t = std::variant<std::int64_t, std::int32_t, float16, float, double, bfloat16>;

template <class T>
struct scalar_traits {
  static constexpr bool is_scalar = false;
};

template <class T, DataType_t Type>
struct plain_scalar_traits {
  static constexpr bool is_scalar = true;
  static constexpr DataType_t type = Type;
  static pass_by_values_t store(T const& value) { return pass_by_values_t(value); }
};
template <>
struct scalar_traits<float> : plain_scalar_traits<float, DataType_t::FLOAT> {};
template <>
struct scalar_traits<double> : plain_scalar_traits<double, DataType_t::DOUBLE> {};
template <>
struct scalar_traits<std::int32_t> : plain_scalar_traits<std::int32_t, DataType_t::INT32> {};
template <>
struct scalar_traits<std::int64_t> : plain_scalar_traits<std::int64_t, DataType_t::INT64> {};
template <>
struct scalar_traits<float16> : plain_scalar_traits<float16, DataType_t::HALF> {};
template <>
struct scalar_traits<bfloat16> : plain_scalar_traits<bfloat16, DataType_t::BFLOAT16> {};

template <class T>
using if_scalar = std::enable_if_t<scalar_traits<T>::is_scalar, int>;

}  // namespace graph
}  // namespace octavo
