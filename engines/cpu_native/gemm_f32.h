// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Float microkernels of the CPU engine and the packing that feeds them. bf16 and f16 are widened to f32 while packing: the
// products are then exact and denormals survive, and on Intel processors without AMX it is also twice as fast as
// vdpbf16ps (docs/design/0060-cpu-float.md). Strides and offsets are in bytes.

#include <cstdint>

#include "octavo/device.h"
#include "octavo/enums.h"

namespace octavo::cpu_native {

/// A tap: where its input begins, in bytes from a row's, and which part of the filter it meets.
struct FilterTap {
  std::int64_t a = 0, index = 0;
};

/// c[i][:] (+)= sum over taps t and steps d of a[taps[t].a + i * a_row + 4 * d] * b[taps[t].index][d][:]
struct TapsArgs {
  const void* a = nullptr;
  std::int64_t a_row = 0;
  const FilterTap* taps = nullptr;
  std::int64_t n_taps = 0;
  std::int64_t depth = 0;
  const float* b = nullptr;  ///< depth rows of the kernel's width for each tap, contiguous, 64-byte aligned
  float* c = nullptr;
  std::int64_t c_row = 0;
  bool accumulate = false;
  int tail = 0;  ///< columns to store in the last vector; 0 = all
  /// Asked for ahead of time: a line a step.
  const char* ahead = nullptr;
  std::int64_t ahead_step = 0;
};

/// c[i][:] (+)= sum over images n, segments s and steps d of
/// a[n * a_image + s * a_segment + d * a_step + 4 * i] * b[n * b_image + s * b_segment + d * b_step + :]
struct OuterArgs {
  const void* a = nullptr;
  std::int64_t a_image = 0, a_segment = 0, a_step = 0;
  const void* b = nullptr;
  std::int64_t b_image = 0, b_segment = 0, b_step = 0;
  std::int64_t images = 1, segments = 0, depth = 0;
  float* c = nullptr;
  std::int64_t c_row = 0;
  bool accumulate = false;
  int tail = 0;
  const char* ahead = nullptr;  ///< asked for ahead of time: a line a step
  std::int64_t ahead_step = 0;
};

/// One vector of channels or two, every lane its own group. Strip points interleave the two: step d of vector v is 2 * d + v
/// vectors into the point.
/// c[i][v][:] = sum over t, d of a[taps[t] + i * a_row][d][v][:] * b[v * b_vector + t * depth + d][:]
struct LanesArgs {
  const void* a = nullptr;
  std::int64_t a_row = 0;
  const std::int64_t* taps = nullptr;
  std::int64_t n_taps = 0, depth = 0;
  const float* b = nullptr;
  std::int64_t b_vector = 0;
  float* c = nullptr;
  std::int64_t c_row = 0;
  int tail = 0;  ///< lanes to store of the last vector; 0 = all
};

/// Depthwise, the input read where it is: c[i][v][:] = sum over t of a[taps[t].a + i * a_row + v] * b[taps[t].b + v *
/// b_vector]; two vectors of channels
struct PointsArgs {
  struct Tap {
    std::int64_t a, b;
  };
  const void* a = nullptr;
  std::int64_t a_row = 0;
  const Tap* taps = nullptr;
  std::int64_t n_taps = 0;
  const void* b = nullptr;
  std::int64_t b_vector = 0;
  float* c = nullptr;
  std::int64_t c_row = 0;
};

/// wgrad of one vector: c[t][d][:] (+)= sum over segments s and rows i of
/// a[taps[t] + s * a_segment + i * a_row][d][:] * b[s * b_segment + i * b_row][:]; steps d are two vectors apart
struct LanesWgradArgs {
  const void* a = nullptr;
  std::int64_t a_segment = 0, a_row = 0;
  const std::int64_t* taps = nullptr;
  std::int64_t n_taps = 0, depth = 0;
  const void* b = nullptr;
  std::int64_t b_segment = 0, b_row = 0;
  std::int64_t segments = 0, rows = 0;
  float* c = nullptr;
  bool accumulate = false;
};

/// wgrad of one vector over one row of outputs, both tensors read where they are: c[taps[t].c][:] += sum over points i of
/// a[taps[t].a + i * a_step] * b[i * b_step]; tap t leaves out the points whose bit t in `left` and `right` is not set.
struct LaneRowArgs {
  struct Tap {
    std::int64_t a, c;  ///< in bytes
  };
  const char* a = nullptr;
  const char* b = nullptr;
  std::int64_t a_step = 0, b_step = 0;
  const Tap* taps = nullptr;
  int n_taps = 0;  ///< up to kMaxRowTaps
  std::int64_t points = 0;
  const std::uint32_t* left = nullptr;   ///< of the first n_left points
  const std::uint32_t* right = nullptr;  ///< of the last n_right
  std::int64_t n_left = 0, n_right = 0;
  char* c = nullptr;
};

struct F32Kernels {
  static constexpr int kMaxRowTaps = 9;
  static constexpr int kMaxVectors = 4, kMaxLanes = 16;
  int lanes = 0;                    ///< floats in a vector
  int max_vectors = 0;              ///< tiles are up to this many vectors wide
  int max_rows[kMaxVectors + 1]{};  ///< by vectors
  int max_lane_rows = 0;            ///< of lane_rows with one vector; half as many with two
  void (*taps)(int rows, int vectors, const TapsArgs& args) = nullptr;
  void (*outer)(int rows, int vectors, const OuterArgs& args) = nullptr;
  void (*lane_rows)(int rows, int vectors, const LanesArgs& args) = nullptr;
  void (*lane_points)(int rows, int vectors, const PointsArgs& args) = nullptr;  ///< up to max_lane_rows / 2 rows
  void (*lane_wgrad)(const LanesWgradArgs& args) = nullptr;
  void (*lane_row)(const LaneRowArgs& args) = nullptr;
  /// dst[i] = float(src[i]); src is FLOAT, BFLOAT16 or HALF
  void (*widen)(float* dst, const void* src, std::int64_t count, DataType_t type) = nullptr;
  /// The same for `rows` rows, dst_row and src_row elements apart.
  void (*widen_rows)(float* dst, std::int64_t dst_row, const void* src, std::int64_t src_row, std::int64_t rows,
                     std::int64_t count, DataType_t type) = nullptr;
  /// The way back, rounding to nearest even: FLOAT, BFLOAT16 or HALF; rows in elements.
  void (*narrow_rows)(void* dst, std::int64_t dst_row, const float* src, std::int64_t src_row, std::int64_t rows,
                      std::int64_t count, DataType_t type) = nullptr;
  /// dst[j * dst_row + i] = float(src[i * src_row + j]), i < rows, j < columns; rows in elements
  void (*widen_transposed)(float* dst, std::int64_t dst_row, const void* src, std::int64_t src_row, std::int64_t rows,
                           std::int64_t columns, DataType_t type) = nullptr;
  /// dst[p * dst_pixel + 2 * j * lanes + l] = src[p * src_pixel + index[j * lanes + l]], p < pixels, j < depth. near: all
  /// indices are below `lanes`, and src may be read that far.
  void (*expand)(float* dst, std::int64_t dst_pixel, const float* src, std::int64_t src_pixel, bool near,
                 const std::int32_t* index, std::int64_t depth, std::int64_t pixels) = nullptr;
};

/// The kernels of the best level not above `isa`.
const F32Kernels& f32_kernels(CpuIsa isa);

namespace detail {
extern const F32Kernels kF32Portable;
#if defined(__x86_64__)
extern const F32Kernels kF32Avx2;
extern const F32Kernels kF32Avx512;
#endif
}  // namespace detail

}  // namespace octavo::cpu_native
