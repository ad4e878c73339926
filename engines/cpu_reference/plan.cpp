// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "engines/cpu_reference/plan.h"

#include <cstdlib>
#include <cstring>

namespace octavo::cpu_reference {
namespace {

error_t missing(const char* what, std::int64_t elements) {
  return {error_code_t::INVALID_VARIANT_PACK, std::string("cpu_reference: ") + what +
                                                  " has no address, but the problem reads or writes " +
                                                  std::to_string(elements) + " elements of it; bind a buffer to it."};
}

bool may_wrap(const Problem& p) {
  if (!is_integer(p.input_a().type)) return false;
  if (element_bytes(p.input_a().type) > 1 || element_bytes(p.input_b().type) > 1) return true;
  return static_cast<double>(p.accumulation_length()) * 255. * 255. >= 2147483648.;
}

}  // namespace

ReferencePlan::ReferencePlan(const Problem& problem, const BuildOptions& options)
    : problem_(problem),
      g_(problem),
      epilogue_(problem),
      spatial_(problem.spatial()),
      single_(accumulator_type(problem) == DataType_t::FLOAT) {
  if (problem.direction == Direction::wgrad || options.constant_filter == nullptr) return;
  filter_is_constant_ = true;
  filter_.resize(static_cast<std::size_t>(problem.w.span_bytes()));
  if (!filter_.empty()) std::memcpy(filter_.data(), options.constant_filter, filter_.size());
}

error_t ReferencePlan::execute(const Args& args) const {
  const Problem& p = problem_;
  Args a = args;
  if (filter_is_constant_) a.w = filter_.data();
  if (p.direction != Direction::dgrad && a.x == nullptr && p.x.elements() > 0) return missing("x", p.x.elements());
  if (p.direction != Direction::wgrad && a.w == nullptr && p.w.elements() > 0) return missing("w", p.w.elements());
  if (p.direction != Direction::fprop && a.y == nullptr && p.y.elements() > 0) return missing("y", p.y.elements());
  if (p.direction != Direction::wgrad && p.zero_points.filter == ZeroPoints::Filter::per_channel &&
      a.w_zero_points == nullptr && p.w.elements() > 0)
    return missing("the filter's zero points", p.w.dim[0]);
  const std::int64_t elements = p.result().elements();
  if (elements == 0) return {};
  if (a.operands.size() != p.epilogue.operands.size())
    return {error_code_t::INVALID_VARIANT_PACK,
            "cpu_reference: " + std::to_string(a.operands.size()) + " epilogue operands are bound, but the problem has " +
                std::to_string(p.epilogue.operands.size()) + "; bind one address for each."};
  if (a.outputs.size() != p.epilogue.outputs.size())
    return {error_code_t::INVALID_VARIANT_PACK, "cpu_reference: " + std::to_string(a.outputs.size()) +
                                                    " outputs are bound, but the problem has " +
                                                    std::to_string(p.epilogue.outputs.size()) + "; bind one address for each."};
  for (std::size_t i = 0; i < a.operands.size(); ++i)
    if (a.operands[i] == nullptr && p.epilogue.operands[i].source != Epilogue::Source::constant)
      return missing("an epilogue operand", p.epilogue.operands[i].desc.elements());
  for (const void* output : a.outputs)
    if (output == nullptr) return missing("an output", elements);
  if (a.workspace == nullptr && workspace_ > 0)
    return {error_code_t::INVALID_VARIANT_PACK, "cpu_reference: the workspace has no address; allocate the plan's " +
                                                    std::to_string(workspace_) + " bytes and bind them."};
  run(a);
  return {};
}

std::string ReferencePlan::describe() const {
  std::string text = std::string("reference loops, ") + octavo::to_string(problem_.direction) + ", sums in ";
  text += packed_type(problem_) == Packed::f64 ? "f64" : "int32";
  if (may_wrap(problem_)) text += " (sums beyond int32 wrap around)";
  return text;
}

Packed packed_type(const Problem& p) {
  const TensorDesc &a = p.input_a(), &b = p.input_b();
  if (!is_integer(a.type)) return Packed::f64;
  const auto small = [](std::int32_t zero_point) { return zero_point >= -255 && zero_point <= 255; };
  const bool bytes = element_bytes(a.type) == 1 && element_bytes(b.type) == 1;
  const bool known = p.zero_points.filter != ZeroPoints::Filter::per_channel;  // per-channel values are bound later
  return bytes && known && small(p.zero_points.x) && small(p.zero_points.w) ? Packed::int16 : Packed::int32;
}

}  // namespace octavo::cpu_reference
