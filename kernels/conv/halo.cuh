// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stride-1 convolution on mma.sync. The input comes into shared memory once, halo included, and the R*S taps read it at
// shifted addresses; a filter that fits stays there. Each block holds `channels_out` output channels and walks a range of
// rows of the stacked strips (halo_index.cuh). Its groups of warps run independently, so the epilogue of one hides under the
// products of another. A fragment of A pairs the rows i and i + tile: the taps of one filter column then share fragments.

#include "conv/halo_index.cuh"
#include "mma/mma.cuh"
#include "ptx/async.cuh"

namespace octavo::dev {

/// Epilogue: of_channels = epilogue.template channels<V>(k, valid), then epilogue.template store<V>(of_channels, values, n, d,
/// p, q, k, valid): values[0..valid) belong to channels k.. at (n, d, p, q).
template <const HaloConfig& cfg, class Epilogue>
struct Halo {
  static constexpr int kN = halo_n_tiles(cfg), kTile = cfg.tile, kR = cfg.r, kS = cfg.s, kQuads = kTile + kR - 1;
  static constexpr int kGroupThreads = halo_group_threads(cfg), kThreads = halo_threads(cfg), kColumns = halo_columns(cfg);
  static constexpr int kCopies = halo_copies(cfg), kDistance = halo_distance(cfg), kSteps = kR * kS;
  static constexpr int kPatch = halo_patch_bytes(cfg), kFilter = halo_filter_bytes(cfg), kStage = halo_stage_bytes(cfg);
  static constexpr int kFilterCopies = kSteps * cfg.channels_out * 2;
  static_assert(kN % 2 == 0 && kCopies <= 16 && kDistance >= 1);
  using Acc = typename Accumulator<cfg.a>::type;

  const HaloParams& p;
  const Epilogue& epilogue;
  int lane, wm, wn, group, t;
  int block_out;  // which channels_out of the output
  const char* x_base;
  const char* w_base;
  u32 filter, ring;  // shared addresses
  HaloSpan span;

  // Loader: the stage it fills next, as (tile, chunk), and where its copies come from.
  int load_tile = 0, load_chunk = 0, load_row = 0;
  u32 load_slot = 0;
  u32 source[kCopies];
  u32 load_ok = 0, flip = 0;

  // Consumer
  u32 slot = 0;
  u32 b_lane, a_lane;
  u32 a_shift[kS];
  int stage = 0;

  __device__ __forceinline__ Halo(const HaloParams& params, const Epilogue& e, char* shared) : p(params), epilogue(e) {
    int tid = threadIdx.x;
    lane = tid & 31;
    group = tid / kGroupThreads;
    t = tid % kGroupThreads;
    int warp = t >> 5;
    wm = warp % cfg.warps_m;
    wn = warp / cfg.warps_m;
    block_out = blockIdx.x % p.blocks_out;
    x_base = p.x + i64(block_out / p.groups_out) * cfg.chunks * p.x_chunk;
    w_base = p.w + i64(block_out) * cfg.channels_out * p.w_k;
    filter = shared_address(shared);
    ring = filter + (cfg.resident ? cfg.chunks * kFilter : 0) + group * cfg.stages * kStage;
    span = halo_span(p.units, p.ranges, blockIdx.x / p.blocks_out, cfg.groups, group, kTile);
#pragma unroll
    for (int u = 0; u < kCopies; ++u) {
      int col = ((t + u * kGroupThreads) >> 1) % kColumns;
      flip |= u32((col >> 2) & 1) << u;
    }
    int j = wn * kN * 8 + (lane & 7) + ((lane >> 4) << 3);
    b_lane = filter + halo_filter_offset(cfg.channels_out, 0, j, (lane >> 3) & 1);
    if (!cfg.resident) b_lane += ring - filter + kPatch;
#pragma unroll
    for (int s = 0; s < kS; ++s) a_shift[s] = ring + halo_patch_offset(kColumns, 0, (lane & 7) + s, lane >> 4);
  }

