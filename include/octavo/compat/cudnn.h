// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The cuDNN C symbols that convolution programs use beside cudnn_frontend.h, answered by Octavo. cuDNN itself is not needed.
//
// CUDA: where <cuda_runtime.h> can be found it is included, as cuDNN's own header does, and handles are made on the GPU.
// Where it cannot (or with OCTAVO_COMPAT_STANDINS defined) the few runtime symbols such programs use are stand-ins on host
// memory, and handles are made on the CPU.

#if defined(CUDNN_H_) || defined(CUDNN_GRAPH_H_)
#error "cuDNN's own cudnn.h is already included: put Octavo's compat folder first in the include path."
#endif
#define CUDNN_H_
#define CUDNN_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "../octavo.h"

#if defined(__CUDA_RUNTIME_H__) || defined(__DRIVER_TYPES_H__)
#define OCTAVO_COMPAT_REAL_CUDA 1
#elif !defined(OCTAVO_COMPAT_STANDINS) && defined(__has_include)
#if __has_include(<cuda_runtime.h>)
#define OCTAVO_COMPAT_REAL_CUDA 1
#endif
#endif

#ifdef OCTAVO_COMPAT_REAL_CUDA
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace octavo {
namespace graph {
template <>
struct scalar_traits<__half> {
  static constexpr bool is_scalar = true;
  static constexpr DataType_t type = DataType_t::HALF;
  static pass_by_values_t store(__half const& value) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return float16::from_bits(bits);
  }
};
template <>
struct scalar_traits<__nv_bfloat16> {
  static constexpr bool is_scalar = true;
  static constexpr DataType_t type = DataType_t::BFLOAT16;
  static pass_by_values_t store(__nv_bfloat16 const& value) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return bfloat16::from_bits(bits);
  }
};
}  // namespace graph
}  // namespace octavo
#else
#include "cuda_standins.h"
#endif

#define CUDNN_MAJOR 9
#define CUDNN_MINOR 19
#define CUDNN_PATCHLEVEL 0
#define CUDNN_VERSION OCTAVO_COMPAT_CUDNN_VERSION

typedef octavo::Context cudnnContext;
typedef octavo::handle_t cudnnHandle_t;

typedef enum {
  CUDNN_STATUS_SUCCESS = 0,
  CUDNN_STATUS_NOT_INITIALIZED = 1001,
  CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH = 1002,
  CUDNN_STATUS_BAD_PARAM = 2000,
  CUDNN_STATUS_NOT_SUPPORTED = 3000,
  CUDNN_STATUS_INTERNAL_ERROR = 4000,
  CUDNN_STATUS_ALLOC_FAILED = 4001,
  CUDNN_STATUS_EXECUTION_FAILED = 5000
} cudnnStatus_t;

inline cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  if (handle == nullptr) return CUDNN_STATUS_BAD_PARAM;
#ifdef OCTAVO_COMPAT_REAL_CUDA
  octavo::error_t const e = octavo::create_handle(*handle);
#else
  octavo::error_t const e = octavo::create_handle(*handle, static_cast<std::int32_t>(octavo::DevicePick::cpu));
#endif
  return e.is_good() ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_INITIALIZED;
}
inline cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  return octavo::destroy_handle(handle).is_good() ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}
inline cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  return octavo::set_stream(handle, stream).is_good() ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}
inline cudnnStatus_t cudnnGetStream(cudnnHandle_t handle, cudaStream_t* stream) {
  if (stream == nullptr) return CUDNN_STATUS_BAD_PARAM;
  return octavo::get_stream(handle, *stream).is_good() ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}
inline std::size_t cudnnGetVersion() { return CUDNN_VERSION; }
inline std::size_t cudnnGetCudartVersion() { return 13000; }
inline std::size_t cudnnGetMaxDeviceVersion() { return 1200; }
inline char const* cudnnGetErrorString(cudnnStatus_t status) {
  switch (status) {
    case CUDNN_STATUS_SUCCESS:
      return "CUDNN_STATUS_SUCCESS";
    case CUDNN_STATUS_NOT_INITIALIZED:
      return "CUDNN_STATUS_NOT_INITIALIZED";
    case CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH:
      return "CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH";
    case CUDNN_STATUS_BAD_PARAM:
      return "CUDNN_STATUS_BAD_PARAM";
    case CUDNN_STATUS_NOT_SUPPORTED:
      return "CUDNN_STATUS_NOT_SUPPORTED";
    case CUDNN_STATUS_INTERNAL_ERROR:
      return "CUDNN_STATUS_INTERNAL_ERROR";
    case CUDNN_STATUS_ALLOC_FAILED:
      return "CUDNN_STATUS_ALLOC_FAILED";
    case CUDNN_STATUS_EXECUTION_FAILED:
      return "CUDNN_STATUS_EXECUTION_FAILED";
  }
  return "CUDNN_STATUS_UNKNOWN";
}
inline void cudnnGetLastErrorString(char* message, std::size_t size) {
  if (message != nullptr && size > 0) message[0] = '\0';
}
