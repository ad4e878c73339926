// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The enumerations that only the graph API speaks (octavo/enums.h has those that engines speak too). Integer values are
// cudnn-frontend 1.32's. C++17.

#include <cstdint>
#include <string>

#include "../enums.h"

namespace octavo {

enum class HeurMode_t : std::int32_t { A, B, FALLBACK, OPENSOURCE };
enum class BuildPlanPolicy_t : std::int32_t { HEURISTICS_CHOICE, ALL };
enum class NormFwdPhase_t : std::int32_t { NOT_SET, INFERENCE, TRAINING };
enum class TensorReordering_t : std::int32_t { NONE, INT8x32, F16x16, F8_128x4 };
enum class ReshapeMode_t : std::int32_t { NOT_SET, VIEW_ONLY, LOGICAL };
enum class ResampleMode_t : std::int32_t {
  NOT_SET,
  AVGPOOL_EXCLUDE_PADDING,
  AVGPOOL_INCLUDE_PADDING,
  BILINEAR,
  NEAREST,
  MAXPOOL
};
enum class PaddingMode_t : std::int32_t { NOT_SET, EDGE_VAL_PAD, NEG_INF_PAD, ZERO_PAD };
enum class CudaGraphRetention_t : std::int32_t { PER_GRAPH, NONE };
enum class DiagonalAlignment_t : std::int32_t { TOP_LEFT, BOTTOM_RIGHT };
enum class RngDistribution_t : std::int32_t { NOT_SET, BERNOULLI, UNIFORM, NORMAL };

enum class KnobType_t : std::int64_t {
  NOT_SET,
  SWIZZLE,
  TILE_SIZE,
  EDGE,
  MULTIPLY,
  SPLIT_K_BUF,
  TILEK,
  STAGES,
  REDUCTION_MODE,
  SPLIT_K_SLC,
  IDX_MODE,
  SPECFILT,
  KERNEL_CFG,
  WORKSPACE,
  TILE_CGA_M,
  TILE_CGA_N,
  BLOCK_SIZE,
  OCCUPANCY,
  ARRAY_SIZE_PER_THREAD,
  SPLIT_COLS,
  TILE_ROWS,
  TILE_COLS,
  LOAD_SIZE,
  CTA_COUNT,
  STREAM_K,
  SPLIT_P_SLC,
  TILE_M,
  TILE_N,
  WARP_SPEC_CFG,
  SWAP_AB,
  INPUT_TMA_ENABLE,
  OUTPUT_TMA_ENABLE,
  TILE_CGA,
  SCHED_POLICY = 1000,
  PACK_GQA,
  SPLIT_KV,
  PIPELINE_ARCH,
  MMA_TILE_M,
  MMA_TILE_N,
  MMA_TILE_K,
  CTA_GROUP,
  WARPS_M,
  WARPS_N
};

inline constexpr std::int64_t FRONTEND_KNOB_TYPE_BASE = 1000;
constexpr bool is_frontend_knob_type(KnobType_t type) { return static_cast<std::int64_t>(type) >= FRONTEND_KNOB_TYPE_BASE; }

/// One tunable of one engine: values minValue, minValue + stride, ..., maxValue.
class Knob {
 public:
  KnobType_t type = KnobType_t::NOT_SET;
  std::int64_t maxValue = 0;
  std::int64_t minValue = 0;
  std::int64_t stride = 0;
  Knob() = default;
  Knob(KnobType_t knob, std::int64_t max, std::int64_t min, std::int64_t step)
      : type(knob), maxValue(max), minValue(min), stride(step) {}
};

/// The enumerator's own name, as JSON spells it ("FLOAT", "RELU_FWD", ...); "NOT_SET" for NOT_SET.
const char* to_string(DataType_t value);
const char* to_string(ConvolutionMode_t value);
const char* to_string(PointwiseMode_t value);
const char* to_string(ReductionMode_t value);
const char* to_string(BehaviorNote_t value);
const char* to_string(NumericalNote_t value);
const char* to_string(HeurMode_t value);
const char* to_string(BuildPlanPolicy_t value);
const char* to_string(NormFwdPhase_t value);
const char* to_string(TensorReordering_t value);
const char* to_string(ReshapeMode_t value);
const char* to_string(ResampleMode_t value);
const char* to_string(PaddingMode_t value);
const char* to_string(KnobType_t value);

/// The reverse; false (and `out` untouched) when no enumerator has that name.
bool from_string(const std::string& text, DataType_t& out);
bool from_string(const std::string& text, ConvolutionMode_t& out);
bool from_string(const std::string& text, PointwiseMode_t& out);
bool from_string(const std::string& text, ReductionMode_t& out);
bool from_string(const std::string& text, BehaviorNote_t& out);
bool from_string(const std::string& text, NumericalNote_t& out);
bool from_string(const std::string& text, HeurMode_t& out);
bool from_string(const std::string& text, BuildPlanPolicy_t& out);
bool from_string(const std::string& text, NormFwdPhase_t& out);
bool from_string(const std::string& text, TensorReordering_t& out);
bool from_string(const std::string& text, ReshapeMode_t& out);
bool from_string(const std::string& text, ResampleMode_t& out);
bool from_string(const std::string& text, PaddingMode_t& out);
bool from_string(const std::string& text, KnobType_t& out);

}  // namespace octavo
