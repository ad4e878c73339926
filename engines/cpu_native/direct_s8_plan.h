// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The plan of the direct s8/u8 paths: the input rows of a block of output rows are encoded once into a per-thread buffer (any
// layout in, padding filled in), every tap is a shifted read of it, and the epilogue runs on the tile. The AMX path derives
// from it and brings its own inner loop.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <vector>

#include "core/parallel.h"
#include "engines/cpu_native/direct_s8.h"
#include "engines/cpu_native/direct_s8_filter.h"
#include "engines/cpu_native/epilogue.h"
#include "engines/cpu_native/geometry.h"
#include "engines/cpu_native/pack.h"
#include "engines/cpu_native/pointwise_view.h"
#include "engines/cpu_native/stream.h"

namespace octavo::cpu_native {

/// How the output is cut: a block is some output rows of one plane, all or part of their width, all or part of K.
struct Blocking {
  std::int64_t rows = 1, columns = 1, k_parts = 1;
  std::int64_t row_blocks = 1, column_blocks = 1;
  std::int64_t in_rows = 1, in_columns = 1;  ///< input window of a block
};

class DirectPlan : public Plan {
 public:
  /// `work_us`: of one core, as the cost model sees it.
  DirectPlan(const Problem& problem, const DirectIsa& isa, const DeviceTraits& device, double work_us)
      : p_(pointwise_view(problem)), g_(p_), isa_(isa), device_(device), work_us_(work_us) {}

  error_t init(const BuildOptions& options) {
    OCTAVO_RETURN_IF_ERROR(epilogue_.compile(p_, device_.isa));
    choose_window();
    shape_ = PackedFilterShape(fg_, isa_, padded_steps(ceil_div(fg_.cg, isa_.channels_per_step)));
    pixel_bytes_ = g_.groups * group_bytes();
    slots_ = threads_for(work_us_ + epilogue_.interpreted_us());
    const bool wide = isa_.encoding == Encoding::s16;
    x_signed_ = p_.x.type == DataType_t::INT8;
    w_signed_ = p_.w.type == DataType_t::INT8;
    x_flip_ = isa_.encoding == Encoding::u8   ? (x_signed_ ? 0x80 : 0)
              : isa_.encoding == Encoding::s8 ? (x_signed_ ? 0 : 0x80)
                                              : 0;
    const std::int32_t shift = isa_.encoding == Encoding::u8 ? (x_signed_ ? 128 : 0) : (x_signed_ ? 0 : -128);
    x_zero_ = wide ? 0 : p_.zero_points.x + shift;
    w_shift_ = wide || w_signed_ ? 0 : -128;
    const bool scalar = p_.zero_points.filter == ZeroPoints::Filter::scalar;
    filter_zero_ = p_.zero_points.filter == ZeroPoints::Filter::per_channel || w_shift_ + (scalar ? p_.zero_points.w : 0) != 0;
    choose_blocking();
    if (options.constant_filter) {
      filter_ = AlignedBytes(static_cast<std::size_t>(shape_.bytes()) + 256);
      sums_.resize(static_cast<std::size_t>(shape_.sums()));
      AlignedBytes plain;
      const auto* krsc = static_cast<const std::uint8_t*>(options.constant_filter);
      if (!is_channels_last(p_.w)) {
        plain = AlignedBytes(channels_last_bytes(p_.w, g_.cg));
        to_channels_last(p_.w, krsc, plain.get(), g_.cg);
        krsc = reinterpret_cast<const std::uint8_t*>(plain.get());
      }
      shape_.pack(fg_, isa_, krsc, w_signed_, filter_.get(), x_zero_ ? sums_.data() : nullptr, num_threads());
    }
    affine_ = isa_.affine[1][1] && epilogue_.is_affine() && !filter_zero_ && p_.epilogue.outputs[0].desc.vector == 1;
    fixed_taps_ = im2col_ || g_.taps() == 1;
    for (std::size_t axis = 0; axis < kMaxSpatial; ++axis) {
      const bool inside = g_.pad[axis] == 0 && (g_.out[axis] - 1) * g_.stride[axis] < g_.in[axis];
      fixed_taps_ = fixed_taps_ && (im2col_ || inside);
    }
    for (std::size_t axis = 0; axis < kMaxSpatial && !fixed_taps_; ++axis) {
      for (std::int64_t o = 0; o < g_.out[axis]; ++o) live_[axis].push_back(live_taps_at(axis, o));
    }
    choose_traffic();
    Carver carver;
    carve(carver);
    workspace_ = carver.used() + 64;
    return {};
  }

  std::size_t workspace_bytes() const override { return workspace_; }

  std::string describe() const override {
    return std::string("direct ") + (im2col_ ? "GEMM on gathered windows, " : "implicit GEMM, ") + to_string(isa_.isa) +
           ", blocks of " + std::to_string(block_.rows) + " x " + std::to_string(block_.columns) + " points" +
           (stream_ ? ", streamed" : "");
  }

