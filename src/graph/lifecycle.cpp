// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// From a validated graph to a selected plan: the list of plans, its filters, building and choosing.

#include <algorithm>

#include "device/handle.h"
#include "graph/impl.h"

namespace octavo::graph {
namespace {

constexpr const char* kNoGraph = "Empty operation graph provided. Did you forget to call graph.build_operation_graph()?";

error_t plan_failed(std::string text) { return {error_code_t::GRAPH_EXECUTION_PLAN_CREATION_FAILED, std::move(text)}; }
error_t bad_index(std::int64_t i) {
  return {error_code_t::GRAPH_EXECUTION_FAILED, "Plan index " + std::to_string(i) + " is invalid."};
}
error_t no_graph() { return {error_code_t::HEURISTIC_QUERY_FAILED, kNoGraph}; }

/// The engine that accepts everything on its device: what HeurMode_t::FALLBACK asks for.
bool is_fallback(std::string const& engine) { return engine == "cpu_reference" || engine == "cuda_simt"; }

}  // namespace

error_t Graph::Impl::build_operation_graph(std::shared_ptr<const DeviceTraits> traits) {
  OCTAVO_RETURN_IF_ERROR(validate());
  if (lowered->steps.empty()) {
    return {error_code_t::ATTRIBUTE_NOT_SET,
            nodes.empty()
                ? std::string("The graph has no operation; add one before build_operation_graph().")
                : std::string("No tensor of the graph is stored; call set_output(true) on what an operation returned.")};
  }
  operation_graph = lowered;
  device = std::move(traits);
  plans = PlanList();
  overrides = std::make_shared<OverrideCache>();
  plans.engines = engine_choices(*lowered, *device);
  if (kernel_cache)
    note_in_kernel_cache(*kernel_cache, lowered->main() ? lowered->main()->problem.hash().hex() : std::string());
  return {};
}

error_t Graph::build_operation_graph(handle_t handle) {
  std::shared_ptr<const DeviceTraits> traits;
  OCTAVO_RETURN_IF_ERROR(handle_traits(handle, traits));
  return impl_->build_operation_graph(std::move(traits));
}

error_t Graph::build_operation_graph() {
  if (!impl_->device_properties || impl_->device_properties->text().empty()) {
    return {error_code_t::ATTRIBUTE_NOT_SET, "Device properties are not set."};
  }
  std::shared_ptr<const DeviceTraits> traits;
  OCTAVO_RETURN_IF_ERROR(traits_from_text(impl_->device_properties->text(), traits));
  return impl_->build_operation_graph(std::move(traits));
}

error_t Graph::create_execution_plans(std::vector<HeurMode_t> const& modes) {
  Impl& g = *impl_;
  if (!g.device) return no_graph();
  if (g.plans.engines.empty()) {
    return {error_code_t::HEURISTIC_QUERY_FAILED,
            "No valid engine configs for " +
                g.operation_graph->steps[static_cast<std::size_t>(g.operation_graph->main_step)].name + " on " +
                g.device->name + ": no engine accepts " + g.operation_graph->main()->problem.to_string() +
                refusals(*g.operation_graph, *g.device)};
  }
  std::vector<PlanEntry> all;
  for (std::size_t e = 0; e < g.plans.engines.size(); ++e) {
    for (std::size_t c = 0; c < g.plans.engines[e].specs.size(); ++c) {
      PlanEntry entry;
      entry.spec = g.plans.engines[e].specs[c];
      entry.engine_id = static_cast<std::int64_t>(e);
      entry.config_index = static_cast<std::int64_t>(c);
      all.push_back(std::move(entry));
    }
  }
  if (g.operation_graph->main()) {
    // The registry's order: a stored winner first, then by estimated cost.
    std::vector<PlanSpec> const ranked = plan_specs(g.operation_graph->main()->problem, *g.device);
    const auto rank = [&](PlanEntry const& e) {
      auto it = std::find_if(ranked.begin(), ranked.end(),
                             [&](PlanSpec const& s) { return s.engine == e.spec.engine && s.config == e.spec.config; });
      return it - ranked.begin();
    };
    std::stable_sort(all.begin(), all.end(), [&](PlanEntry const& a, PlanEntry const& b) { return rank(a) < rank(b); });
  }
  for (HeurMode_t mode : modes) {
    for (PlanEntry const& e : all) {
      if (mode == HeurMode_t::FALLBACK && !is_fallback(e.spec.engine) && g.operation_graph->main()) continue;
      if (!g.plans.has(e.spec)) g.plans.entries.push_back(e);
    }
  }
  if (g.plans.entries.empty()) {
    return {error_code_t::HEURISTIC_QUERY_FAILED,
            modes.empty() ? std::string("No heuristic mode was given; pass HeurMode_t::A.")
                          : std::string("No valid engine configs for the heuristic modes given; add HeurMode_t::A.")};
  }
  return {};
}

error_t Graph::get_engine_count(std::int64_t& count) const {
  count = 0;
  if (!impl_->device) return no_graph();
  count = static_cast<std::int64_t>(impl_->plans.engines.size());
  return {};
}

namespace {
error_t check_engine(PlanList const& plans, std::int64_t id) {
  if (id >= 0 && id < static_cast<std::int64_t>(plans.engines.size())) return {};
  return {error_code_t::INVALID_VALUE, "Engine id " + std::to_string(id) + " is invalid; this graph has engines 0 to " +
                                           std::to_string(static_cast<std::int64_t>(plans.engines.size()) - 1) + "."};
}
}  // namespace

error_t Graph::get_knobs_for_engine(std::int64_t engine_id, std::vector<Knob>& knobs) const {
  knobs.clear();
  if (!impl_->device) return no_graph();
  OCTAVO_RETURN_IF_ERROR(check_engine(impl_->plans, engine_id));
  std::size_t const n = impl_->plans.engines[static_cast<std::size_t>(engine_id)].specs.size();
  knobs.emplace_back(KnobType_t::KERNEL_CFG, static_cast<std::int64_t>(n) - 1, 0, 1);
  return {};
}

error_t Graph::create_execution_plan(std::int64_t engine_id, std::unordered_map<KnobType_t, std::int64_t> const& knobs) {
  if (!impl_->device) return no_graph();
  OCTAVO_RETURN_IF_ERROR(check_engine(impl_->plans, engine_id));
  EngineChoice const& engine = impl_->plans.engines[static_cast<std::size_t>(engine_id)];
  std::int64_t config = 0;
  for (auto const& [type, value] : knobs) {
    if (type != KnobType_t::KERNEL_CFG) {
      return {error_code_t::INVALID_VALUE, "Engine " + std::to_string(engine_id) + " (" + engine.engine + ") has no knob " +
                                               to_string(type) + "; its knob is KERNEL_CFG."};
    }
    config = value;
  }
  if (config < 0 || config >= static_cast<std::int64_t>(engine.specs.size())) {
    return {error_code_t::INVALID_VALUE, "KERNEL_CFG is " + std::to_string(config) + "; engine " + std::to_string(engine_id) +
                                             " (" + engine.engine + ") takes 0 to " +
                                             std::to_string(static_cast<std::int64_t>(engine.specs.size()) - 1) + "."};
  }
  PlanEntry entry;
  entry.spec = engine.specs[static_cast<std::size_t>(config)];
  entry.engine_id = engine_id;
  entry.config_index = config;
  impl_->plans.entries.push_back(std::move(entry));
  return {};
}

std::int64_t Graph::get_execution_plan_count() const { return static_cast<std::int64_t>(impl_->plans.entries.size()); }

error_t Graph::get_engine_and_knobs_at_index(std::int64_t index, std::int64_t& engine_id,
                                             std::unordered_map<KnobType_t, std::int64_t>& knobs) const {
  if (index < 0 || index >= get_execution_plan_count()) return bad_index(index);
  PlanEntry const& e = impl_->plans.entries[static_cast<std::size_t>(index)];
  engine_id = e.engine_id;
  knobs = {{KnobType_t::KERNEL_CFG, e.config_index}};
  return {};
}

error_t Graph::check_support() {
  Impl& g = *impl_;
  std::string reasons;
  std::lock_guard<std::mutex> const hold(*g.plans.lock);
  for (std::size_t i = 0; i < g.plans.entries.size(); ++i) {
    // A promise: the plan is built now, so that it cannot fail later.
    error_t const e = g.plans.build(g.operation_graph, g.device, i);
    if (e.is_good()) return {};
    reasons += "\nPlan at index " + std::to_string(i) + ": " + e.err_msg;
  }
  if (g.plans.entries.empty()) reasons += "\nThere is no plan yet: call create_execution_plans() first.";
  if (g.device && g.operation_graph) reasons += refusals(*g.operation_graph, *g.device);
  return plan_failed("[cudnn_frontend] Error: No execution plans support the graph." + reasons);
}

error_t Graph::build_plans(BuildPlanPolicy_t policy, bool do_multithreaded_builds) {
  Impl& g = *impl_;
  if (do_multithreaded_builds) return plan_failed("Doing multithreaded builds is not yet supported.");
  std::lock_guard<std::mutex> const hold(*g.plans.lock);
  if (policy == BuildPlanPolicy_t::HEURISTICS_CHOICE && g.plans.candidate >= 0) return {};
  std::string reasons;
  std::int64_t first = -1;
  bool kept = false;
  for (std::size_t i = 0; i < g.plans.entries.size(); ++i) {
    error_t const e = g.plans.build(g.operation_graph, g.device, i);
    if (e.is_good()) {
      if (first < 0) first = static_cast<std::int64_t>(i);
      kept = kept || g.plans.candidate == static_cast<std::int64_t>(i);
      if (policy == BuildPlanPolicy_t::HEURISTICS_CHOICE) break;
    } else {
      reasons += "\nPlan at index " + std::to_string(i) + ": " + e.err_msg;
    }
  }
  if (first < 0) {
    if (g.plans.entries.empty()) reasons = "\nThere is no plan yet: call create_execution_plans() first.";
    return plan_failed("[cudnn_frontend] Error: No valid execution plans built." + reasons);
  }
  if (!kept) g.plans.candidate = first;
  return {};
}

error_t Graph::build_plan_at_index(std::int64_t index) {
  Impl& g = *impl_;
  if (index < 0 || index >= get_execution_plan_count()) return bad_index(index);
  std::lock_guard<std::mutex> const hold(*g.plans.lock);
  OCTAVO_RETURN_IF_ERROR(g.plans.build(g.operation_graph, g.device, static_cast<std::size_t>(index)));
  g.plans.candidate = index;
  return {};
}

error_t Graph::build(handle_t const& handle, std::vector<HeurMode_t> const& modes, BuildPlanPolicy_t policy,
                     bool do_multithreaded_builds) {
  OCTAVO_RETURN_IF_ERROR(validate());
  OCTAVO_RETURN_IF_ERROR(build_operation_graph(handle));
  OCTAVO_RETURN_IF_ERROR(create_execution_plans(modes));
  OCTAVO_RETURN_IF_ERROR(check_support());
  return build_plans(policy, do_multithreaded_builds);
}

error_t Graph::build(std::vector<HeurMode_t> const& modes, BuildPlanPolicy_t policy, bool do_multithreaded_builds) {
  OCTAVO_RETURN_IF_ERROR(validate());
  OCTAVO_RETURN_IF_ERROR(build_operation_graph());
  OCTAVO_RETURN_IF_ERROR(create_execution_plans(modes));
  OCTAVO_RETURN_IF_ERROR(check_support());
  return build_plans(policy, do_multithreaded_builds);
}

// ---- queries
// -------------------------------------------------------------------------------------------------------------------

error_t Graph::Impl::plan_at(std::int64_t index, GraphPlan const*& plan) const {
  if (index < 0 || index >= static_cast<std::int64_t>(plans.entries.size())) return bad_index(index);
  plan = plans.entries[static_cast<std::size_t>(index)].plan.get();
  if (!plan) {
    return {error_code_t::GRAPH_EXECUTION_FAILED,
            "Plan index " + std::to_string(index) + " did not build; call build_plans() or build_plan_at_index() first."};
  }
  return {};
}

error_t Graph::get_workspace_size(std::int64_t& bytes) const {
  bytes = 0;
  return get_workspace_size_plan_at_index(impl_->plans.candidate, bytes);
}

std::int64_t Graph::get_workspace_size() const {
  std::int64_t bytes = 0;
  return get_workspace_size(bytes).is_good() ? bytes : 0;
}

error_t Graph::get_workspace_size_plan_at_index(std::int64_t index, std::int64_t& bytes) const {
  GraphPlan const* plan = nullptr;
  OCTAVO_RETURN_IF_ERROR(impl_->plan_at(index, plan));
  bytes = plan->workspace_bytes();
  return {};
}

std::int64_t Graph::get_workspace_size_plan_at_index(std::int64_t index) const {
  std::int64_t bytes = 0;
  return get_workspace_size_plan_at_index(index, bytes).is_good() ? bytes : 0;
}

std::int64_t Graph::get_autotune_workspace_size() const {
  std::int64_t most = 0;
  for (PlanEntry const& e : impl_->plans.entries)
    if (e.plan) most = std::max(most, e.plan->workspace_bytes());
  return most;
}

error_t Graph::get_plan_name(std::string& name) const { return get_plan_name_at_index(impl_->plans.candidate, name); }

error_t Graph::get_plan_name_at_index(std::int64_t index, std::string& name) const {
  if (index < 0 || index >= get_execution_plan_count()) return bad_index(index);
  name = impl_->plans.entries[static_cast<std::size_t>(index)].name();
  return {};
}

namespace {
/// Notes belong to a built plan, so a query may have to build it.
error_t built_for_query(Graph::Impl& g, std::int64_t index, GraphPlan const*& plan) {
  if (index < 0 || index >= static_cast<std::int64_t>(g.plans.entries.size())) return bad_index(index);
  std::lock_guard<std::mutex> const hold(*g.plans.lock);
  PlanEntry& e = g.plans.entries[static_cast<std::size_t>(index)];
  if (!e.plan) OCTAVO_RETURN_IF_ERROR(GraphPlan::build(g.operation_graph, e.spec, g.device, e.plan));
  plan = e.plan.get();
  return {};
}
}  // namespace

error_t Graph::get_behavior_notes(std::vector<BehaviorNote_t>& notes) const {
  return get_behavior_notes_for_plan_at_index(impl_->plans.candidate, notes);
}
error_t Graph::get_behavior_notes_for_plan_at_index(std::int64_t index, std::vector<BehaviorNote_t>& notes) const {
  GraphPlan const* plan = nullptr;
  OCTAVO_RETURN_IF_ERROR(built_for_query(*impl_, index, plan));
  notes = plan->behavior_notes();
  return {};
}
error_t Graph::get_numeric_notes(std::vector<NumericalNote_t>& notes) const {
  return get_numeric_notes_for_plan_at_index(impl_->plans.candidate, notes);
}
error_t Graph::get_numeric_notes_for_plan_at_index(std::int64_t index, std::vector<NumericalNote_t>& notes) const {
  GraphPlan const* plan = nullptr;
  OCTAVO_RETURN_IF_ERROR(built_for_query(*impl_, index, plan));
  notes = plan->numeric_notes();
  return {};
}
std::int64_t Graph::get_selected_plan_index() const { return impl_->plans.candidate; }

// ---- filters
// -------------------------------------------------------------------------------------------------------------------

Graph& Graph::deselect_workspace_greater_than(std::int64_t bytes) { return impl_->plans.workspace_limit = bytes, *this; }
Graph& Graph::deselect_shared_mem_greater_than(std::int64_t bytes) { return impl_->plans.shared_limit = bytes, *this; }

Graph& Graph::deselect_engines(std::vector<std::string> const& names) {
  for (PlanEntry& e : impl_->plans.entries) {
    for (std::string const& n : names) {
      if (n.empty() || e.name().find(n) == std::string::npos) continue;
      e.barred = true;
      e.barred_reason = "Deselecting execution plan " + e.name() + ": it matches '" + n + "'.";
    }
  }
  return *this;
}
Graph& Graph::select_behavior_notes(std::vector<BehaviorNote_t> const& notes) {
  auto& to = impl_->plans.behavior_selected;
  to.insert(to.end(), notes.begin(), notes.end());
  return *this;
}
Graph& Graph::deselect_behavior_notes(std::vector<BehaviorNote_t> const& notes) {
  auto& to = impl_->plans.behavior_deselected;
  to.insert(to.end(), notes.begin(), notes.end());
  return *this;
}
Graph& Graph::select_numeric_notes(std::vector<NumericalNote_t> const& notes) {
  auto& to = impl_->plans.numeric_selected;
  to.insert(to.end(), notes.begin(), notes.end());
  return *this;
}
Graph& Graph::deselect_numeric_notes(std::vector<NumericalNote_t> const& notes) {
  auto& to = impl_->plans.numeric_deselected;
  to.insert(to.end(), notes.begin(), notes.end());
  return *this;
}

}  // namespace octavo::graph
