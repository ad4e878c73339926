// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "octavo/device.h"

namespace octavo::cli {

/// "Intel(R) Xeon(R) Processor (family 6 model 207), AVX-512 VNNI BF16, no AMX, 2 CPUs"
std::string machine_name(const DeviceTraits& device);
std::string today();
void remember_command_line(int argc, char** argv);
const std::vector<std::string>& command_line();
std::string command_text();

}  // namespace octavo::cli