  error_t execute(const Args& args) const override {
    if (p_.result().elements() == 0) return {};
    Carver carver(align64(args.workspace));
    const Areas a = carve(carver);
    const std::byte* filter = filter_.get();
    const std::int32_t* sums = sums_.data();
    if (!filter_) {
      const auto* krsc = static_cast<const std::uint8_t*>(args.w);
      if (a.plain) {
        to_channels_last(p_.w, krsc, a.plain, g_.cg);
        krsc = a.plain;
      }
      shape_.pack(fg_, isa_, krsc, w_signed_, a.filter, x_zero_ ? a.sums : nullptr, slots_);
      filter = a.filter;
      sums = a.sums;
    }
    if (filter_zero_) {
      for (std::int64_t k = 0; k < g_.k; ++k) {
        a.w_zero[k] = w_shift_ + (p_.zero_points.filter == ZeroPoints::Filter::per_channel ? args.w_zero_points[k]
                                  : p_.zero_points.filter == ZeroPoints::Filter::scalar    ? p_.zero_points.w
                                                                                           : 0);
      }
      // A block of one vector with every weight 1: what it sums is sum x'.
      if (isa_.encoding == Encoding::s16) {
        std::fill_n(reinterpret_cast<std::int16_t*>(a.ones), shape_.steps() * merged_taps() * isa_.lanes * 2, std::int16_t{1});
      } else {
        std::memset(a.ones, 1, static_cast<std::size_t>(shape_.steps() * merged_taps() * isa_.lanes * 4));
      }
    }
    const TileEpilogue::Bound bound = epilogue_.bind(args, a.params);
    const std::int64_t blocks = g_.n * g_.out[0] * block_.row_blocks * block_.column_blocks * block_.k_parts;
    std::atomic<std::int64_t> next{0};
    const std::int64_t workers = std::min<std::int64_t>(slots_, blocks);
    parallel_for(workers, [&](std::int64_t slot, int) {
      Scratch s = scratch(a, slot);
      if (!bound.tame) s.stage = nullptr;  // this call's scales rule the affine form out
      enter();
      const auto take = [&] { return next.fetch_add(1, std::memory_order_relaxed); };
      for (std::int64_t i = take(), after = 0; i < blocks; i = after) {
        after = take();
        s.ahead = after < blocks ? block_ahead(args, decode(after)) : InputAhead{};
        run_block(args, bound, filter, sums, a, s, i);
      }
      s.behind.finish();
      if (s.stage) stream_fence();
      leave();
    });
    return {};
  }

 protected:
  struct Range {
    std::int64_t from = 0, to = 0;
    bool operator==(const Range&) const = default;
  };
  struct Areas {
    std::byte* params = nullptr;
    std::uint8_t* plain = nullptr;
    std::byte* filter = nullptr;
    std::int32_t* sums = nullptr;
    std::int32_t* w_zero = nullptr;
    std::uint8_t* ones = nullptr;
    std::byte* slots = nullptr;
  };
  struct Scratch {
    std::byte *stage = nullptr, *other_stage = nullptr;  ///< a block's output on its way past the caches: [point][K]
    InputAhead ahead;
    OutputBehind behind;
    std::uint8_t* x = nullptr;
    std::uint8_t* lines = nullptr;
    std::int32_t* acc = nullptr;
    std::int32_t* init = nullptr;
    std::int32_t* x_sums = nullptr;
    std::int32_t* pixel = nullptr;
    DirectRun* runs = nullptr;
    TileEpilogue::AffineBlock* affine = nullptr;
    std::int64_t pixel_columns = -1;  ///< the block width that `pixel` is made for
  };

  std::int64_t group_bytes() const { return shape_.steps() * 4; }
  /// Taps along w that one run covers.
  std::int64_t merged_taps() const { return merge_taps_ ? fg_.filter[2] : 1; }
  std::int64_t encoded_bytes() const { return isa_.encoding == Encoding::s16 ? 2 : 1; }

  /// Shifted reads of one encoded window, or every point's window gathered (few channels, sparse windows)?
  void choose_window();

  void choose_blocking();

  /// Outputs that are streamed, and inputs that are worth asking for early: layers whose time is memory's.
  void choose_traffic();
  std::int64_t tile_points() const { return block_.rows * block_.columns; }
  std::int64_t scratch_bytes() const {
    // Whole AMX tiles may be read past the last point.
    const std::int64_t slack = isa_.isa == CpuIsa::amx ? 32 * g_.stride[2] * pixel_bytes_ + 64 : 64;
    if (im2col_) return tile_points() * pixel_bytes_ + slack;
    return g_.filter[0] * block_.in_rows * block_.in_columns * pixel_bytes_ + slack;
  }

