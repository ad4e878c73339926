// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/plan.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "graph/node.h"

namespace octavo::graph {
namespace {

constexpr std::int64_t kAlign = 256;
constexpr const char* kStepsEngine = "graph_steps";  ///< a graph without a convolution

std::int64_t align_up(std::int64_t v) { return (v + kAlign - 1) / kAlign * kAlign; }

error_t no_plan(std::string text) { return {error_code_t::GRAPH_EXECUTION_PLAN_CREATION_FAILED, std::move(text)}; }

/// A list of pointers that lives on the stack while it is short.
class PointerList {
 public:
  explicit PointerList(std::size_t n) : n_(n) {
    if (n > near_.size()) far_.resize(n);
  }
  void*& operator[](std::size_t i) { return data()[i]; }
  std::span<void* const> span() { return {data(), n_}; }
  std::span<void const* const> const_span() { return {const_cast<void const* const*>(data()), n_}; }

 private:
  void** data() { return far_.empty() ? near_.data() : far_.data(); }
  std::size_t n_;
  std::array<void*, 24> near_{};
  std::vector<void*> far_;
};

/// A step that is no convolution.
error_t build_on_gpu(Step const& step, DeviceTraits const& device, std::array<std::unique_ptr<cuda::StepPlan>, 2>& out) {
  if (auto const* p = std::get_if<PointwiseStep>(&step.work))
    return cuda::build_pointwise(p->shape, p->epilogue, device, out[0]);
  if (auto const* r = std::get_if<ReductionStep>(&step.work))
    return cuda::build_reduction({r->mode, false, r->compute, r->x, r->y}, device, out[0]);
  if (auto const* o = std::get_if<ReorderStep>(&step.work)) return cuda::build_reorder(o->w, device, out[0]);
  auto const& g = std::get<GenstatsStep>(step.work);
  if (g.sum_out.kind != Ref::Kind::none)
    OCTAVO_RETURN_IF_ERROR(cuda::build_reduction({ReductionMode_t::ADD, false, g.compute, g.x, g.sum}, device, out[0]));
  if (g.sq_sum_out.kind != Ref::Kind::none)
    OCTAVO_RETURN_IF_ERROR(cuda::build_reduction({ReductionMode_t::ADD, true, g.compute, g.x, g.sq_sum}, device, out[1]));
  return {};
}

}  // namespace

error_t GraphPlan::build(LoweredPtr const& lowered, PlanSpec const& main_spec, TraitsPtr const& device,
                         std::shared_ptr<const GraphPlan>& out) {
  auto plan = std::make_shared<GraphPlan>();
  plan->lowered_ = lowered;
  plan->device_ = device;
  std::int64_t engine_bytes = 0;
  bool every_captures = true;
  for (std::size_t i = 0; i < lowered->steps.size(); ++i) {
    Step const& step = lowered->steps[i];
    StepPlan made;
    PlanSpec spec;
    if (ConvStep const* conv = step.conv()) {
      spec = main_spec;
      if (static_cast<int>(i) != lowered->main_step) {
        std::vector<PlanSpec> const specs = plan_specs(conv->problem, *device);
        if (specs.empty()) return no_plan("No engine accepts " + step.name + ".");
        spec = specs.front();
      }
      BuildOptions options;
      options.constant_filter = conv->constant_filter;
      OCTAVO_RETURN_IF_ERROR(build_plan(conv->problem, spec, *device, options, made.conv));
      engine_bytes = std::max(engine_bytes, static_cast<std::int64_t>(made.conv->workspace_bytes()));
      plan->shared_bytes_ = std::max(plan->shared_bytes_, static_cast<std::int64_t>(made.conv->shared_memory_bytes()));
      std::vector<BehaviorNote_t> const behavior = made.conv->behavior_notes();
      every_captures = every_captures && std::find(behavior.begin(), behavior.end(),
                                                   BehaviorNote_t::SUPPORTS_CUDA_GRAPH_NATIVE_API) != behavior.end();
      for (BehaviorNote_t n : behavior) {
        if (std::find(plan->behavior_.begin(), plan->behavior_.end(), n) == plan->behavior_.end()) plan->behavior_.push_back(n);
      }
      for (NumericalNote_t n : made.conv->numerical_notes()) {
        if (std::find(plan->numeric_.begin(), plan->numeric_.end(), n) == plan->numeric_.end()) plan->numeric_.push_back(n);
      }
    } else if (device->kind != DeviceKind::cpu) {
      OCTAVO_RETURN_IF_ERROR(build_on_gpu(step, *device, made.gpu));
      for (auto const& part : made.gpu)
        if (part) engine_bytes = std::max(engine_bytes, part->workspace_bytes());
    } else if (auto const* pointwise = std::get_if<PointwiseStep>(&step.work)) {
      Problem carrier;  // the evaluator reads only the epilogue
      carrier.epilogue = pointwise->epilogue;
      made.pointwise = std::make_unique<cpu_reference::EpilogueEvaluator>(carrier);
    }
    plan->steps_.push_back(std::move(made));
    plan->specs_.push_back(std::move(spec));
  }
  if (!every_captures) {
    plan->behavior_.erase(
        std::remove(plan->behavior_.begin(), plan->behavior_.end(), BehaviorNote_t::SUPPORTS_CUDA_GRAPH_NATIVE_API),
        plan->behavior_.end());
  }
  std::int64_t at = 0;
  for (std::int64_t bytes : lowered->slots) {
    plan->slot_offsets_.push_back(at);
    at += align_up(bytes);
  }
  plan->engine_offset_ = at;
  at += engine_bytes;
  // The caller's pointer need not be aligned: the plan aligns it inside.
  plan->workspace_bytes_ = at == 0 ? 0 : at + kAlign;
  out = std::move(plan);
  return {};
}

std::string GraphPlan::describe() const {
  std::string text;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    text += (text.empty() ? "" : "\n") + lowered_->steps[i].name + ": ";
    if (steps_[i].conv) {
      std::string const own = steps_[i].conv->describe();
      text += specs_[i].engine + (specs_[i].config.empty() ? "" : " " + specs_[i].config) + (own.empty() ? "" : ", " + own);
    } else {
      text += device_->kind == DeviceKind::cpu ? "CPU loop" : "own kernel";
    }
  }
  return text;
}

