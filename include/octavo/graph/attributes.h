// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The attributes of the operations that Octavo computes: convolutions, pointwise, reduction, genstats. C++17.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "enums.h"
#include "tensor.h"

namespace octavo::graph {

using TensorPtr = std::shared_ptr<Tensor_attributes>;

/// What every operation has: a name, a compute type, ports.
template <class Derived, class InputNames, class OutputNames>
class Attributes {
 public:
  using input_names = InputNames;
  using output_names = OutputNames;

  std::string name;
  DataType_t compute_data_type = DataType_t::NOT_SET;
  std::unordered_map<InputNames, TensorPtr> inputs;
  std::unordered_map<OutputNames, TensorPtr> outputs;

  Derived& set_name(std::string const& value) { return name = value, self(); }
  std::string get_name() const { return name; }
  Derived& set_compute_data_type(DataType_t value) { return compute_data_type = value, self(); }
  DataType_t get_compute_data_type() const { return compute_data_type; }

 protected:
  Derived& self() { return *static_cast<Derived*>(this); }
};

/// Padding, stride and dilation have no defaults: each must be set, one value for each spatial dimension.
/// There is no setter for groups: groups = X.C / W.C.
template <class Derived, class InputNames, class OutputNames>
class Convolution_attributes : public Attributes<Derived, InputNames, OutputNames> {
  using Ints = std::vector<std::int64_t>;

 public:
  Ints get_pre_padding() const { return pre_padding_; }
  Ints get_post_padding() const { return post_padding_; }
  Ints get_stride() const { return stride_; }
  Ints get_dilation() const { return dilation_; }
  ConvolutionMode_t get_convolution_mode() const { return mode_; }

  /// Both sides at once.
  Derived& set_padding(Ints value) { return pre_padding_ = value, post_padding_ = std::move(value), this->self(); }
  Derived& set_pre_padding(Ints value) { return pre_padding_ = std::move(value), this->self(); }
  Derived& set_post_padding(Ints value) { return post_padding_ = std::move(value), this->self(); }
  Derived& set_stride(Ints value) { return stride_ = std::move(value), this->self(); }
  Derived& set_dilation(Ints value) { return dilation_ = std::move(value), this->self(); }
  Derived& set_convolution_mode(ConvolutionMode_t value) { return mode_ = value, this->self(); }

  /// Extension: stored zero points of integer inputs; the convolution sums (x - zx) * (w - zw), and padding reads zx.
  Derived& set_x_zero_point(std::int32_t value) { return x_zero_point_ = value, this->self(); }
  Derived& set_w_zero_point(std::int32_t value) { return w_zero_point_ = value, this->self(); }
  /// One zero point for each output channel: an INT32 tensor {1,K,1,1} or {K}, bound at execute.
  Derived& set_w_zero_points(TensorPtr value) { return w_zero_points_ = std::move(value), this->self(); }
  std::int32_t get_x_zero_point() const { return x_zero_point_; }
  std::optional<std::int32_t> get_w_zero_point() const { return w_zero_point_; }
  TensorPtr get_w_zero_points() const { return w_zero_points_; }

 private:
  Ints pre_padding_, post_padding_, stride_, dilation_;
  ConvolutionMode_t mode_ = ConvolutionMode_t::CROSS_CORRELATION;
  std::int32_t x_zero_point_ = 0;
  std::optional<std::int32_t> w_zero_point_;
  TensorPtr w_zero_points_;
};

namespace ports {
enum class FpropIn { X, W };
enum class FpropOut { Y };
enum class DgradIn { DY, W };
enum class DgradOut { DX };
enum class WgradIn { DY, X };
enum class WgradOut { DW };
enum class PointwiseIn { IN_0, IN_1, IN_2 };
enum class PointwiseOut { OUT_0 };
enum class ReductionIn { X, Group_offset };
enum class ReductionOut { Y };
enum class GenstatsIn { X };
enum class GenstatsOut { SUM, SQ_SUM };
}  // namespace ports

class Conv_fprop_attributes : public Convolution_attributes<Conv_fprop_attributes, ports::FpropIn, ports::FpropOut> {};
class Conv_dgrad_attributes : public Convolution_attributes<Conv_dgrad_attributes, ports::DgradIn, ports::DgradOut> {};
class Conv_wgrad_attributes : public Convolution_attributes<Conv_wgrad_attributes, ports::WgradIn, ports::WgradOut> {};

class Pointwise_attributes : public Attributes<Pointwise_attributes, ports::PointwiseIn, ports::PointwiseOut> {
 public:
  PointwiseMode_t get_mode() const { return mode_; }
  Pointwise_attributes& set_mode(PointwiseMode_t value) { return mode_ = value, *this; }
  std::optional<std::int64_t> get_axis() const { return axis_; }
  Pointwise_attributes& set_axis(std::int64_t value) { return axis_ = value, *this; }
  Pointwise_attributes& set_relu_lower_clip(float value) { return relu_lower_clip_ = value, *this; }
  Pointwise_attributes& set_relu_upper_clip(float value) { return relu_upper_clip_ = value, *this; }
  Pointwise_attributes& set_relu_lower_clip_slope(float value) { return relu_lower_clip_slope_ = value, *this; }
  Pointwise_attributes& set_swish_beta(float value) { return swish_beta_ = value, *this; }
  Pointwise_attributes& set_elu_alpha(float value) { return elu_alpha_ = value, *this; }
  Pointwise_attributes& set_softplus_beta(float value) { return softplus_beta_ = value, *this; }
  std::optional<float> get_relu_lower_clip() const { return relu_lower_clip_; }
  std::optional<float> get_relu_upper_clip() const { return relu_upper_clip_; }
  std::optional<float> get_relu_lower_clip_slope() const { return relu_lower_clip_slope_; }
  std::optional<float> get_swish_beta() const { return swish_beta_; }
  std::optional<float> get_elu_alpha() const { return elu_alpha_; }
  std::optional<float> get_softplus_beta() const { return softplus_beta_; }

 private:
  PointwiseMode_t mode_ = PointwiseMode_t::NOT_SET;
  std::optional<std::int64_t> axis_;
  std::optional<float> relu_lower_clip_, relu_upper_clip_, relu_lower_clip_slope_;
  std::optional<float> swish_beta_, elu_alpha_, softplus_beta_;
};

class Reduction_attributes : public Attributes<Reduction_attributes, ports::ReductionIn, ports::ReductionOut> {
 public:
  std::optional<ReductionMode_t> get_mode() const { return mode_; }
  Reduction_attributes& set_mode(ReductionMode_t value) { return mode_ = value, *this; }
  bool get_is_deterministic() const { return is_deterministic_; }
  Reduction_attributes& set_is_deterministic(bool value) { return is_deterministic_ = value, *this; }
  /// Declared for mixed files; validate() refuses it by name.
  Reduction_attributes& set_group_offset(TensorPtr value) {
    return inputs[ports::ReductionIn::Group_offset] = std::move(value), *this;
  }

 private:
  std::optional<ReductionMode_t> mode_;
  bool is_deterministic_ = false;
};

class Genstats_attributes : public Attributes<Genstats_attributes, ports::GenstatsIn, ports::GenstatsOut> {};

}  // namespace octavo::graph