  Areas carve(Carver& c) const {
    Areas a;
    a.params = c.take<std::byte>(static_cast<std::int64_t>(epilogue_.workspace_bytes()));
    if (!filter_) {
      if (!is_channels_last(p_.w)) a.plain = c.take<std::uint8_t>(static_cast<std::int64_t>(channels_last_bytes(p_.w, g_.cg)));
      a.filter = c.take<std::byte>(shape_.bytes() + 256);
      a.sums = c.take<std::int32_t>(shape_.sums());
    }
    if (filter_zero_) {
      a.w_zero = c.take<std::int32_t>(shape_.padded_k());
      a.ones = c.take<std::uint8_t>(shape_.steps() * merged_taps() * isa_.lanes * 4);
    }
    a.slots = c.take<std::byte>(slot_bytes() * slots_);
    return a;
  }

  Scratch carve_slot(Carver& c) const {
    Scratch s;
    s.x = c.take<std::uint8_t>(scratch_bytes());
    if (stream_) s.stage = c.take<std::byte>(tile_points() * g_.k + 64);
    if (stream_) s.other_stage = c.take<std::byte>(tile_points() * g_.k + 64);
    if (stretches()) s.lines = c.take<std::uint8_t>(window_rows_ * stretch_row_bytes() + 64);
    s.acc = c.take<std::int32_t>(kChunkPoints * kMaxLanes + 2 * kAccumulatorPad);
    s.init = c.take<std::int32_t>(kMaxLanes);
    s.x_sums = filter_zero_ ? c.take<std::int32_t>(tile_points()) : nullptr;
    s.pixel = c.take<std::int32_t>(tile_points());
    s.runs = c.take<DirectRun>(g_.taps() + 1);
    s.affine = c.take<TileEpilogue::AffineBlock>(1);
    return s;
  }
  std::int64_t slot_bytes() const {
    Carver c;
    carve_slot(c);
    return static_cast<std::int64_t>(c.used());
  }
  Scratch scratch(const Areas& a, std::int64_t slot) const {
    Carver c(a.slots + slot * slot_bytes());
    return carve_slot(c);
  }

  struct Block {
    std::int64_t n, d, p0, p1, q0, q1, k_begin, k_end;  // k: indices of filter blocks
  };
  Block decode(std::int64_t i) const {
    Block b{};
    const std::int64_t part = i % block_.k_parts;
    i /= block_.k_parts;
    const std::int64_t cb = i % block_.column_blocks;
    i /= block_.column_blocks;
    const std::int64_t rb = i % block_.row_blocks;
    i /= block_.row_blocks;
    b.d = i % g_.out[0];
    b.n = i / g_.out[0];
    b.p0 = rb * block_.rows;
    b.p1 = std::min(g_.out[1], b.p0 + block_.rows);
    b.q0 = cb * block_.columns;
    b.q1 = std::min(g_.out[2], b.q0 + block_.columns);
    const auto k = static_cast<std::int64_t>(shape_.blocks().size());
    b.k_begin = k * part / block_.k_parts;
    b.k_end = k * (part + 1) / block_.k_parts;
    return b;
  }

  InputAhead block_ahead(const Args& args, const Block& b) const {
    InputAhead a;
    if (!fetch_ahead_) return a;
    const Triple xs = spatial_strides(p_.x);
    a.at = static_cast<const std::uint8_t*>(args.x) + b.n * p_.x.stride[0] + b.d * g_.stride[0] * xs[0] +
           b.p0 * g_.stride[1] * xs[1] + b.q0 * xs[2];
    a.end = a.at + (b.q1 - b.q0) * g_.c;
    a.share = share_of(a.end - a.at);
    return a;
  }
  /// Of what goes on beside a block: as much for each call of a kernel.
  std::int64_t share_of(std::int64_t bytes) const {
    std::int64_t calls = 0;
    for (const FilterBlock& fb : shape_.blocks()) calls += ceil_div(tile_points(), points_of_call(fb));
    return round_up(ceil_div(bytes, calls), 64);
  }

  /// Gathered windows whose taps along w lie side by side: encode the rows once, then copy a stretch a point and filter row.
  bool stretches() const {
    // Every depth of the output reads a depth of the image: no plane of padding.
    const bool planes = g_.filter[0] == 1 && g_.pad[0] == 0 && (g_.out[0] - 1) * g_.stride[0] < g_.in[0];
    return im2col_ && g_.groups == 1 && g_.dilation[2] == 1 && !g_.flip && planes;
  }
  std::int64_t stretch_row_bytes() const { return (block_.in_columns * g_.cg + 64) * encoded_bytes(); }

