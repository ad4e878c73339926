// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace octavo::cli {
namespace {

std::int64_t byte_offset(const TensorDesc& desc, int axis, std::int64_t at) {
  std::array<std::int64_t, kMaxRank> index{};
  index[static_cast<std::size_t>(axis)] = at;
  return desc.offset(index.data()) * element_bytes(desc.type);
}

Part whole(const Problem& problem) {
  Part part;
  part.problem = problem;
  part.operands.assign(problem.epilogue.operands.size(), 0);
  part.outputs.assign(problem.epilogue.outputs.size(), 0);
  return part;
}

// Keeps [first, first + count) of one axis of the result, in the operands and outputs too.
void crop_result(Part& part, int axis, std::int64_t first, std::int64_t count) {
  const auto d = static_cast<std::size_t>(axis);
  Problem& p = part.problem;
  p.result().dim[d] = count;
  for (std::size_t i = 0; i < part.operands.size(); ++i) {
    TensorDesc& desc = p.epilogue.operands[i].desc;
    if (desc.dim[d] == 1) continue;
    part.operands[i] += byte_offset(desc, axis, first);
    desc.dim[d] = count;
  }
  for (std::size_t i = 0; i < part.outputs.size(); ++i) {
    TensorDesc& desc = p.epilogue.outputs[i].desc;
    part.outputs[i] += byte_offset(desc, axis, first);
    desc.dim[d] = count;
  }
}

Part one_image(const Problem& problem, std::int64_t n) {
  Part part = whole(problem);
  Problem& p = part.problem;
  part.a += byte_offset(p.input_a(), 0, n);
  p.x.dim[0] = p.y.dim[0] = 1;
  crop_result(part, 0, n, 1);
  return part;
}

// Output rows [first, first + rows) of an fprop of one image.
void crop_rows(Part& part, std::int64_t first, std::int64_t rows) {
  Problem& p = part.problem;
  const std::int64_t low = first * p.stride[0] - p.pre_pad[0];
  const std::int64_t high = (first + rows - 1) * p.stride[0] - p.pre_pad[0] + (p.w.dim[2] - 1) * p.dilation[0] + 1;
  const std::int64_t begin = std::clamp<std::int64_t>(low, 0, p.x.dim[2] - 1);
  const std::int64_t end = std::clamp<std::int64_t>(high, begin + 1, p.x.dim[2]);
  part.a += byte_offset(p.x, 2, begin);
  p.x.dim[2] = end - begin;
  p.pre_pad[0] = begin - low;
  p.post_pad[0] = high - end;
  crop_result(part, 2, first, rows);
}

Part some_filters(const Problem& problem, std::int64_t first, std::int64_t count) {
  Part part = whole(problem);
  Problem& p = part.problem;
  const std::int64_t per_group = p.w.dim[0] / p.groups();
  if (p.groups() > 1) {  // whole groups: the channels of x go along
    const std::int64_t group = first / per_group, groups = count / per_group, channels = p.w.dim[1];
    part.a += byte_offset(p.x, 1, group * channels);
    p.x.dim[1] = groups * channels;
  }
  part.b += byte_offset(p.y, 1, first);
  p.y.dim[1] = count;
  part.filter_first = first;
  crop_result(part, 0, first, count);
  return part;
}

void push(std::vector<Part>& parts, Part part) {
  const auto same = [&part](const Part& other) { return other.outputs == part.outputs; };
  if (std::none_of(parts.begin(), parts.end(), same)) parts.push_back(std::move(part));
}

}  // namespace

