// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "engines/cpu_native/direct_float.h"

namespace octavo::cpu_native {
namespace {

struct AxisNumbers {
  std::int64_t x, y, filter, stride, dilation, pad;
  bool flip;
};

FloatAxis fprop_axis(const AxisNumbers& n) {
  FloatAxis axis;
  axis.in = n.x;
  axis.out = n.y;
  axis.in_step = n.stride;
  AxisPhase phase;
  phase.outputs = n.y;
  for (std::int64_t r = 0; r < n.filter; ++r) {
    phase.offset.push_back(r * n.dilation - n.pad);
    phase.filter.push_back(n.flip ? n.filter - 1 - r : r);
  }
  axis.phases.push_back(std::move(phase));
  return axis;
}

/// dx[h] sums dy[p] * w[r] over h + pad - r * dilation = p * stride.
FloatAxis dgrad_axis(const AxisNumbers& n) {
  FloatAxis axis;
  axis.in = n.y;
  axis.out = n.x;
  for (std::int64_t a = 0; a < n.stride; ++a) {
    AxisPhase phase;
    phase.outputs = n.x > a ? ceil_div(n.x - a, n.stride) : 0;
    for (std::int64_t r = n.filter - 1; r >= 0; --r) {  // ascending offsets
      const std::int64_t v = a + n.pad - r * n.dilation;
      if (v % n.stride != 0) continue;
      phase.offset.push_back(v / n.stride);
      phase.filter.push_back(n.flip ? n.filter - 1 - r : r);
    }
    axis.phases.push_back(std::move(phase));
  }
  return axis;
}

void finish_axis(FloatAxis& axis) {
  bool any = false;
  std::size_t most_taps = 0;
  for (const AxisPhase& p : axis.phases) {
    axis.points = std::max(axis.points, p.outputs);
    most_taps = std::max(most_taps, p.offset.size());
    for (const std::int64_t o : p.offset) {
      axis.low = any ? std::min(axis.low, o) : o;
      axis.high = any ? std::max(axis.high, o) : o;
      any = true;
    }
  }
  axis.compact = axis.in_step > 1 && axis.phases.size() == 1 && most_taps == 1;
}

}  // namespace

FloatGeometry float_geometry(const Problem& problem) {
  FloatGeometry g;
  g.dgrad = problem.direction == Direction::dgrad;
  g.n = problem.x.dim[0];
  g.groups = problem.groups();
  g.spatial = problem.spatial();
  const std::int64_t kg = problem.w.dim[0] / g.groups, cg = problem.w.dim[1];
  g.ic = g.dgrad ? kg : cg;
  g.oc = g.dgrad ? cg : kg;
  g.in = problem.input_a();
  g.filter = problem.w;
  for (int i = 0; i < 3; ++i) {
    const int s = i - (3 - g.spatial);  // right-aligned
    AxisNumbers numbers{1, 1, 1, 1, 1, 0, false};
    if (s >= 0) {
      numbers = {problem.x.dim[2 + s],
                 problem.y.dim[2 + s],
                 problem.w.dim[2 + s],
                 problem.stride[s],
                 problem.dilation[s],
                 problem.pre_pad[s],
                 problem.mode == ConvolutionMode_t::CONVOLUTION};
      g.in_stride[i] = g.in.stride[2 + s];
      g.filter_stride[i] = g.filter.stride[2 + s];
    }
    g.axis[i] = g.dgrad ? dgrad_axis(numbers) : fprop_axis(numbers);
    finish_axis(g.axis[i]);
  }
  return g;
}

std::int64_t FloatGeometry::filter_offset(std::int64_t group, std::int64_t o, std::int64_t i) const {
  const std::int64_t k = dgrad ? group * ic + i : group * oc + o;
  const std::int64_t c = dgrad ? o : i;
  return k * filter.stride[0] + c / filter.vector * filter.stride[1] + c % filter.vector;
}

const AxisPhase& FloatGeometry::phase(int a, std::int64_t combo) const {
  const std::int64_t inner = a == 2 ? 1 : a == 1 ? axis[2].steps() : axis[1].steps() * axis[2].steps();
  return axis[a].phases[combo / inner % axis[a].steps()];
}

std::int64_t FloatGeometry::taps(std::int64_t combo) const {
  std::int64_t product = 1;
  for (int a = 0; a < 3; ++a) product *= static_cast<std::int64_t>(phase(a, combo).offset.size());
  return product;
}

namespace {

struct Merged {
  bool possible = false, flat = false;  ///< flat: a broadcast operand, size 1 along the merged axis
  std::int64_t stride = 0;
};

/// The axis that the spatial axes of `t`, and with `batch` also the images, become. `full`: the dims to merge.
Merged merged_axis(const TensorDesc& t, const TensorDesc& full, bool batch) {
  Merged m;
  std::int64_t size = 1;
  bool started = false;
  for (int i = t.rank - 1; i >= 1; --i) {
    const int d = i >= 2 ? i : 0;
    if (d == 0 && !batch) break;
    if (full.dim[d] == 1) continue;  // nothing to step over, in any tensor
    const bool flat = t.dim[d] == 1;
    if (!started) {
      started = true;
      m.flat = flat;
      m.stride = flat ? 0 : t.stride[d];
    } else if (flat != m.flat || (!flat && t.stride[d] != m.stride * size)) {
      return m;
    }
    size *= full.dim[d];
  }
  m.possible = true;
  return m;
}

}  // namespace

Problem merge_pointwise(const Problem& problem) {
  for (int s = 0; s < problem.spatial(); ++s) {
    if (problem.w.dim[2 + s] != 1 || problem.stride[s] != 1 || problem.pre_pad[s] != 0 || problem.post_pad[s] != 0)
      return problem;
  }
  for (const Epilogue::Node& node : problem.epilogue.nodes) {
    if (node.mode == PointwiseMode_t::GEN_INDEX) return problem;
  }
  Problem merged = problem;
  const bool wgrad = problem.direction == Direction::wgrad;
  std::vector<TensorDesc*> tensors;
  if (problem.direction != Direction::dgrad) tensors.push_back(&merged.x);
  if (problem.direction != Direction::fprop) tensors.push_back(&merged.y);
  if (!wgrad) {
    for (Epilogue::Operand& o : merged.epilogue.operands) {
      if (o.source == Epilogue::Source::device) tensors.push_back(&o.desc);
    }
    for (Epilogue::Output& o : merged.epilogue.outputs) tensors.push_back(&o.desc);
  }
  const TensorDesc full = problem.x;  // dims of every merged axis: x and y agree on them
  bool batch = true;
  for (const TensorDesc* t : tensors) batch = batch && merged_axis(*t, full, true).possible;
  for (const TensorDesc* t : tensors) {
    if (!merged_axis(*t, full, batch).possible) return problem;
  }
  std::int64_t size = batch ? full.dim[0] : 1;
  for (int d = 2; d < full.rank; ++d) size *= full.dim[d];
  const auto merge = [&](TensorDesc& t, bool stored) {
    const Merged m = stored ? merged_axis(t, full, batch) : Merged{};
    for (int d = 2; d < t.rank - 1; ++d) t.dim[d] = 1;
    if (batch) t.dim[0] = 1;
    t.dim[t.rank - 1] = m.flat ? 1 : size;
    if (stored) t.stride[t.rank - 1] = m.stride;
  };
  for (TensorDesc* t : tensors) merge(*t, true);
  if (!wgrad) merge(merged.result(), false);
  if (!wgrad) {
    for (Epilogue::Operand& o : merged.epilogue.operands) {
      if (o.source == Epilogue::Source::device) continue;
      for (int d = 0; d < o.desc.rank; ++d) o.desc.dim[d] = 1;
    }
  }
  return merged;
}

std::vector<ChannelBlock> channel_blocks(std::int64_t channels, int lanes, int vectors) {
  std::vector<ChannelBlock> blocks;
  for (std::int64_t c = 0, column = 0; c < channels;) {
    ChannelBlock b;
    b.first = c;
    b.column = column;
    b.count = std::min<std::int64_t>(channels - c, static_cast<std::int64_t>(lanes) * vectors);
    b.vectors = static_cast<int>(ceil_div(b.count, lanes));
    b.tail = static_cast<int>(b.count % lanes);
    column += static_cast<std::int64_t>(b.vectors) * lanes;
    c += b.count;
    blocks.push_back(b);
  }
  return blocks;
}

int choose_vectors(const F32Kernels& kernels, std::int64_t channels, std::int64_t row) {
  int best = 1;
  double best_cost = 0;
  for (int v = 1; v <= kernels.max_vectors; ++v) {
    double cost = 0;
    for (const ChannelBlock& b : channel_blocks(channels, kernels.lanes, v)) {
      const std::int64_t tiles = ceil_div(row, kernels.max_rows[b.vectors]);
      for (std::int64_t t = 0; t < tiles; ++t) {
        const double rows = static_cast<double>(row / tiles + (t < row % tiles ? 1 : 0));
        const double products = rows * b.vectors, loads = rows + b.vectors;
        // Two of each a cycle; a chain of products waits four cycles for itself; the filter comes from the second level.
        cost += std::max({products / 2, loads / 2, 4.0}) + 0.25 * b.vectors;
      }
    }
    if (v == 1 || cost < best_cost) best = v, best_cost = cost;
  }
  return best;
}

bool strip_row_needed(const FloatAxis& axis, std::int64_t j, std::int64_t count) {
  if (axis.compact) return true;
  for (const AxisPhase& p : axis.phases) {
    for (const std::int64_t o : p.offset) {
      const std::int64_t at = j - (o - axis.low);
      if (at >= 0 && at % axis.in_step == 0 && at / axis.in_step < count) return true;
    }
  }
  return false;
}

error_t FloatStore::compile(const Problem& problem, const F32Kernels& kernels, CpuIsa isa) {
  kernels_ = &kernels;
  const Epilogue& e = problem.epilogue;
  out_ = e.outputs[0].desc;
  plain_ = e.identity() && e.outputs.size() == 1 && out_.vector == 1 && (out_.stride[1] == 1 || out_.dim[1] == 1) &&
           (out_.type == DataType_t::FLOAT || out_.type == DataType_t::BFLOAT16 || out_.type == DataType_t::HALF);
  return epilogue_.compile(problem, isa);
}

void* FloatStore::address(const Args& args, const Rows& rows) const {
  // Without an array of indices: see set_point().
  std::int64_t at = rows.outer * out_.stride[0] + rows.channel / out_.vector * out_.stride[1] + rows.channel % out_.vector;
  for (std::size_t s = 0; s + 2 < static_cast<std::size_t>(out_.rank); ++s) at += rows.spatial[s] * out_.stride[2 + s];
  return static_cast<std::byte*>(args.outputs[0]) + at * element_bytes(out_.type);
}

std::string float_objection(const Problem& problem, Direction a, Direction b) {
  if (problem.direction != a && problem.direction != b) {
    return std::string("computes ") + to_string(a) + (a == b ? "" : std::string(" and ") + to_string(b)) + ", not " +
           to_string(problem.direction);
  }
  for (const TensorDesc* t : {&problem.input_a(), &problem.input_b()}) {
    if (t->type != DataType_t::FLOAT && t->type != DataType_t::BFLOAT16 && t->type != DataType_t::HALF) {
      return std::string("reads f32, bf16 and f16, not ") + short_name(t->type);
    }
  }
  if (problem.compute == DataType_t::DOUBLE || problem.compute == DataType_t::INT32) {
    return "sums in f32, and the problem asks for another compute type";
  }
  return {};
}

}  // namespace octavo::cpu_native
