// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Device memory, streams and events for verification, tuning and tools. Plans never allocate through this at execute.

#include <cstddef>
#include <cstdint>
#include <utility>

#include "device/cuda_driver.h"
#include "octavo/error.h"

namespace octavo::cuda {

/// Owned device memory; empty by default.
class Buffer {
 public:
  Buffer() = default;
  static error_t allocate(int ordinal, std::size_t bytes, Buffer& buffer);
  ~Buffer() { reset(); }
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }

  void* data() const { return reinterpret_cast<void*>(address_); }
  std::size_t bytes() const { return bytes_; }

  // Blocking copies; they also wait for work queued before on the null stream, not for other streams.
  error_t upload(const void* from, std::size_t bytes, std::size_t offset = 0);
  error_t download(void* to, std::size_t bytes, std::size_t offset = 0) const;
  error_t fill(std::uint8_t value);
  void reset();

 private:
  void swap(Buffer& other) noexcept {
    std::swap(address_, other.address_);
    std::swap(bytes_, other.bytes_);
    std::swap(context_, other.context_);
  }
  DevicePtr address_ = 0;
  std::size_t bytes_ = 0;
  Context context_ = nullptr;
};

error_t synchronize(int ordinal);                ///< all work of the device
error_t synchronize(int ordinal, void* stream);  ///< one stream's
/// Copies between any two addresses of host or device memory, blocking.
error_t download(int ordinal, void* host, const void* device, std::size_t bytes);
error_t upload(int ordinal, void* device, const void* host, std::size_t bytes);

/// A stream of its own with a pair of events, for timing.
class Timer {
 public:
  static error_t create(int ordinal, Timer& timer);
  Timer() = default;
  ~Timer();
  Timer(Timer&& other) noexcept { swap(other); }
  Timer& operator=(Timer&& other) noexcept {
    swap(other);
    return *this;
  }
  void* stream() const { return stream_; }
  error_t start();
  error_t stop(double& microseconds);  ///< waits for the work since start()

 private:
  void swap(Timer& other) noexcept {
    std::swap(stream_, other.stream_);
    std::swap(begin_, other.begin_);
    std::swap(end_, other.end_);
    std::swap(context_, other.context_);
  }
  Stream stream_ = nullptr;
  Event begin_ = nullptr, end_ = nullptr;
  Context context_ = nullptr;
};

}  // namespace octavo::cuda
