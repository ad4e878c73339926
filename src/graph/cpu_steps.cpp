// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Pointwise operations, reductions, statistics and the filter reordering on the CPU, for what does not fuse into a
// convolution. Obvious loops over the oracle's scalar semantics; each task owns its outputs, so results do not depend on the
// number of threads.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/parallel.h"
#include "engines/cpu_reference/scalar.h"
#include "graph/plan.h"

namespace octavo::graph {
namespace {

using cpu_reference::Scalar;
using Index = std::array<std::int64_t, kMaxRank>;

Index unravel(std::int64_t linear, TensorDesc const& shape) {
  Index index{};
  for (int i = shape.rank - 1; i >= 0; --i) {
    std::size_t const d = static_cast<std::size_t>(i);
    index[d] = linear % shape.dim[d];
    linear /= shape.dim[d];
  }
  return index;
}

void advance(Index& index, TensorDesc const& shape) {
  for (int i = shape.rank - 1; i >= 0; --i) {
    std::size_t const d = static_cast<std::size_t>(i);
    if (++index[d] < shape.dim[d]) return;
    index[d] = 0;
  }
}

/// One running sum, product or extremum, carried wider than it is stored.
class Accumulator {
 public:
  Accumulator(ReductionMode_t mode, DataType_t compute) : mode_(mode), integer_(compute == DataType_t::INT32) {
    switch (mode) {
      case ReductionMode_t::MUL:
      case ReductionMode_t::MUL_NO_ZEROS:
        real_ = 1;
        whole_ = 1;
        break;
      case ReductionMode_t::MIN:
        real_ = std::numeric_limits<double>::infinity();
        whole_ = std::numeric_limits<std::int32_t>::max();
        break;
      case ReductionMode_t::MAX:
        real_ = -std::numeric_limits<double>::infinity();
        whole_ = std::numeric_limits<std::int32_t>::min();
        break;
      default:
        break;
    }
  }

  void add(Scalar const& v) {
    ++count_;
    if (integer_) {
      add_integer(v.to_i32());
    } else {
      add_real(v.to_f64());
    }
  }

  Scalar result(DataType_t compute) const {
    if (integer_) {
      if (mode_ == ReductionMode_t::AVG) return Scalar::of_f64(count_ == 0 ? 0.0 : static_cast<double>(whole_sum_) / count_);
      if (mode_ == ReductionMode_t::NORM2) return Scalar::of_f64(std::sqrt(real_));
      return Scalar::of_i32(static_cast<std::int32_t>(static_cast<std::uint32_t>(whole_)));
    }
    double v = real_;
    if (mode_ == ReductionMode_t::AVG) v = count_ == 0 ? 0.0 : v / static_cast<double>(count_);
    if (mode_ == ReductionMode_t::NORM2) v = std::sqrt(v);
    return compute == DataType_t::DOUBLE ? Scalar::of_f64(v) : Scalar::of_f32(static_cast<float>(v));
  }

 private:
  void add_real(double v) {
    switch (mode_) {
      case ReductionMode_t::MUL:
        real_ *= v;
        break;
      case ReductionMode_t::MUL_NO_ZEROS:
        if (v != 0) real_ *= v;
        break;
      case ReductionMode_t::MIN:
        if (v < real_ || std::isnan(v)) real_ = v;
        break;
      case ReductionMode_t::MAX:
        if (v > real_ || std::isnan(v)) real_ = v;
        break;
      case ReductionMode_t::AMAX:
        if (std::fabs(v) > real_ || std::isnan(v)) real_ = std::fabs(v);
        break;
      case ReductionMode_t::NORM1:
        real_ += std::fabs(v);
        break;
      case ReductionMode_t::NORM2:
        real_ += v * v;
        break;
      default:
        real_ += v;
        break;
    }
  }

  // Wraps modulo 2^32, as every INT32 computation does.
  void add_integer(std::int32_t v) {
    std::uint32_t const w = static_cast<std::uint32_t>(whole_), u = static_cast<std::uint32_t>(v);
    std::uint32_t const magnitude = v < 0 ? 0u - u : u;
    std::int32_t const signed_magnitude = static_cast<std::int32_t>(magnitude);
    switch (mode_) {
      case ReductionMode_t::MUL:
        whole_ = static_cast<std::int32_t>(w * u);
        break;
      case ReductionMode_t::MUL_NO_ZEROS:
        if (v != 0) whole_ = static_cast<std::int32_t>(w * u);
        break;
      case ReductionMode_t::MIN:
        whole_ = std::min(whole_, v);
        break;
      case ReductionMode_t::MAX:
        whole_ = std::max(whole_, v);
        break;
      case ReductionMode_t::AMAX:
        whole_ = std::max(whole_, signed_magnitude);
        break;
      case ReductionMode_t::NORM1:
        whole_ = static_cast<std::int32_t>(w + magnitude);
        break;
      case ReductionMode_t::NORM2:
        real_ += static_cast<double>(v) * v;
        break;
      case ReductionMode_t::AVG:
        whole_sum_ += v;
        break;
      default:
        whole_ = static_cast<std::int32_t>(w + u);
        break;
    }
  }

