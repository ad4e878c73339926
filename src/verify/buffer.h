// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Host memory with 4 KB of known bytes before and after it, so that a write outside is seen.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace octavo::verify {

class GuardedBuffer {
 public:
  GuardedBuffer() = default;
  /// The payload starts `misalign` bytes past a 64-byte boundary and is filled with `byte` (not touched if fill is false).
  explicit GuardedBuffer(std::size_t bytes, unsigned char byte = 0x5a, std::size_t misalign = 0, bool fill = true);

  std::byte* data() { return payload_; }
  const std::byte* data() const { return payload_; }
  std::size_t size() const { return size_; }
  /// Guards and payload, for copies to another memory and back.
  std::byte* block() { return static_cast<std::byte*>(memory_.get()); }
  const std::byte* block() const { return static_cast<const std::byte*>(memory_.get()); }
  std::size_t block_size() const { return block_size_; }
  std::size_t payload_offset() const { return static_cast<std::size_t>(payload_ - block()); }
  GuardedBuffer clone() const;

  void refill(unsigned char byte);
  /// False when a byte of either guard has changed.
  bool intact() const;
  /// 64 bits over the payload: has anybody written to an input?
  std::uint64_t checksum() const;

 private:
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  std::unique_ptr<void, Free> memory_;
  std::byte* payload_ = nullptr;
  std::size_t size_ = 0, block_size_ = 0;
};

}  // namespace octavo::verify