std::vector<Part> parts_to_check(const Problem& problem, double operations) {
  const double all = problem.operations();
  if (all <= operations || problem.result().elements() == 0) return {whole(problem)};
  std::vector<Part> parts;
  const double piece = operations / 3;
  if (problem.direction == Direction::wgrad) {
    const std::int64_t filters = problem.w.dim[0];
    std::int64_t unit = std::max<std::int64_t>(problem.y.vector, 1);
    if (problem.groups() > 1) unit = filters / problem.groups() * std::max<std::int64_t>(problem.x.vector, problem.y.vector);
    if (unit >= filters) return {whole(problem)};
    const auto fit = static_cast<std::int64_t>(piece / (all / static_cast<double>(filters)));
    const std::int64_t count = std::clamp<std::int64_t>(fit / unit * unit, unit, filters);
    for (const std::int64_t at : {std::int64_t{0}, (filters - count) / 2 / unit * unit, (filters - count) / unit * unit})
      push(parts, some_filters(problem, at, count));
    return parts;
  }
  const std::int64_t images = problem.x.dim[0];
  for (const std::int64_t n : {std::int64_t{0}, images / 2, images - 1}) {
    Part image = one_image(problem, n);
    if (problem.direction == Direction::dgrad || problem.spatial() == 0) {
      push(parts, std::move(image));
      continue;
    }
    const std::int64_t rows = problem.y.dim[2];
    const double row = all / static_cast<double>(images * rows);
    const auto count = std::clamp<std::int64_t>(static_cast<std::int64_t>(piece / row / 3), 1, rows);
    for (const std::int64_t at : {std::int64_t{0}, (rows - count) / 2, rows - count}) {
      Part band = image;
      crop_rows(band, at, count);
      push(parts, std::move(band));
    }
  }
  return parts;
}

bool exact_epilogue(const Epilogue& epilogue) {
  return std::all_of(epilogue.nodes.begin(), epilogue.nodes.end(), [](const Epilogue::Node& node) {
    switch (node.mode) {
      case PointwiseMode_t::ADD:
      case PointwiseMode_t::SUB:
      case PointwiseMode_t::MUL:
      case PointwiseMode_t::MAX:
      case PointwiseMode_t::MIN:
      case PointwiseMode_t::RELU_FWD:
      case PointwiseMode_t::IDENTITY:
      case PointwiseMode_t::NEG:
      case PointwiseMode_t::ABS:
      case PointwiseMode_t::CMP_EQ:
      case PointwiseMode_t::CMP_NEQ:
      case PointwiseMode_t::CMP_GT:
      case PointwiseMode_t::CMP_GE:
      case PointwiseMode_t::CMP_LT:
      case PointwiseMode_t::CMP_LE:
      case PointwiseMode_t::BINARY_SELECT:
      case PointwiseMode_t::GEN_INDEX:
      case PointwiseMode_t::LOGICAL_AND:
      case PointwiseMode_t::LOGICAL_OR:
      case PointwiseMode_t::LOGICAL_NOT:
        return true;
      default:
        return false;
    }
  });
}

namespace {

double unit_roundoff(DataType_t type) {
  switch (type) {
    case DataType_t::DOUBLE:
      return 0x1p-53;
    case DataType_t::FLOAT:
      return 0x1p-24;
    case DataType_t::HALF:
      return 0x1p-11;
    case DataType_t::BFLOAT16:
      return 0x1p-8;
    case DataType_t::FP8_E4M3:
      return 0x1p-4;
    case DataType_t::FP8_E5M2:
      return 0x1p-3;
    default:
      return 0;
  }
}

// The smallest step of the type around zero, and one unit for integers: how far a value just beyond a tie may move.
double absolute_step(DataType_t type) {
  switch (type) {
    case DataType_t::HALF:
      return 0x1p-24;
    case DataType_t::FP8_E4M3:
      return 0x1p-9;
    case DataType_t::FP8_E5M2:
      return 0x1p-16;
    case DataType_t::FLOAT:
    case DataType_t::BFLOAT16:
    case DataType_t::DOUBLE:
      return 0;
    default:
      return 1;
  }
}

template <class F>
void for_each_index(const TensorDesc& desc, F&& f) {
  if (desc.elements() == 0) return;
  std::array<std::int64_t, kMaxRank> index{};
  for (;;) {
    f(index.data());
    int d = desc.rank - 1;
    while (d >= 0 && ++index[static_cast<std::size_t>(d)] == desc.dim[static_cast<std::size_t>(d)])
      index[static_cast<std::size_t>(d--)] = 0;
    if (d < 0) return;
  }
}

std::string coordinate(const std::int64_t* index, int rank) { return fmt::format("[{}]", fmt::join(index, index + rank, ",")); }

// Elements over all their values; copies |v| into a buffer of the same description.
void make_magnitudes(const TensorDesc& desc, const void* from, std::int64_t zero_point, Buffer& to) {
  for (std::int64_t i = 0; i < desc.span_elements(); ++i)
    store_element(desc.type, to.data(), i, std::fabs(load_element(desc.type, from, i) - static_cast<double>(zero_point)));
}

}  // namespace

