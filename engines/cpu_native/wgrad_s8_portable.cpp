// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#include "engines/cpu_native/wgrad_s8.h"

namespace octavo::cpu_native {
namespace {

struct Four {
  struct Reg {
    std::uint32_t v[4];
  };
  static constexpr int kLanes = 4, kRows1 = 4, kRows2 = 4, kRows3 = 0, kRows4 = 0;
  static Reg zero() { return {}; }
  static Reg load(const std::int32_t* p) { return load_tail(p, 4); }
  static Reg load_tail(const std::int32_t* p, int n) {
    Reg r{};
    for (int i = 0; i < n; ++i) r.v[i] = static_cast<std::uint32_t>(p[i]);
    return r;
  }
  static void store(std::int32_t* p, const Reg& r) { store_tail(p, r, 4); }
  static void store_tail(std::int32_t* p, const Reg& r, int n) {
    for (int i = 0; i < n; ++i) p[i] = static_cast<std::int32_t>(r.v[i]);
  }
  static Reg broadcast(std::uint32_t v) { return {{v, v, v, v}}; }
  static std::int32_t low(std::uint32_t v) { return static_cast<std::int16_t>(v & 0xffffu); }
  static std::int32_t high(std::uint32_t v) { return static_cast<std::int16_t>(v >> 16); }
  template <bool>
  static void dot(Reg& acc, const Reg& x, const Reg& y) {
    for (int i = 0; i < 4; ++i) {
      acc.v[i] +=
          static_cast<std::uint32_t>(low(x.v[i]) * low(y.v[i])) + static_cast<std::uint32_t>(high(x.v[i]) * high(y.v[i]));
    }
  }
};

#include "engines/cpu_native/wgrad_s8_impl.h"

/// Two points a unit, the first in the low half whatever the byte order.
void pack_halves(const UnitPackArgs& g) {
  const auto value = [&](const std::uint8_t* p, std::int64_t c) {
    const std::int32_t v = g.is_signed ? static_cast<std::int8_t>(p[c]) : static_cast<std::int32_t>(p[c]);
    return static_cast<std::uint32_t>(v - g.zero_point) & 0xffffu;
  };
  for (std::int64_t c = 0; c < g.channels; ++c) g.to[c] = value(g.points[0], c) | value(g.points[1], c) << 16;
}

}  // namespace

extern const WgradS8Kernels kWgradS8Portable;
const WgradS8Kernels kWgradS8Portable = make_kernels<Four>(2, pack_halves, 2);

}  // namespace octavo::cpu_native
