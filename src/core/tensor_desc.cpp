// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>

#include "octavo/problem.h"

namespace octavo {
namespace {

struct TypeRow {
  DataType_t type;
  const char* name;
  std::int64_t bytes;
  bool integer;
};

// The one table of element types.
constexpr std::array<TypeRow, 14> kTypes{{
    {DataType_t::NOT_SET, "none", 0, false},
    {DataType_t::FLOAT, "f32", 4, false},
    {DataType_t::DOUBLE, "f64", 8, false},
    {DataType_t::HALF, "f16", 2, false},
    {DataType_t::BFLOAT16, "bf16", 2, false},
    {DataType_t::INT8, "s8", 1, true},
    {DataType_t::UINT8, "u8", 1, true},
    {DataType_t::INT32, "s32", 4, true},
    {DataType_t::INT64, "s64", 8, true},
    {DataType_t::BOOLEAN, "bool", 1, false},
    {DataType_t::BYTE_BOOLEAN, "bytebool", 1, false},
    {DataType_t::FP8_E4M3, "e4m3", 1, false},
    {DataType_t::FP8_E5M2, "e5m2", 1, false},
    {DataType_t::FAST_FLOAT_FOR_FP8, "fastf32", 4, false},
}};

const TypeRow* row(DataType_t type) {
  const auto* it = std::find_if(kTypes.begin(), kTypes.end(), [&](const TypeRow& r) { return r.type == type; });
  return it == kTypes.end() ? nullptr : &*it;
}

std::int64_t blocks(std::int64_t channels, std::int64_t vector) { return (channels + vector - 1) / vector; }

}  // namespace

const char* short_name(DataType_t type) {
  const TypeRow* r = row(type);
  return r ? r->name : "unsupported";
}

bool parse_type(std::string_view text, DataType_t& out) {
  for (const TypeRow& r : kTypes) {
    if (text == r.name) {
      out = r.type;
      return true;
    }
  }
  return false;
}

std::int64_t element_bytes(DataType_t type) {
  const TypeRow* r = row(type);
  return r ? r->bytes : 0;
}

bool is_integer(DataType_t type) {
  const TypeRow* r = row(type);
  return r && r->integer;
}

std::int64_t TensorDesc::elements() const {
  if (rank == 0) return 0;
  std::int64_t n = 1;
  for (int i = 0; i < rank; ++i) n *= dim[i];
  return n;
}

std::int64_t TensorDesc::offset(const std::int64_t* index) const {
  std::int64_t at = 0;
  for (int i = 0; i < rank; ++i)
    at += i == 1 && vector > 1 ? index[1] / vector * stride[1] + index[1] % vector : index[i] * stride[i];
  return at;
}

std::int64_t TensorDesc::span_elements() const {
  if (elements() == 0) return 0;
  std::int64_t last = 0;
  for (int i = 0; i < rank; ++i) {
    if (i == 1 && vector > 1) {
      // The last block's tail lanes are part of the storage (NC/32HW32 buffers hold whole blocks).
      last += (blocks(dim[1], vector) - 1) * stride[1] + vector - 1;
    } else {
      last += (dim[i] - 1) * stride[i];
    }
  }
  return last + 1;
}

std::int64_t TensorDesc::span_bytes() const { return span_elements() * element_bytes(type); }

bool set_layout(TensorDesc& desc, std::string_view layout) {
  std::int64_t vector = 1;
  if (layout == "nc4") vector = 4;
  if (layout == "nc16") vector = 16;
  if (layout == "nc32") vector = 32;
  const bool channels_last = layout == "nhwc";
  if (vector == 1 && !channels_last && layout != "nchw") return false;
  desc.vector = vector;
  desc.stride.fill(0);
  // Innermost first. Empty and size-1 dims advance by 1, so that strides stay positive.
  std::int64_t at = vector;
  auto place = [&](int d, std::int64_t size) {
    desc.stride[d] = at;
    // Dims that nothing has checked yet: stay in range, validate() will refuse them.
    if (__builtin_mul_overflow(at, std::max<std::int64_t>(size, 1), &at)) at = std::int64_t{1} << 62;
  };
  if (channels_last) place(1, desc.dim[1]);
  for (int d = desc.rank - 1; d >= 2; --d) place(d, desc.dim[d]);
  if (!channels_last && desc.rank > 1) place(1, vector > 1 ? blocks(desc.dim[1], vector) : desc.dim[1]);
  if (desc.rank > 0) place(0, desc.dim[0]);
  return true;
}

std::string layout_name(const TensorDesc& desc) {
  for (const char* name : {"nhwc", "nchw", "nc4", "nc16", "nc32"}) {
    TensorDesc packed = desc;
    set_layout(packed, name);
    if (packed.vector == desc.vector && packed.stride == desc.stride) return name;
  }
  return {};
}

}  // namespace octavo
