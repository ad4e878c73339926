// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The CUDA runtime symbols that convolution programs use, on host memory: for builds without CUDA's headers. Streams and
// events are in order and done at once. CUDA graphs do not exist here: their functions return cudaErrorNotSupported.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "../graph/scalar.h"
#include "../handle.h"

using half = octavo::float16;
using __half = octavo::float16;
using nv_bfloat16 = octavo::bfloat16;
using __nv_bfloat16 = octavo::bfloat16;
inline half __float2half(float v) { return half(v); }
inline float __half2float(half v) { return v; }
inline nv_bfloat16 __float2bfloat16(float v) { return nv_bfloat16(v); }
inline float __bfloat162float(nv_bfloat16 v) { return v; }

struct CUgraphExec_st;
struct CUevent_st {
  std::chrono::steady_clock::time_point time;
};
typedef CUstream_st* cudaStream_t;
typedef CUgraph_st* cudaGraph_t;
typedef CUgraphExec_st* cudaGraphExec_t;
typedef CUevent_st* cudaEvent_t;

typedef enum cudaError {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidDevice = 101,
  cudaErrorNotSupported = 801
} cudaError_t;

enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4
};

/// What programs ask of a device. The stand-in claims compute capability 9.0, so that version gates let everything through.
struct cudaDeviceProp {
  char name[256];
  int major;
  int minor;
  int multiProcessorCount;
  std::size_t totalGlobalMem;
  std::size_t sharedMemPerBlockOptin;
};

inline char const* cudaGetErrorString(cudaError_t e) {
  switch (e) {
    case cudaSuccess:
      return "no error";
    case cudaErrorInvalidValue:
      return "invalid argument";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInvalidDevice:
      return "invalid device ordinal";
    case cudaErrorNotSupported:
      return "not supported without a GPU";
  }
  return "unknown error";
}
inline char const* cudaGetErrorName(cudaError_t e) { return cudaGetErrorString(e); }
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaPeekAtLastError() { return cudaSuccess; }

inline cudaError_t cudaMalloc(void** ptr, std::size_t bytes) {
  if (ptr == nullptr) return cudaErrorInvalidValue;
  if (bytes > SIZE_MAX - 255) return cudaErrorMemoryAllocation;
  *ptr = std::aligned_alloc(256, bytes == 0 ? 256 : (bytes + 255) / 256 * 256);
  return *ptr != nullptr ? cudaSuccess : cudaErrorMemoryAllocation;
}
template <class T>
cudaError_t cudaMalloc(T** ptr, std::size_t bytes) {
  void* raw = nullptr;
  cudaError_t const e = cudaMalloc(&raw, bytes);
  if (ptr != nullptr) *ptr = static_cast<T*>(raw);
  return e;
}
template <class T>
cudaError_t cudaMallocHost(T** ptr, std::size_t bytes) {
  return cudaMalloc(ptr, bytes);
}
template <class T>
cudaError_t cudaMallocManaged(T** ptr, std::size_t bytes, unsigned = 1) {
  return cudaMalloc(ptr, bytes);
}
inline cudaError_t cudaFree(void* ptr) {
  std::free(ptr);
  return cudaSuccess;
}
inline cudaError_t cudaFreeHost(void* ptr) { return cudaFree(ptr); }
inline cudaError_t cudaMemcpy(void* to, void const* from, std::size_t bytes, cudaMemcpyKind) {
  if (bytes != 0 && (to == nullptr || from == nullptr)) return cudaErrorInvalidValue;
  if (bytes != 0) std::memmove(to, from, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t = nullptr) {
  return cudaMemcpy(to, from, bytes, kind);
}
inline cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  if (bytes != 0 && to == nullptr) return cudaErrorInvalidValue;
  if (bytes != 0) std::memset(to, value, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t = nullptr) {
  return cudaMemset(to, value, bytes);
}

inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
inline cudaError_t cudaGetDevice(int* device) {
  if (device == nullptr) return cudaErrorInvalidValue;
  *device = 0;
  return cudaSuccess;
}
inline cudaError_t cudaSetDevice(int device) { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; }
inline cudaError_t cudaGetDeviceCount(int* count) {
  if (count == nullptr) return cudaErrorInvalidValue;
  *count = 1;
  return cudaSuccess;
}
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* prop, int) {
  if (prop == nullptr) return cudaErrorInvalidValue;
  std::memset(prop, 0, sizeof *prop);
  std::strcpy(prop->name, "cpu");
  prop->major = 9;
  prop->multiProcessorCount = 1;
  return cudaSuccess;
}
inline cudaError_t cudaRuntimeGetVersion(int* version) {
  if (version == nullptr) return cudaErrorInvalidValue;
  *version = 13000;
  return cudaSuccess;
}

inline cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  if (stream == nullptr) return cudaErrorInvalidValue;
  *stream = nullptr;
  return cudaSuccess;
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) { return cudaStreamCreate(stream); }
inline cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }

inline cudaError_t cudaEventCreate(cudaEvent_t* event) {
  if (event == nullptr) return cudaErrorInvalidValue;
  *event = new CUevent_st();
  return cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t = nullptr) {
  if (event == nullptr) return cudaErrorInvalidValue;
  event->time = std::chrono::steady_clock::now();
  return cudaSuccess;
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t from, cudaEvent_t to) {
  if (ms == nullptr || from == nullptr || to == nullptr) return cudaErrorInvalidValue;
  *ms = std::chrono::duration<float, std::milli>(to->time - from->time).count();
  return cudaSuccess;
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}

inline cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned) {
  if (graph != nullptr) *graph = nullptr;
  return cudaErrorNotSupported;
}
inline cudaError_t cudaGraphDestroy(cudaGraph_t) { return cudaErrorNotSupported; }
inline cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t) { return cudaErrorNotSupported; }
inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t) { return cudaErrorNotSupported; }
