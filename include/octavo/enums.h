// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The enumerations that both the graph API and the engines speak. Values and order are cudnn-frontend 1.32's, because
// programs and serialised graphs see the integers. C++17: this header is part of the public API.

#include <cstdint>

namespace octavo {

/// Element types. Short names in the problem grammar: f32 f64 f16 s8 s32 u8 bf16 s64 bool e4m3 e5m2.
enum class DataType_t : std::int32_t {
  NOT_SET,
  FLOAT,
  DOUBLE,
  HALF,
  INT8,
  INT32,
  INT8x4,
  UINT8,
  UINT8x4,
  INT8x32,
  BFLOAT16,
  INT64,
  BOOLEAN,
  BYTE_BOOLEAN,
  FP8_E4M3,
  FP8_E5M2,
  FAST_FLOAT_FOR_FP8,
  FP8_E8M0,
  FP8_E5M3,
  FP4_E2M1,
  INT4,
  COMPLEX_FP32,
  COMPLEX_FP64
};

enum class ConvolutionMode_t : std::int32_t { NOT_SET, CONVOLUTION, CROSS_CORRELATION };

enum class PointwiseMode_t : std::int32_t {
  NOT_SET,
  ADD,
  MUL,
  SQRT,
  MAX,
  MIN,
  RELU_FWD,
  TANH_FWD,
  SIGMOID_FWD,
  ELU_FWD,
  GELU_FWD,
  SOFTPLUS_FWD,
  SWISH_FWD,
  RELU_BWD,
  TANH_BWD,
  SIGMOID_BWD,
  ELU_BWD,
  GELU_BWD,
  SOFTPLUS_BWD,
  SWISH_BWD,
  ERF,
  IDENTITY,
  GELU_APPROX_TANH_BWD,
  GELU_APPROX_TANH_FWD,
  GEN_INDEX,
  BINARY_SELECT,
  EXP,
  LOG,
  NEG,
  MOD,
  POW,
  ABS,
  CEIL,
  COS,
  FLOOR,
  RSQRT,
  SIN,
  LOGICAL_NOT,
  TAN,
  SUB,
  ADD_SQUARE,
  DIV,
  CMP_EQ,
  CMP_NEQ,
  CMP_GT,
  CMP_GE,
  CMP_LT,
  CMP_LE,
  LOGICAL_AND,
  LOGICAL_OR,
  RECIPROCAL
};

enum class ReductionMode_t : std::int32_t { NOT_SET, ADD, MUL, MIN, MAX, AMAX, AVG, NORM1, NORM2, MUL_NO_ZEROS };

enum class BehaviorNote_t : std::int32_t {
  NOT_SET,
  RUNTIME_COMPILATION,
  REQUIRES_FILTER_INT8x32_REORDER,
  REQUIRES_BIAS_INT8x32_REORDER,
  SUPPORTS_CUDA_GRAPH_NATIVE_API,
  CUBLASLT_DEPENDENCY
};

enum class NumericalNote_t : std::int32_t {
  NOT_SET,
  TENSOR_CORE,
  DOWN_CONVERT_INPUTS,
  REDUCED_PRECISION_REDUCTION,
  FFT,
  NONDETERMINISTIC,
  WINOGRAD,
  WINOGRAD_TILE_4x4,
  WINOGRAD_TILE_6x6,
  WINOGRAD_TILE_13x13,
  STRICT_NAN_PROP
};

}  // namespace octavo
