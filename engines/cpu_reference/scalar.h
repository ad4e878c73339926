// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// One value on its way from a tensor to another, and the only place where the oracle loads, converts, rounds and stores.
// Nothing is rounded on load; between kinds a conversion is exact or rounds once, to nearest even; integers saturate.

#include <cstdint>

#include "octavo/enums.h"

namespace octavo::cpu_reference {

struct Scalar {
  enum class Kind : std::uint8_t { i32, i64, f32, f64, boolean };
  Kind kind = Kind::i32;
  union {
    std::int32_t i = 0;
    std::int64_t l;
    float f;
    double d;
    bool b;
  };

  static Scalar of_i32(std::int32_t v);
  static Scalar of_i64(std::int64_t v);
  static Scalar of_f32(float v);
  static Scalar of_f64(double v);
  static Scalar of_bool(bool v);

  std::int32_t to_i32() const;  ///< floats: nearest even, saturated, NaN -> 0
  std::int64_t to_i64() const;
  float to_f32() const;
  double to_f64() const;
  bool to_bool() const;  ///< anything but zero; NaN is true
};

/// Round to nearest even and saturate; NaN gives 0.
std::int32_t round_to_i32(double v);
std::int64_t round_to_i64(double v);

/// Reads element `index` (counted in elements) of a buffer of `type`.
Scalar load(DataType_t type, const void* base, std::int64_t index);
/// Stores with the one rounding of the contract: integers saturate, fp8 saturates, NaN stays NaN (0 in an integer).
void store(DataType_t type, void* base, std::int64_t index, const Scalar& value);
/// The rounding of an integer-typed virtual tensor; the identity for every other type.
Scalar round_to_result(DataType_t type, const Scalar& value);

}  // namespace octavo::cpu_reference
