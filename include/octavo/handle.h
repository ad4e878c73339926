// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A handle is a device and its stream: the CPU where there is no GPU. C++17.

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "error.h"
#include "graph/enums.h"

struct CUstream_st;  // what CUDA's cudaStream_t points to
struct CUgraph_st;   // what CUDA's cudaGraph_t points to

namespace octavo {

struct Context;
/// Opaque; passed by value. One thread at a time may change a handle, any number may execute with it.
using handle_t = Context*;

enum class DevicePick : std::int32_t {
  automatic = -2,  ///< OCTAVO_DEVICE=cpu|cuda[:N] if set, else the first CUDA GPU, else the CPU
  cpu = -1         ///< 0, 1, 2, ... are CUDA ordinals
};

error_t create_handle(handle_t& handle, std::int32_t device = static_cast<std::int32_t>(DevicePick::automatic));
error_t destroy_handle(handle_t handle);
/// A CPU handle takes a null stream only.
error_t set_stream(handle_t handle, CUstream_st* stream);
error_t get_stream(handle_t handle, CUstream_st*& stream);
bool handle_is_cuda(handle_t handle);          ///< false for a null handle
std::int32_t handle_ordinal(handle_t handle);  ///< -1 for the CPU
std::string handle_device_name(handle_t handle);

/// What a graph built without a handle needs to know of its device. `build()` reads the present one; `serialize` and
/// `deserialize` carry it to a machine without it.
class DeviceProperties {
 public:
  DeviceProperties& set_device_id(std::int32_t device) { return device_id_ = device, *this; }
  DeviceProperties& set_handle(handle_t handle) { return handle_ = handle, *this; }
  /// Extension: a device known by name ("cpu", "h200", "sm_87", ...), present or not.
  DeviceProperties& set_device_name(std::string const& name) { return name_ = name, *this; }
  error_t build();
  error_t serialize(std::vector<std::uint8_t>& data) const;
  error_t deserialize(std::vector<std::uint8_t> const& data);
  error_t status() const { return status_; }
  std::string const& text() const { return text_; }  ///< JSON; empty before build()

 private:
  std::int32_t device_id_ = static_cast<std::int32_t>(DevicePick::automatic);
  handle_t handle_ = nullptr;
  std::string name_;
  std::string text_;
  error_t status_;
};

/// Shared by graphs that differ only in shape. Octavo's plans are cached by problem, so this object only keeps count.
class KernelCache {
 public:
  bool is_finalized() const { return finalized_; }
  error_t status() const { return error_t(); }
  error_t build();
  template <class OperationGraph>
  error_t build(OperationGraph const&) {
    return build();
  }
  error_t to_json(std::string& text) const;
  error_t from_json(std::string const& text);
  error_t revision(std::int64_t& value) const { return value = revision_, error_t(); }
  error_t size(std::int64_t& value) const;

 private:
  friend struct KernelCacheAccess;
  bool finalized_ = false;
  std::int64_t revision_ = 0;
  std::vector<std::string> entries_;
  std::shared_ptr<std::mutex> lock_ = std::make_shared<std::mutex>();
};

/// A buffer that carries what it is: execute() checks it against the tensor it is bound to.
struct BoundBuffer {
  enum class Space : std::uint8_t {
    unknown,  ///< not checked
    host,
    cuda,       ///< memory of GPU `ordinal`
    host_cuda,  ///< pinned or managed: reachable from both
  };
  void* ptr = nullptr;
  DataType_t type = DataType_t::NOT_SET;  ///< NOT_SET: a raw address; only null is an error
  std::vector<std::int64_t> dim, stride;  ///< in elements of `type`
  Space space = Space::unknown;
  std::int32_t ordinal = -1;
  std::int64_t bytes = -1;  ///< readable from ptr on; -1 = what dim and stride say
  bool read_only = false;
};

}  // namespace octavo
