// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the float paths share: fprop and dgrad as one problem (dgrad with stride s is s phases an axis, each of them a
// stride-1 correlation with its own taps), the packed filter, and the packed input strip.

#include <array>
#include <cstdint>
#include <vector>

#include "engines/cpu_native/epilogue.h"
#include "engines/cpu_native/gemm_f32.h"
#include "engines/cpu_native/geometry.h"
#include "octavo/engine.h"

namespace octavo::cpu_native {

/// Output points out_first + i * out_step of one axis: they read input points i * in_step + offset[t], tap t of the filter.
struct AxisPhase {
  std::int64_t outputs = 0;
  std::vector<std::int64_t> offset;  ///< ascending
  std::vector<std::int64_t> filter;  ///< index along the filter's axis in memory
};

struct FloatAxis {
  std::int64_t in = 1, out = 1;
  std::int64_t in_step = 1;
  std::vector<AxisPhase> phases;   ///< phase a has outputs a, a + phases.size(), ...
  std::int64_t low = 0, high = 0;  ///< smallest and largest offset over all phases
  bool compact = false;            ///< one tap and in_step > 1: only the points that are read enter the strip
  std::int64_t points = 0;         ///< largest phase's outputs
  std::int64_t steps() const { return static_cast<std::int64_t>(phases.size()); }
  std::int64_t strip_step() const { return compact ? 1 : in_step; }
  /// Strip points that `count` outputs need, and where tap offset o starts among them.
  std::int64_t extent(std::int64_t count) const { return compact ? count : (count - 1) * in_step + high - low + 1; }
  std::int64_t strip_offset(std::int64_t o) const { return compact ? 0 : o - low; }
  /// Input point behind strip point j of a block that starts at output i.
  std::int64_t input(std::int64_t i, std::int64_t j) const { return compact ? (i + j) * in_step + low : i * in_step + low + j; }
};

/// Three axes always (missing leading ones have size 1), so that 1-D, 2-D and 3-D are one code.
struct FloatGeometry {
  bool dgrad = false;
  std::int64_t n = 0, groups = 1, ic = 0, oc = 0;  ///< channels a group, in and out
  int spatial = 2;
  std::array<FloatAxis, 3> axis;
  TensorDesc in, filter;
  std::array<std::int64_t, 3> in_stride{};  ///< of the three axes
  std::array<std::int64_t, 3> filter_stride{};
  std::int64_t channel_offset(std::int64_t c) const { return c / in.vector * in.stride[1] + c % in.vector; }
  std::int64_t filter_offset(std::int64_t group, std::int64_t o, std::int64_t i) const;
  std::int64_t combos() const { return axis[0].steps() * axis[1].steps() * axis[2].steps(); }
  const AxisPhase& phase(int a, std::int64_t combo) const;
  std::int64_t taps(std::int64_t combo) const;
};

FloatGeometry float_geometry(const Problem& problem);

/// The same problem with the batch and the spatial axes merged as far as strides allow, when every filter axis is 1 with
/// stride 1 and no padding: then a 1x1 convolution is one GEMM with long rows.
Problem merge_pointwise(const Problem& problem);

/// A row of the list of things this engine's float paths cannot do; empty = none.
std::string float_objection(const Problem& problem, Direction a, Direction b);

/// Output channels of a group cut into blocks of whole vectors.
struct ChannelBlock {
  std::int64_t first = 0, count = 0;
  int vectors = 1, tail = 0;
  std::int64_t column = 0;  ///< padded channels before this block
};
std::vector<ChannelBlock> channel_blocks(std::int64_t channels, int lanes, int vectors);

/// Vectors a tile for rows of `row` points: fewest cycles by counting multiply-adds and loads.
int choose_vectors(const F32Kernels& kernels, std::int64_t channels, std::int64_t row);

/// Packs one filter tap: dst[i * dst_row + l] = w(o = first + l, i) for l < count, 0 up to width.
void pack_filter_tap(float* dst, std::int64_t dst_row, const void* tap, DataType_t type, std::int64_t o_stride,
                     const std::int64_t* i_offset, std::int64_t depth, std::int64_t count, std::int64_t width);

/// A box of the input, channels last, zeros outside the image.
struct StripBox {
  std::int64_t image = 0;
  std::array<std::int64_t, 3> output{}, count{};  ///< output points (indices within a phase) that will read it
  std::int64_t channel = 0, channels = 0;         ///< absolute
  std::int64_t pitch = 0, row = 0, plane = 0;     ///< floats from pixel to pixel, row to row, plane to plane
};
/// One row of it (strip plane jd, row jh) to `row`.
void pack_strip_row(const F32Kernels& kernels, const FloatGeometry& g, const void* in, const StripBox& box, std::int64_t jd,
                    std::int64_t jh, float* row);
/// Asks for what a box holds of some channels, in the order of memory: reading it in narrow blocks would defeat the
/// processor's own foresight.
void prefetch_box(const FloatGeometry& g, const void* in, const StripBox& box, std::int64_t channel, std::int64_t channels);
void pack_strip(const F32Kernels& kernels, const FloatGeometry& g, const void* in, const StripBox& box, float* dst);

/// Whether row `j` of axis `a` is read by any output of [0, count): dilation leaves rows out.
bool strip_row_needed(const FloatAxis& axis, std::int64_t j, std::int64_t count);

/// The three axes' coordinates as Rows has them. Plain stores: a block copy of what was just stored word by word would wait
/// until every store before it, a tile's results too, is in the cache.
inline void set_point(Rows& rows, int spatial, std::int64_t d, std::int64_t h, std::int64_t w) {
  switch (spatial) {
    case 1:
      rows.spatial[0] = w;
      return;
    case 2:
      rows.spatial[0] = h;
      rows.spatial[1] = w;
      return;
    default:
      rows.spatial[0] = d;
      rows.spatial[1] = h;
      rows.spatial[2] = w;
  }
}

/// Where f32 accumulators go. Casts to f32, bf16 and f16 with the channels in a run, the common case, are stored here; all
/// else is the tile epilogue's.
class FloatStore {
 public:
  error_t compile(const Problem& problem, const F32Kernels& kernels, CpuIsa isa);
  std::size_t workspace_bytes() const { return epilogue_.workspace_bytes(); }
  TileEpilogue::Bound bind(const Args& args, void* workspace) const { return epilogue_.bind(args, workspace); }
  void run(const TileEpilogue::Bound& bound, const Rows& rows, const float* acc, std::int64_t row_stride) const {
    if (!plain_) return epilogue_.run(bound, rows, acc, row_stride);
    kernels_->narrow_rows(address(*bound.args, rows), pixel_stride(), acc, row_stride, rows.count, rows.channels, out_.type);
  }
  /// The output is f32, so that tiles may be stored from registers.
  bool in_place() const { return plain_ && out_.type == DataType_t::FLOAT; }
  void* address(const Args& args, const Rows& rows) const;
  std::int64_t pixel_stride() const { return out_.stride[static_cast<std::size_t>(out_.rank - 1)]; }

 private:
  TileEpilogue epilogue_;
  const F32Kernels* kernels_ = nullptr;
  TensorDesc out_;
  bool plain_ = false;
};

}  // namespace octavo::cpu_native
