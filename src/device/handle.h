// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The inside of a handle, and what the graph needs of a device beyond engines: its traits, scratch memory for autotuning,
// pointer checks, waiting, capture. No CUDA type shows here.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "octavo/device.h"
#include "octavo/handle.h"

namespace octavo {

struct Context {
  static constexpr std::uint32_t kAlive = 0x0c7a70c7u;
  std::uint32_t alive = kAlive;
  std::int32_t ordinal = -1;  ///< -1 = the CPU
  CUstream_st* stream = nullptr;
  std::shared_ptr<const DeviceTraits> traits;
};

struct KernelCacheAccess {
  static void add(KernelCache& cache, std::string const& key);
};

namespace graph {

/// An error for a null or destroyed handle.
error_t check_handle(handle_t handle);
error_t handle_traits(handle_t handle, std::shared_ptr<const DeviceTraits>& traits);
/// The device a graph was planned for must be the handle's.
error_t check_same_device(handle_t handle, DeviceTraits const& planned);

std::string traits_to_text(DeviceTraits const& traits);
error_t traits_from_text(std::string const& text, std::shared_ptr<const DeviceTraits>& traits);

void note_in_kernel_cache(KernelCache& cache, std::string const& key);

/// Memory on the handle's device.
class Scratch {
 public:
  Scratch();
  Scratch(Scratch const&) = delete;
  Scratch& operator=(Scratch const&) = delete;
  ~Scratch();
  error_t allocate(handle_t handle, std::int64_t bytes);
  void* get() const;

 private:
  struct Memory;
  std::unique_ptr<Memory> memory_;
};

/// On a GPU: an error for an address that its kernels cannot reach.
error_t check_reachable(handle_t handle, void const* pointer, std::string const& name);

/// Runs `work` with a handle on the same device whose stream is being captured, and puts what it enqueued into `graph`: new
/// nodes in an empty graph, or (update) new parameters for the nodes that are there.
error_t capture_into(handle_t handle, CUgraph_st* graph, bool update, std::function<error_t(handle_t)> const& work);

/// Waits for everything enqueued on the handle's stream.
error_t synchronize(handle_t handle);

}  // namespace graph
}  // namespace octavo
