// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Shapes, shared-memory addresses and the split of work of the halo kernel: plain constexpr code, checked exhaustively on
// the host (tests/cuda_host/mma_halo_index.cpp).
//
// The output is cut into strips of 8 columns. All strips of all images are stacked into one tall column, `pitch` rows each:
// max(pad above, pad below) zero rows lie between two strips, so a tile of rows may run across strips and images. A patch is
// the part of the input that a tile of rows needs: rows + R - 1 rows of 8 + S - 1 positions, 32 bytes of channels each.

#include "mma/types.cuh"

namespace octavo::dev {

struct HaloConfig {
  Elem a = Elem::s8, b = Elem::s8;
  int r = 3, s = 3;
  int chunks = 4;          ///< channels of a group in 32-byte pieces
  int channels_out = 128;  ///< output channels a block holds
  int warps_m = 2, warps_n = 2;
  int groups = 2;  ///< independent groups of warps_m * warps_n warps
  int tile = 4;    ///< most m16 tiles of a warp: 2 * tile rows of 8 columns
  int stages = 4;
  bool resident = true;    ///< the whole filter stays in shared memory
  unsigned heights = ~0u;  ///< bit t: tiles of height t occur (halo_heights); others are not compiled
};

OCTAVO_HD int halo_n_tiles(const HaloConfig& c) { return c.channels_out / (8 * c.warps_n); }
OCTAVO_HD int halo_group_threads(const HaloConfig& c) { return 32 * c.warps_m * c.warps_n; }
OCTAVO_HD int halo_threads(const HaloConfig& c) { return c.groups * halo_group_threads(c); }
OCTAVO_HD int halo_columns(const HaloConfig& c) { return 8 + c.s - 1; }
OCTAVO_HD int halo_rows(const HaloConfig& c, int tile) { return 2 * tile * c.warps_m + c.r - 1; }
/// Rows of output that one unit of work (a tile of height 1) has.
OCTAVO_HD int halo_unit_rows(const HaloConfig& c) { return 2 * c.warps_m; }
OCTAVO_HD int halo_patch_bytes(const HaloConfig& c) { return round_up(halo_rows(c, c.tile) * halo_columns(c) * 32, 128); }
OCTAVO_HD int halo_filter_bytes(const HaloConfig& c) { return c.r * c.s * c.channels_out * 32; }
OCTAVO_HD int halo_stage_bytes(const HaloConfig& c) { return halo_patch_bytes(c) + (c.resident ? 0 : halo_filter_bytes(c)); }
OCTAVO_HD int halo_shared_bytes(const HaloConfig& c) {
  return (c.resident ? c.chunks * halo_filter_bytes(c) : 0) + c.groups * c.stages * halo_stage_bytes(c);
}
/// Stages ahead of the one in use that are being loaded.
OCTAVO_HD int halo_distance(const HaloConfig& c) { return c.resident ? c.stages - 1 : c.stages - 2; }
/// Rows of a patch that a group copies at once: a thread brings the same 16 bytes of every halo_pass_rows-th row.
OCTAVO_HD int halo_pass_rows(const HaloConfig& c) { return halo_group_threads(c) / (2 * halo_columns(c)); }
/// 16-byte copies a thread makes for one patch; needs halo_pass_rows > 0.
OCTAVO_HD int halo_copies(const HaloConfig& c) { return div_up(halo_rows(c, c.tile), halo_pass_rows(c)); }

/// Byte address inside a patch of 16-byte half `half` of the position in row `row`, column `col`. Rows of eight consecutive
/// columns (an ldmatrix octet) fall into eight different 16-byte banks whatever the column they begin at.
OCTAVO_HD int halo_patch_offset(int columns, int row, int col, int half) {
  return (row * columns + col) * 32 + ((half ^ ((col >> 2) & 1)) << 4);
}
/// Byte address inside a filter chunk of half `half` of filter row `j` (0..channels_out) of step `step`: the taps column by
/// column.
OCTAVO_HD int halo_filter_offset(int channels_out, int step, int j, int half) {
  return (step * channels_out + j) * 32 + ((half ^ ((j >> 2) & 1)) << 4);
}
/// Which output channel filter row `j` holds: permuted so that the accumulators of a thread are consecutive channels.
OCTAVO_HD int halo_channel(int n_tiles, int j) {
  int warp = j / (8 * n_tiles), tile = (j >> 3) % n_tiles, column = j & 7;
  return warp * 8 * n_tiles + (column >> 1) * 2 * n_tiles + tile * 2 + (column & 1);
}
/// Row inside the tile of accumulator half `h` (0: elements 0,1; 1: elements 2,3) of m16 tile `m` of warp row `wm`.
OCTAVO_HD int halo_row(int tile, int wm, int m, int h) { return wm * 2 * tile + m + h * tile; }

/// The split of the rows of work: block `range`, then group, then `tiles` tiles of `height` units, `extra` of them one more.
struct HaloSpan {
  int first, units, tiles, height, extra;
};
/// Blocks have `per_range` units, the first `longer` of them one more.
OCTAVO_HD HaloSpan halo_span(int per_range, int longer, int range, int groups, int group, int tile) {
  int begin = range * per_range + (range < longer ? range : longer), n = per_range + (range < longer);
  int lo = (n * group + groups - 1) / groups, hi = (n * (group + 1) + groups - 1) / groups;
  int units = hi - lo, tiles = div_up(units, tile), height = tiles > 0 ? units / tiles : 0;
  return {begin + lo, units, tiles, height, units - height * tiles};
}
/// Height of tile `i` of a span. Even groups take their small tiles last and odd ones first, so that epilogues interleave.
OCTAVO_HD int halo_tile_units(const HaloSpan& s, int i, int group) {
  return s.height + ((group & 1) ? i >= s.tiles - s.extra : i < s.extra);
}

/// Which tile heights a launch has: HaloConfig::heights.
OCTAVO_HD unsigned halo_heights(const HaloConfig& c, int units, int ranges) {
  unsigned heights = 0;
  const int per_range = units / ranges, longer = units - per_range * ranges;
  for (int range = 0; range<ranges; range += longer> 0 && range < longer ? longer : ranges)
    for (int group = 0; group < c.groups; ++group) {
      HaloSpan s = halo_span(per_range, longer, range, c.groups, group, c.tile);
      if (s.tiles > 0) heights |= 1u << halo_tile_units(s, 0, group) | 1u << halo_tile_units(s, s.tiles - 1, group);
    }
  return heights;
}

/// Strides in bytes; x and w must be readable in 16-byte pieces.
struct HaloParams {
  const char* x;
  const char* w;
  i64 x_image;       ///< to the next image
  u32 x_row, x_col;  ///< in units of 16 bytes
  i64 x_chunk;       ///< to the next 32 bytes of channels
  i64 w_k, w_chunk;
  int w_r, w_s;
  int h, wd;  ///< input image
  int p, q;   ///< output image
  int pad_h, pad_w;
  FastDiv groups_out;        ///< channel blocks of one convolution group
  FastDiv blocks_out;        ///< channel blocks in all
  int ranges;                ///< blocks that share the rows
  int units;                 ///< rows of work / unit_rows, rounded up
  int per_range, longer;     ///< units of a block; how many blocks have one more
  int strips;                ///< in all images
  FastDiv pitch, per_image;  ///< rows of a strip; strips of an image
};

}  // namespace octavo::dev
