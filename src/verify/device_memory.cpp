// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/device_memory.h"

#include <map>

#include "device/cuda_memory.h"

namespace octavo::verify {
namespace {

/// Blocks come from the driver one by one, so that a sanitizer sees each one's end.
class CudaMemory : public Memory {
 public:
  explicit CudaMemory(int ordinal) : ordinal_(ordinal) {}
  error_t open() { return cuda::Timer::create(ordinal_, timer_); }

  void* allocate(std::size_t bytes) override {
    cuda::Buffer buffer;
    if (cuda::Buffer::allocate(ordinal_, bytes, buffer).is_bad()) return nullptr;
    void* address = buffer.data();
    buffers_.emplace(address, std::move(buffer));
    return address;
  }
  void release(void* address) override { buffers_.erase(address); }
  error_t to_device(void* to, const void* from, std::size_t bytes) override { return cuda::upload(ordinal_, to, from, bytes); }
  error_t to_host(void* to, const void* from, std::size_t bytes) override { return cuda::download(ordinal_, to, from, bytes); }
  error_t synchronize() override { return cuda::synchronize(ordinal_, timer_.stream()); }
  void* stream() override { return timer_.stream(); }

 private:
  int ordinal_;
  cuda::Timer timer_;
  std::map<void*, cuda::Buffer> buffers_;
};

}  // namespace

Result<std::unique_ptr<Memory>> memory_for(const DeviceTraits& device) {
  if (device.kind == DeviceKind::cpu) return std::unique_ptr<Memory>();
  auto memory = std::make_unique<CudaMemory>(device.ordinal);
  if (error_t e = memory->open(); e.is_bad()) return e;
  return std::unique_ptr<Memory>(std::move(memory));
}

}  // namespace octavo::verify
