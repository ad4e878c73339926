// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A loaded kernel and its launch: what a CUDA plan holds. launch() neither allocates nor synchronises and can be captured
// in a CUDA graph.

#include <memory>
#include <string_view>

#include "device/cuda_driver.h"
#include "octavo/error.h"

namespace octavo::cuda {

struct Launch {
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned shared_bytes = 0;  ///< dynamic
  unsigned cluster = 1;       ///< blocks of a cluster along x (sm_90 and newer)
  bool programmatic = false;  ///< may start before its predecessor in the stream has ended (the kernel waits for it)
};

class Kernel {
 public:
  /// Loads `cubin` into the primary context of a device. `dynamic_shared` is the most that any launch will ask for.
  static error_t load(int ordinal, std::string_view cubin, const char* entry, int dynamic_shared,
                      std::shared_ptr<const Kernel>& kernel);
  ~Kernel();
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  /// `params` points at one pointer per kernel parameter.
  error_t launch(const Launch& launch, void** params, void* stream) const;

  int registers() const { return registers_; }
  int static_shared() const { return static_shared_; }
  /// Of one block: what the kernel declares and what the launch adds.
  std::size_t shared_bytes(const Launch& launch) const {
    return static_cast<std::size_t>(static_shared_) + launch.shared_bytes;
  }
  int local_bytes() const { return local_bytes_; }
  /// Blocks of this kernel that one multiprocessor holds at once; at least 1 is returned.
  int blocks_per_multiprocessor(int threads, int dynamic_shared) const;
  Function function() const { return function_; }
  Context context() const { return context_; }

 private:
  Kernel() = default;
  const Driver* driver_ = nullptr;
  Context context_ = nullptr;
  Module module_ = nullptr;
  Function function_ = nullptr;
  int registers_ = 0, static_shared_ = 0, local_bytes_ = 0;
};

}  // namespace octavo::cuda
