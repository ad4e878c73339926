// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Adding tensors and operations to a graph. Nothing is checked here: a null tensor or a missing attribute is reported by
// validate(), which can say which operation it belongs to.

#include <atomic>
#include <utility>

#include "graph/impl.h"

namespace octavo::graph {
namespace {

std::int64_t next_gid() {
  static std::atomic<std::int64_t> counter{0};
  return counter.fetch_add(1);
}

template <class A>
ConvolutionParameters parameters_of(A const& a) {
  ConvolutionParameters p;
  p.pre_padding = a.get_pre_padding();
  p.post_padding = a.get_post_padding();
  p.stride = a.get_stride();
  p.dilation = a.get_dilation();
  p.mode = a.get_convolution_mode();
  p.x_zero_point = a.get_x_zero_point();
  p.w_zero_point = a.get_w_zero_point();
  p.w_zero_points = a.get_w_zero_points();
  return p;
}

void name_if_unnamed(TensorPtr const& t, std::string const& name) {
  if (t && t->get_name().empty()) t->set_name(name);
}

}  // namespace

Graph::Impl::Impl() : gid(next_gid()) {}

void Graph::Impl::invalidate() {
  validated = false;
  lowered.reset();
  operation_graph.reset();
  device.reset();
  plans = PlanList();
  overrides = std::make_shared<OverrideCache>();
}

TensorPtr Graph::Impl::add_output(Node& node, const char* port, std::string const& name) {
  TensorPtr t = std::make_shared<Tensor_attributes>();
  t->set_name(name).set_is_virtual(true);
  node.outputs.push_back({port, t});
  tensors.push_back(t);
  return t;
}

Graph::Graph() : impl_(std::make_unique<Impl>()) {}
Graph::~Graph() = default;

// A moved-from graph is an empty one, so that using it is an error and no crash.
Graph::Graph(Graph&& other) noexcept : impl_(std::move(other.impl_)) { other.impl_ = std::make_unique<Impl>(); }
Graph& Graph::operator=(Graph&& other) noexcept {
  std::swap(impl_, other.impl_);
  return *this;
}

Graph& Graph::set_name(std::string const& name) { return impl_->context.name = name, *this; }
Graph& Graph::set_io_data_type(DataType_t type) { return impl_->context.io = type, *this; }
Graph& Graph::set_intermediate_data_type(DataType_t type) { return impl_->context.intermediate = type, *this; }
Graph& Graph::set_compute_data_type(DataType_t type) { return impl_->context.compute = type, *this; }
Graph& Graph::set_dynamic_shape_enabled(bool enabled) { return impl_->context.dynamic_shape = enabled, *this; }
Graph& Graph::set_override_shape_enabled(bool enabled) { return impl_->context.override_shape = enabled, *this; }
Graph& Graph::set_sm_count(std::int32_t count) { return impl_->context.sm_count = count, *this; }
Graph& Graph::set_sm_version(std::int32_t version) { return impl_->context.sm_version = version, *this; }
Graph& Graph::set_kernel_cache(std::shared_ptr<KernelCache> cache) { return impl_->kernel_cache = std::move(cache), *this; }
Graph& Graph::set_device_properties(std::shared_ptr<DeviceProperties const> properties) {
  return impl_->device_properties = std::move(properties), *this;
}
Graph& Graph::set_cuda_graph_retention(CudaGraphRetention_t retention) { return impl_->retention = retention, *this; }
CudaGraphRetention_t Graph::get_cuda_graph_retention() const { return impl_->retention; }

TensorPtr Graph::tensor(Tensor_attributes const& attributes) {
  TensorPtr t = std::make_shared<Tensor_attributes>(attributes);
  impl_->tensors.push_back(t);
  return t;
}

TensorPtr Graph::tensor_like(TensorPtr const& like, std::string const& name) {
  Tensor_attributes copy = like ? *like : Tensor_attributes();
  copy.clear_uid().set_name(name);
  return tensor(copy);
}

error_t Graph::query_tensor_attributes_of_uid(std::int64_t uid, Tensor_attributes& attributes) const {
  for (TensorPtr const& t : impl_->all_tensors()) {
    if (t->has_uid() && t->get_uid() == uid) return attributes = *t, error_t();
  }
  return {error_code_t::INVALID_VALUE, "No tensor of this graph has uid " + std::to_string(uid) + "."};
}

std::vector<TensorPtr> Graph::tensors() const { return impl_->all_tensors(); }

namespace {
template <class A>
TensorPtr add_convolution(Graph::Impl& g, NodeKind kind, const char* tag, const char* call, Port a, Port b, const char* out,
                          A const& attributes, bool auto_name) {
  Node n;
  n.kind = kind;
  n.tag = tag;
  n.call = call;
  n.name = attributes.name.empty() && auto_name ? std::to_string(g.nodes.size()) : attributes.name;
  n.context = g.context;
  n.declared_compute = attributes.compute_data_type;
  n.conv = parameters_of(attributes);
  n.inputs = {std::move(a), std::move(b)};
  TensorPtr result = g.add_output(n, out, n.name + "::" + out);
  g.nodes.push_back(std::move(n));
  g.invalidate();
  return result;
}
}  // namespace

TensorPtr Graph::conv_fprop(TensorPtr x, TensorPtr w, Conv_fprop_attributes attributes) {
  return add_convolution(*impl_, NodeKind::fprop, "CONV_FPROP", "conv_fprop", {"X", x}, {"W", w}, "Y", attributes, true);
}

TensorPtr Graph::conv_dgrad(TensorPtr dy, TensorPtr w, Conv_dgrad_attributes attributes) {
  return add_convolution(*impl_, NodeKind::dgrad, "CONV_DGRAD", "conv_dgrad", {"DY", dy}, {"W", w}, "DX", attributes, false);
}

TensorPtr Graph::conv_wgrad(TensorPtr dy, TensorPtr x, Conv_wgrad_attributes attributes) {
  return add_convolution(*impl_, NodeKind::wgrad, "CONV_WGRAD", "conv_wgrad", {"X", x}, {"DY", dy}, "DW", attributes, false);
}

namespace {
TensorPtr add_pointwise(Graph::Impl& g, std::vector<TensorPtr> inputs, Pointwise_attributes const& a) {
  Node n;
  n.kind = NodeKind::pointwise;
  n.tag = "POINTWISE";
  n.call = "pointwise";
  n.name = a.name.empty() ? std::to_string(g.nodes.size()) : a.name;
  n.context = g.context;
  n.declared_compute = a.compute_data_type;
  n.pointwise = {
      a.get_mode(),       a.get_axis(),      a.get_relu_lower_clip(), a.get_relu_upper_clip(), a.get_relu_lower_clip_slope(),
      a.get_swish_beta(), a.get_elu_alpha(), a.get_softplus_beta()};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string port = "IN_" + std::to_string(i);
    name_if_unnamed(inputs[i], n.name + "::" + port);
    n.inputs.push_back({port, inputs[i]});
  }
  TensorPtr out = g.add_output(n, "OUT_0", n.name + "::OUT_0");
  g.nodes.push_back(std::move(n));
  g.invalidate();
  return out;
}
}  // namespace

