// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstring>

#include "core/float.h"
#include "engines/cpu_native/direct_float.h"

namespace octavo::cpu_native {
namespace {

void zero(float* dst, std::int64_t count) { std::memset(dst, 0, static_cast<std::size_t>(count) * sizeof(float)); }

template <class T, class Convert>
void pack_tap(float* dst, std::int64_t dst_row, const void* tap, std::int64_t o_stride, const std::int64_t* i_offset,
              std::int64_t depth, std::int64_t count, std::int64_t width, Convert convert) {
  for (std::int64_t i = 0; i < depth; ++i, dst += dst_row) {
    const T* src = static_cast<const T*>(tap) + i_offset[i];
    for (std::int64_t l = 0; l < count; ++l) dst[l] = convert(src[l * o_stride]);
    for (std::int64_t l = count; l < width; ++l) dst[l] = 0;
  }
}

/// `columns` pixels of one image row, `step` strides apart, from `src` (in bytes) on.
void pack_row(const F32Kernels& kernels, const FloatGeometry& g, const char* src, std::int64_t pixel_stride,
              const StripBox& box, std::int64_t columns, float* dst) {
  const TensorDesc& in = g.in;
  const std::int64_t bytes = element_bytes(in.type);
  const std::int64_t cd = box.channels;
  const auto at = [&](std::int64_t c) { return src + g.channel_offset(c) * bytes; };
  if (in.vector > 1) {
    for (std::int64_t c = 0; c < cd;) {
      const std::int64_t run = std::min(cd - c, in.vector - (box.channel + c) % in.vector);
      const char* s = at(box.channel + c);
      kernels.widen_rows(dst + c, box.pitch, s, pixel_stride, columns, run, in.type);
      c += run;
    }
    return;
  }
  const char* s = at(box.channel);
  if (in.stride[1] == 1 || cd == 1) {
    if (box.pitch == cd && pixel_stride == cd) {
      kernels.widen(dst, s, columns * cd, in.type);
      return;
    }
    kernels.widen_rows(dst, box.pitch, s, pixel_stride, columns, cd, in.type);
    return;
  }
  if (pixel_stride == 1 || columns == 1) {
    kernels.widen_transposed(dst, box.pitch, s, in.stride[1], cd, columns, in.type);
    return;
  }
  for (std::int64_t j = 0; j < columns; ++j) {
    kernels.widen_rows(dst + j * box.pitch, 1, s + j * pixel_stride * bytes, in.stride[1], cd, 1, in.type);
  }
}

}  // namespace

void pack_filter_tap(float* dst, std::int64_t dst_row, const void* tap, DataType_t type, std::int64_t o_stride,
                     const std::int64_t* i_offset, std::int64_t depth, std::int64_t count, std::int64_t width) {
  switch (type) {
    case DataType_t::FLOAT:
      return pack_tap<float>(dst, dst_row, tap, o_stride, i_offset, depth, count, width, [](float v) { return v; });
    case DataType_t::BFLOAT16:
      return pack_tap<std::uint16_t>(dst, dst_row, tap, o_stride, i_offset, depth, count, width, bf16_to_float);
    default:
      return pack_tap<std::uint16_t>(dst, dst_row, tap, o_stride, i_offset, depth, count, width, f16_to_float);
  }
}

namespace {

/// Columns [left, right) of a strip row lie inside the image, from `offset` (in elements) on, `pixel` apart; empty rows are
/// padding.
struct RowSource {
  std::int64_t columns = 0, left = 0, right = 0, offset = 0, pixel = 0;
};

RowSource row_source(const FloatGeometry& g, const StripBox& box, std::int64_t jd, std::int64_t jh) {
  const FloatAxis& w = g.axis[2];
  RowSource r;
  r.columns = w.extent(box.count[2]);
  const std::int64_t first = w.input(box.output[2], 0), step = w.compact ? w.in_step : 1;
  const std::int64_t d = g.axis[0].input(box.output[0], jd), h = g.axis[1].input(box.output[1], jh);
  if (d < 0 || d >= g.axis[0].in || h < 0 || h >= g.axis[1].in) return r;
  r.left = first >= 0 ? 0 : std::min(ceil_div(-first, step), r.columns);
  r.right = first >= w.in ? r.left : std::clamp((w.in - 1 - first) / step + 1, r.left, r.columns);
  r.offset = box.image * g.in.stride[0] + d * g.in_stride[0] + h * g.in_stride[1] + (first + r.left * step) * g.in_stride[2];
  r.pixel = step * g.in_stride[2];
  return r;
}

}  // namespace

void pack_strip_row(const F32Kernels& kernels, const FloatGeometry& g, const void* in, const StripBox& box, std::int64_t jd,
                    std::int64_t jh, float* row) {
  const RowSource r = row_source(g, box, jd, jh);
  zero(row, r.left * box.pitch);
  zero(row + r.right * box.pitch, (r.columns - r.right) * box.pitch);
  if (r.left >= r.right) return;
  pack_row(kernels, g, static_cast<const char*>(in) + r.offset * element_bytes(g.in.type), r.pixel, box, r.right - r.left,
           row + r.left * box.pitch);
}

void prefetch_box(const FloatGeometry& g, const void* in, const StripBox& box, std::int64_t channel, std::int64_t channels) {
  if (g.in.vector != 1 || g.in.stride[1] != 1) return;
  const std::int64_t bytes = element_bytes(g.in.type), run = channels * bytes;
  for (std::int64_t jd = 0; jd < g.axis[0].extent(box.count[0]); ++jd) {
    for (std::int64_t jh = 0; jh < g.axis[1].extent(box.count[1]); ++jh) {
      const RowSource r = row_source(g, box, jd, jh);
      const char* at = static_cast<const char*>(in) + (r.offset + channel) * bytes;
      for (std::int64_t j = r.left; j < r.right; ++j, at += r.pixel * bytes) {
        for (std::int64_t b = 0; b < run; b += 64) __builtin_prefetch(at + b, 0, 2);
      }
    }
  }
}

void pack_strip(const F32Kernels& kernels, const FloatGeometry& g, const void* in, const StripBox& box, float* dst) {
  const std::int64_t planes = g.axis[0].extent(box.count[0]), rows = g.axis[1].extent(box.count[1]);
  for (std::int64_t jd = 0; jd < planes; ++jd) {
    if (!strip_row_needed(g.axis[0], jd, box.count[0])) continue;
    for (std::int64_t jh = 0; jh < rows; ++jh) {
      if (!strip_row_needed(g.axis[1], jh, box.count[1])) continue;
      pack_strip_row(kernels, g, in, box, jd, jh, dst + jd * box.plane + jh * box.row);
    }
  }
}

}  // namespace octavo::cpu_native
