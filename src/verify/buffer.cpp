// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/buffer.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace octavo::verify {
namespace {

constexpr std::size_t kGuard = 4096;
constexpr int kGuardByte = 0xa7;

bool holds(const std::byte* p, std::size_t n) {
  return std::all_of(p, p + n, [](std::byte b) { return b == static_cast<std::byte>(kGuardByte); });
}

}  // namespace

GuardedBuffer::GuardedBuffer(std::size_t bytes, unsigned char byte, std::size_t misalign, bool fill) : size_(bytes) {
  block_size_ = (kGuard + misalign + bytes + kGuard + 63) / 64 * 64;
  memory_.reset(std::aligned_alloc(64, block_size_));
  if (!memory_) throw std::bad_alloc();
  payload_ = block() + kGuard + misalign;
  std::memset(block(), kGuardByte, kGuard + misalign);
  std::memset(payload_ + size_, kGuardByte, block_size_ - payload_offset() - size_);
  if (fill && size_ > 0) refill(byte);
}

GuardedBuffer GuardedBuffer::clone() const {
  if (!memory_) return {};
  GuardedBuffer copy(size_, 0, payload_offset() - kGuard, false);
  std::memcpy(copy.block(), block(), block_size_);
  return copy;
}

void GuardedBuffer::refill(unsigned char byte) {
  if (size_ > 0) std::memset(payload_, byte, size_);
}

bool GuardedBuffer::intact() const {
  return !memory_ || (holds(block(), payload_offset()) && holds(payload_ + size_, block_size_ - payload_offset() - size_));
}

std::uint64_t GuardedBuffer::checksum() const {
  std::uint64_t sum = 0x9e3779b97f4a7c15u;
  std::size_t i = 0;
  for (; i + 8 <= size_; i += 8) {
    std::uint64_t word;
    std::memcpy(&word, payload_ + i, 8);
    sum = (sum ^ word) * 0xff51afd7ed558ccdu;
    sum ^= sum >> 32;
  }
  for (; i < size_; ++i) sum = (sum ^ static_cast<std::uint64_t>(payload_[i])) * 0xff51afd7ed558ccdu;
  return sum;
}

}  // namespace octavo::verify
