// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/steps.h"
#include "octavo/device.h"
#include "octavo/handle.h"

namespace octavo::graph {

/// A raw address: missing, null or misaligned ones are errors.
error_t check_address(BoundTensor const& tensor, void const* ptr);

/// On a GPU: all addresses must be reachable from it. `pointers`: one for each of `bound`.
error_t check_reachable(handle_t handle, std::vector<BoundTensor> const& bound, void* const* pointers);

/// A buffer that carries its type: type, size, strides, device and alignment against the declared tensor.
error_t check_buffer(BoundTensor const& tensor, BoundBuffer const& buffer, DeviceTraits const& device);

/// The buffers of one execution against each other and the workspace: an output must not share bytes with another output or
/// with what is read while it is written. An operand of the epilogue may be the output itself.
error_t check_overlaps(std::vector<BoundTensor> const& bound, void* const* pointers, void const* workspace,
                       std::int64_t workspace_bytes);

}  // namespace octavo::graph