TensorPtr Graph::pointwise(TensorPtr a, Pointwise_attributes attributes) {
  return add_pointwise(*impl_, {std::move(a)}, attributes);
}
TensorPtr Graph::pointwise(TensorPtr a, TensorPtr b, Pointwise_attributes attributes) {
  return add_pointwise(*impl_, {std::move(a), std::move(b)}, attributes);
}
TensorPtr Graph::pointwise(TensorPtr a, TensorPtr b, TensorPtr c, Pointwise_attributes attributes) {
  return add_pointwise(*impl_, {std::move(a), std::move(b), std::move(c)}, attributes);
}

TensorPtr Graph::reduction(TensorPtr x, Reduction_attributes attributes) {
  Node n;
  n.kind = NodeKind::reduction;
  n.tag = "REDUCTION";
  n.call = "reduction";
  n.name = attributes.name;
  n.context = impl_->context;
  n.declared_compute = attributes.compute_data_type;
  n.reduction = attributes.get_mode();
  n.deterministic = attributes.get_is_deterministic();
  n.inputs = {{"X", std::move(x)}};
  if (attributes.inputs.count(ports::ReductionIn::Group_offset) != 0) {
    n.inputs.push_back({"Group_offset", attributes.inputs[ports::ReductionIn::Group_offset]});
  }
  TensorPtr out = impl_->add_output(n, "Y", n.name + "::Y");
  impl_->nodes.push_back(std::move(n));
  impl_->invalidate();
  return out;
}

TensorPtr Graph::reduction(TensorPtr x, TensorPtr group_offset, Reduction_attributes attributes) {
  return reduction(std::move(x), attributes.set_group_offset(std::move(group_offset)));
}

std::array<TensorPtr, 2> Graph::genstats(TensorPtr x, Genstats_attributes attributes) {
  Node n;
  n.kind = NodeKind::genstats;
  n.tag = "GENSTATS";
  n.call = "genstats";
  n.name = attributes.name;
  n.context = impl_->context;
  n.declared_compute = attributes.compute_data_type;
  n.inputs = {{"X", std::move(x)}};
  std::array<TensorPtr, 2> out;
  out[0] = impl_->add_output(n, "SUM", n.name + "_sum_output");
  out[1] = impl_->add_output(n, "SQ_SUM", n.name + "_sq_sum_output");
  impl_->nodes.push_back(std::move(n));
  impl_->invalidate();
  return out;
}

}  // namespace octavo::graph