  ReductionMode_t mode_;
  bool integer_;
  double real_ = 0;
  std::int32_t whole_ = 0;
  std::int64_t whole_sum_ = 0;
  std::int64_t count_ = 0;
};

}  // namespace

void run_pointwise(PointwiseStep const& step, cpu_reference::EpilogueEvaluator const& evaluator, Args const& args) {
  constexpr std::int64_t kChunk = 2048;
  constexpr std::size_t kOnStack = 64;
  std::int64_t const total = step.shape.elements();
  parallel_for((total + kChunk - 1) / kChunk, [&](std::int64_t task, int) {
    std::array<Scalar, kOnStack> near;
    std::vector<Scalar> far;
    Scalar* values = near.data();
    if (evaluator.value_count() > kOnStack) {
      far.resize(evaluator.value_count());
      values = far.data();
    }
    std::int64_t const first = task * kChunk, last = std::min(total, first + kChunk);
    Index index = unravel(first, step.shape);
    for (std::int64_t i = first; i < last; ++i) {
      evaluator(index.data(), Scalar::of_i32(0), args, values);
      advance(index, step.shape);
    }
  });
}

void run_reduction(ReductionStep const& step, void const* in, void* out) {
  TensorDesc region = step.x;  // what one output element covers
  for (std::size_t i = 0; i < static_cast<std::size_t>(step.x.rank); ++i)
    region.dim[i] = step.y.dim[i] == 1 ? step.x.dim[i] : 1;
  std::int64_t const covered = region.elements();
  parallel_for(step.y.elements(), [&](std::int64_t task, int) {
    Index const at = unravel(task, step.y);
    Accumulator sum(step.mode, step.compute);
    Index inner{};
    for (std::int64_t i = 0; i < covered; ++i) {
      Index where{};
      for (std::size_t d = 0; d < static_cast<std::size_t>(step.x.rank); ++d) where[d] = at[d] + inner[d];
      sum.add(cpu_reference::load(step.x.type, in, step.x.offset(where.data())));
      advance(inner, region);
    }
    cpu_reference::store(step.y.type, out, step.y.offset(at.data()), sum.result(step.compute));
  });
}

void run_genstats(GenstatsStep const& step, void const* in, void* sum, void* sq_sum) {
  TensorDesc plane = step.x;
  plane.dim[1] = 1;
  std::int64_t const covered = plane.elements();
  parallel_for(step.x.dim[1], [&](std::int64_t channel, int) {
    Accumulator s(ReductionMode_t::ADD, step.compute), q(ReductionMode_t::ADD, step.compute);
    Index inner{};
    for (std::int64_t i = 0; i < covered; ++i) {
      Index where = inner;
      where[1] = channel;
      Scalar const v = cpu_reference::load(step.x.type, in, step.x.offset(where.data()));
      s.add(v);
      if (step.compute == DataType_t::INT32) {
        std::uint32_t const u = static_cast<std::uint32_t>(v.to_i32());
        q.add(Scalar::of_i32(static_cast<std::int32_t>(u * u)));
      } else {
        double const d = v.to_f64();
        q.add(Scalar::of_f64(d * d));
      }
      advance(inner, plane);
    }
    Index at{};
    at[1] = channel;
    if (sum) cpu_reference::store(step.sum.type, sum, step.sum.offset(at.data()), s.result(step.compute));
    if (sq_sum) cpu_reference::store(step.sq_sum.type, sq_sum, step.sq_sum.offset(at.data()), q.result(step.compute));
  });
}

// In memory, cuDNN's reordered filter is [C/32][R][S][K/8][2][8][4][4]: output channel k sits at (k / 8, k % 2, k % 8 / 2) of
// the axes 3, 4, 6 and input channel c at (c / 32, c % 32 / 4, c % 4) of the axes 0, 5, 7.
void run_reorder(ReorderStep const& step, void const* in, void* out) {
  TensorDesc const& w = step.w;
  std::int64_t const k_count = w.dim[0], c_count = w.dim[1], r_count = w.dim[2], s_count = w.dim[3];
  auto const* from = static_cast<std::int8_t const*>(in);
  auto* to = static_cast<std::int8_t*>(out);
  parallel_for(k_count, [&](std::int64_t k, int) {
    for (std::int64_t c = 0; c < c_count; ++c) {
      for (std::int64_t r = 0; r < r_count; ++r) {
        for (std::int64_t s = 0; s < s_count; ++s) {
          std::int64_t at = c / 32;
          at = at * r_count + r;
          at = at * s_count + s;
          at = at * (k_count / 8) + k / 8;
          at = at * 2 + k % 2;
          at = at * 8 + c % 32 / 4;
          at = at * 4 + k % 8 / 2;
          at = at * 4 + c % 4;
          std::int64_t const index[4] = {k, c, r, s};
          to[w.offset(index)] = from[at];
        }
      }
    }
  });
}

}  // namespace octavo::graph