  __device__ __forceinline__ void barrier_group() const { barrier(2 + group, kGroupThreads); }
  /// Groups meet here from the prologue, from tiles of different heights and from the end of a group without work.
  __device__ __forceinline__ static void barrier_all() { barrier_anywhere(1, kThreads); }

  // ---- loads
  __device__ __forceinline__ void load_filter(int chunk, u32 to) const {
    constexpr u32 threads = cfg.resident ? kThreads : kGroupThreads, trips = div_up(kFilterCopies, threads);
    const u32 first = thread_index() % threads;
    const char* from = w_base + chunk * p.w_chunk + (first & 1) * 16;
#pragma unroll
    for (u32 u = 0; u < trips; ++u) {
      u32 i = first + u * threads;
      if (kFilterCopies % threads != 0 && u + 1 == trips && i >= kFilterCopies) break;
      u32 j = (i >> 1) % cfg.channels_out, tap = (i >> 1) / cfg.channels_out;
      const char* a = from + halo_channel(kN, j) * p.w_k + int(tap / kS) * p.w_r + int(tap % kS) * p.w_s;
      copy_async<16>(to + halo_filter_offset(cfg.channels_out, tap, j, i & 1), a, 16);
    }
  }
  // Where the copies of the next tile come from; rows that this tile does not need count as outside.
  __device__ __forceinline__ void start_tile() {
    int units = halo_tile_units(span, load_tile, group), rows = units * halo_unit_rows(cfg) + kR - 1;
    int first = (span.first + load_row) * halo_unit_rows(cfg);
    load_row += units;
    load_ok = 0;
    const int thread = thread_index() % kGroupThreads;
#pragma unroll
    for (int u = 0; u < kCopies; ++u) {
      int position = (thread + u * kGroupThreads) >> 1, row = position / kColumns, col = position % kColumns;
      u32 y = first + row, strip = quotient(y, p.pitch), n = quotient(strip, p.per_image);
      int h = int(y - strip * p.pitch.divisor) - p.pad_h, w = int(strip - n * p.per_image.divisor) * 8 + col - p.pad_w;
      bool ok = row < rows && strip < u32(p.strips) && u32(h) < u32(p.h) && u32(w) < u32(p.wd);
      source[u] = ok ? u32(n * u64(p.x_image >> 4)) + h * p.x_row + w * p.x_col + (thread & 1) : 0;
      load_ok |= u32(ok) << u;
    }
  }
  __device__ __forceinline__ void load_copy(int u) const {
    if (kCopies * kGroupThreads == halo_rows(cfg, kTile) * kColumns * 2 || u + 1 < kCopies ||
        t + u * kGroupThreads < halo_rows(cfg, kTile) * kColumns * 2) {
      u32 to = ring + load_slot + (t + u * kGroupThreads) * 16;
      copy_async<16>(to ^ (((flip >> u) & 1) << 4), x_base + u64(source[u]) * 16 + load_chunk * p.x_chunk,
                     (load_ok >> u) & 1 ? 16 : 0);
    }
  }
  /// The filter's part of the stage being loaded: a resident filter comes in with the stages of the first tile.
  __device__ __forceinline__ void load_filter_stage() const {
    if constexpr (!cfg.resident)
      load_filter(load_chunk, ring + load_slot + kPatch);
    else if (load_tile == 0)
      load_filter(load_chunk, filter + load_chunk * kFilter);
  }
  __device__ __forceinline__ bool loading() const { return load_tile < span.tiles; }
  __device__ __forceinline__ void load_next() {
    if (++load_chunk == cfg.chunks) load_chunk = 0, ++load_tile;
    load_slot = load_slot == (cfg.stages - 1) * kStage ? 0 : load_slot + kStage;
  }

