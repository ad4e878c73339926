// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// <fprop(x,w),dy> == <x,dgrad(dy,w)> == <w,wgrad(x,dy)>, exactly, on integers. No reference is involved: the oracle is the
// definition of the adjoint. Every engine is checked with itself.

#include "common/golden.h"
#include "verify/random_problem.h"

namespace octavo::testing {
namespace {

using Buffer = verify::GuardedBuffer;

/// Small enough that no accumulator wraps.
void fill(const TensorDesc& desc, Buffer& buffer, std::uint64_t seed) {
  verify::Rng rng(seed);
  verify::set_elements(desc, buffer.data(), [&](const std::int64_t*) {
    return static_cast<double>(rng.between(desc.type == DataType_t::UINT8 ? 0 : -3, 3));
  });
}

TensorDesc storage(TensorDesc desc, DataType_t type, const char* layout) {
  desc.type = type;
  set_layout(desc, layout);
  return desc;
}

/// The same convolution in another direction, dense s32 out.
Problem turned(const Problem& from, Direction direction, const TensorDesc& x, const TensorDesc& w, const TensorDesc& y) {
  Problem p = from;
  p.direction = direction;
  p.x = x, p.w = w, p.y = y;
  p.result().type = DataType_t::INT32;
  p.result().stride.fill(0);
  p.result().vector = 1;
  p.compute = DataType_t::INT32;
  p.zero_points = {};
  p.epilogue = {};
  Epilogue::Output out;
  out.desc = storage(p.result(), DataType_t::INT32, "nhwc");
  p.epilogue.outputs.push_back(out);
  return p;
}

/// Runs on one target; false when it declines.
bool run(const Target& target, const Problem& p, const void* x, const void* w, const void* y, Buffer& result) {
  if (!target.engine->accepts(p, target.device)) return false;
  std::unique_ptr<Plan> plan;
  const error_t built = build_plan(p, target.engine->specs(p, target.device).front(), target.device, {}, plan);
  EXPECT_TRUE(built.is_good()) << built.err_msg;
  if (built.is_bad()) return false;
  result = Buffer(static_cast<std::size_t>(p.epilogue.outputs[0].desc.span_bytes()));
  Buffer workspace(plan->workspace_bytes(), 0xff);
  void* outputs[] = {result.data()};
  Args args;
  args.x = x, args.w = w, args.y = y, args.outputs = outputs, args.workspace = workspace.data();
  const error_t ran = plan->execute(args);
  EXPECT_TRUE(ran.is_good()) << ran.err_msg;
  EXPECT_TRUE(result.intact() && workspace.intact()) << target.name();
  return ran.is_good();
}

std::int64_t inner(const TensorDesc& a, const void* a_data, const TensorDesc& b, const void* b_data) {
  std::int64_t sum = 0;
  verify::for_each_index(a, [&](const std::int64_t* i) {
    sum += static_cast<std::int64_t>(verify::get_element(a, a_data, i)) *
           static_cast<std::int64_t>(verify::get_element(b, b_data, i));
  });
  return sum;
}

/// Checks one geometry on every target; returns the common value of the reference engine.
std::int64_t check(const Problem& geometry, const TensorDesc& x, const TensorDesc& w, const TensorDesc& y, std::uint64_t seed,
                   int& pairs) {
  Buffer bx(static_cast<std::size_t>(x.span_bytes())), bw(static_cast<std::size_t>(w.span_bytes())),
      by(static_cast<std::size_t>(y.span_bytes()));
  fill(x, bx, seed * 3), fill(w, bw, seed * 3 + 1), fill(y, by, seed * 3 + 2);
  const Problem forward = turned(geometry, Direction::fprop, x, w, y), data = turned(geometry, Direction::dgrad, x, w, y),
                weights = turned(geometry, Direction::wgrad, x, w, y);
  std::int64_t value = 0;
  for (const Target& target : cpu_targets()) {
    Buffer ry, rx, rw;
    const bool f = run(target, forward, bx.data(), bw.data(), nullptr, ry);
    const bool d = run(target, data, nullptr, bw.data(), by.data(), rx);
    const bool g = run(target, weights, bx.data(), nullptr, by.data(), rw);
    const std::int64_t a = f ? inner(forward.epilogue.outputs[0].desc, ry.data(), y, by.data()) : 0;
    const std::int64_t b = d ? inner(data.epilogue.outputs[0].desc, rx.data(), x, bx.data()) : 0;
    const std::int64_t c = g ? inner(weights.epilogue.outputs[0].desc, rw.data(), w, bw.data()) : 0;
    EXPECT_TRUE(!(f && d) || a == b) << target.name() << " dgrad is not the adjoint: " << a << " and " << b << data.to_string();
    EXPECT_TRUE(!(f && g) || a == c) << target.name() << " wgrad is not the adjoint: " << a << " and " << c
                                     << weights.to_string();
    pairs += (f && d) + (f && g);
    if (target.engine->name() == "cpu_reference") value = a;
  }
  return value;
}

TEST(Adjoint, ReportedGeometry) {
  Problem p =
      parse("fprop n=1 c=4 size=7x6 k=6 filter=3x2 groups=2 pad=1x2:0x1 stride=2x3 dil=1x2 x=s8:nchw w=s8:nchw y=s32:nchw");
  int pairs = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) check(p, p.x, p.w, storage(p.y, DataType_t::INT8, "nchw"), seed, pairs);
  EXPECT_GE(pairs, wanted("cpu_reference") ? 40 : 0);
}

TEST(Adjoint, RandomIntegerProblems) {
  verify::ProblemRange range;
  range.directions = {Direction::fprop};
  range.types = {DataType_t::INT8, DataType_t::UINT8};
  range.epilogues = false;
  range.odd_strides = false;
  range.max_multiply_adds = 5e5;
  verify::Rng rng(77);
  const int problems = scaled(2200);
  int pairs = 0, nonzero = 0;
  for (int i = 0; i < problems && !HasFailure(); ++i) {
    const Problem p = verify::random_problem(rng, range);
    const TensorDesc y = storage(p.y, rng.pick({DataType_t::INT8, DataType_t::UINT8}), rng.pick({"nchw", "nhwc", "nc32"}));
    nonzero += check(p, p.x, p.w, y, static_cast<std::uint64_t>(i) + 1, pairs) != 0;
  }
  if (wanted("cpu_reference")) {
    EXPECT_GE(pairs, 2 * problems);
    EXPECT_GT(nonzero, problems * 3 / 4);
  }
}

}  // namespace
}  // namespace octavo::testing
