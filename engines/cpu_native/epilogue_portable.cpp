// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// The chain form in plain C++: eight lanes as an array, left to the compiler's vectoriser.

#include <bit>
#include <cmath>

#include "core/float.h"
#include "engines/cpu_native/epilogue_chain.h"

namespace octavo::cpu_native {
namespace {

struct VPlain {
  static constexpr int kLanes = 8;
  struct I {
    std::int32_t v[kLanes];
  };
  struct F {
    float v[kLanes];
  };

  template <class R, class G>
  static R each(G&& g) {
    R r;
    for (int l = 0; l < kLanes; ++l) r.v[l] = g(l);
    return r;
  }
  static std::uint32_t u(std::int32_t a) { return static_cast<std::uint32_t>(a); }
  static std::int32_t wrap(std::uint32_t a) { return static_cast<std::int32_t>(a); }

  static I bits(const F& a) { return std::bit_cast<I>(a); }
  static F floats(const I& a) { return std::bit_cast<F>(a); }
  static I load(const void* p) {
    I r;
    std::memcpy(&r, p, sizeof r);
    return r;
  }
  static I broadcast(const void* p) {
    std::int32_t x;
    std::memcpy(&x, p, 4);
    return each<I>([&](int) { return x; });
  }
  static I load_int(DataType_t type, const void* p) {
    if (type == DataType_t::INT8)
      return each<I>([&](int l) { return static_cast<std::int32_t>(static_cast<const std::int8_t*>(p)[l]); });
    if (type == DataType_t::UINT8)
      return each<I>([&](int l) { return static_cast<std::int32_t>(static_cast<const std::uint8_t*>(p)[l]); });
    return load(p);
  }
  static std::uint16_t half(const void* p, int l) {
    std::uint16_t h;
    std::memcpy(&h, static_cast<const char*>(p) + 2 * l, 2);
    return h;
  }
  static F load_float(DataType_t type, const void* p) {
    switch (type) {
      case DataType_t::FLOAT:
        return floats(load(p));
      case DataType_t::HALF:
        return each<F>([&](int l) { return f16_to_float(half(p, l)); });
      case DataType_t::BFLOAT16:
        return each<F>([&](int l) { return bf16_to_float(half(p, l)); });
      default:
        return to_float(load_int(type, p));
    }
  }

  static F to_float(const I& a) {
    return each<F>([&](int l) { return static_cast<float>(a.v[l]); });
  }
  static I to_int(const F& a, int lo, int hi) {
    const I r = each<I>([&](int l) { return round_saturate<std::int32_t>(static_cast<double>(a.v[l])); });
    return clamp(r, lo, hi);
  }
  static I clamp(const I& a, int lo, int hi) {
    return each<I>([&](int l) { return std::max(std::min(a.v[l], hi), lo); });
  }
  static I add(const I& a, const I& b) {
    return each<I>([&](int l) { return wrap(u(a.v[l]) + u(b.v[l])); });
  }
  static I sub(const I& a, const I& b) {
    return each<I>([&](int l) { return wrap(u(a.v[l]) - u(b.v[l])); });
  }
  static I mul(const I& a, const I& b) {
    return each<I>([&](int l) { return wrap(u(a.v[l]) * u(b.v[l])); });
  }
  static I max(const I& a, const I& b) {
    return each<I>([&](int l) { return std::max(a.v[l], b.v[l]); });
  }
  static I min(const I& a, const I& b) {
    return each<I>([&](int l) { return std::min(a.v[l], b.v[l]); });
  }
  static F addf(const F& a, const F& b) {
    return each<F>([&](int l) { return a.v[l] + b.v[l]; });
  }
  static F subf(const F& a, const F& b) {
    return each<F>([&](int l) { return a.v[l] - b.v[l]; });
  }
  static F mulf(const F& a, const F& b) {
    return each<F>([&](int l) { return a.v[l] * b.v[l]; });
  }
  static F divf(const F& a, const F& b) {
    return each<F>([&](int l) { return a.v[l] / b.v[l]; });
  }
  static F max_nan(const F& a, const F& b) {
    return each<F>([&](int l) { return std::isnan(a.v[l]) || a.v[l] > b.v[l] ? a.v[l] : b.v[l]; });
  }
  static F min_nan(const F& a, const F& b) {
    return each<F>([&](int l) { return std::isnan(a.v[l]) || a.v[l] < b.v[l] ? a.v[l] : b.v[l]; });
  }
  static F at_least(const F& a, float lower) {
    return each<F>([&](int l) { return a.v[l] < lower ? lower : a.v[l]; });
  }
  static F at_most(const F& a, float upper) {
    return each<F>([&](int l) { return a.v[l] > upper ? upper : a.v[l]; });
  }
  static F relu(const F& a, float lower, float slope, float upper) {
    return each<F>([&](int l) {
      const float x = a.v[l];
      if (x < lower) return slope == 0 ? lower : lower + slope * (x - lower);
      return x > upper ? upper : x;
    });
  }
  static I flip_sign(const I& a) {
    return each<I>([&](int l) { return wrap(u(a.v[l]) ^ 0x80000000u); });
  }
  static I clear_sign(const I& a) {
    return each<I>([&](int l) { return wrap(u(a.v[l]) & 0x7fffffffu); });
  }

  static void store(DataType_t type, void* p, bool is_int, const I& a) {
    const auto narrow = [&](int lo, int hi) { return is_int ? clamp(a, lo, hi) : to_int(floats(a), lo, hi); };
    switch (type) {
      case DataType_t::INT8: {
        const I t = narrow(-128, 127);
        for (int l = 0; l < kLanes; ++l) static_cast<std::int8_t*>(p)[l] = static_cast<std::int8_t>(t.v[l]);
        return;
      }
      case DataType_t::UINT8: {
        const I t = narrow(0, 255);
        for (int l = 0; l < kLanes; ++l) static_cast<std::uint8_t*>(p)[l] = static_cast<std::uint8_t>(t.v[l]);
        return;
      }
      case DataType_t::INT32: {
        const I t = narrow(-2147483647 - 1, 2147483647);
        std::memcpy(p, &t, sizeof t);
        return;
      }
      case DataType_t::HALF:
      case DataType_t::BFLOAT16:
        for (int l = 0; l < kLanes; ++l) {
          const float x = floats(a).v[l];
          const std::uint16_t h = type == DataType_t::HALF ? float_to_f16(x) : float_to_bf16(x);
          std::memcpy(static_cast<char*>(p) + 2 * l, &h, 2);
        }
        return;
      default: {
        const I t = is_int ? bits(to_float(a)) : a;
        std::memcpy(p, &t, sizeof t);
      }
    }
  }
  static void store_s8x4(void* p, bool is_int, const I* v) {
    for (int i = 0; i < 4; ++i) store(DataType_t::INT8, static_cast<std::int8_t*>(p) + i * kLanes, is_int, v[i]);
  }
};

}  // namespace

void run_chain_portable(const TileEpilogue::Program& program, const TileEpilogue::Bound& bound, const Rows& rows,
                        const void* accumulators, std::ptrdiff_t row_stride) {
  ChainRunner<VPlain>(program, bound).run(rows, accumulators, row_stride);
}

}  // namespace octavo::cpu_native
