// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// How the direct float path cuts a problem: into blocks of input that fit the second-level cache, and blocks of filter.

#include <memory>
#include <string>
#include <vector>

#include "engines/cpu_native/direct_float.h"
#include "engines/cpu_native/epilogue.h"

namespace octavo::cpu_native {

struct FloatBlocking {
  int vectors = 1;
  std::vector<ChannelBlock> blocks;
  std::int64_t columns = 0;  ///< padded channels of all blocks
  bool direct = false;       ///< the input is read where it is
  std::int64_t chunk = 0;    ///< input channels summed at a time; the rest is added in later rounds, in order
  std::int64_t images = 1;   ///< of a task; more than one only when the points are whole images
  std::array<std::int64_t, 3> points{1, 1, 1};  ///< of a task, an axis, in units of one phase
  std::array<std::int64_t, 3> cuts{1, 1, 1};
  std::int64_t image_cuts = 1, channel_cuts = 1, blocks_per_cut = 1;
  std::int64_t task_groups = 1, group_cuts = 1;  ///< groups of a task: what they read is packed together
  bool ask_ahead = false;                      ///< the filter does not fit the second level: the next block is asked for early
  std::int64_t pitch = 0, row = 0, plane = 0;  ///< of the strip, in floats
  bool merged = false;                         ///< the taps of a filter row are one run in the strip
  std::int64_t strip_floats = 0, acc_floats = 0;
  std::int64_t tasks = 0;
  double cost_us = 0;

  std::int64_t rounds(std::int64_t ic) const { return ic == 0 ? 1 : ceil_div(ic, chunk); }
};

FloatBlocking choose_blocking(const FloatGeometry& g, const F32Kernels& kernels, const DeviceTraits& device, int vectors);

class DirectFloatPlan final : public Plan {
 public:
  DirectFloatPlan(const Problem& problem, const DeviceTraits& device, int vectors);
  error_t prepare(const BuildOptions& options);

  std::size_t workspace_bytes() const override;
  error_t execute(const Args& args) const override;
  std::string describe() const override;

 private:
  struct Call {
    const Args* args = nullptr;
    const void* in = nullptr;
    const float* filter = nullptr;
    bool finite = true;  ///< the filter is
    TileEpilogue::Bound bound;
    float* scratch = nullptr;  ///< per slot: strip, accumulators, taps
    std::int64_t scratch_floats = 0;
  };
  /// Columns of a row that see the same taps of each filter row: those from w_begin on, up to w_end, lie inside the image.
  struct Segment {
    std::int64_t begin = 0, end = 0;
    std::size_t w_begin = 0, w_end = 0;
  };
  struct Combo {
    std::vector<FilterTap> taps;    ///< all of them, from a row's first pixel
    std::vector<Segment> segments;  ///< empty: padding is read like the rest
    std::int64_t depth_per_channel = 1;
    std::int64_t filter = 0;  ///< floats before this combo's packed filter
    std::int64_t filter_taps = 0;
  };
  /// False: some weight is infinite or NaN.
  bool pack_filter(const void* w, float* packed) const;
  bool pack_filter_item(const void* w, float* packed, std::int64_t item) const;
  void plan_segments(Combo& combo, std::int64_t c) const;
  void run_task(const Call& call, std::int64_t task, int slot) const;
  struct Work;
  /// One output row, from column `first` on (in points of a phase), one block of channels.
  void run_row(const Work& work, std::int64_t image, std::int64_t od, std::int64_t oh, std::int64_t first, std::int64_t count,
               std::int64_t acc_row, std::int64_t group, const ChannelBlock& block) const;
  /// One phase of it.
  void run_phase(const Work& work, TapsArgs& t, std::int64_t combo, int vectors, std::int64_t di, std::int64_t hi,
                 const float* a, std::int64_t pixel, float* c, std::int64_t stride, std::int64_t columns) const;
  /// Points of one row: `t` without a and c, the row's first pixel, pixels `pixel` floats apart, results `stride` apart.
  void run_columns(const Work& work, TapsArgs& t, int vectors, const float* a, std::int64_t pixel, float* c,
                   std::int64_t stride, std::int64_t columns) const;
  void run_carefully(const Work& work, TapsArgs& t, int vectors, std::int64_t combo, std::int64_t di, std::int64_t hi,
                     std::int64_t wi, std::int64_t depth, const float* a, std::int64_t pixel, float* c, std::int64_t stride,
                     std::int64_t columns) const;

  Problem problem_;
  DeviceTraits device_;
  const F32Kernels& kernels_;
  FloatGeometry g_;
  FloatBlocking b_;
  FloatStore epilogue_;
  std::vector<Combo> combos_;
  std::int64_t filter_floats_ = 0, tap_bytes_ = 64;
  std::unique_ptr<float[]> constant_storage_;
  const float* constant_filter_ = nullptr;
  bool constant_finite_ = true;
  bool store_direct_ = false;  ///< tiles go from registers to the output
  int slots_ = 1;
};

}  // namespace octavo::cpu_native
