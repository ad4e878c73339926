// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// bf16 on emulated tiles, in plain C++.

#include <algorithm>

#include "core/float.h"
#include "engines/cpu_native/amx_bf16.h"

namespace octavo::cpu_native {
namespace {

void copy_rows(std::uint16_t* dst, std::int64_t dst_row, const std::uint16_t* src, std::int64_t src_row, std::int64_t rows,
               std::int64_t count, Bf16Range& range) {
  for (std::int64_t r = 0; r < rows; ++r, src += src_row) {
    for (std::int64_t i = 0; i < count; ++i) {
      const auto magnitude = static_cast<std::uint16_t>(src[i] & 0x7fffu);
      range.smallest = std::min(range.smallest, static_cast<std::uint16_t>(magnitude - 1u));
      range.largest = std::max(range.largest, magnitude);
      if (dst != nullptr) dst[r * dst_row + i] = src[i];
    }
  }
}

void narrow_rows(std::uint16_t* dst, std::int64_t dst_row, const float* src, std::int64_t src_row, std::int64_t rows,
                 std::int64_t count) {
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t i = 0; i < count; ++i) dst[r * dst_row + i] = float_to_bf16(src[r * src_row + i]);
  }
}

void interleave(std::uint16_t* dst, const std::uint16_t* even, const std::uint16_t* odd, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    dst[2 * i] = even[i];
    dst[2 * i + 1] = odd[i];
  }
}

void transpose(std::uint16_t* dst, std::int64_t dst_row, const std::uint16_t* src, std::int64_t src_row, std::int64_t rows,
               std::int64_t columns) {
  for (std::int64_t j = 0; j < columns; ++j) {
    for (std::int64_t i = 0; i < 32; ++i) dst[j * dst_row + i] = i < rows ? src[i * src_row + j] : std::uint16_t{0};
  }
}

constexpr AmxBf16Isa make() {
  AmxBf16Isa isa = make_amx_bf16<EmulatedTiles>();
  isa.copy_rows = copy_rows;
  isa.narrow_rows = narrow_rows;
  isa.interleave = interleave;
  isa.transpose = transpose;
  return isa;
}

}  // namespace

const AmxBf16Isa kAmxBf16Emulated = make();

}  // namespace octavo::cpu_native
