// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/epilogue_shorthand.h"

#include <gtest/gtest.h>

namespace octavo {
namespace {

Problem problem(const std::string& line) {
  Problem p;
  const error_t error = parse_problem(line, p);
  EXPECT_TRUE(error.is_good()) << error.get_message();
  return p;
}

const char* const kLine = "fprop n=1 c=8 size=6x6 k=16 filter=3x3 pad=1x1 x=s8:nhwc w=s8:nhwc y=s8:nhwc";

std::string with(const char* text, const std::string& line = kLine) {
  EpilogueParts parts;
  error_t error = parse_epilogue_parts(text, parts);
  if (error.is_bad()) return error.get_message();
  Problem p = problem(line);
  error = apply_epilogue_parts(parts, p);
  if (error.is_bad()) return error.get_message();
  EXPECT_TRUE(p.validate().is_good());
  return p.to_string();
}

TEST(EpilogueShorthand, IsTheEpilogueWrittenOut) {
  const std::string line = kLine;
  EXPECT_EQ(with("scale+bias+relu"), line + " epi=%1=f32.channel;%2=f32.channel;%3=mul(%0,%1);%4=add(%3,%2);%5=relu_fwd(%4)");
  EXPECT_EQ(with("scale1+bias"), line + " epi=%1=f32.scalar;%2=f32.channel;%3=mul(%0,%1);%4=add(%3,%2)");
  EXPECT_EQ(with("scale+add+relu"), line + " epi=%1=f32.channel;%2=s8.full;%3=mul(%0,%1);%4=add(%3,%2);%5=relu_fwd(%4)");
  EXPECT_EQ(with("none"), line);
  EXPECT_EQ(with(""), line);
}

TEST(EpilogueShorthand, ReluAloneOnIntegersTouchesNoFloat) {
  EXPECT_EQ(with("relu"), std::string(kLine) + " epi=%1=relu_fwd(%0):s32->s32");
}

TEST(EpilogueShorthand, OddSizesAndVectorLayouts) {
  const std::string line = "fprop n=1 c=8 size=6x6 k=17 filter=3x3 x=s8:nc4 w=s8:nhwc y=s8:nc32";
  EXPECT_EQ(with("scale+add", line), line + " epi=%1=f32.channel;%2=s8.full:nc32;%3=mul(%0,%1);%4=add(%3,%2)");
}

TEST(EpilogueShorthand, MistakesNameTheNearestPart) {
  EXPECT_NE(with("scale+bais").find("did you mean 'bias'?"), std::string::npos);
  EXPECT_NE(with("relu+bias").find("in the order"), std::string::npos);
  EXPECT_NE(with("bias+bias").find("once each"), std::string::npos);
  EXPECT_NE(with("scale+scale1").find("use one of them"), std::string::npos);
  EXPECT_NE(with("relu", std::string(kLine) + " epi=%1=relu_fwd(%0)").find("epilogue of its own"), std::string::npos);
}

}  // namespace
}  // namespace octavo
