// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A 1-D or 2-D problem as rows and columns (a 1-D image is one row), for paths that walk x where it lies.

#include <cstdint>

#include "octavo/problem.h"

namespace octavo::cpu_native {

struct Plane {
  std::int64_t height, width, out_height, out_width;
  std::int64_t row_stride, column_stride;  // of x, elements
  std::int64_t pad_rows, pad_columns, step_rows, step_columns, dilation_rows, dilation_columns;
  int filter_rows, filter_columns;
};

inline Plane plane_of(const Problem& p) {
  const int last = p.spatial() - 1;
  const bool two = p.spatial() == 2;
  Plane q{};
  q.height = two ? p.x.dim[2] : 1;
  q.width = p.x.dim[2 + last];
  q.out_height = two ? p.y.dim[2] : 1;
  q.out_width = p.y.dim[2 + last];
  q.row_stride = two ? p.x.stride[2] : 0;
  q.column_stride = p.x.stride[2 + last];
  q.pad_rows = two ? p.pre_pad[0] : 0;
  q.pad_columns = p.pre_pad[last];
  q.step_rows = two ? p.stride[0] : 1;
  q.step_columns = p.stride[last];
  q.dilation_rows = two ? p.dilation[0] : 1;
  q.dilation_columns = p.dilation[last];
  q.filter_rows = two ? static_cast<int>(p.w.dim[2]) : 1;
  q.filter_columns = static_cast<int>(p.w.dim[2 + last]);
  return q;
}

}  // namespace octavo::cpu_native