  void gather_stretches(const Args& args, const Block& b, std::uint8_t* lines, std::uint8_t* to) const {
    const Triple xs = spatial_strides(p_.x);
    const auto* x = static_cast<const std::uint8_t*>(args.x) + b.n * p_.x.stride[0] + b.d * g_.stride[0] * xs[0];
    const std::int64_t h0 = b.p0 * g_.stride[1] - g_.pad[1], w0 = b.q0 * g_.stride[2] - g_.pad[2];
    const std::int64_t rows = (b.p1 - b.p0 - 1) * g_.stride[1] + (g_.filter[1] - 1) * g_.dilation[1] + 1;
    const std::int64_t columns = (b.q1 - b.q0 - 1) * g_.stride[2] + g_.filter[2];
    const std::int64_t left = std::clamp<std::int64_t>(-w0, 0, columns),
                       right = std::clamp<std::int64_t>(g_.in[2] - w0, left, columns);
    const std::int64_t pixel = g_.cg * encoded_bytes();
    const int padding = isa_.encoding == Encoding::s16 ? 0 : static_cast<std::uint8_t>(x_zero_);
    RowPack pack = row_pack();
    pack.group_bytes = pixel;
    pack.pixel_stride = xs[2];
    pack.pixels = right - left;
    for (std::int64_t r = 0; r < rows; ++r) {
      std::uint8_t* line = lines + r * stretch_row_bytes();
      const std::int64_t h = h0 + r;
      if (h < 0 || h >= g_.in[1] || right == left) {
        std::memset(line, padding, static_cast<std::size_t>(columns * pixel));
        continue;
      }
      std::memset(line, padding, static_cast<std::size_t>(left * pixel));
      pack.from = x + h * xs[1] + (w0 + left) * xs[2];
      pack.to = line + left * pixel;
      isa_.pack(pack);
      std::memset(line + right * pixel, padding, static_cast<std::size_t>((columns - right) * pixel));
    }
    // Whole 16-byte pieces: what goes past a stretch is overwritten by the next one, or meets zero weights.
    const std::int64_t stretch = g_.filter[2] * pixel, width = b.q1 - b.q0;
    const std::int64_t used = fg_.cg * encoded_bytes();
    for (std::int64_t p = b.p0; p < b.p1; ++p) {
      const std::uint8_t* line = lines + (p - b.p0) * g_.stride[1] * stretch_row_bytes();
      for (std::int64_t q = 0; q < width; ++q, line += g_.stride[2] * pixel, to += group_bytes()) {
        for (std::int64_t r = 0; r < g_.filter[1]; ++r) {
          const std::uint8_t* from = line + r * g_.dilation[1] * stretch_row_bytes();
          for (std::int64_t i = 0; i < stretch; i += 16) std::memcpy(to + r * stretch + i, from + i, 16);
        }
        if (filter_zero_) std::memset(to + used, 0, static_cast<std::size_t>(group_bytes() - used));
      }
    }
  }

  /// Every point's window, gathered tap by tap: [point][group][tap][channel].
  void gather_windows(const Args& args, const Block& b, std::uint8_t* to) const {
    const Triple xs = spatial_strides(p_.x);
    const auto* x = static_cast<const std::uint8_t*>(args.x) + b.n * p_.x.stride[0];
    const std::int64_t columns = b.q1 - b.q0;
    RowPack pack = row_pack();
    pack.pixel_stride = xs[2] * g_.stride[2];
    std::int64_t tap = 0;
    for (std::int64_t t = 0; t < g_.filter[0]; ++t) {
      const std::int64_t d = b.d * g_.stride[0] - g_.pad[0] + t * g_.dilation[0];
      for (std::int64_t r = 0; r < g_.filter[1]; ++r) {
        for (std::int64_t s = 0; s < g_.filter[2]; ++s, ++tap) {
          // Columns [left, right) of the block read inside the image.
          const std::int64_t shift = g_.pad[2] - s * g_.dilation[2];
          const std::int64_t first = shift <= 0 ? 0 : ceil_div(shift, g_.stride[2]);
          const std::int64_t top = g_.in[2] - 1 + shift;
          const std::int64_t end = top < 0 ? 0 : top / g_.stride[2] + 1;
          const std::int64_t left = std::clamp(first, b.q0, b.q1), right = std::clamp(end, left, b.q1);
          std::uint8_t* column = to + g_.filter_tap(tap) * g_.cg * encoded_bytes();
          for (std::int64_t p = b.p0; p < b.p1; ++p) {
            std::uint8_t* row = column + (p - b.p0) * columns * pixel_bytes_;
            const std::int64_t h = p * g_.stride[1] - g_.pad[1] + r * g_.dilation[1];
            if (d < 0 || d >= g_.in[0] || h < 0 || h >= g_.in[1]) {
              fill_gathered(row, columns);
              continue;
            }
            fill_gathered(row, left - b.q0);
            if (right > left) {
              pack.pixels = right - left;
              pack.from = x + d * xs[0] + h * xs[1] + (left * g_.stride[2] - shift) * xs[2];
              pack.to = row + (left - b.q0) * pixel_bytes_;
              isa_.pack(pack);
            }
            fill_gathered(row + (right - b.q0) * pixel_bytes_, b.q1 - right);
          }
        }
      }
    }
    const std::int64_t used = fg_.cg * encoded_bytes();
    if (used == group_bytes()) return;
    for (std::int64_t i = 0; i < (b.p1 - b.p0) * columns * g_.groups; ++i) {
      std::memset(to + i * group_bytes() + used, 0, static_cast<std::size_t>(group_bytes() - used));
    }
  }

