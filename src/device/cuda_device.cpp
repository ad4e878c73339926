// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "device/cuda_device.h"

#include <algorithm>
#include <cctype>
#include <mutex>
#include <optional>

#include "device/cuda_driver.h"

namespace octavo::cuda {
namespace {

struct Known {
  const char* name;
  int sm, sm_count;
  int smem_block_kib, smem_sm_kib;  ///< what one block may opt in to; what one multiprocessor has
  int l2_mib;
  int global_gib;
  int clock_mhz;
};

// NVIDIA's published figures. The first row of an architecture also answers to "sm_<number>".
constexpr Known kKnown[] = {
    {"t4", 75, 40, 64, 64, 4, 16, 1590},         {"rtx2080ti", 75, 68, 64, 64, 5, 11, 1545},
    {"a100", 80, 108, 163, 164, 40, 80, 1410},   {"a30", 80, 56, 163, 164, 24, 24, 1440},
    {"a10", 86, 72, 99, 100, 6, 24, 1695},       {"rtx3090", 86, 82, 99, 100, 6, 24, 1695},
    {"rtx3080", 86, 68, 99, 100, 5, 10, 1710},   {"a40", 86, 84, 99, 100, 6, 48, 1740},
    {"orin", 87, 16, 163, 164, 4, 64, 1300},     {"orin-nano", 87, 8, 163, 164, 2, 8, 625},
    {"l4", 89, 58, 99, 100, 48, 24, 2040},       {"l40s", 89, 142, 99, 100, 96, 48, 2520},
    {"rtx4090", 89, 128, 99, 100, 72, 24, 2520}, {"h100", 90, 132, 227, 228, 50, 80, 1980},
    {"h200", 90, 132, 227, 228, 50, 141, 1980},  {"b200", 100, 148, 227, 228, 126, 180, 1965},
    {"thor", 110, 20, 227, 228, 32, 128, 1575},  {"rtx5090", 120, 170, 99, 100, 96, 32, 2407},
};

DeviceTraits traits_of(const Known& known) {
  DeviceTraits t;
  t.kind = DeviceKind::cuda;
  t.name = known.name;
  t.sm = known.sm;
  t.sm_count = known.sm_count;
  t.smem_per_block = std::int64_t{known.smem_block_kib} << 10;
  t.smem_per_sm = std::int64_t{known.smem_sm_kib} << 10;
  t.l2_bytes = std::int64_t{known.l2_mib} << 20;
  t.global_bytes = std::int64_t{known.global_gib} << 30;
  t.clock_khz = known.clock_mhz * 1000;
  t.threads = 1;
  return t;
}

Result<DeviceTraits> query(int ordinal) {
  std::string why;
  const Driver* d = driver(&why);
  if (!d) return error_t{error_code_t::INVALID_CUDA_DEVICE, why};
  Device handle = 0;
  if (ordinal < 0 || d->DeviceGet(&handle, ordinal) != 0)
    return error_t{
        error_code_t::INVALID_CUDA_DEVICE,
        "CUDA device " + std::to_string(ordinal) + " does not exist: the driver sees " + std::to_string(device_count()) + "."};
  DeviceTraits t;
  t.kind = DeviceKind::cuda;
  t.ordinal = ordinal;
  t.threads = 1;
  char name[256] = {};
  if (auto e = check(d->DeviceGetName(name, sizeof name, handle), "cuDeviceGetName"); e.is_bad()) return e;
  t.name = name;
  const auto attribute = [&](DeviceAttribute id) {
    int value = 0;
    return d->DeviceGetAttribute(&value, id, handle) == 0 ? value : 0;
  };
  t.sm = 10 * attribute(kComputeMajor) + attribute(kComputeMinor);
  t.sm_count = attribute(kMultiprocessorCount);
  t.smem_per_block = attribute(kSharedPerBlockOptin);
  t.smem_per_sm = attribute(kSharedPerMultiprocessor);
  t.l2_bytes = attribute(kL2CacheSize);
  t.clock_khz = attribute(kClockRate);
  std::size_t bytes = 0;
  if (d->DeviceTotalMem(&bytes, handle) == 0) t.global_bytes = static_cast<std::int64_t>(bytes);
  if (t.sm < 75)
    return error_t{error_code_t::INVALID_CUDA_DEVICE, "CUDA device " + std::to_string(ordinal) + " (" + t.name + ") is sm_" +
                                                          std::to_string(t.sm) + ": Octavo needs sm_75 or newer."};
  return t;
}

}  // namespace

int device_count() {
  int count = 0;
  const Driver* d = driver();
  return d && d->DeviceGetCount(&count) == 0 ? count : 0;
}

Result<DeviceTraits> device(int ordinal) {
  constexpr int kMaxDevices = 64;
  static std::mutex mutex;
  static std::optional<DeviceTraits> known[kMaxDevices];
  if (ordinal < 0 || ordinal >= kMaxDevices) return query(ordinal);
  const std::lock_guard lock(mutex);
  if (!known[ordinal]) {
    Result<DeviceTraits> result = query(ordinal);
    if (!result) return result;
    known[ordinal] = *result;
  }
  return *known[ordinal];
}

Result<DeviceTraits> device_by_name(std::string_view name) {
  std::string text(name);
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const Known& known : kKnown)
    if (text == known.name) return traits_of(known);
  if (text.rfind("sm_", 0) == 0) {
    std::string number = text.substr(3);
    if (!number.empty() && number.back() == 'a') number.pop_back();
    for (const Known& known : kKnown) {
      if (number != std::to_string(known.sm)) continue;
      DeviceTraits t = traits_of(known);
      t.name = text;
      return t;
    }
  }
  std::string all;
  for (const std::string& known : device_names()) all += (all.empty() ? "" : ", ") + known;
  return error_t{error_code_t::INVALID_CUDA_DEVICE,
                 "Device \"" + std::string(name) + "\" is not known. Known are: " + all + "."};
}

