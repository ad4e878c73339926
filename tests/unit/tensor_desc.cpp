// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Layouts. Oracle: the definition of each, written out for one tensor.

#include <gtest/gtest.h>

#include <set>

#include "octavo/problem.h"
#include "verify/data.h"

namespace octavo {
namespace {

TensorDesc tensor(std::initializer_list<std::int64_t> dims, const char* layout) {
  TensorDesc t;
  t.type = DataType_t::INT8;
  t.rank = static_cast<int>(dims.size());
  std::copy(dims.begin(), dims.end(), t.dim.begin());
  EXPECT_TRUE(set_layout(t, layout)) << layout;
  return t;
}

std::int64_t at(const TensorDesc& t, std::initializer_list<std::int64_t> index) { return t.offset(index.begin()); }

TEST(TensorDesc, Offsets) {
  // n=1, c=5, h=2, w=3 of a [2,6,3,4] tensor.
  EXPECT_EQ(at(tensor({2, 6, 3, 4}, "nchw"), {1, 5, 2, 3}), ((1 * 6 + 5) * 3 + 2) * 4 + 3);
  EXPECT_EQ(at(tensor({2, 6, 3, 4}, "nhwc"), {1, 5, 2, 3}), ((1 * 3 + 2) * 4 + 3) * 6 + 5);
  EXPECT_EQ(at(tensor({2, 6, 3, 4}, "nc4"), {1, 5, 2, 3}), (((1 * 2 + 1) * 3 + 2) * 4 + 3) * 4 + 1);
  EXPECT_EQ(at(tensor({2, 40, 3, 4}, "nc32"), {1, 37, 2, 3}), (((1 * 2 + 1) * 3 + 2) * 4 + 3) * 32 + 5);
  EXPECT_EQ(at(tensor({2, 40, 3, 4}, "nc16"), {1, 37, 2, 3}), (((1 * 3 + 2) * 3 + 2) * 4 + 3) * 16 + 5);
  EXPECT_EQ(at(tensor({2, 6, 7}, "nhwc"), {1, 5, 2}), (1 * 7 + 2) * 6 + 5);
  EXPECT_EQ(at(tensor({2, 6, 3, 4, 5}, "nhwc"), {1, 5, 2, 3, 4}), (((1 * 3 + 2) * 4 + 3) * 5 + 4) * 6 + 5);
}

TEST(TensorDesc, EveryLayoutGivesEveryElementItsOwnPlace) {
  for (const char* layout : {"nchw", "nhwc", "nc4", "nc16", "nc32"})
    for (const auto& dims :
         {std::initializer_list<std::int64_t>{2, 6, 3, 4}, {1, 33, 1, 1}, {3, 1, 2, 2}, {2, 64, 5}, {1, 5, 2, 3, 4}}) {
      const TensorDesc t = tensor(dims, layout);
      std::set<std::int64_t> seen;
      verify::for_each_index(t, [&](const std::int64_t* i) { seen.insert(t.offset(i)); });
      EXPECT_EQ(static_cast<std::int64_t>(seen.size()), t.elements()) << layout;
      EXPECT_EQ(*seen.begin(), 0);
      EXPECT_LT(*seen.rbegin(), t.span_elements());
      EXPECT_EQ(t.span_bytes(), t.span_elements());
      if (t.vector == 1) {
        EXPECT_EQ(t.span_elements(), t.elements()) << layout << " is packed";
      }
    }
}

TEST(TensorDesc, NamesAndSpans) {
  EXPECT_EQ(layout_name(tensor({2, 6, 3, 4}, "nchw")), "nchw");
  EXPECT_EQ(layout_name(tensor({2, 6, 3, 4}, "nc4")), "nc4");
  EXPECT_EQ(layout_name(tensor({2, 1, 3, 4}, "nchw")), "nchw") << "one channel: the strides still differ";
  EXPECT_EQ(layout_name(tensor({1, 1, 1, 1}, "nchw")), "nhwc") << "one element: both are true, nhwc wins";
  TensorDesc odd = tensor({2, 6, 3, 4}, "nchw");
  odd.stride[0] += 1;
  EXPECT_EQ(layout_name(odd), "");
  EXPECT_EQ(odd.span_elements(), 2 * 72 + 1);
  TensorDesc expanded = odd;
  expanded.stride.fill(0);
  EXPECT_EQ(expanded.span_elements(), 1);
  TensorDesc empty = tensor({0, 6, 3, 4}, "nhwc");
  EXPECT_EQ(empty.elements(), 0);
  EXPECT_EQ(empty.span_bytes(), 0);
  EXPECT_EQ(tensor({2, 6, 3, 4}, "nc4").span_elements(), 2 * 2 * 3 * 4 * 4) << "whole blocks, tail lanes included";
  TensorDesc none;
  EXPECT_FALSE(set_layout(none, "nhcw"));
}

}  // namespace
}  // namespace octavo
