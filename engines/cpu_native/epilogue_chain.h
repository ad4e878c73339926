// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The chain form of the epilogue for one vector type V (see epilogue_avx512.cpp for what V gives). Four vectors at a time,
// so that the dispatch on a step is paid once for 4 * V::kLanes channels. Included by one file per instruction set only.

#include <algorithm>
#include <cstring>

#include "engines/cpu_native/epilogue.h"

namespace octavo::cpu_native {

/// The fused form: parameters of up to four vectors of channels stay in registers while the points go by.
template <class V>
class FusedRunner {
  using I = typename V::I;
  using F = typename V::F;

 public:
  FusedRunner(const TileEpilogue::Program& program, const TileEpilogue::Bound& bound, const Rows& rows)
      : p_(program), f_(program.fused), b_(bound), rows_(rows) {}

  void run(const void* accumulators, std::ptrdiff_t row_stride) const {
    const auto* acc = static_cast<const std::int32_t*>(accumulators);
    for (std::int64_t c = 0; c < rows_.channels; c += 4 * V::kLanes) {
      const auto n = static_cast<int>(std::min<std::int64_t>(4 * V::kLanes, rows_.channels - c));
      switch ((n + V::kLanes - 1) / V::kLanes) {
        case 1:
          columns<1>(acc + c, row_stride, rows_.channel + c, n);
          break;
        case 2:
          columns<2>(acc + c, row_stride, rows_.channel + c, n);
          break;
        case 3:
          columns<3>(acc + c, row_stride, rows_.channel + c, n);
          break;
        default:
          columns<4>(acc + c, row_stride, rows_.channel + c, n);
      }
    }
  }

 private:
  std::int64_t row_offset(const RowAddress& a) const {
    std::int64_t o = rows_.outer * a.stride[0];
    for (int d = 2; d < p_.rank; ++d)
      o += rows_.spatial[static_cast<std::size_t>(d - 2)] * a.stride[static_cast<std::size_t>(d)];
    return o;
  }
  static std::int64_t channel_offset(const RowAddress& a, std::int64_t c) {
    return a.vector == 1 ? c : (c / a.vector) * a.stride[1] + c % a.vector;
  }
  I param(int index, std::int64_t c) const {
    const TileEpilogue::Param& p = p_.params[static_cast<std::size_t>(index)];
    return p.channel ? V::load(b_.params + p.offset + c * 4) : V::broadcast(b_.params + p.offset);
  }

