// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string_view>

#include "octavo/problem.h"

namespace octavo {

/// 128-bit FNV-1a: stable across machines and releases (cache keys and tuned tables hold it).
Hash128 hash_bytes(std::string_view bytes);

}  // namespace octavo
