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
  static constexpr int kRows = halo_rows(cfg, cfg.tile), kPassRows = halo_pass_rows(cfg), kPieces = 2 * kColumns;
  static constexpr int kCopies = halo_copies(cfg), kDistance = halo_distance(cfg), kSteps = kR * kS;
  static constexpr int kPatch = halo_patch_bytes(cfg), kFilter = halo_filter_bytes(cfg), kStage = halo_stage_bytes(cfg);
  static_assert(kN % 2 == 0 && kPassRows > 0 && kCopies <= 16 && kDistance >= 1);
  using Acc = typename Accumulator<cfg.a>::type;

  const HaloParams& p;
  const Epilogue& epilogue;
  int group, t, first_channel;
  const char* x_base;
  const char* w_base;
  u32 filter, ring;  // shared addresses
  HaloSpan span;

  // Loader: the stage it fills next, as (tile, chunk), and where its copies come from and go to.
  int load_tile = 0, load_chunk = 0, load_row = 0;
  const char* load_from;
  u32 load_to, load_slot = 0;
  u32 source[kCopies];
  u32 load_ok = 0;

  // Consumer
  u32 slot = 0;
  u32 b_lane, a_row;
  u32 a_shift[kS];

  __device__ __forceinline__ Halo(const HaloParams& params, const Epilogue& e, char* shared) : p(params), epilogue(e) {
    int tid = threadIdx.x, lane = tid & 31;
    group = tid / kGroupThreads;
    t = tid % kGroupThreads;
    int warp = t >> 5, wm = warp % cfg.warps_m, wn = warp / cfg.warps_m;
    const u32 range = quotient(blockIdx.x, p.blocks_out), block_out = blockIdx.x - range * p.blocks_out.divisor;
    first_channel = int(block_out) * cfg.channels_out;
    x_base = p.x + i64(quotient(block_out, p.groups_out)) * cfg.chunks * p.x_chunk;
    w_base = p.w + first_channel * p.w_k;
    filter = shared_address(shared);
    ring = filter + (cfg.resident ? cfg.chunks * kFilter : 0) + group * cfg.stages * kStage;
    span = halo_span(p.per_range, p.longer, int(range), cfg.groups, group, kTile);
    load_from = x_base;
    load_to = ring + halo_patch_offset(kColumns, t / kPieces, t % kPieces >> 1, t % kPieces & 1);
    int j = wn * kN * 8 + (lane & 7) + ((lane >> 4) << 3);
    b_lane = filter + halo_filter_offset(cfg.channels_out, 0, j, (lane >> 3) & 1);
    if (!cfg.resident) b_lane += ring - filter + kPatch;
    a_row = (wm * 2 + ((lane >> 3) & 1)) * kColumns * 32;
#pragma unroll
    for (int s = 0; s < kS; ++s) a_shift[s] = ring + halo_patch_offset(kColumns, 0, (lane & 7) + s, lane >> 4);
  }

  __device__ __forceinline__ void barrier_group() const { barrier(2 + group, kGroupThreads); }
  /// Groups meet here from the prologue, from tiles of different heights and from the end of a group without work.
  __device__ __forceinline__ static void barrier_all() { barrier_anywhere(1, kThreads); }

  // ---- loads
  // A thread keeps its row where the threads cover whole taps, or a tap takes whole passes of them.
  static constexpr u32 kLoaders = cfg.resident ? kThreads : kGroupThreads, kPerTap = cfg.channels_out * 2;
  static constexpr u32 kTaps = kLoaders % kPerTap == 0 ? kLoaders / kPerTap : 1;
  // Steps of a resident filter's first chunk that come in before the products begin; the others follow.
  static constexpr int kAheadStep = kSteps > 3 ? 2 : kSteps > 2 ? 1 : 0;
  static constexpr int kEarly = round_up(kR > kAheadStep ? kR : kAheadStep + 1, kTaps);
  static constexpr bool kSplit = cfg.resident && kDistance > 1 && kEarly < kSteps;
  template <int kFrom = 0, int kTo = kSteps>
  __device__ __forceinline__ void load_filter(int chunk, u32 to) const {
    constexpr u32 threads = kLoaders, per_tap = kPerTap, taps = kTaps, passes = div_up(per_tap, threads);
    const u32 first = thread_index() % threads, tap0 = taps > 1 ? first / per_tap : 0, i0 = first % per_tap;
    const char* from = w_base + chunk * p.w_chunk + (first & 1) * 16;
#pragma unroll
    for (u32 pass = 0; pass < passes; ++pass) {
      const u32 i = i0 + pass * threads, j = i >> 1;
      if ((taps == 1 && threads > per_tap && first >= per_tap) || (per_tap % threads != 0 && i >= per_tap)) break;
      const char* const row = from + halo_channel(kN, j) * p.w_k;
#pragma unroll
      for (u32 u = kFrom; u < u32(kTo); u += taps) {
        const u32 step = u + tap0;
        if (kSteps % taps == 0 || step < u32(kSteps))
          copy_async<16>(to + halo_filter_offset(cfg.channels_out, step, j, i & 1),
                         row + int(step % kR) * p.w_r + int(step / kR) * p.w_s, 16);
      }
    }
  }
  /// Row `y` of the stacked strips: which strip of which image, and its row there.
  __device__ __forceinline__ int place(u32 y, u32& strip, u32& n) const {
    strip = quotient(y, p.pitch), n = quotient(strip, p.per_image);
    return int(y - strip * p.pitch.divisor);
  }
  __device__ __forceinline__ void next_strip(u32& strip, int& in_image, u32& n) const {
    ++strip;
    if (++in_image == int(p.per_image.divisor)) in_image = 0, ++n;
  }
  // Where the copies of the next tile come from; rows that this tile does not need count as outside.
  __device__ __forceinline__ void start_tile() {
    int units = halo_tile_units(span, load_tile, group), rows = units * halo_unit_rows(cfg) + kR - 1;
    int first = (span.first + load_row) * halo_unit_rows(cfg);
    load_row += units;
    load_ok = 0;
    const int thread = thread_index() % kGroupThreads, row = thread / kPieces, piece = thread % kPieces;
    u32 strip, n;
    int y = place(first + row, strip, n), strip_in_image = int(strip - n * p.per_image.divisor), limit;
    u32 from;
    const auto enter_strip = [&] {
      const int w = strip_in_image * 8 + (piece >> 1) - p.pad_w;
      limit = strip < u32(p.strips) && u32(w) < u32(p.wd) ? p.h : 0;
      from = n * u32(p.x_image >> 4) + w * p.x_col + (piece & 1);
    };
    enter_strip();
#pragma unroll
    for (int u = 0; u < kCopies; ++u) {
      const int h = y - p.pad_h;
      source[u] = from + h * p.x_row;
      load_ok |= u32(row + u * kPassRows < rows && u32(h) < u32(limit)) << u;
      y += kPassRows;
      while (u + 1 < kCopies && y >= int(p.pitch.divisor)) {
        y -= int(p.pitch.divisor);
        next_strip(strip, strip_in_image, n);
        enter_strip();
      }
    }
  }
  __device__ __forceinline__ void load_patch() const {
    if (kPassRows * kPieces != kGroupThreads && t >= kPassRows * kPieces) return;
#pragma unroll
    for (int u = 0; u < kCopies; ++u)
      if (kCopies * kPassRows == kRows || u + 1 < kCopies || t < (kRows - u * kPassRows) * kPieces)
        copy_async_bit(load_to + load_slot + u * kPassRows * kColumns * 32, load_from + u64(source[u]) * 16, load_ok, u);
  }
  __device__ __forceinline__ bool loading() const { return load_tile < span.tiles; }
  __device__ __forceinline__ void load_stage() {
    if (load_chunk == 0) start_tile();
    if constexpr (!cfg.resident) load_filter(load_chunk, ring + load_slot + kPatch);
    load_patch();
    load_from += p.x_chunk;
    if (++load_chunk == cfg.chunks) load_chunk = 0, ++load_tile, load_from = x_base;
    load_slot = next_slot(load_slot);
  }

  // ---- products
  using QuadA = u32[4];
  __device__ __forceinline__ static u32 next_slot(u32 s) { return s == (cfg.stages - 1) * kStage ? 0 : s + kStage; }
  __device__ __forceinline__ u32 filter_of(int chunk, u32 at) const { return b_lane + (cfg.resident ? chunk * kFilter : at); }
  __device__ __forceinline__ static void load_b(u32 (&b)[kN / 2][4], u32 from, int step) {
#pragma unroll
    for (int n = 0; n < kN / 2; ++n) load_matrix4(b[n], from + (step * cfg.channels_out + n * 16) * 32);
  }

  /// Until the next stage has arrived for every warp of the group; it also frees the stage before (or two before). `filter`:
  /// a part of the resident filter that all groups bring in together comes with it.
  __device__ __forceinline__ void next_stage_ready(bool filter_part) {
    copy_wait<kDistance - 1>();
    if constexpr (cfg.resident) {
      copy_wait_all_if(filter_part);
      barrier_either(filter_part, 1, kThreads, 2 + group, kGroupThreads);
    } else {
      barrier_group();
    }
  }

  /// The copies of a later stage, and with the first tile the next part of a resident filter.
  __device__ __forceinline__ void load_ahead(bool first_tile, int chunk) {
    if (cfg.resident && first_tile) {
      if (kSplit && chunk == 0) {
        copy_wait<kDistance - 2>();
        barrier_all();
      }
      if (chunk + 1 < cfg.chunks) load_filter(chunk + 1, filter + (chunk + 1) * kFilter);
    }
    if (loading()) load_stage();
    copy_commit();
  }

  template <int M>
  __device__ __forceinline__ void run_tile(u32 (&a_first)[kQuads][4], u32 (&b_first)[kN / 2][4], int first_row, int next_units,
                                           bool first_tile) {
    constexpr int quads = M + kR - 1;
    Acc acc[M][kN][4];
#pragma unroll
    for (int m = 0; m < M; ++m)
#pragma unroll
      for (int n = 0; n < kN; ++n)
#pragma unroll
        for (int i = 0; i < 4; ++i) acc[m][n][i] = 0;
    u32 a[2][kQuads][4], b[2][kN / 2][4];
    // Fragments of the step after `step`: B always, A a few quads at a time once their predecessors are dead.
    const auto fetch = [&](int chunk, int step) {
      const int s = step / kR, r = step % kR;
      load_b(b[(step + 1) & 1], filter_of(chunk, slot), step + 1);
      if (s + 1 < kS) {
        const int lo = kR == 1 ? 0 : r == 0 ? 0 : (r - 1) * quads / (kR - 1), hi = kR == 1 ? quads : r * quads / (kR - 1);
#pragma unroll
        for (int i = lo; i < hi; ++i) load_matrix4(a[(s + 1) & 1][i], a_shift[s + 1] + slot + M * a_row + i * kColumns * 32);
      }
    };
    const auto products = [&](int step) {
#pragma unroll
      for (int n = 0; n < kN; ++n)
#pragma unroll
        for (int m = 0; m < M; ++m)
          multiply<cfg.a, cfg.b>(acc[m][n], a[step / kR & 1][m + step % kR], b[step & 1][n / 2][n % 2 * 2],
                                 b[step & 1][n / 2][n % 2 * 2 + 1]);
    };
#pragma unroll 1
    for (int chunk = 0; chunk < cfg.chunks; ++chunk) {
      const bool last = chunk + 1 == cfg.chunks;
#pragma unroll
      for (int i = 0; i < kQuads; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) a[0][i][j] = a_first[i][j];
#pragma unroll
      for (int i = 0; i < kN / 2; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) b[0][i][j] = b_first[i][j];
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        if (step == kAheadStep) load_ahead(first_tile, chunk);
        if (step + 1 == kSteps) {
          next_stage_ready(first_tile && !last);
          slot = next_slot(slot);
#pragma unroll
          for (int i = 0; i < kQuads; ++i)
            load_matrix4(a_first[i], a_shift[0] + slot + (last ? next_units : M) * a_row + i * kColumns * 32);
          load_b(b_first, filter_of(last ? 0 : chunk + 1, slot), 0);
        } else {
          fetch(chunk, step);
        }
        products(step);
      }
    }
    // Epilogue. The thread's place is worked out anew, so that it holds no registers above. Its rows follow one another.
    const int tid = thread_index(), lane = tid & 31, warp = (tid % kGroupThreads) >> 5, warp_m = warp % cfg.warps_m;
    const int k = first_channel + (warp / cfg.warps_m) * kN * 8 + (lane & 3) * 2 * kN;
    const auto of_channels = epilogue.template channels<2 * kN>(k, 2 * kN);
    u32 strip, n;
    int out_p = place(first_row + halo_row(M, warp_m, 0, 0), strip, n), in_image = int(strip - n * p.per_image.divisor);
    int out_q, limit;
    const auto enter_strip = [&] {
      out_q = in_image * 8 + (lane >> 2);
      limit = strip < u32(p.strips) && out_q < p.q ? p.p : 0;
    };
    enter_strip();
