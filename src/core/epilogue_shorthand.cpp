// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/epilogue_shorthand.h"

#include <array>

#include "core/text.h"

namespace octavo {
namespace {

constexpr std::array<const char*, 5> kNames = {"scale", "scale1", "bias", "add", "relu"};

TensorDesc packed(const Problem& problem, DataType_t type, bool channel) {
  TensorDesc desc;
  desc.type = type;
  desc.rank = problem.result().rank;
  for (int i = 0; i < desc.rank; ++i) desc.dim[static_cast<std::size_t>(i)] = channel && i == 1 ? problem.result().dim[1] : 1;
  set_layout(desc, "nhwc");
  return desc;
}

}  // namespace

error_t parse_epilogue_parts(std::string_view text, EpilogueParts& parts) {
  parts = {};
  if (text.empty() || text == "none") return {};
  const std::array<bool*, 5> flags = {&parts.scale, &parts.scale1, &parts.bias, &parts.add, &parts.relu};
  std::size_t last = 0;
  bool first = true;
  for (const std::string_view word : text::split(text, '+')) {
    std::size_t at = 0;
    while (at < kNames.size() && word != kNames[at]) ++at;
    if (at == kNames.size()) {
      return text::bad("Epilogue '" + std::string(text) + "' has the part '" + std::string(word) + "'; did you mean '" +
                       text::nearest(word, {kNames.begin(), kNames.end()}) + "'?");
    }
    if (!first && at <= last) {
      return text::bad("Epilogue '" + std::string(text) + "' has '" + std::string(word) + "' after '" + kNames[last] +
                       "'; parts stand once each, in the order scale|scale1, bias, add, relu.");
    }
    *flags[at] = true;
    last = at;
    first = false;
  }
  if (parts.scale && parts.scale1) {
    return text::bad("Epilogue '" + std::string(text) + "' has scale (per channel) and scale1 (per tensor); use one of them.");
  }
  return {};
}

error_t apply_epilogue_parts(const EpilogueParts& parts, Problem& problem) {
  if (!parts.any()) return {};
  Epilogue& e = problem.epilogue;
  if (!e.nodes.empty() || !e.operands.empty() || e.outputs.size() != 1) {
    return text::bad("The problem has an epilogue of its own (" + text::print_epilogue(problem) +
                     "); give either that or a shorthand, not both.");
  }
  const DataType_t accumulator = accumulator_type(problem);
  const bool floats = parts.scale || parts.scale1 || parts.bias || parts.add;
  const DataType_t compute = accumulator == DataType_t::DOUBLE             ? DataType_t::DOUBLE
                             : accumulator == DataType_t::INT32 && !floats ? DataType_t::INT32
                                                                           : DataType_t::FLOAT;
  const auto operand = [&e](const TensorDesc& desc) {
    Epilogue::Operand o;
    o.desc = desc;
    e.operands.push_back(o);
    return static_cast<int>(e.operands.size());
  };
  struct Step {
    PointwiseMode_t mode;
    int operand;
  };
  std::vector<Step> steps;
  if (parts.scale || parts.scale1) {
    steps.push_back({PointwiseMode_t::MUL, operand(packed(problem, DataType_t::FLOAT, parts.scale))});
  }
  if (parts.bias) steps.push_back({PointwiseMode_t::ADD, operand(packed(problem, DataType_t::FLOAT, true))});
  if (parts.add) steps.push_back({PointwiseMode_t::ADD, operand(e.outputs[0].desc)});
  if (parts.relu) steps.push_back({PointwiseMode_t::RELU_FWD, -1});
  int value = 0;
  for (const Step& step : steps) {
    Epilogue::Node node;
    node.mode = step.mode;
    node.in = {value, step.operand, -1};
    node.compute = compute;
    node.result = compute;
    value = e.first_node() + static_cast<int>(e.nodes.size());
    e.nodes.push_back(node);
  }
  e.outputs[0].value = value;
  return {};
}

}  // namespace octavo
