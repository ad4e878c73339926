// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "workload.h"

namespace octavo::cli {
namespace {

using verify::GuardedBuffer;

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

namespace {

// The bytes of a part's tensor; its strides are the whole tensor's.
void copy_in(GuardedBuffer& to, const GuardedBuffer& from, std::int64_t offset) {
  if (to.size() && from.size()) std::memcpy(to.data(), from.data() + offset, to.size());
}

}  // namespace

error_t PartialOracle::prepare(const Problem& problem, const verify::Data& data, double operations) {
  pieces_.clear();
  double checked = 0;
  for (Part& part : parts_to_check(problem, operations)) {
    checked += part.problem.operations();
    verify::Data inputs(part.problem);
    Piece piece{std::move(part), std::move(inputs), {}};
    const Part& kept = piece.part;
    verify::Data& d = piece.data;
    copy_in(kept.problem.direction == Direction::dgrad ? d.y : d.x, input_a(problem, data), kept.a);
    copy_in(kept.problem.direction == Direction::wgrad ? d.y : d.w, input_b(problem, data), kept.b);
    for (std::size_t i = 0; i < d.operands.size(); ++i) copy_in(d.operands[i], data.operands[i], kept.operands[i]);
    for (std::size_t i = 0; i < d.w_zero_points.size(); ++i)
      d.w_zero_points[i] = data.w_zero_points[static_cast<std::size_t>(kept.filter_first) + i];
    OCTAVO_RETURN_IF_ERROR(verify::Expected::compute(kept.problem, d, piece.expected));
    pieces_.push_back(std::move(piece));
  }
  share_ = problem.operations() > 0 ? std::min(1.0, checked / problem.operations()) : 1.0;
  return {};
}

std::string PartialOracle::judge(const std::vector<GuardedBuffer>& outputs) const {
  for (const GuardedBuffer& o : outputs) {
    if (!o.intact()) return "it wrote outside its buffers";
  }
  for (const Piece& piece : pieces_) {
    const Problem& p = piece.part.problem;
    std::vector<GuardedBuffer> mine = verify::make_outputs(p);
    for (std::size_t i = 0; i < mine.size(); ++i) {
      // Element by element: what lies between the elements belongs to other parts.
      const TensorDesc& desc = p.epilogue.outputs[i].desc;
      const auto bytes = static_cast<std::size_t>(element_bytes(desc.type));
      const std::byte* from = outputs[i].data() + piece.part.outputs[i];
      verify::for_each_index(desc, [&](const std::int64_t* index) {
        const std::size_t at = static_cast<std::size_t>(desc.offset(index)) * bytes;
        std::memcpy(mine[i].data() + at, from + at, bytes);
      });
    }
    std::string message = piece.expected.judge(p, piece.data, mine);
    if (!message.empty()) return pieces_.size() == 1 ? message : message + fmt::format(" (in the part: {})", p.to_string());
  }
  return {};
}

std::string compare_bits(const Problem& problem, const std::vector<GuardedBuffer>& got,
                         const std::vector<GuardedBuffer>& want) {
  for (std::size_t i = 0; i < problem.epilogue.outputs.size(); ++i) {
    const TensorDesc& desc = problem.epilogue.outputs[i].desc;
    if (std::memcmp(got[i].data(), want[i].data(), got[i].size()) == 0) continue;
    std::int64_t wrong = 0;
    std::string first;
    verify::for_each_index(desc, [&](const std::int64_t* index) {
      const double g = verify::get_element(desc, got[i].data(), index), w = verify::get_element(desc, want[i].data(), index);
      if (g == w || (g != g && w != w)) return;
      if (wrong++ == 0) first = fmt::format("[{}] is {} and {}", fmt::join(index, index + desc.rank, ","), g, w);
    });
    if (wrong) return fmt::format("{} of {} elements differ; the first: {}", wrong, desc.elements(), first);
  }
  return {};
}

}  // namespace octavo::cli
