// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// The enumerators' own names, as JSON and messages spell them.

#include <cstddef>
#include <string>

#include "octavo/graph/enums.h"

namespace octavo {
namespace {

template <class E>
struct Row {
  E value;
  const char* name;
};

template <class E, std::size_t N>
const char* name_of(const Row<E> (&table)[N], E value) {
  for (const Row<E>& row : table)
    if (row.value == value) return row.name;
  return "UNKNOWN";
}

template <class E, std::size_t N>
bool value_of(const Row<E> (&table)[N], const std::string& text, E& out) {
  for (const Row<E>& row : table) {
    if (text == row.name) return out = row.value, true;
  }
  return false;
}

constexpr Row<DataType_t> kDataType[] = {{DataType_t::NOT_SET, "NOT_SET"},
                                         {DataType_t::FLOAT, "FLOAT"},
                                         {DataType_t::DOUBLE, "DOUBLE"},
                                         {DataType_t::HALF, "HALF"},
                                         {DataType_t::INT8, "INT8"},
                                         {DataType_t::INT32, "INT32"},
                                         {DataType_t::INT8x4, "INT8x4"},
                                         {DataType_t::UINT8, "UINT8"},
                                         {DataType_t::UINT8x4, "UINT8x4"},
                                         {DataType_t::INT8x32, "INT8x32"},
                                         {DataType_t::BFLOAT16, "BFLOAT16"},
                                         {DataType_t::INT64, "INT64"},
                                         {DataType_t::BOOLEAN, "BOOLEAN"},
                                         {DataType_t::BYTE_BOOLEAN, "BYTE_BOOLEAN"},
                                         {DataType_t::FP8_E4M3, "FP8_E4M3"},
                                         {DataType_t::FP8_E5M2, "FP8_E5M2"},
                                         {DataType_t::FAST_FLOAT_FOR_FP8, "FAST_FLOAT_FOR_FP8"},
                                         {DataType_t::FP8_E8M0, "FP8_E8M0"},
                                         {DataType_t::FP8_E5M3, "FP8_E5M3"},
                                         {DataType_t::FP4_E2M1, "FP4_E2M1"},
                                         {DataType_t::INT4, "INT4"},
                                         {DataType_t::COMPLEX_FP32, "COMPLEX_FP32"},
                                         {DataType_t::COMPLEX_FP64, "COMPLEX_FP64"}};

constexpr Row<ConvolutionMode_t> kConvolutionMode[] = {{ConvolutionMode_t::NOT_SET, "NOT_SET"},
                                                       {ConvolutionMode_t::CONVOLUTION, "CONVOLUTION"},
                                                       {ConvolutionMode_t::CROSS_CORRELATION, "CROSS_CORRELATION"}};

constexpr Row<PointwiseMode_t> kPointwiseMode[] = {{PointwiseMode_t::NOT_SET, "NOT_SET"},
                                                   {PointwiseMode_t::ADD, "ADD"},
                                                   {PointwiseMode_t::MUL, "MUL"},
                                                   {PointwiseMode_t::SQRT, "SQRT"},
                                                   {PointwiseMode_t::MAX, "MAX"},
                                                   {PointwiseMode_t::MIN, "MIN"},
                                                   {PointwiseMode_t::RELU_FWD, "RELU_FWD"},
                                                   {PointwiseMode_t::TANH_FWD, "TANH_FWD"},
                                                   {PointwiseMode_t::SIGMOID_FWD, "SIGMOID_FWD"},
                                                   {PointwiseMode_t::ELU_FWD, "ELU_FWD"},
                                                   {PointwiseMode_t::GELU_FWD, "GELU_FWD"},
                                                   {PointwiseMode_t::SOFTPLUS_FWD, "SOFTPLUS_FWD"},
                                                   {PointwiseMode_t::SWISH_FWD, "SWISH_FWD"},
                                                   {PointwiseMode_t::RELU_BWD, "RELU_BWD"},
                                                   {PointwiseMode_t::TANH_BWD, "TANH_BWD"},
                                                   {PointwiseMode_t::SIGMOID_BWD, "SIGMOID_BWD"},
                                                   {PointwiseMode_t::ELU_BWD, "ELU_BWD"},
                                                   {PointwiseMode_t::GELU_BWD, "GELU_BWD"},
                                                   {PointwiseMode_t::SOFTPLUS_BWD, "SOFTPLUS_BWD"},
                                                   {PointwiseMode_t::SWISH_BWD, "SWISH_BWD"},
                                                   {PointwiseMode_t::ERF, "ERF"},
                                                   {PointwiseMode_t::IDENTITY, "IDENTITY"},
                                                   {PointwiseMode_t::GELU_APPROX_TANH_BWD, "GELU_APPROX_TANH_BWD"},
                                                   {PointwiseMode_t::GELU_APPROX_TANH_FWD, "GELU_APPROX_TANH_FWD"},
                                                   {PointwiseMode_t::GEN_INDEX, "GEN_INDEX"},
                                                   {PointwiseMode_t::BINARY_SELECT, "BINARY_SELECT"},
                                                   {PointwiseMode_t::EXP, "EXP"},
                                                   {PointwiseMode_t::LOG, "LOG"},
                                                   {PointwiseMode_t::NEG, "NEG"},
                                                   {PointwiseMode_t::MOD, "MOD"},
                                                   {PointwiseMode_t::POW, "POW"},
                                                   {PointwiseMode_t::ABS, "ABS"},
                                                   {PointwiseMode_t::CEIL, "CEIL"},
                                                   {PointwiseMode_t::COS, "COS"},
                                                   {PointwiseMode_t::FLOOR, "FLOOR"},
                                                   {PointwiseMode_t::RSQRT, "RSQRT"},
                                                   {PointwiseMode_t::SIN, "SIN"},
                                                   {PointwiseMode_t::LOGICAL_NOT, "LOGICAL_NOT"},
                                                   {PointwiseMode_t::TAN, "TAN"},
                                                   {PointwiseMode_t::SUB, "SUB"},
                                                   {PointwiseMode_t::ADD_SQUARE, "ADD_SQUARE"},
                                                   {PointwiseMode_t::DIV, "DIV"},
                                                   {PointwiseMode_t::CMP_EQ, "CMP_EQ"},
                                                   {PointwiseMode_t::CMP_NEQ, "CMP_NEQ"},
                                                   {PointwiseMode_t::CMP_GT, "CMP_GT"},
                                                   {PointwiseMode_t::CMP_GE, "CMP_GE"},
                                                   {PointwiseMode_t::CMP_LT, "CMP_LT"},
                                                   {PointwiseMode_t::CMP_LE, "CMP_LE"},
                                                   {PointwiseMode_t::LOGICAL_AND, "LOGICAL_AND"},
                                                   {PointwiseMode_t::LOGICAL_OR, "LOGICAL_OR"},
                                                   {PointwiseMode_t::RECIPROCAL, "RECIPROCAL"}};

constexpr Row<ReductionMode_t> kReductionMode[] = {
    {ReductionMode_t::NOT_SET, "NOT_SET"}, {ReductionMode_t::ADD, "ADD"},
    {ReductionMode_t::MUL, "MUL"},         {ReductionMode_t::MIN, "MIN"},
    {ReductionMode_t::MAX, "MAX"},         {ReductionMode_t::AMAX, "AMAX"},
    {ReductionMode_t::AVG, "AVG"},         {ReductionMode_t::NORM1, "NORM1"},
    {ReductionMode_t::NORM2, "NORM2"},     {ReductionMode_t::MUL_NO_ZEROS, "MUL_NO_ZEROS"}};

constexpr Row<BehaviorNote_t> kBehaviorNote[] = {
    {BehaviorNote_t::NOT_SET, "NOT_SET"},
    {BehaviorNote_t::RUNTIME_COMPILATION, "RUNTIME_COMPILATION"},
    {BehaviorNote_t::REQUIRES_FILTER_INT8x32_REORDER, "REQUIRES_FILTER_INT8x32_REORDER"},
    {BehaviorNote_t::REQUIRES_BIAS_INT8x32_REORDER, "REQUIRES_BIAS_INT8x32_REORDER"},
    {BehaviorNote_t::SUPPORTS_CUDA_GRAPH_NATIVE_API, "SUPPORTS_CUDA_GRAPH_NATIVE_API"},
    {BehaviorNote_t::CUBLASLT_DEPENDENCY, "CUBLASLT_DEPENDENCY"}};

constexpr Row<NumericalNote_t> kNumericalNote[] = {
    {NumericalNote_t::NOT_SET, "NOT_SET"},
    {NumericalNote_t::TENSOR_CORE, "TENSOR_CORE"},
    {NumericalNote_t::DOWN_CONVERT_INPUTS, "DOWN_CONVERT_INPUTS"},
    {NumericalNote_t::REDUCED_PRECISION_REDUCTION, "REDUCED_PRECISION_REDUCTION"},
    {NumericalNote_t::FFT, "FFT"},
    {NumericalNote_t::NONDETERMINISTIC, "NONDETERMINISTIC"},
    {NumericalNote_t::WINOGRAD, "WINOGRAD"},
    {NumericalNote_t::WINOGRAD_TILE_4x4, "WINOGRAD_TILE_4x4"},
    {NumericalNote_t::WINOGRAD_TILE_6x6, "WINOGRAD_TILE_6x6"},
    {NumericalNote_t::WINOGRAD_TILE_13x13, "WINOGRAD_TILE_13x13"},
    {NumericalNote_t::STRICT_NAN_PROP, "STRICT_NAN_PROP"}};

constexpr Row<HeurMode_t> kHeurMode[] = {
    {HeurMode_t::A, "A"}, {HeurMode_t::B, "B"}, {HeurMode_t::FALLBACK, "FALLBACK"}, {HeurMode_t::OPENSOURCE, "OPENSOURCE"}};

constexpr Row<BuildPlanPolicy_t> kBuildPlanPolicy[] = {{BuildPlanPolicy_t::HEURISTICS_CHOICE, "HEURISTICS_CHOICE"},
                                                       {BuildPlanPolicy_t::ALL, "ALL"}};

constexpr Row<NormFwdPhase_t> kNormFwdPhase[] = {
    {NormFwdPhase_t::NOT_SET, "NOT_SET"}, {NormFwdPhase_t::INFERENCE, "INFERENCE"}, {NormFwdPhase_t::TRAINING, "TRAINING"}};

constexpr Row<TensorReordering_t> kTensorReordering[] = {{TensorReordering_t::NONE, "NONE"},
                                                         {TensorReordering_t::INT8x32, "INT8x32"},
                                                         {TensorReordering_t::F16x16, "F16x16"},
                                                         {TensorReordering_t::F8_128x4, "F8_128x4"}};

constexpr Row<ReshapeMode_t> kReshapeMode[] = {
    {ReshapeMode_t::NOT_SET, "NOT_SET"}, {ReshapeMode_t::VIEW_ONLY, "VIEW_ONLY"}, {ReshapeMode_t::LOGICAL, "LOGICAL"}};

constexpr Row<ResampleMode_t> kResampleMode[] = {{ResampleMode_t::NOT_SET, "NOT_SET"},
                                                 {ResampleMode_t::AVGPOOL_EXCLUDE_PADDING, "AVGPOOL_EXCLUDE_PADDING"},
                                                 {ResampleMode_t::AVGPOOL_INCLUDE_PADDING, "AVGPOOL_INCLUDE_PADDING"},
                                                 {ResampleMode_t::BILINEAR, "BILINEAR"},
                                                 {ResampleMode_t::NEAREST, "NEAREST"},
                                                 {ResampleMode_t::MAXPOOL, "MAXPOOL"}};

constexpr Row<PaddingMode_t> kPaddingMode[] = {{PaddingMode_t::NOT_SET, "NOT_SET"},
                                               {PaddingMode_t::EDGE_VAL_PAD, "EDGE_VAL_PAD"},
                                               {PaddingMode_t::NEG_INF_PAD, "NEG_INF_PAD"},
                                               {PaddingMode_t::ZERO_PAD, "ZERO_PAD"}};

constexpr Row<KnobType_t> kKnobType[] = {{KnobType_t::NOT_SET, "NOT_SET"},
                                         {KnobType_t::SWIZZLE, "SWIZZLE"},
                                         {KnobType_t::TILE_SIZE, "TILE_SIZE"},
                                         {KnobType_t::EDGE, "EDGE"},
                                         {KnobType_t::MULTIPLY, "MULTIPLY"},
                                         {KnobType_t::SPLIT_K_BUF, "SPLIT_K_BUF"},
                                         {KnobType_t::TILEK, "TILEK"},
                                         {KnobType_t::STAGES, "STAGES"},
                                         {KnobType_t::REDUCTION_MODE, "REDUCTION_MODE"},
                                         {KnobType_t::SPLIT_K_SLC, "SPLIT_K_SLC"},
                                         {KnobType_t::IDX_MODE, "IDX_MODE"},
                                         {KnobType_t::SPECFILT, "SPECFILT"},
                                         {KnobType_t::KERNEL_CFG, "KERNEL_CFG"},
                                         {KnobType_t::WORKSPACE, "WORKSPACE"},
                                         {KnobType_t::TILE_CGA_M, "TILE_CGA_M"},
                                         {KnobType_t::TILE_CGA_N, "TILE_CGA_N"},
                                         {KnobType_t::BLOCK_SIZE, "BLOCK_SIZE"},
                                         {KnobType_t::OCCUPANCY, "OCCUPANCY"},
                                         {KnobType_t::ARRAY_SIZE_PER_THREAD, "ARRAY_SIZE_PER_THREAD"},
                                         {KnobType_t::SPLIT_COLS, "SPLIT_COLS"},
                                         {KnobType_t::TILE_ROWS, "TILE_ROWS"},
                                         {KnobType_t::TILE_COLS, "TILE_COLS"},
                                         {KnobType_t::LOAD_SIZE, "LOAD_SIZE"},
                                         {KnobType_t::CTA_COUNT, "CTA_COUNT"},
                                         {KnobType_t::STREAM_K, "STREAM_K"},
                                         {KnobType_t::SPLIT_P_SLC, "SPLIT_P_SLC"},
                                         {KnobType_t::TILE_M, "TILE_M"},
                                         {KnobType_t::TILE_N, "TILE_N"},
                                         {KnobType_t::WARP_SPEC_CFG, "WARP_SPEC_CFG"},
                                         {KnobType_t::SWAP_AB, "SWAP_AB"},
                                         {KnobType_t::INPUT_TMA_ENABLE, "INPUT_TMA_ENABLE"},
                                         {KnobType_t::OUTPUT_TMA_ENABLE, "OUTPUT_TMA_ENABLE"},
                                         {KnobType_t::TILE_CGA, "TILE_CGA"},
                                         {KnobType_t::SCHED_POLICY, "SCHED_POLICY"},
                                         {KnobType_t::PACK_GQA, "PACK_GQA"},
                                         {KnobType_t::SPLIT_KV, "SPLIT_KV"},
                                         {KnobType_t::PIPELINE_ARCH, "PIPELINE_ARCH"},
                                         {KnobType_t::MMA_TILE_M, "MMA_TILE_M"},
                                         {KnobType_t::MMA_TILE_N, "MMA_TILE_N"},
                                         {KnobType_t::MMA_TILE_K, "MMA_TILE_K"},
                                         {KnobType_t::CTA_GROUP, "CTA_GROUP"},
                                         {KnobType_t::WARPS_M, "WARPS_M"},
                                         {KnobType_t::WARPS_N, "WARPS_N"}};

}  // namespace

const char* to_string(DataType_t value) { return name_of(kDataType, value); }
const char* to_string(ConvolutionMode_t value) { return name_of(kConvolutionMode, value); }
const char* to_string(PointwiseMode_t value) { return name_of(kPointwiseMode, value); }
const char* to_string(ReductionMode_t value) { return name_of(kReductionMode, value); }
const char* to_string(BehaviorNote_t value) { return name_of(kBehaviorNote, value); }
const char* to_string(NumericalNote_t value) { return name_of(kNumericalNote, value); }
const char* to_string(HeurMode_t value) { return name_of(kHeurMode, value); }
const char* to_string(BuildPlanPolicy_t value) { return name_of(kBuildPlanPolicy, value); }
const char* to_string(NormFwdPhase_t value) { return name_of(kNormFwdPhase, value); }
const char* to_string(TensorReordering_t value) { return name_of(kTensorReordering, value); }
const char* to_string(ReshapeMode_t value) { return name_of(kReshapeMode, value); }
const char* to_string(ResampleMode_t value) { return name_of(kResampleMode, value); }
const char* to_string(PaddingMode_t value) { return name_of(kPaddingMode, value); }
const char* to_string(KnobType_t value) { return name_of(kKnobType, value); }

bool from_string(const std::string& text, DataType_t& out) { return value_of(kDataType, text, out); }
bool from_string(const std::string& text, ConvolutionMode_t& out) { return value_of(kConvolutionMode, text, out); }
bool from_string(const std::string& text, PointwiseMode_t& out) { return value_of(kPointwiseMode, text, out); }
bool from_string(const std::string& text, ReductionMode_t& out) { return value_of(kReductionMode, text, out); }
bool from_string(const std::string& text, BehaviorNote_t& out) { return value_of(kBehaviorNote, text, out); }
bool from_string(const std::string& text, NumericalNote_t& out) { return value_of(kNumericalNote, text, out); }
bool from_string(const std::string& text, HeurMode_t& out) { return value_of(kHeurMode, text, out); }
bool from_string(const std::string& text, BuildPlanPolicy_t& out) { return value_of(kBuildPlanPolicy, text, out); }
bool from_string(const std::string& text, NormFwdPhase_t& out) { return value_of(kNormFwdPhase, text, out); }
bool from_string(const std::string& text, TensorReordering_t& out) { return value_of(kTensorReordering, text, out); }
bool from_string(const std::string& text, ReshapeMode_t& out) { return value_of(kReshapeMode, text, out); }
bool from_string(const std::string& text, ResampleMode_t& out) { return value_of(kResampleMode, text, out); }
bool from_string(const std::string& text, PaddingMode_t& out) { return value_of(kPaddingMode, text, out); }
bool from_string(const std::string& text, KnobType_t& out) { return value_of(kKnobType, text, out); }

}  // namespace octavo
