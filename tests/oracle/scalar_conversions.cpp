// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Loads and stores of every type. Oracle: the definition of each format in long double (common/independent.h).

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "common/independent.h"
#include "engines/cpu_reference/scalar.h"
#include "verify/random.h"

namespace octavo::testing {
namespace {

using cpu_reference::load;
using cpu_reference::Scalar;
using cpu_reference::store;
using T = DataType_t;

constexpr T kTypes[] = {T::FLOAT, T::DOUBLE, T::HALF,  T::BFLOAT16, T::FP8_E4M3, T::FP8_E5M2,
                        T::INT8,  T::UINT8,  T::INT32, T::INT64,    T::BOOLEAN};

bool equal(long double a, long double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

long double stored(T type, const Scalar& s) {
  alignas(8) unsigned char bytes[8] = {};
  store(type, bytes, 0, s);
  return decode(type, bytes, 0);
}

TEST(Scalar, EveryNarrowCodeLoadsAsItsFormatSays) {
  for (const T type : {T::HALF, T::BFLOAT16})
    for (std::uint32_t code = 0; code < 65536; ++code) {
      const std::uint16_t c = static_cast<std::uint16_t>(code);
      ASSERT_TRUE(equal(load(type, &c, 0).to_f64(), decode(type, &c, 0))) << short_name(type) << " " << code;
    }
  for (const T type : {T::FP8_E4M3, T::FP8_E5M2, T::INT8, T::UINT8})
    for (std::uint32_t code = 0; code < 256; ++code) {
      const std::uint8_t c = static_cast<std::uint8_t>(code);
      ASSERT_TRUE(equal(load(type, &c, 0).to_f64(), decode(type, &c, 0))) << short_name(type) << " " << code;
    }
}

/// Numbers where roundings go wrong: each code of a format, the middle between neighbours, and a hair to either side.
void around(T type, std::uint32_t codes, void (*check)(T, double)) {
  for (std::uint32_t code = 0; code + 1 < codes; ++code) {
    const std::uint16_t wide[2] = {static_cast<std::uint16_t>(code), static_cast<std::uint16_t>(code + 1)};
    const std::uint8_t narrow[2] = {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(code + 1)};
    const void* at = codes == 256 ? static_cast<const void*>(narrow) : wide;
    const double a = static_cast<double>(decode(type, at, 0)), b = static_cast<double>(decode(type, at, 1));
    if (!std::isfinite(a) || !std::isfinite(b)) continue;
    const double middle = a / 2 + b / 2;
    for (const double v : {a, middle, std::nextafter(middle, 1e300), std::nextafter(middle, -1e300)}) check(type, v);
  }
}

TEST(Scalar, StoresRoundOnceToNearestEven) {
  const auto check = [](T type, double v) {
    ASSERT_TRUE(equal(stored(type, Scalar::of_f64(v)), rounded_to(type, v))) << short_name(type) << " " << v;
    const float f = static_cast<float>(v);
    ASSERT_TRUE(equal(stored(type, Scalar::of_f32(f)), rounded_to(type, f))) << short_name(type) << " " << f;
  };
  around(T::HALF, 65536, check);
  around(T::BFLOAT16, 65536, check);
  around(T::FP8_E4M3, 256, check);
  around(T::FP8_E5M2, 256, check);
  verify::Rng rng(5);
  for (const T type : kTypes) {
    for (const double v : {0.,
                           -0.,
                           0.5,
                           1.5,
                           2.5,
                           -0.5,
                           -1.5,
                           126.5,
                           127.5,
                           128.5,
                           -128.5,
                           -129.,
                           254.5,
                           255.5,
                           448.,
                           464.,
                           465.,
                           57344.,
                           61440.,
                           65504.,
                           65519.,
                           65520.,
                           1e30,
                           -1e30,
                           3.5e38,
                           1e300,
                           2147483647.,
                           2147483647.5,
                           2147483648.,
                           -2147483649.,
                           9.3e18,
                           -9.3e18,
                           1e-45,
                           1e-40,
                           6e-8,
                           2.9e-8,
                           std::numeric_limits<double>::infinity(),
                           -std::numeric_limits<double>::infinity(),
                           std::numeric_limits<double>::quiet_NaN()})
      check(type, v);
    for (int i = 0; i < 20000; ++i) check(type, (rng.unit() - 0.5) * std::ldexp(1.0, static_cast<int>(rng.between(-60, 70))));
  }
}

TEST(Scalar, IntegersStoreWithOneRounding) {
  // An int32 that a detour through float32 would round twice: just above the middle of two bf16 numbers.
  EXPECT_EQ(stored(T::BFLOAT16, Scalar::of_i32((1 << 24) + (1 << 16) + 1)), (1 << 24) + (1 << 17));
  verify::Rng rng(6);
  for (const T type : kTypes)
    for (int i = 0; i < 20000; ++i) {
      const std::int32_t v = static_cast<std::int32_t>(rng.next()) >> rng.between(0, 31);
      ASSERT_TRUE(equal(stored(type, Scalar::of_i32(v)), rounded_to(type, v))) << short_name(type) << " " << v;
      const std::int64_t w = static_cast<std::int64_t>(rng.next()) >> rng.between(0, 63);
      ASSERT_TRUE(equal(stored(type, Scalar::of_i64(w)), rounded_to(type, static_cast<long double>(w))))
          << short_name(type) << " " << w;
    }
}

}  // namespace
}  // namespace octavo::testing
