// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// validate(): order, inference and rules of every operation, uids, and the lowering, which finds what cannot run.

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "graph/impl.h"
#include "graph/lower.h"

namespace octavo::graph {
namespace {

constexpr std::size_t kMaxOperations = 250;

}  // namespace

std::vector<TensorPtr> Graph::Impl::all_tensors() const {
  // Inputs last to first, then outputs, operation by operation: the order in which cudnn-frontend's maps hand out uids.
  std::vector<TensorPtr> out;
  std::unordered_set<Tensor_attributes const*> seen;
  const auto add = [&](TensorPtr const& t) {
    if (t && seen.insert(t.get()).second) out.push_back(t);
  };
  for (Node const& n : nodes) {
    for (auto it = n.inputs.rbegin(); it != n.inputs.rend(); ++it) add(it->tensor);
    add(n.conv.w_zero_points);
    for (Port const& p : n.outputs) add(p.tensor);
  }
  for (TensorPtr const& t : tensors) add(t);
  return out;
}

error_t Graph::Impl::order_nodes() {
  std::unordered_map<Tensor_attributes const*, std::size_t> producer;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (Port const& p : nodes[i].outputs) {
      if (p.tensor && !producer.emplace(p.tensor.get(), i).second) {
        return {error_code_t::INVALID_VALUE, "Tensor '" + p.tensor->get_name() +
                                                 "' is the output of two operations, the second " + nodes[i].label() +
                                                 "; a tensor is computed once."};
      }
    }
  }
  std::vector<std::size_t> missing(nodes.size(), 0);
  std::vector<std::vector<std::size_t>> next(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (Port const& p : nodes[i].inputs) {
      if (!p.tensor) continue;
      auto it = producer.find(p.tensor.get());
      if (it != producer.end()) {
        next[it->second].push_back(i);
        ++missing[i];
      } else if (p.tensor->get_is_virtual()) {
        return {error_code_t::ATTRIBUTE_NOT_SET, "Tensor '" + p.tensor->get_name() + "', input " + p.name + " of " +
                                                     nodes[i].label() +
                                                     ", is virtual and no operation computes it; call set_is_virtual(false) or "
                                                     "pass an operation's output."};
      }
    }
  }
  std::vector<std::size_t> order;
  std::vector<bool> done(nodes.size(), false);
  // Repeatedly the first operation that is ready: an ordered list stays as it is.
  bool sorted = true;
  for (std::size_t round = 0; round < nodes.size(); ++round) {
    std::size_t i = 0;
    while (i < nodes.size() && (done[i] || missing[i] != 0)) ++i;
    if (i == nodes.size()) {
      return {error_code_t::INVALID_VALUE, "The operations of the graph wait for each other in a circle."};
    }
    done[i] = true;
    sorted = sorted && i == round;
    order.push_back(i);
    for (std::size_t k : next[i]) --missing[k];
  }
  if (!sorted) {
    std::vector<Node> moved;
    for (std::size_t i : order) moved.push_back(std::move(nodes[i]));
    nodes = std::move(moved);
  }
  return {};
}

error_t Graph::Impl::assign_uids() {
  std::unordered_set<std::int64_t> used;
  std::vector<TensorPtr> const all = all_tensors();
  for (TensorPtr const& t : all) {
    if (!t->has_uid()) continue;
    if (!used.insert(t->get_uid()).second) {
      return {error_code_t::INVALID_VALUE, "uid " + std::to_string(t->get_uid()) + " for tensor named " + t->get_name() +
                                               " has been already assigned to another tensor."};
    }
    if (t->get_uid() < 0) {
      return {error_code_t::INVALID_VALUE, "uid " + std::to_string(t->get_uid()) + " for tensor named " + t->get_name() +
                                               " is negative; uids are 0 or more."};
    }
  }
  std::int64_t next = 1;
  for (TensorPtr const& t : all) {
    if (t->has_uid()) continue;
    while (!used.insert(next).second) ++next;
    t->set_uid(next);
  }
  return {};
}

error_t Graph::Impl::validate() {
  validated = false;
  if (kernel_cache && !context.dynamic_shape) {
    return {error_code_t::GRAPH_NOT_SUPPORTED,
            "Kernel caching enabled but dynamic shapes is disabled; call set_dynamic_shape_enabled(true)."};
  }
  if (nodes.size() > kMaxOperations) {
    return {error_code_t::GRAPH_NOT_SUPPORTED, "The graph has " + std::to_string(nodes.size()) + " operations; the limit is " +
                                                   std::to_string(kMaxOperations) + ", so split it."};
  }
  OCTAVO_RETURN_IF_ERROR(order_nodes());
  for (Node& n : nodes) {
    for (Port const& p : n.outputs) {
      if (!p.tensor) continue;
      bool const dim = p.tensor->get_dim().empty(), stride = p.tensor->get_stride().empty();
      if (dim || stride) inferred.push_back({p.tensor, dim, stride});
    }
    OCTAVO_RETURN_IF_ERROR(infer_node(n));
    if (n.conv.w_zero_points && n.conv.w_zero_points->get_data_type() == DataType_t::NOT_SET) {
      n.conv.w_zero_points->set_data_type(DataType_t::INT32);
    }
    if (n.conv.w_zero_points) OCTAVO_RETURN_IF_ERROR(n.conv.w_zero_points->validate());
  }
  OCTAVO_RETURN_IF_ERROR(assign_uids());
  auto fresh = std::make_shared<Lowered>();
  OCTAVO_RETURN_IF_ERROR(lower(nodes, *fresh));
  lowered = std::move(fresh);
  validated = true;
  return {};
}

error_t Graph::validate() { return impl_->validate(); }

}  // namespace octavo::graph