  void fill_gathered(std::uint8_t* to, std::int64_t pixels) const {
    const int value = isa_.encoding == Encoding::s16 ? 0 : static_cast<std::uint8_t>(x_zero_);
    for (std::int64_t i = 0; i < pixels * g_.groups; ++i) {
      std::memset(to + i * group_bytes(), value, static_cast<std::size_t>(g_.cg * encoded_bytes()));
    }
  }

  RowPack row_pack() const {
    RowPack pack{};
    pack.channel_stride = p_.x.stride[1];
    pack.vector = p_.x.vector;
    pack.groups = g_.groups;
    pack.channels = g_.cg;
    pack.group_bytes = group_bytes();
    pack.pad_channels = !im2col_;
    pack.is_signed = x_signed_;
    pack.flip = x_flip_;
    pack.zero_point = p_.zero_points.x;
    return pack;
  }

  /// Encodes the block's input window, padding included, into scratch.
  void pack_input(const Args& args, const Block& b, std::uint8_t* to) const {
    const Triple xs = spatial_strides(p_.x);
    const auto* x = static_cast<const std::uint8_t*>(args.x) + b.n * p_.x.stride[0];
    const std::int64_t h0 = b.p0 * g_.stride[1] - g_.pad[1], w0 = b.q0 * g_.stride[2] - g_.pad[2];
    const std::int64_t rows =
        tap_rows_ ? block_.in_rows : (b.p1 - b.p0 - 1) * g_.stride[1] + (g_.filter[1] - 1) * g_.dilation[1] + 1;
    const std::int64_t columns = (b.q1 - b.q0 - 1) * g_.stride[2] + (g_.filter[2] - 1) * g_.dilation[2] + 1;
    const std::int64_t left = std::clamp<std::int64_t>(-w0, 0, columns),
                       right = std::clamp<std::int64_t>(g_.in[2] - w0, left, columns);
    RowPack pack = row_pack();
    pack.pixel_stride = xs[2];
    pack.pixels = right - left;
    for (std::int64_t t = 0; t < g_.filter[0]; ++t) {
      const std::int64_t d = b.d * g_.stride[0] - g_.pad[0] + t * g_.dilation[0];
      if (d < 0 || d >= g_.in[0]) continue;  // the tap is left out
      for (std::int64_t r = 0; r < rows; ++r) {
        std::uint8_t* row = to + (t * block_.in_rows + r) * block_.in_columns * pixel_bytes_;
        // Far apart, only the rows that some tap reads are there: slot tap * rows + output row.
        const std::int64_t h = tap_rows_ ? h0 + r / block_.rows * g_.dilation[1] + r % block_.rows * g_.stride[1] : h0 + r;
        if (h < 0 || h >= g_.in[1]) {
          fill_padding(row, columns);
          continue;
        }
        fill_padding(row, left);
        if (right > left) {
          pack.from = x + d * xs[0] + h * xs[1] + (w0 + left) * xs[2];
          pack.to = row + left * pixel_bytes_;
          isa_.pack(pack);
        }
        fill_padding(row + right * pixel_bytes_, columns - right);
      }
    }
  }

  /// Padding is the zero point in real channels. In pad channels any value does (weights are 0 there) unless sums are taken.
  void fill_padding(std::uint8_t* to, std::int64_t pixels) const {
    if (pixels <= 0) return;
    std::memset(to, isa_.encoding == Encoding::s16 ? 0 : static_cast<std::uint8_t>(x_zero_),
                static_cast<std::size_t>(pixels * pixel_bytes_));
    if (!filter_zero_ || isa_.encoding == Encoding::s16 || group_bytes() == g_.cg) return;
    for (std::int64_t i = 0; i < pixels * g_.groups; ++i)
      std::memset(to + i * group_bytes() + g_.cg, 0, static_cast<std::size_t>(group_bytes() - g_.cg));
  }

  /// Taps along `axis` that read inside the image for output coordinate o; {size, 0} when none does.
  Range live_taps_at(std::size_t axis, std::int64_t o) const {
    Range r{g_.filter[axis], 0};
    for (std::int64_t t = 0; t < g_.filter[axis]; ++t) {
      const std::int64_t x = o * g_.stride[axis] - g_.pad[axis] + t * g_.dilation[axis];
      if (x < 0 || x >= g_.in[axis]) continue;
      r.from = std::min(r.from, t);
      r.to = t + 1;
    }
    return r;
  }
  /// The same for any output coordinate in [a, b].
  Range live_taps(std::size_t axis, std::int64_t a, std::int64_t b) const {
    Range all{g_.filter[axis], 0};
    for (std::int64_t o = a; o <= b; ++o) {
      const Range& r = live_[axis][static_cast<std::size_t>(o)];
      all.from = std::min(all.from, r.from);
      all.to = std::max(all.to, r.to);
    }
    return all.from < all.to ? all : Range{};
  }

