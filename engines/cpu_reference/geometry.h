// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A problem seen as three-dimensional, whatever its rank: missing leading spatial axes have size 1. All arithmetic is 64-bit.

#include <array>
#include <cstdint>

#include "octavo/problem.h"

namespace octavo::cpu_reference {

using Triple = std::array<std::int64_t, kMaxSpatial>;

inline std::int64_t product(const Triple& t) { return t[0] * t[1] * t[2]; }

/// The coordinate of a linear index over a box, last axis fastest.
inline Triple unravel(std::int64_t linear, const Triple& box) {
  return {linear / (box[1] * box[2]), linear / box[2] % box[1], linear % box[2]};
}

/// Where the elements of one tensor are.
struct View {
  DataType_t type = DataType_t::NOT_SET;
  std::int64_t batch = 0, channel = 0, vector = 1;  ///< strides of dims 0 and 1; the vector width of dim 1
  Triple spatial{};

  explicit View(const TensorDesc& t) : type(t.type), batch(t.stride[0]), channel(t.stride[1]), vector(t.vector) {
    for (int i = 0; i < t.rank - 2; ++i)
      spatial[static_cast<std::size_t>(kMaxSpatial - (t.rank - 2) + i)] = t.stride[static_cast<std::size_t>(2 + i)];
  }
  std::int64_t channel_offset(std::int64_t c) const { return vector == 1 ? c * channel : c / vector * channel + c % vector; }
  std::int64_t spatial_offset(const Triple& at) const { return at[0] * spatial[0] + at[1] * spatial[1] + at[2] * spatial[2]; }
};

struct Geometry {
  std::int64_t n, c, k, groups, c_per_group, k_per_group, taps;
  Triple in{1, 1, 1}, out{1, 1, 1}, filter{1, 1, 1}, pre{}, stride{1, 1, 1}, dilation{1, 1, 1};
  bool flip;

  explicit Geometry(const Problem& p)
      : n(p.x.dim[0]),
        c(p.x.dim[1]),
        k(p.w.dim[0]),
        groups(p.groups()),
        c_per_group(p.w.dim[1]),
        k_per_group(groups > 0 ? k / groups : 0),
        taps(1),
        flip(p.mode == ConvolutionMode_t::CONVOLUTION) {
    const std::size_t spatial = static_cast<std::size_t>(p.spatial());
    for (std::size_t i = 0; i < spatial; ++i) {
      const std::size_t at = kMaxSpatial - spatial + i;
      in[at] = p.x.dim[2 + i];
      out[at] = p.y.dim[2 + i];
      filter[at] = p.w.dim[2 + i];
      pre[at] = p.pre_pad[i];
      stride[at] = p.stride[i];
      dilation[at] = p.dilation[i];
    }
    taps = product(filter);
  }

  /// The filter element that meets tap `t`: itself, or mirrored on every axis in CONVOLUTION mode.
  Triple filter_at(const Triple& t) const {
    return flip ? Triple{filter[0] - 1 - t[0], filter[1] - 1 - t[1], filter[2] - 1 - t[2]} : t;
  }
  /// The input pixel that output pixel `o` reads through tap `t`; false: it is padding.
  bool input_at(const Triple& o, const Triple& t, Triple& i) const {
    for (std::size_t a = 0; a < kMaxSpatial; ++a) {
      i[a] = o[a] * stride[a] - pre[a] + t[a] * dilation[a];
      if (i[a] < 0 || i[a] >= in[a]) return false;
    }
    return true;
  }
  /// The output pixel that reads input pixel `i` through tap `t`; false: none does.
  bool output_at(const Triple& i, const Triple& t, Triple& o) const {
    for (std::size_t a = 0; a < kMaxSpatial; ++a) {
      const std::int64_t scaled = i[a] + pre[a] - t[a] * dilation[a];
      if (scaled < 0 || scaled % stride[a] != 0) return false;
      o[a] = scaled / stride[a];
      if (o[a] >= out[a]) return false;
    }
    return true;
  }
};

}  // namespace octavo::cpu_reference
