// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// For tests that check results against the number of threads: small problems would stay on one thread otherwise.

namespace octavo {

/// threads_for() keeps less than `work_us` on the caller; negative = back to the default.
void set_least_parallel_work(double work_us);

}  // namespace octavo