  struct Taps {
    Range d, r, s;
    bool operator==(const Taps&) const = default;
    std::int64_t count() const { return (d.to - d.from) * (r.to - r.from) * (s.to - s.from); }
  };

  int list_runs(const Taps& taps, const FilterBlock& fb, DirectRun* runs) const {
    if (im2col_) {
      runs[0].x = static_cast<std::int32_t>(fb.group * group_bytes());
      runs[0].w = 0;
      return 1;
    }
    const std::int64_t tap_bytes = shape_.steps() * fb.vectors * isa_.lanes * 4;
    int n = 0;
    for (std::int64_t d = taps.d.from; d < taps.d.to; ++d) {
      for (std::int64_t r = taps.r.from; r < taps.r.to; ++r) {
        const std::int64_t row = (d * block_.in_rows + r * (tap_rows_ ? block_.rows : g_.dilation[1])) * block_.in_columns;
        const std::int64_t tap = (d * g_.filter[1] + r) * g_.filter[2];
        const std::int64_t step = merge_taps_ ? g_.filter[2] : 1;
        for (std::int64_t s = taps.s.from; s < taps.s.to; s += step) {
          runs[n].x = static_cast<std::int32_t>((row + s * g_.dilation[2]) * pixel_bytes_ + fb.group * group_bytes());
          runs[n].w = (tap + s) * tap_bytes;
          ++n;
        }
      }
    }
    return n;
  }

  /// Starting accumulators: - X0 sum w' over the taps in use, + count X0 W0 over those that sum_inputs() sums.
  void starting_values(const Taps& taps, const Taps& summed, const FilterBlock& fb, const std::int32_t* sums,
                       const std::int32_t* w_zero, std::int32_t* init) const {
    const int lanes = fb.vectors * isa_.lanes;
    std::uint32_t* out = reinterpret_cast<std::uint32_t*>(init);
    std::fill_n(out, lanes, 0u);
    if (x_zero_ == 0) return;
    const auto x0 = static_cast<std::uint32_t>(x_zero_);
    for (std::int64_t d = taps.d.from; d < taps.d.to; ++d) {
      for (std::int64_t r = taps.r.from; r < taps.r.to; ++r) {
        for (std::int64_t s = taps.s.from; s < taps.s.to; ++s) {
          const std::int32_t* v = sums + ((d * fg_.filter[1] + r) * fg_.filter[2] + s) * shape_.padded_k() + fb.k;
          for (std::int64_t l = 0; l < fb.channels; ++l) out[l] -= x0 * static_cast<std::uint32_t>(v[l]);
        }
      }
    }
    if (!filter_zero_) return;
    const auto count = static_cast<std::uint32_t>(summed.count() * fg_.cg);
    for (std::int64_t l = 0; l < fb.channels; ++l) out[l] += count * x0 * static_cast<std::uint32_t>(w_zero[fb.k + l]);
  }

  Taps all_taps(const Block& b) const {
    if (fixed_taps_) return {{0, 1}, {0, 1}, {0, 1}};
    return {live_taps(0, b.d, b.d), {0, g_.filter[1]}, {0, g_.filter[2]}};
  }

  /// The taps that the points [i, i + n) of a block need: those that are padding for all of them are left out, which is right
  /// because padding is X0 and starting_values() knows the taps in use.
  Taps taps_of(const Block& b, std::int64_t i, std::int64_t n) const {
    if (fixed_taps_) return all_taps(b);
    const std::int64_t columns = b.q1 - b.q0;
    const std::int64_t pa = b.p0 + i / columns, pb = b.p0 + (i + n - 1) / columns;
    Taps t;
    t.d = live_taps(0, b.d, b.d);
    t.r = live_taps(1, pa, pb);
    t.s = {0, g_.filter[2]};
    if (!merge_taps_)
      t.s = pa == pb ? live_taps(2, b.q0 + i % columns, b.q0 + (i + n - 1) % columns) : live_taps(2, b.q0, b.q1 - 1);
    return t;
  }

  /// The block's input into scratch, and where its points are there.
  void encode_block(const Args& args, const Block& b, Scratch& s) const {
    if (im2col_) {
      if (stretches()) {
        gather_stretches(args, b, s.lines, s.x);
      } else {
        gather_windows(args, b, s.x);
      }
    } else {
      pack_input(args, b, s.x);
    }
    const std::int64_t columns = b.q1 - b.q0;
    if (s.pixel_columns != columns) {
      s.pixel_columns = columns;
      for (std::int64_t i = 0; i < tile_points(); ++i) {
        const std::int64_t down = tap_rows_ ? 1 : g_.stride[1];
        const std::int64_t at = im2col_ ? i : i / columns * down * block_.in_columns + i % columns * g_.stride[2];
        s.pixel[i] = static_cast<std::int32_t>(at * pixel_bytes_);
      }
    }
  }

