// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// wgrad of f32, bf16 and f16: outer products of dy's and x's channels, summed over the points of the output. The points are
// cut into splits that depend on the problem alone; each split sums into its own copy of dw, in order, and the copies are
// added in order: the same bits at any thread count.

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "engines/cpu_native/direct_float.h"
#include "engines/cpu_native/epilogue.h"

namespace octavo::cpu_native {

/// One operand's channels (or the run of a filter row's taps x channels) cut into blocks.
struct RunBlock {
  std::int64_t first = 0, count = 0;
  int vectors = 0, tail = 0;  ///< vector side only
};

struct WgradBlocking {
  bool x_vectors = true;  ///< dw rows are x's channels in vectors, dy's are broadcast; else the other way around
  int vectors = 1;
  bool merged = false;  ///< a filter row's taps x channels are one run of the strip
  bool x_direct = false, dy_direct = false;
  std::vector<RunBlock> x_blocks, dy_blocks;
  std::int64_t taps = 1;                           ///< after merging
  std::int64_t images = 1, rows = 1, columns = 1;  ///< output points of a chunk: images x rows x columns of one plane
  std::array<std::int64_t, 4> cuts{1, 1, 1, 1};    ///< chunks along images, planes, rows, columns
  std::int64_t chunks = 0;
  std::int64_t splits = 1, x_cuts = 1, dy_cuts = 1, x_per_cut = 1, dy_per_cut = 1;
  std::int64_t tasks = 0;
  std::int64_t x_pitch = 0, dy_pitch = 0;    ///< floats from point to point; 0 = the block's own width
  std::int64_t x_image = 0, dy_image = 0;    ///< strip points of an image
  std::int64_t x_points = 0, dy_points = 0;  ///< strip points of a chunk
  std::int64_t x_floats = 0, dy_floats = 0;
  double cost_us = 0;
};

WgradBlocking choose_wgrad(const FloatGeometry& g, const Problem& problem, const F32Kernels& kernels,
                           const DeviceTraits& device, bool x_vectors, int vectors, bool direct, bool may_merge = true);

/// dy as the input of a 1x1 convolution, for packing.
FloatGeometry dy_geometry(const Problem& problem, const FloatGeometry& g);

class WgradFloatPlan final : public Plan {
 public:
  WgradFloatPlan(const Problem& problem, const DeviceTraits& device, bool x_vectors, int vectors, bool direct,
                 bool may_merge = true);
  error_t prepare();

  std::size_t workspace_bytes() const override;
  error_t execute(const Args& args) const override;
  std::string describe() const override;

 private:
  struct Call;
  struct Chunk {
    std::int64_t image, images, plane, row, rows, column, columns;
  };
  Chunk chunk(std::int64_t index) const;
  struct Ahead;
  Ahead next_chunk(const Call& call, const Chunk& c, std::int64_t group) const;
  void run_task(const Call& call, std::int64_t task, int slot) const;
  void finish(const Call& call, std::int64_t item, int slot) const;
  std::int64_t finish_floats() const;  ///< scratch of finish(), a worker

  Problem problem_;
  DeviceTraits device_;
  const F32Kernels& kernels_;
  FloatGeometry g_, dy_;
  WgradBlocking b_;
  FloatStore epilogue_;
  struct Tap {
    std::int64_t point;                    ///< strip point, or element offset in place
    std::array<std::int64_t, 3> offset{};  ///< along the axes
  };
  std::vector<Tap> taps_;
  /// Padding in a merged run meets dy as 0 * dy, which is NaN where dy is not finite: then this plan, which leaves padding
  /// out, computes dw again.
  std::unique_ptr<WgradFloatPlan> careful_;
  std::int64_t dw_floats_ = 0, group_floats_ = 0;
  bool store_direct_ = false, ask_ahead_ = false;
  int slots_ = 1;
};

}  // namespace octavo::cpu_native
