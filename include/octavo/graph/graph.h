// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The graph: tensors, operations, and the way from them to an executable plan. C++17; nothing throws, every failure is an
// error_t. Names, signatures and behaviour are cudnn-frontend 1.32's; what is ours alone is marked "extension".

#include <array>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../handle.h"
#include "attributes.h"
#include "foreign.h"
#include "tensor.h"

namespace octavo::graph {

/// True for nlohmann::json of any version: the library itself exchanges text, so no JSON type is part of its ABI.
template <class T, class = void>
struct is_json : std::false_type {};
template <class T>
struct is_json<T, std::void_t<decltype(std::declval<T const&>().dump()), decltype(T::parse(std::string()))>> : std::true_type {
};
/// dump() throws on strings that are not UTF-8; the empty text is then refused as no JSON.
template <class Json>
std::string text_of(Json const& json) {
  try {
    return json.dump();
  } catch (...) {
    return {};
  }
}
template <class T>
using if_json = std::enable_if_t<is_json<T>::value, int>;

class Graph {
 public:
  using uid_t = std::int64_t;
  using TensorMap = std::unordered_map<TensorPtr, void*>;
  using UidMap = std::unordered_map<uid_t, void*>;
  using Ints = std::vector<std::int64_t>;

  Graph();
  ~Graph();
  Graph(Graph&&) noexcept;
  Graph& operator=(Graph&&) noexcept;
  Graph(Graph const&) = delete;
  Graph& operator=(Graph const&) = delete;

  // ---- context: copied into each operation when the operation is added -------------------------------------------------
  Graph& set_name(std::string const& name);
  Graph& set_io_data_type(DataType_t type);
  Graph& set_intermediate_data_type(DataType_t type);
  Graph& set_compute_data_type(DataType_t type);
  Graph& set_dynamic_shape_enabled(bool enabled);
  Graph& set_override_shape_enabled(bool enabled);
  Graph& set_sm_count(std::int32_t count);
  Graph& set_sm_version(std::int32_t version);
  Graph& set_kernel_cache(std::shared_ptr<KernelCache> cache);
  Graph& set_device_properties(std::shared_ptr<DeviceProperties const> properties);
  Graph& set_cuda_graph_retention(CudaGraphRetention_t retention);
  CudaGraphRetention_t get_cuda_graph_retention() const;

  // ---- tensors ---------------------------------------------------------------------------------------------------------
  TensorPtr tensor(Tensor_attributes const& attributes);
  template <class S, if_scalar<S> = 0>
  TensorPtr tensor(S const& value, ScalarType kind) {
    return tensor(Tensor_attributes(value, kind));
  }
  /// Copies `like` without its uid and under the given name.
  TensorPtr tensor_like(TensorPtr const& like, std::string const& name = {});
  error_t query_tensor_attributes_of_uid(std::int64_t uid, Tensor_attributes& attributes) const;
  /// Extension: the graph's own tensor objects, in the order of their uids (after validate()) or of their creation.
  std::vector<TensorPtr> tensors() const;

  // ---- operations ------------------------------------------------------------------------------------------------------
  TensorPtr conv_fprop(TensorPtr x, TensorPtr w, Conv_fprop_attributes attributes);
  TensorPtr conv_dgrad(TensorPtr dy, TensorPtr w, Conv_dgrad_attributes attributes);
  TensorPtr conv_wgrad(TensorPtr dy, TensorPtr x, Conv_wgrad_attributes attributes);
  TensorPtr pointwise(TensorPtr a, Pointwise_attributes attributes);
  TensorPtr pointwise(TensorPtr a, TensorPtr b, Pointwise_attributes attributes);
  TensorPtr pointwise(TensorPtr a, TensorPtr b, TensorPtr c, Pointwise_attributes attributes);
  TensorPtr reduction(TensorPtr x, Reduction_attributes attributes);
  TensorPtr reduction(TensorPtr x, TensorPtr group_offset, Reduction_attributes attributes);
  std::array<TensorPtr, 2> genstats(TensorPtr x, Genstats_attributes attributes);

