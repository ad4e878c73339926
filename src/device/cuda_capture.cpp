// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Work captured into a CUDA graph that the caller owns.

#include <vector>

#include "device/cuda_driver.h"
#include "device/handle.h"

namespace octavo::graph {
namespace {

constexpr int kKernelNode = 0;
constexpr int kRelaxedCapture = 2;

error_t nodes_of(cuda::Driver const& d, cuda::Graph graph, std::vector<cuda::GraphNode>& out) {
  std::size_t count = 0;
  OCTAVO_RETURN_IF_ERROR(cuda::check(d.GraphGetNodes(graph, nullptr, &count), "cuGraphGetNodes"));
  out.resize(count);
  if (count == 0) return {};
  return cuda::check(d.GraphGetNodes(graph, out.data(), &count), "cuGraphGetNodes");
}

/// Kernel nodes only: then each becomes a node of the caller's graph, and can be updated later.
error_t all_kernels(cuda::Driver const& d, std::vector<cuda::GraphNode> const& nodes, bool& yes) {
  yes = true;
  for (cuda::GraphNode n : nodes) {
    int type = -1;
    OCTAVO_RETURN_IF_ERROR(cuda::check(d.GraphNodeGetType(n, &type), "cuGraphNodeGetType"));
    yes = yes && type == kKernelNode;
  }
  return {};
}

error_t populate(cuda::Driver const& d, cuda::Graph target, cuda::Graph captured) {
  std::vector<cuda::GraphNode> there;
  OCTAVO_RETURN_IF_ERROR(nodes_of(d, target, there));
  if (!there.empty()) {
    return {error_code_t::INVALID_VALUE,
            "The CUDA graph to populate has " + std::to_string(there.size()) + " nodes; pass an empty one."};
  }
  // A child graph keeps everything that was captured: launch attributes, copies, the order.
  cuda::GraphNode child = nullptr;
  return cuda::check(d.GraphAddChildGraphNode(&child, target, nullptr, 0, captured), "cuGraphAddChildGraphNode");
}

error_t update(cuda::Driver const& d, cuda::Graph target, cuda::Graph captured) {
  std::vector<cuda::GraphNode> there, fresh;
  OCTAVO_RETURN_IF_ERROR(nodes_of(d, target, there));
  OCTAVO_RETURN_IF_ERROR(nodes_of(d, captured, fresh));
  cuda::Graph inside = nullptr;
  if (there.size() == 1 && d.GraphChildGraphNodeGetGraph(there.front(), &inside) == 0) {
    OCTAVO_RETURN_IF_ERROR(nodes_of(d, inside, there));
  }
  bool mine = false, theirs = false;
  OCTAVO_RETURN_IF_ERROR(all_kernels(d, there, theirs));
  OCTAVO_RETURN_IF_ERROR(all_kernels(d, fresh, mine));
  if (!mine || !theirs || there.size() != fresh.size()) {
    return {error_code_t::INVALID_VALUE, "The CUDA graph to update was not populated by this plan: it has " +
                                             std::to_string(there.size()) + " nodes and the plan " +
                                             std::to_string(fresh.size()) + " kernels; populate an empty graph instead."};
  }
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    cuda::KernelNodeParams params;
    OCTAVO_RETURN_IF_ERROR(cuda::check(d.GraphKernelNodeGetParams(fresh[i], &params), "cuGraphKernelNodeGetParams"));
    OCTAVO_RETURN_IF_ERROR(cuda::check(d.GraphKernelNodeSetParams(there[i], &params), "cuGraphKernelNodeSetParams"));
  }
  return {};
}

}  // namespace

error_t capture_into(handle_t handle, CUgraph_st* graph, bool replace, std::function<error_t(handle_t)> const& work) {
  OCTAVO_RETURN_IF_ERROR(check_handle(handle));
  std::string why;
  cuda::Driver const* d = cuda::driver(&why);
  if (!d) return {error_code_t::CUDA_API_FAILED, why};
  cuda::Context context = nullptr;
  OCTAVO_RETURN_IF_ERROR(cuda::primary_context(handle->ordinal, context));
  cuda::CurrentContext const current(context);
  cuda::Stream stream = nullptr;
  OCTAVO_RETURN_IF_ERROR(cuda::check(d->StreamCreate(&stream, 1), "cuStreamCreate"));
  Context capturing = *handle;
  capturing.stream = reinterpret_cast<CUstream_st*>(stream);
  cuda::Graph captured = nullptr;
  error_t e = cuda::check(d->StreamBeginCapture(stream, kRelaxedCapture), "cuStreamBeginCapture");
  if (e.is_good()) {
    e = work(&capturing);
    error_t const ended = cuda::check(d->StreamEndCapture(stream, &captured), "cuStreamEndCapture");
    if (e.is_good()) e = ended;
  }
  cuda::Graph const target = reinterpret_cast<cuda::Graph>(graph);
  if (e.is_good()) e = replace ? update(*d, target, captured) : populate(*d, target, captured);
  if (captured) d->GraphDestroy(captured);
  d->StreamDestroy(stream);
  return e;
}

}  // namespace octavo::graph
