// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Operations that validate() refuses by name. Each leaves a node, so that the refusal can say which one it was, and virtual
// outputs, so that the program can go on building its graph until then.

#include <initializer_list>
#include <utility>

#include "graph/impl.h"

namespace octavo::graph {
namespace {

template <std::size_t N, class A>
std::array<TensorPtr, N> add_foreign(Graph::Impl& g, const char* tag, const char* call, A const& attributes,
                                     std::vector<TensorPtr> const& inputs, const char* const (&ports)[N]) {
  Node n;
  n.kind = NodeKind::foreign;
  n.tag = tag;
  n.call = call;
  n.name = attributes.name.empty() ? std::to_string(g.nodes.size()) : attributes.name;
  n.context = g.context;
  n.declared_compute = attributes.compute_data_type;
  for (std::size_t i = 0; i < inputs.size(); ++i) n.inputs.push_back({"IN_" + std::to_string(i), inputs[i]});
  std::array<TensorPtr, N> out;
  for (std::size_t i = 0; i < N; ++i) out[i] = g.add_output(n, ports[i], n.name + "::" + ports[i]);
  g.nodes.push_back(std::move(n));
  g.invalidate();
  return out;
}

}  // namespace

std::array<TensorPtr, 6> Graph::bn_finalize(TensorPtr sum, TensorPtr sq_sum, TensorPtr scale, TensorPtr bias, TensorPtr epsilon,
                                            TensorPtr accum_count, BN_finalize_attributes a) {
  return add_foreign(*impl_, "BN_FINALIZE", "bn_finalize", a, {sum, sq_sum, scale, bias, epsilon, accum_count},
                     {"EQ_SCALE", "EQ_BIAS", "MEAN", "INV_VARIANCE", "NEXT_RUNNING_MEAN", "NEXT_RUNNING_VAR"});
}
std::array<TensorPtr, 5> Graph::dbn_weight(TensorPtr dy, TensorPtr x, TensorPtr mean, TensorPtr inv_variance, TensorPtr scale,
                                           DBN_weight_attributes a) {
  return add_foreign(*impl_, "DBN_WEIGHT", "dbn_weight", a, {dy, x, mean, inv_variance, scale},
                     {"DSCALE", "DBIAS", "EQ_SCALE_DY", "EQ_SCALE_X", "EQ_BIAS"});
}
std::array<TensorPtr, 5> Graph::batchnorm(TensorPtr x, TensorPtr scale, TensorPtr bias, Batchnorm_attributes a) {
  return add_foreign(*impl_, "BATCHNORM", "batchnorm", a, {x, scale, bias},
                     {"Y", "MEAN", "INV_VARIANCE", "NEXT_RUNNING_MEAN", "NEXT_RUNNING_VAR"});
}
TensorPtr Graph::batchnorm_inference(TensorPtr x, TensorPtr mean, TensorPtr inv_variance, TensorPtr scale, TensorPtr bias,
                                     Batchnorm_inference_attributes a) {
  return add_foreign(*impl_, "BATCHNORM_INFERENCE", "batchnorm_inference", a, {x, mean, inv_variance, scale, bias}, {"Y"})[0];
}
std::array<TensorPtr, 3> Graph::batchnorm_backward(TensorPtr dy, TensorPtr x, TensorPtr scale,
                                                   Batchnorm_backward_attributes a) {
  return add_foreign(*impl_, "DBN", "batchnorm_backward", a, {dy, x, scale}, {"DX", "DSCALE", "DBIAS"});
}
std::array<TensorPtr, 3> Graph::layernorm(TensorPtr x, TensorPtr scale, TensorPtr bias, Layernorm_attributes a) {
  return add_foreign(*impl_, "LAYERNORM", "layernorm", a, {x, scale, bias}, {"Y", "MEAN", "INV_VARIANCE"});
}
std::array<TensorPtr, 3> Graph::layernorm_backward(TensorPtr dy, TensorPtr x, TensorPtr scale,
                                                   Layernorm_backward_attributes a) {
  return add_foreign(*impl_, "DLN", "layernorm_backward", a, {dy, x, scale}, {"DX", "DSCALE", "DBIAS"});
}
std::array<TensorPtr, 3> Graph::instancenorm(TensorPtr x, TensorPtr scale, TensorPtr bias, Instancenorm_attributes a) {
  return add_foreign(*impl_, "INSTANCENORM", "instancenorm", a, {x, scale, bias}, {"Y", "MEAN", "INV_VARIANCE"});
}
std::array<TensorPtr, 3> Graph::instancenorm_backward(TensorPtr dy, TensorPtr x, TensorPtr scale,
                                                      Instancenorm_backward_attributes a) {
  return add_foreign(*impl_, "DIN", "instancenorm_backward", a, {dy, x, scale}, {"DX", "DSCALE", "DBIAS"});
}
std::array<TensorPtr, 2> Graph::rmsnorm(TensorPtr x, TensorPtr scale, Rmsnorm_attributes a) {
  return add_foreign(*impl_, "RMSNORM", "rmsnorm", a, {x, scale}, {"Y", "INV_VARIANCE"});
}
std::array<TensorPtr, 3> Graph::rmsnorm_backward(TensorPtr dy, TensorPtr x, TensorPtr scale, TensorPtr inv_variance,
                                                 Rmsnorm_backward_attributes a) {
  return add_foreign(*impl_, "DRMSNORM", "rmsnorm_backward", a, {dy, x, scale, inv_variance}, {"DX", "DSCALE", "DBIAS"});
}
TensorPtr Graph::matmul(TensorPtr a, TensorPtr b, Matmul_attributes attributes) {
  return add_foreign(*impl_, "MATMUL", "matmul", attributes, {a, b}, {"C"})[0];
}
std::array<TensorPtr, 2> Graph::matmul_fp8(TensorPtr a, TensorPtr b, TensorPtr descale_a, TensorPtr descale_b,
                                           TensorPtr scale_c, Matmul_fp8_attributes attributes) {
  return add_foreign(*impl_, "MATMUL_FP8", "matmul_fp8", attributes, {a, b, descale_a, descale_b, scale_c}, {"C", "Amax_C"});
}
std::array<TensorPtr, 2> Graph::sdpa(TensorPtr q, TensorPtr k, TensorPtr v, SDPA_attributes a) {
  return add_foreign(*impl_, "SDPA", "sdpa", a, {q, k, v}, {"O", "Stats"});
}
std::array<TensorPtr, 3> Graph::sdpa_backward(TensorPtr q, TensorPtr k, TensorPtr v, TensorPtr o, TensorPtr d_o,
                                              TensorPtr stats, SDPA_backward_attributes a) {
  return add_foreign(*impl_, "SDPA_BWD", "sdpa_backward", a, {q, k, v, o, d_o, stats}, {"dQ", "dK", "dV"});
}
std::array<TensorPtr, 4> Graph::sdpa_fp8(TensorPtr q, TensorPtr k, TensorPtr v, TensorPtr descale_q, TensorPtr descale_k,
                                         TensorPtr descale_v, TensorPtr descale_s, TensorPtr scale_s, TensorPtr scale_o,
                                         SDPA_fp8_attributes a) {
  return add_foreign(*impl_, "SDPA_FP8_FWD", "sdpa_fp8", a,
                     {q, k, v, descale_q, descale_k, descale_v, descale_s, scale_s, scale_o},
                     {"O", "Stats", "Amax_S", "Amax_O"});
}
TensorPtr Graph::rng(TensorPtr seed, TensorPtr offset, Rng_attributes a) {
  return add_foreign(*impl_, "RNG", "rng", a, {seed, offset}, {"Y"})[0];
}
std::array<TensorPtr, 2> Graph::block_scale_quantize(TensorPtr x, Block_scale_quantize_attributes a) {
  return add_foreign(*impl_, "BLOCK_SCALE_QUANTIZE", "block_scale_quantize", a, {x}, {"Y", "scale"});
}
TensorPtr Graph::block_scale_dequantize(TensorPtr x, TensorPtr scale, Block_scale_dequantize_attributes a) {
  return add_foreign(*impl_, "BLOCK_SCALE_DEQUANTIZE", "block_scale_dequantize", a, {x, scale}, {"Y"})[0];
}
TensorPtr Graph::concatenate(std::vector<TensorPtr> inputs, Concatenate_attributes a) {
  return add_foreign(*impl_, "CONCATENATE", "concatenate", a, inputs, {"Y"})[0];
}
std::array<TensorPtr, 2> Graph::resample(TensorPtr x, Resample_attributes a) {
  return add_foreign(*impl_, "RESAMPLE", "resample", a, {x}, {"Y", "Index"});
}
TensorPtr Graph::reshape(TensorPtr x, Reshape_attributes a) {
  return add_foreign(*impl_, "RESHAPE", "reshape", a, {x}, {"Y"})[0];
}
TensorPtr Graph::slice(TensorPtr x, Slice_attributes a) { return add_foreign(*impl_, "SLICE", "slice", a, {x}, {"Y"})[0]; }
TensorPtr Graph::transpose(TensorPtr x, Transpose_attributes a) {
  return add_foreign(*impl_, "TRANSPOSE", "transpose", a, {x}, {"Y"})[0];
}

}  // namespace octavo::graph
