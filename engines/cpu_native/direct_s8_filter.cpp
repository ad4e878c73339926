// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#include "engines/cpu_native/direct_s8_filter.h"

#include <algorithm>
#include <cstring>

#include "core/parallel.h"

namespace octavo::cpu_native {

PackedFilterShape::PackedFilterShape(const Geometry& g, const DirectIsa& isa) {
  taps_ = g.taps();
  steps_ = ceil_div(g.cg, isa.channels_per_step);
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

void PackedFilterShape::pack(const Geometry& g, const DirectIsa& isa, const std::uint8_t* krsc, bool is_signed, std::byte* to,
                             std::int32_t* sums) const {
  const std::int64_t filter_bytes = taps_ * g.cg;
  const bool wide = isa.encoding == Encoding::s16;
  const std::uint8_t flip = is_signed || wide ? 0 : 0x80;
  parallel_for(static_cast<std::int64_t>(blocks_.size()), [&](std::int64_t index, int) {
    const FilterBlock& b = blocks_[static_cast<std::size_t>(index)];
    const std::int64_t lanes = std::int64_t{b.vectors} * isa.lanes;
    auto* dst = reinterpret_cast<std::uint8_t*>(to + b.offset);
    for (std::int64_t t = 0; t < taps_; ++t) {
      const std::uint8_t* src = krsc + b.k * filter_bytes + g.filter_tap(t) * g.cg;
      for (std::int64_t s = 0; s < steps_; ++s) {
        const std::int64_t c = s * isa.channels_per_step;
        const std::int64_t n = std::min<std::int64_t>(isa.channels_per_step, g.cg - c);
        for (std::int64_t l = 0; l < b.channels; ++l) {
          const std::uint8_t* from = src + l * filter_bytes + c;
          if (wide) {
            std::int16_t v[2] = {0, 0};
            for (std::int64_t i = 0; i < n; ++i)
              v[i] = is_signed ? static_cast<std::int8_t>(from[i]) : static_cast<std::int16_t>(from[i]);
            std::memcpy(dst + l * 4, v, 4);
          } else if (n == 4) {
            std::uint32_t v;
            std::memcpy(&v, from, 4);
            v ^= flip * 0x01010101u;
            std::memcpy(dst + l * 4, &v, 4);
          } else {
            std::uint8_t v[4] = {0, 0, 0, 0};
            for (std::int64_t i = 0; i < n; ++i) v[i] = from[i] ^ flip;
            std::memcpy(dst + l * 4, v, 4);
          }
        }
        if (b.channels < lanes) std::memset(dst + b.channels * 4, 0, static_cast<std::size_t>(lanes - b.channels) * 4);
        dst += lanes * 4;
      }
      if (!sums) continue;
      for (std::int64_t l = 0; l < b.channels; ++l) {
        const std::uint8_t* from = src + l * filter_bytes;
        std::int32_t sum = 0;
        if (wide && !is_signed) {
          for (std::int64_t c = 0; c < g.cg; ++c) sum += from[c];
        } else {
          for (std::int64_t c = 0; c < g.cg; ++c) sum += static_cast<std::int8_t>(from[c] ^ flip);
        }
        sums[t * padded_k_ + b.k + l] = sum;
      }
    }
  });
}

}  // namespace octavo::cpu_native
