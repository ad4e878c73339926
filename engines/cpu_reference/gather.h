// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Copies of runs of elements, converted without loss to the type that the sums are made from: int16 for s8 and u8 with a
// zero point taken off, int32 for s32, double for every floating-point type. A sum is then one dot product of two such runs.

#include <cstdint>

#include "octavo/enums.h"

namespace octavo::cpu_reference {

/// Which elements: channels [first, first + count) at base offset `base`, or count elements `stride` apart (vector = 1).
struct Run {
  std::int64_t base = 0, first = 0, count = 0, stride = 0, vector = 1;
};

template <class E>
using GatherFn = void (*)(const void* data, const Run& run, std::int32_t zero_point, E* to);
/// The same for elements at arbitrary offsets, `shift` added to each.
template <class E>
using GatherAtFn = void (*)(const void* data, const std::int64_t* offsets, std::int64_t count, std::int64_t shift,
                            std::int32_t zero_point, E* to);

template <class E>
GatherFn<E> gather(DataType_t type);
template <class E>
GatherAtFn<E> gather_at(DataType_t type);

/// What two packed types sum to. Unsigned: overflow wraps, as the contract says.
template <class E>
struct Sum {
  using type = std::uint32_t;
};
template <>
struct Sum<double> {
  using type = double;
};

/// Products of an s8/u8 pair fit int32 with room for 2^14 of them before a wrap; integer order is free, so the compiler
/// may use its widest multiply-add.
inline std::uint32_t dot(const std::int16_t* a, const std::int16_t* b, std::int64_t n) {
  std::int32_t sum = 0;
  std::uint32_t total = 0;
  while (n > 0) {
    const std::int64_t part = n < 16384 ? n : 16384;
    sum = 0;
    for (std::int64_t i = 0; i < part; ++i) sum += static_cast<std::int32_t>(a[i]) * b[i];
    total += static_cast<std::uint32_t>(sum);
    a += part, b += part, n -= part;
  }
  return total;
}
inline std::uint32_t dot(const std::int32_t* a, const std::int32_t* b, std::int64_t n) {
  std::uint32_t sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += static_cast<std::uint32_t>(a[i]) * static_cast<std::uint32_t>(b[i]);
  return sum;
}
/// Eight partial sums in a fixed order: what a vector unit does anyway, and the same bits everywhere.
inline double dot(const double* a, const double* b, std::int64_t n) {
  constexpr int kLanes = 8;
  double lane[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int l = 0; l < kLanes; ++l) lane[l] += a[i + l] * b[i + l];
  for (int l = 0; i < n; ++i, ++l) lane[l] += a[i] * b[i];
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

}  // namespace octavo::cpu_reference
