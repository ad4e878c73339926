// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// NVRTC, dlopen'd: device source text in, CUBIN out.

#include <string>
#include <vector>

#include "core/result.h"

namespace octavo::jit {

struct NvrtcVersion {
  int major = 0, minor = 0;
};

struct NvrtcOutput {
  std::string cubin;
  std::string log;
};

/// OK when NVRTC is there; else one sentence that says where it was looked for.
error_t nvrtc_available(NvrtcVersion* version = nullptr);

/// `options` as NVRTC spells them. Headers come from the embedded kernels. The error carries the compiler's log.
Result<NvrtcOutput> nvrtc_compile(const std::string& source, const std::string& name, const std::vector<std::string>& options);

}  // namespace octavo::jit
