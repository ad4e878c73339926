// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// The general form: any DAG, one element at a time, through the same scalar functions as the oracle.

#include <cstddef>

#include "engines/cpu_native/epilogue.h"
#include "engines/cpu_reference/pointwise.h"
#include "engines/cpu_reference/scalar.h"

namespace octavo::cpu_native {

using cpu_reference::Scalar;

double TileEpilogue::interpreted_us() const {
  if (chain_) return 0;
  const double each = 0.05 * static_cast<double>(1 + problem_.epilogue.nodes.size());
  return each * static_cast<double>(problem_.result().elements());
}

void TileEpilogue::run_general(const Bound& bound, const Rows& rows, const void* accumulators,
                               std::ptrdiff_t row_stride) const {
  const Epilogue& e = problem_.epilogue;
  const DataType_t type = accumulator_type(problem_);
  const int rank = problem_.result().rank;
  const auto last = static_cast<std::size_t>(rank - 1);
  const std::size_t values = static_cast<std::size_t>(e.first_node()) + e.nodes.size();
  auto* value = static_cast<Scalar*>(__builtin_alloca(values * sizeof(Scalar)));  // execute() does not allocate
  std::int64_t index[kMaxRank] = {rows.outer, 0};
  for (int d = 2; d < rank; ++d) index[d] = rows.spatial[static_cast<std::size_t>(d - 2)];
  for (std::int64_t point = 0; point < rows.count; ++point, ++index[last]) {
    for (std::int64_t c = 0; c < rows.channels; ++c) {
      index[1] = rows.channel + c;
      value[0] = cpu_reference::load(type, accumulators, point * row_stride + c);
      for (std::size_t i = 0; i < e.operands.size(); ++i) {
        const Epilogue::Operand& o = e.operands[i];
        if (o.source == Epilogue::Source::constant) {
          alignas(8) std::byte bytes[8] = {};
          cpu_reference::store(o.desc.type, bytes, 0, Scalar::of_f64(o.constant));
          value[1 + i] = cpu_reference::load(o.desc.type, bytes, 0);
          continue;
        }
        std::int64_t at[kMaxRank];  // a dim of 1 is broadcast
        for (int d = 0; d < rank; ++d) at[d] = o.desc.dim[static_cast<std::size_t>(d)] == 1 ? 0 : index[d];
        value[1 + i] = cpu_reference::load(o.desc.type, bound.args->operands[i], o.desc.offset(at));
      }
      for (std::size_t n = 0; n < e.nodes.size(); ++n) {
        Scalar in[3];
        for (std::size_t i = 0; i < 3; ++i) {
          if (e.nodes[n].in[i] >= 0) in[i] = value[e.nodes[n].in[i]];
        }
        value[static_cast<std::size_t>(e.first_node()) + n] = cpu_reference::evaluate(e.nodes[n], in, index);
      }
      for (std::size_t i = 0; i < e.outputs.size(); ++i) {
        const Epilogue::Output& o = e.outputs[i];
        cpu_reference::store(o.desc.type, bound.args->outputs[i], o.desc.offset(index), value[o.value]);
      }
    }
  }
}

}  // namespace octavo::cpu_native
