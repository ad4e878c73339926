// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// One configuration of the engine: which kernel and its tile. Canonical text, e.g.
// "halo,m=4,n=128,wm=2,wn=2,g=2,st=5,res=1,b=1" or "igemm,m=128,n=128,k=64,wm=2,wn=2,st=4,b=2,split=1".

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "engines/cuda_mma/lowering.h"
#include "kernels/conv/halo_index.cuh"
#include "kernels/conv/igemm_index.cuh"
#include "octavo/device.h"
#include "octavo/engine.h"

namespace octavo::cuda::mma {

enum class Family : std::uint8_t { igemm, halo };

struct Config {
  Family family = Family::igemm;
  int m = 128;  ///< igemm: output pixels of a tile; halo: most m16 tiles of a warp
  int n = 128;  ///< output channels of a tile
  int k = 64;   ///< igemm: bytes of the reduction in a stage
  int warps_m = 2, warps_n = 2;
  int groups = 1;  ///< halo: independent groups of warps
  int stages = 4;
  int resident = 0;  ///< halo: the filter stays in shared memory
  int blocks = 1;    ///< blocks that share a multiprocessor
  int splits = 1;    ///< igemm: parts of the reduction

  auto operator<=>(const Config&) const = default;

  /// The one list of fields: printing, parsing and hashing go through it.
  template <class Self, class F>
  static void visit(Self& c, F&& field) {
    const bool halo = c.family == Family::halo;
    field("m", c.m);
    field("n", c.n);
    if (!halo) field("k", c.k);
    field("wm", c.warps_m);
    field("wn", c.warps_n);
    if (halo) field("g", c.groups);
    field("st", c.stages);
    if (halo) field("res", c.resident);
    field("b", c.blocks);
    if (!halo) field("split", c.splits);
  }

  std::string to_string() const;
  std::uint64_t hash() const;
};

Result<Config> parse_config(std::string_view text);

dev::IgemmConfig igemm_config(const Config& c, const Lowered& l);
/// `heights` as halo_heights gives them for this problem on this device.
dev::HaloConfig halo_config(const Config& c, const Lowered& l, const DeviceTraits& device);
/// Blocks that share the rows of one block of output channels.
std::int64_t halo_ranges(const Config& c, const Lowered& l, const DeviceTraits& device);

int threads_of(const Config& c);
std::int64_t shared_bytes(const Config& c, const Lowered& l);

/// Whether the kernel exists for this problem and device, and why not.
Verdict fits(const Config& c, const Lowered& l, const DeviceTraits& device);
/// All configurations worth compiling that fit.
std::vector<Config> enumerate(const Lowered& l, const DeviceTraits& device);

}  // namespace octavo::cuda::mma
