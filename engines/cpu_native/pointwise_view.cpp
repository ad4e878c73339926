// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#include "engines/cpu_native/pointwise_view.h"

#include <cstddef>

namespace octavo::cpu_native {
namespace {

bool is_pointwise(const Problem& p) {
  for (int i = 0; i < p.spatial(); ++i) {
    const auto a = static_cast<std::size_t>(i);
    if (p.w.dim[a + 2] != 1 || p.pre_pad[a] != 0) return false;
    if ((p.y.dim[a + 2] - 1) * p.stride[a] >= p.x.dim[a + 2]) return false;  // the last output reads padding behind the image
  }
  return true;
}

/// May axes `d` and `d + 1` become one? Broadcast in both, or one stepping through the other.
bool folds(const TensorDesc& t, std::size_t d, const TensorDesc& result) {
  if (result.dim[d] == 1 || result.dim[d + 1] == 1) {
    const std::size_t other = result.dim[d] == 1 ? d + 1 : d;
    return t.dim[other] == result.dim[other] || t.dim[other] == 1;
  }
  if (t.dim[d] == 1 && t.dim[d + 1] == 1) return true;
  return t.dim[d] == result.dim[d] && t.dim[d + 1] == result.dim[d + 1] && t.stride[d] == t.stride[d + 1] * t.dim[d + 1];
}

void fold(TensorDesc& t, std::size_t d) {
  if (t.dim[d + 1] == 1) t.stride[d + 1] = t.stride[d];
  t.dim[d + 1] *= t.dim[d];
  for (auto i = d; i + 1 < static_cast<std::size_t>(t.rank); ++i) {
    t.dim[i] = t.dim[i + 1];
    t.stride[i] = t.stride[i + 1];
  }
  --t.rank;
}

/// Batch into the single spatial axis; the batch stays as a 1.
bool batch_folds(const TensorDesc& t, const TensorDesc& result) {
  if (result.dim[0] == 1) return false;
  if (t.dim[0] == 1 && t.dim[2] == 1) return true;
  if (t.dim[0] != result.dim[0] || t.dim[2] != result.dim[2]) return false;
  return t.dim[2] == 1 || t.stride[0] == t.stride[2] * t.dim[2];
}

void fold_batch(TensorDesc& t) {
  if (t.dim[2] == 1) t.stride[2] = t.stride[0];
  t.dim[2] *= t.dim[0];
  t.dim[0] = 1;
}

}  // namespace

Problem pointwise_view(const Problem& problem) {
  if (problem.direction != Direction::fprop || !is_pointwise(problem) || problem.result().elements() == 0) return problem;
  for (const Epilogue::Node& node : problem.epilogue.nodes) {
    if (node.mode == PointwiseMode_t::GEN_INDEX) return problem;  // it sees the axes
  }
  Problem p = problem;
  for (int i = 0; i < p.spatial(); ++i) {
    const auto a = static_cast<std::size_t>(i);
    p.x.dim[a + 2] = p.y.dim[a + 2];
    p.x.stride[a + 2] *= p.stride[a];
    p.stride[a] = p.dilation[a] = 1;
    p.post_pad[a] = 0;
  }
  const auto all = [&](auto&& test) {
    const TensorDesc result = p.result();
    if (!test(p.x, result)) return false;
    for (const Epilogue::Operand& o : p.epilogue.operands) {
      if (!test(o.desc, result)) return false;
    }
    for (const Epilogue::Output& o : p.epilogue.outputs) {
      if (!test(o.desc, result)) return false;
    }
    return true;
  };
  const auto each = [&](auto&& change) {
    change(p.x);
    change(p.y);
    for (Epilogue::Operand& o : p.epilogue.operands) change(o.desc);
    for (Epilogue::Output& o : p.epilogue.outputs) change(o.desc);
  };
  while (p.x.rank > 3) {
    const auto d = static_cast<std::size_t>(p.x.rank - 2);
    if (!all([&](const TensorDesc& t, const TensorDesc& r) { return folds(t, d, r); })) return p;
    each([&](TensorDesc& t) { fold(t, d); });
    fold(p.w, d);
  }
  if (all([](const TensorDesc& t, const TensorDesc& r) { return batch_folds(t, r); }))
    each([](TensorDesc& t) { fold_batch(t); });
  return p;
}

}  // namespace octavo::cpu_native
