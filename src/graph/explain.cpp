// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#include <ostream>

#include "graph/impl.h"

namespace octavo::graph {
namespace {

std::string kind_text(Step const& s) {
  if (s.conv()) return "convolution";
  if (std::holds_alternative<PointwiseStep>(s.work)) return "pointwise";
  if (std::holds_alternative<ReductionStep>(s.work)) return "reduction";
  if (std::holds_alternative<GenstatsStep>(s.work)) return "genstats";
  return "reorder";
}

}  // namespace

std::string Graph::explain() const {
  Impl const& g = *impl_;
  LoweredPtr const& l = g.operation_graph ? g.operation_graph : g.lowered;
  if (!l) return "The graph is not validated: call validate().\n";
  DeviceTraits const& device = g.device ? *g.device : host_cpu();
  std::string text = "device: " + device.name + "\n";
  for (std::size_t i = 0; i < l->steps.size(); ++i) {
    Step const& s = l->steps[i];
    text += "step " + std::to_string(i) + " (" + kind_text(s) + "): " + s.name + "\n";
    ConvStep const* c = s.conv();
    if (!c) continue;
    text += "  problem: " + c->problem.to_string() + "\n";
    for (EngineVerdict const& v : verdicts(c->problem, device)) {
      text += "  " + std::string(v.engine->name()) + ": " + (v.verdict ? "accepts" : "declines: " + v.verdict.reason) + "\n";
      if (!v.verdict) continue;
      for (PlanSpec const& p : v.engine->specs(c->problem, device)) {
        text += "    " + (p.config.empty() ? std::string("(one configuration)") : p.config) + ", estimated " +
                std::to_string(p.cost_us) + " us\n";
      }
    }
  }
  std::int64_t slots = 0;
  for (std::int64_t b : l->slots) slots += b;
  text += "intermediates in workspace: " + std::to_string(l->slots.size()) + " (" + std::to_string(slots) + " bytes)\n";
  for (std::size_t i = 0; i < g.plans.entries.size(); ++i) {
    PlanEntry const& e = g.plans.entries[i];
    text +=
        "plan " + std::to_string(i) + (static_cast<std::int64_t>(i) == g.plans.candidate ? " (selected): " : ": ") + e.name();
    if (e.barred) text += ", deselected";
    if (e.plan) text += ", workspace " + std::to_string(e.plan->workspace_bytes()) + " bytes";
    if (e.measured_us >= 0) text += ", measured " + std::to_string(e.measured_us) + " us";
    text += "\n";
  }
  return text;
}

std::ostream& operator<<(std::ostream& os, Graph const& graph) { return os << graph.print(); }
std::ostream& operator<<(std::ostream& os, Tensor_attributes const& tensor) { return os << tensor.to_json_text(); }

}  // namespace octavo::graph
