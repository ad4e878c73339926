// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Joins the accumulators of a tensor-core tile to a generated epilogue (engines/cuda_common/epilogue_codegen.h).

#include "epilogue/access.cuh"
#include "epilogue/pointwise.cuh"
#include "mma/types.cuh"

namespace octavo::dev {

struct StoreConfig {
  int granule = 1;          ///< power of two that divides a group's output channels: a run of it is wholly inside or outside
  bool wide = false;        ///< pointers are aligned and runs may be accessed in wide pieces
  bool transposed = false;  ///< wgrad: the values run along dimension 0 of the result, and `n` is its channel
  bool flip = false;        ///< the spatial coordinates of the result count backwards
  int s0 = 1, s1 = 1, s2 = 1;
  bool correct = false;  ///< subtract corrections[k] (zero point of x)
};

template <const StoreConfig& cfg, class E, class Args>
struct TileStore {
  using Index = typename E::idx_t;
  const Args& args;
  const int* corrections;

  template <int V>
  static constexpr int kPiece = cfg.granule < V ? cfg.granule : V;

  /// What depends on the channels only; read once, used for many rows.
  template <int V>
  struct Channels {
    typename E::template Channels<kPiece<V>> piece[V / kPiece<V>];
    int correction[cfg.correct ? V : 1];
  };
  template <int V>
  OCTAVO_DEVICE Channels<V> channels(int k, int valid) const {
    constexpr int kP = kPiece<V>;
    Channels<V> held;
    if constexpr (!cfg.transposed) {
#pragma unroll
      for (int j = 0; j < V; j += kP)
        if (kP == V || j < valid)
          held.piece[j / kP] = E::template channels<kP, (cfg.wide && kP > 1)>(args, static_cast<Index>(k + j));
    }
    if constexpr (cfg.correct) {
#pragma unroll
      for (int j = 0; j < V; ++j) held.correction[j] = j < valid ? corrections[k + j] : 0;
    }
    return held;
  }

  template <int V, class Acc>
  OCTAVO_DEVICE void store(const Channels<V>& held, const Acc (&v)[V], int n, int d, int p, int q, int k, int valid) const {
    constexpr int kP = kPiece<V>;
    if constexpr (cfg.flip) d = cfg.s0 - 1 - d, p = cfg.s1 - 1 - p, q = cfg.s2 - 1 - q;
    if constexpr (cfg.transposed) {
      const auto one = E::template channels<1, false>(args, static_cast<Index>(n));
#pragma unroll
      for (int j = 0; j < V; ++j) {
        if (j < valid) {
          const Acc piece[1] = {v[j]};
          E::template store<1, false>(
              args, E::row(static_cast<Index>(k + j), static_cast<Index>(d), static_cast<Index>(p), static_cast<Index>(q)),
              static_cast<Index>(n), one, piece);
        }
      }
    } else {
      const auto row = E::row(static_cast<Index>(n), static_cast<Index>(d), static_cast<Index>(p), static_cast<Index>(q));
#pragma unroll
      for (int j = 0; j < V; j += kP) {
        if (kP == V || j < valid) {
          Acc piece[kP];
#pragma unroll
          for (int i = 0; i < kP; ++i) {
            piece[i] = v[j + i];
            if constexpr (cfg.correct)
              piece[i] = static_cast<Acc>(static_cast<u32>(piece[i]) - static_cast<u32>(held.correction[j + i]));
          }
          E::template store<kP, (cfg.wide && kP > 1)>(args, row, static_cast<Index>(k + j), held.piece[j / kP], piece);
        }
      }
    }
  }
};

}  // namespace octavo::dev
