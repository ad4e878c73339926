// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#include "octavo/handle.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <nlohmann/json.hpp>

#include "core/env.h"
#include "device/cuda_device.h"
#include "device/cuda_memory.h"
#include "device/handle.h"

namespace octavo {

using Json = nlohmann::json;

namespace {

/// -1 for the CPU, else a CUDA ordinal.
error_t pick_device(std::int32_t wanted, std::int32_t& ordinal) {
  ordinal = -1;
  if (wanted == static_cast<std::int32_t>(DevicePick::cpu)) return {};
  if (wanted >= 0) return ordinal = wanted, error_t();
  if (wanted != static_cast<std::int32_t>(DevicePick::automatic)) {
    return {error_code_t::INVALID_CUDA_DEVICE,
            "Device " + std::to_string(wanted) + " is invalid; -2 picks one, -1 is the CPU, 0 and up are GPUs."};
  }
  std::string const text = env(Env::device);
  if (text.empty()) return ordinal = cuda::device_count() > 0 ? 0 : -1, error_t();
  if (text == "cpu") return {};
  if (text == "cuda") return ordinal = 0, error_t();
  if (text.rfind("cuda:", 0) == 0 && text.size() > 5 && text.size() < 8 &&
      text.find_first_not_of("0123456789", 5) == std::string::npos) {
    return ordinal = std::stoi(text.substr(5)), error_t();
  }
  return {error_code_t::INVALID_CUDA_DEVICE, "OCTAVO_DEVICE is '" + text + "'; it must be cpu, cuda or cuda:N."};
}

}  // namespace

error_t create_handle(handle_t& handle, std::int32_t device) {
  handle = nullptr;
  std::shared_ptr<const DeviceTraits> traits;
  std::int32_t ordinal = -1;
  OCTAVO_RETURN_IF_ERROR(pick_device(device, ordinal));
  if (ordinal >= 0) {
    Result<DeviceTraits> found = cuda::device(ordinal);
    if (!found) return found.error();
    traits = std::make_shared<DeviceTraits>(*found);
  } else {
    traits = std::make_shared<DeviceTraits>(host_cpu());
  }
  auto* made = new (std::nothrow) Context;
  if (!made) return {error_code_t::HANDLE_ERROR, "Out of memory for a handle."};
  made->ordinal = ordinal;
  made->traits = std::move(traits);
  handle = made;
  return {};
}

error_t destroy_handle(handle_t handle) {
  OCTAVO_RETURN_IF_ERROR(graph::check_handle(handle));
  handle->alive = 0;
  delete handle;
  return {};
}

error_t set_stream(handle_t handle, CUstream_st* stream) {
  OCTAVO_RETURN_IF_ERROR(graph::check_handle(handle));
  if (handle->ordinal < 0 && stream) {
    return {error_code_t::INVALID_VALUE, "The handle is on the CPU, which has no streams; pass a null stream."};
  }
  handle->stream = stream;
  return {};
}

error_t get_stream(handle_t handle, CUstream_st*& stream) {
  OCTAVO_RETURN_IF_ERROR(graph::check_handle(handle));
  stream = handle->stream;
  return {};
}

bool handle_is_cuda(handle_t handle) { return graph::check_handle(handle).is_good() && handle->ordinal >= 0; }
std::int32_t handle_ordinal(handle_t handle) { return graph::check_handle(handle).is_good() ? handle->ordinal : -1; }
std::string handle_device_name(handle_t handle) {
  return graph::check_handle(handle).is_good() ? handle->traits->name : std::string();
}

// ---- device properties
// -----------------------------------------------------------------------------------------------------------

error_t DeviceProperties::build() {
  std::shared_ptr<const DeviceTraits> traits;
  if (handle_) {
    status_ = graph::handle_traits(handle_, traits);
  } else if (!name_.empty() && name_ != "cpu") {
    Result<DeviceTraits> found = cuda::device_by_name(name_);
    status_ = found ? error_t() : found.error();
    if (found) traits = std::make_shared<DeviceTraits>(*found);
  } else {
    handle_t handle = nullptr;
    status_ = create_handle(handle, name_ == "cpu" ? static_cast<std::int32_t>(DevicePick::cpu) : device_id_);
    if (status_.is_good()) {
      traits = handle->traits;
      status_ = destroy_handle(handle);
    }
  }
  if (status_.is_good()) text_ = graph::traits_to_text(*traits);
  return status_;
}

error_t DeviceProperties::serialize(std::vector<std::uint8_t>& data) const {
  if (text_.empty()) {
    return {error_code_t::ATTRIBUTE_NOT_SET, "Device properties are not built; call build() before serialize()."};
  }
  data.assign(text_.begin(), text_.end());
  return {};
}

error_t DeviceProperties::deserialize(std::vector<std::uint8_t> const& data) {
  std::string const text(data.begin(), data.end());
  std::shared_ptr<const DeviceTraits> traits;
  status_ = graph::traits_from_text(text, traits);
  if (status_.is_good()) text_ = text;
  return status_;
}

// ---- kernel cache
// ------------------------------------------------------------------------------------------------------------------

error_t KernelCache::build() {
  finalized_ = true;
  return {};
}

error_t KernelCache::size(std::int64_t& value) const {
  value = static_cast<std::int64_t>(entries_.size());
  return {};
}

error_t KernelCache::to_json(std::string& text) const {
  if (!finalized_) return {error_code_t::INVALID_VALUE, "The kernel cache is not built; build a graph with it first."};
  text = Json({{"entries", entries_}, {"revision", revision_}}).dump();
  return {};
}

error_t KernelCache::from_json(std::string const& text) {
  Json const j = Json::parse(text, nullptr, false);
  if (!j.is_object() || !j.contains("entries") || !j["entries"].is_array()) {
    return {error_code_t::UNSUPPORTED_GRAPH_FORMAT, "The text is no kernel cache that to_json() wrote."};
  }
  std::vector<std::string> entries;
  for (Json const& e : j["entries"]) {
    if (!e.is_string()) return {error_code_t::UNSUPPORTED_GRAPH_FORMAT, "The text is no kernel cache that to_json() wrote."};
    entries.push_back(e.get<std::string>());
  }
  entries_ = std::move(entries);
  ++revision_;
  finalized_ = true;
  return {};
}

void KernelCacheAccess::add(KernelCache& cache, std::string const& key) {
  std::lock_guard<std::mutex> const hold(*cache.lock_);
  cache.finalized_ = true;
  if (std::find(cache.entries_.begin(), cache.entries_.end(), key) != cache.entries_.end()) return;
  cache.entries_.push_back(key);
  ++cache.revision_;
}

namespace graph {

void note_in_kernel_cache(KernelCache& cache, std::string const& key) { KernelCacheAccess::add(cache, key); }

error_t check_handle(handle_t handle) {
  if (!handle) {
    return {error_code_t::HANDLE_ERROR, "The handle is null; create one with cudnnCreate (octavo::create_handle)."};
  }
  if (handle->alive != Context::kAlive) return {error_code_t::HANDLE_ERROR, "The handle was destroyed; create another."};
  return {};
}

error_t handle_traits(handle_t handle, std::shared_ptr<const DeviceTraits>& traits) {
  OCTAVO_RETURN_IF_ERROR(check_handle(handle));
  traits = handle->traits;
  return {};
}

error_t check_same_device(handle_t handle, DeviceTraits const& planned) {
  OCTAVO_RETURN_IF_ERROR(check_handle(handle));
  DeviceTraits const& here = *handle->traits;
  if (here.kind == planned.kind &&
      (here.kind == DeviceKind::cpu || (here.ordinal == planned.ordinal && here.sm == planned.sm))) {
    return {};
  }
  return {error_code_t::HANDLE_ERROR, "The plan was built for " + planned.name + " and the handle is on " + here.name +
                                          "; execute with a handle of the same device."};
}

std::string traits_to_text(DeviceTraits const& t) {
  Json j = {{"octavo_device", 1}, {"kind", t.kind == DeviceKind::cpu ? "cpu" : "cuda"}, {"name", t.name}};
  if (t.kind == DeviceKind::cpu) {
    j["isa"] = octavo::to_string(t.isa);
  } else {
    j["ordinal"] = t.ordinal;
    j["sm"] = t.sm;
    j["sm_count"] = t.sm_count;
    j["smem_per_block"] = t.smem_per_block;
    j["smem_per_sm"] = t.smem_per_sm;
    j["global_bytes"] = t.global_bytes;
    j["clock_khz"] = t.clock_khz;
    j["l2_bytes"] = t.l2_bytes;
  }
  return j.dump();
}

error_t traits_from_text(std::string const& text, std::shared_ptr<const DeviceTraits>& traits) {
  Json const j = Json::parse(text, nullptr, false);
  error_t const bad(error_code_t::UNSUPPORTED_GRAPH_FORMAT,
                    "The bytes are no device properties that DeviceProperties::serialize() wrote.");
  if (!j.is_object() || !j.contains("octavo_device") || !j.contains("kind") || !j["kind"].is_string()) return bad;
  if (j["kind"] == "cpu") {
    traits = std::make_shared<DeviceTraits>(host_cpu());  // plans are always made for the processor they run on
    return {};
  }
  if (j["kind"] != "cuda") return bad;
  const auto number = [&](const char* key) -> std::int64_t {
    auto it = j.find(key);
    return it != j.end() && it->is_number_integer() ? it->get<std::int64_t>() : 0;
  };
  auto t = std::make_shared<DeviceTraits>();
  t->kind = DeviceKind::cuda;
  auto name = j.find("name");
  t->name = name != j.end() && name->is_string() ? name->get<std::string>() : "cuda";
  t->ordinal = static_cast<int>(number("ordinal"));
  t->sm = static_cast<int>(number("sm"));
  t->sm_count = static_cast<int>(number("sm_count"));
  t->smem_per_block = number("smem_per_block");
  t->smem_per_sm = number("smem_per_sm");
  t->global_bytes = number("global_bytes");
  t->clock_khz = static_cast<int>(number("clock_khz"));
  t->l2_bytes = number("l2_bytes");
  if (t->sm < 30 || t->sm_count < 1) return bad;
  traits = std::move(t);
  return {};
}

struct Scratch::Memory {
  void* host = nullptr;
  cuda::Buffer device;
  ~Memory() { std::free(host); }
};

Scratch::Scratch() : memory_(std::make_unique<Memory>()) {}
Scratch::~Scratch() = default;
void* Scratch::get() const { return memory_->host ? memory_->host : memory_->device.data(); }

error_t Scratch::allocate(handle_t handle, std::int64_t bytes) {
  OCTAVO_RETURN_IF_ERROR(check_handle(handle));
  std::size_t const size = (static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1)) + 63) / 64 * 64;
  if (handle->ordinal >= 0) return cuda::Buffer::allocate(handle->ordinal, size, memory_->device);
  memory_->host = std::aligned_alloc(64, size);
  if (!memory_->host) {
    return {error_code_t::GRAPH_EXECUTION_FAILED, "Out of memory for " + std::to_string(bytes) + " bytes of scratch."};
  }
  return {};
}

error_t check_reachable(handle_t handle, void const* pointer, std::string const& name) {
  return handle->ordinal < 0 ? error_t() : cuda::check_pointer(pointer, handle->ordinal, "Tensor '" + name + "'");
}

error_t synchronize(handle_t handle) {
  OCTAVO_RETURN_IF_ERROR(check_handle(handle));
  return handle->ordinal < 0 ? error_t() : cuda::synchronize(handle->ordinal, handle->stream);
}

}  // namespace graph
}  // namespace octavo
