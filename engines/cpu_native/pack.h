// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Any strides, any layout -> channels last, so that a path needs one layout only: what it has no native access for goes
// through here instead of being refused.

#include <cstddef>
#include <cstdint>

#include "octavo/problem.h"

namespace octavo::cpu_native {

/// Points of dims 2.. of a tensor.
std::int64_t spatial_points(const TensorDesc& desc);

/// Is every point's channel vector one run of memory, points one after the other (pitch = channels, unless padded)?
bool is_channels_last(const TensorDesc& desc);

/// Bytes of the packed copy: dim 0 x points x `channel_pitch` elements.
std::size_t channels_last_bytes(const TensorDesc& desc, std::int64_t channel_pitch);

/// Copies `desc` at `from` to [dim 0][points][channel_pitch], element bytes unchanged, zeros in the pad channels.
/// Runs on the pool.
void to_channels_last(const TensorDesc& desc, const void* from, void* to, std::int64_t channel_pitch);

/// The way back: packed [dim 0][points][channel_pitch] to `desc` at `to`. Writes the tensor's own elements only.
void from_channels_last(const TensorDesc& desc, const void* from, std::int64_t channel_pitch, void* to);

}  // namespace octavo::cpu_native
