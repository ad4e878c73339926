// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Plans inside the caller's CUDA graphs.

#include "device/handle.h"
#include "graph/impl.h"

namespace octavo::graph {
namespace {

error_t to_uids(Graph::TensorMap const& pointers, Graph::UidMap& out) {
  for (auto const& [tensor, ptr] : pointers)
    if (tensor) out[tensor->get_uid()] = ptr;
  return {};
}

error_t need_gpu(handle_t handle) {
  OCTAVO_RETURN_IF_ERROR(check_handle(handle));
  if (handle->ordinal < 0) {
    return {error_code_t::CUDA_API_FAILED, "The handle is on the CPU; a CUDA graph needs a handle on a GPU."};
  }
  return {};
}

}  // namespace

error_t Graph::populate_cuda_graph(handle_t handle, UidMap const& pointers, void* workspace, CUgraph_st* graph) const {
  OCTAVO_RETURN_IF_ERROR(need_gpu(handle));
  if (!graph) return {error_code_t::INVALID_VALUE, "The CUDA graph to populate is null; create one with cudaGraphCreate."};
  return capture_into(handle, graph, /*update=*/false,
                      [&](handle_t capturing) { return execute(capturing, pointers, workspace); });
}
error_t Graph::update_cuda_graph(handle_t handle, UidMap const& pointers, void* workspace, CUgraph_st* graph) const {
  OCTAVO_RETURN_IF_ERROR(need_gpu(handle));
  if (!graph) return {error_code_t::INVALID_VALUE, "The CUDA graph to update is null; pass the one that was populated."};
  return capture_into(handle, graph, /*update=*/true,
                      [&](handle_t capturing) { return execute(capturing, pointers, workspace); });
}
error_t Graph::populate_cuda_graph(handle_t handle, TensorMap const& pointers, void* workspace, CUgraph_st* graph) const {
  UidMap by_uid;
  OCTAVO_RETURN_IF_ERROR(to_uids(pointers, by_uid));
  return populate_cuda_graph(handle, by_uid, workspace, graph);
}
error_t Graph::update_cuda_graph(handle_t handle, TensorMap const& pointers, void* workspace, CUgraph_st* graph) const {
  UidMap by_uid;
  OCTAVO_RETURN_IF_ERROR(to_uids(pointers, by_uid));
  return update_cuda_graph(handle, by_uid, workspace, graph);
}

bool Graph::cuda_graph_direct_population_eligible() const { return impl_->device && impl_->device->kind == DeviceKind::cuda; }

}  // namespace octavo::graph
