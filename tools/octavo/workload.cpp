// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "workload.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/parallel.h"
#include "engines/cpu_reference/scalar.h"
#include "verify/compare.h"
#include "verify/random.h"

namespace octavo::cli {
namespace {

using cpu_reference::Scalar;
using verify::GuardedBuffer;
using verify::Rng;

// Blocks have seeds of their own, so the bytes do not depend on the number of threads. Every byte is written, those between
// the elements too.
void fill(const TensorDesc& desc, GuardedBuffer& buffer, std::uint64_t seed) {
  constexpr std::int64_t kBlock = 1 << 14;
  const std::int64_t elements = desc.span_elements();
  const bool bytes = desc.type == DataType_t::INT8 || desc.type == DataType_t::UINT8;
  auto body = [&](std::int64_t block, int) {
    Rng rng(seed * 1000003 + static_cast<std::uint64_t>(block));
    const std::int64_t end = std::min(elements, (block + 1) * kBlock);
    std::int64_t i = block * kBlock;
    for (; bytes && i < end; i += 8) {
      const std::uint64_t bits = rng.next();
      std::memcpy(buffer.data() + i, &bits, static_cast<std::size_t>(std::min<std::int64_t>(8, end - i)));
    }
    for (; i < end; ++i) {
      const double v = is_integer(desc.type) ? static_cast<double>(rng.between(-100000, 100000)) : rng.unit() * 2 - 1;
      cpu_reference::store(desc.type, buffer.data(), i, Scalar::of_f64(v));
    }
  };
  parallel_for((elements + kBlock - 1) / kBlock, body);
}

}  // namespace

verify::Data make_data(const Problem& p, std::uint64_t seed) {
  verify::Data data(p);
  if (p.direction != Direction::dgrad) fill(p.x, data.x, seed * 8 + 1);
  if (p.direction != Direction::wgrad) fill(p.w, data.w, seed * 8 + 2);
  if (p.direction != Direction::fprop) fill(p.y, data.y, seed * 8 + 3);
  for (std::size_t i = 0; i < data.operands.size(); ++i) {
    const Epilogue::Operand& o = p.epilogue.operands[i];
    if (o.source == Epilogue::Source::constant) continue;
    TensorDesc desc = o.desc;
    if (o.source == Epilogue::Source::host_scalar) desc.dim.fill(1);
    fill(desc, data.operands[i], seed * 64 + 16 + i);
  }
  Rng rng(seed * 8 + 4);
  const bool is_unsigned = p.w.type == DataType_t::UINT8;
  for (std::int32_t& z : data.w_zero_points)
    z = static_cast<std::int32_t>(is_unsigned ? rng.between(0, 255) : rng.between(-128, 127));
  return data;
}

void fill_scale_and_bias(const Problem& p, verify::Data& data, bool scale, bool bias, std::uint64_t seed) {
  const double length = static_cast<double>(std::max<std::int64_t>(1, p.accumulation_length()));
  const bool integer = is_integer(p.input_a().type);
  // 74 is the root mean square of a signed byte, 147 that of an unsigned one; the target is half of the output's range.
  const double sum = (p.input_a().type == DataType_t::UINT8 ? 147.0 : 74.0) * 74.0 * std::sqrt(length);
  const double base = integer ? std::exp2(std::round(std::log2(60.0 / sum))) : 1.0;
  const double unit = integer ? 20.0 : 1.0;
  Rng rng(seed);
  std::size_t operand = 0;
  std::vector<double> scales(1, 1.0);
  if (scale) {
    scales.resize(static_cast<std::size_t>(p.epilogue.operands[operand].desc.elements()));
    auto* to = reinterpret_cast<float*>(data.operands[operand++].data());
    for (std::size_t i = 0; i < scales.size(); ++i) {
      scales[i] = base * std::exp2(static_cast<double>(rng.between(-1, 1)));
      to[i] = static_cast<float>(scales[i]);
    }
  }
  if (bias) {
    const std::int64_t count = p.epilogue.operands[operand].desc.elements();
    auto* to = reinterpret_cast<float*>(data.operands[operand].data());
    for (std::int64_t i = 0; i < count; ++i) {
      const double s = scales[scales.size() == 1 ? 0 : static_cast<std::size_t>(i)];
      to[i] = static_cast<float>(integer ? std::round((rng.unit() * 2 - 1) * unit / s) * s
                                         : static_cast<double>(rng.between(-64, 64)) / 64);  // also a bf16 number
    }
  }
}

const GuardedBuffer& input_a(const Problem& p, const verify::Data& data) {
  return p.direction == Direction::dgrad ? data.y : data.x;
}
const GuardedBuffer& input_b(const Problem& p, const verify::Data& data) {
  return p.direction == Direction::wgrad ? data.y : data.w;
}

error_t Runner::build(const Problem& problem, const PlanSpec& spec, const DeviceTraits& device, const void* constant_filter) {
  BuildOptions options;
  options.constant_filter = constant_filter;
  OCTAVO_RETURN_IF_ERROR(build_plan(problem, spec, device, options, plan_));
  workspace_ = GuardedBuffer(plan_->workspace_bytes(), 0xff);
  return {};
}

void Runner::bind(const verify::Data& data, std::vector<GuardedBuffer>& outputs) {
  outputs_.clear();
  for (GuardedBuffer& o : outputs) outputs_.push_back(o.data());
  args_ = data.args();
  args_.outputs = outputs_;
  args_.workspace = plan_->workspace_bytes() ? workspace_.data() : nullptr;
}

}  // namespace octavo::cli
