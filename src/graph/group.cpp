// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Which operations run together. A pointwise operation joins the group that makes its latest input when all its other inputs
// are there before that group runs; there is no table of patterns.

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "graph/lower.h"

namespace octavo::graph {
namespace {

using Ints = std::vector<std::int64_t>;

struct Uses {
  std::unordered_map<Tensor_attributes const*, int> producer;
  std::unordered_map<Tensor_attributes const*, std::vector<int>> consumers;
};

Uses uses_of(std::vector<Node> const& nodes) {
  Uses u;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (Port const& p : nodes[i].outputs) u.producer[p.tensor.get()] = static_cast<int>(i);
    for (Port const& p : nodes[i].inputs) u.consumers[p.tensor.get()].push_back(static_cast<int>(i));
  }
  return u;
}

/// Nodes from which an output of the graph can be reached.
std::vector<bool> live_nodes(std::vector<Node> const& nodes, Uses const& u) {
  std::vector<bool> live(nodes.size(), false);
  for (std::size_t i = nodes.size(); i-- > 0;) {
    for (Port const& p : nodes[i].outputs) {
      if (!p.tensor->get_is_virtual()) live[i] = true;
      auto it = u.consumers.find(p.tensor.get());
      if (it == u.consumers.end()) continue;
      for (int c : it->second) live[i] = live[i] || live[static_cast<std::size_t>(c)];
    }
  }
  return live;
}

bool is_byte(Tensor_attributes const& t) {
  DataType_t const type = element_type(t.get_data_type());
  return type == DataType_t::INT8 || type == DataType_t::UINT8;
}

bool find_prologue(std::vector<Node> const& nodes, Uses const& u, std::size_t i, ZeroPointPrologue& out) {
  Node const& n = nodes[i];
  if (n.kind != NodeKind::pointwise || n.pointwise.mode != PointwiseMode_t::SUB || n.compute != DataType_t::INT32) return false;
  Tensor_attributes const& a = *n.inputs[0].tensor;
  Tensor_attributes const& b = *n.inputs[1].tensor;
  Tensor_attributes const& result = *n.output();
  if (!is_byte(a) || a.get_is_virtual() || a.get_is_pass_by_value() || is_byte(result) || !result.get_is_virtual())
    return false;
  if (a.get_dim() != result.get_dim() || u.producer.count(&a) != 0) return false;
  auto it = u.consumers.find(&result);
  if (it == u.consumers.end()) return false;
  bool as_x = true, as_w = true;
  for (int c : it->second) {
    Node const& conv = nodes[static_cast<std::size_t>(c)];
    if (conv.kind != NodeKind::fprop) return false;
    bool const x = conv.inputs[0].tensor.get() == &result, w = conv.inputs[1].tensor.get() == &result;
    if (x && w) return false;
    if (x && conv.conv.x_zero_point != 0) return false;
    if (w && (conv.conv.w_zero_point || conv.conv.w_zero_points)) return false;
    // The other input must be an integer too, as stored or below a zero point of its own.
    Tensor_attributes const& other = *conv.inputs[x ? 1 : 0].tensor;
    if (!is_byte(other) && other.get_data_type() != DataType_t::INT32) return false;
    as_x = as_x && x;
    as_w = as_w && w;
  }
  out.node = static_cast<int>(i);
  out.source = n.inputs[0].tensor;
  if (is_scalar_value(b)) {
    double const v = scalar_value(b.get_pass_by_value() ? *b.get_pass_by_value() : *b.get_compile_time_constant());
    if (v != std::floor(v) || v < -255 || v > 255) return false;
    out.value = static_cast<std::int32_t>(v);
    return as_x || as_w;
  }
  if (!as_w || b.get_data_type() != DataType_t::INT32 || b.get_is_virtual() || b.get_is_pass_by_value() ||
      u.producer.count(&b) != 0) {
    return false;
  }
  Ints want(a.get_dim().size(), 1);
  want[0] = a.get_dim()[0];
  if (b.get_dim() != want || (want[0] > 1 && b.get_stride()[0] != 1)) return false;
  out.per_channel = n.inputs[1].tensor;
  return true;
}

bool broadcasts_to(Ints const& dim, Ints const& shape) {
  if (dim.size() > shape.size()) return false;
  std::size_t const shift = shape.size() - dim.size();
  for (std::size_t i = 0; i < dim.size(); ++i)
    if (dim[i] != 1 && dim[i] != shape[shift + i]) return false;
  return true;
}

}  // namespace

Grouping group_nodes(std::vector<Node> const& nodes) {
  Grouping out;
  out.group_of.assign(nodes.size(), -1);
  Uses const u = uses_of(nodes);
  std::vector<bool> const live = live_nodes(nodes, u);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!live[i]) continue;
    Node const& n = nodes[i];
    ZeroPointPrologue zero_point;
    if (find_prologue(nodes, u, i, zero_point)) {
      out.prologues.push_back(zero_point);
      continue;
    }
    int home = -1;
    if (n.kind == NodeKind::pointwise) {
      int const need = pointwise_inputs(n.pointwise.mode);
      for (int k = 0; k < need; ++k) {
        auto it = u.producer.find(n.inputs[static_cast<std::size_t>(k)].tensor.get());
        if (it != u.producer.end()) home = std::max(home, out.group_of[static_cast<std::size_t>(it->second)]);
      }
      Ints const shape = logical_dims(*n.output());
      if (home >= 0) {
        Group const& g = out.groups[static_cast<std::size_t>(home)];
        bool fits = g.shape == shape && (g.kind == NodeKind::pointwise || g.kind <= NodeKind::wgrad);
        for (int k = 0; fits && k < need; ++k) {
          fits = broadcasts_to(logical_dims(*n.inputs[static_cast<std::size_t>(k)].tensor), shape);
        }
        if (!fits) home = -1;
      }
      if (home < 0) {
        home = static_cast<int>(out.groups.size());
        out.groups.push_back({NodeKind::pointwise, {}, shape});
      }
    } else {
      home = static_cast<int>(out.groups.size());
      Ints const shape = n.kind == NodeKind::genstats ? Ints() : logical_dims(*n.output());
      out.groups.push_back({n.kind, {}, n.kind == NodeKind::reduction ? Ints() : shape});
    }
    out.groups[static_cast<std::size_t>(home)].nodes.push_back(static_cast<int>(i));
    out.group_of[i] = home;
  }
  return out;
}

}  // namespace octavo::graph