  // ---- products
  using QuadA = u32[4];
  __device__ __forceinline__ static u32 next_slot(u32 s) { return s == (cfg.stages - 1) * kStage ? 0 : s + kStage; }
  __device__ __forceinline__ u32 lane_row(int tile) const { return (wm * 2 * tile + ((lane >> 3) & 1) * tile) * kColumns * 32; }
  __device__ __forceinline__ u32 filter_of(int chunk, u32 at) const { return b_lane + (cfg.resident ? chunk * kFilter : at); }
  __device__ __forceinline__ static void load_b(u32 (&b)[kN / 2][4], u32 from, int tap) {
#pragma unroll
    for (int n = 0; n < kN / 2; ++n) load_matrix4(b[n], from + (tap * cfg.channels_out + n * 16) * 32);
  }

  /// Until stage `stage` + 1 has arrived for every warp of the group; it also frees the stage before (or two before).
  __device__ __forceinline__ void next_stage_ready() {
    copy_wait<kDistance - 1>();
    if (cfg.resident && cfg.groups > 1 && stage + 1 < cfg.chunks)
      barrier_all();  // the filter's chunk was brought in by all groups together
    else
      barrier_group();
  }

  template <int M>
  __device__ __forceinline__ void run_tile(u32 (&a_first)[kQuads][4], u32 (&b_first)[kN / 2][4], int first_row,
                                           u32 next_lane_row) {
    constexpr int quads = M + kR - 1;
    Acc acc[M][kN][4];
#pragma unroll
    for (int m = 0; m < M; ++m)
#pragma unroll
      for (int n = 0; n < kN; ++n)
#pragma unroll
        for (int i = 0; i < 4; ++i) acc[m][n][i] = 0;
    u32 row = lane_row(M);
#pragma unroll 1
    for (int chunk = 0; chunk < cfg.chunks; ++chunk, ++stage) {
      u32 a[2][kQuads][4], b[2][kN / 2][4];
#pragma unroll
      for (int i = 0; i < kQuads; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) a[0][i][j] = a_first[i][j];
#pragma unroll
      for (int i = 0; i < kN / 2; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) b[0][i][j] = b_first[i][j];
      bool more = loading();
      if (more && load_chunk == 0) start_tile();
      u32 ahead = next_slot(slot);
      bool last = chunk + 1 == cfg.chunks;
      u32 filter_now = filter_of(chunk, slot);
#pragma unroll
      for (int s = 0; s < kS; ++s) {
#pragma unroll
        for (int r = 0; r < kR; ++r) {
          const int step = s * kR + r;
          // The copies of a later stage, spread over the steps.
          constexpr int per_step = div_up(kCopies, kSteps > 1 ? kSteps - 1 : 1);
          if (more) {
#pragma unroll
            for (int u = step * per_step; u < (step + 1) * per_step && u < kCopies; ++u) load_copy(u);
            if (step == 0) load_filter_stage();
          }
          if (step == (kSteps > 1 ? kSteps - 2 : 0)) copy_commit();
          // Fragments of the next step: B always, A a few quads at a time once their predecessors are dead.
          if (step + 1 == kSteps) {
            next_stage_ready();
            slot = ahead;
#pragma unroll
            for (int i = 0; i < kQuads; ++i)
              load_matrix4(a_first[i], a_shift[0] + ahead + (last ? next_lane_row : row) + i * kColumns * 32);
            load_b(b_first, filter_of(last ? 0 : chunk + 1, ahead), 0);
          } else {
            const int s1 = (step + 1) / kR, r1 = (step + 1) % kR;
            load_b(b[(step + 1) & 1], filter_now, r1 * kS + s1);
            if (s + 1 < kS) {
              const int lo = kR == 1 ? 0 : r == 0 ? 0 : (r - 1) * quads / (kR - 1), hi = kR == 1 ? quads : r * quads / (kR - 1);
#pragma unroll
              for (int i = lo; i < hi; ++i) load_matrix4(a[(s + 1) & 1][i], a_shift[s + 1] + slot + row + i * kColumns * 32);
            }
          }
#pragma unroll
          for (int n = 0; n < kN / 2; ++n)
#pragma unroll
            for (int m = 0; m < M; ++m) {
              multiply<cfg.a, cfg.b>(acc[m][2 * n], a[s & 1][m + r], b[step & 1][n][0], b[step & 1][n][1]);
              multiply<cfg.a, cfg.b>(acc[m][2 * n + 1], a[s & 1][m + r], b[step & 1][n][2], b[step & 1][n][3]);
            }
        }
      }
      if (more) load_next();
    }
    // Epilogue. The thread's place is worked out anew, so that it holds no registers above.
    const int tid = thread_index(), thread_lane = tid & 31, warp = (tid % kGroupThreads) >> 5, warp_m = warp % cfg.warps_m;
    const int k =
        int(blockIdx.x % p.blocks_out) * cfg.channels_out + (warp / cfg.warps_m) * kN * 8 + (thread_lane & 3) * 2 * kN;
    const auto of_channels = epilogue.template channels<2 * kN>(k, 2 * kN);
#pragma unroll
    for (int m = 0; m < M; ++m)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        u32 y = first_row + halo_row(M, warp_m, m, h), strip = quotient(y, p.pitch), n = quotient(strip, p.per_image);
        int out_p = y - strip * p.pitch.divisor, out_q = int(strip - n * p.per_image.divisor) * 8 + (thread_lane >> 2);
        if (strip < u32(p.strips) && out_p < p.p && out_q < p.q) {
          Acc v[2 * kN];
#pragma unroll
          for (int i = 0; i < kN; ++i) v[2 * i] = acc[m][i][2 * h], v[2 * i + 1] = acc[m][i][2 * h + 1];
          epilogue.template store<2 * kN>(of_channels, v, int(n), 0, out_p, out_q, k, 2 * kN);
        }
      }
  }

