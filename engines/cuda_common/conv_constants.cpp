// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "engines/cuda_common/conv_constants.h"

#include <algorithm>

#include "engines/cuda_common/epilogue_codegen.h"

namespace octavo::cuda {
namespace {

std::array<std::int64_t, 5> pad_strides(const TensorDesc& t) {
  std::array<std::int64_t, 5> out{};
  for (int i = 0; i < t.rank; ++i) {
    const auto from = static_cast<std::size_t>(i);
    const auto to = static_cast<std::size_t>(i < 2 ? i : i + 5 - t.rank);
    out[to] = t.dim[from] > 1 ? t.stride[from] : 0;  // never multiplied by more than 0: keep offsets small
  }
  return out;
}

}  // namespace

Padded::Padded(const Problem& p) {
  n = p.x.dim[0];
  c = p.x.dim[1];
  k = p.w.dim[0];
  cg = p.w.dim[1];
  groups = p.groups();
  kg = k / groups;
  const int spatial = p.spatial();
  for (int i = 0; i < spatial; ++i) {
    const auto from = static_cast<std::size_t>(i), to = static_cast<std::size_t>(i + 3 - spatial);
    x[to] = p.x.dim[from + 2];
    r[to] = p.w.dim[from + 2];
    y[to] = p.y.dim[from + 2];
    pad[to] = p.pre_pad[from];
    stride[to] = p.stride[from];
    dilation[to] = p.dilation[from];
  }
  x_stride = pad_strides(p.x);
  w_stride = pad_strides(p.w);
  y_stride = pad_strides(p.y);
  x_vector = p.x.vector;
  w_vector = p.w.vector;
  y_vector = p.y.vector;
}

bool needs_wide_index(const Problem& problem) {
  constexpr std::int64_t kLimit = std::int64_t{1} << 30;
  const Padded p(problem);
  for (std::size_t i = 0; i < 3; ++i) {
    if (p.pad[i] > kLimit || p.stride[i] > kLimit || p.dilation[i] > kLimit) return true;
    if (p.y[i] * p.stride[i] > kLimit || p.r[i] * p.dilation[i] > kLimit || p.x[i] + p.pad[i] > kLimit) return true;
  }
  if (problem.direction != Direction::dgrad && problem.x.span_elements() > kLimit) return true;
  if (problem.direction != Direction::wgrad && problem.w.span_elements() > kLimit) return true;
  if (problem.direction != Direction::fprop && problem.y.span_elements() > kLimit) return true;
  return problem.result().elements() > kLimit;
}

std::string conv_constants(const Problem& problem) {
  const Padded p(problem);
  std::string text = "struct Conv {\n";
  text += std::string("  using A = ") + storage_name(problem.input_a().type) +
          ";\n  using B = " + storage_name(problem.input_b().type) + ";\n";
  text += std::string("  using idx_t = ") + (needs_wide_index(problem) ? "long long" : "int") + ";\n";
  const auto add = [&](const std::string& name, std::int64_t value) {
    text += "  static constexpr idx_t " + name + " = " + std::to_string(value) + ";\n";
  };
  add("N", p.n);
  add("C", p.c);
  add("K", p.k);
  add("CG", p.cg);
  add("KG", p.kg);
  const auto three = [&](const char* name, const std::array<std::int64_t, 3>& values) {
    for (std::size_t i = 0; i < 3; ++i) add(name + std::to_string(i), values[i]);
  };
  three("X", p.x);
  three("R", p.r);
  three("Y", p.y);
  three("B", p.pad);
  three("S", p.stride);
  three("D", p.dilation);
  const auto five = [&](const char* name, const std::array<std::int64_t, 5>& values) {
    for (std::size_t i = 0; i < 5; ++i) add(name + std::to_string(i), values[i]);
  };
  // The tensor that is computed has no strides of its own.
  if (problem.direction != Direction::dgrad) five("XS", p.x_stride);
  if (problem.direction != Direction::wgrad) five("WS", p.w_stride);
  if (problem.direction != Direction::fprop) five("YS", p.y_stride);
  add("XV", p.x_vector);
  add("WV", p.w_vector);
  add("YV", p.y_vector);
  text += std::string("  static constexpr bool kFlip = ") +
          (problem.mode == ConvolutionMode_t::CONVOLUTION ? "true" : "false") + ";\n";
  text += "  static constexpr int kDirection = " + std::to_string(static_cast<int>(problem.direction)) + ";\n";
  text += "  static constexpr s32 kZeroX = s32(" + std::to_string(problem.zero_points.x) + "LL);\n";
  text += "  static constexpr int kFilterZero = " + std::to_string(static_cast<int>(problem.zero_points.filter)) + ";\n";
  const bool scalar = problem.zero_points.filter == ZeroPoints::Filter::scalar;
  text += "  static constexpr s32 kZeroW = s32(" + std::to_string(scalar ? problem.zero_points.w : 0) + "LL);\n";
  return text;
}

}  // namespace octavo::cuda
