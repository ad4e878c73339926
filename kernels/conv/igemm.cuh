// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Implicit GEMM on mma.sync for every stride, dilation, padding, channel count and group. A multistage ring of cp.async (or,
// for addresses that are not multiples of 4, of plain loads and byte shifts), ldmatrix, register double buffering.

#include "conv/igemm_index.cuh"
#include "mma/mma.cuh"
#include "ptx/async.cuh"

namespace octavo::dev {

/// 16 bytes from any address: bytes [lo, hi) of them are read, the rest are zero. Words are read whole where that stays inside
/// [begin, end).
OCTAVO_DEVICE void load_bytes(u32 (&out)[4], const char* from, int lo, int hi, const char* begin, const char* end) {
  if (lo >= hi) {
    out[0] = out[1] = out[2] = out[3] = 0;
    return;
  }
  u64 address = reinterpret_cast<u64>(from);
  u32 shift = u32(address & 3) * 8;
  const char* base = from - (address & 3);
  u32 word[5];
#pragma unroll
  for (int i = 0; i < 5; ++i) {
    const char* at = base + 4 * i;
    word[i] = 0;
    if (at + 4 > from + lo && at < from + hi) {
      if (at >= begin && at + 4 <= end) {
        word[i] = *reinterpret_cast<const u32*>(at);
      } else {
        for (int b = 0; b < 4; ++b)
          if (at + b >= begin && at + b < end) word[i] |= u32(static_cast<u8>(at[b])) << (8 * b);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    u32 v = u32((u64(word[i + 1]) << 32 | word[i]) >> shift);
    int l = lo - 4 * i, h = hi - 4 * i;  // bytes [l, h) of this word are wanted
    if (l > 0) v = l >= 4 ? 0 : v & (0xffffffffu << (8 * l));
    if (h < 4) v = h <= 0 ? 0 : v & (0xffffffffu >> (32 - 8 * h));
    out[i] = v;
  }
}

/// Moves in one piece.
template <class T>
struct alignas(16) Four {
  T items[4];
};

/// Epilogue: held = epilogue.template channels<V>(k, valid), then epilogue.template store<V>(held, values, n, d, p, q, k,
/// valid): channels k..k+valid-1 (valid <= V) at (n, d, p, q).
template <const IgemmConfig& cfg, class Epilogue>
struct Igemm {
  static constexpr int kThreads = igemm_threads(cfg), kM = igemm_m_tiles(cfg), kN = igemm_n_tiles(cfg), kCh = cfg.bk / 16;
  static constexpr int kRowsA = cfg.bm * kCh / kThreads, kRowsB = cfg.bn * kCh / kThreads, kStep = kThreads / kCh;
  static constexpr int kA = cfg.bm * cfg.bk, kStage = igemm_stage_bytes(cfg), kSteps = cfg.bk / 32, kAhead = cfg.stages - 1;
  static constexpr bool kGather = cfg.align == 1, kOneTap = cfg.t * cfg.r * cfg.s == 1;
  // No iteration reaches past the reduction's end; copies are whole 16 bytes or none.
  static constexpr bool kExact = igemm_chunks(cfg) % kCh == 0, kWhole = kExact && cfg.tap_bytes % 16 == 0 && cfg.align == 16;
  static_assert(kStep % 8 == 0, "igemm_offset repeats every eight rows");
  static_assert(!cfg.padded || cfg.run || cfg.t + cfg.r + cfg.s <= 32);
  static_assert(kRowsA >= 1 && kRowsB >= 1 && kRowsA * kStep == cfg.bm && kRowsB * kStep == cfg.bn && kN % 2 == 0 &&
                kAhead >= 1);
  using Acc = typename Accumulator<cfg.a>::type;

  const IgemmParams& p;
  const Epilogue& epilogue;
  u32 base;
  int tid, row_tile, col_tile, group, split;
  IgemmTap tap;
  const char* x_from;  ///< the first image of this tile, this group's channels, at the current tap
  const char* w_from;
  u32 to_lane;                          ///< where this thread's first copy goes inside a stage
  int a_row[kRowsA];                    ///< the window's first element from the first image
  int a_w[cfg.run ? kRowsA : 1];        ///< run: byte of the image row where the window begins
  u32 a_taps[cfg.padded ? kRowsA : 1];  ///< bit r, R + s, R + S + t: that filter row, column, plane is inside the input
  u32 a_valid = 0, a_ok = 0, b_valid = 0;
  int b_row[kRowsB];
  u32 held[kGather ? kRowsA + kRowsB : 1][4];

  __device__ __forceinline__ Igemm(const IgemmParams& params, const Epilogue& e, char* shared) : p(params), epilogue(e) {
    base = shared_address(shared);
    tid = threadIdx.x;
    u32 tile = blockIdx.x, block = quotient(tile, p.div_tiles), column = tile - block * p.div_tiles.divisor;
    group = quotient(column, p.div_col);
    col_tile = column - group * p.div_col.divisor;
    split = cfg.split ? quotient(block, p.div_rows) : 0;
    row_tile = block - split * p.row_tiles;
    const int chunk = tid % kCh, first = tid / kCh;
    tap = igemm_tap(cfg, split * p.per_split * kCh + chunk);
    const u32 first_image = quotient(quotient(quotient(row_tile * cfg.bm, p.div_q), p.div_p), p.div_d);
    x_from = p.x + i64(first_image) * p.x_n * cfg.align + group * p.x_group + i64(x_offset()) * cfg.align;
    w_from = p.w + group * p.w_group + i64(w_offset()) * cfg.align;
    to_lane = igemm_offset(cfg.bk, first, chunk);
#pragma unroll
    for (int i = 0; i < kRowsA; ++i) {
      int row = row_tile * cfg.bm + first + i * kStep;
      u32 a = quotient(row, p.div_q), b = quotient(a, p.div_p), n = quotient(b, p.div_d);
      const int w = int(row - a * p.div_q.divisor) * p.stride_w - p.pad_w,
                h = int(a - b * p.div_p.divisor) * p.stride_h - p.pad_h,
                d = int(b - n * p.div_d.divisor) * p.stride_d - p.pad_d;
      a_row[i] = int(i64(n - first_image) * p.x_n) + d * p.x_d + h * p.x_h + w * p.x_w;
      if constexpr (cfg.run) a_w[i] = w * p.x_w;
      if constexpr (cfg.padded) {
        u32 taps = 0;
#pragma unroll
        for (int r = 0; r < cfg.r; ++r) taps |= u32(u32(h + r * p.dil_h) < u32(p.h)) << r;
#pragma unroll
        for (int s = 0; s < cfg.s; ++s) taps |= u32(cfg.run || u32(w + s * p.dil_w) < u32(p.wd)) << (cfg.r + s);
#pragma unroll
        for (int t = 0; t < cfg.t; ++t) taps |= u32(u32(d + t * p.dil_d) < u32(p.d)) << (cfg.r + cfg.s + t);
        a_taps[i] = taps;
      }
      // A filter one plane deep may still lie in front of the input or behind it.
      a_valid |= u32(row < p.rows && (!cfg.padded || cfg.t > 1 || u32(d) < u32(p.d))) << i;
    }
#pragma unroll
    for (int i = 0; i < kRowsB; ++i) {
      int k = col_tile * cfg.bn + igemm_channel(kN, first + i * kStep);
      b_row[i] = k * p.w_k;
      b_valid |= u32(k < p.group_k) << i;
    }
    update_ok();
  }

  /// Which of this thread's rows have the current tap inside the input.
  __device__ __forceinline__ void update_ok() {
    a_ok = a_valid;
    if constexpr (cfg.padded) {
      a_ok = 0;
#pragma unroll
      for (int i = 0; i < kRowsA; ++i) {
        u32 ok = (a_taps[i] >> tap.r) & (a_taps[i] >> (cfg.r + tap.s));
        if constexpr (cfg.t > 1) ok &= a_taps[i] >> (cfg.r + cfg.s + tap.t);
        a_ok |= (ok & 1) << i;
      }
      a_ok &= a_valid;
    }
  }

  /// Of the current tap and chunk, in units of align.
  __device__ __forceinline__ int x_offset() const {
    int at = (tap.c >> 1) * p.x_pair + (tap.c & 1) * (16 / cfg.align);
    if constexpr (cfg.r > 1) at += tap.r * p.x_th;
    if constexpr (cfg.s > 1) at += tap.s * p.x_tw;
    if constexpr (cfg.t > 1) at += tap.t * p.x_td;
    return at;
  }
  __device__ __forceinline__ int w_offset() const {
    int at = (tap.c >> 1) * p.w_pair + (tap.c & 1) * (16 / cfg.align);
    if constexpr (cfg.r > 1) at += tap.r * p.w_r;
    if constexpr (cfg.s > 1) at += tap.s * p.w_s;
    if constexpr (cfg.t > 1) at += tap.t * p.w_t;
    return at;
  }
  __device__ __forceinline__ void advance() {
    if (kOneTap || tap.c + kCh < igemm_per_tap(cfg)) {
      tap.c += kCh;
      x_from += i64(p.x_pair) * (kCh / 2 * cfg.align);
      w_from += i64(p.w_pair) * (kCh / 2 * cfg.align);
    } else {
      const int x_was = x_offset(), w_was = w_offset();
      igemm_advance(cfg, tap, kCh);
      x_from += i64(x_offset() - x_was) * cfg.align;
      w_from += i64(w_offset() - w_was) * cfg.align;
      update_ok();
    }
  }

  /// Starts the copies of the current chunk into stage address `to` and moves on.
  __device__ __forceinline__ void load(u32 to) {
    to += to_lane;
    int bytes = 16;
    if constexpr (cfg.tap_bytes % 16 != 0) bytes = tap.c + 1 == igemm_per_tap(cfg) ? cfg.tap_bytes % 16 : 16;
    if (!kExact && (tap.t >= cfg.t || (kOneTap && tap.c >= igemm_per_tap(cfg)))) bytes = 0;
#pragma unroll
    for (int i = 0; i < kRowsA; ++i) {
      const char* from = x_from + i64(a_row[i]) * cfg.align;
      const int n = (a_ok >> i) & 1 ? bytes : 0;
      if constexpr (kGather) {
        int lo = 0, hi = n;
        if constexpr (cfg.run) {
          int at = a_w[i] + tap.c * 16;  // byte of the row where the chunk begins
          lo = at < 0 ? -at : 0;
          hi = hi < p.wd - at ? hi : p.wd - at;
        }
        load_bytes(held[i], from, lo, hi, p.x, p.x_end);
      } else if constexpr (kWhole) {
        copy_async_bit(to + i * kStep * cfg.bk, from, a_ok, i);
      } else {
        copy(to + i * kStep * cfg.bk, from, n);
      }
    }
#pragma unroll
    for (int i = 0; i < kRowsB; ++i) {
      const char* from = w_from + i64(b_row[i]) * cfg.align;
      const int n = (b_valid >> i) & 1 ? bytes : 0;
      if constexpr (kGather)
        load_bytes(held[kRowsA + i], from, 0, n, p.w, p.w_end);
      else if constexpr (kWhole)
        copy_async_bit(to + kA + i * kStep * cfg.bk, from, b_valid, i);
      else
        copy(to + kA + i * kStep * cfg.bk, from, n);
    }
    advance();
  }
  __device__ __forceinline__ static void copy(u32 to, const char* from, int bytes) {
#pragma unroll
    for (int j = 0; j < 16; j += cfg.align) {
      int n = bytes - j < 0 ? 0 : bytes - j > cfg.align ? cfg.align : bytes - j;
      copy_async<cfg.align>(to + j, n ? from + j : from, n);
    }
  }
  /// Plain loads reach shared memory here, after the products that hide them.
  __device__ __forceinline__ void store(u32 to) {
    if constexpr (kGather) {
      const int chunk = tid % kCh, first = tid / kCh;
#pragma unroll
      for (int i = 0; i < kRowsA; ++i) store_shared16(to + igemm_offset(cfg.bk, first + i * kStep, chunk), held[i]);
#pragma unroll
      for (int i = 0; i < kRowsB; ++i)
        store_shared16(to + kA + igemm_offset(cfg.bk, first + i * kStep, chunk), held[kRowsA + i]);
    }
  }

  __device__ __forceinline__ void run() {
    const int lane = tid & 31, warp = tid >> 5, wm = warp % cfg.warps_m, wn = warp / cfg.warps_m;
    int todo = igemm_iterations(cfg);
    if constexpr (cfg.split) {
      todo -= split * p.per_split;
      todo = todo < p.per_split ? todo : p.per_split;
    }
    int loaded = 0;
    u32 fill = base;
#pragma unroll 1
    for (int i = 0; i < kAhead; ++i) {
      if (loaded < todo) {
        load(fill);
        store(fill);
        ++loaded;
      }
      fill += kStage;
      copy_commit();
    }
    Acc acc[kM][kN][4];
#pragma unroll
    for (int m = 0; m < kM; ++m)
#pragma unroll
      for (int n = 0; n < kN; ++n)
#pragma unroll
        for (int i = 0; i < 4; ++i) acc[m][n][i] = 0;

    // ldmatrix addresses; a step of 32 bytes is an XOR of the chunk's bits.
    const int ar = wm * kM * 16 + (lane & 15), br = wn * kN * 8 + (lane & 7) + ((lane >> 4) << 3);
    const u32 a_lane = igemm_offset(cfg.bk, ar, lane >> 4), b_lane = kA + igemm_offset(cfg.bk, br, (lane >> 3) & 1);
    u32 a[2][kM][4], b[2][kN / 2][4];
    u32 use = base;
    auto fetch = [&](u32 stage, int step, int to) {
#pragma unroll
      for (int m = 0; m < kM; ++m) load_matrix4(a[to][m], stage + (a_lane ^ (step << 5)) + m * 16 * cfg.bk);
#pragma unroll
      for (int n = 0; n < kN / 2; ++n) load_matrix4(b[to][n], stage + (b_lane ^ (step << 5)) + n * 16 * cfg.bk);
    };
    copy_wait<kAhead - 1>();
    barrier(1, kThreads);
    if (todo > 0) fetch(use, 0, 0);
#pragma unroll 1
    for (int it = 0; it < todo; ++it) {
      u32 next = use + kStage == base + cfg.stages * kStage ? base : use + kStage;
      const bool more = loaded < todo;
      const u32 into = fill == base + cfg.stages * kStage ? base : fill;
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        if (step == 0) {
          if (more) load(into);
          if constexpr (!kGather || kSteps > 1) {
            if constexpr (!kGather) copy_commit();
          }
        }
        if (step + 1 < kSteps) {
          fetch(use, step + 1, (step + 1) & 1);
        } else {
          if constexpr (kGather) {
            if (more) store(into);
            copy_commit();
          }
          copy_wait<kAhead - 1>();
          barrier(1, kThreads);
          fetch(next, 0, (step + 1) & 1);
        }
#pragma unroll
        for (int n = 0; n < kN; ++n)
#pragma unroll
          for (int m = 0; m < kM; ++m)
            multiply<cfg.a, cfg.b>(acc[m][n], a[step & 1][m], b[step & 1][n / 2][n % 2 * 2], b[step & 1][n / 2][n % 2 * 2 + 1]);
      }
      if constexpr (kSteps & 1) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
#pragma unroll
          for (int m = 0; m < kM; ++m) a[0][m][j] = a[1][m][j];
#pragma unroll
          for (int n = 0; n < kN / 2; ++n) b[0][n][j] = b[1][n][j];
        }
      }
      loaded += more;
      fill = into + kStage;
      use = next;
    }
    finish(acc);
  }

