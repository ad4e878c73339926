// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "jit/nvrtc.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

#include "core/env.h"
#include "jit/embedded.h"

namespace octavo::jit {
namespace {

namespace fs = std::filesystem;
using Program = struct OpaqueProgram*;

struct Nvrtc {
  const char* (*GetErrorString)(int) = nullptr;
  int (*Version)(int*, int*) = nullptr;
  int (*CreateProgram)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*DestroyProgram)(Program*) = nullptr;
  int (*CompileProgram)(Program, int, const char* const*) = nullptr;
  int (*GetCUBINSize)(Program, std::size_t*) = nullptr;
  int (*GetCUBIN)(Program, char*) = nullptr;
  int (*GetProgramLogSize)(Program, std::size_t*) = nullptr;
  int (*GetProgramLog)(Program, char*) = nullptr;
  NvrtcVersion version;
  std::string why;
};

/// Directories of the nvidia-* packages below a site-packages directory.
void add_packages(const fs::path& site, std::vector<std::string>& out) {
  for (const char* part :
       {"nvidia/cu13/lib/libnvrtc.so.13", "nvidia/cuda_nvrtc/lib/libnvrtc.so.13", "nvidia/cuda_nvrtc/lib/libnvrtc.so.12"}) {
    std::error_code ignored;
    if (fs::exists(site / part, ignored)) out.push_back((site / part).string());
  }
}

/// <prefix>/lib/python3.*/{site,dist}-packages
void add_prefix(const fs::path& prefix, std::vector<std::string>& out) {
  std::error_code ec;
  for (fs::directory_iterator it(prefix / "lib", ec), end; !ec && it != end; it.increment(ec)) {
    if (it->path().filename().string().rfind("python3", 0) != 0) continue;
    add_packages(it->path() / "site-packages", out);
    add_packages(it->path() / "dist-packages", out);
  }
}

std::vector<std::string> candidates() {
  if (const std::string forced = env(Env::nvrtc); !forced.empty()) return {forced};
  std::vector<std::string> out = {"libnvrtc.so.13", "libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so.13",
                                  "/usr/local/cuda/lib64/libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so"};
  // As the Python module, this library lies in site-packages/octavo, beside PyTorch's nvidia-* packages.
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&add_packages), &self) && self.dli_fname) {
    std::error_code ec;
    const fs::path here = fs::absolute(self.dli_fname, ec).parent_path();
    for (fs::path at = here; !at.empty() && at != at.root_path(); at = at.parent_path()) add_packages(at, out);
  }
  for (const char* prefix : {"/usr/local", "/usr", "/opt/conda"}) add_prefix(prefix, out);
  return out;
}

Nvrtc load() {
  Nvrtc n;
  void* library = nullptr;
  std::string tried;
  for (const std::string& path : candidates()) {
    library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library) break;
    tried += (tried.empty() ? "" : ", ") + path;
  }
  if (!library) {
    n.why = "NVRTC is not found (tried " + tried +
            "): install the CUDA toolkit or the Python package nvidia-cuda-nvrtc, or set OCTAVO_NVRTC to the path of libnvrtc.";
    return n;
  }
  const auto look_up = [&](auto& function, const char* symbol) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, symbol));
    if (!function && n.why.empty()) n.why = std::string("NVRTC has no ") + symbol + ": CUDA 12 or newer is needed.";
  };
  look_up(n.GetErrorString, "nvrtcGetErrorString");
  look_up(n.Version, "nvrtcVersion");
  look_up(n.CreateProgram, "nvrtcCreateProgram");
  look_up(n.DestroyProgram, "nvrtcDestroyProgram");
  look_up(n.CompileProgram, "nvrtcCompileProgram");
  look_up(n.GetCUBINSize, "nvrtcGetCUBINSize");
  look_up(n.GetCUBIN, "nvrtcGetCUBIN");
  look_up(n.GetProgramLogSize, "nvrtcGetProgramLogSize");
  look_up(n.GetProgramLog, "nvrtcGetProgramLog");
  if (n.why.empty()) n.Version(&n.version.major, &n.version.minor);
  return n;
}

const Nvrtc& nvrtc() {
  static const Nvrtc instance = load();
  return instance;
}

}  // namespace

error_t nvrtc_available(NvrtcVersion* version) {
  const Nvrtc& n = nvrtc();
  if (!n.why.empty()) return {error_code_t::NVRTC_COMPILATION_FAILED, n.why};
  if (version) *version = n.version;
  return {};
}

Result<NvrtcOutput> nvrtc_compile(const std::string& source, const std::string& name, const std::vector<std::string>& options) {
  if (error_t e = nvrtc_available(); e.is_bad()) return e;
  const Nvrtc& n = nvrtc();
  std::vector<const char*> names, texts, flags;
  for (const EmbeddedFile& file : embedded_files()) {
    names.push_back(file.name);
    texts.push_back(file.text);
  }
  for (const std::string& option : options) flags.push_back(option.c_str());
  struct Guard {
    const Nvrtc& api;
    Program program = nullptr;
    ~Guard() {
      if (program) api.DestroyProgram(&program);
    }
  } guard{n};
  int status = n.CreateProgram(&guard.program, source.c_str(), (name + ".cu").c_str(), static_cast<int>(names.size()),
                               texts.data(), names.data());
  if (status == 0) status = n.CompileProgram(guard.program, static_cast<int>(flags.size()), flags.data());
  NvrtcOutput out;
  std::size_t size = 0;
  if (guard.program && n.GetProgramLogSize(guard.program, &size) == 0 && size > 1) {
    out.log.resize(size);
    n.GetProgramLog(guard.program, out.log.data());
    while (!out.log.empty() && out.log.back() == '\0') out.log.pop_back();
  }
  if (status != 0)
    return error_t{error_code_t::NVRTC_COMPILATION_FAILED,
                   "Compiling " + name + " failed: " + n.GetErrorString(status) + (out.log.empty() ? "." : ".\n" + out.log)};
  if (n.GetCUBINSize(guard.program, &size) != 0 || size == 0)
    return error_t{error_code_t::NVRTC_COMPILATION_FAILED,
                   "Compiling " + name + " gave no binary: the architecture must be a real one (sm_...)."};
  out.cubin.resize(size);
  n.GetCUBIN(guard.program, out.cubin.data());
  return out;
}

}  // namespace octavo::jit
