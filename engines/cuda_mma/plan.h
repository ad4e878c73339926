// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "engines/cuda_mma/config.h"
#include "octavo/engine.h"

namespace octavo::cuda::mma {

/// Packs what needs packing, runs the kernel, and sums the parts of a split. Buffers that are aligned worse than the kernel
/// assumes go to cuda_simt, which takes any address.
error_t build_plan(const Problem& problem, const Lowered& l, const Config& c, const DeviceTraits& device,
                   const BuildOptions& options, std::unique_ptr<Plan>& plan);

}  // namespace octavo::cuda::mma
