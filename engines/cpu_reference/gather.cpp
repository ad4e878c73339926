// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "engines/cpu_reference/gather.h"

#include <algorithm>
#include <cstring>

#include "core/float.h"

namespace octavo::cpu_reference {
namespace {

// One small struct a type: its storage and its exact conversion.
struct S8 {
  using stored = std::int8_t;
  static std::int32_t get(stored v) { return v; }
};
struct U8 {
  using stored = std::uint8_t;
  static std::int32_t get(stored v) { return v; }
};
struct S32 {
  using stored = std::int32_t;
  static std::int32_t get(stored v) { return v; }
};
struct F32 {
  using stored = float;
  static double get(stored v) { return v; }
};
struct F64 {
  using stored = double;
  static double get(stored v) { return v; }
};
struct F16 {
  using stored = std::uint16_t;
  static double get(stored v) { return f16_to_float(v); }
};
struct Bf16 {
  using stored = std::uint16_t;
  static double get(stored v) { return bf16_to_float(v); }
};
struct E4m3 {
  using stored = std::uint8_t;
  static double get(stored v) { return e4m3_to_float(v); }
};
struct E5m2 {
  using stored = std::uint8_t;
  static double get(stored v) { return e5m2_to_float(v); }
};

template <class T, class E>
E convert(const void* data, std::int64_t offset, std::int32_t zero_point) {
  typename T::stored v;
  std::memcpy(&v, static_cast<const char*>(data) + offset * static_cast<std::int64_t>(sizeof v), sizeof v);
  if constexpr (std::is_same_v<E, double>) {
    (void)zero_point;
    return T::get(v);
  } else {
    return static_cast<E>(static_cast<std::uint32_t>(T::get(v)) - static_cast<std::uint32_t>(zero_point));
  }
}

template <class T, class E>
void gather_run(const void* data, const Run& run, std::int32_t zero_point, E* to) {
  if (run.vector == 1) {
    const std::int64_t base = run.base + run.first * run.stride;
    if (run.stride == 1) {  // the common case, worth a loop that vectorises
      for (std::int64_t i = 0; i < run.count; ++i) to[i] = convert<T, E>(data, base + i, zero_point);
    } else {
      for (std::int64_t i = 0; i < run.count; ++i) to[i] = convert<T, E>(data, base + i * run.stride, zero_point);
    }
    return;
  }
  for (std::int64_t i = 0; i < run.count; ++i) {
    const std::int64_t c = run.first + i;
    to[i] = convert<T, E>(data, run.base + c / run.vector * run.stride + c % run.vector, zero_point);
  }
}

template <class T, class E>
void gather_offsets(const void* data, const std::int64_t* offsets, std::int64_t count, std::int64_t shift,
                    std::int32_t zero_point, E* to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = convert<T, E>(data, offsets[i] + shift, zero_point);
}

}  // namespace

template <>
GatherFn<std::int16_t> gather(DataType_t type) {
  return type == DataType_t::INT8 ? gather_run<S8, std::int16_t> : gather_run<U8, std::int16_t>;
}
template <>
GatherAtFn<std::int16_t> gather_at(DataType_t type) {
  return type == DataType_t::INT8 ? gather_offsets<S8, std::int16_t> : gather_offsets<U8, std::int16_t>;
}
template <>
GatherFn<std::int32_t> gather(DataType_t type) {
  return type == DataType_t::INT8    ? gather_run<S8, std::int32_t>
         : type == DataType_t::UINT8 ? gather_run<U8, std::int32_t>
                                     : gather_run<S32, std::int32_t>;
}
template <>
GatherAtFn<std::int32_t> gather_at(DataType_t type) {
  return type == DataType_t::INT8    ? gather_offsets<S8, std::int32_t>
         : type == DataType_t::UINT8 ? gather_offsets<U8, std::int32_t>
                                     : gather_offsets<S32, std::int32_t>;
}
template <>
GatherFn<double> gather(DataType_t type) {
  switch (type) {
    case DataType_t::DOUBLE:
      return gather_run<F64, double>;
    case DataType_t::HALF:
      return gather_run<F16, double>;
    case DataType_t::BFLOAT16:
      return gather_run<Bf16, double>;
    case DataType_t::FP8_E4M3:
      return gather_run<E4m3, double>;
    case DataType_t::FP8_E5M2:
      return gather_run<E5m2, double>;
    default:
      return gather_run<F32, double>;
  }
}
template <>
GatherAtFn<double> gather_at(DataType_t type) {
  switch (type) {
    case DataType_t::DOUBLE:
      return gather_offsets<F64, double>;
    case DataType_t::HALF:
      return gather_offsets<F16, double>;
    case DataType_t::BFLOAT16:
      return gather_offsets<Bf16, double>;
    case DataType_t::FP8_E4M3:
      return gather_offsets<E4m3, double>;
    case DataType_t::FP8_E5M2:
      return gather_offsets<E5m2, double>;
    default:
      return gather_offsets<F32, double>;
  }
}

}  // namespace octavo::cpu_reference
