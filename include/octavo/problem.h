// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The lowered problem: plain data that every engine reads, that prints to and parses from one line of text, and whose
// 128-bit hash is the only key of every cache and table. C++20 (engine authors include this, graph programs do not).

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "octavo/enums.h"
#include "octavo/error.h"

namespace octavo {

inline constexpr int kMaxSpatial = 3;
inline constexpr int kMaxRank = kMaxSpatial + 2;

/// Dims are logical and always in the order N,C,spatial (W: K,C/g,spatial), whatever the memory layout. Strides are in
/// elements. With `vector` = v > 1 (NC/4HW4, NC/16HW16, NC/32HW32) dimension 1 is stored in blocks of v consecutive
/// elements: element c sits at (c / v) * stride[1] + c % v; the tail lanes of a last, partial block belong to no
/// element, are never read and never written.
struct TensorDesc {
  DataType_t type = DataType_t::NOT_SET;
  int rank = 0;
  std::array<std::int64_t, kMaxRank> dim{};
  std::array<std::int64_t, kMaxRank> stride{};
  std::int64_t vector = 1;

  std::int64_t elements() const;       ///< product of the dims; 0 for an empty tensor
  std::int64_t span_elements() const;  ///< 1 + the largest element offset (0 for an empty tensor): what a buffer must hold
  std::int64_t span_bytes() const;
  std::int64_t offset(const std::int64_t* index) const;  ///< element offset of one coordinate, vector layouts included
  bool operator==(const TensorDesc&) const = default;
};

enum class Direction : std::uint8_t { fprop, dgrad, wgrad };

/// The pointwise DAG behind the convolution, in SSA form. Value ids: 0 is the convolution's exact result (int32 for
/// integer inputs, float32 for f16/bf16/fp8/f32, float64 for f64); 1..operands are the operands; then the nodes in order.
struct Epilogue {
  enum class Source : std::uint8_t {
    device,       ///< a tensor in the plan's memory space, bound at execute
    host_scalar,  ///< one element in host memory, bound at execute (a by-value tensor without a stored value)
    constant      ///< `constant` below
  };
  struct Operand {
    TensorDesc desc;  ///< same rank as the result; every dim is 1 (broadcast) or the result's
    Source source = Source::device;
    double constant = 0;
    bool operator==(const Operand&) const = default;
  };
  struct Node {
    PointwiseMode_t mode = PointwiseMode_t::NOT_SET;
    std::array<int, 3> in{-1, -1, -1};       ///< value ids, -1 = unused
    DataType_t compute = DataType_t::FLOAT;  ///< FLOAT, DOUBLE, INT32 (wraps) or BOOLEAN
    /// INT8/UINT8/INT32: the value is rounded to nearest even and saturated to it. Anything else: stays at compute precision
    /// (a virtual tensor declared HALF is *not* a rounding point: one rounding, at the output cast).
    DataType_t result = DataType_t::FLOAT;
    double lower_clip = 0;
    double upper_clip = 0;
    bool has_upper_clip = false;
    double slope = 0;  ///< RELU_*: below lower_clip, y = lower_clip + slope * (x - lower_clip)
    double alpha = 1;  ///< ELU alpha, SWISH beta, SOFTPLUS beta
    int axis = -1;     ///< GEN_INDEX
    bool operator==(const Node&) const = default;
  };
  struct Output {
    int value = 0;
    TensorDesc desc;  ///< dims equal the result's
    bool operator==(const Output&) const = default;
  };
  std::vector<Operand> operands;
  std::vector<Node> nodes;
  std::vector<Output> outputs;  ///< at least one

  int first_node() const { return 1 + static_cast<int>(operands.size()); }
  bool identity() const { return nodes.empty(); }  ///< the outputs are casts of the accumulator
  bool operator==(const Epilogue&) const = default;
};

/// Stored zero points of the convolution's inputs (numerics.md). y's zero point is part of the epilogue.
struct ZeroPoints {
  enum class Filter : std::uint8_t { none, scalar, per_channel };
  std::int32_t x = 0;
  Filter filter = Filter::none;
  std::int32_t w = 0;  ///< when scalar; per_channel values are int32[K], bound at execute as Args::w_zero_points
  bool operator==(const ZeroPoints&) const = default;
};

struct Hash128 {
  std::uint64_t hi = 0, lo = 0;
  auto operator<=>(const Hash128&) const = default;
  std::string hex() const;
};

/// x: N,C,spatial; w: K,C/g,spatial; y: N,K,spatial. The one that `direction` computes has type = accumulator type and
/// no strides: where and as what it is stored is in epilogue.outputs.
struct Problem {
  Direction direction = Direction::fprop;
  TensorDesc x, w, y;
  std::array<std::int64_t, kMaxSpatial> pre_pad{}, post_pad{}, stride{1, 1, 1}, dilation{1, 1, 1};
  ConvolutionMode_t mode = ConvolutionMode_t::CROSS_CORRELATION;
  /// FLOAT, DOUBLE or INT32: what the sum is carried in. FAST_FLOAT_FOR_FP8 asks for TF32 on f32 inputs.
  DataType_t compute = DataType_t::NOT_SET;
  ZeroPoints zero_points;
  Epilogue epilogue;

  int spatial() const { return x.rank - 2; }
  std::int64_t groups() const { return w.dim[1] == 0 ? 1 : x.dim[1] / w.dim[1]; }
  const TensorDesc& result() const;  ///< x, w or y: dims of what is computed
  TensorDesc& result();
  const TensorDesc& input_a() const;         ///< fprop x, dgrad y, wgrad x
  const TensorDesc& input_b() const;         ///< fprop w, dgrad w, wgrad y
  std::int64_t accumulation_length() const;  ///< fprop C/g*RS, dgrad K/g*RS, wgrad N*PQ
  double operations() const;                 ///< 2 * multiply-adds, padding counted (as peers count)

  /// Every rule of numerics.md that a problem must meet. The message names the tensor or attribute and its value.
  error_t validate() const;
  std::string to_string() const;  ///< one line; parse(to_string()) == *this
  Hash128 hash() const;
  bool operator==(const Problem&) const = default;
};

/// Parses the one-line grammar of docs/problem-grammar.md. On error: the offending token and the nearest valid spelling.
error_t parse_problem(std::string_view line, Problem& out);

const char* to_string(Direction direction);
const char* short_name(DataType_t type);  ///< "s8", "bf16", ...; "none" for NOT_SET
bool parse_type(std::string_view text, DataType_t& out);
std::int64_t element_bytes(DataType_t type);          ///< 0 for NOT_SET and sub-byte types
bool is_integer(DataType_t type);                     ///< INT8, UINT8, INT32, INT64
DataType_t accumulator_type(const Problem& problem);  ///< INT32, FLOAT or DOUBLE: the type of value 0

/// Packed strides for a layout name: nchw, nhwc (also for 1-D and 3-D: channels last), nc4, nc16, nc32. Sets stride and vector.
bool set_layout(TensorDesc& desc, std::string_view layout);
/// The layout name if the strides are exactly that packed layout (nhwc wins where size-1 dims make two names true), else "".
std::string layout_name(const TensorDesc& desc);

}  // namespace octavo
