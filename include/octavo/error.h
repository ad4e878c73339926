// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// One error type for the whole library: a code that programs branch on, and one sentence that names the tensor or
// attribute, its value, the rule, and what to do. Names and order are cudnn-frontend's. C++17: public API.

#include <iosfwd>
#include <string>
#include <utility>

namespace octavo {

enum class [[nodiscard]] error_code_t{OK,
                                      ATTRIBUTE_NOT_SET,
                                      SHAPE_DEDUCTION_FAILED,
                                      INVALID_TENSOR_NAME,
                                      INVALID_VARIANT_PACK,
                                      GRAPH_NOT_SUPPORTED,
                                      GRAPH_EXECUTION_PLAN_CREATION_FAILED,
                                      GRAPH_EXECUTION_FAILED,
                                      HEURISTIC_QUERY_FAILED,
                                      UNSUPPORTED_GRAPH_FORMAT,
                                      CUDA_API_FAILED,
                                      CUDNN_BACKEND_API_FAILED,
                                      INVALID_CUDA_DEVICE,
                                      HANDLE_ERROR,
                                      INVALID_VALUE,
                                      NVRTC_COMPILATION_FAILED};

typedef struct [[nodiscard]] error_object {
  error_code_t code = error_code_t::OK;
  std::string err_msg;

  error_object() = default;
  error_object(error_code_t c, std::string message) : code(c), err_msg(std::move(message)) {}

  error_code_t get_code() const { return code; }
  std::string get_message() const { return err_msg; }
  bool is_good() const { return code == error_code_t::OK; }
  bool is_bad() const { return !is_good(); }
  bool operator==(error_code_t other) const { return code == other; }
  bool operator!=(error_code_t other) const { return code != other; }
} error_t;

/// "ATTRIBUTE_NOT_SET" and so on: the enumerator's own name.
const char* to_string(error_code_t code);
std::ostream& operator<<(std::ostream& os, error_code_t code);
std::ostream& operator<<(std::ostream& os, const error_object& error);

}  // namespace octavo

/// Returns the error of an expression that yields an octavo::error_t when it is bad.
#define OCTAVO_RETURN_IF_ERROR(expr)                  \
  do {                                                \
    ::octavo::error_t octavo_error_ = (expr);         \
    if (octavo_error_.is_bad()) return octavo_error_; \
  } while (0)
