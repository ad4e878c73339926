// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "ceilings.h"
#include "command.h"
#include "core/env.h"
#include "core/parallel.h"
#include "device/cuda_device.h"
#include "jit/disk_cache.h"
#include "jit/nvrtc.h"
#include "machine.h"
#include "octavo/engine.h"
#include "octavo/version.h"
#include "peers/peer.h"
#include "progress.h"

namespace octavo::cli {
namespace {

struct Options {
  MachineOptions machine;
  bool quick = false;
};

void row(const char* name, const std::string& value) { fmt::print("{:<18} {}\n", name, value); }

std::string cpu_features(const DeviceTraits& d) {
  std::string text;
  const auto add = [&text](bool yes, const char* name) {
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", yes ? "" : "no ", name);
  };
#if defined(__aarch64__)
  add(d.isa == CpuIsa::neon_dotprod, "dot product (sdot)");
#else
  add(d.isa >= CpuIsa::avx2, "AVX2+FMA");
  add(d.isa >= CpuIsa::avx512, "AVX-512");
  add(d.isa >= CpuIsa::avx512_vnni, "VNNI");
  add(d.avx512_bf16, "AVX-512 BF16");
  add(d.avx512_fp16, "AVX-512 FP16");
  add(d.amx_int8, "AMX int8");
  add(d.amx_bf16, "AMX bf16");
#endif
  return text;
}

int run(const Options& o) {
  const DeviceTraits device = o.machine.device();
  row("octavo", fmt::format("{}; follows cudnn-frontend {}", OCTAVO_VERSION_STRING, OCTAVO_COMPAT_FRONTEND_VERSION));
  row("processor", machine_name(device));
  row("features", cpu_features(device));
  row("instruction set", fmt::format("{}{}", to_string(device.isa), o.machine.isa_forced() ? " (forced)" : ""));
  row("threads", fmt::format("{}", device.threads));
  row("caches",
      fmt::format("L1d {} KiB, L2 {} KiB, L3 {} MiB", device.l1d_bytes >> 10, device.l2_bytes >> 10, device.l3_bytes >> 20));
  std::string names;
  for (const Engine* engine : engines()) names += (names.empty() ? "" : ", ") + std::string(engine->name());
  row("engines", names);

  const int gpus = cuda::device_count();
  row("CUDA devices", gpus ? std::to_string(gpus) : "none (no driver, or no device; CPU engines run everything)");
  for (int i = 0; i < gpus; ++i) {
    const auto gpu = cuda::device(i);
    row("", gpu ? fmt::format("{}: {}, {}, {} multiprocessors", i, gpu->name, cuda::arch_of(*gpu), gpu->sm_count)
                : gpu.error().get_message());
  }
  jit::NvrtcVersion nvrtc;
  const error_t missing = jit::nvrtc_available(&nvrtc);
  row("NVRTC", missing.is_good() ? fmt::format("{}.{}", nvrtc.major, nvrtc.minor) : missing.get_message());
  const std::string cache = jit::cache_directory();
  row("kernel cache", cache.empty() ? "none: there is no home folder; set OCTAVO_CACHE_DIR" : cache);
  error_t no_peer;
  const auto onednn = make_onednn_peer(device, false, no_peer);
  row("oneDNN", onednn ? onednn->version() : no_peer.get_message());
  no_peer = {};
  const auto torch = make_torch_peer(device.threads, no_peer);
  row("PyTorch", torch ? torch->version() : no_peer.get_message());

  fmt::print("\nenvironment\n");
  for (const EnvRow& entry : kEnvTable) {
    const std::string value = env(entry.id);
    fmt::print("  {:<20} {:<12} {}\n", entry.name, value.empty() ? "-" : value, entry.meaning);
  }
  if (o.quick) return 0;

  const std::vector<CeilingKernel> kernels = all_ceiling_kernels(device);
  std::vector<int> counts{1};
  if (device.threads > 1) counts.push_back(device.threads);
  Progress progress(static_cast<std::int64_t>(kernels.size() * counts.size() + counts.size()));
  std::string table = fmt::format("  {:<28}", "measured ceilings, Gop/s");
  for (const int threads : counts) table += fmt::format(" {:>4} thread{}", threads, threads == 1 ? " " : "s");
  table += '\n';
  for (const CeilingKernel& kernel : kernels) {
    progress.step(kernel.name);
    table += fmt::format("  {:<28}", kernel.name);
    for (const int threads : counts) {
      set_num_threads(threads);
      table += fmt::format(" {:>12.0f}", measure_ceiling(kernel, threads, 0.25).gops);
      progress.done();
    }
    table += '\n';
  }
  progress.step("memory");
  table += fmt::format("  {:<28}", "memory read, GB/s");
  for (const int threads : counts) {
    set_num_threads(threads);
    table += fmt::format(" {:>12.1f}", measure_read_bandwidth(threads, 0.4));
    progress.done();
  }
  progress.clear();
  fmt::print("\n{}\n", table);
  return 0;
}

std::function<int()> setup(CLI::App& app) {
  auto o = std::make_shared<Options>();
  o->machine.add(app);
  app.add_flag("--quick", o->quick, "measure nothing");
  return [o] { return run(*o); };
}

const Command kDoctor(50, "doctor", "what this machine and this build have, and what the machine can do at most", setup);

}  // namespace
}  // namespace octavo::cli
