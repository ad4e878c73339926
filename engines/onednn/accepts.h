// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "octavo/engine.h"

namespace octavo::onednn {

/// What oneDNN computes exactly right by our contract; knows nothing of oneDNN's own verdict (see primitives.h).
Verdict contract_allows(const Problem& problem, const DeviceTraits& device);

}  // namespace octavo::onednn