error_t GraphPlan::execute(void* const* pointers, void* workspace, void* stream) const {
  char* base = nullptr;
  if (workspace_bytes_ != 0) {
    if (!workspace) {
      return {error_code_t::INVALID_VARIANT_PACK,
              "Plan requires a " + std::to_string(workspace_bytes_) + "-byte workspace but received null."};
    }
    std::uintptr_t const address = reinterpret_cast<std::uintptr_t>(workspace);
    base = static_cast<char*>(workspace) + (static_cast<std::uintptr_t>(kAlign) - address % kAlign) % kAlign;
  }
  for (std::size_t i = 0; i < steps_.size(); ++i) OCTAVO_RETURN_IF_ERROR(run_step(i, pointers, base, stream));
  return {};
}

error_t GraphPlan::run_step(std::size_t i, void* const* pointers, char* base, void* stream) const {
  const auto at = [&](Ref r) -> void* {
    if (r.kind == Ref::Kind::bound) return pointers[r.index];
    if (r.kind == Ref::Kind::slot) return base + slot_offsets_[static_cast<std::size_t>(r.index)];
    return nullptr;
  };
  Step const& step = lowered_->steps[i];
  void* const own = base ? base + engine_offset_ : nullptr;
  const auto on_gpu = [&](std::size_t part, Ref in, Ref out) {
    void const* const from[] = {at(in)};
    void* const to[] = {at(out)};
    return steps_[i].gpu[part]->execute(from, to, own, stream);
  };
  if (ConvStep const* c = step.conv()) {
    PointerList operands(c->operands.size()), outputs(c->outputs.size());
    for (std::size_t k = 0; k < c->operands.size(); ++k) operands[k] = at(c->operands[k]);
    for (std::size_t k = 0; k < c->outputs.size(); ++k) outputs[k] = at(c->outputs[k]);
    Args args;
    args.x = at(c->x);
    args.w = at(c->w);
    args.y = at(c->y);
    args.w_zero_points = static_cast<std::int32_t const*>(at(c->w_zero_points));
    args.operands = operands.const_span();
    args.outputs = outputs.span();
    args.workspace = own;
    args.stream = stream;
    return steps_[i].conv->execute(args);
  }
  if (auto const* p = std::get_if<PointwiseStep>(&step.work)) {
    PointerList operands(p->operands.size()), outputs(p->outputs.size());
    for (std::size_t k = 0; k < p->operands.size(); ++k) operands[k] = at(p->operands[k]);
    for (std::size_t k = 0; k < p->outputs.size(); ++k) outputs[k] = at(p->outputs[k]);
    Args args;
    args.operands = operands.const_span();
    args.outputs = outputs.span();
    if (steps_[i].gpu[0]) return steps_[i].gpu[0]->execute(args.operands, args.outputs, own, stream);
    run_pointwise(*p, *steps_[i].pointwise, args);
  } else if (auto const* r = std::get_if<ReductionStep>(&step.work)) {
    if (steps_[i].gpu[0]) return on_gpu(0, r->in, r->out);
    run_reduction(*r, at(r->in), at(r->out));
  } else if (auto const* g = std::get_if<GenstatsStep>(&step.work)) {
    if (device_->kind != DeviceKind::cpu) {
      if (steps_[i].gpu[0]) OCTAVO_RETURN_IF_ERROR(on_gpu(0, g->in, g->sum_out));
      return steps_[i].gpu[1] ? on_gpu(1, g->in, g->sq_sum_out) : error_t();
    }
    run_genstats(*g, at(g->in), at(g->sum_out), at(g->sq_sum_out));
  } else if (auto const* o = std::get_if<ReorderStep>(&step.work)) {
    if (steps_[i].gpu[0]) return on_gpu(0, o->in, o->out);
    run_reorder(*o, at(o->in), at(o->out));
  }
  return {};
}

