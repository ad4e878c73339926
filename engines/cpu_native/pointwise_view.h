// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "octavo/problem.h"

namespace octavo::cpu_native {

/// The same problem in fewer, longer axes where the filter is 1x1 without padding: strides become strides of x, and the spatial
/// axes (and the batch) fold into one where every tensor's memory allows it. Otherwise the problem itself.
Problem pointwise_view(const Problem& problem);

}  // namespace octavo::cpu_native
