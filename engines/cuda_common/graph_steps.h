// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a graph does besides convolutions, on a GPU: pointwise operations alone, reductions, the filter reordering.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "jit/kernel_request.h"
#include "octavo/device.h"
#include "octavo/engine.h"

namespace octavo::cuda {

struct Reduction {
  ReductionMode_t mode = ReductionMode_t::ADD;
  bool squares = false;  ///< sum of squares (genstats); mode is then ignored
  DataType_t compute = DataType_t::FLOAT;
  TensorDesc x, y;  ///< y's dims are x's, or 1 where reduced
};

/// Immutable; execute() does not allocate, lock or synchronise, and can be captured.
class StepPlan {
 public:
  virtual ~StepPlan() = default;
  virtual std::int64_t workspace_bytes() const { return 0; }
  virtual error_t execute(std::span<const void* const> in, std::span<void* const> out, void* workspace, void* stream) const = 0;
};

/// Nodes on operands only; `shape` has the result's dims.
error_t build_pointwise(const TensorDesc& shape, const Epilogue& epilogue, const DeviceTraits& device,
                        std::unique_ptr<StepPlan>& plan);
error_t build_reduction(const Reduction& reduction, const DeviceTraits& device, std::unique_ptr<StepPlan>& plan);
/// `w`: the plain result, s8.
error_t build_reorder(const TensorDesc& w, const DeviceTraits& device, std::unique_ptr<StepPlan>& plan);

// The kernels, for tests that compile them without a GPU.
jit::KernelRequest pointwise_request(const TensorDesc& shape, const Epilogue& epilogue, const DeviceTraits& device);
std::vector<jit::KernelRequest> reduction_requests(const Reduction& reduction, const DeviceTraits& device);
jit::KernelRequest reorder_request(const TensorDesc& w, const DeviceTraits& device);

}  // namespace octavo::cuda