  __device__ __forceinline__ void finish(const Acc (&acc)[kM][kN][4]) {
    const int thread = thread_index(), lane = thread & 31, warp = thread >> 5, wm = warp % cfg.warps_m, wn = warp / cfg.warps_m;
    const int column = col_tile * cfg.bn + wn * kN * 8 + (lane & 3) * 2 * kN;
    int valid = p.group_k - column;
    valid = valid > 2 * kN ? 2 * kN : valid;
    if (valid <= 0) return;
    const int k = group * p.group_k + column;
    const auto of_channels = epilogue.template channels<2 * kN>(k, cfg.split ? 0 : valid);
#pragma unroll
    for (int m = 0; m < kM; ++m)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int row = row_tile * cfg.bm + wm * kM * 16 + m * 16 + h * 8 + (lane >> 2);
        if (row >= p.rows) continue;
        Acc v[2 * kN];
#pragma unroll
        for (int i = 0; i < kN; ++i) v[2 * i] = acc[m][i][2 * h], v[2 * i + 1] = acc[m][i][2 * h + 1];
        if constexpr (cfg.split) {
          const i64 columns = i64(p.div_tiles.divisor) * cfg.bn;
          Acc* to =
              static_cast<Acc*>(p.partial) + (i64(split) * p.rows + row) * columns + group * p.col_tiles * cfg.bn + column;
#pragma unroll
          for (int i = 0; i < 2 * kN; i += 4) *reinterpret_cast<Four<Acc>*>(to + i) = {{v[i], v[i + 1], v[i + 2], v[i + 3]}};
        } else {
          u32 x = quotient(row, p.div_q), y = quotient(x, p.div_p), n = quotient(y, p.div_d);
          epilogue.template store<2 * kN>(of_channels, v, int(n), int(y - n * p.div_d.divisor), int(x - y * p.div_p.divisor),
                                          int(row - x * p.div_q.divisor), k, valid);
        }
      }
  }
};

