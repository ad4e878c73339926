// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#include "octavo/problem.h"

namespace octavo {

const char* to_string(Direction direction) {
  switch (direction) {
    case Direction::fprop:
      return "fprop";
    case Direction::dgrad:
      return "dgrad";
    case Direction::wgrad:
      return "wgrad";
  }
  return "?";
}

const TensorDesc& Problem::result() const { return direction == Direction::fprop ? y : direction == Direction::dgrad ? x : w; }
TensorDesc& Problem::result() { return const_cast<TensorDesc&>(static_cast<const Problem*>(this)->result()); }
const TensorDesc& Problem::input_a() const { return direction == Direction::dgrad ? y : x; }
const TensorDesc& Problem::input_b() const { return direction == Direction::wgrad ? y : w; }

namespace {
std::int64_t spatial_product(const TensorDesc& t) {
  std::int64_t n = 1;
  for (int i = 2; i < t.rank; ++i) n *= t.dim[i];
  return n;
}
}  // namespace

std::int64_t Problem::accumulation_length() const {
  switch (direction) {
    case Direction::fprop:
      return w.dim[1] * spatial_product(w);
    case Direction::dgrad:
      return w.dim[0] / groups() * spatial_product(w);
    case Direction::wgrad:
      return y.dim[0] * spatial_product(y);
  }
  return 0;
}

double Problem::operations() const {
  return 2.0 * static_cast<double>(y.dim[0]) * static_cast<double>(y.dim[1]) * static_cast<double>(spatial_product(y)) *
         static_cast<double>(w.dim[1]) * static_cast<double>(spatial_product(w));
}

DataType_t accumulator_type(const Problem& problem) {
  const DataType_t type = problem.input_a().type;
  if (is_integer(type)) return DataType_t::INT32;
  return type == DataType_t::DOUBLE ? DataType_t::DOUBLE : DataType_t::FLOAT;
}

}  // namespace octavo
