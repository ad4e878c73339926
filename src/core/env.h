// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

// The one table of environment variables. docs/environment.md is generated from it; nothing else reads the environment.

#include <string>

namespace octavo {

enum class Env { device, num_threads, cpu_isa, cache_dir, jit, jit_dump, log, cuda_driver, nvrtc, python };

struct EnvRow {
  Env id;
  const char* name;
  const char* meaning;
};

inline constexpr EnvRow kEnvTable[] = {
    {Env::device, "OCTAVO_DEVICE",
     "device of handles that name none: cpu, cuda or cuda:N (default: the first GPU, else the CPU)"},
    {Env::num_threads, "OCTAVO_NUM_THREADS", "threads of the CPU engines (default: the CPUs this process may run on)"},
    {Env::cpu_isa, "OCTAVO_CPU_ISA",
     "highest instruction set the CPU engines may use: amx, avx512_vnni, avx512, avx2, neon_dotprod, portable (default: the "
     "best there is)"},
    {Env::cache_dir, "OCTAVO_CACHE_DIR",
     "folder for compiled kernels and tuned tables (default: $XDG_CACHE_HOME/octavo or ~/.cache/octavo)"},
    {Env::jit, "OCTAVO_JIT", "0: never compile; a kernel missing from the cache is then an error that names it (default: 1)"},
    {Env::jit_dump, "OCTAVO_JIT_DUMP",
     "folder that gets the source and the compiler's log of every kernel compiled (default: none)"},
    {Env::log, "OCTAVO_LOG", "stderr, stdout or a file: one line for each plan built and kernel compiled (default: none)"},
    {Env::cuda_driver, "OCTAVO_CUDA_DRIVER", "path of the CUDA driver library (default: libcuda.so.1)"},
    {Env::nvrtc, "OCTAVO_NVRTC", "path of the NVRTC library (default: the system's, or the one beside PyTorch)"},
    {Env::python, "OCTAVO_PYTHON",
     "interpreter that runs PyTorch for octavo bench (default: the one beside the program, else python3)"},
};

std::string env(Env id);  ///< "" when unset

}  // namespace octavo
