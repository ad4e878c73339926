// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "device/cuda_driver.h"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <mutex>
#include <string>

#include "core/env.h"

namespace octavo::cuda {
namespace {

struct Loaded {
  Driver table;
  std::string why;  ///< empty when the table is usable
};

Loaded load() {
  Loaded result;
  std::string path = env(Env::cuda_driver);
  if (path == "none") {
    result.why = "CUDA is switched off by OCTAVO_CUDA_DRIVER=none.";
    return result;
  }
  if (path.empty()) path = "libcuda.so.1";
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!library) {
    const char* reason = dlerror();
    result.why = "No CUDA driver: " + std::string(reason ? reason : path.c_str()) + ".";
    return result;
  }
#define OCTAVO_LOOK_UP(name, symbol, ...)                                                 \
  result.table.name = reinterpret_cast<Status (*)(__VA_ARGS__)>(dlsym(library, #symbol)); \
  if (!result.table.name && result.why.empty())                                           \
    result.why = "The CUDA driver " + path + " has no " #symbol ": install a driver of CUDA 12 or newer.";
  OCTAVO_CUDA_ENTRY_POINTS(OCTAVO_LOOK_UP)
#undef OCTAVO_LOOK_UP
  if (!result.why.empty()) return result;
  if (const Status status = result.table.Init(0); status != 0)
    result.why = "The CUDA driver " + path + " does not start: cuInit gives status " + std::to_string(status) +
                 (status == 100 ? " (no CUDA device)." : ".");
  return result;
}

const Loaded& loaded() {
  static const Loaded instance = load();
  return instance;
}

}  // namespace

const Driver* driver(std::string* why) {
  const Loaded& instance = loaded();
  if (why) *why = instance.why;
  return instance.why.empty() ? &instance.table : nullptr;
}

error_t check(Status status, const char* what) {
  if (status == 0) return {};
  const char* name = nullptr;
  const char* text = nullptr;
  if (const Driver* d = driver()) {
    d->GetErrorName(status, &name);
    d->GetErrorString(status, &text);
  }
  return {error_code_t::CUDA_API_FAILED, std::string(what) + ": " +
                                             (name ? name : ("status " + std::to_string(status)).c_str()) +
                                             (text ? " (" + std::string(text) + ")." : ".")};
}

error_t primary_context(int ordinal, Context& context) {
  constexpr int kMaxDevices = 64;
  static std::array<std::atomic<Context>, kMaxDevices> contexts{};
  static std::mutex mutex;
  std::string why;
  const Driver* d = driver(&why);
  if (!d) return {error_code_t::INVALID_CUDA_DEVICE, why};
  if (ordinal < 0 || ordinal >= kMaxDevices)
    return {error_code_t::INVALID_CUDA_DEVICE, "CUDA device " + std::to_string(ordinal) + " does not exist."};
  context = contexts[static_cast<std::size_t>(ordinal)].load(std::memory_order_acquire);
  if (context) return {};
  const std::lock_guard lock(mutex);
  auto& slot = contexts[static_cast<std::size_t>(ordinal)];
  context = slot.load(std::memory_order_acquire);
  if (context) return {};
  Device device = 0;
  if (const Status status = d->DeviceGet(&device, ordinal); status != 0)
    return {error_code_t::INVALID_CUDA_DEVICE,
            "CUDA device " + std::to_string(ordinal) + " does not exist: " + check(status, "cuDeviceGet").err_msg};
  OCTAVO_RETURN_IF_ERROR(check(d->PrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain"));
  slot.store(context, std::memory_order_release);
  return {};
}

}  // namespace octavo::cuda
