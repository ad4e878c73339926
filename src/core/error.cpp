// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#include "octavo/error.h"

#include <ostream>

namespace octavo {

const char* to_string(error_code_t code) {
  switch (code) {
    case error_code_t::OK:
      return "OK";
    case error_code_t::ATTRIBUTE_NOT_SET:
      return "ATTRIBUTE_NOT_SET";
    case error_code_t::SHAPE_DEDUCTION_FAILED:
      return "SHAPE_DEDUCTION_FAILED";
    case error_code_t::INVALID_TENSOR_NAME:
      return "INVALID_TENSOR_NAME";
    case error_code_t::INVALID_VARIANT_PACK:
      return "INVALID_VARIANT_PACK";
    case error_code_t::GRAPH_NOT_SUPPORTED:
      return "GRAPH_NOT_SUPPORTED";
    case error_code_t::GRAPH_EXECUTION_PLAN_CREATION_FAILED:
      return "GRAPH_EXECUTION_PLAN_CREATION_FAILED";
    case error_code_t::GRAPH_EXECUTION_FAILED:
      return "GRAPH_EXECUTION_FAILED";
    case error_code_t::HEURISTIC_QUERY_FAILED:
      return "HEURISTIC_QUERY_FAILED";
    case error_code_t::UNSUPPORTED_GRAPH_FORMAT:
      return "UNSUPPORTED_GRAPH_FORMAT";
    case error_code_t::CUDA_API_FAILED:
      return "CUDA_API_FAILED";
    case error_code_t::CUDNN_BACKEND_API_FAILED:
      return "CUDNN_BACKEND_API_FAILED";
    case error_code_t::INVALID_CUDA_DEVICE:
      return "INVALID_CUDA_DEVICE";
    case error_code_t::HANDLE_ERROR:
      return "HANDLE_ERROR";
    case error_code_t::INVALID_VALUE:
      return "INVALID_VALUE";
    case error_code_t::NVRTC_COMPILATION_FAILED:
      return "NVRTC_COMPILATION_FAILED";
  }
  return "UNKNOWN";
}

std::ostream& operator<<(std::ostream& os, error_code_t code) { return os << to_string(code); }

std::ostream& operator<<(std::ostream& os, const error_object& error) { return os << error.code << ": " << error.err_msg; }

}  // namespace octavo