error_t Oracle::prepare(const Workload& workload, double operations, bool exact) {
  problem_ = workload.problem;
  exact_ = exact || is_integer(problem_.input_a().type);
  expected_.clear();
  // How much an error of the sum can grow on its way: the largest factor that a MUL of the shorthand applies.
  slope_ = 1;
  for (std::size_t i = 0; i < workload.operands.size(); ++i) {
    const Epilogue::Operand& o = problem_.epilogue.operands[i];
    const bool factor =
        std::any_of(problem_.epilogue.nodes.begin(), problem_.epilogue.nodes.end(), [i](const Epilogue::Node& n) {
          return n.mode == PointwiseMode_t::MUL && (n.in[0] == static_cast<int>(i) + 1 || n.in[1] == static_cast<int>(i) + 1);
        });
    if (!factor) continue;
    double largest = std::fabs(o.constant);
    for (std::int64_t e = 0; workload.operands[i].data() && e < o.desc.span_elements(); ++e)
      largest = std::max(largest, std::fabs(load_element(o.desc.type, workload.operands[i].data(), e)));
    slope_ *= std::max(1.0, largest);
  }
  double checked = 0;
  for (Part& part : parts_to_check(problem_, operations)) {
    checked += part.problem.operations();
    OCTAVO_RETURN_IF_ERROR(prepare_part(workload, std::move(part), exact_));
  }
  share_ = problem_.operations() > 0 ? std::min(1.0, checked / problem_.operations()) : 1.0;
  return {};
}

error_t Oracle::prepare_part(const Workload& workload, Part part, bool exact) {
  const Engine* oracle = find_engine("cpu_reference");
  if (!oracle) return {error_code_t::GRAPH_NOT_SUPPORTED, "This build has no cpu_reference engine to check against."};
  const DeviceTraits& device = host_cpu();
  Expected expected;
  const auto at = [](const Buffer& buffer, std::int64_t offset) -> void* {
    return buffer.data() ? buffer.as<std::uint8_t>() + offset : nullptr;
  };
  const auto run = [&](const Problem& p, const void* a, const void* b, const std::vector<const void*>& operands,
                       const std::vector<void*>& outputs) -> error_t {
    const std::vector<PlanSpec> specs = oracle->specs(p, device);
    if (specs.empty()) return {error_code_t::GRAPH_NOT_SUPPORTED, "The oracle has no plan for " + p.to_string()};
    Runner runner;
    OCTAVO_RETURN_IF_ERROR(runner.build(p, specs[0], device, nullptr));
    Args args;
    args.x = p.direction == Direction::dgrad ? nullptr : a;
    args.w = p.direction == Direction::wgrad ? nullptr : b;
    args.y = p.direction == Direction::fprop ? nullptr : p.direction == Direction::dgrad ? a : b;
    if (workload.w_zero_points.data()) args.w_zero_points = workload.w_zero_points.as<const std::int32_t>() + part.filter_first;
    args.operands = operands;
    args.outputs = outputs;
    return runner.execute(args);
  };

  std::vector<const void*> operands;
  std::vector<void*> outputs;
  for (std::size_t i = 0; i < workload.operands.size(); ++i) operands.push_back(at(workload.operands[i], part.operands[i]));
  for (const Epilogue::Output& o : part.problem.epilogue.outputs) {
    expected.outputs.emplace_back(o.desc.span_bytes());
    expected.outputs.back().fill(0x5a);
    outputs.push_back(expected.outputs.back().data());
  }
  OCTAVO_RETURN_IF_ERROR(run(part.problem, at(workload.a, part.a), at(workload.b, part.b), operands, outputs));

  if (!exact) {  // sum |a||b| bounds the error of any order of summation
    Problem p = part.problem;
    p.epilogue = {};
    Epilogue::Output out;
    out.desc = p.result();
    out.desc.type = accumulator_type(p);
    set_layout(out.desc, "nhwc");
    p.epilogue.outputs.push_back(out);
    Buffer a(p.input_a().span_bytes()), b(p.input_b().span_bytes());
    make_magnitudes(p.input_a(), at(workload.a, part.a), 0, a);
    make_magnitudes(p.input_b(), at(workload.b, part.b), 0, b);
    expected.magnitude.emplace(out.desc.span_bytes());
    expected.magnitude_desc = out.desc;
    OCTAVO_RETURN_IF_ERROR(run(p, a.data(), b.data(), {}, {expected.magnitude->data()}));
  }
  expected.part = std::move(part);
  expected_.push_back(std::move(expected));
  return {};
}

