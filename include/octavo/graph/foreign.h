// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Operations outside this library's purpose. They exist so that files which mix them with convolutions compile: a graph
// that holds one is refused by validate(), by name, with GRAPH_NOT_SUPPORTED. Setters accept their arguments and keep only
// what print() shows. C++17.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "attributes.h"

namespace octavo::graph {

template <class Derived>
class Foreign_attributes {
 public:
  std::string name;
  DataType_t compute_data_type = DataType_t::NOT_SET;
  Derived& set_name(std::string const& value) { return name = value, self(); }
  Derived& set_compute_data_type(DataType_t value) { return compute_data_type = value, self(); }

 protected:
  Derived& self() { return *static_cast<Derived*>(this); }
};

class BN_finalize_attributes : public Foreign_attributes<BN_finalize_attributes> {
 public:
  BN_finalize_attributes& set_previous_running_stats(TensorPtr const&, TensorPtr const&, TensorPtr const&) { return *this; }
};

class DBN_weight_attributes : public Foreign_attributes<DBN_weight_attributes> {};

class Batchnorm_attributes : public Foreign_attributes<Batchnorm_attributes> {
 public:
  Batchnorm_attributes& set_previous_running_stats(TensorPtr const&, TensorPtr const&, TensorPtr const&) { return *this; }
  Batchnorm_attributes& set_epsilon(TensorPtr const&) { return *this; }
  Batchnorm_attributes& set_peer_stats(std::vector<TensorPtr> const&) { return *this; }
};

class Batchnorm_inference_attributes : public Foreign_attributes<Batchnorm_inference_attributes> {};

class Batchnorm_backward_attributes : public Foreign_attributes<Batchnorm_backward_attributes> {
 public:
  Batchnorm_backward_attributes& set_saved_mean_and_inv_variance(TensorPtr const&, TensorPtr const&) { return *this; }
  Batchnorm_backward_attributes& set_peer_stats(std::vector<TensorPtr> const&) { return *this; }
};

/// Layer, instance and RMS normalisation share their setters.
template <class Derived>
class Norm_attributes : public Foreign_attributes<Derived> {
 public:
  Derived& set_forward_phase(NormFwdPhase_t) { return this->self(); }
  Derived& set_epsilon(TensorPtr const&) { return this->self(); }
  Derived& set_bias(TensorPtr const&) { return this->self(); }
};
template <class Derived>
class Norm_backward_attributes : public Foreign_attributes<Derived> {
 public:
  Derived& set_saved_mean_and_inv_variance(TensorPtr const&, TensorPtr const&) { return this->self(); }
  Derived& has_dbias(bool) { return this->self(); }
};
class Layernorm_attributes : public Norm_attributes<Layernorm_attributes> {};
class Layernorm_backward_attributes : public Norm_backward_attributes<Layernorm_backward_attributes> {};
class Instancenorm_attributes : public Norm_attributes<Instancenorm_attributes> {};
class Instancenorm_backward_attributes : public Norm_backward_attributes<Instancenorm_backward_attributes> {};
class Rmsnorm_attributes : public Norm_attributes<Rmsnorm_attributes> {};
class Rmsnorm_backward_attributes : public Norm_backward_attributes<Rmsnorm_backward_attributes> {};

class Matmul_attributes : public Foreign_attributes<Matmul_attributes> {
 public:
  Matmul_attributes& set_m_override(TensorPtr const&) { return *this; }
  Matmul_attributes& set_n_override(TensorPtr const&) { return *this; }
  Matmul_attributes& set_k_override(TensorPtr const&) { return *this; }
  Matmul_attributes& set_padding(double) { return *this; }
};
class Matmul_fp8_attributes : public Foreign_attributes<Matmul_fp8_attributes> {};

template <class Derived>
class Attention_attributes : public Foreign_attributes<Derived> {
 public:
  Derived& set_is_inference(bool) { return this->self(); }
  Derived& set_generate_stats(bool) { return this->self(); }
  Derived& set_attn_scale(TensorPtr const&) { return this->self(); }
  Derived& set_attn_scale(float) { return this->self(); }
  Derived& set_bias(TensorPtr const&) { return this->self(); }
  Derived& set_dbias(TensorPtr const&) { return this->self(); }
  Derived& set_alibi_mask(bool) { return this->self(); }
  Derived& set_padding_mask(bool) { return this->self(); }
  Derived& set_causal_mask(bool) { return this->self(); }
  Derived& set_causal_mask_bottom_right(bool) { return this->self(); }
  Derived& set_sliding_window_length(int) { return this->self(); }
  Derived& set_diagonal_alignment(DiagonalAlignment_t) { return this->self(); }
  Derived& set_diagonal_band_left_bound(int) { return this->self(); }
  Derived& set_diagonal_band_right_bound(int) { return this->self(); }
  Derived& set_seq_len_q(TensorPtr const&) { return this->self(); }
  Derived& set_seq_len_kv(TensorPtr const&) { return this->self(); }
  Derived& set_dropout(float, TensorPtr const&, TensorPtr const&) { return this->self(); }
  Derived& set_dropout(TensorPtr const&, TensorPtr const&) { return this->self(); }
  Derived& set_dropout(TensorPtr const&, TensorPtr const&, TensorPtr const&) { return this->self(); }
  Derived& set_paged_attention_k_table(TensorPtr const&) { return this->self(); }
  Derived& set_paged_attention_v_table(TensorPtr const&) { return this->self(); }
  Derived& set_paged_attention_max_seq_len_kv(int) { return this->self(); }
  Derived& set_deterministic_algorithm(bool) { return this->self(); }
};
class SDPA_attributes : public Attention_attributes<SDPA_attributes> {};
class SDPA_backward_attributes : public Attention_attributes<SDPA_backward_attributes> {};
class SDPA_fp8_attributes : public Attention_attributes<SDPA_fp8_attributes> {};
class SDPA_fp8_backward_attributes : public Attention_attributes<SDPA_fp8_backward_attributes> {};

class Softmax_attributes : public Foreign_attributes<Softmax_attributes> {};

class Rng_attributes : public Foreign_attributes<Rng_attributes> {
 public:
  Rng_attributes& set_distribution(RngDistribution_t) { return *this; }
  Rng_attributes& set_seed(std::int64_t) { return *this; }
  Rng_attributes& set_bernoulli_probability(double) { return *this; }
};

class Block_scale_quantize_attributes : public Foreign_attributes<Block_scale_quantize_attributes> {
 public:
  Block_scale_quantize_attributes& set_block_size(std::int32_t) { return *this; }
  Block_scale_quantize_attributes& set_axis(std::int64_t) { return *this; }
  Block_scale_quantize_attributes& set_transpose(bool) { return *this; }
};
class Block_scale_dequantize_attributes : public Foreign_attributes<Block_scale_dequantize_attributes> {
 public:
  Block_scale_dequantize_attributes& set_block_size(std::int32_t) { return *this; }
  Block_scale_dequantize_attributes& set_block_size(std::vector<std::int32_t> const&) { return *this; }
  Block_scale_dequantize_attributes& set_is_negative_scale(bool) { return *this; }
};

class Concatenate_attributes : public Foreign_attributes<Concatenate_attributes> {
 public:
  Concatenate_attributes& set_axis(std::int64_t) { return *this; }
  Concatenate_attributes& set_in_place_index(std::int64_t) { return *this; }
};

class Reshape_attributes : public Foreign_attributes<Reshape_attributes> {
 public:
  Reshape_attributes& set_dim(std::vector<std::int64_t> const&) { return *this; }
  Reshape_attributes& set_stride(std::vector<std::int64_t> const&) { return *this; }
  Reshape_attributes& set_reshape_mode(ReshapeMode_t) { return *this; }
};

class Resample_attributes : public Foreign_attributes<Resample_attributes> {
 public:
  Resample_attributes& set_resampling_mode(ResampleMode_t) { return *this; }
  Resample_attributes& set_padding_mode(PaddingMode_t) { return *this; }
  Resample_attributes& set_window(std::vector<std::int64_t> const&) { return *this; }
  Resample_attributes& set_stride(std::vector<std::int64_t> const&) { return *this; }
  Resample_attributes& set_pre_padding(std::vector<std::int64_t> const&) { return *this; }
  Resample_attributes& set_post_padding(std::vector<std::int64_t> const&) { return *this; }
  Resample_attributes& set_generate_index(bool) { return *this; }
  Resample_attributes& set_is_inference(bool) { return *this; }
};

class Slice_attributes : public Foreign_attributes<Slice_attributes> {
 public:
  Slice_attributes& set_slices(std::vector<std::pair<std::int64_t, std::int64_t>> const&) { return *this; }
  Slice_attributes& set_strides(std::vector<std::int64_t> const&) { return *this; }
};

class Transpose_attributes : public Foreign_attributes<Transpose_attributes> {
 public:
  Transpose_attributes& set_permutation(std::vector<std::int64_t> const&) { return *this; }
};

}  // namespace octavo::graph
