// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "device/cuda_memory.h"

#include <string>

namespace octavo::cuda {

error_t Buffer::allocate(int ordinal, std::size_t bytes, Buffer& buffer) {
  buffer.reset();
  Context context = nullptr;
  OCTAVO_RETURN_IF_ERROR(primary_context(ordinal, context));
  const CurrentContext current(context);
  DevicePtr address = 0;
  const std::string what = "Allocating " + std::to_string(bytes) + " bytes on CUDA device " + std::to_string(ordinal);
  OCTAVO_RETURN_IF_ERROR(check(driver()->MemAlloc(&address, bytes ? bytes : 1), what.c_str()));
  buffer.address_ = address;
  buffer.bytes_ = bytes;
  buffer.context_ = context;
  return {};
}

void Buffer::reset() {
  if (!address_) return;
  const CurrentContext current(context_);
  driver()->MemFree(address_);
  address_ = 0;
  bytes_ = 0;
}

error_t Buffer::upload(const void* from, std::size_t bytes, std::size_t offset) {
  if (offset > bytes_ || bytes > bytes_ - offset) return {error_code_t::INVALID_VALUE, "A copy leaves its device buffer."};
  if (!bytes) return {};
  const CurrentContext current(context_);
  return check(driver()->Memcpy(address_ + offset, reinterpret_cast<DevicePtr>(from), bytes), "Copying to the device");
}

error_t Buffer::download(void* to, std::size_t bytes, std::size_t offset) const {
  if (offset > bytes_ || bytes > bytes_ - offset) return {error_code_t::INVALID_VALUE, "A copy leaves its device buffer."};
  if (!bytes) return {};
  const CurrentContext current(context_);
  return check(driver()->MemcpyDtoH(to, address_ + offset, bytes), "Copying from the device");
}

error_t Buffer::fill(std::uint8_t value) {
  if (!bytes_) return {};
  const CurrentContext current(context_);
  return check(driver()->MemsetD8(address_, value, bytes_), "Filling device memory");
}

error_t synchronize(int ordinal) {
  Context context = nullptr;
  OCTAVO_RETURN_IF_ERROR(primary_context(ordinal, context));
  const CurrentContext current(context);
  return check(driver()->CtxSynchronize(), "Waiting for the device");
}

error_t synchronize(int ordinal, void* stream) {
  Context context = nullptr;
  OCTAVO_RETURN_IF_ERROR(primary_context(ordinal, context));
  const CurrentContext current(context);
  return check(driver()->StreamSynchronize(static_cast<Stream>(stream)), "Waiting for a stream");
}

error_t download(int ordinal, void* host, const void* device, std::size_t bytes) {
  Context context = nullptr;
  OCTAVO_RETURN_IF_ERROR(primary_context(ordinal, context));
  const CurrentContext current(context);
  if (!bytes) return {};
  return check(driver()->MemcpyDtoH(host, reinterpret_cast<DevicePtr>(device), bytes), "Copying from the device");
}

error_t upload(int ordinal, void* device, const void* host, std::size_t bytes) {
  Context context = nullptr;
  OCTAVO_RETURN_IF_ERROR(primary_context(ordinal, context));
  const CurrentContext current(context);
  if (!bytes) return {};
  return check(driver()->Memcpy(reinterpret_cast<DevicePtr>(device), reinterpret_cast<DevicePtr>(host), bytes),
               "Copying to the device");
}

error_t Timer::create(int ordinal, Timer& timer) {
  Timer made;
  OCTAVO_RETURN_IF_ERROR(primary_context(ordinal, made.context_));
  const CurrentContext current(made.context_);
  const Driver& d = *driver();
  OCTAVO_RETURN_IF_ERROR(check(d.StreamCreate(&made.stream_, 1 /* not ordered after the null stream */), "Creating a stream"));
  OCTAVO_RETURN_IF_ERROR(check(d.EventCreate(&made.begin_, 0), "Creating an event"));
  OCTAVO_RETURN_IF_ERROR(check(d.EventCreate(&made.end_, 0), "Creating an event"));
  timer = std::move(made);
  return {};
}

Timer::~Timer() {
  if (!context_) return;
  const CurrentContext current(context_);
  const Driver& d = *driver();
  if (begin_) d.EventDestroy(begin_);
  if (end_) d.EventDestroy(end_);
  if (stream_) d.StreamDestroy(stream_);
}

error_t Timer::start() {
  const CurrentContext current(context_);
  return check(driver()->EventRecord(begin_, stream_), "Recording an event");
}

error_t Timer::stop(double& microseconds) {
  const CurrentContext current(context_);
  const Driver& d = *driver();
  OCTAVO_RETURN_IF_ERROR(check(d.EventRecord(end_, stream_), "Recording an event"));
  OCTAVO_RETURN_IF_ERROR(check(d.EventSynchronize(end_), "Waiting for a kernel"));
  float milliseconds = 0;
  OCTAVO_RETURN_IF_ERROR(check(d.EventElapsedTime(&milliseconds, begin_, end_), "Reading an event"));
  microseconds = 1000.0 * static_cast<double>(milliseconds);
  return {};
}

}  // namespace octavo::cuda
