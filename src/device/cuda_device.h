// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// DeviceTraits of CUDA devices: from the driver, or from a name with no device present.

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "octavo/device.h"

namespace octavo::cuda {

/// Devices that the driver sees; 0 when there is no driver.
int device_count();

/// Read once a process and ordinal.
Result<DeviceTraits> device(int ordinal);

/// "h200", "a100", "orin", "rtx4090", ... or "sm_87" (the smallest common device of that architecture).
Result<DeviceTraits> device_by_name(std::string_view name);
std::vector<std::string> device_names();

/// The architecture that kernels are compiled for: "sm_80", "sm_90a", "sm_100a", "sm_120a" (the suffix opens the
/// instructions that only exist there).
std::string arch_of(const DeviceTraits& device);

/// An error unless `pointer` can be used by kernels on device `ordinal`. `name` is what the message calls it. Host memory
/// that is not managed or registered, and memory of another device, are errors: a kernel would fault on them.
error_t check_pointer(const void* pointer, int ordinal, std::string_view name);

/// The ordinal a device pointer belongs to; -1 for host memory (or without a driver).
int pointer_device(const void* pointer);

}  // namespace octavo::cuda
