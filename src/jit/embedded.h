// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace octavo::jit {

/// One file of kernels/, embedded at build.
struct EmbeddedFile {
  const char* name;     ///< path from kernels/, as an #include spells it
  const char* text;     ///< zero-terminated
  const char* closure;  ///< hash of this file and all that it includes
};

std::span<const EmbeddedFile> embedded_files();
const EmbeddedFile* find_embedded(std::string_view name);

}  // namespace octavo::jit
