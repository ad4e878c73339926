// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#include "engines/cpu_native/pack.h"

#include <algorithm>
#include <cstring>

#include "core/parallel.h"

namespace octavo::cpu_native {
namespace {

/// One image row (all channels, the last spatial axis) in blocks that keep both sides in L1. `strided` has any layout.
template <class T, bool kToPacked>
void copy_row(const TensorDesc& desc, T* strided, T* packed, std::int64_t pitch) {
  const auto last = static_cast<std::size_t>(desc.rank - 1);
  const std::int64_t width = desc.dim[last], step = desc.stride[last], channels = desc.dim[1];
  const std::int64_t v = desc.vector;
  const auto move = [](T* s, T* p) {
    if constexpr (kToPacked) {
      *p = *s;
    } else {
      *s = *p;
    }
  };
  if (v > 1 || desc.stride[1] == 1) {  // runs of channels
    const std::int64_t run = v > 1 ? v : channels;
    for (std::int64_t w = 0; w < width; ++w) {
      for (std::int64_t c = 0; c < channels; c += run) {
        T* s = strided + w * step + (c / run) * desc.stride[1] * (v > 1 ? 1 : run);
        const auto bytes = static_cast<std::size_t>(std::min(run, channels - c)) * sizeof(T);
        if constexpr (kToPacked) {
          std::memcpy(packed + w * pitch + c, s, bytes);
        } else {
          std::memcpy(s, packed + w * pitch + c, bytes);
        }
      }
    }
  } else {
    constexpr std::int64_t kBlock = 64 / static_cast<std::int64_t>(sizeof(T)) * 2;
    for (std::int64_t w0 = 0; w0 < width; w0 += kBlock) {
      const std::int64_t w1 = std::min(width, w0 + kBlock);
      for (std::int64_t c0 = 0; c0 < channels; c0 += kBlock) {
        const std::int64_t c1 = std::min(channels, c0 + kBlock);
        for (std::int64_t c = c0; c < c1; ++c) {
          T* s = strided + c * desc.stride[1];
          for (std::int64_t w = w0; w < w1; ++w) move(s + w * step, packed + w * pitch + c);
        }
      }
    }
  }
  if constexpr (kToPacked) {
    if (pitch > channels) {
      for (std::int64_t w = 0; w < width; ++w) {
        std::memset(packed + w * pitch + channels, 0, static_cast<std::size_t>(pitch - channels) * sizeof(T));
      }
    }
  }
}

template <class T, bool kToPacked>
void copy_all(const TensorDesc& desc, void* strided, void* packed, std::int64_t pitch) {
  const auto last = static_cast<std::size_t>(desc.rank - 1);
  const std::int64_t width = desc.dim[last];
  if (width == 0 || desc.dim[0] == 0) return;
  const std::int64_t rows = spatial_points(desc) / width;
  const double bytes = static_cast<double>(desc.dim[0] * rows * width * desc.dim[1]) * sizeof(T);
  parallel_for(desc.dim[0] * rows, threads_for(bytes / 4000), [&](std::int64_t task, int) {
    std::int64_t offset = (task / rows) * desc.stride[0], rest = task % rows;
    for (int d = desc.rank - 2; d >= 2; --d) {
      const auto i = static_cast<std::size_t>(d);
      offset += rest % desc.dim[i] * desc.stride[i];
      rest /= desc.dim[i];
    }
    copy_row<T, kToPacked>(desc, static_cast<T*>(strided) + offset, static_cast<T*>(packed) + task * width * pitch, pitch);
  });
}

template <bool kToPacked>
void copy_any(const TensorDesc& desc, void* strided, void* packed, std::int64_t pitch) {
  switch (element_bytes(desc.type)) {
    case 1:
      return copy_all<std::uint8_t, kToPacked>(desc, strided, packed, pitch);
    case 2:
      return copy_all<std::uint16_t, kToPacked>(desc, strided, packed, pitch);
    case 4:
      return copy_all<std::uint32_t, kToPacked>(desc, strided, packed, pitch);
    default:
      return copy_all<std::uint64_t, kToPacked>(desc, strided, packed, pitch);
  }
}

}  // namespace

std::int64_t spatial_points(const TensorDesc& desc) {
  std::int64_t n = 1;
  for (int d = 2; d < desc.rank; ++d) n *= desc.dim[static_cast<std::size_t>(d)];
  return n;
}

bool is_channels_last(const TensorDesc& desc) {
  if (desc.vector != 1 || (desc.dim[1] > 1 && desc.stride[1] != 1)) return false;
  std::int64_t step = desc.dim[1];
  for (int d = desc.rank - 1; d >= 2; --d) {
    const auto i = static_cast<std::size_t>(d);
    if (desc.dim[i] > 1 && desc.stride[i] != step) return false;
    step *= desc.dim[i];
  }
  return desc.dim[0] <= 1 || desc.stride[0] == step;
}

std::size_t channels_last_bytes(const TensorDesc& desc, std::int64_t channel_pitch) {
  return static_cast<std::size_t>(desc.dim[0] * spatial_points(desc) * channel_pitch * element_bytes(desc.type));
}

void to_channels_last(const TensorDesc& desc, const void* from, void* to, std::int64_t channel_pitch) {
  copy_any<true>(desc, const_cast<void*>(from), to, channel_pitch);
}

void from_channels_last(const TensorDesc& desc, const void* from, std::int64_t channel_pitch, void* to) {
  copy_any<false>(desc, to, const_cast<void*>(from), channel_pitch);
}

}  // namespace octavo::cpu_native
