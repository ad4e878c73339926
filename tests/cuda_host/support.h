// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// This program runs on the fake driver (tests/fakes). Tests that need another environment, or are killed, run in a child:
// the program itself, with one DISABLED_ test.

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "device/cuda_driver.h"

namespace octavo::testing {

/// A directory that is removed with everything in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

using Variables = std::map<std::string, std::string>;
/// Starts this program with only `test` ("Child.DISABLED_fill") and these variables added; returns its process id.
int start_child(const std::string& test, const Variables& variables);
/// Exit status; 128 + signal when it was killed.
int wait_for(int child);

std::string fake_nvrtc_path();
inline Variables on_fake_nvrtc(const std::string& cache) {
  return {{"OCTAVO_CACHE_DIR", cache}, {"OCTAVO_NVRTC", fake_nvrtc_path()}};
}

/// The fake driver's own counters.
struct Counts {
  std::int64_t launches = 0, allocations = 0, synchronisations = 0, live = 0;
};
Counts fake_counts();
void fail_launches(int count);

/// Why launches cannot be tried here ("" when they can): there is no NVRTC to compile kernels with.
std::string no_nvrtc();

}  // namespace octavo::testing
