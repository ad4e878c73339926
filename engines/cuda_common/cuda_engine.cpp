// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "engines/cuda_common/cuda_engine.h"

namespace octavo::cuda {

error_t load_kernel(const jit::KernelRequest& request, const DeviceTraits& device, int dynamic_shared,
                    std::shared_ptr<const Kernel>& kernel) {
  auto binary = jit::compile(request);
  if (!binary) return binary.error();
  return Kernel::load(device.ordinal, (*binary)->cubin, request.entry.c_str(), dynamic_shared, kernel);
}

std::string kernel_stub(const std::string& config, const std::string& epilogue, int threads, const std::string& parameters,
                        const std::string& body, int min_blocks) {
  return "using namespace octavo;\n" + config + epilogue + "extern \"C\" __global__ void __launch_bounds__(" +
         std::to_string(threads) + ", " + std::to_string(min_blocks) + ") octavo_kernel(" + parameters + ") {\n  " + body +
         "\n}\n";
}

error_t ConstantFilter::set(const Problem& problem, const DeviceTraits& device, const BuildOptions& options) {
  if (!options.constant_filter || problem.direction == Direction::wgrad) return {};
  const auto bytes = static_cast<std::size_t>(problem.w.span_bytes());
  OCTAVO_RETURN_IF_ERROR(Buffer::allocate(device.ordinal, bytes, buffer_));
  return buffer_.upload(options.constant_filter, bytes);
}

error_t missing_input(const char* name) {
  return {error_code_t::INVALID_VARIANT_PACK,
          std::string("Tensor ") + name + " has no address, but the plan reads it: bind a buffer to it."};
}

}  // namespace octavo::cuda
