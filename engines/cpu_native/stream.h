// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Outputs that no cache will keep go past it: an ordinary store reads the line first, which is half of the traffic of a thin
// layer. Kernels write to a small block that stays in L1 or L2; the block is then streamed.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "octavo/device.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace octavo::cpu_native {

/// Is a call of so many bytes, in and out, past the cache that the next call could find its output in? On Intel servers
/// L3 is a victim cache shared by many cores behind a slow mesh: measured there, streaming is never slower once L2 overflows.
/// Elsewhere L3 is fast and close: streaming starts where it overflows.
inline bool worth_streaming(const DeviceTraits& device, std::int64_t bytes) {
#if defined(__x86_64__)
  const bool slow_l3 = device.name.find("Intel") != std::string::npos && device.isa >= CpuIsa::avx512;
  const std::int64_t near = 2 * device.l2_bytes * (device.threads > 1 ? device.threads : 1);
  return bytes > (slow_l3 ? near : device.l3_bytes > near ? device.l3_bytes : near);
#else
  (void)device, (void)bytes;
  return false;
#endif
}

/// Copies past the caches; whole lines where both ends allow it, any address and size.
inline void stream_copy(std::byte* to, const std::byte* from, std::int64_t bytes) {
#if defined(__x86_64__)
  const auto head = static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(to) & 63);
  if (bytes < head + 64) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
    return;
  }
  std::memcpy(to, from, static_cast<std::size_t>(head));
  std::int64_t i = head;
  for (; i + 64 <= bytes; i += 64) {
    const auto* line = reinterpret_cast<const __m128i*>(from + i);
    auto* out = reinterpret_cast<__m128i*>(to + i);
    const __m128i a = _mm_loadu_si128(line), b = _mm_loadu_si128(line + 1), c = _mm_loadu_si128(line + 2),
                  d = _mm_loadu_si128(line + 3);
    _mm_stream_si128(out, a);
    _mm_stream_si128(out + 1, b);
    _mm_stream_si128(out + 2, c);
    _mm_stream_si128(out + 3, d);
  }
  std::memcpy(to + i, from + i, static_cast<std::size_t>(bytes - i));
#else
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
#endif
}

/// After the last stream_copy of a task: streamed lines are ordered before what tells others that it is done.
inline void stream_fence() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

/// A block's input in memory, asked for a share at a time while the block before it is multiplied.
struct InputAhead {
  const std::uint8_t *at = nullptr, *end = nullptr;
  std::int64_t share = 0;
  void prefetch() {
    const std::uint8_t* to = end - at < share ? end : at + share;
    for (; at < to; at += 64) __builtin_prefetch(at, 0, 2);
  }
};

/// A finished block's output, streamed a share at a time while the next block is multiplied.
struct OutputBehind {
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  std::int64_t left = 0, share = 0;
  void stream(std::int64_t most) {
    if (left == 0) return;
    const auto head = static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(to) & 63);
    const std::int64_t n = std::min(left, head + most);  // to the end of a line
    stream_copy(to, from, n);
    to += n;
    from += n;
    left -= n;
  }
  void stream_share() { stream(share); }
  void finish() { stream(left); }
};

}  // namespace octavo::cpu_native
