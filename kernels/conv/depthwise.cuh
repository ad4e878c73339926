// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Depthwise and narrow groups (as many outputs as inputs a group, at most eight): bound by memory, so each input comes in
// wide and as seldom as registers allow. A thread owns V neighbouring channels of TP x TQ output positions; a block keeps the
// filter of its channels in shared memory and walks over positions. Bytes go through dp4a: over the taps of a filter row
// where a group is one channel, over channels where it is four or eight.
//
// `Conv` (engines/cuda_depthwise) has: X, W, idx_t; V TP TQ; CV (vectors of channels), CB (of them a block), PY (tiles a block
// at once); CG; N X1 X2 R1 R2 Y1 Y2 B1 B2 S1 S2 D1 D2; XS0 XS1 XS3 XS4 XV, WS0 WS1 WS3 WS4 WV; PT QT kTiles; kFlip, kZeroX,
// kFilterZero, kZeroW; kPath.

#include "conv/geometry.cuh"
#include "epilogue/access.cuh"
#include "epilogue/pointwise.cuh"
#include "ptx/bytes.cuh"
#include "ptx/types.cuh"

namespace octavo::conv {

enum DepthwisePath : int { kPlain = 0, kTaps = 1, kGroups = 2 };

template <class T>
OCTAVO_DEVICE void convert(T v, s32, s32& out) {
  out = to_int(v);
}
template <class T>
OCTAVO_DEVICE void convert(T v, float, float& out) {
  out = to_float(v);
}
OCTAVO_DEVICE s32 madd(s32 a, s32 b, s32 acc) {
  return static_cast<s32>(static_cast<u32>(acc) + static_cast<u32>(a) * static_cast<u32>(b));
}
OCTAVO_DEVICE float madd(float a, float b, float acc) { return fmaf(a, b, acc); }

/// One filter element, zero point taken away (kPlain) or as it is.
template <class Conv>
OCTAVO_DEVICE const typename Conv::W& filter_at(const typename Conv::W* w, int k, int j, int r1, int r2) {
  using I = typename Conv::idx_t;
  return w[static_cast<I>(k) * Conv::WS0 + channel_offset<I>(j, Conv::WS1, Conv::WV) +
           filter_index<I>(r1, Conv::R1, Conv::kFlip) * Conv::WS3 + filter_index<I>(r2, Conv::R2, Conv::kFlip) * Conv::WS4];
}

template <class Conv, class Acc>
struct Filter {
  static constexpr int kTapWords = (Conv::R2 + 3) / 4;
  static constexpr int kGroupWords = (Conv::CG + 3) / 4;
  static constexpr int kChannels = Conv::CB * Conv::V;
  static constexpr int kRows = Conv::kPath == kPlain  ? Conv::R1 * Conv::R2 * Conv::CG
                               : Conv::kPath == kTaps ? Conv::R1 * kTapWords
                                                      : Conv::R1 * Conv::R2 * kGroupWords;

