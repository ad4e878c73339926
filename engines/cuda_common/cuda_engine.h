// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the CUDA engines share on the host: their kernels as requests (pure, so that caches fill without a GPU), and plans
// that hold loaded kernels.

#include <memory>
#include <vector>

#include "device/cuda_kernel.h"
#include "device/cuda_memory.h"
#include "engines/cuda_common/epilogue_codegen.h"
#include "jit/kernel_request.h"
#include "octavo/engine.h"

namespace octavo::cuda {

class CudaEngine : public Engine {
 public:
  DeviceKind device() const override { return DeviceKind::cuda; }
  /// Every kernel that build() would compile for this spec, in the order that it uses. Pure.
  virtual Result<std::vector<jit::KernelRequest>> requests(const Problem& problem, const PlanSpec& spec,
                                                           const DeviceTraits& device) const = 0;
};

/// Compiles (or finds) a kernel and loads it on the device.
error_t load_kernel(const jit::KernelRequest& request, const DeviceTraits& device, int dynamic_shared,
                    std::shared_ptr<const Kernel>& kernel);

/// A stub: `config` text, the epilogue, and an extern "C" kernel with `parameters` that runs `body`.
std::string kernel_stub(const std::string& config, const std::string& epilogue, int threads, const std::string& parameters,
                        const std::string& body, int min_blocks = 1);

/// A filter that BuildOptions::constant_filter holds (host or device memory), copied to the plan's device.
class ConstantFilter {
 public:
  error_t set(const Problem& problem, const DeviceTraits& device, const BuildOptions& options);
  /// The bound filter, or the copy.
  const void* select(const void* bound) const { return buffer_.data() ? buffer_.data() : bound; }

 private:
  Buffer buffer_;
};

/// An input's address is null though the problem reads it.
error_t missing_input(const char* name);

}  // namespace octavo::cuda
