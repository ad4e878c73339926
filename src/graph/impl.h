// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "graph/node.h"
#include "graph/plan.h"
#include "graph/steps.h"
#include "octavo/device.h"
#include "octavo/graph/graph.h"

namespace octavo::graph {

/// Declared dims and strides before inference filled the gaps, so that a copy with other shapes infers again.
struct Declared {
  TensorPtr tensor;
  bool dim, stride;
};

/// Plans for overridden shapes, built at the first execute that asks for them.
struct OverrideCache {
  std::mutex lock;
  std::map<std::string, std::shared_ptr<const GraphPlan>> plans;
};

struct Graph::Impl {
  Impl();

  GraphContext context;
  std::int64_t gid = 0;
  std::vector<Node> nodes;
  std::vector<TensorPtr> tensors;
  std::vector<Declared> inferred;  ///< what inference filled in
  std::shared_ptr<KernelCache> kernel_cache;
  std::shared_ptr<DeviceProperties const> device_properties;
  CudaGraphRetention_t retention = CudaGraphRetention_t::PER_GRAPH;

  bool validated = false;
  LoweredPtr lowered;          ///< of the last good validate()
  LoweredPtr operation_graph;  ///< what build_operation_graph() saw; all plans are made from it
  TraitsPtr device;            ///< set by build_operation_graph
  PlanList plans;

  std::shared_ptr<OverrideCache> overrides = std::make_shared<OverrideCache>();

  // ---- ops.cpp
  TensorPtr add_output(Node& node, const char* port, std::string const& name);
  void invalidate();

  // ---- validate.cpp
  error_t validate();
  error_t order_nodes();  ///< producers before consumers (a deserialised graph may come in any order)
  error_t assign_uids();
  std::vector<TensorPtr> all_tensors() const;  ///< every tensor of every node, in the order uids are given

  // ---- lifecycle.cpp
  error_t plan_at(std::int64_t index, GraphPlan const*& plan) const;
  error_t build_operation_graph(std::shared_ptr<const DeviceTraits> traits);
};

}  // namespace octavo::graph
