// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The graph's own record of its operations: plain data that inference, lowering and JSON read.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "octavo/graph/attributes.h"
#include "octavo/graph/graph.h"

namespace octavo::graph {

/// The inside of Tensor_attributes that inference writes.
struct TensorAccess {
  static void inherit_type(Tensor_attributes& t, DataType_t type, TypeOrigin origin) {
    t.data_type_ = type;
    t.origin_ = type == DataType_t::NOT_SET ? TypeOrigin::unset : origin;
  }
  static void set_stored_value(Tensor_attributes& t, pass_by_values_t const& value) { t.pass_by_value_ = value; }
};

struct GraphContext {
  DataType_t io = DataType_t::NOT_SET;
  DataType_t intermediate = DataType_t::NOT_SET;
  DataType_t compute = DataType_t::NOT_SET;
  std::string name;
  std::int32_t sm_count = -1;
  std::int32_t sm_version = -1;
  bool dynamic_shape = false;
  bool override_shape = false;
};

enum class NodeKind : std::uint8_t { fprop, dgrad, wgrad, pointwise, reduction, genstats, foreign };

struct Port {
  std::string name;  ///< "X", "W", "IN_0", ...
  TensorPtr tensor;
};

struct ConvolutionParameters {
  std::vector<std::int64_t> pre_padding, post_padding, stride, dilation;
  ConvolutionMode_t mode = ConvolutionMode_t::CROSS_CORRELATION;
  std::int32_t x_zero_point = 0;
  std::optional<std::int32_t> w_zero_point;
  TensorPtr w_zero_points;
};

struct PointwiseParameters {
  PointwiseMode_t mode = PointwiseMode_t::NOT_SET;
  std::optional<std::int64_t> axis;
  std::optional<float> relu_lower_clip, relu_upper_clip, relu_lower_clip_slope, swish_beta, elu_alpha, softplus_beta;
};

struct Node {
  NodeKind kind = NodeKind::foreign;
  std::string tag;   ///< JSON tag: "CONV_FPROP", "POINTWISE", "MATMUL", ...
  std::string call;  ///< the method that added it: "conv_fprop"
  std::string name;
  GraphContext context;  ///< copied when the operation was added
  DataType_t declared_compute = DataType_t::NOT_SET;
  DataType_t compute = DataType_t::NOT_SET;  ///< own, else the context's; set by inference
  std::vector<Port> inputs;                  ///< in the order X, W / DY, W / IN_0, IN_1, ...
  std::vector<Port> outputs;
  ConvolutionParameters conv;
  PointwiseParameters pointwise;
  std::optional<ReductionMode_t> reduction;
  bool deterministic = false;

  TensorPtr input(const char* port) const {
    for (const Port& p : inputs)
      if (p.name == port) return p.tensor;
    return nullptr;
  }
  TensorPtr output() const { return outputs.empty() ? nullptr : outputs.front().tensor; }
  bool is_convolution() const { return kind <= NodeKind::wgrad; }
  /// "conv_fprop 'name'": how messages call this operation.
  std::string label() const { return call + " '" + name + "'"; }
};

/// Number of inputs a mode reads (1, 2 or 3); 0 for NOT_SET.
int pointwise_inputs(PointwiseMode_t mode);
bool is_backward(PointwiseMode_t mode);

std::string list_text(std::vector<std::int64_t> const& values);  ///< "[1,2,3]"

/// Dims with dim[1] counted in elements, whatever the vector count.
std::vector<std::int64_t> logical_dims(Tensor_attributes const& t);
/// Elements in a vector: the declared count, or 4 / 32 for the INT8x4, UINT8x4 and INT8x32 types.
std::int64_t vector_of(Tensor_attributes const& t);
/// INT8 for INT8x4 and INT8x32, UINT8 for UINT8x4; every other type is itself.
DataType_t element_type(DataType_t type);
/// Packed channels-last strides.
std::vector<std::int64_t> channels_last(std::vector<std::int64_t> const& dim);
bool is_scalar_value(Tensor_attributes const& t);  ///< holds a value: by-value constant or compile-time constant

/// Inference of one node (types, dims, strides of its outputs) and the checks of 1.3 and 1.9 on it.
error_t infer_node(Node& node);

/// Tensors of more dims are refused.
inline constexpr int kMaxRankOfGraph = 5;

}  // namespace octavo::graph