  // Refused by validate(), by name (foreign.h).
  std::array<TensorPtr, 6> bn_finalize(TensorPtr sum, TensorPtr sq_sum, TensorPtr scale, TensorPtr bias, TensorPtr epsilon,
                                       TensorPtr accum_count, BN_finalize_attributes attributes);
  std::array<TensorPtr, 5> dbn_weight(TensorPtr dy, TensorPtr x, TensorPtr mean, TensorPtr inv_variance, TensorPtr scale,
                                      DBN_weight_attributes attributes);
  std::array<TensorPtr, 5> batchnorm(TensorPtr x, TensorPtr scale, TensorPtr bias, Batchnorm_attributes attributes);
  TensorPtr batchnorm_inference(TensorPtr x, TensorPtr mean, TensorPtr inv_variance, TensorPtr scale, TensorPtr bias,
                                Batchnorm_inference_attributes attributes);
  std::array<TensorPtr, 3> batchnorm_backward(TensorPtr dy, TensorPtr x, TensorPtr scale,
                                              Batchnorm_backward_attributes attributes);
  std::array<TensorPtr, 3> layernorm(TensorPtr x, TensorPtr scale, TensorPtr bias, Layernorm_attributes attributes);
  std::array<TensorPtr, 3> layernorm_backward(TensorPtr dy, TensorPtr x, TensorPtr scale,
                                              Layernorm_backward_attributes attributes);
  std::array<TensorPtr, 3> instancenorm(TensorPtr x, TensorPtr scale, TensorPtr bias, Instancenorm_attributes attributes);
  std::array<TensorPtr, 3> instancenorm_backward(TensorPtr dy, TensorPtr x, TensorPtr scale,
                                                 Instancenorm_backward_attributes attributes);
  std::array<TensorPtr, 2> rmsnorm(TensorPtr x, TensorPtr scale, Rmsnorm_attributes attributes);
  std::array<TensorPtr, 3> rmsnorm_backward(TensorPtr dy, TensorPtr x, TensorPtr scale, TensorPtr inv_variance,
                                            Rmsnorm_backward_attributes attributes);
  TensorPtr matmul(TensorPtr a, TensorPtr b, Matmul_attributes attributes);
  std::array<TensorPtr, 2> matmul_fp8(TensorPtr a, TensorPtr b, TensorPtr descale_a, TensorPtr descale_b, TensorPtr scale_c,
                                      Matmul_fp8_attributes attributes);
  std::array<TensorPtr, 2> sdpa(TensorPtr q, TensorPtr k, TensorPtr v, SDPA_attributes attributes);
  std::array<TensorPtr, 3> sdpa_backward(TensorPtr q, TensorPtr k, TensorPtr v, TensorPtr o, TensorPtr d_o, TensorPtr stats,
                                         SDPA_backward_attributes attributes);
  std::array<TensorPtr, 4> sdpa_fp8(TensorPtr q, TensorPtr k, TensorPtr v, TensorPtr descale_q, TensorPtr descale_k,
                                    TensorPtr descale_v, TensorPtr descale_s, TensorPtr scale_s, TensorPtr scale_o,
                                    SDPA_fp8_attributes attributes);
  TensorPtr rng(TensorPtr seed, TensorPtr offset, Rng_attributes attributes);
  std::array<TensorPtr, 2> block_scale_quantize(TensorPtr x, Block_scale_quantize_attributes attributes);
  TensorPtr block_scale_dequantize(TensorPtr x, TensorPtr scale, Block_scale_dequantize_attributes attributes);
  TensorPtr concatenate(std::vector<TensorPtr> inputs, Concatenate_attributes attributes);
  std::array<TensorPtr, 2> resample(TensorPtr x, Resample_attributes attributes);
  TensorPtr reshape(TensorPtr x, Reshape_attributes attributes);
  TensorPtr slice(TensorPtr x, Slice_attributes attributes);
  TensorPtr transpose(TensorPtr x, Transpose_attributes attributes);

