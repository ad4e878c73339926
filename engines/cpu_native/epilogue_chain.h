// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The chain form of the epilogue for one vector type V (see epilogue_avx512.cpp for what V gives). Four vectors at a time,
// so that the dispatch on a step is paid once for 4 * V::kLanes channels. Included by one file per instruction set only.

#include <algorithm>
#include <cstring>

#include "engines/cpu_native/epilogue.h"

namespace octavo::cpu_native {

template <class V>
class ChainRunner {
  using I = typename V::I;
  using F = typename V::F;
  static constexpr int kUnroll = 4;
  static constexpr int kStep = kUnroll * V::kLanes;
  static constexpr int kMaxTensors = 16;

 public:
  ChainRunner(const TileEpilogue::Program& program, const TileEpilogue::Bound& bound) : p_(program), b_(bound) {}

  void run(const Rows& rows, const void* accumulators, std::ptrdiff_t row_stride) {
    const auto* acc = static_cast<const std::int32_t*>(accumulators);  // or float: the bits are what is loaded
    Rows at = rows;
    for (std::int64_t point = 0; point < rows.count; ++point) {
      for (std::int64_t c = 0; c < rows.channels; c += kStep) {
        const int n = static_cast<int>(std::min<std::int64_t>(kStep, rows.channels - c));
        block(at, acc + c, rows.channel + c, n);
      }
      acc += row_stride;
      ++at.spatial[static_cast<std::size_t>(p_.rank - 3)];
    }
  }

 private:
  /// Offset of channel 0 of a tensor at this point.
  std::int64_t point_offset(const RowAddress& a, const Rows& at) const {
    std::int64_t o = at.outer * a.stride[0];
    for (int d = 2; d < p_.rank; ++d) o += at.spatial[static_cast<std::size_t>(d - 2)] * a.stride[static_cast<std::size_t>(d)];
    return o;
  }

  static std::int64_t channel_offset(const RowAddress& a, std::int64_t c) {
    if (a.channels == RowAddress::Channels::broadcast) return 0;
    return a.vector == 1 ? c * a.stride[1] : (c / a.vector) * a.stride[1] + c % a.vector;
  }

  /// Are V::kLanes channels from c on one run of memory?
  static bool is_run(const RowAddress& a, std::int64_t c) {
    if (a.channels == RowAddress::Channels::contiguous) return true;
    return a.channels == RowAddress::Channels::blocked && c % V::kLanes == 0;
  }

  void load_tensor(const RowAddress& a, const std::byte* base, std::int64_t point, std::int64_t c, int n, bool as_int,
                   I* out) const {
    for (int u = 0; u < kUnroll && u * V::kLanes < n; ++u) {
      const std::int64_t cu = c + u * V::kLanes;
      const int lanes = std::min(V::kLanes, n - u * V::kLanes);
      alignas(64) std::byte gathered[V::kLanes * 4];
      const std::byte* from = base + (point + channel_offset(a, cu)) * a.bytes;
      if (lanes < V::kLanes || !is_run(a, cu)) {
        std::memset(gathered, 0, sizeof gathered);
        for (int l = 0; l < lanes; ++l) {
          std::memcpy(gathered + l * a.bytes, base + (point + channel_offset(a, cu + l)) * a.bytes,
                      static_cast<std::size_t>(a.bytes));
        }
        from = gathered;
      }
      out[u] = as_int ? V::load_int(a.type, from) : V::bits(V::load_float(a.type, from));
    }
  }

  void store(const RowAddress& a, std::byte* base, std::int64_t point, std::int64_t c, int n, bool is_int, const I* v) const {
    if (n == kStep && a.channels == RowAddress::Channels::contiguous && a.type == DataType_t::INT8) {
      return V::store_s8x4(base + point + c, is_int, v);
    }
    for (int u = 0; u < kUnroll && u * V::kLanes < n; ++u) {
      const std::int64_t cu = c + u * V::kLanes;
      const int lanes = std::min(V::kLanes, n - u * V::kLanes);
      std::byte* to = base + (point + channel_offset(a, cu)) * a.bytes;
      if (lanes == V::kLanes && is_run(a, cu)) {
        V::store(a.type, to, is_int, v[u]);
        continue;
      }
      alignas(64) std::byte packed[V::kLanes * 4];
      V::store(a.type, packed, is_int, v[u]);
      if (a.channels == RowAddress::Channels::contiguous) {
        std::memcpy(to, packed, static_cast<std::size_t>(lanes * a.bytes));
        continue;
      }
      for (int l = 0; l < lanes; ++l) {
        std::memcpy(base + (point + channel_offset(a, cu + l)) * a.bytes, packed + l * a.bytes,
                    static_cast<std::size_t>(a.bytes));
      }
    }
  }

