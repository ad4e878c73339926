// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "graph/node.h"
#include "graph/steps.h"

namespace octavo::graph {

/// Nodes in an order that respects their data, already inferred, with uids.
error_t lower(std::vector<Node> const& nodes, Lowered& out);

/// The tensor as engines see it: logical dims, strides in elements, right-aligned to `rank` (0 = its own).
error_t describe(Tensor_attributes const& t, std::size_t rank, TensorDesc& out);

double scalar_value(pass_by_values_t const& value);

/// Nodes that run together: a convolution and the pointwise operations behind it, or pointwise operations alone, or one
/// reduction or genstats.
struct Group {
  NodeKind kind = NodeKind::pointwise;
  std::vector<int> nodes;
  std::vector<std::int64_t> shape;  ///< logical dims of every value in it
};

/// A stored zero point found in front of a convolution: SUB(x, constant) on an integer tensor.
struct ZeroPointPrologue {
  int node = -1;
  TensorPtr source;  ///< the tensor below the subtraction
  std::int32_t value = 0;
  TensorPtr per_channel;  ///< not null: one value for each output channel
};

struct Grouping {
  std::vector<Group> groups;
  std::vector<int> group_of;  ///< by node; -1 = dead, or folded into a convolution
  std::vector<ZeroPointPrologue> prologues;
};
Grouping group_nodes(std::vector<Node> const& nodes);

}  // namespace octavo::graph
