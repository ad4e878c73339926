// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/mode_problems.h"

#include <array>

#include "engines/cpu_reference/pointwise.h"

namespace octavo::verify {
namespace {

using T = DataType_t;
using M = PointwiseMode_t;
using Node = Epilogue::Node;

TensorDesc tensor(T type, std::array<std::int64_t, 4> dim) {
  TensorDesc t;
  t.type = type, t.rank = 4;
  for (std::size_t i = 0; i < dim.size(); ++i) t.dim[i] = dim[i];
  set_layout(t, "nhwc");
  return t;
}

Node node(M mode, std::array<int, 3> in, T compute, T result) {
  Node n;
  n.mode = mode, n.in = in, n.compute = compute, n.result = result;
  return n;
}

/// Output type that shows every bit of a node's value.
T shown_as(const Node& n) {
  if (n.result == T::INT8 || n.result == T::UINT8) return T::INT32;
  return n.result;
}

void add_modes(Problem& p, T compute) {
  // Operands: 1 f32, 2 s32, 3 f64, 4 bool; value 0 is the sum.
  const std::array<std::array<int, 3>, 3> inputs{{{0, 1, 4}, {1, 2, 0}, {3, 0, 2}}};
  std::vector<Node>& nodes = p.epilogue.nodes;
  for (int m = 1; m <= static_cast<int>(M::RECIPROCAL); ++m) {
    const M mode = static_cast<M>(m);
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      if (k == 2 && compute != T::DOUBLE && compute != T::FLOAT) continue;
      Node n = node(mode, inputs[k], compute, compute);
      for (std::size_t i = static_cast<std::size_t>(cpu_reference::pointwise_arity(mode)); i < 3; ++i) n.in[i] = -1;
      if (mode == M::GEN_INDEX) n.axis = static_cast<int>(k) + 1;
      const bool relu = mode == M::RELU_FWD || mode == M::RELU_BWD;
      if (relu && k == 1) n.slope = 0.125, n.has_upper_clip = true, n.upper_clip = 6;
      if (relu && k == 2) n.lower_clip = -1.5, n.has_upper_clip = true, n.upper_clip = 2.5;
      if (k == 1 && !relu) n.alpha = 0.5;
      nodes.push_back(n);
    }
  }
  // A truth value, negated and divided by: the sign of its zero counts.
  if (compute == T::FLOAT || compute == T::DOUBLE) {
    const int truth = p.epilogue.first_node() + static_cast<int>(nodes.size());
    nodes.push_back(node(M::CMP_GT, {0, 1, -1}, compute, compute));
    nodes.push_back(node(M::NEG, {truth, -1, -1}, compute, compute));
    nodes.push_back(node(M::RECIPROCAL, {truth + 1, -1, -1}, compute, compute));
    nodes.push_back(node(M::DIV, {4, truth + 1, -1}, compute, compute));
  }
  // Roundings of a value.
  for (const T result : {T::INT8, T::UINT8, T::INT32, T::INT64, T::BOOLEAN})
    for (const int in : {0, 1, 2, 3}) nodes.push_back(node(M::IDENTITY, {in, -1, -1}, compute, result));
}

}  // namespace

std::vector<Problem> mode_problems(DataType_t input) {
  std::vector<Problem> problems;
  for (const T compute : {T::FLOAT, T::DOUBLE, T::INT32, T::BOOLEAN}) {
    Problem p;
    p.x = tensor(input, {1, 1, 6, 7});
    p.w = tensor(input, {4, 1, 1, 1});
    p.y = tensor(input, {1, 4, 6, 7});
    p.compute = input == T::INT32 ? T::INT32 : input;
    for (const T type : {T::FLOAT, T::INT32, T::DOUBLE, T::BOOLEAN}) {
      Epilogue::Operand o;
      o.desc = tensor(type, {1, 4, 6, 7});
      p.epilogue.operands.push_back(o);
    }
    add_modes(p, compute);
    for (std::size_t i = 0; i < p.epilogue.nodes.size(); ++i) {
      Epilogue::Output out;
      out.value = p.epilogue.first_node() + static_cast<int>(i);
      out.desc = tensor(shown_as(p.epilogue.nodes[i]), {1, 4, 6, 7});
      p.epilogue.outputs.push_back(out);
    }
    // The casts to the narrow types, of the sum and of an operand.
    for (const T type : {T::INT8, T::UINT8, T::INT32, T::INT64, T::HALF, T::BFLOAT16, T::FP8_E4M3, T::FP8_E5M2, T::FLOAT,
                         T::DOUBLE, T::BOOLEAN})
      for (const int value : {0, 1, 2, 3, 4}) {
        Epilogue::Output out;
        out.value = value;
        out.desc = tensor(type, {1, 4, 6, 7});
        p.epilogue.outputs.push_back(out);
      }
    problems.push_back(p);
  }
  return problems;
}

}  // namespace octavo::verify