  /// Four-byte steps of a pixel and group, of which at least `steps` are needed; the rest is zeros.
  virtual std::int64_t padded_steps(std::int64_t steps) const { return steps; }
  virtual std::int64_t points_of_call(const FilterBlock& fb) const { return isa_.tile_pixels[fb.vectors]; }
  /// Around all blocks of one worker.
  virtual void enter() const {}
  virtual void leave() const {}

  virtual void run_block(const Args& args, const TileEpilogue::Bound& bound, const std::byte* filter, const std::int32_t* sums,
                         const Areas& a, Scratch& s, std::int64_t index) const {
    const Block b = decode(index);
    encode_block(args, b, s);
    const std::int64_t points = (b.p1 - b.p0) * (b.q1 - b.q0);
    std::int64_t summed_group = -1;
    for (std::int64_t kb = b.k_begin; kb < b.k_end; ++kb) {
      const FilterBlock& fb = shape_.blocks()[static_cast<std::size_t>(kb)];
      if (filter_zero_ && fb.group != summed_group) {
        sum_inputs(b, fb, a, s, points);
        summed_group = fb.group;
      }
      const int max_pixels = isa_.tile_pixels[fb.vectors];
      const std::int64_t tiles = ceil_div(points, max_pixels);
      Taps last{};
      bool first = true;
      DirectTile t{};
      t.x = s.x;
      t.w = reinterpret_cast<const std::uint8_t*>(filter) + fb.offset;
      t.runs = s.runs;
      t.steps = static_cast<int>(shape_.steps() * merged_taps());
      t.init = s.init;
      t.out = s.acc;
      t.out_stride = std::int64_t{fb.vectors} * isa_.lanes;
      const std::int64_t stride = t.out_stride;
      const bool affine = affine_ && epilogue_.affine_block(bound, fb.k, fb.channels, *s.affine);
      DirectAffine e{};
      if (affine) {
        e.scale = s.affine->scale;
        e.bias = s.affine->bias;
        e.is_unsigned = s.affine->is_unsigned;
        e.relu = s.affine->relu;
        e.mask = fb.channels >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << fb.channels) - 1;
      }
      std::int64_t chunk = 0;  // first point whose accumulators are waiting
      for (std::int64_t tile = 0; tile < tiles; ++tile) {
        const std::int64_t i = points * tile / tiles, n = points * (tile + 1) / tiles - i;
        if (first || !fixed_taps_) {
          const Taps taps = taps_of(b, i, n);
          if (first || !(taps == last)) {
            t.run_count = list_runs(taps, fb, s.runs);
            starting_values(taps, all_taps(b), fb, sums, a.w_zero, s.init);
            if (affine) add_bias(s.affine->bias_i, s.init);
            last = taps;
            first = false;
          }
        }
        t.pixel = s.pixel + i;
        if (affine) {
          place(args, b, s, fb.k, i, n, e.out);
          isa_.affine[fb.vectors][n](t, e);
          s.ahead.prefetch();
          s.behind.stream_share();
          continue;
        }
        t.out = s.acc + (i - chunk) * stride;
        isa_.kernel[fb.vectors][n](t);
        s.ahead.prefetch();
        if (i + n < points && i + n - chunk + max_pixels <= kChunkPoints) continue;
        if (filter_zero_) subtract_sums(fb, a, s, s.acc, chunk, i + n - chunk, stride);
        store(b, bound, fb, s.acc, chunk, i + n - chunk, stride);
        chunk = i + n;
      }
    }
    if (s.stage) stream_block(args, b, s);
  }

  static void add_bias(const std::int32_t* bias, std::int32_t* init) {
    for (std::int64_t l = 0; l < kMaxLanes; ++l) {
      init[l] = static_cast<std::int32_t>(static_cast<std::uint32_t>(init[l]) + static_cast<std::uint32_t>(bias[l]));
    }
  }

  void stream_block(const Args& args, const Block& b, Scratch& s) const {
    const TensorDesc& y = p_.epilogue.outputs[0].desc;
    const Triple ys = spatial_strides(y);
    const std::int64_t row = (b.q1 - b.q0) * g_.k;
    std::byte* plane = static_cast<std::byte*>(args.outputs[0]) + b.n * y.stride[0] + b.d * ys[0] + b.q0 * ys[2];
    if (b.p1 - b.p0 == 1 || ys[1] == row) {  // one run of memory
      s.behind.finish();
      const std::int64_t bytes = (b.p1 - b.p0) * row;
      s.behind = {plane + b.p0 * ys[1], s.stage, bytes, share_of(bytes)};
      std::swap(s.stage, s.other_stage);
      return;
    }
    for (std::int64_t p = b.p0; p < b.p1; ++p) stream_copy(plane + p * ys[1], s.stage + (p - b.p0) * row, row);
  }