// ---- the list
// ----------------------------------------------------------------------------------------------------------------

std::string PlanEntry::name() const {
  std::string text = "eng" + std::to_string(engine_id) + "_k" + std::to_string(static_cast<int>(KnobType_t::KERNEL_CFG)) + "=" +
                     std::to_string(config_index) + "_" + spec.engine;
  if (!spec.config.empty()) text += ":" + spec.config;
  return text;
}

bool PlanList::has(PlanSpec const& spec) const {
  return std::any_of(entries.begin(), entries.end(),
                     [&](PlanEntry const& e) { return e.spec.engine == spec.engine && e.spec.config == spec.config; });
}

error_t PlanList::too_much_shared(std::string const& name, std::int64_t bytes) const {
  return no_plan("Deselecting execution plan " + name + ": it uses " + std::to_string(bytes) +
                 " bytes of shared memory a block, more than the " + std::to_string(shared_limit) +
                 " of deselect_shared_mem_greater_than.");
}

error_t PlanList::build(LoweredPtr const& lowered, TraitsPtr const& device, std::size_t i) {
  PlanEntry& e = entries[i];
  if (e.barred) return no_plan(e.barred_reason);
  if (!e.plan) {
    if (e.build_error.is_bad()) return e.build_error;
    if (shared_limit >= 0 && e.spec.shared_bytes > shared_limit) return too_much_shared(e.name(), e.spec.shared_bytes);
    e.build_error = GraphPlan::build(lowered, e.spec, device, e.plan);
    OCTAVO_RETURN_IF_ERROR(e.build_error);
  }
  const auto has_note = [](auto const& notes, auto note) { return std::find(notes.begin(), notes.end(), note) != notes.end(); };
  const auto deselected = [&](std::string const& why) {
    return no_plan("Deselecting execution plan " + e.name() + ": " + why);
  };
  for (BehaviorNote_t n : behavior_selected)
    if (!has_note(e.plan->behavior_notes(), n)) return deselected(std::string("it lacks the note ") + to_string(n) + ".");
  for (BehaviorNote_t n : behavior_deselected)
    if (has_note(e.plan->behavior_notes(), n)) return deselected(std::string("it has the note ") + to_string(n) + ".");
  for (NumericalNote_t n : numeric_selected)
    if (!has_note(e.plan->numeric_notes(), n)) return deselected(std::string("it lacks the note ") + to_string(n) + ".");
  for (NumericalNote_t n : numeric_deselected)
    if (has_note(e.plan->numeric_notes(), n)) return deselected(std::string("it has the note ") + to_string(n) + ".");
  if (workspace_limit >= 0 && e.plan->workspace_bytes() > workspace_limit) {
    return no_plan("Skipping plan since workspace violation. Requires " + std::to_string(e.plan->workspace_bytes()));
  }
  if (shared_limit >= 0 && e.plan->shared_memory_bytes() > shared_limit) {
    return too_much_shared(e.name(), e.plan->shared_memory_bytes());
  }
  return {};
}

std::vector<EngineChoice> engine_choices(Lowered const& lowered, DeviceTraits const& device) {
  ConvStep const* main = lowered.main();
  if (!main) return {{kStepsEngine, {PlanSpec{kStepsEngine, "", 0}}}};
  std::vector<EngineChoice> out;
  for (EngineVerdict const& v : verdicts(main->problem, device)) {
    if (!v.verdict) continue;
    std::vector<PlanSpec> specs = v.engine->specs(main->problem, device);
    if (!specs.empty()) out.push_back({std::string(v.engine->name()), std::move(specs)});
  }
  return out;
}

std::string refusals(Lowered const& lowered, DeviceTraits const& device) {
  ConvStep const* main = lowered.main();
  if (!main) return {};
  std::string text;
  for (EngineVerdict const& v : verdicts(main->problem, device)) {
    if (v.verdict) continue;
    text += "\n" + std::string(v.engine->name()) + ": " + v.verdict.reason;
  }
  return text;
}

}  // namespace octavo::graph
