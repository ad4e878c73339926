// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "workload.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>

#include "core/float.h"
#include "core/parallel.h"

namespace octavo::cli {

Buffer::Buffer(std::int64_t bytes) : bytes_(bytes) {
  const std::size_t size = (static_cast<std::size_t>(bytes) + 63) / 64 * 64 + 2 * kGuard;
  auto* p = static_cast<std::uint8_t*>(std::aligned_alloc(64, size));
  if (!p) throw std::bad_alloc();
  base_.reset(p);
  std::memset(p, 0xc3, kGuard);
  std::memset(p + kGuard + bytes, 0xc3, size - kGuard - static_cast<std::size_t>(bytes));
}

void Buffer::fill(std::uint8_t value) {
  if (base_) std::memset(data(), value, static_cast<std::size_t>(bytes_));
}

bool Buffer::guards_intact() const {
  if (!base_) return true;
  for (std::size_t i = 0; i < kGuard; ++i) {
    if (base_[i] != 0xc3 || base_[kGuard + static_cast<std::size_t>(bytes_) + i] != 0xc3) return false;
  }
  return true;
}

std::uint64_t Random::next() {
  std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

std::int64_t Random::between(std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(high - low + 1));
}

double Random::unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

double load_element(DataType_t type, const void* data, std::int64_t i) {
  switch (type) {
    case DataType_t::FLOAT:
      return static_cast<const float*>(data)[i];
    case DataType_t::DOUBLE:
      return static_cast<const double*>(data)[i];
    case DataType_t::HALF:
      return f16_to_float(static_cast<const std::uint16_t*>(data)[i]);
    case DataType_t::BFLOAT16:
      return bf16_to_float(static_cast<const std::uint16_t*>(data)[i]);
    case DataType_t::INT8:
      return static_cast<const std::int8_t*>(data)[i];
    case DataType_t::UINT8:
      return static_cast<const std::uint8_t*>(data)[i];
    case DataType_t::BOOLEAN:
      return static_cast<const std::uint8_t*>(data)[i];
    case DataType_t::INT32:
      return static_cast<const std::int32_t*>(data)[i];
    case DataType_t::INT64:
      return static_cast<double>(static_cast<const std::int64_t*>(data)[i]);
    case DataType_t::FP8_E4M3:
      return e4m3_to_float(static_cast<const std::uint8_t*>(data)[i]);
    case DataType_t::FP8_E5M2:
      return e5m2_to_float(static_cast<const std::uint8_t*>(data)[i]);
    default:
      return 0;
  }
}

void store_element(DataType_t type, void* data, std::int64_t i, double v) {
  const auto f = static_cast<float>(v);
  switch (type) {
    case DataType_t::FLOAT:
      static_cast<float*>(data)[i] = f;
      break;
    case DataType_t::DOUBLE:
      static_cast<double*>(data)[i] = v;
      break;
    case DataType_t::HALF:
      static_cast<std::uint16_t*>(data)[i] = float_to_f16(f);
      break;
    case DataType_t::BFLOAT16:
      static_cast<std::uint16_t*>(data)[i] = float_to_bf16(f);
      break;
    case DataType_t::INT8:
      static_cast<std::int8_t*>(data)[i] = round_saturate<std::int8_t>(v);
      break;
    case DataType_t::UINT8:
      static_cast<std::uint8_t*>(data)[i] = round_saturate<std::uint8_t>(v);
      break;
    case DataType_t::BOOLEAN:
      static_cast<std::uint8_t*>(data)[i] = v != 0;
      break;
    case DataType_t::INT32:
      static_cast<std::int32_t*>(data)[i] = round_saturate<std::int32_t>(v);
      break;
    case DataType_t::INT64:
      static_cast<std::int64_t*>(data)[i] = static_cast<std::int64_t>(v);
      break;
    case DataType_t::FP8_E4M3:
      static_cast<std::uint8_t*>(data)[i] = float_to_e4m3(f);
      break;
    case DataType_t::FP8_E5M2:
      static_cast<std::uint8_t*>(data)[i] = float_to_e5m2(f);
      break;
    default:
      break;
  }
}

std::int64_t small_limit(const Problem& problem) {
  const double length = static_cast<double>(std::max<std::int64_t>(1, problem.accumulation_length()));
  std::int64_t limit = static_cast<std::int64_t>(std::sqrt(0x1p23 / length));  // one bit to spare for the epilogue
  for (const DataType_t type : {problem.input_a().type, problem.input_b().type}) {
    if (type == DataType_t::FP8_E5M2) limit = std::min<std::int64_t>(limit, 4);  // integers that the type holds exactly
    if (type == DataType_t::FP8_E4M3) limit = std::min<std::int64_t>(limit, 8);
    if (type == DataType_t::BFLOAT16) limit = std::min<std::int64_t>(limit, 127);
  }
  return std::clamp<std::int64_t>(limit, 1, 127);
}

namespace {

// Blocks have seeds of their own, so the bytes do not depend on the number of threads.
void fill_elements(Buffer& buffer, DataType_t type, std::int64_t elements, Fill how, std::int64_t limit, std::uint64_t seed) {
  constexpr std::int64_t kBlock = 1 << 14;
  auto body = [&](std::int64_t block, int) {
    Random random(seed ^ (static_cast<std::uint64_t>(block) * 0xd1342543de82ef95ULL));
    const std::int64_t end = std::min(elements, (block + 1) * kBlock);
    if (how == Fill::full && (type == DataType_t::INT8 || type == DataType_t::UINT8)) {
      auto* p = buffer.as<std::uint8_t>();
      for (std::int64_t i = block * kBlock; i < end; i += 8) {
        const std::uint64_t bits = random.next();
        std::memcpy(p + i, &bits, static_cast<std::size_t>(std::min<std::int64_t>(8, end - i)));
      }
      return;
    }
    for (std::int64_t i = block * kBlock; i < end; ++i) {
      double v = 0;
      if (how == Fill::small)
        v = static_cast<double>(random.between(type == DataType_t::UINT8 ? 0 : -limit, limit));
      else if (is_integer(type))
        v = static_cast<double>(random.between(-100000, 100000));
      else
        v = random.unit() * 2 - 1;
      store_element(type, buffer.data(), i, type == DataType_t::BOOLEAN ? static_cast<double>(v > 0) : v);
    }
  };
  parallel_for((elements + kBlock - 1) / kBlock, body);
}

}  // namespace

Workload make_workload(const Problem& problem, Fill fill, std::uint64_t seed) {
  Workload w;
  w.problem = problem;
  const std::int64_t limit = small_limit(problem);
  const auto make = [&](const TensorDesc& desc, Fill how, std::int64_t most, std::uint64_t salt) {
    Buffer buffer(desc.span_bytes());
    fill_elements(buffer, desc.type, desc.span_elements(), how, most, seed * 1000003 + salt);
    return buffer;
  };
  w.a = make(problem.input_a(), fill, limit, 1);
  w.b = make(problem.input_b(), fill, limit, 2);
  if (problem.zero_points.filter == ZeroPoints::Filter::per_channel) {
    w.w_zero_points = Buffer(problem.w.dim[0] * 4);
    Random random(seed + 3);
    for (std::int64_t k = 0; k < problem.w.dim[0]; ++k)
      w.w_zero_points.as<std::int32_t>()[k] =
          static_cast<std::int32_t>(problem.w.type == DataType_t::UINT8 ? random.between(0, 255) : random.between(-128, 127));
  }
  std::uint64_t salt = 10;
  for (const Epilogue::Operand& o : problem.epilogue.operands)
    w.operands.push_back(o.source == Epilogue::Source::constant ? Buffer() : make(o.desc, Fill::small, 8, salt++));
  return w;
}

std::vector<Buffer> Workload::make_outputs(std::uint8_t fill) const {
  std::vector<Buffer> outputs;
  for (const Epilogue::Output& o : problem.epilogue.outputs) {
    outputs.emplace_back(o.desc.span_bytes());
    outputs.back().fill(fill);
  }
  return outputs;
}

Args Workload::args(const std::vector<Buffer>& outputs, Pointers& pointers) const {
  pointers = {};
  for (const Buffer& o : operands) pointers.operands.push_back(o.data());
  for (const Buffer& o : outputs) pointers.outputs.push_back(o.data());
  Args args;
  const Direction d = problem.direction;
  args.x = d == Direction::dgrad ? nullptr : a.data();
  args.w = d == Direction::wgrad ? nullptr : b.data();
  args.y = d == Direction::fprop ? nullptr : d == Direction::dgrad ? a.data() : b.data();
  args.w_zero_points = w_zero_points.as<const std::int32_t>();
  args.operands = pointers.operands;
  args.outputs = pointers.outputs;
  return args;
}

void fill_scale_and_bias(Workload& w, bool scale, bool bias, std::uint64_t seed) {
  const Problem& p = w.problem;
  const double length = static_cast<double>(std::max<std::int64_t>(1, p.accumulation_length()));
  // Standard deviation of a product of two full-range bytes; the target is half of the output's range.
  const bool unsigned_input = p.input_a().type == DataType_t::UINT8;
  const double sum = is_integer(p.input_a().type) ? (unsigned_input ? 147.0 : 74.0) * 74.0 * std::sqrt(length) : 1.0;
  const double base = is_integer(p.input_a().type) ? std::exp2(std::round(std::log2(60.0 / sum))) : 1.0;
  Random random(seed);
  std::size_t operand = 0;
  std::vector<double> scales(1, 1.0);
  if (scale) {
    const TensorDesc& desc = p.epilogue.operands[operand].desc;
    scales.resize(static_cast<std::size_t>(desc.elements()));
    for (std::size_t i = 0; i < scales.size(); ++i) {
      scales[i] = base * std::exp2(static_cast<double>(random.between(-1, 1)));
      w.operands[operand].as<float>()[i] = static_cast<float>(scales[i]);
    }
    ++operand;
  }
  if (bias) {
    const std::int64_t count = p.epilogue.operands[operand].desc.elements();
    for (std::int64_t i = 0; i < count; ++i) {
      const double s = scales[scales.size() == 1 ? 0 : static_cast<std::size_t>(i)];
      const double unit = is_integer(p.input_a().type) ? 20.0 : 1.0;
      w.operands[operand].as<float>()[i] = static_cast<float>(std::round((random.unit() * 2 - 1) * unit / s) * s);
    }
  }
}

error_t Runner::build(const Problem& problem, const PlanSpec& spec, const DeviceTraits& device, const void* constant_filter) {
  BuildOptions options;
  options.constant_filter = constant_filter;
  OCTAVO_RETURN_IF_ERROR(build_plan(problem, spec, device, options, plan_));
  workspace_ = Buffer(static_cast<std::int64_t>(plan_->workspace_bytes()));
  workspace_.fill(0xff);
  return {};
}

error_t Runner::execute(Args args) const {
  args.workspace = workspace_.bytes() ? workspace_.data() : nullptr;
  return plan_->execute(args);
}

error_t Runner::execute(const Workload& workload, const std::vector<Buffer>& outputs) const {
  Workload::Pointers pointers;
  return execute(workload.args(outputs, pointers));
}

void Difference::merge(const Difference& other) {
  if (first.empty()) first = other.first;
  elements += other.elements;
  wrong += other.wrong;
  largest = std::max(largest, other.largest);
}

}  // namespace octavo::cli
