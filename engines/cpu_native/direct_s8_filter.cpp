// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#include "engines/cpu_native/direct_s8_filter.h"

#include <algorithm>
#include <cstring>

#include "core/parallel.h"

namespace octavo::cpu_native {

PackedFilterShape::PackedFilterShape(const Geometry& g, const DirectIsa& isa, std::int64_t steps) {
  taps_ = g.taps();
  steps_ = std::max(steps, ceil_div(g.cg, isa.channels_per_step));
  padded_k_ = round_up(g.k, 16) + 64;  // whole vectors may be read past the end
  for (std::int64_t group = 0; group < g.groups; ++group) {
    std::int64_t left = ceil_div(g.kg, isa.lanes), k = 0;
    while (left > 0) {
      int vectors = static_cast<int>(std::min<std::int64_t>(left, isa.max_vectors));
      // A lone last vector starves the multipliers (a load for every product): share it out, 5 = 3 + 2.
      if (left == isa.max_vectors + 1 && isa.max_vectors > 2) vectors = isa.max_vectors - 1;
      FilterBlock b;
      b.group = group;
      b.k = group * g.kg + k;
      b.channels = std::min<std::int64_t>(g.kg - k, std::int64_t{vectors} * isa.lanes);
      b.vectors = vectors;
      b.offset = bytes_;
      bytes_ += taps_ * steps_ * vectors * isa.lanes * 4;
      blocks_.push_back(b);
      k += b.channels;
      left -= vectors;
    }
  }
}

void PackedFilterShape::pack_block(const Geometry& g, const DirectIsa& isa, const FilterBlock& b, const std::uint8_t* krsc,
                                   bool is_signed, std::uint8_t* to) const {
  const std::int64_t filter_bytes = taps_ * g.cg, lanes = std::int64_t{b.vectors} * isa.lanes;
  const bool wide = isa.encoding == Encoding::s16;
  const std::uint8_t flip = is_signed || wide ? 0 : 0x80;
  const auto sign = [&](std::uint8_t v) { return static_cast<std::uint16_t>(is_signed ? static_cast<std::int8_t>(v) : v); };
  for (std::int64_t t = 0; t < taps_; ++t) {
    const std::uint8_t* src = krsc + b.k * filter_bytes + g.filter_tap(t) * g.cg;
    for (std::int64_t s = 0; s < steps_; ++s, to += lanes * 4) {
      const std::int64_t c = s * isa.channels_per_step;
      if (c >= g.cg) {
        std::memset(to, 0, static_cast<std::size_t>(lanes) * 4);
        continue;
      }
      const bool whole = c + isa.channels_per_step <= g.cg;
      for (std::int64_t l = 0; l < b.channels; ++l) {
        const std::uint8_t* from = src + l * filter_bytes + c;
        std::uint32_t v = 0;
        if (wide) {
          v = sign(from[0]) | (whole ? std::uint32_t{sign(from[1])} << 16 : 0);
        } else if (whole) {
          std::memcpy(&v, from, 4);
          v ^= flip * 0x01010101u;
        } else {
          std::uint8_t bytes[4] = {};
          for (std::int64_t i = 0; i < g.cg - c; ++i) bytes[i] = from[i] ^ flip;
          std::memcpy(&v, bytes, 4);
        }
        std::memcpy(to + l * 4, &v, 4);
      }
      if (b.channels < lanes) std::memset(to + b.channels * 4, 0, static_cast<std::size_t>(lanes - b.channels) * 4);
    }
  }
}

void PackedFilterShape::pack(const Geometry& g, const DirectIsa& isa, const std::uint8_t* krsc, bool is_signed, std::byte* to,
                             std::int32_t* sums, int threads) const {
  const std::int64_t filter_bytes = taps_ * g.cg;
  const std::uint8_t flip =
      is_signed ? 0 : 0x80;  // sums are those of the encoded weights, and only the 8-bit encodings ask for them
  parallel_for(static_cast<std::int64_t>(blocks_.size()), threads, [&](std::int64_t index, int) {
    const FilterBlock& b = blocks_[static_cast<std::size_t>(index)];
    pack_block(g, isa, b, krsc, is_signed, reinterpret_cast<std::uint8_t*>(to + b.offset));
    if (!sums) return;
    for (std::int64_t t = 0; t < taps_; ++t) {
      for (std::int64_t l = 0; l < b.channels; ++l) {
        const std::uint8_t* from = krsc + (b.k + l) * filter_bytes + g.filter_tap(t) * g.cg;
        std::int32_t sum = 0;
        for (std::int64_t c = 0; c < g.cg; ++c) sum += static_cast<std::int8_t>(from[c] ^ flip);
        sums[t * padded_k_ + b.k + l] = sum;
      }
    }
  });
}

}  // namespace octavo::cpu_native
