// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "ceilings.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

#include "core/parallel.h"
#include "octavo/problem.h"

namespace octavo::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Gop/s of all threads together: each thread's own rate over its own time, so that a late start is not counted as slowness.
double run_loop(const CeilingKernel& kernel, std::int64_t iterations, int threads) {
  std::vector<double> rate(static_cast<std::size_t>(threads), 0.0);  // by thread: one that runs two tasks counts once
  std::atomic<int> arrived{0};
  auto body = [&](std::int64_t, int thread) {
    arrived.fetch_add(1);
    const Clock::time_point wait = Clock::now();
    while (arrived.load() < threads && seconds_since(wait) < 0.002) std::this_thread::yield();
    const Clock::time_point start = Clock::now();
    const double operations = kernel.loop(iterations);
    double& mine = rate[static_cast<std::size_t>(thread)];
    mine = std::max(mine, operations / seconds_since(start) * 1e-9);
  };
  parallel_for(threads, body);
  double total = 0;
  for (double r : rate) total += r;
  return total;
}

std::int64_t iterations_for(const CeilingKernel& kernel, double seconds) {
  std::int64_t iterations = 64;
  for (;;) {
    const Clock::time_point start = Clock::now();
    kernel.loop(iterations);
    const double took = seconds_since(start);
    if (took > 20e-6)
      return std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(iterations) * seconds / took));
    iterations *= 4;
  }
}

}  // namespace

double loop_f32_portable(std::int64_t iterations) {
  float acc[16];
  for (int i = 0; i < 16; ++i) acc[i] = static_cast<float>(i);
  const float a = 0.7071f;
  for (std::int64_t n = 0; n < iterations; ++n) {
    for (int i = 0; i < 16; ++i) acc[i] = acc[i] * a + 0.5772f;
    asm volatile("" : "+m"(acc));
  }
  return static_cast<double>(iterations) * 16 * 2;
}

double loop_s32_portable(std::int64_t iterations) {
  std::uint32_t acc[16];
  for (std::uint32_t i = 0; i < 16; ++i) acc[i] = i;
  for (std::int64_t n = 0; n < iterations; ++n) {
    for (std::uint32_t i = 0; i < 16; ++i) acc[i] += acc[i] * 0x9e3779b9U;
    asm volatile("" : "+m"(acc));
  }
  return static_cast<double>(iterations) * 16 * 2;
}

std::vector<CeilingKernel> all_ceiling_kernels(const DeviceTraits& device) {
  std::vector<CeilingKernel> kernels;
#if defined(__x86_64__)
  if (device.amx_int8) kernels.push_back({"tdpbssd (AMX s8)", loop_s8_amx});
  if (device.amx_bf16) kernels.push_back({"tdpbf16ps (AMX bf16)", loop_bf16_amx});
  if (device.isa >= CpuIsa::avx512_vnni) {
    kernels.push_back({"vpdpbusd zmm (s8)", loop_s8_vnni512});
    kernels.push_back({"vpdpwssd zmm (s16)", loop_s16_vnni512});
  }
  if (device.avx512_bf16) kernels.push_back({"vdpbf16ps zmm (bf16)", loop_bf16_avx512});
  if (device.isa >= CpuIsa::avx512) {
    kernels.push_back({"vpmaddwd zmm (exact s8)", loop_s16_avx512});
    kernels.push_back({"vfmadd231ps zmm (f32)", loop_f32_avx512});
  }
  if (device.isa >= CpuIsa::avx2) {
    kernels.push_back({"vpmaddwd ymm (exact s8)", loop_s16_avx2});
    kernels.push_back({"vfmadd231ps ymm (f32)", loop_f32_avx2});
  }
#elif defined(__aarch64__)
  if (device.isa == CpuIsa::neon_dotprod) kernels.push_back({"sdot (s8)", loop_s8_sdot});
#endif
  if (kernels.empty()) {
    kernels.push_back({"scalar integer", loop_s32_portable});
    kernels.push_back({"scalar f32", loop_f32_portable});
  }
  return kernels;
}