/// The second half of a split: sums the partials in order and runs the epilogue. One thread for each 8 channels of a row.
template <const IgemmConfig& cfg, class Epilogue>
OCTAVO_DEVICE void igemm_reduce(const IgemmParams& p, const Epilogue& epilogue, u32 block, u32 threads) {
  using Acc = typename Accumulator<cfg.a>::type;
  const int columns = p.div_tiles.divisor * cfg.bn, pieces = columns / 8;
  const i64 index = i64(block) * threads + threadIdx.x;
  const int row = int(index / pieces), piece = int(index % pieces), group = piece * 8 / (p.col_tiles * cfg.bn),
            column = piece * 8 - group * p.col_tiles * cfg.bn;
  int valid = p.group_k - column;
  if (row >= p.rows || valid <= 0) return;
  Acc v[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) v[i] = 0;
  const Acc* from = static_cast<const Acc*>(p.partial) + i64(row) * columns + piece * 8;
  for (int s = 0; s < p.splits; ++s, from += i64(p.rows) * columns) {
    const Four<Acc> low = *reinterpret_cast<const Four<Acc>*>(from), high = *reinterpret_cast<const Four<Acc>*>(from + 4);
#pragma unroll
    for (int i = 0; i < 4; ++i) v[i] += low.items[i], v[4 + i] += high.items[i];
  }
  u32 x = quotient(row, p.div_q), y = quotient(x, p.div_p), n = quotient(y, p.div_d);
  valid = valid > 8 ? 8 : valid;
  const int k = group * p.group_k + column;
  epilogue.template store<8>(epilogue.template channels<8>(k, valid), v, int(n), int(y - n * p.div_d.divisor),
                             int(x - y * p.div_p.divisor), int(row - x * p.div_q.divisor), k, valid);
}

}  // namespace octavo::dev
