// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What this machine can do at most: loops that touch registers only, so that a figure in a report is a share of something
// measured in the same run and not of a data sheet.

#include <cstdint>
#include <string>
#include <vector>

#include "octavo/device.h"
#include "octavo/enums.h"

namespace octavo::cli {

/// Runs `iterations` rounds and returns the operations done (a multiply-add is two).
using CeilingLoop = double (*)(std::int64_t iterations);

struct CeilingKernel {
  const char* name = "";  ///< the instruction: "vpdpbusd zmm"
  CeilingLoop loop = nullptr;
};

struct Ceiling {
  std::string name;
  double gops = 0;  ///< best of several short runs, all threads together
};

/// The fastest exact loop for inputs of `type` that the (possibly forced) instruction set of `device` has.
CeilingKernel ceiling_kernel(DataType_t type, const DeviceTraits& device);
Ceiling measure_ceiling(const CeilingKernel& kernel, int threads, double seconds = 0.1);
/// Every loop this processor can run, for doctor.
std::vector<CeilingKernel> all_ceiling_kernels(const DeviceTraits& device);
/// Sustained read bandwidth of memory larger than the caches, GB/s.
double measure_read_bandwidth(int threads, double seconds = 0.2);

/// A short look at the machine's own speed around a timed call: Gop/s of about 20 us of the loop on every thread.
class RateProbe {
 public:
  RateProbe(const CeilingKernel& kernel, int threads);
  double sample();

 private:
  CeilingKernel kernel_;
  int threads_;
  std::int64_t iterations_;
};

// One function a file of its instruction set; null-named where the compiler's target is another processor.
double loop_s8_vnni512(std::int64_t iterations);
double loop_s16_vnni512(std::int64_t iterations);
double loop_bf16_avx512(std::int64_t iterations);
double loop_f32_avx512(std::int64_t iterations);
double loop_s16_avx512(std::int64_t iterations);
double loop_s16_avx2(std::int64_t iterations);
double loop_f32_avx2(std::int64_t iterations);
double loop_s8_amx(std::int64_t iterations);
double loop_bf16_amx(std::int64_t iterations);
double loop_s8_sdot(std::int64_t iterations);
double loop_f32_portable(std::int64_t iterations);
double loop_s32_portable(std::int64_t iterations);

}  // namespace octavo::cli
