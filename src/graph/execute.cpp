// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Binding pointers to a plan and running it. The pointer-only paths do not allocate and do not lock.

#include <array>
#include <unordered_map>

#include "device/handle.h"
#include "graph/bindings.h"
#include "graph/impl.h"

namespace octavo::graph {
namespace {

/// One pointer for each bound tensor; on the stack while there are few.
class Pack {
 public:
  explicit Pack(std::size_t n) {
    if (n > near_.size()) far_.resize(n);
  }
  void** data() { return far_.empty() ? near_.data() : far_.data(); }

 private:
  std::array<void*, 32> near_{};
  std::vector<void*> far_;
};

error_t missing(BoundTensor const& t) {
  return {error_code_t::INVALID_VARIANT_PACK,
          "Uid " + std::to_string(t.uid) + " not found in variant pack. (Tensor '" + t.name + "' needs a buffer.)"};
}

/// find(tensor) -> pointer, or nothing.
template <class Find>
error_t run(GraphPlan const& plan, handle_t handle, void* workspace, Find const& find) {
  OCTAVO_RETURN_IF_ERROR(check_same_device(handle, plan.device()));
  std::vector<BoundTensor> const& bound = plan.lowered().bound;
  Pack pack(bound.size());
  for (std::size_t i = 0; i < bound.size(); ++i) {
    if (!find(bound[i], i, pack.data()[i])) return missing(bound[i]);
    OCTAVO_RETURN_IF_ERROR(check_address(bound[i], pack.data()[i]));
  }
  OCTAVO_RETURN_IF_ERROR(check_overlaps(bound, pack.data(), workspace, plan.workspace_bytes()));
  OCTAVO_RETURN_IF_ERROR(check_reachable(handle, bound, pack.data()));
  return plan.execute(pack.data(), workspace, handle->stream);
}

error_t run_uids(GraphPlan const& plan, handle_t handle, Graph::UidMap const& pointers, void* workspace) {
  return run(plan, handle, workspace, [&](BoundTensor const& t, std::size_t, void*& out) {
    auto it = pointers.find(t.uid);
    if (it == pointers.end()) return false;
    out = it->second;
    return true;
  });
}

error_t run_tensors(GraphPlan const& plan, handle_t handle, Graph::TensorMap const& pointers, void* workspace) {
  return run(plan, handle, workspace, [&](BoundTensor const& t, std::size_t, void*& out) {
    auto it = pointers.find(t.tensor);
    if (it != pointers.end()) return out = it->second, true;
    for (auto const& [tensor, ptr] : pointers)  // a copy of the tensor object, or one of a deserialised graph
      if (tensor && tensor->has_uid() && tensor->get_uid() == t.uid) return out = ptr, true;
    return false;
  });
}

error_t run_sorted(GraphPlan const& plan, handle_t handle, void** pointers, int count, void* workspace) {
  std::size_t const n = plan.lowered().bound.size();
  if (!pointers || count < 0 || static_cast<std::size_t>(count) != n) {
    return {error_code_t::INVALID_VARIANT_PACK, "The plan takes " + std::to_string(n) +
                                                    " pointers, in the order of "
                                                    "get_variant_pack_uids_sorted(), and received " +
                                                    std::to_string(count) + "."};
  }
  return run(plan, handle, workspace, [&](BoundTensor const&, std::size_t i, void*& out) {
    out = pointers[i];
    return true;
  });
}

}  // namespace

// ---- overridden shapes
// -----------------------------------------------------------------------------------------------------------

error_t copy_with_shapes(Graph::Impl const& from, Graph::Impl& to, Graph::Ints const& uids,
                         std::vector<Graph::Ints> const& shapes, std::vector<Graph::Ints> const& strides) {
  if (uids.size() != shapes.size() || uids.size() != strides.size()) {
    return {error_code_t::INVALID_VALUE, "There are " + std::to_string(uids.size()) + " override uids, " +
                                             std::to_string(shapes.size()) + " shapes and " + std::to_string(strides.size()) +
                                             " strides; each uid needs one of both."};
  }
  std::unordered_map<Tensor_attributes const*, TensorPtr> copies;
  const auto copy = [&](TensorPtr const& t) -> TensorPtr {
    if (!t) return nullptr;
    TensorPtr& c = copies[t.get()];
    if (!c) {
      c = std::make_shared<Tensor_attributes>(*t);
      to.tensors.push_back(c);
    }
    return c;
  };
  for (Declared const& d : from.inferred) {
    TensorPtr const c = copy(d.tensor);
    if (d.dim) c->set_dim({});
    if (d.stride) c->set_stride({});
  }
  to.context = from.context;
  for (Node n : from.nodes) {
    for (Port& p : n.inputs) p.tensor = copy(p.tensor);
    for (Port& p : n.outputs) p.tensor = copy(p.tensor);
    n.conv.w_zero_points = copy(n.conv.w_zero_points);
    to.nodes.push_back(std::move(n));
  }
  for (std::size_t i = 0; i < uids.size(); ++i) {
    bool found = false;
    for (TensorPtr const& t : to.tensors) {
      if (!t->has_uid() || t->get_uid() != uids[i]) continue;
      t->set_dim(shapes[i]).set_stride(strides[i]);
      found = true;
    }
    if (!found) {
      return {error_code_t::INVALID_VALUE, "Override uid " + std::to_string(uids[i]) + " belongs to no tensor of this graph."};
    }
  }
  return {};
}

namespace {

struct Override {
  Graph::Ints const& uids;
  std::vector<Graph::Ints> const& shapes;
  std::vector<Graph::Ints> const& strides;
  bool empty() const { return uids.empty() && shapes.empty() && strides.empty(); }
  std::string key(std::int64_t index) const {
    std::string text = std::to_string(index) + list_text(uids);
    for (auto const& s : shapes) text += list_text(s);
    for (auto const& s : strides) text += list_text(s);
    return text;
  }
};

/// The plan at `index`, for other shapes: built once, kept with the graph.
error_t plan_for(Graph::Impl const& g, std::int64_t index, Override const& o, std::shared_ptr<const GraphPlan>& plan) {
  GraphPlan const* own = nullptr;
  OCTAVO_RETURN_IF_ERROR(g.plan_at(index, own));
  PlanEntry const& entry = g.plans.entries[static_cast<std::size_t>(index)];
  if (o.empty()) return plan = entry.plan, error_t();
  if (!g.context.override_shape) {
    return {error_code_t::GRAPH_NOT_SUPPORTED,
            "Override shapes were given and the graph does not allow them; call set_override_shape_enabled(true)."};
  }
  std::lock_guard<std::mutex> const hold(g.overrides->lock);
  std::shared_ptr<const GraphPlan>& cached = g.overrides->plans[o.key(index)];
  if (!cached) {
    Graph::Impl other;
    OCTAVO_RETURN_IF_ERROR(copy_with_shapes(g, other, o.uids, o.shapes, o.strides));
    OCTAVO_RETURN_IF_ERROR(other.build_operation_graph(g.device));
    std::vector<PlanSpec> specs;
    for (EngineChoice const& e : other.plans.engines)
      if (e.engine == entry.spec.engine) specs = e.specs;
    if (specs.empty() && other.operation_graph->main()) specs = plan_specs(other.operation_graph->main()->problem, *g.device);
    if (specs.empty()) {
      return {error_code_t::GRAPH_EXECUTION_FAILED,
              "No engine accepts the graph with the override shapes." + refusals(*other.operation_graph, *g.device)};
    }
    PlanSpec spec = specs.front();
    for (PlanSpec const& s : specs)
      if (s.config == entry.spec.config) spec = s;
    OCTAVO_RETURN_IF_ERROR(GraphPlan::build(other.operation_graph, spec, g.device, cached));
  }
  plan = cached;
  return {};
}

}  // namespace

// ---- the public overloads
// -----------------------------------------------------------------------------------------------------------

error_t Graph::execute(handle_t handle, TensorMap const& pointers, void* workspace) const {
  return execute_plan_at_index(handle, pointers, workspace, impl_->plans.candidate);
}
error_t Graph::execute(handle_t handle, UidMap const& pointers, void* workspace) const {
  GraphPlan const* plan = nullptr;
  OCTAVO_RETURN_IF_ERROR(impl_->plan_at(impl_->plans.candidate, plan));
  return run_uids(*plan, handle, pointers, workspace);
}
error_t Graph::execute(handle_t handle, UidMap const& pointers, void* workspace, Ints const& override_uids,
                       std::vector<Ints> const& override_shapes, std::vector<Ints> const& override_strides) const {
  return execute_plan_at_index(handle, pointers, workspace, impl_->plans.candidate, override_uids, override_shapes,
                               override_strides);
}
error_t Graph::execute(handle_t handle, void** pointers, int count, void* workspace) const {
  GraphPlan const* plan = nullptr;
  OCTAVO_RETURN_IF_ERROR(impl_->plan_at(impl_->plans.candidate, plan));
  return run_sorted(*plan, handle, pointers, count, workspace);
}
error_t Graph::execute_plan_at_index(handle_t handle, TensorMap const& pointers, void* workspace, std::int64_t index) const {
  GraphPlan const* plan = nullptr;
  OCTAVO_RETURN_IF_ERROR(impl_->plan_at(index, plan));
  return run_tensors(*plan, handle, pointers, workspace);
}
error_t Graph::execute_plan_at_index(handle_t handle, UidMap const& pointers, void* workspace, std::int64_t index,
                                     Ints const& override_uids, std::vector<Ints> const& override_shapes,
                                     std::vector<Ints> const& override_strides) const {
  std::shared_ptr<const GraphPlan> plan;
  OCTAVO_RETURN_IF_ERROR(plan_for(*impl_, index, {override_uids, override_shapes, override_strides}, plan));
  return run_uids(*plan, handle, pointers, workspace);
}
error_t Graph::execute_plan_at_index(handle_t handle, void** pointers, int count, void* workspace, std::int64_t index,
                                     Ints const& override_uids, std::vector<Ints> const& override_shapes,
                                     std::vector<Ints> const& override_strides) const {
  std::shared_ptr<const GraphPlan> plan;
  OCTAVO_RETURN_IF_ERROR(plan_for(*impl_, index, {override_uids, override_shapes, override_strides}, plan));
  return run_sorted(*plan, handle, pointers, count, workspace);
}

error_t Graph::get_workspace_size(handle_t handle, std::int64_t& bytes, Ints const& override_uids,
                                  std::vector<Ints> const& override_shapes, std::vector<Ints> const& override_strides) const {
  return get_workspace_size_plan_at_index(handle, impl_->plans.candidate, bytes, override_uids, override_shapes,
                                          override_strides);
}
error_t Graph::get_workspace_size_plan_at_index(handle_t, std::int64_t index, std::int64_t& bytes, Ints const& override_uids,
                                                std::vector<Ints> const& override_shapes,
                                                std::vector<Ints> const& override_strides) const {
  bytes = 0;
  std::shared_ptr<const GraphPlan> plan;
  OCTAVO_RETURN_IF_ERROR(plan_for(*impl_, index, {override_uids, override_shapes, override_strides}, plan));
  bytes = plan->workspace_bytes();
  return {};
}

namespace {
error_t check_all(GraphPlan const& plan, std::unordered_map<std::int64_t, BoundBuffer> const& buffers) {
  std::vector<BoundTensor> const& bound = plan.lowered().bound;
  for (BoundTensor const& t : bound) {
    auto it = buffers.find(t.uid);
    if (it == buffers.end()) return missing(t);
    OCTAVO_RETURN_IF_ERROR(check_buffer(t, it->second, plan.device()));
  }
  return {};
}
}  // namespace

error_t Graph::check_bindings(handle_t handle, std::unordered_map<uid_t, BoundBuffer> const& buffers) const {
  GraphPlan const* plan = nullptr;
  OCTAVO_RETURN_IF_ERROR(impl_->plan_at(impl_->plans.candidate, plan));
  OCTAVO_RETURN_IF_ERROR(check_same_device(handle, plan->device()));
  OCTAVO_RETURN_IF_ERROR(check_all(*plan, buffers));
  std::vector<void*> pointers;
  for (BoundTensor const& t : plan->lowered().bound) pointers.push_back(buffers.find(t.uid)->second.ptr);
  return check_overlaps(plan->lowered().bound, pointers.data(), nullptr, 0);
}

error_t Graph::execute(handle_t handle, std::unordered_map<uid_t, BoundBuffer> const& buffers, void* workspace) const {
  return execute_plan_at_index(handle, buffers, workspace, impl_->plans.candidate);
}

error_t Graph::execute_plan_at_index(handle_t handle, std::unordered_map<uid_t, BoundBuffer> const& buffers, void* workspace,
                                     std::int64_t index, Ints const& override_uids, std::vector<Ints> const& override_shapes,
                                     std::vector<Ints> const& override_strides) const {
  std::shared_ptr<const GraphPlan> plan;
  OCTAVO_RETURN_IF_ERROR(plan_for(*impl_, index, {override_uids, override_shapes, override_strides}, plan));
  OCTAVO_RETURN_IF_ERROR(check_all(*plan, buffers));
  return run(*plan, handle, workspace, [&](BoundTensor const& t, std::size_t, void*& out) {
    out = buffers.find(t.uid)->second.ptr;
    return true;
  });
}

error_t Graph::prepare_variant_pack_template() {
  GraphPlan const* plan = nullptr;
  return impl_->plan_at(impl_->plans.candidate, plan);  // a plan carries its template from the start
}

std::vector<std::int64_t> Graph::get_variant_pack_uids_sorted() const {
  std::vector<std::int64_t> uids;
  LoweredPtr const& from = impl_->operation_graph ? impl_->operation_graph : impl_->lowered;
  if (from) {
    for (BoundTensor const& t : from->bound) uids.push_back(t.uid);
  }
  return uids;
}

error_t Graph::warmup(handle_t handle) const {
  GraphPlan const* plan = nullptr;
  OCTAVO_RETURN_IF_ERROR(impl_->plan_at(impl_->plans.candidate, plan));
  return check_same_device(handle, plan->device());
}

}  // namespace octavo::graph
