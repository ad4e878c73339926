// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kernel cache on disk: one directory per kernel, {kernel.cu, kernel.cubin, meta.json}, published whole by a rename. A
// reader sees a complete entry or none; anything else is a miss.

#include <string>

#include "jit/kernel_request.h"

namespace octavo::jit {

enum class Lookup { hit, miss, corrupt };

/// $OCTAVO_CACHE_DIR/kernels, or the default place; "" when there is no home directory.
std::string cache_directory();

/// `source` must equal the entry's kernel.cu: a digest that collides is a miss, too.
Lookup find_on_disk(const std::string& directory, const std::string& name, const std::string& source, KernelBinary& out);

/// The last entry in name order that starts with `prefix`; "" when there is none.
std::string newest_version(const std::string& directory, const std::string& prefix);

/// False (never an exception) when the disk does not take it.
bool publish(const std::string& directory, const std::string& name, const std::string& source, const KernelBinary& binary);

}  // namespace octavo::jit
