// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "core/result.h"
#include "octavo/device.h"
#include "verify/verify.h"

namespace octavo::verify {

/// Null for the CPU (host memory serves); for a CUDA device, its memory with a stream of its own.
Result<std::unique_ptr<Memory>> memory_for(const DeviceTraits& device);

}  // namespace octavo::verify
