// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Everything a graph knows about one tensor. C++17.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../error.h"
#include "enums.h"
#include "scalar.h"

namespace octavo::graph {

/// Where a tensor's data type comes from: error messages name the setter that decided it.
enum class TypeOrigin : std::uint8_t { unset, tensor, io_data_type, intermediate_data_type };

class Tensor_attributes {
 public:
  using uid_t = std::int64_t;
  using pass_by_values_t = graph::pass_by_values_t;

  /// Pointer alignment that a plan may rely on, in bytes.
  static constexpr std::int64_t default_alignment = 16;

  Tensor_attributes() = default;
  /// A scalar by value: dim = stride = {1}, type from the C type, value owned by the graph.
  template <class S, if_scalar<S> = 0>
  Tensor_attributes(S const& value)  // NOLINT(google-explicit-constructor)
      : Tensor_attributes(scalar_traits<S>::store(value), scalar_traits<S>::type, ScalarType::RUNTIME_PARAM) {}
  template <class S, if_scalar<S> = 0>
  Tensor_attributes(S const& value, ScalarType kind)
      : Tensor_attributes(scalar_traits<S>::store(value), scalar_traits<S>::type, kind) {}

  error_t validate() const;

  std::string get_name() const { return name_; }
  Tensor_attributes& set_name(std::string const& value) { return name_ = value, *this; }

  DataType_t get_data_type() const { return data_type_; }
  Tensor_attributes& set_data_type(DataType_t value) {
    data_type_ = value;
    origin_ = value == DataType_t::NOT_SET ? TypeOrigin::unset : TypeOrigin::tensor;
    return *this;
  }
  TypeOrigin get_data_type_origin() const { return origin_; }

  std::vector<std::int64_t> get_dim() const { return dim_; }
  Tensor_attributes& set_dim(std::vector<std::int64_t> const& value) { return dim_ = value, *this; }
  std::int64_t get_volume() const;

  std::vector<std::int64_t> get_stride() const { return stride_; }
  Tensor_attributes& set_stride(std::vector<std::int64_t> const& value) { return stride_ = value, *this; }

  bool get_is_virtual() const { return is_virtual_; }
  Tensor_attributes& set_is_virtual(bool value) { return is_virtual_ = value, *this; }
  Tensor_attributes& set_output(bool value) { return set_is_virtual(!value); }

  std::optional<pass_by_values_t> get_pass_by_value() const { return pass_by_value_; }
  bool get_is_pass_by_value() const { return is_pass_by_value_; }
  Tensor_attributes& set_is_pass_by_value(bool value) { return is_pass_by_value_ = value, *this; }

  bool get_has_compile_time_constant() const { return compile_time_constant_.has_value(); }
  std::optional<pass_by_values_t> get_compile_time_constant() const { return compile_time_constant_; }
  Tensor_attributes& set_compile_time_constant(pass_by_values_t const& value) {
    compile_time_constant_ = value;
    is_pass_by_value_ = true;
    return *this;
  }
  Tensor_attributes& set_as_runtime_parameter() {
    compile_time_constant_.reset();
    is_pass_by_value_ = true;
    return *this;
  }

  TensorReordering_t get_reordering_type() const { return reordering_; }
  Tensor_attributes& set_reordering_type(TensorReordering_t value) { return reordering_ = value, *this; }

  std::int64_t get_alignment() const { return alignment_; }
  Tensor_attributes& set_alignment(std::int64_t value) { return alignment_ = value, *this; }

  std::int64_t get_vector_count() const { return vector_count_; }
  std::int64_t get_vector_dimension() const { return vector_dimension_; }
  /// cuDNN's convention: dim[dimension] and every stride then count vectors of `count` elements.
  Tensor_attributes& set_vector_count_and_dimension(std::int64_t count, std::int64_t dimension) {
    vector_count_ = count;
    vector_dimension_ = dimension;
    return *this;
  }

  uid_t get_uid() const { return uid_.value_or(0); }
  bool has_uid() const { return uid_.has_value(); }
  Tensor_attributes& set_uid(uid_t value) { return uid_ = value, *this; }
  Tensor_attributes& clear_uid() { return uid_.reset(), *this; }

  std::shared_ptr<Tensor_attributes> get_ragged_offset() const { return ragged_offset_; }
  Tensor_attributes& set_ragged_offset(std::shared_ptr<Tensor_attributes> const& value) {
    return ragged_offset_ = value, *this;
  }
  std::int64_t get_ragged_offset_multiplier() const { return ragged_offset_multiplier_; }
  bool has_ragged_offset_multiplier() const { return ragged_offset_multiplier_ != 1; }
  Tensor_attributes& set_ragged_offset_multiplier(std::int64_t value) { return ragged_offset_multiplier_ = value, *this; }

  /// Extension: declares a tensor constant. `data` (host memory in this tensor's layout) is read when a plan is built, so
  /// that engines can pack it once, and must live until then; the pointer is not kept. What is bound to the tensor at
  /// execute is then ignored, and nothing needs to be bound. Used for the filter of a convolution.
  Tensor_attributes& set_constant_data(void const* data) { return constant_data_ = data, *this; }
  void const* get_constant_data() const { return constant_data_; }

  /// JSON 2.0 text of this tensor, and back (1.0 is read too).
  std::string to_json_text() const;
  error_t from_json_text(std::string const& text);

 private:
  friend struct TensorAccess;

  Tensor_attributes(pass_by_values_t const& value, DataType_t type, ScalarType kind) : data_type_(type) {
    origin_ = TypeOrigin::tensor;
    (kind == ScalarType::COMPILE_TIME_CONST ? compile_time_constant_ : pass_by_value_) = value;
    is_pass_by_value_ = true;
    dim_ = stride_ = {1};
  }

  std::string name_;
  DataType_t data_type_ = DataType_t::NOT_SET;
  TypeOrigin origin_ = TypeOrigin::unset;
  std::vector<std::int64_t> dim_, stride_;
  bool is_virtual_ = false;
  bool is_pass_by_value_ = false;
  std::optional<pass_by_values_t> pass_by_value_;
  std::optional<pass_by_values_t> compile_time_constant_;
  TensorReordering_t reordering_ = TensorReordering_t::NONE;
  std::optional<uid_t> uid_;
  std::shared_ptr<Tensor_attributes> ragged_offset_;
  std::int64_t ragged_offset_multiplier_ = 1;
  std::int64_t alignment_ = default_alignment;
  std::int64_t vector_count_ = 1;
  std::int64_t vector_dimension_ = -1;
  void const* constant_data_ = nullptr;
};

}  // namespace octavo::graph
