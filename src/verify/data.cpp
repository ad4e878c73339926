// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/data.h"

#include <cmath>
#include <limits>

#include "engines/cpu_reference/scalar.h"
#include "verify/random.h"

namespace octavo::verify {
namespace {

using cpu_reference::load;
using cpu_reference::Scalar;
using cpu_reference::store;

/// What lies between the elements of an input: NaN, or a value that would be seen in a sum.
unsigned char poison(DataType_t type) { return is_integer(type) || type == DataType_t::BOOLEAN ? 0x6b : 0xff; }

GuardedBuffer allocate(const TensorDesc& desc, std::int64_t misalign_elements) {
  const bool packed = desc.span_elements() == desc.elements() && desc.vector == 1;
  return GuardedBuffer(static_cast<std::size_t>(desc.span_bytes()), poison(desc.type),
                       static_cast<std::size_t>(misalign_elements * element_bytes(desc.type)), !packed);
}

double integer_value(Rng& rng, DataType_t type) {
  const bool extreme = rng.chance(6);
  switch (type) {
    case DataType_t::INT8:
      return static_cast<double>(extreme ? rng.pick({-128, 127, -127}) : rng.between(-128, 127));
    case DataType_t::UINT8:
      return static_cast<double>(extreme ? rng.pick({0, 255}) : rng.between(0, 255));
    case DataType_t::BOOLEAN:
      return static_cast<double>(rng.between(0, 1));
    default:
      return static_cast<double>(rng.between(-100000, 100000));  // s32, s64
  }
}

double small_integer(Rng& rng, DataType_t type) {
  if (type == DataType_t::FLOAT || type == DataType_t::DOUBLE) return static_cast<double>(rng.between(-30, 30));
  return static_cast<double>(rng.between(-4, 4));  // exact in every narrow type
}

/// All elements of a tensor, in storage order where the storage is packed.
template <class Draw>
void draw_elements(const TensorDesc& desc, GuardedBuffer& buffer, Draw&& draw) {
  if (desc.vector == 1 && desc.span_elements() == desc.elements()) {
    const std::int64_t n = desc.elements();
    for (std::int64_t i = 0; i < n; ++i) store(desc.type, buffer.data(), i, Scalar::of_f64(draw()));
  } else {
    for_each_index(
        desc, [&](const std::int64_t* index) { store(desc.type, buffer.data(), desc.offset(index), Scalar::of_f64(draw())); });
  }
}

void draw_input(const TensorDesc& desc, GuardedBuffer& buffer, Rng rng, bool integers) {
  if (is_integer(desc.type)) {
    draw_elements(desc, buffer, [&] { return integer_value(rng, desc.type); });
  } else if (integers) {
    draw_elements(desc, buffer, [&] { return small_integer(rng, desc.type); });
  } else {
    draw_elements(desc, buffer, [&] { return rng.unit() * 2 - 1; });
  }
}

/// An epilogue operand: floats of one of several magnitudes, so that scaled accumulators fall inside and outside int8.
void draw_operand(const TensorDesc& desc, GuardedBuffer& buffer, Rng rng) {
  if (is_integer(desc.type) || desc.type == DataType_t::BOOLEAN) {
    draw_elements(desc, buffer, [&] { return integer_value(rng, desc.type); });
    return;
  }
  const double magnitude = rng.pick({8., 1., 0.125, 1e-2, 1e-3, 1e-4});
  draw_elements(desc, buffer, [&] { return (rng.unit() * 2 - 1) * magnitude; });
}

double edge_value(Rng& rng, DataType_t type) {
  constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
  if (type == DataType_t::INT32)
    return rng.pick({0., 1., -1., 2., 3., -7., 100., -128., 255., 16777217., -33554435., 65536., 2147483647., -2147483648.});
  if (is_integer(type) || type == DataType_t::BOOLEAN) return integer_value(rng, type);
  if (rng.chance(30)) return (rng.unit() * 2 - 1) * rng.pick({1., 10., 1e3, 1e-3});
  return rng.pick({0.,    -0.,   1.,     -1.,   2.,    0.5,        -0.5,       1.5,         2.5,          -2.5,  126.5,
                   127.5, 255.5, -128.5, 448.,  -464., 65504.,     65520.,     -57344.,     61440.,       3e9,   -3e9,
                   1e20,  -1e20, 3e38,   1e-20, 1e-39, -1e-45,     1e-7,       8388609.5,   kInf,         -kInf, kNan,
                   88.,   -88.,  -104.,  -13.5, 6.,    3.14159265, 1.57079633, 2147483648., -2147483648., 0.999, 5e-8});
}

TensorDesc one_element(TensorDesc desc) {
  for (int i = 0; i < desc.rank; ++i) desc.dim[static_cast<std::size_t>(i)] = 1;
  desc.vector = 1;
  return desc;
}

}  // namespace

Data::Data(const Problem& p, std::int64_t misalign_elements) {
  if (p.direction != Direction::dgrad) x = allocate(p.x, misalign_elements);
  if (p.direction != Direction::wgrad) w = allocate(p.w, misalign_elements);
  if (p.direction != Direction::fprop) y = allocate(p.y, misalign_elements);
  for (const Epilogue::Operand& o : p.epilogue.operands) {
    switch (o.source) {
      case Epilogue::Source::device:
        operands.push_back(allocate(o.desc, misalign_elements));
        break;
      case Epilogue::Source::host_scalar:
        operands.push_back(allocate(one_element(o.desc), 0));
        break;
      case Epilogue::Source::constant:
        operands.emplace_back();
        break;
    }
    operand_addresses.push_back(operands.back().data());
  }
  if (p.zero_points.filter == ZeroPoints::Filter::per_channel) w_zero_points.resize(static_cast<std::size_t>(p.w.dim[0]));
}

Data::Data(const Problem& p, std::uint64_t seed, Fill fill, std::int64_t misalign_elements) : Data(p, misalign_elements) {
  if (fill == Fill::edges) {
    const auto draw = [&](const TensorDesc& desc, GuardedBuffer& buffer, std::uint64_t stream) {
      Rng rng(seed * 64 + stream);
      draw_elements(desc, buffer, [&] { return edge_value(rng, desc.type); });
    };
    if (p.direction != Direction::dgrad) draw(p.x, x, 1);
    if (p.direction != Direction::wgrad) draw_elements(p.w, w, [] { return 1.; });
    if (p.direction != Direction::fprop) draw(p.y, y, 3);
    for (std::size_t i = 0; i < operands.size(); ++i)
      if (p.epilogue.operands[i].source != Epilogue::Source::constant)
        draw(p.epilogue.operands[i].source == Epilogue::Source::device ? p.epilogue.operands[i].desc
                                                                       : one_element(p.epilogue.operands[i].desc),
             operands[i], 16 + i);
    return;
  }
  const bool integers = fill == Fill::integers || (fill == Fill::automatic && seed % 2 == 1);
  if (p.direction != Direction::dgrad) draw_input(p.x, x, Rng(seed * 8 + 1), integers);
  if (p.direction != Direction::wgrad) draw_input(p.w, w, Rng(seed * 8 + 2), integers);
  if (p.direction != Direction::fprop) draw_input(p.y, y, Rng(seed * 8 + 3), integers);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Epilogue::Operand& o = p.epilogue.operands[i];
    if (o.source == Epilogue::Source::constant) continue;
    draw_operand(o.source == Epilogue::Source::device ? o.desc : one_element(o.desc), operands[i], Rng(seed * 64 + 16 + i));
  }
  Rng rng(seed * 8 + 4);
  for (std::int32_t& z : w_zero_points)
    z = static_cast<std::int32_t>(integer_value(rng, p.w.type == DataType_t::INT32 ? DataType_t::INT8 : p.w.type));
}

Args Data::args() const {
  Args a;
  a.x = x.data();
  a.w = w.data();
  a.y = y.data();
  a.w_zero_points = w_zero_points.empty() ? nullptr : w_zero_points.data();
  a.operands = operand_addresses;
  return a;
}

void set_elements(const TensorDesc& desc, void* data, const Value& value) {
  for_each_index(desc,
                 [&](const std::int64_t* index) { store(desc.type, data, desc.offset(index), Scalar::of_f64(value(index))); });
}

double get_element(const TensorDesc& desc, const void* data, const std::int64_t* index) {
  return load(desc.type, data, desc.offset(index)).to_f64();
}

}  // namespace octavo::verify
