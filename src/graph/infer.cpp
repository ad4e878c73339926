// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Types, dims and strides of one operation's tensors, and the rules that its attributes must meet. Codes and the first words
// of the messages that cudnn-frontend has are kept; what it leaves to an opaque backend failure is said here.

#include <algorithm>
#include <limits>

#include "graph/node.h"

namespace octavo::graph {
namespace {

using Ints = std::vector<std::int64_t>;

error_t not_set(std::string text) { return {error_code_t::ATTRIBUTE_NOT_SET, std::move(text)}; }
error_t invalid(std::string text) { return {error_code_t::INVALID_VALUE, std::move(text)}; }
error_t no_shape(std::string text) { return {error_code_t::SHAPE_DEDUCTION_FAILED, std::move(text)}; }
std::string str(std::int64_t v) { return std::to_string(v); }

/// "tensor 'name'", or "its X" when the tensor has no name.
std::string tensor_label(Node const& node, Port const& port) {
  std::string const name = port.tensor ? port.tensor->get_name() : std::string();
  return name.empty() ? "input " + port.name + " of " + node.label() : "Tensor '" + name + "'";
}

void inherit_type(GraphContext const& context, Tensor_attributes& t) {
  if (t.get_data_type() != DataType_t::NOT_SET) return;
  if (t.get_is_virtual()) {
    TensorAccess::inherit_type(t, context.intermediate, TypeOrigin::intermediate_data_type);
  } else {
    TensorAccess::inherit_type(t, context.io, TypeOrigin::io_data_type);
  }
}

/// Stored scalars take the rank of the operation's other tensors.
void expand_scalars(Node& node) {
  std::size_t rank = 1;
  for (auto it = node.inputs.rbegin(); it != node.inputs.rend(); ++it) {
    if (!is_scalar_value(*it->tensor)) {
      rank = it->tensor->get_dim().size();
      break;
    }
  }
  if (rank <= 1 && node.output()) rank = std::max<std::size_t>(1, node.output()->get_dim().size());
  for (Port& p : node.inputs) {
    if (is_scalar_value(*p.tensor)) p.tensor->set_dim(Ints(rank, 1)).set_stride(Ints(rank, 1));
  }
}

error_t check_tensor(Node const& node, Port const& port) {
  Tensor_attributes const& t = *port.tensor;
  if (error_t e = t.validate(); e.is_bad()) {
    if (t.get_name().empty()) e.err_msg += " (It is " + port.name + " of " + node.label() + ".)";
    return e;
  }
  Ints const dim = t.get_dim();
  if (dim.size() > kMaxRankOfGraph) {
    return {error_code_t::GRAPH_NOT_SUPPORTED, tensor_label(node, port) + " has " + str(static_cast<std::int64_t>(dim.size())) +
                                                   " dims; at most " + str(kMaxRankOfGraph) + " are supported."};
  }
  std::int64_t volume = 1;
  for (std::size_t i = 0; i < dim.size(); ++i) {
    if (dim[i] < 0) {
      return invalid(tensor_label(node, port) + " has dims " + list_text(dim) + "; dim " + str(static_cast<std::int64_t>(i)) +
                     " is negative, and a size is 0 or more.");
    }
    if (__builtin_mul_overflow(volume, std::max<std::int64_t>(dim[i], 1), &volume) || volume > (std::int64_t{1} << 58)) {
      return invalid(tensor_label(node, port) + " has dims " + list_text(dim) +
                     ", more elements than any memory holds; check them.");
    }
  }
  for (std::int64_t s : t.get_stride()) {
    if (s < 0) {
      return invalid(tensor_label(node, port) + " has strides " + list_text(t.get_stride()) +
                     "; negative strides are not supported, so pass a flipped copy.");
    }
  }
  std::int64_t const v = vector_of(t);
  if (v != 1) {
    if (t.get_vector_count() != 1 && t.get_vector_dimension() != 1) {
      return {error_code_t::GRAPH_NOT_SUPPORTED,
              tensor_label(node, port) + " has vector count " + str(v) + " on dimension " + str(t.get_vector_dimension()) +
                  "; vectors lie along dimension 1 (channels), so call set_vector_count_and_dimension(" + str(v) + ", 1)."};
    }
    if (v != 4 && v != 16 && v != 32) {
      return {error_code_t::GRAPH_NOT_SUPPORTED,
              tensor_label(node, port) + " has vector count " + str(v) + "; it must be 1, 4, 16 or 32."};
    }
    if (dim.size() < 2) return invalid(tensor_label(node, port) + " has a vector count and " + list_text(dim) + " as dims.");
  }
  if (t.get_alignment() < 1) {
    return invalid(tensor_label(node, port) + " has alignment " + str(t.get_alignment()) + "; it must be 1 byte or more.");
  }
  if (t.get_ragged_offset()) {
    return {error_code_t::GRAPH_NOT_SUPPORTED,
            tensor_label(node, port) + " has a ragged offset; ragged tensors are not supported, so pass dense ones."};
  }
  if (t.get_has_compile_time_constant() || t.get_pass_by_value()) return {};
  if (t.get_is_pass_by_value() && volume != 1) {
    return invalid(tensor_label(node, port) + " is passed by value and has dims " + list_text(dim) +
                   "; a scalar has one element.");
  }
  return {};
}

error_t check_type(Node const& node, Port const& port) {
  Tensor_attributes const& t = *port.tensor;
  switch (t.get_data_type()) {
    case DataType_t::NOT_SET: {
      const char* setter = t.get_is_virtual() ? "set_intermediate_data_type" : "set_io_data_type";
      return not_set(tensor_label(node, port) + " (" + port.name + " of " + node.label() +
                     ") has no data type; call set_data_type on it, or " + setter +
                     " on the graph before adding the operation.");
    }
    case DataType_t::FAST_FLOAT_FOR_FP8:
    case DataType_t::FP8_E8M0:
    case DataType_t::FP8_E5M3:
    case DataType_t::FP4_E2M1:
    case DataType_t::INT4:
    case DataType_t::COMPLEX_FP32:
    case DataType_t::COMPLEX_FP64:
    case DataType_t::BYTE_BOOLEAN:
      return {error_code_t::GRAPH_NOT_SUPPORTED,
              tensor_label(node, port) + " has data type " + to_string(t.get_data_type()) +
                  "; tensors are FLOAT, DOUBLE, HALF, BFLOAT16, INT8, UINT8, INT32, INT64, BOOLEAN, FP8_E4M3 or FP8_E5M2."};
    default:
      return {};
  }
}

// ---- convolutions ------------------------------------------------------------------------------------------------------

error_t check_lists(Node const& node) {
  ConvolutionParameters const& c = node.conv;
  const auto how = [&](const char* setter) {
    return std::string(" (") + node.label() + ": call " + setter + " with one value for each spatial dimension.)";
  };
  if (c.pre_padding.empty()) return not_set("Pre padding not set." + how("set_padding or set_pre_padding"));
  if (c.post_padding.empty()) return not_set("Post padding not set." + how("set_padding or set_post_padding"));
  if (c.stride.empty()) return not_set("Conv strides not set." + how("set_stride"));
  if (c.dilation.empty()) return not_set("Conv dilation not set." + how("set_dilation"));
  return {};
}

error_t check_values(Node const& node, std::size_t spatial) {
  ConvolutionParameters const& c = node.conv;
  struct List {
    const char* name;
    Ints const& values;
    std::int64_t least;
  };
  const List lists[] = {{"pre padding", c.pre_padding, 0},
                        {"post padding", c.post_padding, 0},
                        {"stride", c.stride, 1},
                        {"dilation", c.dilation, 1}};
  for (List const& l : lists) {
    if (l.values.size() != spatial) {
      return invalid(node.label() + " has " + l.name + " " + list_text(l.values) + " with " +
                     str(static_cast<std::int64_t>(l.values.size())) + " values; its tensors have " +
                     str(static_cast<std::int64_t>(spatial)) + " spatial dimensions, and each needs one.");
    }
    for (std::int64_t v : l.values) {
      if (v < l.least || v > (std::int64_t{1} << 31)) {
        return invalid(node.label() + " has " + l.name + " " + list_text(l.values) + "; each value must be " + str(l.least) +
                       " to 2^31.");
      }
    }
  }
  if (c.mode == ConvolutionMode_t::NOT_SET) {
    return not_set(node.label() + " has convolution mode NOT_SET; use CROSS_CORRELATION or CONVOLUTION.");
  }
  return {};
}

/// x, w, y: logical dims. Checks everything but y's sizes.
error_t check_groups(Node const& node, Ints const& x, Ints const& w) {
  std::int64_t const c = x[1], cg = w[1], k = w[0];
  if (c < 1 || cg < 1 || k < 1) {
    return invalid(node.label() + " has C=" + str(c) + ", C/g=" + str(cg) + " and K=" + str(k) + "; each must be 1 or more.");
  }
  if (c % cg != 0) {
    return invalid(node.label() + " has C=" + str(c) + " input channels and a filter with C/g=" + str(cg) + ", K=" + str(k) +
                   "; g = C / (C/g) must be whole, so C must be a multiple of " + str(cg) + ".");
  }
  std::int64_t const g = c / cg;
  if (k % g != 0) {
    return invalid(node.label() + " has C=" + str(c) + ", C/g=" + str(cg) + ", K=" + str(k) + ", so g=" + str(g) +
                   "; K must be a multiple of g.");
  }
  return {};
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

/// The size of y on one spatial axis; error when the filter does not fit.
error_t output_size(Node const& node, std::size_t axis, std::int64_t in, std::int64_t filter, std::int64_t& out) {
  ConvolutionParameters const& c = node.conv;
  std::int64_t reach = 0;
  if (in < 1 || filter < 1) {
    return invalid(node.label() + " has image size " + str(in) + " and filter size " + str(filter) + " on spatial axis " +
                   str(static_cast<std::int64_t>(axis)) + "; both must be 1 or more.");
  }
  if (__builtin_mul_overflow(c.dilation[axis], filter - 1, &reach) || reach >= (std::int64_t{1} << 60)) {
    return invalid(node.label() + " has a filter of size " + str(filter) + " with dilation " + str(c.dilation[axis]) +
                   "; that is out of range.");
  }
  reach += 1;
  std::int64_t const padded = in + c.pre_padding[axis] + c.post_padding[axis];
  if (reach > padded) {
    return no_shape(node.label() + ": the filter covers " + str(reach) + " positions on spatial axis " +
                    str(static_cast<std::int64_t>(axis)) + " (size " + str(filter) + ", dilation " + str(c.dilation[axis]) +
                    ") and the padded image has " + str(padded) + " (" + str(in) + " + " + str(c.pre_padding[axis]) + " + " +
                    str(c.post_padding[axis]) + "); pad more or use a smaller filter.");
  }
  out = 1 + floor_div(padded - reach, c.stride[axis]);
  return {};
}

error_t check_rank(Node const& node, Port const& a, Port const& b) {
  std::size_t const ra = a.tensor->get_dim().size(), rb = b.tensor->get_dim().size();
  if (ra < 3 || ra > 5) {
    return invalid(tensor_label(node, a) + " has " + str(static_cast<std::int64_t>(ra)) + " dims " +
                   list_text(a.tensor->get_dim()) + "; a convolution has 3 (1-D), 4 (2-D) or 5 (3-D).");
  }
  if (ra != rb) {
    return invalid(tensor_label(node, a) + " has " + str(static_cast<std::int64_t>(ra)) + " dims and " + tensor_label(node, b) +
                   " has " + str(static_cast<std::int64_t>(rb)) +
                   "; both need the same number (N,C,spatial and K,C/g,spatial).");
  }
  return {};
}

void default_stride(Tensor_attributes& t) {
  if (t.get_stride().empty()) t.set_stride(channels_last(t.get_dim()));
}

/// Dims of an output from its logical dims: a vectorised tensor counts vectors.
error_t set_logical_dim(Node const& node, Port const& port, Ints dim) {
  std::int64_t const v = vector_of(*port.tensor);
  if (v != 1) {
    if (dim[1] % v != 0) {
      return no_shape(tensor_label(node, port) + " would have " + str(dim[1]) + " channels, no multiple of its vector count " +
                      str(v) + "; use a plain layout or pad the channels.");
    }
    dim[1] /= v;
  }
  port.tensor->set_dim(dim);
  return {};
}

error_t infer_convolution(Node& node) {
  OCTAVO_RETURN_IF_ERROR(check_lists(node));
  bool const fprop = node.kind == NodeKind::fprop, dgrad = node.kind == NodeKind::dgrad;
  Port& out = node.outputs.front();
  if (fprop) {
    Ints const w = node.inputs[1].tensor->get_dim();
    std::int64_t elements = 1;
    if (w.size() == 4 || w.size() == 5) {
      for (std::int64_t d : w) {
        if (__builtin_mul_overflow(elements, d, &elements) || elements > std::numeric_limits<std::int32_t>::max()) {
          return {error_code_t::GRAPH_NOT_SUPPORTED,
                  "Conv filter total elements exceed INT32_MAX. (" + node.label() + " has filter dims " + list_text(w) + ".)"};
        }
      }
    }
  }
  OCTAVO_RETURN_IF_ERROR(check_rank(node, node.inputs[0], node.inputs[1]));
  std::size_t const spatial = node.inputs[0].tensor->get_dim().size() - 2;
  OCTAVO_RETURN_IF_ERROR(check_values(node, spatial));
  if (!fprop && out.tensor->get_dim().empty()) {
    return not_set(std::string("For ") + (dgrad ? "dgrad" : "wgrad") +
                   " node, output dimension inferencing is not possible. (" + node.label() + ": call set_dim on its output " +
                   out.name + ".)");
  }
  if (!fprop && out.tensor->get_dim().size() != spatial + 2) {
    return invalid("Tensor '" + out.tensor->get_name() + "' has dims " + list_text(out.tensor->get_dim()) +
                   " and the inputs of " + node.label() + " have " + str(static_cast<std::int64_t>(spatial) + 2) +
                   " dims; they must agree.");
  }
  Ints x, w, y;
  if (fprop) {
    x = logical_dims(*node.inputs[0].tensor);
    w = logical_dims(*node.inputs[1].tensor);
  } else if (dgrad) {
    y = logical_dims(*node.inputs[0].tensor);
    w = logical_dims(*node.inputs[1].tensor);
    x = logical_dims(*out.tensor);
  } else {
    x = logical_dims(*node.inputs[0].tensor);
    y = logical_dims(*node.inputs[1].tensor);
    w = logical_dims(*out.tensor);
  }
  OCTAVO_RETURN_IF_ERROR(check_groups(node, x, w));
  Ints expected(spatial + 2);
  expected[0] = x[0];
  expected[1] = w[0];
  for (std::size_t i = 0; i < spatial; ++i) {
    OCTAVO_RETURN_IF_ERROR(output_size(node, i, x[2 + i], w[2 + i], expected[2 + i]));
  }
  if (fprop && out.tensor->get_dim().empty()) {
    OCTAVO_RETURN_IF_ERROR(set_logical_dim(node, out, expected));
  }
  if (fprop) {
    if (out.tensor->get_dim().size() != spatial + 2) {
      return invalid("Tensor '" + out.tensor->get_name() + "' has dims " + list_text(out.tensor->get_dim()) + " and " +
                     node.label() + " gives " + list_text(expected) + "; leave the dims unset or set these.");
    }
    y = logical_dims(*out.tensor);
  }
  if (y != expected) {
    std::string const who = fprop ? "Tensor '" + out.tensor->get_name() + "'" : tensor_label(node, node.inputs[dgrad ? 0 : 1]);
    return invalid(who + " has dims " + list_text(y) + "; x " + list_text(x) + " and filter " + list_text(w) +
                   " with pre padding " + list_text(node.conv.pre_padding) + ", post padding " +
                   list_text(node.conv.post_padding) + ", stride " + list_text(node.conv.stride) + ", dilation " +
                   list_text(node.conv.dilation) + " give " + list_text(expected) + ".");
  }
  default_stride(*out.tensor);
  return {};
}

// ---- pointwise -----------------------------------------------------------------------------------------------------------

error_t broadcast(Node const& node, Ints& out) {
  for (Port const& p : node.inputs) {
    Ints const dim = logical_dims(*p.tensor);
    if (dim.size() > out.size()) out.insert(out.begin(), dim.size() - out.size(), 1);
    std::size_t const shift = out.size() - dim.size();
    for (std::size_t i = 0; i < dim.size(); ++i) {
      std::int64_t& o = out[shift + i];
      if (o == dim[i] || dim[i] == 1) continue;
      if (o != 1) {
        return no_shape(node.label() + ": dimensions mismatch as broadcasting 2 non-one dimension sizes. (" +
                        tensor_label(node, p) + " has dims " + list_text(dim) + " and the others broadcast to " +
                        list_text(out) + ".)");
      }
      o = dim[i];
    }
  }
  return {};
}

/// Packed strides in the order of the given ones: the smallest given stride stays innermost.
Ints stride_in_order_of(Ints const& given, Ints const& dim) {
  if (given.size() != dim.size()) return channels_last(dim);
  std::vector<std::size_t> order(dim.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return given[a] < given[b]; });
  Ints stride(dim.size(), 1);
  std::uint64_t step = 1;
  for (std::size_t i : order) {
    stride[i] = static_cast<std::int64_t>(step);
    step *= static_cast<std::uint64_t>(dim[i]);
  }
  return stride;
}

error_t infer_pointwise(Node& node) {
  PointwiseParameters const& p = node.pointwise;
  int const need = pointwise_inputs(p.mode);
  if (need == 0) return not_set(node.label() + " has no pointwise mode; call set_mode.");
  if (static_cast<int>(node.inputs.size()) < need) {
    return not_set(node.label() + " has mode " + to_string(p.mode) + ", which reads " + str(need) + " tensors, and was given " +
                   str(static_cast<std::int64_t>(node.inputs.size())) + ".");
  }
  Port& out = node.outputs.front();
  Ints shape;
  OCTAVO_RETURN_IF_ERROR(broadcast(node, shape));
  if (out.tensor->get_dim().empty()) OCTAVO_RETURN_IF_ERROR(set_logical_dim(node, out, shape));
  Ints const dim = logical_dims(*out.tensor);
  // A larger output of set_dim() broadcasts further; a smaller one would drop elements.
  bool fits = dim.size() >= shape.size();
  for (std::size_t i = 0; fits && i < shape.size(); ++i) {
    std::int64_t const d = dim[dim.size() - shape.size() + i];
    fits = shape[i] == d || shape[i] == 1;
  }
  if (!fits) {
    return no_shape("Tensor '" + out.tensor->get_name() + "' has dims " + list_text(dim) + " and the inputs of " +
                    node.label() + " broadcast to " + list_text(shape) + "; leave the dims unset or set these.");
  }
  if (out.tensor->get_stride().empty()) {
    // The last operand of the output's size gives the layout.
    for (auto it = node.inputs.rbegin(); it != node.inputs.rend(); ++it) {
      if (it->tensor->get_dim() == out.tensor->get_dim() && vector_of(*it->tensor) == vector_of(*out.tensor)) {
        out.tensor->set_stride(it->tensor->get_stride());
        break;
      }
    }
    if (out.tensor->get_stride().empty() && out.tensor->get_is_virtual()) {
      out.tensor->set_stride(stride_in_order_of(node.inputs.front().tensor->get_stride(), out.tensor->get_dim()));
    }
    if (out.tensor->get_stride().empty() && vector_of(*out.tensor) != 1) default_stride(*out.tensor);
    if (out.tensor->get_stride().empty()) {
      return no_shape("Pointwise output strides could not be computed (" + node.label() + ": no input has the output's dims " +
                      list_text(out.tensor->get_dim()) + "; call set_stride on it).");
    }
  }
  if (p.mode == PointwiseMode_t::GEN_INDEX) {
    std::int64_t const axis = p.axis.value_or(-1), rank = static_cast<std::int64_t>(dim.size());
    if (axis < -rank || axis >= rank) {
      return invalid(node.label() + " has axis " + str(axis) + "; it must be -" + str(rank) + " to " + str(rank - 1) + ".");
    }
  }
  return {};
}

// ---- reductions ------------------------------------------------------------------------------------------------------------

error_t infer_reduction(Node& node) {
  if (!node.reduction || *node.reduction == ReductionMode_t::NOT_SET) {
    return not_set(node.label() + " has no reduction mode; call set_mode.");
  }
  if (node.inputs.size() > 1) {
    return {error_code_t::GRAPH_NOT_SUPPORTED, node.label() + " has a group offset; grouped reductions are not supported."};
  }
  Tensor_attributes const& x = *node.inputs.front().tensor;
  Port& out = node.outputs.front();
  if (out.tensor->get_dim().empty()) OCTAVO_RETURN_IF_ERROR(set_logical_dim(node, out, logical_dims(x)));
  default_stride(*out.tensor);
  Ints const in = logical_dims(x), dim = logical_dims(*out.tensor);
  bool fits = in.size() == dim.size();
  for (std::size_t i = 0; fits && i < dim.size(); ++i) fits = dim[i] == in[i] || dim[i] == 1;
  if (!fits) {
    return no_shape("Tensor '" + out.tensor->get_name() + "' has dims " + list_text(dim) + " and the input of " + node.label() +
                    " has " + list_text(in) + "; each dim of a reduction's output is the input's, or 1 where it is reduced.");
  }
  return {};
}

error_t infer_genstats(Node& node) {
  Ints const x = logical_dims(*node.inputs.front().tensor);
  if (x.size() < 2) return invalid(node.label() + " has an input with dims " + list_text(x) + "; it needs N,C,spatial.");
  Ints want(x.size(), 1);
  want[1] = x[1];
  for (Port& out : node.outputs) {
    if (out.tensor->get_dim().empty()) OCTAVO_RETURN_IF_ERROR(set_logical_dim(node, out, want));
    default_stride(*out.tensor);
    if (logical_dims(*out.tensor) != want) {
      return no_shape("Tensor '" + out.tensor->get_name() + "' has dims " + list_text(out.tensor->get_dim()) + " and " +
                      node.label() + " gives " + list_text(want) + ".");
    }
  }
  return {};
}

error_t check_compute(Node const& node) {
  switch (node.compute) {
    case DataType_t::NOT_SET:
      return not_set(
          node.label() +
          " has no compute data type; call set_compute_data_type on its attributes, or on the graph before adding it.");
    case DataType_t::FLOAT:
    case DataType_t::DOUBLE:
    case DataType_t::INT32:
    case DataType_t::FAST_FLOAT_FOR_FP8:
    case DataType_t::HALF:
    case DataType_t::BFLOAT16:
      return {};
    case DataType_t::BOOLEAN:
      if (!node.is_convolution()) return {};
      [[fallthrough]];
    default:
      return {error_code_t::GRAPH_NOT_SUPPORTED, node.label() + " has compute data type " + to_string(node.compute) +
                                                     "; it must be FLOAT, DOUBLE or INT32" +
                                                     (node.is_convolution() ? "." : " (or BOOLEAN for logic).")};
  }
}

}  // namespace

int pointwise_inputs(PointwiseMode_t mode) {
  using M = PointwiseMode_t;
  switch (mode) {
    case M::NOT_SET:
      return 0;
    case M::ADD:
    case M::MUL:
    case M::MAX:
    case M::MIN:
    case M::MOD:
    case M::POW:
    case M::SUB:
    case M::ADD_SQUARE:
    case M::DIV:
    case M::CMP_EQ:
    case M::CMP_NEQ:
    case M::CMP_GT:
    case M::CMP_GE:
    case M::CMP_LT:
    case M::CMP_LE:
    case M::LOGICAL_AND:
    case M::LOGICAL_OR:
      return 2;
    case M::BINARY_SELECT:
      return 3;
    default:
      return is_backward(mode) ? 2 : 1;
  }
}

bool is_backward(PointwiseMode_t mode) {
  using M = PointwiseMode_t;
  return mode == M::RELU_BWD || mode == M::TANH_BWD || mode == M::SIGMOID_BWD || mode == M::ELU_BWD || mode == M::GELU_BWD ||
         mode == M::SOFTPLUS_BWD || mode == M::SWISH_BWD || mode == M::GELU_APPROX_TANH_BWD;
}

error_t infer_node(Node& node) {
  if (node.kind == NodeKind::foreign) {
    return {error_code_t::GRAPH_NOT_SUPPORTED,
            "Operation " + node.label() +
                " is not supported: Octavo computes convolutions, pointwise operations, reductions and genstats. Run it with "
                "another library, and pass its result as a tensor."};
  }
  for (Port const& p : node.inputs) {
    if (!p.tensor) {
      return not_set("Input " + p.name + " of " + node.label() +
                     " is a null tensor; pass what graph.tensor() or another operation returned.");
    }
  }
  for (Port const& p : node.outputs) {
    if (!p.tensor) return not_set("Output " + p.name + " of " + node.label() + " is a null tensor.");
  }
  for (Port& p : node.inputs) inherit_type(node.context, *p.tensor);
  for (Port& p : node.outputs) inherit_type(node.context, *p.tensor);
  node.compute = node.declared_compute != DataType_t::NOT_SET ? node.declared_compute : node.context.compute;
  expand_scalars(node);
  if (node.is_convolution()) OCTAVO_RETURN_IF_ERROR(check_lists(node));
  for (Port const& p : node.inputs) OCTAVO_RETURN_IF_ERROR(check_tensor(node, p));
  switch (node.kind) {
    case NodeKind::pointwise:
      OCTAVO_RETURN_IF_ERROR(infer_pointwise(node));
      break;
    case NodeKind::reduction:
      OCTAVO_RETURN_IF_ERROR(infer_reduction(node));
      break;
    case NodeKind::genstats:
      OCTAVO_RETURN_IF_ERROR(infer_genstats(node));
      break;
    default:
      OCTAVO_RETURN_IF_ERROR(infer_convolution(node));
      break;
  }
  for (Port const& p : node.outputs) {
    if (p.tensor->get_is_pass_by_value()) {
      return invalid("Tensor '" + p.tensor->get_name() + "' is an output of " + node.label() +
                     " and passed by value; an output needs memory.");
    }
    OCTAVO_RETURN_IF_ERROR(check_tensor(node, p));
  }
  for (Port const& p : node.inputs) OCTAVO_RETURN_IF_ERROR(check_type(node, p));
  for (Port const& p : node.outputs) OCTAVO_RETURN_IF_ERROR(check_type(node, p));
  return check_compute(node);
}

}  // namespace octavo::graph