#pragma unroll
    for (int i = 0; i < 2 * M; ++i) {
      if (out_p < limit) {
        Acc v[2 * kN];
#pragma unroll
        for (int j = 0; j < kN; ++j) v[2 * j] = acc[i % M][j][i / M * 2], v[2 * j + 1] = acc[i % M][j][i / M * 2 + 1];
        epilogue.template store<2 * kN>(of_channels, v, int(n), 0, out_p, out_q, k, 2 * kN);
      }
      if (i + 1 < 2 * M && ++out_p == int(p.pitch.divisor)) {
        out_p = 0;
        next_strip(strip, in_image, n);
        enter_strip();
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
        for (int i = 0; i < cfg.chunks + kSplit; ++i) barrier_all();
      }
      return;
    }
    // The prologue: kDistance stages, but only the first steps of a resident filter: the products begin once those are here.
#pragma unroll 1
    for (int i = 0; i < kDistance; ++i) {
      if (loading()) load_stage();
      if (cfg.resident && i == 0) load_filter<0, kSplit ? kEarly : kSteps>(0, filter);
      if (kSplit && i == 1) load_filter<kSplit ? kEarly : 0>(0, filter);
      copy_commit();
    }
    u32 a[kQuads][4], b[kN / 2][4];
    int units = halo_tile_units(span, 0, group), row = span.first;
    copy_wait<kDistance - 1>();
    if (cfg.resident)
      barrier_all();
    else
      barrier_group();
#pragma unroll
    for (int i = 0; i < kQuads; ++i) load_matrix4(a[i], a_shift[0] + units * a_row + i * kColumns * 32);
    load_b(b, filter_of(0, 0), 0);
#pragma unroll 1
    for (int i = 0; i < span.tiles; ++i) {
      int next = i + 1 < span.tiles ? halo_tile_units(span, i + 1, group) : units;
      int first = row * halo_unit_rows(cfg);
      if constexpr (has(kTile))
        if (units == kTile) run_tile<kTile>(a, b, first, next, i == 0);
      if constexpr (has(kTile - 1))
        if (units == kTile - 1) run_tile<kTile - 1>(a, b, first, next, i == 0);
      if constexpr (has(kTile - 2))
        if (units == kTile - 2) run_tile<kTile - 2>(a, b, first, next, i == 0);
      if constexpr (has(kTile - 3))
        if (units == kTile - 3) run_tile<kTile - 3>(a, b, first, next, i == 0);
      row += units;
      units = next;
    }
  }
};

}  // namespace octavo::dev