Difference Oracle::compare(const std::vector<Buffer>& outputs) const {
  Difference total;
  const bool tame = exact_epilogue(problem_.epilogue);
  for (const Expected& e : expected_) {
    const Problem& p = e.part.problem;
    const double length = static_cast<double>(p.accumulation_length());
    const double u = unit_roundoff(p.compute == DataType_t::DOUBLE ? DataType_t::DOUBLE : DataType_t::FLOAT);
    // TF32 was asked for: inputs may be rounded to 10 bits.
    const double input = p.compute == DataType_t::FAST_FLOAT_FOR_FP8 ? 2 * 0x1p-11 : 0;
    for (std::size_t i = 0; i < p.epilogue.outputs.size(); ++i) {
      const TensorDesc& desc = p.epilogue.outputs[i].desc;
      const auto* got_base = outputs[i].as<std::uint8_t>() + e.part.outputs[i];
      Difference d;
      for_each_index(desc, [&](const std::int64_t* index) {
        const std::int64_t offset = desc.offset(index);
        const double got = load_element(desc.type, got_base, offset),
                     want = load_element(desc.type, e.outputs[i].data(), offset);
        ++d.elements;
        if (got == want || (std::isnan(got) && std::isnan(want))) return;
        double tolerance = 0;
        if (e.magnitude) {
          const double magnitude = load_element(e.magnitude_desc.type, e.magnitude->data(), e.magnitude_desc.offset(index));
          const double sum = (2 * (length + 2) * u + input) * magnitude * slope_;
          const double rounding = 2 * unit_roundoff(desc.type) * std::fabs(want) + absolute_step(desc.type);
          tolerance = sum + 8 * u * (std::fabs(want) + magnitude * slope_ * u) + (sum > 0 ? rounding : 0);
        }
        // A transcendental in the epilogue is good to a few units in the last place of f32 in any implementation.
        if (!tame)
          tolerance +=
              16 * 0x1p-23 * (std::fabs(want) + 1) + 2 * unit_roundoff(desc.type) * std::fabs(want) + absolute_step(desc.type);
        const double off = std::fabs(got - want);
        if (off <= tolerance) return;
        if (d.wrong++ == 0) {
          std::array<std::int64_t, kMaxRank> where{};
          std::copy(index, index + desc.rank, where.begin());
          d.first =
              fmt::format("{}{} is {}, the oracle says {} (tolerance {:.3g}){}", "output", coordinate(where.data(), desc.rank),
                          got, want, tolerance, e.part.outputs[i] ? " in a part of the tensor" : "");
        }
        d.largest = std::isnan(off) ? INFINITY : std::max(d.largest, off);
      });
      total.merge(d);
    }
  }
  return total;
}

Difference compare_bits(const Problem& problem, const std::vector<Buffer>& got, const std::vector<Buffer>& want) {
  Difference d;
  for (std::size_t i = 0; i < problem.epilogue.outputs.size(); ++i) {
    const TensorDesc& desc = problem.epilogue.outputs[i].desc;
    d.elements += desc.elements();
    if (std::memcmp(got[i].data(), want[i].data(), static_cast<std::size_t>(desc.span_bytes())) == 0) continue;
    for_each_index(desc, [&](const std::int64_t* index) {
      const std::int64_t offset = desc.offset(index);
      const double g = load_element(desc.type, got[i].data(), offset), w = load_element(desc.type, want[i].data(), offset);
      if (g == w || (std::isnan(g) && std::isnan(w))) return;
      if (d.wrong++ == 0) d.first = fmt::format("output{} is {} and {}", coordinate(index, desc.rank), g, w);
      d.largest = std::max(d.largest, std::fabs(g - w));
    });
  }
  return d;
}

}  // namespace octavo::cli
