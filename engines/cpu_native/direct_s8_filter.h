// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The packed filter of the direct s8/u8 path: for each block of output channels [tap][step][lane][4 bytes].

#include <cstdint>
#include <vector>

#include "engines/cpu_native/direct_s8.h"
#include "engines/cpu_native/geometry.h"

namespace octavo::cpu_native {

struct FilterBlock {
  std::int64_t group = 0, k = 0;  ///< first output channel, counted over all groups
  std::int64_t channels = 0;      ///< real ones; the rest of the lanes are zero
  int vectors = 0;
  std::int64_t offset = 0;  ///< bytes
};

class PackedFilterShape {
 public:
  PackedFilterShape() = default;
  /// `steps`: of a tap, at least what the channels need; the rest is zeros. 0 = just that.
  PackedFilterShape(const Geometry& g, const DirectIsa& isa, std::int64_t steps = 0);

  std::int64_t bytes() const { return bytes_; }
  std::int64_t sums() const { return taps_ * padded_k_; }  ///< int32 per tap and channel
  std::int64_t steps() const { return steps_; }
  std::int64_t padded_k() const { return padded_k_; }
  const std::vector<FilterBlock>& blocks() const { return blocks_; }

  /// `krsc`: channels-last filter bytes. On the pool, up to `threads` of it. `sums` may be null.
  void pack(const Geometry& g, const DirectIsa& isa, const std::uint8_t* krsc, bool is_signed, std::byte* to,
            std::int32_t* sums, int threads) const;
  /// One block, to its own memory.
  void pack_block(const Geometry& g, const DirectIsa& isa, const FilterBlock& block, const std::uint8_t* krsc, bool is_signed,
                  std::uint8_t* to) const;

 private:
  std::vector<FilterBlock> blocks_;
  std::int64_t bytes_ = 0, taps_ = 0, steps_ = 0, padded_k_ = 0;
};

}  // namespace octavo::cpu_native
