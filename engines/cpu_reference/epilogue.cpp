// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "engines/cpu_reference/epilogue.h"

#include "engines/cpu_reference/pointwise.h"

namespace octavo::cpu_reference {
namespace {

/// A constant is what a one-element tensor of its type would hold.
Scalar constant_of(DataType_t type, double value) {
  alignas(8) unsigned char bytes[8] = {};
  store(type, bytes, 0, Scalar::of_f64(value));
  return load(type, bytes, 0);
}

}  // namespace

EpilogueEvaluator::Place::Place(const TensorDesc& desc, bool one_element)
    : type(desc.type), rank(desc.rank), vector(desc.vector) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(rank); ++i)
    stride[i] = one_element || desc.dim[i] == 1 ? 0 : desc.stride[i];
  if (rank < 2 || one_element || desc.dim[1] == 1) vector = 1;
}

std::int64_t EpilogueEvaluator::Place::at(const std::int64_t* index) const {
  std::int64_t offset = 0;
  for (int i = 0; i < rank; ++i) {
    const std::int64_t step = stride[static_cast<std::size_t>(i)];
    offset += i == 1 && vector > 1 ? index[1] / vector * step + index[1] % vector : index[i] * step;
  }
  return offset;
}

EpilogueEvaluator::EpilogueEvaluator(const Problem& problem) : nodes_(problem.epilogue.nodes) {
  for (const Epilogue::Operand& o : problem.epilogue.operands) {
    const bool constant = o.source == Epilogue::Source::constant;
    operands_.push_back({Place(o.desc, o.source != Epilogue::Source::device), constant,
                         constant ? constant_of(o.desc.type, o.constant) : Scalar{}});
  }
  for (const Epilogue::Output& o : problem.epilogue.outputs) outputs_.push_back({Place(o.desc, false), o.value});
}

void EpilogueEvaluator::evaluate_nodes(const std::int64_t* index, Scalar* values) const {
  Scalar* to = values + 1 + operands_.size();
  for (const Epilogue::Node& node : nodes_) {
    Scalar in[3];
    for (std::size_t i = 0; i < 3; ++i)
      if (node.in[i] >= 0) in[i] = values[node.in[i]];
    *to++ = evaluate(node, in, index);
  }
}

void EpilogueEvaluator::load_operands(const std::int64_t* index, const Args& args, Scalar* values) const {
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    const Operand& o = operands_[i];
    values[1 + i] = o.constant ? o.value : load(o.place.type, args.operands[i], o.place.at(index));
  }
}

void EpilogueEvaluator::operator()(const std::int64_t* index, const Scalar& accumulator, const Args& args,
                                   Scalar* values) const {
  values[0] = accumulator;
  load_operands(index, args, values);
  evaluate_nodes(index, values);
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const Output& o = outputs_[i];
    store(o.place.type, args.outputs[i], o.place.at(index), values[o.value]);
  }
}

}  // namespace octavo::cpu_reference