CeilingKernel ceiling_kernel(DataType_t type, const DeviceTraits& device) {
#if defined(__x86_64__)
  if (is_integer(type)) {
    if (device.isa >= CpuIsa::amx && device.amx_int8) return {"tdpbssd (AMX s8)", loop_s8_amx};
    if (device.isa >= CpuIsa::avx512_vnni) return {"vpdpbusd zmm (s8)", loop_s8_vnni512};
    if (device.isa >= CpuIsa::avx512) return {"vpmaddwd zmm (exact s8)", loop_s16_avx512};
    if (device.isa >= CpuIsa::avx2) return {"vpmaddwd ymm (exact s8)", loop_s16_avx2};
    return {"scalar integer", loop_s32_portable};
  }
  if (type == DataType_t::BFLOAT16) {
    if (device.isa >= CpuIsa::amx && device.amx_bf16) return {"tdpbf16ps (AMX bf16)", loop_bf16_amx};
    if (device.isa >= CpuIsa::avx512 && device.avx512_bf16) {
      // Some processors run the dot product slower than they widen to f32 and multiply.
      const CeilingKernel dot{"vdpbf16ps zmm (bf16)", loop_bf16_avx512}, wide{"vfmadd231ps zmm (f32)", loop_f32_avx512};
      return measure_ceiling(dot, 1, 0.02).gops >= measure_ceiling(wide, 1, 0.02).gops ? dot : wide;
    }
  }
  if (device.isa >= CpuIsa::avx512) return {"vfmadd231ps zmm (f32)", loop_f32_avx512};
  if (device.isa >= CpuIsa::avx2) return {"vfmadd231ps ymm (f32)", loop_f32_avx2};
#elif defined(__aarch64__)
  if (is_integer(type) && device.isa == CpuIsa::neon_dotprod) return {"sdot (s8)", loop_s8_sdot};
#endif
  return is_integer(type) ? CeilingKernel{"scalar integer", loop_s32_portable} : CeilingKernel{"scalar f32", loop_f32_portable};
}

Ceiling measure_ceiling(const CeilingKernel& kernel, int threads, double seconds) {
  const std::int64_t iterations = iterations_for(kernel, 0.0005);  // shorter than a scheduler slice
  const Clock::time_point start = Clock::now();
  Ceiling best{kernel.name, 0};
  do {
    best.gops = std::max(best.gops, run_loop(kernel, iterations, threads));
  } while (seconds_since(start) < seconds);
  return best;
}

double measure_read_bandwidth(int threads, double seconds) {
  const std::size_t words = std::size_t{48} << 20;  // 384 MiB: beyond the largest L3 of a common server
  std::unique_ptr<std::uint64_t[]> data(new std::uint64_t[words]);
  std::memset(data.get(), 1, words * 8);
  const std::size_t share = words / static_cast<std::size_t>(threads);
  std::atomic<std::uint64_t> sink{0};
  double best = 0;
  const Clock::time_point start = Clock::now();
  do {
    const Clock::time_point pass = Clock::now();
    auto body = [&](std::int64_t task, int) {
      const std::uint64_t* p = data.get() + static_cast<std::size_t>(task) * share;
      std::uint64_t sum[8] = {};
      for (std::size_t i = 0; i + 8 <= share; i += 8)
        for (std::size_t j = 0; j < 8; ++j) sum[j] += p[i + j];
      for (std::uint64_t s : sum) sink.fetch_add(s, std::memory_order_relaxed);
    };
    parallel_for(threads, body);
    best = std::max(best, static_cast<double>(share * static_cast<std::size_t>(threads) * 8) / seconds_since(pass) * 1e-9);
  } while (seconds_since(start) < seconds);
  return best;
}

RateProbe::RateProbe(const CeilingKernel& kernel, int threads)
    : kernel_(kernel), threads_(threads), iterations_(iterations_for(kernel, 20e-6)) {}

double RateProbe::sample() { return run_loop(kernel_, iterations_, threads_); }

}  // namespace octavo::cli
