// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// oneDNN behind our contract. It chooses its own instruction set and its own (OpenMP) threads.

#include <cstring>
#include <dnnl.hpp>
#include <optional>

#include "engine/registry.h"
#include "engines/onednn/accepts.h"

namespace octavo {
namespace onednn {
namespace {

using dnnl::memory;
using Fprop = dnnl::convolution_forward;
using Dgrad = dnnl::convolution_backward_data;
using Wgrad = dnnl::convolution_backward_weights;

const dnnl::engine& cpu() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

memory::data_type type_of(DataType_t t) {
  switch (t) {
    case DataType_t::INT8:
      return memory::data_type::s8;
    case DataType_t::UINT8:
      return memory::data_type::u8;
    case DataType_t::INT32:
      return memory::data_type::s32;
    case DataType_t::BFLOAT16:
      return memory::data_type::bf16;
    default:
      return memory::data_type::f32;
  }
}

/// Our tensor as oneDNN sees it; a grouped filter gets its groups as a dimension of their own.
memory::desc describe(const TensorDesc& t, std::int64_t groups_of_filter) {
  memory::dims dims, strides;
  for (int i = 0; i < t.rank; ++i) {
    dims.push_back(t.dim[static_cast<std::size_t>(i)]);
    strides.push_back(t.stride[static_cast<std::size_t>(i)]);
  }
  if (groups_of_filter > 1) {
    dims[0] /= groups_of_filter;
    strides.insert(strides.begin(), strides[0] * dims[0]);
    dims.insert(dims.begin(), groups_of_filter);
  }
  return {dims, type_of(t.type), strides};
}

memory::desc any(const memory::desc& d) { return {d.dims(), d.data_type(), memory::format_tag::any}; }

/// The one primitive of a problem with the layouts it reads and writes.
struct Made {
  dnnl::primitive primitive;
  memory::desc x, w, y, user_w, scratchpad;
  std::string implementation;
};

/// Nothing when oneDNN has no implementation.
std::optional<Made> make(const Problem& p) {
  const TensorDesc& out = p.epilogue.outputs[0].desc;
  const memory::desc x = describe(p.direction == Direction::dgrad ? out : p.x, 1);
  const memory::desc w = describe(p.direction == Direction::wgrad ? out : p.w, p.groups());
  const memory::desc y = describe(p.direction == Direction::fprop ? out : p.y, 1);
  memory::dims stride, dilation, pre, post;
  for (std::size_t i = 0; i < static_cast<std::size_t>(p.spatial()); ++i) {
    stride.push_back(p.stride[i]);
    dilation.push_back(p.dilation[i] - 1);
    pre.push_back(p.pre_pad[i]);
    post.push_back(p.post_pad[i]);
  }
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  // Direct only: Winograd lets NaN and inf spread.
  const auto algorithm = dnnl::algorithm::convolution_direct;
  try {
    if (p.direction == Direction::fprop) {
      const auto kind = dnnl::prop_kind::forward_inference;
      const Fprop::primitive_desc pd({kind, algorithm, x, any(w), y, stride, dilation, pre, post}, attr, cpu());
      return Made{Fprop(pd), x, pd.weights_desc(), y, w, pd.scratchpad_desc(), pd.impl_info_str()};
    }
    // The hint is a forward pass in the inputs' type; what the gradient is stored as does not belong to it.
    const auto hint_of = [&](const memory::desc& d) {
      return memory::desc(d.dims(), type_of(p.input_a().type), memory::format_tag::any);
    };
    const auto kind = dnnl::prop_kind::forward_training;
    const Fprop::primitive_desc hint({kind, algorithm, hint_of(x), hint_of(w), hint_of(y), stride, dilation, pre, post}, attr,
                                     cpu());
    if (p.direction == Direction::dgrad) {
      const Dgrad::primitive_desc pd({algorithm, x, any(w), y, stride, dilation, pre, post}, attr, cpu(), hint);
      return Made{Dgrad(pd), x, pd.weights_desc(), y, w, pd.scratchpad_desc(), pd.impl_info_str()};
    }
    const Wgrad::primitive_desc pd({algorithm, x, any(w), y, stride, dilation, pre, post}, attr, cpu(), hint);
    return Made{Wgrad(pd), x, pd.diff_weights_desc(), y, w, pd.scratchpad_desc(), pd.impl_info_str()};
  } catch (const dnnl::error&) {
    return std::nullopt;
  }
}

constexpr std::size_t kAlign = 64;
std::size_t padded(std::size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

class OnednnPlan final : public Plan {
 public:
  OnednnPlan(const Problem& problem, Made made, const BuildOptions& options)
      : problem_(problem), made_(std::move(made)), reorders_(made_.w != made_.user_w) {
    if (problem_.direction != Direction::wgrad && options.constant_filter != nullptr) {
      // Packed once, here. A reorder to the same layout is a copy.
      packed_ = memory(made_.w, cpu());
      memory user(made_.user_w, cpu(), const_cast<void*>(options.constant_filter));
      dnnl::stream stream(cpu());
      dnnl::reorder(user, *packed_).execute(stream, user, *packed_);
      stream.wait();
    } else if (reorders_) {
      const bool out = problem_.direction == Direction::wgrad;
      reorder_ =
          out ? dnnl::reorder({cpu(), made_.w, cpu(), made_.user_w}) : dnnl::reorder({cpu(), made_.user_w, cpu(), made_.w});
      filter_bytes_ = padded(made_.w.get_size());
    }
    scratch_bytes_ = padded(made_.scratchpad.get_size());
    if (filter_bytes_ + scratch_bytes_ > 0) workspace_ = filter_bytes_ + scratch_bytes_ + kAlign;
  }

  std::size_t workspace_bytes() const override { return workspace_; }
  std::string describe() const override { return "oneDNN " + made_.implementation; }

  std::vector<NumericalNote_t> numerical_notes() const override {
    // Its weight gradient splits the sum by threads: the bits depend on how many there are.
    if (problem_.direction == Direction::wgrad) return {NumericalNote_t::NONDETERMINISTIC};
    return {};
  }

  error_t execute(const Args& args) const override {
    const Problem& p = problem_;
    const bool constant = packed_.has_value();
    const void* inputs[3] = {args.x, constant ? packed_->get_data_handle() : args.w, args.y};
    const int result = p.direction == Direction::fprop ? 2 : p.direction == Direction::dgrad ? 0 : 1;
    for (int i = 0; i < 3; ++i)
      if (i != result && inputs[i] == nullptr)
        return {error_code_t::INVALID_VARIANT_PACK,
                std::string("onednn: tensor ") + "xwy"[i] + " has no address; bind a buffer to it."};
    if (args.outputs.size() != 1 || args.outputs[0] == nullptr)
      return {error_code_t::INVALID_VARIANT_PACK, "onednn: the output has no address; bind one buffer."};
    if (workspace_ > 0 && args.workspace == nullptr)
      return {error_code_t::INVALID_VARIANT_PACK,
              "onednn: the workspace has no address; bind the plan's " + std::to_string(workspace_) + " bytes."};
    inputs[result] = args.outputs[0];
    try {
      dnnl::stream stream(cpu());
      std::uintptr_t at = (reinterpret_cast<std::uintptr_t>(args.workspace) + kAlign - 1) & ~std::uintptr_t{kAlign - 1};
      const memory x(made_.x, cpu(), const_cast<void*>(inputs[0])), y(made_.y, cpu(), const_cast<void*>(inputs[2]));
      memory user_w(made_.user_w, cpu(), const_cast<void*>(inputs[1]));
      memory w = constant ? *packed_ : user_w;
      if (reorder_) {
        w = memory(made_.w, cpu(), reinterpret_cast<void*>(at));
        if (result != 1) reorder_->execute(stream, user_w, w);
      }
      const memory scratchpad(made_.scratchpad, cpu(),
                              scratch_bytes_ > 0 ? reinterpret_cast<void*>(at + filter_bytes_) : nullptr);
      const int xs = result == 0 ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC,
                ws = result == 1 ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS,
                ys = result == 2 ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST;
      made_.primitive.execute(stream, {{xs, x}, {ws, w}, {ys, y}, {DNNL_ARG_SCRATCHPAD, scratchpad}});
      if (reorder_ && result == 1) reorder_->execute(stream, w, user_w);
      stream.wait();
    } catch (const dnnl::error& e) {
      return {error_code_t::GRAPH_EXECUTION_FAILED,
              std::string("onednn: oneDNN failed: ") + e.what() + "; use another engine."};
    }
    return {};
  }

 private:
  const Problem problem_;
  const Made made_;
  const bool reorders_;
  std::optional<memory> packed_;
  std::optional<dnnl::reorder> reorder_;
  std::size_t filter_bytes_ = 0, scratch_bytes_ = 0, workspace_ = 0;
};

class OnednnEngine final : public Engine {
 public:
  std::string_view name() const override { return "onednn"; }
  DeviceKind device() const override { return DeviceKind::cpu; }

  Verdict accepts(const Problem& problem, const DeviceTraits& device) const override {
    if (Verdict allowed = contract_allows(problem, device); !allowed) return allowed;
    return make(problem) ? Verdict::yes() : Verdict::no("oneDNN has no implementation for these shapes and layouts.");
  }

  std::vector<PlanSpec> specs(const Problem& problem, const DeviceTraits& device) const override {
    const double gops = is_integer(problem.input_a().type) ? 60e3 : 30e3;  // per thread and microsecond, cautious
    double cost = problem.operations() / (gops * device.threads) + 20;
    // Not deterministic across thread counts, so never a default; it can be asked for by name.
    if (problem.direction == Direction::wgrad) cost += 1e12;
    return {PlanSpec{"onednn", "", cost}};
  }

  error_t build(const Problem& problem, const PlanSpec& spec, const DeviceTraits& device, const BuildOptions& options,
                std::unique_ptr<Plan>& plan) const override {
    if (!spec.config.empty())
      return {error_code_t::GRAPH_EXECUTION_PLAN_CREATION_FAILED,
              "onednn has no configuration '" + spec.config + "'; its only one is the empty text."};
    if (Verdict allowed = contract_allows(problem, device); !allowed)
      return {error_code_t::GRAPH_NOT_SUPPORTED, allowed.reason};
    try {
      std::optional<Made> made = make(problem);
      if (!made) return {error_code_t::GRAPH_NOT_SUPPORTED, "oneDNN has no implementation for these shapes and layouts."};
      plan = std::make_unique<OnednnPlan>(problem, std::move(*made), options);
    } catch (const dnnl::error& e) {
      return {error_code_t::GRAPH_EXECUTION_PLAN_CREATION_FAILED,
              std::string("onednn: oneDNN failed: ") + e.what() + "; use another engine."};
    }
    return {};
  }
};

}  // namespace
}  // namespace onednn

const Engine* onednn_engine() {
  static const onednn::OnednnEngine engine;
  return &engine;
}

}  // namespace octavo