  /// Where channel k of the points [i, i + n) of a block goes.
  void place(const Args& args, const Block& b, const Scratch& s, std::int64_t k, std::int64_t i, std::int64_t n,
             std::byte** out) const {
    if (s.stage) {
      for (std::int64_t j = 0; j < n; ++j) out[j] = s.stage + (i + j) * g_.k + k;
      return;
    }
    const TensorDesc& y = p_.epilogue.outputs[0].desc;
    const Triple ys = spatial_strides(y);
    const std::int64_t columns = b.q1 - b.q0;
    std::int64_t p = b.p0 + i / columns, q = b.q0 + i % columns;
    std::byte* plane = static_cast<std::byte*>(args.outputs[0]) + b.n * y.stride[0] + b.d * ys[0] + k;
    std::byte* at = plane + p * ys[1] + q * ys[2];
    for (std::int64_t j = 0; j < n; ++j) {
      out[j] = at;
      at += ys[2];
      if (++q < b.q1) continue;
      q = b.q0;
      at = plane + ++p * ys[1] + q * ys[2];
    }
  }

  void sum_inputs(const Block& b, const FilterBlock& fb, const Areas& a, const Scratch& s, std::int64_t points) const {
    FilterBlock one = fb;
    one.vectors = 1;
    std::fill_n(s.init, isa_.lanes, 0);
    DirectTile t{};
    t.x = s.x;
    t.w = a.ones;
    t.runs = s.runs;
    t.steps = static_cast<int>(shape_.steps() * merged_taps());
    t.init = s.init;
    t.out = s.acc;
    t.out_stride = isa_.lanes;
    const int max_pixels = isa_.tile_pixels[1];
    for (std::int64_t i = 0; i < points; i += max_pixels) {
      const std::int64_t n = std::min<std::int64_t>(max_pixels, points - i);
      t.pixel = s.pixel + i;
      t.run_count = list_runs(all_taps(b), one, s.runs);
      for (int r = 0; r < t.run_count; ++r) s.runs[r].w = 0;
      isa_.kernel[1][n](t);
      for (std::int64_t j = 0; j < n; ++j) s.x_sums[i + j] = s.acc[j * isa_.lanes];
    }
  }

  void subtract_sums(const FilterBlock& fb, const Areas& a, const Scratch& s, std::int32_t* accumulators, std::int64_t i,
                     std::int64_t n, std::int64_t stride) const {
    for (std::int64_t j = 0; j < n; ++j) {
      const auto sum = static_cast<std::uint32_t>(s.x_sums[i + j]);
      auto* acc = reinterpret_cast<std::uint32_t*>(accumulators + j * stride);
      for (std::int64_t l = 0; l < fb.channels; ++l) acc[l] -= sum * static_cast<std::uint32_t>(a.w_zero[fb.k + l]);
    }
  }

  void store(const Block& b, const TileEpilogue::Bound& bound, const FilterBlock& fb, const std::int32_t* acc, std::int64_t i,
             std::int64_t n, std::int64_t stride) const {
    const std::int64_t columns = b.q1 - b.q0;
    Rows rows;
    rows.outer = b.n;
    rows.channel = fb.k;
    rows.channels = fb.channels;
    while (n > 0) {
      const std::int64_t q = i % columns;
      rows.count = std::min(n, columns - q);
      rows.spatial = rows_spatial(p_.x.rank, b.d, b.p0 + i / columns, b.q0 + q);
      epilogue_.run(bound, rows, acc, stride);
      acc += rows.count * stride;
      i += rows.count;
      n -= rows.count;
    }
  }

  static constexpr std::int64_t kMaxLanes = 64;
  /// Points whose accumulators wait for one call of the epilogue: 12 KB at 64 lanes, a multiple of every tile.
  static constexpr std::int64_t kChunkPoints = 48;

  const Problem p_;
  const Geometry g_;
  Geometry fg_ = g_;  ///< as the packed filter sees it: gathered windows are one tap of many channels
  const DirectIsa& isa_;
  const DeviceTraits device_;
  const double work_us_;
  TileEpilogue epilogue_;
  PackedFilterShape shape_;
  Blocking block_;
  AlignedBytes filter_;
  std::vector<std::int32_t> sums_;
  std::vector<Range> live_[kMaxSpatial];
  bool x_signed_ = false, w_signed_ = false, filter_zero_ = false, merge_taps_ = false, im2col_ = false, fixed_taps_ = false,
       affine_ = false, tap_rows_ = false, stream_ = false, fetch_ahead_ = false;
  std::uint8_t x_flip_ = 0;
  std::int32_t x_zero_ = 0, w_shift_ = 0;
  std::int64_t pixel_bytes_ = 0, window_rows_ = 1;
  int slots_ = 1;
  std::size_t workspace_ = 0;
};

}  // namespace octavo::cpu_native
