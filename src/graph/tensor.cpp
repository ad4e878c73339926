// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#include "octavo/graph/tensor.h"

#include "core/float.h"
#include "graph/node.h"

namespace octavo {

float16::float16(float value) : bits(float_to_f16(value)) {}
float16::operator float() const { return f16_to_float(bits); }
bfloat16::bfloat16(float value) : bits(float_to_bf16(value)) {}
bfloat16::operator float() const { return bf16_to_float(bits); }

namespace graph {

std::int64_t Tensor_attributes::get_volume() const {
  std::int64_t volume = 1;
  for (std::int64_t d : dim_) {
    if (__builtin_mul_overflow(volume, d, &volume)) return -1;
  }
  return volume;
}

error_t Tensor_attributes::validate() const {
  const auto not_set = [&](std::string const& rest) {
    return error_t(error_code_t::ATTRIBUTE_NOT_SET, "Tensor '" + name_ + "' " + rest);
  };
  if (dim_.empty()) return not_set("dims not set.");
  if (stride_.empty()) return not_set("strides not set.");
  if (dim_.size() != stride_.size()) {
    return not_set("does not equal dimensionality in dim and stride: dim is " + list_text(dim_) + ", stride is " +
                   list_text(stride_) + ".");
  }
  if (is_virtual_ && is_pass_by_value_) return not_set("can't be both virtual and pass_by_value at the same time.");
  if (pass_by_value_ && !is_pass_by_value_) {
    return not_set("can't be a fused scalar and not a pass_by_value tensor at the same time.");
  }
  if (compile_time_constant_ && !is_pass_by_value_) {
    return not_set("with compile-time constant must have is_pass_by_value=true.");
  }
  if (compile_time_constant_ && pass_by_value_) {
    return not_set("can't have both compile-time constant and runtime pass_by_value.");
  }
  if (has_ragged_offset_multiplier() && !ragged_offset_) {
    return not_set("with ragged offset multiplier must also have a ragged offset tensor.");
  }
  if (ragged_offset_multiplier_ <= 0) {
    return {error_code_t::INVALID_VALUE, "Tensor '" + name_ + "' ragged offset multiplier must be positive."};
  }
  return {};
}

std::string list_text(std::vector<std::int64_t> const& values) {
  std::string text = "[";
  for (std::size_t i = 0; i < values.size(); ++i) text += (i == 0 ? "" : ",") + std::to_string(values[i]);
  return text + "]";
}

DataType_t element_type(DataType_t type) {
  switch (type) {
    case DataType_t::INT8x4:
    case DataType_t::INT8x32:
      return DataType_t::INT8;
    case DataType_t::UINT8x4:
      return DataType_t::UINT8;
    default:
      return type;
  }
}

std::int64_t vector_of(Tensor_attributes const& t) {
  if (t.get_vector_count() != 1) return t.get_vector_count();
  switch (t.get_data_type()) {
    case DataType_t::INT8x4:
    case DataType_t::UINT8x4:
      return 4;
    case DataType_t::INT8x32:
      return 32;
    default:
      return 1;
  }
}

std::vector<std::int64_t> logical_dims(Tensor_attributes const& t) {
  std::vector<std::int64_t> dim = t.get_dim();
  if (dim.size() >= 2 && __builtin_mul_overflow(dim[1], vector_of(t), &dim[1])) dim[1] = -1;
  return dim;
}

std::vector<std::int64_t> channels_last(std::vector<std::int64_t> const& dim) {
  std::vector<std::int64_t> stride(dim.size(), 1);
  // Unsigned products wrap on absurd dims, which the size rules refuse afterwards.
  std::uint64_t step = 1;
  const auto take = [&](std::size_t i) {
    stride[i] = static_cast<std::int64_t>(step);
    step *= static_cast<std::uint64_t>(dim[i]);
  };
  if (dim.size() >= 2) take(1);
  for (std::size_t i = dim.size(); i-- > 2;) take(i);
  if (!dim.empty()) take(0);
  return stride;
}

bool is_scalar_value(Tensor_attributes const& t) {
  return t.get_pass_by_value().has_value() || t.get_has_compile_time_constant();
}

}  // namespace graph
}  // namespace octavo
