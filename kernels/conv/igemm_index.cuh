// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Shapes, shared-memory addresses and parameters of the implicit GEMM (igemm.cuh): plain constexpr code, checked on the host.
//
// rows = N*D*P*Q output pixels, columns = output channels of one group, reduction = taps x channels in pieces of 16 bytes
// ("chunks"): chunk q of the reduction is chunk q % per_tap of tap q / per_tap. The last chunk of a tap may be partial.

#include "mma/types.cuh"

namespace octavo::dev {

struct IgemmConfig {
  Elem a = Elem::s8, b = Elem::s8;
  int t = 1, r = 1, s = 1;  ///< filter taps
  int tap_bytes = 128;      ///< bytes of one tap: channels of a group (or one run of S*C elements, with s = 1)
  int align = 16;           ///< 16, 8, 4: what every address is a multiple of (cp.async); 1: any (plain loads and shifts)
  bool run = false;         ///< a tap is a run of S*C elements along a row, clipped at both ends of the row; needs align 1
  bool padded = true;       ///< false: no tap ever falls outside the input (no padding)
  int bm = 128, bn = 128, bk = 64;  ///< tile: rows, columns, bytes of reduction in a stage
  int warps_m = 2, warps_n = 2;
  int stages = 4;
  int blocks = 1;      ///< blocks that should share a multiprocessor
  bool split = false;  ///< writes partial sums for igemm_reduce
};

OCTAVO_HD int igemm_threads(const IgemmConfig& c) { return 32 * c.warps_m * c.warps_n; }
OCTAVO_HD int igemm_m_tiles(const IgemmConfig& c) { return c.bm / (16 * c.warps_m); }
OCTAVO_HD int igemm_n_tiles(const IgemmConfig& c) { return c.bn / (8 * c.warps_n); }
OCTAVO_HD int igemm_per_tap(const IgemmConfig& c) { return div_up(c.tap_bytes, 16); }
OCTAVO_HD int igemm_chunks(const IgemmConfig& c) { return c.t * c.r * c.s * igemm_per_tap(c); }
OCTAVO_HD int igemm_iterations(const IgemmConfig& c) { return div_up(igemm_chunks(c), c.bk / 16); }
OCTAVO_HD int igemm_stage_bytes(const IgemmConfig& c) { return (c.bm + c.bn) * c.bk; }
OCTAVO_HD int igemm_shared_bytes(const IgemmConfig& c) { return c.stages * igemm_stage_bytes(c); }

/// Address inside a stage's operand of 16-byte chunk `c` of row `row`: any eight consecutive rows fall into eight banks of 16
/// bytes.
OCTAVO_HD int igemm_offset(int bk, int row, int c) {
  return bk == 128  ? row * 128 + ((c ^ (row & 7)) << 4)
         : bk == 64 ? row * 64 + ((c ^ ((row >> 1) & 3)) << 4)
                    : row * 32 + ((c ^ ((row >> 2) & 1)) << 4);
}
/// Which of the tile's output channels B row `j` holds: the accumulators of a thread are consecutive channels.
OCTAVO_HD int igemm_channel(int n_tiles, int j) {
  int warp = j / (8 * n_tiles), tile = (j >> 3) % n_tiles, column = j & 7;
  return warp * 8 * n_tiles + (column >> 1) * 2 * n_tiles + tile * 2 + (column & 1);
}

/// The position of one thread's chunk in the reduction.
struct IgemmTap {
  int c = 0, s = 0, r = 0, t = 0;
};
OCTAVO_HD IgemmTap igemm_tap(const IgemmConfig& g, int chunk) {
  int per = igemm_per_tap(g), tap = chunk / per;
  return {chunk - tap * per, tap % g.s, tap / g.s % g.r, tap / (g.s * g.r)};
}
/// True when the step went to another tap.
OCTAVO_HD bool igemm_advance(const IgemmConfig& g, IgemmTap& at, int chunks) {
  at.c += chunks;
  bool moved = false;
  while (at.c >= igemm_per_tap(g)) {
    at.c -= igemm_per_tap(g);
    moved = true;
    if (++at.s == g.s) {
      at.s = 0;
      if (++at.r == g.r) at.r = 0, ++at.t;
    }
  }
  return moved;
}

/// Strides and offsets in units of IgemmConfig::align bytes unless said otherwise; those inside a tile fit 32 bits.
struct IgemmParams {
  const char* x;
  const char* w;
  void* partial;      ///< split: [split][row][column] of 32-bit sums, columns padded to whole tiles
  const char* x_end;  ///< align 1: one past the last byte that may be read
  const char* w_end;
  i64 x_n;
  i64 x_group, w_group;  ///< bytes to the next group
  int x_d, x_h, x_w;     ///< to the next voxel along an axis
  int x_td, x_th, x_tw;  ///< to the next tap along an axis
  int x_pair, w_pair;    ///< to the next 32 bytes of channels
  int w_k, w_t, w_r, w_s;
  int d, h, wd;  ///< input; for runs wd is the bytes of a row
  int od, p, q;  ///< output
  int stride_d, stride_h, stride_w, pad_d, pad_h, pad_w, dil_d, dil_h, dil_w;
  int rows;                                ///< N*OD*P*Q
  int k, group_k;                          ///< output channels in all, of a group
  int row_tiles, col_tiles;                ///< col_tiles: of one group
  int splits, per_split;                   ///< iterations of a split
  FastDiv div_q, div_p, div_d, div_tiles;  ///< div_tiles: col_tiles * groups
  FastDiv div_col, div_rows;               ///< col_tiles; row_tiles
};

}  // namespace octavo::dev
