// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Plans of a whole graph: one engine plan for each convolution step, chosen by a PlanSpec of the main step.

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engines/cpu_reference/epilogue.h"
#include "engines/cuda_common/graph_steps.h"
#include "graph/steps.h"
#include "octavo/device.h"
#include "octavo/engine.h"
#include "octavo/graph/graph.h"

namespace octavo::graph {

using LoweredPtr = std::shared_ptr<const Lowered>;
using TraitsPtr = std::shared_ptr<const DeviceTraits>;

/// Immutable once built; shared by every thread that executes it.
class GraphPlan {
 public:
  static error_t build(LoweredPtr const& lowered, PlanSpec const& main_spec, TraitsPtr const& device,
                       std::shared_ptr<const GraphPlan>& out);

  Lowered const& lowered() const { return *lowered_; }
  DeviceTraits const& device() const { return *device_; }
  std::int64_t workspace_bytes() const { return workspace_bytes_; }
  std::int64_t shared_memory_bytes() const { return shared_bytes_; }  ///< the most of its steps, for a block on a GPU
  std::vector<BehaviorNote_t> const& behavior_notes() const { return behavior_; }
  std::vector<NumericalNote_t> const& numeric_notes() const { return numeric_; }
  std::vector<PlanSpec> const& step_specs() const { return specs_; }  ///< one for each step; empty engine = no convolution
  std::string describe() const;
  /// `pointers`: one for each of lowered().bound, already checked. Does not allocate or lock.
  error_t execute(void* const* pointers, void* workspace, void* stream) const;

 private:
  struct StepPlan {
    std::unique_ptr<Plan> conv;                                   ///< convolution steps
    std::unique_ptr<cpu_reference::EpilogueEvaluator> pointwise;  ///< pointwise steps on the CPU
    std::array<std::unique_ptr<cuda::StepPlan>, 2> gpu;           ///< any other step on a GPU; genstats has two
  };
  error_t run_step(std::size_t i, void* const* pointers, char* base, void* stream) const;

  LoweredPtr lowered_;
  TraitsPtr device_;
  std::vector<StepPlan> steps_;
  std::vector<PlanSpec> specs_;
  std::vector<std::int64_t> slot_offsets_;
  std::int64_t engine_offset_ = 0;
  std::int64_t workspace_bytes_ = 0;
  std::int64_t shared_bytes_ = 0;
  std::vector<BehaviorNote_t> behavior_;
  std::vector<NumericalNote_t> numeric_;
};

struct PlanEntry {
  PlanSpec spec;
  std::int64_t engine_id = 0;     ///< index among the engines that accept the main problem
  std::int64_t config_index = 0;  ///< the KERNEL_CFG knob: index among that engine's specs
  bool barred = false;
  std::string barred_reason;
  std::shared_ptr<const GraphPlan> plan;
  error_t build_error;
  double measured_us = -1;
  std::string name() const;
};

/// An engine that accepts the graph's main problem, with its configurations.
struct EngineChoice {
  std::string engine;
  std::vector<PlanSpec> specs;
};

struct PlanList {
  std::vector<EngineChoice> engines;
  std::vector<PlanEntry> entries;
  std::int64_t candidate = -1;
  std::int64_t workspace_limit = -1;
  std::int64_t shared_limit = -1;
  std::vector<BehaviorNote_t> behavior_selected, behavior_deselected;
  std::vector<NumericalNote_t> numeric_selected, numeric_deselected;
  std::shared_ptr<std::mutex> lock = std::make_shared<std::mutex>();  ///< plans are built behind const queries too

  /// Builds entry i if it is not, and says whether the filters let it through.
  error_t build(LoweredPtr const& lowered, TraitsPtr const& device, std::size_t i);
  bool has(PlanSpec const& spec) const;
  error_t too_much_shared(std::string const& name, std::int64_t bytes) const;
};

/// Engines that accept the main problem, in registration order; a graph without a convolution has one engine of its own.
std::vector<EngineChoice> engine_choices(Lowered const& lowered, DeviceTraits const& device);
/// One line for each engine of this device with its reason.
std::string refusals(Lowered const& lowered, DeviceTraits const& device);

// ---- cpu_steps.cpp: the steps that are no convolution, on the CPU
void run_pointwise(PointwiseStep const& step, cpu_reference::EpilogueEvaluator const& evaluator, Args const& args);
void run_reduction(ReductionStep const& step, void const* in, void* out);
void run_genstats(GenstatsStep const& step, void const* in, void* sum, void* sq_sum);
void run_reorder(ReorderStep const& step, void const* in, void* out);

}  // namespace octavo::graph
