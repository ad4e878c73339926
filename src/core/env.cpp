// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#include "core/env.h"

#include <cstdlib>

namespace octavo {

std::string env(Env id) {
  for (const EnvRow& row : kEnvTable) {
    if (row.id != id) continue;
    const char* text = std::getenv(row.name);
    return text ? text : "";
  }
  return {};
}

}  // namespace octavo
