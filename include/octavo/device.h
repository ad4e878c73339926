// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What an engine may know about a device: plain data, obtainable with no device present. C++20.

#include <cstdint>
#include <string>

namespace octavo {

enum class DeviceKind : std::uint8_t { cpu, cuda };

/// CPU instruction sets in rising order of preference; each level is forced by OCTAVO_CPU_ISA=<name>.
enum class CpuIsa : std::uint8_t { portable, neon_dotprod, avx2, avx512, avx512_vnni, amx };

struct DeviceTraits {
  DeviceKind kind = DeviceKind::cpu;
  std::string name = "cpu";
  // CPU
  CpuIsa isa = CpuIsa::portable;  ///< the best level this processor has, or the forced one
  bool avx512_bf16 = false, avx512_fp16 = false, amx_int8 = false, amx_bf16 = false, f16c = false;
  int threads = 1;  ///< what OCTAVO_NUM_THREADS, or the machine, gives
  std::int64_t l1d_bytes = 32 << 10, l2_bytes = 1 << 20, l3_bytes = 32 << 20;
  // CUDA
  int ordinal = 0;
  int sm = 0;  ///< 80, 86, 87, 89, 90, 100, 120
  int sm_count = 0;
  std::int64_t smem_per_block = 0, smem_per_sm = 0, global_bytes = 0;
  int clock_khz = 0;
};

/// This processor, read once (cpuid, sysfs), with OCTAVO_CPU_ISA applied.
const DeviceTraits& host_cpu();
/// The same processor held to a lower level: what OCTAVO_CPU_ISA does, and what tests use. Levels above `from` change nothing.
DeviceTraits with_isa(const DeviceTraits& from, CpuIsa isa);
const char* to_string(CpuIsa isa);

}  // namespace octavo
