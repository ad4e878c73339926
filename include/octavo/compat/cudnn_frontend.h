// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Drop-in for cudnn-frontend's header: with -I<prefix>/include/octavo/compat an unmodified `#include <cudnn_frontend.h>` is
// this file. Interface of release 1.32. C++17 and C++20.
//
// Honoured: CUDNN_FRONTEND_SKIP_JSON_LIB (no nlohmann::json, no global `json`). Accepted and without effect, because the
// library neither throws, loads cuDNN, nor logs by itself: NV_CUDNN_DISABLE_EXCEPTION, NV_CUDNN_FRONTEND_USE_DYNAMIC_LOADING,
// NV_CUDNN_FRONTEND_DISABLE_LOGGING.

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "cudnn.h"

#ifndef CUDNN_FRONTEND_SKIP_JSON_LIB
#include <nlohmann/json.hpp>

#include "../graph/json_interop.h"
using json = nlohmann::json;
#endif

#define CUDNN_FRONTEND_MAJOR_VERSION 1
#define CUDNN_FRONTEND_MINOR_VERSION 32
#define CUDNN_FRONTEND_PATCH_VERSION 0
#define CUDNN_FRONTEND_VERSION OCTAVO_COMPAT_FRONTEND_VERSION

namespace cudnn_frontend {

using namespace octavo;  // NOLINT(google-build-using-namespace)
namespace graph = octavo::graph;

class cudnnException : public std::runtime_error {
 public:
  cudnnException(char const* message, cudnnStatus_t status) : std::runtime_error(message), status_(status) {}
  virtual cudnnStatus_t getCudnnStatus() const noexcept { return status_; }

 private:
  cudnnStatus_t status_;
};

class cudnnGraphNotSupportedException : public std::runtime_error {
 public:
  explicit cudnnGraphNotSupportedException(char const* message) : std::runtime_error(message) {}
};

/// The library never logs by itself.
inline bool& isLoggingEnabled() {
  static bool enabled = false;
  return enabled;
}
inline std::ostream& getStream() { return std::cout; }

namespace detail {

inline std::size_t get_backend_version() { return cudnnGetVersion(); }
inline std::size_t get_compiled_version() { return CUDNN_VERSION; }

/// "8.9.7" for 8907, "9.1.0" for 90100: the digits of a version moved with release 9.
inline std::string convert_version_to_str(std::size_t version) {
  std::size_t const scale = version < 10000 ? 1000 : 10000;
  return std::to_string(version / scale) + "." + std::to_string(version % scale / 100) + "." + std::to_string(version % 100);
}
inline std::string get_backend_version_string() { return convert_version_to_str(get_backend_version()); }

}  // namespace detail
}  // namespace cudnn_frontend
