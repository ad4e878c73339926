// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstring>

#include "engines/cpu_native/amx_bf16_plan.h"

namespace octavo::cpu_native {

std::int64_t Bf16Strip::tap(const FloatGeometry& g, std::int64_t od, std::int64_t oh, std::int64_t ow) const {
  const std::int64_t d = g.axis[0].strip_offset(od), h = g.axis[1].strip_offset(oh), w = g.axis[2].strip_offset(ow);
  const std::int64_t row = columns * pitch, set = rows * row;
  const std::int64_t at = (d * row_sets + h % row_sets) * column_sets * set + h / row_sets * row;
  return merged ? at + w * pitch : at + w % column_sets * set + w / column_sets * pitch;
}

Bf16Strip bf16_strip(const FloatGeometry& g, bool merged, std::int64_t pitch, std::int64_t rows, std::int64_t columns,
                     std::int64_t overrun) {
  Bf16Strip s;
  s.merged = merged;
  s.pitch = pitch;
  s.planes = g.axis[0].extent(1);
  s.row_sets = g.axis[1].strip_step();
  s.rows = ceil_div(g.axis[1].extent(rows), s.row_sets);
  const std::int64_t step = g.axis[2].strip_step(), extent = g.axis[2].extent(columns) + ceil_div(overrun, pitch);
  s.row_points = ceil_div(extent, step);
  s.column_sets = merged ? 1 : step;
  s.columns = merged ? s.row_points * step : s.row_points;
  s.point = merged ? step * pitch : pitch;
  s.image_elements = s.planes * s.row_sets * s.column_sets * s.rows * s.columns * pitch;
  return s;
}

namespace {

/// `count` pixels of one image row into places `to_step` apart.
void pack_pixels(const AmxBf16Isa& isa, const FloatGeometry& g, const std::uint16_t* src, std::int64_t src_step,
                 std::int64_t channel, std::int64_t channels, std::uint16_t* dst, std::int64_t to_step, std::int64_t count,
                 Bf16Range& range) {
  const TensorDesc& in = g.in;
  if (in.vector > 1) {
    for (std::int64_t c = 0; c < channels;) {
      const std::int64_t run = std::min(channels - c, in.vector - (channel + c) % in.vector);
      isa.copy_rows(dst + c, to_step, src + g.channel_offset(channel + c), src_step, count, run, range);
      c += run;
    }
  } else if (in.stride[1] == 1 || channels == 1) {
    isa.copy_rows(dst, to_step, src + channel * in.stride[1], src_step, count, channels, range);
  } else {
    // Channel by channel; the range is read where it lies.
    for (std::int64_t c = 0; c < channels; ++c) {
      const std::uint16_t* from = src + (channel + c) * in.stride[1];
      if (src_step == 1) {
        isa.copy_rows(nullptr, 0, from, 0, 1, count, range);
        for (std::int64_t i = 0; i < count; ++i) dst[i * to_step + c] = from[i];
      } else {
        isa.copy_rows(dst + c, to_step, from, src_step, count, 1, range);
      }
    }
  }
}

}  // namespace

void pack_bf16(const AmxBf16Isa& isa, const FloatGeometry& g, const Bf16Strip& s, const void* in, const Bf16Box& box,
               std::uint16_t* dst, Bf16Range& range) {
  const FloatAxis &d = g.axis[0], &h = g.axis[1], &w = g.axis[2];
  const std::int64_t step = w.strip_step(), extent = w.extent(box.columns);
  const auto zero = [](std::uint16_t* p, std::int64_t n) { std::memset(p, 0, static_cast<std::size_t>(n) * 2); };
  for (std::int64_t jd = 0; jd < s.planes; ++jd) {
    if (!strip_row_needed(d, jd, 1)) continue;
    const std::int64_t id = d.input(box.plane, jd);
    for (std::int64_t jh = 0; jh < h.extent(box.rows); ++jh) {
      if (!strip_row_needed(h, jh, box.rows)) continue;
      const std::int64_t ih = h.input(box.row, jh);
      const std::int64_t set = s.rows * s.columns * s.pitch;
      std::uint16_t* row =
          dst + ((jd * s.row_sets + jh % s.row_sets) * s.column_sets * set) + jh / s.row_sets * s.columns * s.pitch;
      const bool outside = id < 0 || id >= d.in || ih < 0 || ih >= h.in;
      for (std::int64_t b = 0; b < s.column_sets; ++b) {
        // Strip columns b, b + stride, ...; all of them when merged.
        std::uint16_t* to = row + b * set;
        const std::int64_t every = s.merged ? 1 : step;
        const std::int64_t count = extent > b ? ceil_div(extent - b, every) : 0;
        const std::int64_t first = w.input(box.column, b), jump = w.compact ? w.in_step : every;
        std::int64_t left = outside ? count : first >= 0 ? 0 : std::min(ceil_div(-first, jump), count);
        const std::int64_t right = outside         ? count
                                   : first >= w.in ? left
                                                   : std::clamp((w.in - 1 - first) / jump + 1, left, count);
        zero(to, left * s.pitch);
        zero(to + right * s.pitch, (s.columns - right) * s.pitch);
        if (left == right) continue;
        const std::uint16_t* src = static_cast<const std::uint16_t*>(in) + box.image * g.in.stride[0] + id * g.in_stride[0] +
                                   ih * g.in_stride[1] + (first + left * jump) * g.in_stride[2];
        pack_pixels(isa, g, src, jump * g.in_stride[2], box.channel, box.channels, to + left * s.pitch, s.pitch, right - left,
                    range);
        for (std::int64_t i = left; s.pitch > box.channels && i < right; ++i)
          zero(to + i * s.pitch + box.channels, s.pitch - box.channels);
      }
    }
  }
}

}  // namespace octavo::cpu_native
