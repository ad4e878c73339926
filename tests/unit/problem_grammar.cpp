// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// The one-line grammar. Oracle: parse(print(p)) == p, and sentences that name the token and the nearest valid spelling.

#include <gtest/gtest.h>

#include <set>

#include "octavo/problem.h"
#include "verify/random_problem.h"

namespace octavo {
namespace {

TEST(ProblemGrammar, RandomProblemsPrintAndParse) {
  verify::Rng rng(11);
  std::set<Hash128> hashes;
  std::set<std::string> texts;
  for (int i = 0; i < 5000; ++i) {
    const Problem p = verify::random_problem(rng);
    const std::string text = p.to_string();
    Problem q;
    const error_t e = parse_problem(text, q);
    ASSERT_TRUE(e.is_good()) << text << "\n" << e.err_msg;
    ASSERT_EQ(p, q) << text << "\n" << q.to_string();
    ASSERT_EQ(q.to_string(), text);
    hashes.insert(p.hash());
    texts.insert(text);
  }
  EXPECT_EQ(hashes.size(), texts.size()) << "two problems share a hash";
  EXPECT_GT(texts.size(), 4990u);
}

TEST(ProblemGrammar, DefaultsAreNotPrinted) {
  Problem p;
  ASSERT_TRUE(
      parse_problem("fprop n=10 c=128 size=72x120 k=128 filter=3x3 pad=1x1 stride=1x1 dil=1x1 groups=1 mode=xcorr compute=s32 "
                    "x=s8:nhwc w=s8:nhwc y=s32:nhwc zx=0",
                    p)
          .is_good());
  EXPECT_EQ(p.to_string(), "fprop n=10 c=128 size=72x120 k=128 filter=3x3 pad=1x1 x=s8:nhwc w=s8:nhwc y=s32:nhwc");
  EXPECT_EQ(p.accumulation_length(), 1152);
  EXPECT_EQ(p.operations(), 2. * 10 * 72 * 120 * 128 * 1152);
  Problem q;
  ASSERT_TRUE(parse_problem("fprop k=128 c=128 filter=3x3 n=10 size=72x120 pad=1 w=s8 x=s8 y=s32", q).is_good());
  EXPECT_EQ(p, q) << "order and short forms do not matter";
  EXPECT_EQ(p.hash(), q.hash());
}

TEST(ProblemGrammar, AHashIsStable) {
  // Tuned tables hold it: a change here is a change of format.
  Problem p;
  ASSERT_TRUE(parse_problem("fprop n=1 c=1 size=5x5 k=1 filter=3x3 x=s8:nchw w=s8:nchw y=s32:nchw", p).is_good());
  EXPECT_EQ(p.hash().hex(), "5c3f88ca9c44f5473aeb2454b55568e2");
}

TEST(ProblemGrammar, MistakesNameTheTokenAndTheNearestSpelling) {
  struct Row {
    const char* line;
    const char* names;
    const char* suggests;
  };
  const char head[] = "fprop n=1 c=4 size=5x5 k=4 filter=3x3 ";
  const Row rows[] = {{"fpro n=1 c=4 size=5x5 k=4 filter=3x3 x=s8 w=s8 y=s32", "fpro", "fprop"},
                      {"fprop n=1 c=4 sise=5x5 k=4 filter=3x3 x=s8 w=s8 y=s32", "sise=5x5", "size"},
                      {"fprop n=1 c=4 size=5x5 k=4 x=s8 w=s8 y=s32", "filter=", ""},
                      {"fprop n=1 c=4 size=5x5 k=4 filter=3x3x3 x=s8 w=s8 y=s32", "filter=3x3x3", "3x3"},
                      {"fprop n=1 c=four size=5x5 k=4 filter=3x3 x=s8 w=s8 y=s32", "c=four", ""},
                      {"fprop n=1 n=2 c=4 size=5x5 k=4 filter=3x3 x=s8 w=s8 y=s32", "n=", ""},
                      {"x=int8 w=s8 y=s32", "int8", "s8"},
                      {"x=s8:nhcw w=s8 y=s32", "nhcw", "nhwc"},
                      {"x=s8:nc8 w=s8 y=s32", "nc8", "nc4"},
                      {"w=s8 y=s32", "x=", ""},
                      {"x=s8 w=s8", "y=", ""},
                      {"x=s8 w=f32 y=s32", "f32", ""},
                      {"x=s8 w=s8 y=s32 mode=convolution", "convolution", "conv"},
                      {"x=s8 w=s8 y=s32 compute=int32", "int32", "s32"},
                      {"x=s8 w=s8 y=s8 epi=%1=relu(%0)", "relu", "relu_fwd"},
                      {"x=s8 w=s8 y=s8 epi=%1=f32.chanel;%2=mul(%0,%1)", "chanel", "channel"},
                      {"x=s8 w=s8 y=s8 epi=%2=relu_fwd(%0)", "%1", ""},
                      {"x=s8 w=s8 y=s8 epi=%1=add(%0,%7)", "7", ""},
                      {"x=s8 w=s8 y=s8 epi=%1=gen_index(%0,axis=4)", "4", ""},
                      {"x=s8 w=s8 y=s8 epi=%1=gen_index(%0)", "axis", ""}};
  for (const Row& row : rows) {
    const std::string line = std::string(row.line).rfind("fp", 0) == 0 ? row.line : head + std::string(row.line);
    Problem p;
    const error_t e = parse_problem(line, p);
    EXPECT_TRUE(e.is_bad()) << line;
    EXPECT_EQ(e.code, error_code_t::INVALID_VALUE);
    EXPECT_NE(e.err_msg.find(row.names), std::string::npos) << line << "\n" << e.err_msg;
    EXPECT_NE(e.err_msg.find(row.suggests), std::string::npos) << line << "\n" << e.err_msg;
    EXPECT_EQ(e.err_msg.find('\n'), std::string::npos);
  }
}

TEST(ProblemGrammar, DamagedLinesNeverCrash) {
  verify::Rng rng(12);
  const std::string alphabet = "0123456789x=%();:,->.@*-fpropdgwnhc ";
  int parsed = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = verify::random_problem(rng).to_string();
    for (int k = static_cast<int>(rng.between(1, 4)); k > 0; --k) {
      const std::size_t at = static_cast<std::size_t>(rng.between(0, static_cast<std::int64_t>(text.size()) - 1));
      const char c = alphabet[static_cast<std::size_t>(rng.between(0, static_cast<std::int64_t>(alphabet.size()) - 1))];
      switch (rng.between(0, 3)) {
        case 0:
          text[at] = c;
          break;
        case 1:
          text.insert(at, 1, c);
          break;
        case 2:
          text.erase(at, 1);
          break;
        default:
          text.insert(at, rng.pick({"99999999999", "-9223372036854775808", "9223372036854775807", "0", "%0"}));
          break;
      }
    }
    Problem p, q;
    const error_t e = parse_problem(text, p);
    if (e.is_bad()) {
      EXPECT_FALSE(e.err_msg.empty()) << text;
      continue;
    }
    ++parsed;
    // What it accepts is legal, and prints as itself.
    ASSERT_TRUE(p.validate().is_good()) << text;
    ASSERT_TRUE(parse_problem(p.to_string(), q).is_good()) << text;
    ASSERT_EQ(p, q) << text << "\n" << p.to_string();
  }
  EXPECT_GT(parsed, 100);
}

TEST(ProblemValidate, RefusesWhatNoTextCanSay) {
  Problem good;
  ASSERT_TRUE(parse_problem("fprop n=2 c=4 size=5x5 k=4 filter=3x3 x=f32 w=f32 y=f32 epi=%1=f32.channel;%2=add(%0,%1)", good)
                  .is_good());
  struct Row {
    const char* what;
    void (*spoil)(Problem&);
    const char* names;
  };
  const Row rows[] = {
      {"rank", [](Problem& p) { p.x.rank = 2; }, "x"},
      {"other ranks", [](Problem& p) { p.w.rank = 3; }, "w"},
      {"no channels", [](Problem& p) { p.x.dim[1] = 0; }, "[2,0,5,5]"},
      {"no filters", [](Problem& p) { p.w.dim[0] = 0; }, "w"},
      {"batch of y", [](Problem& p) { p.y.dim[0] = 3; }, "3"},
      {"channels of y", [](Problem& p) { p.y.dim[1] = 8; }, "8"},
      {"size of y", [](Problem& p) { p.y.dim[2] = 4; }, "4"},
      {"vector 7", [](Problem& p) { p.x.vector = 7; }, "7"},
      {"type not set", [](Problem& p) { p.w.type = DataType_t::NOT_SET; }, "w"},
      {"int4", [](Problem& p) { p.x.type = DataType_t::INT4; }, "x"},
      {"mode", [](Problem& p) { p.mode = ConvolutionMode_t::NOT_SET; }, "mode"},
      {"compute", [](Problem& p) { p.compute = DataType_t::HALF; }, "compute"},
      {"zero point of floats", [](Problem& p) { p.zero_points.x = 3; }, "ero point"},
      {"operand", [](Problem& p) { p.epilogue.operands[0].desc.dim[1] = 3; }, "operand 1"},
      {"node input", [](Problem& p) { p.epilogue.nodes[0].in[1] = 2; }, "node 2"},
      {"node mode", [](Problem& p) { p.epilogue.nodes[0].mode = PointwiseMode_t::NOT_SET; }, "node 2"},
      {"node compute", [](Problem& p) { p.epilogue.nodes[0].compute = DataType_t::HALF; }, "f16"},
      {"no output", [](Problem& p) { p.epilogue.outputs.clear(); }, "output"},
      {"output value", [](Problem& p) { p.epilogue.outputs[0].value = 9; }, "9"},
      {"output dims", [](Problem& p) { p.epilogue.outputs[0].desc.dim[0] = 1; }, "y"},
      {"output overlap", [](Problem& p) { p.epilogue.outputs[0].desc.stride[3] = 1; }, "overlap"},
      {"huge strides", [](Problem& p) { p.x.stride[0] = std::int64_t{1} << 62; }, "x"},
      {"huge dims", [](Problem& p) { p.x.dim[0] = p.y.dim[0] = std::int64_t{1} << 60; }, "2^59"},
  };
  for (const Row& row : rows) {
    Problem p = good;
    row.spoil(p);
    const error_t e = p.validate();
    EXPECT_TRUE(e.is_bad()) << row.what;
    EXPECT_NE(e.err_msg.find(row.names), std::string::npos) << row.what << ": " << e.err_msg;
  }
}

}  // namespace
}  // namespace octavo
