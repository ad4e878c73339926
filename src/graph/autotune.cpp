// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Timing the built plans of a graph. Outputs go to scratch memory, so the caller's are never written.

#include <algorithm>
#include <chrono>
#include <memory>

#include "device/handle.h"
#include "graph/bindings.h"
#include "graph/impl.h"

namespace octavo::graph {
namespace {

constexpr int kMostRuns = 100;
constexpr double kEnough = 0.05;  ///< stop when a round improves the best time by less
constexpr double kMostSecondsPerPlan = 0.5;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Best time of one execution in microseconds.
error_t time_plan(GraphPlan const& plan, handle_t handle, void* const* pointers, void* workspace, double& best_us) {
  OCTAVO_RETURN_IF_ERROR(plan.execute(pointers, workspace, handle->stream));  // warm-up
  OCTAVO_RETURN_IF_ERROR(synchronize(handle));
  double const start = now();
  double best = 0;
  int stale = 0;
  for (int run = 0; run < kMostRuns && stale < 3 && now() - start < kMostSecondsPerPlan; ++run) {
    double const t = now();
    OCTAVO_RETURN_IF_ERROR(plan.execute(pointers, workspace, handle->stream));
    OCTAVO_RETURN_IF_ERROR(synchronize(handle));
    double const us = (now() - t) * 1e6;
    stale = run > 0 && us > best * (1 - kEnough) ? stale + 1 : 0;
    if (run == 0 || us < best) best = us;
  }
  best_us = best;
  return {};
}

}  // namespace

error_t Graph::autotune(handle_t handle, UidMap const& pointers, void* workspace, void*) {
  Impl& g = *impl_;
  OCTAVO_RETURN_IF_ERROR(check_handle(handle));
  if (!g.operation_graph) return {error_code_t::GRAPH_EXECUTION_FAILED, "No execution plans were successfully timed."};
  std::vector<BoundTensor> const& bound = g.operation_graph->bound;
  std::vector<void*> pack(bound.size());
  std::vector<std::unique_ptr<Scratch>> scratch;
  for (std::size_t i = 0; i < bound.size(); ++i) {
    if (bound[i].is_output) {
      scratch.push_back(std::make_unique<Scratch>());
      OCTAVO_RETURN_IF_ERROR(scratch.back()->allocate(handle, bound[i].span_bytes));
      pack[i] = scratch.back()->get();
      continue;
    }
    auto it = pointers.find(bound[i].uid);
    if (it == pointers.end()) {
      return {error_code_t::INVALID_VARIANT_PACK, "Uid " + std::to_string(bound[i].uid) + " not found in variant pack."};
    }
    pack[i] = it->second;
    OCTAVO_RETURN_IF_ERROR(check_address(bound[i], pack[i]));
  }
  OCTAVO_RETURN_IF_ERROR(check_reachable(handle, bound, pack.data()));
  std::lock_guard<std::mutex> const hold(*g.plans.lock);
  std::vector<PlanEntry> timed, untimed;
  std::string reasons;
  for (PlanEntry const& entry : g.plans.entries) {
    if (!entry.plan || entry.barred) {
      untimed.push_back(entry);
      continue;
    }
    PlanEntry e = entry;
    error_t status = check_same_device(handle, e.plan->device());
    if (status.is_good()) status = time_plan(*e.plan, handle, pack.data(), workspace, e.measured_us);
    if (status.is_good()) {
      timed.push_back(std::move(e));
    } else {
      reasons += "\n" + e.name() + ": " + status.err_msg;
    }
  }
  if (timed.empty()) {
    return {error_code_t::GRAPH_EXECUTION_FAILED, "No execution plans were successfully timed." + reasons};
  }
  std::stable_sort(timed.begin(), timed.end(),
                   [](PlanEntry const& a, PlanEntry const& b) { return a.measured_us < b.measured_us; });
  timed.insert(timed.end(), untimed.begin(), untimed.end());
  g.plans.entries = std::move(timed);
  g.plans.candidate = 0;
  return {};
}

error_t Graph::autotune(handle_t handle, TensorMap const& pointers, void* workspace, void* user_impl) {
  UidMap by_uid;
  for (auto const& [tensor, ptr] : pointers)
    if (tensor) by_uid[tensor->get_uid()] = ptr;
  return autotune(handle, by_uid, workspace, user_impl);
}

}  // namespace octavo::graph
