// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Thread i of every library on CPU i. Two pools that sleep and wake in turn are otherwise placed by chance, now and then two
// threads on one CPU for a whole run, which makes either side twice as slow.

#include <vector>

namespace octavo::cli {

/// The CPUs this process was started on, in order.
const std::vector<int>& start_cpus();
void pin_this_thread(int index);
/// Back to all of start_cpus(), for a child process.
void unpin_this_thread();
/// Our pool, `threads` strong: the caller is thread 0.
void pin_own_pool(int threads);

}  // namespace octavo::cli