  template <int kVectors>
  void columns(const std::int32_t* acc, std::ptrdiff_t row_stride, std::int64_t channel, int n) const {
    const FusedForm f = f_;
    const int tail = n - (kVectors - 1) * V::kLanes;  // channels in the last vector
    const RowAddress& out = p_.outputs[static_cast<std::size_t>(f.output)];
    const DataType_t type = out.type;
    I bias_i[kVectors] = {};
    F before[kVectors] = {}, scale[kVectors] = {}, bias[kVectors] = {};
    std::byte* to[kVectors];
    const std::byte* res[kVectors] = {};
    auto* out_base = static_cast<std::byte*>(b_.args->outputs[static_cast<std::size_t>(f.output)]);
    const std::int64_t out_row = row_offset(out);
    for (int v = 0; v < kVectors; ++v) {
      const std::int64_t c = channel + v * V::kLanes;
      if (f.bias_i >= 0) bias_i[v] = param(f.bias_i, c);
      if (f.before >= 0) before[v] = V::floats(param(f.before, c));
      if (f.scale >= 0) scale[v] = V::floats(param(f.scale, c));
      if (f.bias >= 0) bias[v] = V::floats(param(f.bias, c));
      to[v] = out_base + (out_row + channel_offset(out, c)) * out.bytes;
    }
    const std::int64_t out_step = out.stride[static_cast<std::size_t>(p_.rank - 1)] * out.bytes;
    std::int64_t res_step = 0;
    DataType_t res_type = DataType_t::NOT_SET;
    int res_bytes = 1;
    F res_scale{};
    if (f.residual >= 0) {
      const RowAddress& r = p_.operands[static_cast<std::size_t>(f.residual)];
      const auto* base = static_cast<const std::byte*>(b_.args->operands[static_cast<std::size_t>(f.residual)]);
      const std::int64_t row = row_offset(r);
      for (int v = 0; v < kVectors; ++v) res[v] = base + (row + channel_offset(r, channel + v * V::kLanes)) * r.bytes;
      res_step = r.stride[static_cast<std::size_t>(p_.rank - 1)] * r.bytes;
      res_type = r.type;
      res_bytes = static_cast<int>(r.bytes);
      if (f.residual_scale >= 0) res_scale = V::floats(param(f.residual_scale, 0));
    }
    const I zero_point = f.zero_point >= 0 ? param(f.zero_point, 0) : I{};
    const bool is_int = f.to_int || (!f.to_float && !p_.float_accumulator);
    const bool whole_s8 =
        kVectors == 4 && tail == V::kLanes && type == DataType_t::INT8 && out.channels == RowAddress::Channels::contiguous;
    std::int64_t at = 0, res_at = 0;
    for (std::int64_t point = 0; point < rows_.count; ++point, acc += row_stride, at += out_step, res_at += res_step) {
      I x[kVectors];
      for (int v = 0; v < kVectors; ++v) x[v] = V::load(acc + v * V::kLanes);
      if (f.bias_i >= 0) {
        for (int v = 0; v < kVectors; ++v) x[v] = V::add(x[v], bias_i[v]);
      }
      if (f.to_float) {
        for (int v = 0; v < kVectors; ++v) x[v] = V::bits(V::to_float(x[v]));
      }
      if (f.before >= 0) {
        for (int v = 0; v < kVectors; ++v) x[v] = V::bits(V::addf(V::floats(x[v]), before[v]));
      }
      if (f.scale >= 0) {
        for (int v = 0; v < kVectors; ++v) x[v] = V::bits(V::mulf(V::floats(x[v]), scale[v]));
      }
      if (f.bias >= 0) {
        for (int v = 0; v < kVectors; ++v) x[v] = V::bits(V::addf(V::floats(x[v]), bias[v]));
      }
      if (f.residual >= 0) {
        for (int v = 0; v < kVectors; ++v) {
          F r = v + 1 < kVectors || tail == V::kLanes ? V::load_float(res_type, res[v] + res_at)
                                                      : load_tail(res_type, res[v] + res_at, tail, res_bytes);
          if (f.residual_scale >= 0) r = V::mulf(r, res_scale);
          x[v] = V::bits(V::addf(V::floats(x[v]), r));
        }
      }
      if (f.relu) {
        for (int v = 0; v < kVectors; ++v) {
          F y = V::floats(x[v]);
          // Above the upper clip first: lower <= upper, and NaN passes both.
          if (f.has_upper) y = V::at_most(y, f.upper);
          x[v] = V::bits(V::at_least(y, f.lower));
        }
      }
      if (f.to_int) {
        for (int v = 0; v < kVectors; ++v) x[v] = V::to_int(V::floats(x[v]), -2147483647 - 1, 2147483647);
        if (f.zero_point >= 0) {
          for (int v = 0; v < kVectors; ++v) x[v] = V::add(x[v], zero_point);
        }
      }
      if constexpr (kVectors == 4) {
        if (whole_s8) {
          V::store_s8x4(to[0] + at, is_int, x);
          continue;
        }
      }
      for (int v = 0; v + 1 < kVectors; ++v) V::store(type, to[v] + at, is_int, x[v]);
      if (tail == V::kLanes) {
        V::store(type, to[kVectors - 1] + at, is_int, x[kVectors - 1]);
      } else {
        alignas(64) std::byte packed[V::kLanes * 4];
        V::store(type, packed, is_int, x[kVectors - 1]);
        std::memcpy(to[kVectors - 1] + at, packed, static_cast<std::size_t>(tail * out.bytes));
      }
    }
  }

  static F load_tail(DataType_t type, const std::byte* p, int lanes, int bytes) {
    alignas(64) std::byte padded[V::kLanes * 4] = {};
    std::memcpy(padded, p, static_cast<std::size_t>(lanes * bytes));
    return V::load_float(type, padded);
  }

  const TileEpilogue::Program& p_;
  const FusedForm& f_;
  const TileEpilogue::Bound& b_;
  const Rows& rows_;
};

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
    // In blocked layouts a vector must not straddle two blocks.
    if (p_.fused.active && (rows.channel % V::kLanes == 0 || !blocked())) {
      return FusedRunner<V>(p_, b_, rows).run(accumulators, row_stride);
    }
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
  bool blocked() const {
    const auto is_blocked = [](const RowAddress& a) { return a.channels == RowAddress::Channels::blocked; };
    return is_blocked(p_.outputs[static_cast<std::size_t>(p_.fused.output)]) ||
           (p_.fused.residual >= 0 && is_blocked(p_.operands[static_cast<std::size_t>(p_.fused.residual)]));
  }

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