  void block(const Rows& at, const std::int32_t* acc, std::int64_t c, int n) {
    using Op = ChainStep::Op;
    const int used = (n + V::kLanes - 1) / V::kLanes;
    I value[kUnroll], aux[kUnroll], other[kUnroll];
    for (int u = 0; u < kUnroll; ++u) {
      value[u] = V::load(acc + (u < used ? u : 0) * V::kLanes);
      aux[u] = value[u];
      other[u] = value[u];
    }
    for (const ChainStep& s : p_.steps) {
      if (s.op == Op::store) {
        const RowAddress& a = p_.outputs[static_cast<std::size_t>(s.index)];
        auto* base = static_cast<std::byte*>(b_.args->outputs[static_cast<std::size_t>(s.index)]);
        store(a, base, point_offset(a, at), c, n, s.value_is_int, value);
        continue;
      }
      switch (s.source) {
        case ChainStep::Source::scalar: {
          const I v = V::broadcast(b_.params + p_.params[static_cast<std::size_t>(s.index)].offset);
          for (int u = 0; u < kUnroll; ++u) other[u] = v;
          break;
        }
        case ChainStep::Source::channel: {
          const auto* v =
              reinterpret_cast<const std::int32_t*>(b_.params + p_.params[static_cast<std::size_t>(s.index)].offset) + c;
          for (int u = 0; u < kUnroll; ++u) other[u] = V::load(v + (u < used ? u : 0) * V::kLanes);
          break;
        }
        case ChainStep::Source::tensor: {
          const RowAddress& a = p_.operands[static_cast<std::size_t>(s.index)];
          const bool as_int = s.op == Op::load_i || (s.op >= Op::add_i && s.op <= Op::min_i);
          load_tensor(a, static_cast<const std::byte*>(b_.args->operands[static_cast<std::size_t>(s.index)]),
                      point_offset(a, at), c, n, as_int, other);
          break;
        }
        case ChainStep::Source::auxiliary:
          for (int u = 0; u < kUnroll; ++u) other[u] = aux[u];
          break;
        case ChainStep::Source::none:
          break;
      }
      if (s.auxiliary) {
        apply(s, aux, other);
      } else {
        apply(s, value, other);
      }
    }
  }

  static inline __attribute__((always_inline)) void apply(const ChainStep& s, I* v, const I* o) {
    using Op = ChainStep::Op;
#define OCTAVO_EACH(expression)                          \
  for (int u = 0; u < kUnroll; ++u) v[u] = (expression); \
  break
#define OCTAVO_F(x) V::floats(x)
    switch (s.op) {
      case Op::to_float:
        OCTAVO_EACH(V::bits(V::to_float(v[u])));
      case Op::to_int:
        OCTAVO_EACH(V::to_int(OCTAVO_F(v[u]), s.lo, s.hi));
      case Op::clamp_int:
        OCTAVO_EACH(V::clamp(v[u], s.lo, s.hi));
      case Op::relu_i:
        OCTAVO_EACH(V::clamp(v[u], s.lo, s.hi));
      case Op::add_i:
        OCTAVO_EACH(V::add(v[u], o[u]));
      case Op::sub_i:
        OCTAVO_EACH(V::sub(v[u], o[u]));
      case Op::mul_i:
        OCTAVO_EACH(V::mul(v[u], o[u]));
      case Op::max_i:
        OCTAVO_EACH(V::max(v[u], o[u]));
      case Op::min_i:
        OCTAVO_EACH(V::min(v[u], o[u]));
      case Op::add_f:
        OCTAVO_EACH(V::bits(V::addf(OCTAVO_F(v[u]), OCTAVO_F(o[u]))));
      case Op::sub_f:
        OCTAVO_EACH(V::bits(V::subf(OCTAVO_F(v[u]), OCTAVO_F(o[u]))));
      case Op::rsub_f:
        OCTAVO_EACH(V::bits(V::subf(OCTAVO_F(o[u]), OCTAVO_F(v[u]))));
      case Op::mul_f:
        OCTAVO_EACH(V::bits(V::mulf(OCTAVO_F(v[u]), OCTAVO_F(o[u]))));
      case Op::div_f:
        OCTAVO_EACH(V::bits(V::divf(OCTAVO_F(v[u]), OCTAVO_F(o[u]))));
      case Op::max_f:
        OCTAVO_EACH(V::bits(V::max_nan(OCTAVO_F(v[u]), OCTAVO_F(o[u]))));
      case Op::min_f:
        OCTAVO_EACH(V::bits(V::min_nan(OCTAVO_F(v[u]), OCTAVO_F(o[u]))));
      case Op::neg_f:
        OCTAVO_EACH(V::flip_sign(v[u]));
      case Op::abs_f:
        OCTAVO_EACH(V::clear_sign(v[u]));
      case Op::relu_f:
        if (s.slope == 0 && !s.has_upper) {
          OCTAVO_EACH(V::bits(V::at_least(OCTAVO_F(v[u]), s.lower)));
        }
        OCTAVO_EACH(V::bits(V::relu(OCTAVO_F(v[u]), s.lower, s.slope, s.upper)));
      case Op::load_f:
      case Op::load_i:
        OCTAVO_EACH(o[u]);
      case Op::store:
        break;
    }
#undef OCTAVO_F
#undef OCTAVO_EACH
  }

  const TileEpilogue::Program& p_;
  const TileEpilogue::Bound& b_;
};

}  // namespace octavo::cpu_native
