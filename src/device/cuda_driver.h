// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The few entry points of the CUDA driver that Octavo uses, declared here so that no CUDA header is needed, and looked up
// in libcuda.so.1 at run time. A machine without it runs everything but CUDA plans.

#include <cstddef>
#include <cstdint>

#include "octavo/error.h"

namespace octavo::cuda {

using Status = int;  // CUresult; 0 is success
using Device = int;
using DevicePtr = std::uint64_t;
using Context = struct OpaqueContext*;
using Module = struct OpaqueModule*;
using Function = struct OpaqueFunction*;
using Stream = struct OpaqueStream*;
using Event = struct OpaqueEvent*;
using Graph = struct OpaqueGraph*;
using GraphNode = struct OpaqueGraphNode*;
using GraphExec = struct OpaqueGraphExec*;

/// CUlaunchAttribute and CUlaunchConfig, bit for bit.
struct LaunchAttribute {
  enum Id : int { cluster_dimension = 4, programmatic_stream_serialization = 6 };
  int id = 0;
  int pad = 0;
  union Value {
    char bytes[64];
    struct {
      unsigned x, y, z;
    } cluster;
    int flag;
  } value = {{0}};
};
struct LaunchConfig {
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned shared_bytes = 0;
  Stream stream = nullptr;
  LaunchAttribute* attributes = nullptr;
  unsigned attribute_count = 0;
};
/// CUDA_KERNEL_NODE_PARAMS (v2), bit for bit.
struct KernelNodeParams {
  Function function = nullptr;
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned shared_bytes = 0;
  void** kernel_params = nullptr;
  void** extra = nullptr;
  void* kernel = nullptr;
  Context context = nullptr;
};

enum DeviceAttribute : int {
  kClockRate = 13,
  kMultiprocessorCount = 16,
  kMemoryClockRate = 36,
  kBusWidth = 37,
  kL2CacheSize = 38,
  kComputeMajor = 75,
  kComputeMinor = 76,
  kSharedPerMultiprocessor = 81,
  kSharedPerBlockOptin = 97
};
enum FunctionAttribute : int { kStaticShared = 1, kLocalBytes = 3, kRegisters = 4, kMaxDynamicShared = 8 };
enum PointerAttribute : int {
  kPointerMemoryType = 2,
  kPointerIsManaged = 8,
  kPointerOrdinal = 9,
  kPointerRangeStart = 11,
  kPointerRangeSize = 12
};
enum MemoryType : int { kMemoryHost = 1, kMemoryDevice = 2 };

// name in this table, symbol in the library, parameters. All return Status.
#define OCTAVO_CUDA_ENTRY_POINTS(X)                                                                                         \
  X(Init, cuInit, unsigned)                                                                                                 \
  X(DriverGetVersion, cuDriverGetVersion, int*)                                                                             \
  X(GetErrorName, cuGetErrorName, Status, const char**)                                                                     \
  X(GetErrorString, cuGetErrorString, Status, const char**)                                                                 \
  X(DeviceGetCount, cuDeviceGetCount, int*)                                                                                 \
  X(DeviceGet, cuDeviceGet, Device*, int)                                                                                   \
  X(DeviceGetName, cuDeviceGetName, char*, int, Device)                                                                     \
  X(DeviceGetAttribute, cuDeviceGetAttribute, int*, int, Device)                                                            \
  X(DeviceTotalMem, cuDeviceTotalMem_v2, std::size_t*, Device)                                                              \
  X(PrimaryCtxRetain, cuDevicePrimaryCtxRetain, Context*, Device)                                                           \
  X(CtxGetCurrent, cuCtxGetCurrent, Context*)                                                                               \
  X(CtxSetCurrent, cuCtxSetCurrent, Context)                                                                                \
  X(CtxSynchronize, cuCtxSynchronize)                                                                                       \
  X(ModuleLoadData, cuModuleLoadData, Module*, const void*)                                                                 \
  X(ModuleUnload, cuModuleUnload, Module)                                                                                   \
  X(ModuleGetFunction, cuModuleGetFunction, Function*, Module, const char*)                                                 \
  X(FuncGetAttribute, cuFuncGetAttribute, int*, int, Function)                                                              \
  X(FuncSetAttribute, cuFuncSetAttribute, Function, int, int)                                                               \
  X(Occupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor, int*, Function, int, std::size_t)                               \
  X(LaunchKernel, cuLaunchKernel, Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream,   \
    void**, void**)                                                                                                         \
  X(LaunchKernelEx, cuLaunchKernelEx, const LaunchConfig*, Function, void**, void**)                                        \
  X(MemAlloc, cuMemAlloc_v2, DevicePtr*, std::size_t)                                                                       \
  X(MemFree, cuMemFree_v2, DevicePtr)                                                                                       \
  X(MemcpyHtoD, cuMemcpyHtoD_v2, DevicePtr, const void*, std::size_t)                                                       \
  X(MemcpyDtoH, cuMemcpyDtoH_v2, void*, DevicePtr, std::size_t)                                                             \
  X(Memcpy, cuMemcpy, DevicePtr, DevicePtr, std::size_t)                                                                    \
  X(MemcpyDtoDAsync, cuMemcpyDtoDAsync_v2, DevicePtr, DevicePtr, std::size_t, Stream)                                       \
  X(MemsetD8, cuMemsetD8_v2, DevicePtr, unsigned char, std::size_t)                                                         \
  X(MemsetD8Async, cuMemsetD8Async, DevicePtr, unsigned char, std::size_t, Stream)                                          \
  X(PointerGetAttribute, cuPointerGetAttribute, void*, int, DevicePtr)                                                      \
  X(PointerGetAttributes, cuPointerGetAttributes, unsigned, int*, void**, DevicePtr)                                        \
  X(StreamCreate, cuStreamCreate, Stream*, unsigned)                                                                        \
  X(StreamDestroy, cuStreamDestroy_v2, Stream)                                                                              \
  X(StreamSynchronize, cuStreamSynchronize, Stream)                                                                         \
  X(StreamIsCapturing, cuStreamIsCapturing, Stream, int*)                                                                   \
  X(StreamBeginCapture, cuStreamBeginCapture_v2, Stream, int)                                                               \
  X(StreamEndCapture, cuStreamEndCapture, Stream, Graph*)                                                                   \
  X(EventCreate, cuEventCreate, Event*, unsigned)                                                                           \
  X(EventDestroy, cuEventDestroy_v2, Event)                                                                                 \
  X(EventRecord, cuEventRecord, Event, Stream)                                                                              \
  X(EventSynchronize, cuEventSynchronize, Event)                                                                            \
  X(EventElapsedTime, cuEventElapsedTime, float*, Event, Event)                                                             \
  X(GraphCreate, cuGraphCreate, Graph*, unsigned)                                                                           \
  X(GraphDestroy, cuGraphDestroy, Graph)                                                                                    \
  X(GraphInstantiate, cuGraphInstantiateWithFlags, GraphExec*, Graph, unsigned long long)                                   \
  X(GraphExecDestroy, cuGraphExecDestroy, GraphExec)                                                                        \
  X(GraphLaunch, cuGraphLaunch, GraphExec, Stream)                                                                          \
  X(GraphGetNodes, cuGraphGetNodes, Graph, GraphNode*, std::size_t*)                                                        \
  X(GraphNodeGetType, cuGraphNodeGetType, GraphNode, int*)                                                                  \
  X(GraphAddChildGraphNode, cuGraphAddChildGraphNode, GraphNode*, Graph, const GraphNode*, std::size_t, Graph)              \
  X(GraphChildGraphNodeGetGraph, cuGraphChildGraphNodeGetGraph, GraphNode, Graph*)                                          \
  X(GraphAddKernelNode, cuGraphAddKernelNode_v2, GraphNode*, Graph, const GraphNode*, std::size_t, const KernelNodeParams*) \
  X(GraphKernelNodeGetParams, cuGraphKernelNodeGetParams_v2, GraphNode, KernelNodeParams*)                                  \
  X(GraphKernelNodeSetParams, cuGraphKernelNodeSetParams_v2, GraphNode, const KernelNodeParams*)

struct Driver {
#define OCTAVO_MEMBER(name, symbol, ...) Status (*name)(__VA_ARGS__) = nullptr;
  OCTAVO_CUDA_ENTRY_POINTS(OCTAVO_MEMBER)
#undef OCTAVO_MEMBER
};

/// The driver of this process, loaded once: the library that OCTAVO_CUDA_DRIVER names, else libcuda.so.1. Null when there
/// is none or cuInit fails; `why` then gets one sentence.
const Driver* driver(std::string* why = nullptr);

/// OK, or CUDA_API_FAILED with the driver's own name for the status, e.g. "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (out of
/// memory)".
error_t check(Status status, const char* what);

/// Makes a device's primary context (the one PyTorch and the CUDA runtime use) current for a scope. Retained once a
/// process; costs one driver call when it is current already.
class CurrentContext {
 public:
  explicit CurrentContext(Context wanted) : driver_(*driver()) {
    driver_.CtxGetCurrent(&previous_);
    changed_ = previous_ != wanted;
    if (changed_) driver_.CtxSetCurrent(wanted);
  }
  ~CurrentContext() {
    if (changed_) driver_.CtxSetCurrent(previous_);
  }
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;

 private:
  const Driver& driver_;
  Context previous_ = nullptr;
  bool changed_ = false;
};

/// The primary context of a device, retained for the life of the process.
error_t primary_context(int ordinal, Context& context);

}  // namespace octavo::cuda