  static OCTAVO_DEVICE void load(const typename Conv::W* w, const s32* zero_points, int first, Acc* to) {
    for (int i = threadIdx.x; i < kRows * kChannels; i += blockDim.x) {
      const int row = i / kChannels, at = i % kChannels, k = first + at;
      Acc value = 0;
      if (k < Conv::CV * Conv::V) {
        if constexpr (Conv::kPath == kPlain) {
          const int tap = row / Conv::CG, j = row % Conv::CG;
          convert(filter_at<Conv>(w, k, j, tap / Conv::R2, tap % Conv::R2), Acc(0), value);
          if constexpr (Conv::kFilterZero == 1)
            value = static_cast<Acc>(static_cast<u32>(value) - static_cast<u32>(Conv::kZeroW));
          if constexpr (Conv::kFilterZero == 2)
            value = static_cast<Acc>(static_cast<u32>(value) - static_cast<u32>(zero_points[k]));
        } else {
          u32 word = 0;
#pragma unroll
          for (int b = 0; b < 4; ++b) {
            u32 byte = 0;
            if constexpr (Conv::kPath == kTaps) {
              const int r1 = row / kTapWords, r2 = row % kTapWords * 4 + b;
              if (r2 < Conv::R2) byte = static_cast<u8>(filter_at<Conv>(w, k, 0, r1, r2));
            } else {
              const int tap = row / kGroupWords, j = row % kGroupWords * 4 + b;
              byte = static_cast<u8>(filter_at<Conv>(w, k, j, tap / Conv::R2, tap % Conv::R2));
            }
            word |= byte << (8 * b);
          }
          value = static_cast<Acc>(word);
        }
      }
      to[i] = value;
    }
  }
};

/// V input elements as they lie in memory.
template <class Conv>
union Column {
  typename Conv::X items[Conv::V];
  u32 words[(Conv::V * sizeof(typename Conv::X) + 3) / 4];
};

template <class Conv>
OCTAVO_DEVICE u32 padding_word() {
  return 0x01010101u * static_cast<u8>(Conv::kZeroX);
}

/// The part of one input row that a tile reads. Outside the image: x's zero point (bytes), or zero bits.
template <class Conv, int kColumns>
OCTAVO_DEVICE void load_row(const typename Conv::X* row, bool row_inside, int first, bool wide,
                            Column<Conv> (&columns)[kColumns]) {
  using I = typename Conv::idx_t;
  constexpr u32 kFillBytes = sizeof(typename Conv::X) == 1 ? 1 : 0;
#pragma unroll
  for (int j = 0; j < kColumns; ++j)
#pragma unroll
    for (int i = 0; i < static_cast<int>(sizeof(Column<Conv>) / 4); ++i)
      columns[j].words[i] = kFillBytes ? padding_word<Conv>() : 0u;
  if (!row_inside) return;
  if (wide) {
#pragma unroll
    for (int j = 0; j < kColumns; ++j)
      if (first + j >= 0 && first + j < Conv::X2)
        load_run<Conv::V, true>(row + static_cast<I>(first + j) * Conv::XS4, columns[j].items);
  } else {
#pragma unroll
    for (int j = 0; j < kColumns; ++j)
      if (first + j >= 0 && first + j < Conv::X2)
        load_run<Conv::V, false>(row + static_cast<I>(first + j) * Conv::XS4, columns[j].items);
  }
}

template <class Conv, class Acc, int kColumns>
OCTAVO_DEVICE void row_plain(const Column<Conv> (&columns)[kColumns], const Acc* filter, Acc (&acc)[Conv::TQ][Conv::V]) {
  constexpr int kStep = Filter<Conv, Acc>::kChannels;
  Acc in[kColumns][Conv::V];
#pragma unroll
  for (int j = 0; j < kColumns; ++j)
#pragma unroll
    for (int v = 0; v < Conv::V; ++v) {
      convert(columns[j].items[v], Acc(0), in[j][v]);
      if constexpr (Conv::kZeroX != 0) in[j][v] = static_cast<Acc>(static_cast<u32>(in[j][v]) - static_cast<u32>(Conv::kZeroX));
    }
#pragma unroll
  for (int r2 = 0; r2 < Conv::R2; ++r2)
#pragma unroll
    for (int j = 0; j < Conv::CG; ++j) {
      Acc weight[Conv::V];
      load_run<Conv::V, true>(filter + (r2 * Conv::CG + j) * kStep, weight);
#pragma unroll
      for (int q = 0; q < Conv::TQ; ++q)
#pragma unroll
        for (int v = 0; v < Conv::V; ++v)
          acc[q][v] = madd(in[q * Conv::S2 + r2 * Conv::D2][v / Conv::CG * Conv::CG + j], weight[v], acc[q][v]);
    }
}

template <class Conv, int kColumns>
OCTAVO_DEVICE void row_taps(const Column<Conv> (&columns)[kColumns], const s32* filter, s32 (&acc)[Conv::TQ][Conv::V]) {
  constexpr bool kSignedX = is_same<typename Conv::X, s8>::value, kSignedW = is_same<typename Conv::W, s8>::value;
  constexpr int kTapWords = Filter<Conv, s32>::kTapWords, kStep = Filter<Conv, s32>::kChannels;
  constexpr int kWords = ((Conv::TQ - 1) * Conv::S2 + 4 * (kTapWords - 1) + 3) / 4 + 1;
  s32 weight[kTapWords][Conv::V];
#pragma unroll
  for (int h = 0; h < kTapWords; ++h) load_run<Conv::V, true>(filter + h * kStep, weight[h]);
#pragma unroll
  for (int k = 0; k < Conv::V / 4; ++k) {
    u32 runs[kWords][4];  // [columns 4g .. 4g + 3][channel]
#pragma unroll
    for (int g = 0; g < kWords; ++g) {
      u32 four[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) four[j] = 4 * g + j < kColumns ? columns[4 * g + j < kColumns ? 4 * g + j : 0].words[k] : 0u;
      transpose4(four, runs[g]);
    }
#pragma unroll
    for (int h = 0; h < kTapWords; ++h)
#pragma unroll
      for (int q = 0; q < Conv::TQ; ++q) {
        const int at = q * Conv::S2 + 4 * h, g = at / 4, shift = at % 4;
#pragma unroll
        for (int c = 0; c < 4; ++c) {
          const u32 low = runs[g][c], high = runs[g + 1 < kWords ? g + 1 : g][c];
          const u32 window = shift == 0   ? low
                             : shift == 1 ? window4<1>(low, high)
                             : shift == 2 ? window4<2>(low, high)
                                          : window4<3>(low, high);
          acc[q][4 * k + c] = dot4<kSignedX, kSignedW>(window, static_cast<u32>(weight[h][4 * k + c]), acc[q][4 * k + c]);
        }
      }
  }
}

template <class Conv, int kColumns>
OCTAVO_DEVICE void row_groups(const Column<Conv> (&columns)[kColumns], const s32* filter, s32 (&acc)[Conv::TQ][Conv::V]) {
  constexpr bool kSignedX = is_same<typename Conv::X, s8>::value, kSignedW = is_same<typename Conv::W, s8>::value;
  constexpr int kGroupWords = Filter<Conv, s32>::kGroupWords, kStep = Filter<Conv, s32>::kChannels;
#pragma unroll
  for (int r2 = 0; r2 < Conv::R2; ++r2)
#pragma unroll
    for (int j = 0; j < kGroupWords; ++j) {
      s32 weight[Conv::V];
      load_run<Conv::V, true>(filter + (r2 * kGroupWords + j) * kStep, weight);
#pragma unroll
      for (int q = 0; q < Conv::TQ; ++q)
#pragma unroll
        for (int v = 0; v < Conv::V; ++v)
          acc[q][v] = dot4<kSignedX, kSignedW>(columns[q * Conv::S2 + r2 * Conv::D2].words[v / Conv::CG * kGroupWords + j],
                                               static_cast<u32>(weight[v]), acc[q][v]);
    }
}

/// dp4a sums x * w; sum (x - zx) * w is that less zx times the sum of the filter.
template <class Conv>
OCTAVO_DEVICE void zero_point_term(const s32* filter, s32 (&term)[Conv::V]) {
  constexpr bool kSignedW = is_same<typename Conv::W, s8>::value;
#pragma unroll
  for (int v = 0; v < Conv::V; ++v) term[v] = 0;
  for (int row = 0; row < Filter<Conv, s32>::kRows; ++row)
#pragma unroll
    for (int v = 0; v < Conv::V; ++v)
      term[v] = dot4<false, kSignedW>(0x01010101u, static_cast<u32>(filter[row * Filter<Conv, s32>::kChannels + v]), term[v]);
#pragma unroll
  for (int v = 0; v < Conv::V; ++v) term[v] *= -Conv::kZeroX;
}

template <class Conv, class Epilogue, class EpilogueArgs>
OCTAVO_DEVICE void depthwise(const typename Conv::X* __restrict__ x, const typename Conv::W* __restrict__ w,
                             const s32* zero_points, int wide, const EpilogueArgs& args) {
  using I = typename Conv::idx_t;
  using Acc = typename Epilogue::acc_t;
  using E = typename Epilogue::idx_t;
  using Rows = Filter<Conv, Acc>;
  constexpr int kColumns = (Conv::TQ - 1) * Conv::S2 + (Conv::R2 - 1) * Conv::D2 + 1;
  constexpr int kHeight = (Conv::TP - 1) * Conv::S1 + (Conv::R1 - 1) * Conv::D1 + 1;
  constexpr int kRowStep = Rows::kRows / Conv::R1 * Rows::kChannels;
  alignas(16) __shared__ Acc filter[Rows::kRows * Rows::kChannels];
  Rows::load(w, zero_points, static_cast<int>(blockIdx.y) * Rows::kChannels, filter);
  __syncthreads();
  const int lane = static_cast<int>(threadIdx.x) % Conv::CB;
  const int vector = static_cast<int>(blockIdx.y) * Conv::CB + lane;
  if (vector >= Conv::CV) return;
  const int c = vector * Conv::V;
  const Acc* mine = filter + lane * Conv::V;
  const auto* xc = x + channel_offset<I>(static_cast<I>(c), Conv::XS1, Conv::XV);
  const auto channels = Epilogue::template channels<Conv::V, false>(args, static_cast<E>(c));
  [[maybe_unused]] s32 term[Conv::V];
  if constexpr (Conv::kPath != kPlain && Conv::kZeroX != 0) zero_point_term<Conv>(mine, term);
  const u64 step = static_cast<u64>(gridDim.x) * Conv::PY;
#pragma unroll 1
  for (u64 tile = static_cast<u64>(blockIdx.x) * Conv::PY + threadIdx.x / Conv::CB; tile < Conv::kTiles; tile += step) {
    typename Conv::tile_t rest = static_cast<typename Conv::tile_t>(tile);
    const int q0 = static_cast<int>(rest % Conv::QT) * Conv::TQ;
    rest /= Conv::QT;
    const int p0 = static_cast<int>(rest % Conv::PT) * Conv::TP;
    const I n = static_cast<I>(rest / Conv::PT);
    const int top = p0 * Conv::S1 - Conv::B1, left = q0 * Conv::S2 - Conv::B2;
    const auto* image = xc + n * Conv::XS0;
    Acc acc[Conv::TP][Conv::TQ][Conv::V];
#pragma unroll
    for (int p = 0; p < Conv::TP; ++p)
#pragma unroll
      for (int q = 0; q < Conv::TQ; ++q)
#pragma unroll
        for (int v = 0; v < Conv::V; ++v) {
          if constexpr (Conv::kPath != kPlain && Conv::kZeroX != 0) {
            acc[p][q][v] = static_cast<Acc>(term[v]);
          } else {
            acc[p][q][v] = 0;
          }
        }
    const auto row = [&](int height, int r1, Acc(&to)[Conv::TQ][Conv::V], Column<Conv>(&columns)[kColumns], bool load) {
      if (load) {
        const int h = top + height;
        load_row<Conv, kColumns>(image + static_cast<I>(h) * Conv::XS3, h >= 0 && h < Conv::X1, left, wide != 0, columns);
      }
      const Acc* from = mine + r1 * kRowStep;
      if constexpr (Conv::kPath == kPlain) {
        row_plain<Conv, Acc, kColumns>(columns, from, to);
      } else if constexpr (Conv::kPath == kTaps) {
        row_taps<Conv, kColumns>(columns, from, to);
      } else {
        row_groups<Conv, kColumns>(columns, from, to);
      }
    };
    if constexpr (Conv::TP == 1) {
#pragma unroll 1
      for (int r1 = 0; r1 < Conv::R1; ++r1) {
        Column<Conv> columns[kColumns];
        row(r1 * Conv::D1, r1, acc[0], columns, true);
      }
    } else {
#pragma unroll
      for (int height = 0; height < kHeight; ++height) {
        Column<Conv> columns[kColumns];
        bool load = true;
#pragma unroll
        for (int p = 0; p < Conv::TP; ++p)
#pragma unroll
          for (int r1 = 0; r1 < Conv::R1; ++r1)
            if (p * Conv::S1 + r1 * Conv::D1 == height) {
              row(height, r1, acc[p], columns, load);
              load = false;
            }
      }
    }
#pragma unroll
    for (int p = 0; p < Conv::TP; ++p) {
      if (p0 + p >= Conv::Y1) break;
#pragma unroll
      for (int q = 0; q < Conv::TQ; ++q) {
        if (q0 + q >= Conv::Y2) break;
        const auto at = Epilogue::row(static_cast<E>(n), E(0), static_cast<E>(p0 + p), static_cast<E>(q0 + q));
        if (wide) {
          Epilogue::template store<Conv::V, true>(args, at, static_cast<E>(c), channels, acc[p][q]);
        } else {
          Epilogue::template store<Conv::V, false>(args, at, static_cast<E>(c), channels, acc[p][q]);
        }
      }
    }
  }
}

}  // namespace octavo::conv
