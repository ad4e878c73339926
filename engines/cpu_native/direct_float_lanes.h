// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Depthwise and narrow groups: a vector of output channels spans several groups, so the input is laid out once as vectors
// too ("expanded": for each of a group's input channels, what every lane needs of it), and then read tap by tap.

#include <cstdint>
#include <string>
#include <vector>

#include "engines/cpu_native/direct_float.h"

namespace octavo::cpu_native {

/// One vector of output channels, all of them when fewer are left.
struct LaneBlock {
  std::int64_t first = 0, count = 0;        ///< output channels, of all groups
  std::int64_t in_first = 0, in_count = 0;  ///< the input channels that they read
  std::vector<std::int32_t> index;          ///< [ic][lanes], relative to in_first
};
std::vector<LaneBlock> lane_blocks(const FloatGeometry& g, int lanes);

/// Is a lane's input simply its own channel?
inline bool plain_lanes(const FloatGeometry& g) { return g.ic == 1 && g.oc == 1; }

/// Worth it: several groups share a vector.
std::string lanes_objection(const FloatGeometry& g);

/// Packs a box for one block or two and expands it: a strip point (box.pitch) is 2 * ic * lanes floats. `plain` holds a row of
/// all the channels they read, and kMaxLanes floats more.
void pack_lanes(const F32Kernels& kernels, const FloatGeometry& g, const void* in, const LaneBlock* begin, const LaneBlock* end,
                StripBox box, float* plain, float* dst);

}  // namespace octavo::cpu_native
