// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What to compile, and what comes out. A request is constants only: the headers of kernels/ it includes, and a stub that
// fixes a config and instantiates one template as an extern "C" kernel.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/result.h"

namespace octavo::jit {

struct KernelRequest {
  std::string engine;                ///< "cuda_simt"
  std::string kernel;                ///< short and readable: "fprop_s8"; part of the cache directory's name
  std::vector<std::string> headers;  ///< paths from kernels/, included in this order
  std::string stub;                  ///< source behind the includes; must define extern "C" __global__ void <entry>(...)
  std::string entry = "octavo_kernel";
  std::string arch;                  ///< "sm_80", "sm_90a", ... (cuda::arch_of)
  std::vector<std::string> options;  ///< extra NVRTC options without paths, e.g. "--maxrregcount=168"

  std::string source() const;  ///< the whole translation unit
};

/// What ptxas said about the kernel.
struct KernelResources {
  int registers = 0;
  int static_shared = 0;
  int local_bytes = 0;  ///< stack frame
  int spill_bytes = 0;  ///< stores + loads
};

struct KernelBinary {
  std::string cubin;
  KernelResources resources;
  std::string name;  ///< <engine>.<kernel>.<arch>.<digest>
  double compile_ms = 0;
  bool from_disk = false;
};

/// "<engine>.<kernel>.<arch>.<digest>.<NVRTC version>". The digest covers: format number, architecture with its suffix, the
/// canonical options, the closure hash of every header, entry and stub.
std::string kernel_name(const KernelRequest& request);

/// memory -> disk -> NVRTC. Several threads that want one kernel compile it once; different kernels compile side by
/// side. Trouble with the disk cache never fails this. Needs no GPU and no driver.
Result<std::shared_ptr<const KernelBinary>> compile(const KernelRequest& request);

/// Compiles several requests side by side; the result has one entry for each.
std::vector<Result<std::shared_ptr<const KernelBinary>>> compile_all(const std::vector<KernelRequest>& requests);

struct CacheStatistics {
  std::int64_t memory_hits = 0, disk_hits = 0, compiled = 0, publish_failures = 0, corrupt = 0;
};
CacheStatistics cache_statistics();
void forget_memory_cache();  ///< tests: the next compile() looks on the disk again

}  // namespace octavo::jit
