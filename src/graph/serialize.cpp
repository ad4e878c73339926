// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Text and bytes of a graph. The bytes are a small container of our own around JSON text (magic, length, hash), so that a
// damaged file is recognised before it is read.

#include <algorithm>
#include <cstring>

#include "core/hash.h"
#include "device/handle.h"
#include "graph/json.h"
#include "graph/lower.h"

namespace octavo::graph {
namespace {

constexpr char kMagic[8] = {'O', 'C', 'T', 'A', 'V', 'O', 'G', '1'};
constexpr std::size_t kHeader = sizeof kMagic + 8 + 16;

void put_u64(std::vector<std::uint8_t>& out, std::uint64_t v) {
  for (int i = 0; i < 8; ++i) out.push_back(static_cast<std::uint8_t>(v >> (8 * i)));
}
std::uint64_t get_u64(std::uint8_t const* p) {
  std::uint64_t v = 0;
  for (int i = 0; i < 8; ++i) v |= static_cast<std::uint64_t>(p[i]) << (8 * i);
  return v;
}

error_t bad_bytes(std::string text) { return {error_code_t::UNSUPPORTED_GRAPH_FORMAT, std::move(text)}; }

error_t unpack(std::vector<std::uint8_t> const& data, Json& out) {
  if (data.size() < kHeader || std::memcmp(data.data(), kMagic, sizeof kMagic) != 0) {
    return bad_bytes("The bytes are no graph that Octavo serialised (a plan of cuDNN cannot be read; build the graph again).");
  }
  std::uint64_t const length = get_u64(data.data() + 8);
  if (length != data.size() - kHeader) {
    return bad_bytes("The serialised graph should have " + std::to_string(length) + " bytes of text and has " +
                     std::to_string(data.size() - kHeader) + "; it is truncated or damaged.");
  }
  std::string const text(reinterpret_cast<char const*>(data.data()) + kHeader, static_cast<std::size_t>(length));
  Hash128 const hash = hash_bytes(text);
  if (hash.hi != get_u64(data.data() + 16) || hash.lo != get_u64(data.data() + 24)) {
    return bad_bytes("The serialised graph is damaged: its hash does not match.");
  }
  return parse_json(text, out);
}

}  // namespace

std::string Tensor_attributes::to_json_text() const {
  return tensor_to_json(*this).dump(-1, ' ', false, Json::error_handler_t::replace);
}

error_t Tensor_attributes::from_json_text(std::string const& text) {
  Json j;
  OCTAVO_RETURN_IF_ERROR(parse_json(text, j));
  Tensor_attributes read;
  OCTAVO_RETURN_IF_ERROR(tensor_from_json(j, read));
  *this = std::move(read);
  return {};
}

error_t Graph::serialize_text(std::string& text) const {
  Json j;
  OCTAVO_RETURN_IF_ERROR(graph_to_json(*impl_, j));
  text = j.dump(-1, ' ', false, Json::error_handler_t::replace);
  return {};
}

error_t Graph::deserialize_text(std::string const& text, bool enforce_precompiled) {
  if (enforce_precompiled) {
    return bad_bytes(
        "JSON holds the structure of a graph and no plan, so enforce_precompiled=true cannot be met; pass what "
        "serialize(std::vector<uint8_t>&) wrote, or enforce_precompiled=false.");
  }
  Json j;
  OCTAVO_RETURN_IF_ERROR(parse_json(text, j));
  return graph_from_json(j, *impl_);
}

error_t Graph::serialize(std::vector<std::uint8_t>& data, bool) const {
  Impl& g = *impl_;
  GraphPlan const* plan = nullptr;
  if (g.plan_at(g.plans.candidate, plan).is_bad()) {
    return {error_code_t::GRAPH_EXECUTION_PLAN_CREATION_FAILED,
            "There is no built plan to serialise; call build_plans() first (serialize(json&) writes the graph alone)."};
  }
  Json j, steps = Json::array(), behavior = Json::array(), values = Json::object();
  OCTAVO_RETURN_IF_ERROR(graph_to_json(g, j));
  for (PlanSpec const& s : plan->step_specs()) steps.push_back({{"engine", s.engine}, {"config", s.config}});
  for (BehaviorNote_t n : plan->behavior_notes()) behavior.push_back(to_string(n));
  for (TensorPtr const& t : g.all_tensors()) {
    if (t->get_pass_by_value()) values[std::to_string(t->get_uid())] = tensor_to_json(*t)["pass_by_value"];
  }
  PlanEntry const& entry = g.plans.entries[static_cast<std::size_t>(g.plans.candidate)];
  Json const whole = {{"graph", j},
                      {"plan",
                       {{"engine", entry.spec.engine},
                        {"config", entry.spec.config},
                        {"steps", steps},
                        {"device", Json::parse(traits_to_text(plan->device()), nullptr, false)}}},
                      {"variant_pack_uids", get_variant_pack_uids_sorted()},
                      {"behavior_notes", behavior},
                      {"pass_by_values", values},
                      {"fe_workspace_size", plan->workspace_bytes()}};
  std::string const text = whole.dump(-1, ' ', false, Json::error_handler_t::replace);
  Hash128 const hash = hash_bytes(text);
  data.assign(kMagic, kMagic + sizeof kMagic);
  put_u64(data, text.size());
  put_u64(data, hash.hi);
  put_u64(data, hash.lo);
  data.insert(data.end(), text.begin(), text.end());
  return {};
}

namespace {

/// Builds the plan that the bytes name on `traits`; another engine only when that one is not there and `exact` is false.
error_t restore(Graph::Impl& g, Json const& whole, TraitsPtr const& traits, bool exact) {
  std::string engine, config;
  auto plan = whole.find("plan");
  if (plan == whole.end() || !plan->is_object() || !read(*plan, "engine", engine) || !read(*plan, "config", config)) {
    return bad_bytes("The serialised graph holds no plan.");
  }
  OCTAVO_RETURN_IF_ERROR(g.build_operation_graph(traits));
  std::vector<PlanEntry> entries;
  std::int64_t chosen = -1;
  for (std::size_t e = 0; e < g.plans.engines.size(); ++e) {
    for (std::size_t c = 0; c < g.plans.engines[e].specs.size(); ++c) {
      PlanEntry entry;
      entry.spec = g.plans.engines[e].specs[c];
      entry.engine_id = static_cast<std::int64_t>(e);
      entry.config_index = static_cast<std::int64_t>(c);
      if (entry.spec.engine == engine && entry.spec.config == config) chosen = static_cast<std::int64_t>(entries.size());
      entries.push_back(std::move(entry));
    }
  }
  if (entries.empty()) {
    return {error_code_t::GRAPH_EXECUTION_PLAN_CREATION_FAILED,
            "No engine of this build accepts the graph on " + traits->name + "." + refusals(*g.operation_graph, *traits)};
  }
  if (chosen < 0) {
    if (exact) {
      return {error_code_t::GRAPH_EXECUTION_PLAN_CREATION_FAILED,
              "The serialised plan is " + engine + (config.empty() ? "" : " " + config) + ", which is not available on " +
                  traits->name + ", and enforce_precompiled is true."};
    }
    std::stable_sort(entries.begin(), entries.end(),
                     [](PlanEntry const& a, PlanEntry const& b) { return a.spec.cost_us < b.spec.cost_us; });
    chosen = 0;
  }
  // The serialised plan comes first, so that index 0 is what the writer ran.
  std::rotate(entries.begin(), entries.begin() + chosen, entries.begin() + chosen + 1);
  g.plans.entries = std::move(entries);
  OCTAVO_RETURN_IF_ERROR(g.plans.build(g.operation_graph, g.device, 0));
  g.plans.candidate = 0;
  return {};
}

}  // namespace

error_t Graph::deserialize(handle_t handle, std::vector<std::uint8_t> const& data, bool enforce_precompiled, bool run_warmup) {
  TraitsPtr traits;
  OCTAVO_RETURN_IF_ERROR(handle_traits(handle, traits));
  Json whole;
  OCTAVO_RETURN_IF_ERROR(unpack(data, whole));
  if (!whole.is_object() || !whole.contains("graph")) return bad_bytes("The bytes hold no graph.");
  OCTAVO_RETURN_IF_ERROR(graph_from_json(whole["graph"], *impl_));
  OCTAVO_RETURN_IF_ERROR(restore(*impl_, whole, traits, enforce_precompiled));
  return run_warmup ? warmup(handle) : error_t();
}

error_t Graph::deserialize(std::vector<std::uint8_t> const& data, bool enforce_precompiled) {
  if (!impl_->device_properties || impl_->device_properties->text().empty()) {
    return {error_code_t::ATTRIBUTE_NOT_SET, "Device properties are not set."};
  }
  TraitsPtr traits;
  OCTAVO_RETURN_IF_ERROR(traits_from_text(impl_->device_properties->text(), traits));
  Json whole;
  OCTAVO_RETURN_IF_ERROR(unpack(data, whole));
  if (!whole.is_object() || !whole.contains("graph")) return bad_bytes("The bytes hold no graph.");
  OCTAVO_RETURN_IF_ERROR(graph_from_json(whole["graph"], *impl_));
  return restore(*impl_, whole, traits, enforce_precompiled);
}

error_t Graph::adopt(handle_t handle, bool run_warmup) {
  OCTAVO_RETURN_IF_ERROR(build_operation_graph(handle));
  OCTAVO_RETURN_IF_ERROR(create_execution_plans({HeurMode_t::A}));
  OCTAVO_RETURN_IF_ERROR(check_support());
  OCTAVO_RETURN_IF_ERROR(build_plans());
  return run_warmup ? warmup(handle) : error_t();
}

std::size_t Graph::key() {
  Json j;
  if (graph_to_json(*impl_, j).is_bad()) return 0;
  j.erase("gid");
  if (impl_->context.dynamic_shape) {
    for (Json& t : j["tensors"]) {
      t.erase("dim");
      t.erase("stride");
    }
  }
  return static_cast<std::size_t>(hash_bytes(j.dump(-1, ' ', false, Json::error_handler_t::replace)).lo);
}

std::string Graph::print() const {
  Json j;
  error_t const e = graph_to_json(*impl_, j);
  return e.is_good() ? j.dump(4, ' ', false, Json::error_handler_t::replace) : e.err_msg;
}

}  // namespace octavo::graph