  static OCTAVO_HD bool has(int height) { return height > 0 && ((cfg.heights >> height) & 1); }
  __device__ __forceinline__ void run() {
    if (span.tiles == 0) {  // Nothing to do, but the other groups wait for this one's part of the filter.
      if (cfg.resident && cfg.groups > 1) {
        for (int i = 0; i < cfg.chunks; ++i) load_filter(i, filter + i * kFilter);
        copy_commit();
        copy_wait<0>();
        for (int i = 0; i < cfg.chunks; ++i) barrier_all();
      }
      return;
    }
    // The prologue: kDistance stages, with their part of the filter, so the first products wait for one chunk of it only.
#pragma unroll 1
    for (int i = 0; i < kDistance; ++i) {
      if (loading()) {
        if (load_chunk == 0) start_tile();
        load_filter_stage();
#pragma unroll
        for (int u = 0; u < kCopies; ++u) load_copy(u);
        load_next();
      }
      copy_commit();
    }
    copy_wait<kDistance - 1>();
    if (cfg.resident)
      barrier_all();
    else
      barrier_group();
    u32 a[kQuads][4], b[kN / 2][4];
    int units = halo_tile_units(span, 0, group), row = span.first;
#pragma unroll
    for (int i = 0; i < kQuads; ++i) load_matrix4(a[i], a_shift[0] + lane_row(units) + i * kColumns * 32);
    load_b(b, filter_of(0, 0), 0);
#pragma unroll 1
    for (int i = 0; i < span.tiles; ++i) {
      int next = i + 1 < span.tiles ? halo_tile_units(span, i + 1, group) : units;
      u32 next_row = lane_row(next);
      int first = row * halo_unit_rows(cfg);
      if constexpr (has(kTile))
        if (units == kTile) run_tile<kTile>(a, b, first, next_row);
      if constexpr (has(kTile - 1))
        if (units == kTile - 1) run_tile<kTile - 1>(a, b, first, next_row);
      if constexpr (has(kTile - 2))
        if (units == kTile - 2) run_tile<kTile - 2>(a, b, first, next_row);
      if constexpr (has(kTile - 3))
        if (units == kTile - 3) run_tile<kTile - 3>(a, b, first, next_row);
      row += units;
      units = next;
    }
  }
};

}  // namespace octavo::dev
