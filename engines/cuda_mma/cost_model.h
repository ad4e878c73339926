// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// How long a configuration takes, in microseconds: tensor pipe, shared memory, L2 and DRAM of one multiprocessor, times the
// waves of blocks, with the last wave's emptiness counted. Pure. Constants are fitted to bench/measured/*.csv
// (tests/cuda_host/mma_cost_model.cpp holds the fit to its accuracy); other architectures scale by their published rates.

#include "engines/cuda_mma/config.h"

namespace octavo::cuda::mma {

/// What is fitted; cycles unless said otherwise.
struct Rates {
  double mma = 6.79;      ///< of one scheduler, for one 16x8x32-byte product
  double share = 0.93;    ///< of that rate that a perfect main loop reaches
  double shared = 0.29;   ///< weight of shared-memory cycles beside the products
  double l2 = 42;         ///< bytes a cycle into one multiprocessor
  double stage = 82;      ///< barrier and bookkeeping of one stage of a block
  double block = 3430;    ///< start of a block up to its first product
  double element = 8;     ///< epilogue: of a thread, for one element
  double launch = 1.4;    ///< us
  double dram = 5.2e6;    ///< bytes a us (a batch of layers mostly stays in the L2)
  double latency = 1270;  ///< of a stage's copies
  double halo_share = 1.03;
  double halo_issue = 140;   ///< of one scheduler: what a warp issues beside the products of a chunk
  double halo_copy = 22;     ///< the same, for each copy a thread makes
  double halo_stage = 1150;  ///< of a group alone: what nothing hides
  double halo_start = 3980;
  double halo_alone = 0;  ///< share of epilogues that one group alone cannot hide
  double reduce = 5.5;    ///< us of a second kernel
  double pack = 1.8e6;    ///< bytes a us
};

Rates rates_of(const DeviceTraits& device, dev::Elem element);
double estimate_us(const Config& c, const Lowered& l, const DeviceTraits& device, const Rates& rates);
double estimate_us(const Config& c, const Lowered& l, const DeviceTraits& device);

}  // namespace octavo::cuda::mma
