// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A small seeded generator with the same sequence on every machine (the standard's distributions are not).

#include <cstdint>
#include <initializer_list>

namespace octavo::verify {

class Rng {
 public:
  /// The seed is mixed, so that neighbouring seeds are not one sequence shifted by a step.
  explicit Rng(std::uint64_t seed) : state_(mix(mix(seed + 0x632be59bd9b4e019u))) {}
  /// splitmix64
  std::uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15u); }
  /// Both ends included.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return between(1, 100) <= percent; }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  template <class T>
  T pick(std::initializer_list<T> list) {
    return list.begin()[between(0, static_cast<std::int64_t>(list.size()) - 1)];
  }

 private:
  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

}  // namespace octavo::verify