  // ---- lifecycle -------------------------------------------------------------------------------------------------------
  error_t validate();
  error_t build_operation_graph(handle_t handle);
  error_t build_operation_graph();  ///< for the device of set_device_properties()
  error_t create_execution_plans(std::vector<HeurMode_t> const& modes);
  error_t create_execution_plan(std::int64_t engine_id, std::unordered_map<KnobType_t, std::int64_t> const& knobs);
  std::int64_t get_execution_plan_count() const;
  error_t get_engine_count(std::int64_t& count) const;
  error_t get_knobs_for_engine(std::int64_t engine_id, std::vector<Knob>& knobs) const;
  error_t get_engine_and_knobs_at_index(std::int64_t index, std::int64_t& engine_id,
                                        std::unordered_map<KnobType_t, std::int64_t>& knobs) const;
  error_t check_support();
  error_t check_support(handle_t) { return check_support(); }
  error_t build_plans(BuildPlanPolicy_t policy = BuildPlanPolicy_t::HEURISTICS_CHOICE, bool do_multithreaded_builds = false);
  error_t build_plans(handle_t const&, BuildPlanPolicy_t policy = BuildPlanPolicy_t::HEURISTICS_CHOICE,
                      bool do_multithreaded_builds = false) {
    return build_plans(policy, do_multithreaded_builds);
  }
  error_t build_plan_at_index(std::int64_t index);
  error_t build_plan_at_index(handle_t const&, std::int64_t index) { return build_plan_at_index(index); }
  error_t build(handle_t const& handle, std::vector<HeurMode_t> const& modes,
                BuildPlanPolicy_t policy = BuildPlanPolicy_t::HEURISTICS_CHOICE, bool do_multithreaded_builds = false);
  error_t build(std::vector<HeurMode_t> const& modes, BuildPlanPolicy_t policy = BuildPlanPolicy_t::HEURISTICS_CHOICE,
                bool do_multithreaded_builds = false);

  // ---- queries ---------------------------------------------------------------------------------------------------------
  error_t get_workspace_size(std::int64_t& bytes) const;
  std::int64_t get_workspace_size() const;
  error_t get_workspace_size_plan_at_index(std::int64_t index, std::int64_t& bytes) const;
  std::int64_t get_workspace_size_plan_at_index(std::int64_t index) const;
  error_t get_workspace_size(handle_t handle, std::int64_t& bytes, Ints const& override_uids,
                             std::vector<Ints> const& override_shapes, std::vector<Ints> const& override_strides) const;
  error_t get_workspace_size_plan_at_index(handle_t handle, std::int64_t index, std::int64_t& bytes, Ints const& override_uids,
                                           std::vector<Ints> const& override_shapes,
                                           std::vector<Ints> const& override_strides) const;
  std::int64_t get_autotune_workspace_size() const;
  error_t get_plan_name(std::string& name) const;
  error_t get_plan_name_at_index(std::int64_t index, std::string& name) const;
  error_t get_behavior_notes(std::vector<BehaviorNote_t>& notes) const;
  error_t get_behavior_notes_for_plan_at_index(std::int64_t index, std::vector<BehaviorNote_t>& notes) const;
  /// Extensions.
  error_t get_numeric_notes(std::vector<NumericalNote_t>& notes) const;
  error_t get_numeric_notes_for_plan_at_index(std::int64_t index, std::vector<NumericalNote_t>& notes) const;
  std::int64_t get_selected_plan_index() const;  ///< -1 before a plan is built
  /// What runs and why: the steps this graph lowers to, and for each convolution its one-line problem and every engine's
  /// verdict with the reason. Works from validate() on.
  std::string explain() const;

  // ---- filters: after create_execution_plans, before check_support -------------------------------------------------------
  Graph& deselect_workspace_greater_than(std::int64_t bytes);
  Graph& deselect_shared_mem_greater_than(std::int64_t bytes);
  Graph& deselect_engines(std::vector<std::string> const& names);
  Graph& select_behavior_notes(std::vector<BehaviorNote_t> const& notes);
  Graph& deselect_behavior_notes(std::vector<BehaviorNote_t> const& notes);
  Graph& select_numeric_notes(std::vector<NumericalNote_t> const& notes);
  Graph& deselect_numeric_notes(std::vector<NumericalNote_t> const& notes);