std::vector<std::string> device_names() {
  std::vector<std::string> names;
  int last = 0;
  for (const Known& known : kKnown) {
    if (known.sm != last) names.push_back("sm_" + std::to_string(known.sm));
    last = known.sm;
    names.emplace_back(known.name);
  }
  return names;
}

std::string arch_of(const DeviceTraits& device) { return "sm_" + std::to_string(device.sm) + (device.sm >= 90 ? "a" : ""); }

int pointer_device(const void* pointer) {
  const Driver* d = driver();
  if (!d || !pointer) return -1;
  const auto address = reinterpret_cast<DevicePtr>(pointer);
  int type = 0, ordinal = -1;
  if (d->PointerGetAttribute(&type, kPointerMemoryType, address) != 0 || type != kMemoryDevice) return -1;
  if (d->PointerGetAttribute(&ordinal, kPointerOrdinal, address) != 0) return -1;
  return ordinal;
}

error_t check_pointer(const void* pointer, int ordinal, std::string_view name) {
  const auto bad = [&](const std::string& what) {
    return error_t{error_code_t::INVALID_VARIANT_PACK, std::string(name) + " is bound to " + what};
  };
  if (!pointer) return bad("a null pointer: bind its device memory.");
  std::string why;
  const Driver* d = driver(&why);
  if (!d) return {error_code_t::INVALID_CUDA_DEVICE, why};
  const auto address = reinterpret_cast<DevicePtr>(pointer);
  // execute() comes through here for every tensor: memory of the plan's own device needs one query.
  int owner = -1;
  if (d->PointerGetAttribute(&owner, kPointerOrdinal, address) == 0 && owner == ordinal) return {};
  int type = 0, managed = 0;
  int wanted[] = {kPointerMemoryType, kPointerIsManaged, kPointerOrdinal};
  void* found[] = {&type, &managed, &owner};
  if (d->PointerGetAttributes(3, wanted, found, address) != 0 || type == 0)  // 0: the driver does not know it
    return bad("host memory, and the plan runs on CUDA device " + std::to_string(ordinal) + ": copy it to the device first.");
  if (managed) return {};
  if (type == kMemoryHost) return {};  // registered or pinned: every device can read it
  if (owner != ordinal)
    return bad("memory of CUDA device " + std::to_string(owner) + ", and the plan runs on device " + std::to_string(ordinal) +
               ": build the plan for that device, or copy.");
  return {};
}

}  // namespace octavo::cuda
