// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "engines/cpu_reference/scalar.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/float.h"

namespace octavo::cpu_reference {
namespace {

/// Double to float, rounding to odd: a later rounding to a type with at least two bits less is then a single rounding.
float to_float_odd(double v) {
  float f = static_cast<float>(v);
  if (!std::isfinite(v) || static_cast<double>(f) == v) return f;
  if (std::isinf(f)) f = std::copysign(std::numeric_limits<float>::max(), f);
  std::uint32_t bits;
  std::memcpy(&bits, &f, sizeof bits);
  if (bits & 1) return f;  // inexact, already odd
  // The even neighbour was chosen: step to the float on the other side of v.
  const bool away = std::fabs(v) > std::fabs(static_cast<double>(f));
  bits += away ? 1u : -1u;
  std::memcpy(&f, &bits, sizeof f);
  return f;
}

/// A value as a float from which one rounding to f16, bf16 or fp8 is right.
float for_narrow_float(const Scalar& s) {
  switch (s.kind) {
    case Scalar::Kind::f32:
      return s.f;
    case Scalar::Kind::f64:
      return to_float_odd(s.d);
    case Scalar::Kind::i32:
      return to_float_odd(s.i);
    case Scalar::Kind::i64: {
      // Beyond 2^53 a double cannot hold it; keep the dropped bits alive in the last bit that the double keeps.
      std::int64_t v = s.l;
      if (v > (std::int64_t{1} << 53) || v < -(std::int64_t{1} << 53))
        v = (v & ~std::int64_t{0x7ff}) | ((v & 0x7ff) ? 0x400 : 0);
      return to_float_odd(static_cast<double>(v));
    }
    case Scalar::Kind::boolean:
      return s.b ? 1.f : 0.f;
  }
  return 0.f;
}

template <class T>
T read(const void* base, std::int64_t index) {
  T v;
  std::memcpy(&v, static_cast<const char*>(base) + index * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return v;
}

template <class T>
void write(void* base, std::int64_t index, T v) {
  std::memcpy(static_cast<char*>(base) + index * static_cast<std::int64_t>(sizeof(T)), &v, sizeof(T));
}

}  // namespace

std::int32_t round_to_i32(double v) { return round_saturate<std::int32_t>(v); }
std::int64_t round_to_i64(double v) { return round_saturate<std::int64_t>(v); }

Scalar Scalar::of_i32(std::int32_t v) {
  Scalar s;
  s.i = v;
  return s;
}
Scalar Scalar::of_i64(std::int64_t v) {
  Scalar s;
  s.kind = Kind::i64;
  s.l = v;
  return s;
}
Scalar Scalar::of_f32(float v) {
  Scalar s;
  s.kind = Kind::f32;
  s.f = v;
  return s;
}
Scalar Scalar::of_f64(double v) {
  Scalar s;
  s.kind = Kind::f64;
  s.d = v;
  return s;
}
Scalar Scalar::of_bool(bool v) {
  Scalar s;
  s.kind = Kind::boolean;
  s.b = v;
  return s;
}

std::int64_t Scalar::to_i64() const {
  switch (kind) {
    case Kind::i32:
      return i;
    case Kind::i64:
      return l;
    case Kind::f32:
      return round_to_i64(f);
    case Kind::f64:
      return round_to_i64(d);
    case Kind::boolean:
      return b ? 1 : 0;
  }
  return 0;
}

std::int32_t Scalar::to_i32() const {
  return static_cast<std::int32_t>(
      std::clamp<std::int64_t>(to_i64(), std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()));
}

float Scalar::to_f32() const {
  switch (kind) {
    case Kind::i32:
      return static_cast<float>(i);
    case Kind::i64:
      return static_cast<float>(l);
    case Kind::f32:
      return f;
    case Kind::f64:
      return static_cast<float>(d);
    case Kind::boolean:
      return b ? 1.f : 0.f;
  }
  return 0.f;
}

double Scalar::to_f64() const {
  switch (kind) {
    case Kind::i32:
      return i;
    case Kind::i64:
      return static_cast<double>(l);
    case Kind::f32:
      return f;
    case Kind::f64:
      return d;
    case Kind::boolean:
      return b ? 1. : 0.;
  }
  return 0.;
}

bool Scalar::to_bool() const {
  switch (kind) {
    case Kind::i32:
      return i != 0;
    case Kind::i64:
      return l != 0;
    case Kind::f32:
      return f != 0.f;
    case Kind::f64:
      return d != 0.;
    case Kind::boolean:
      return b;
  }
  return false;
}

Scalar load(DataType_t type, const void* base, std::int64_t index) {
  switch (type) {
    case DataType_t::FLOAT:
      return Scalar::of_f32(read<float>(base, index));
    case DataType_t::DOUBLE:
      return Scalar::of_f64(read<double>(base, index));
    case DataType_t::HALF:
      return Scalar::of_f32(f16_to_float(read<std::uint16_t>(base, index)));
    case DataType_t::BFLOAT16:
      return Scalar::of_f32(bf16_to_float(read<std::uint16_t>(base, index)));
    case DataType_t::FP8_E4M3:
      return Scalar::of_f32(e4m3_to_float(read<std::uint8_t>(base, index)));
    case DataType_t::FP8_E5M2:
      return Scalar::of_f32(e5m2_to_float(read<std::uint8_t>(base, index)));
    case DataType_t::INT8:
      return Scalar::of_i32(read<std::int8_t>(base, index));
    case DataType_t::UINT8:
      return Scalar::of_i32(read<std::uint8_t>(base, index));
    case DataType_t::INT32:
      return Scalar::of_i32(read<std::int32_t>(base, index));
    case DataType_t::INT64:
      return Scalar::of_i64(read<std::int64_t>(base, index));
    case DataType_t::BOOLEAN:
      return Scalar::of_bool(read<std::uint8_t>(base, index) != 0);
    default:
      return Scalar::of_i32(0);  // no Problem that validates gets here
  }
}

void store(DataType_t type, void* base, std::int64_t index, const Scalar& value) {
  switch (type) {
    case DataType_t::FLOAT:
      return write(base, index, value.to_f32());
    case DataType_t::DOUBLE:
      return write(base, index, value.to_f64());
    case DataType_t::HALF:
      return write(base, index, float_to_f16(for_narrow_float(value)));
    case DataType_t::BFLOAT16:
      return write(base, index, float_to_bf16(for_narrow_float(value)));
    case DataType_t::FP8_E4M3:
      return write(base, index, float_to_e4m3(for_narrow_float(value)));
    case DataType_t::FP8_E5M2:
      return write(base, index, float_to_e5m2(for_narrow_float(value)));
    case DataType_t::INT8:
      return write(base, index, static_cast<std::int8_t>(round_to_result(type, value).i));
    case DataType_t::UINT8:
      return write(base, index, static_cast<std::uint8_t>(round_to_result(type, value).i));
    case DataType_t::INT32:
      return write(base, index, value.to_i32());
    case DataType_t::INT64:
      return write(base, index, value.to_i64());
    case DataType_t::BOOLEAN:
      return write(base, index, static_cast<std::uint8_t>(value.to_bool() ? 1 : 0));
    default:
      return;  // no Problem that validates gets here
  }
}

Scalar round_to_result(DataType_t type, const Scalar& value) {
  switch (type) {
    case DataType_t::INT8:
      return Scalar::of_i32(std::clamp(value.to_i32(), -128, 127));
    case DataType_t::UINT8:
      return Scalar::of_i32(std::clamp(value.to_i32(), 0, 255));
    case DataType_t::INT32:
      return Scalar::of_i32(value.to_i32());
    case DataType_t::INT64:
      return Scalar::of_i64(value.to_i64());
    case DataType_t::BOOLEAN:
      return Scalar::of_bool(value.to_bool());
    default:
      return value;
  }
}

}  // namespace octavo::cpu_reference
