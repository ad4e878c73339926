// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "device/cuda_kernel.h"

#include <algorithm>
#include <string>

namespace octavo::cuda {

error_t Kernel::load(int ordinal, std::string_view cubin, const char* entry, int dynamic_shared,
                     std::shared_ptr<const Kernel>& kernel) {
  Context context = nullptr;
  OCTAVO_RETURN_IF_ERROR(primary_context(ordinal, context));
  const Driver* d = driver();
  const CurrentContext current(context);
  std::shared_ptr<Kernel> loaded(new Kernel);
  loaded->driver_ = d;
  loaded->context_ = context;
  // The driver reads an ELF image's own length, so the text needs no terminator.
  OCTAVO_RETURN_IF_ERROR(check(d->ModuleLoadData(&loaded->module_, cubin.data()), "Loading a compiled kernel"));
  OCTAVO_RETURN_IF_ERROR(
      check(d->ModuleGetFunction(&loaded->function_, loaded->module_, entry), "Looking up the kernel's entry point"));
  if (dynamic_shared > 0) {
    const std::string what = "Asking for " + std::to_string(dynamic_shared) + " bytes of shared memory";
    OCTAVO_RETURN_IF_ERROR(check(d->FuncSetAttribute(loaded->function_, kMaxDynamicShared, dynamic_shared), what.c_str()));
  }
  d->FuncGetAttribute(&loaded->registers_, kRegisters, loaded->function_);
  d->FuncGetAttribute(&loaded->static_shared_, kStaticShared, loaded->function_);
  d->FuncGetAttribute(&loaded->local_bytes_, kLocalBytes, loaded->function_);
  kernel = std::move(loaded);
  return {};
}

Kernel::~Kernel() {
  if (!module_) return;
  const CurrentContext current(context_);
  driver_->ModuleUnload(module_);
}

error_t Kernel::launch(const Launch& launch, void** params, void* stream) const {
  const CurrentContext current(context_);
  Status status = 0;
  if (launch.cluster <= 1 && !launch.programmatic) {
    status = driver_->LaunchKernel(function_, launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0], launch.block[1],
                                   launch.block[2], launch.shared_bytes, static_cast<Stream>(stream), params, nullptr);
  } else {
    LaunchAttribute attributes[2];
    LaunchConfig config;
    std::copy(launch.grid, launch.grid + 3, config.grid);
    std::copy(launch.block, launch.block + 3, config.block);
    config.shared_bytes = launch.shared_bytes;
    config.stream = static_cast<Stream>(stream);
    config.attributes = attributes;
    if (launch.cluster > 1) {
      LaunchAttribute& a = attributes[config.attribute_count++];
      a.id = LaunchAttribute::cluster_dimension;
      a.value.cluster = {launch.cluster, 1, 1};
    }
    if (launch.programmatic) {
      LaunchAttribute& a = attributes[config.attribute_count++];
      a.id = LaunchAttribute::programmatic_stream_serialization;
      a.value.flag = 1;
    }
    status = driver_->LaunchKernelEx(&config, function_, params, nullptr);
  }
  if (status == 0) return {};
  return {error_code_t::GRAPH_EXECUTION_FAILED, check(status, "Launching a kernel").err_msg};
}

int Kernel::blocks_per_multiprocessor(int threads, int dynamic_shared) const {
  const CurrentContext current(context_);
  int blocks = 0;
  if (driver_->Occupancy(&blocks, function_, threads, static_cast<std::size_t>(dynamic_shared)) != 0) return 1;
  return std::max(blocks, 1);
}

}  // namespace octavo::cuda
