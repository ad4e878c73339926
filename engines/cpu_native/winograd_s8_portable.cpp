// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#include "engines/cpu_native/winograd_s8_kernels.h"

namespace octavo::cpu_native {
namespace {

/// Plain C++; unsigned lanes, because everything wraps.
struct WordsPlain {
  static constexpr int kWords = 8, kDwords = 4;
  struct W {
    std::uint16_t v[kWords];
  };
  struct D {
    std::uint32_t v[kDwords];
  };
  template <class R, class G>
  static OCTAVO_INLINE R each(int n, G&& g) {
    R r;
    for (int l = 0; l < n; ++l) r.v[l] = g(l);
    return r;
  }
  static std::uint16_t narrow(std::uint32_t a) { return static_cast<std::uint16_t>(a); }

  static W zero() { return {}; }
  static W splat(std::int16_t v) {
    return each<W>(kWords, [&](int) { return static_cast<std::uint16_t>(v); });
  }
  template <bool kSigned>
  static W widen(const std::uint8_t* p, int lanes) {
    W r{};
    for (int l = 0; l < lanes; ++l) r.v[l] = kSigned ? static_cast<std::uint16_t>(static_cast<std::int8_t>(p[l])) : p[l];
    return r;
  }
  static W load(const std::int16_t* p) {
    W r;
    std::memcpy(&r, p, sizeof r);
    return r;
  }
  static void store(std::int16_t* p, const W& v) { std::memcpy(p, &v, sizeof v); }
  static W add(const W& a, const W& b) {
    return each<W>(kWords, [&](int l) { return narrow(std::uint32_t{a.v[l]} + b.v[l]); });
  }
  static W sub(const W& a, const W& b) {
    return each<W>(kWords, [&](int l) { return narrow(std::uint32_t{a.v[l]} - b.v[l]); });
  }
  template <int kBits>
  static W shl(const W& a) {
    return each<W>(kWords, [&](int l) { return narrow(std::uint32_t{a.v[l]} << kBits); });
  }

  static D splatd(std::int32_t v) {
    return each<D>(kDwords, [&](int) { return static_cast<std::uint32_t>(v); });
  }
  static D loadd(const std::int32_t* p) {
    D r;
    std::memcpy(&r, p, sizeof r);
    return r;
  }
  static void stored(std::int32_t* p, const D& v) { std::memcpy(p, &v, sizeof v); }
  static D addd(const D& a, const D& b) {
    return each<D>(kDwords, [&](int l) { return a.v[l] + b.v[l]; });
  }
  static D subd(const D& a, const D& b) {
    return each<D>(kDwords, [&](int l) { return a.v[l] - b.v[l]; });
  }
  static D muld(const D& a, const D& b) {
    return each<D>(kDwords, [&](int l) { return a.v[l] * b.v[l]; });
  }
  template <int kBits>
  static D shld(const D& a) {
    return each<D>(kDwords, [&](int l) { return a.v[l] << kBits; });
  }
  template <int kBits>
  static D srad(const D& a) {
    return each<D>(kDwords, [&](int l) { return static_cast<std::uint32_t>(static_cast<std::int32_t>(a.v[l]) >> kBits); });
  }
};

}  // namespace

const WinogradIsa kWinogradPortable{&kDirectPortable, WordsPlain::kWords, &Winograd<WordsPlain>::input,
                                    &Winograd<WordsPlain>::output, &Winograd<WordsPlain>::filter};

}  // namespace octavo::cpu_native