  // ---- execution: const and thread-safe ----------------------------------------------------------------------------------
  error_t execute(handle_t handle, TensorMap const& pointers, void* workspace) const;
  error_t execute(handle_t handle, UidMap const& pointers, void* workspace) const;
  error_t execute(handle_t handle, UidMap const& pointers, void* workspace, Ints const& override_uids,
                  std::vector<Ints> const& override_shapes, std::vector<Ints> const& override_strides) const;
  /// `pointers` in the order of get_variant_pack_uids_sorted().
  error_t execute(handle_t handle, void** pointers, int count, void* workspace) const;
  /// Extension: every buffer is checked against the tensor it is bound to (type, size, strides, device, alignment).
  error_t execute(handle_t handle, std::unordered_map<uid_t, BoundBuffer> const& buffers, void* workspace) const;
  error_t execute_plan_at_index(handle_t handle, TensorMap const& pointers, void* workspace, std::int64_t index) const;
  error_t execute_plan_at_index(handle_t handle, UidMap const& pointers, void* workspace, std::int64_t index,
                                Ints const& override_uids = {}, std::vector<Ints> const& override_shapes = {},
                                std::vector<Ints> const& override_strides = {}) const;
  error_t execute_plan_at_index(handle_t handle, void** pointers, int count, void* workspace, std::int64_t index,
                                Ints const& override_uids = {}, std::vector<Ints> const& override_shapes = {},
                                std::vector<Ints> const& override_strides = {}) const;
  error_t execute_plan_at_index(handle_t handle, std::unordered_map<uid_t, BoundBuffer> const& buffers, void* workspace,
                                std::int64_t index, Ints const& override_uids = {},
                                std::vector<Ints> const& override_shapes = {},
                                std::vector<Ints> const& override_strides = {}) const;
  /// Extension: the checks of execute(BoundBuffer) alone.
  error_t check_bindings(handle_t handle, std::unordered_map<uid_t, BoundBuffer> const& buffers) const;
  error_t prepare_variant_pack_template();
  std::vector<std::int64_t> get_variant_pack_uids_sorted() const;
  error_t warmup(handle_t handle) const;
  /// Times every built plan on scratch outputs (the caller's outputs are never written), sorts plans by time, selects the
  /// fastest. `workspace`: get_autotune_workspace_size() bytes.
  error_t autotune(handle_t handle, UidMap const& pointers, void* workspace, void* user_impl = nullptr);
  error_t autotune(handle_t handle, TensorMap const& pointers, void* workspace, void* user_impl = nullptr);

  error_t populate_cuda_graph(handle_t handle, UidMap const& pointers, void* workspace, CUgraph_st* graph) const;
  error_t populate_cuda_graph(handle_t handle, TensorMap const& pointers, void* workspace, CUgraph_st* graph) const;
  error_t update_cuda_graph(handle_t handle, UidMap const& pointers, void* workspace, CUgraph_st* graph) const;
  error_t update_cuda_graph(handle_t handle, TensorMap const& pointers, void* workspace, CUgraph_st* graph) const;
  bool cuda_graph_direct_population_eligible() const;

  // ---- text and bytes ------------------------------------------------------------------------------------------------------
  /// The graph with its selected plan. Reads back with deserialize(handle, bytes).
  error_t serialize(std::vector<std::uint8_t>& data, bool serialize_structure = true) const;
  error_t deserialize(handle_t handle, std::vector<std::uint8_t> const& data, bool enforce_precompiled = false,
                      bool run_warmup = true);
  error_t deserialize(std::vector<std::uint8_t> const& data, bool enforce_precompiled = false);
  /// Extension: JSON 2.0 as text (1.0 is read too).
  error_t serialize_text(std::string& text) const;
  error_t deserialize_text(std::string const& text, bool enforce_precompiled = false);

  template <class Json, if_json<Json> = 0>
  void serialize(Json& json) const {
    std::string text;
    if (serialize_text(text).is_good()) json = Json::parse(text, nullptr, false);
  }
  template <class Json, if_json<Json> = 0>
  error_t deserialize(Json const& json, bool enforce_precompiled = false) {
    return deserialize_text(text_of(json), enforce_precompiled);
  }
  template <class Json, if_json<Json> = 0>
  error_t deserialize(handle_t handle, Json const& json, bool enforce_precompiled = false, bool run_warmup = true) {
    OCTAVO_RETURN_IF_ERROR(deserialize_text(text_of(json), enforce_precompiled));
    return adopt(handle, run_warmup);
  }

  std::size_t key();
  std::string print() const;

  struct Impl;

 private:
  error_t adopt(handle_t handle, bool run_warmup);

  std::unique_ptr<Impl> impl_;
};

std::ostream& operator<<(std::ostream& os, Graph const& graph);
std::ostream& operator<<(std::ostream& os, Tensor_attributes const& tensor);

}  // namespace octavo::graph
