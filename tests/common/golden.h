// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A problem with stated inputs and stated results, run on every engine that it is meant for.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "common/harness.h"
#include "common/independent.h"
#include "core/parallel.h"

namespace octavo::testing {

/// cpu_reference must take every legal problem; cpu_native everything that quantised and half-precision networks are made
/// of. onednn may decline anything.
inline bool meant_for(const Target& target, const Problem& p) {
  if (target.engine->name() == "cpu_reference") return true;
  if (target.engine->name() != "cpu_native") return false;
  for (const DataType_t t : {p.input_a().type, p.input_b().type}) {
    switch (t) {
      case DataType_t::INT8:
      case DataType_t::UINT8:
      case DataType_t::HALF:
      case DataType_t::BFLOAT16:
      case DataType_t::FLOAT:
        break;
      default:
        return false;
    }
  }
  return true;
}

class Golden {
 public:
  explicit Golden(const std::string& line, std::int64_t misalign = 0) : problem(parse(line)), data(problem, misalign) {
    options.misalign_elements = misalign;
  }
  /// Inputs from a seed.
  static Golden random(const std::string& line, std::uint64_t seed, verify::Fill fill = verify::Fill::automatic,
                       std::int64_t misalign = 0) {
    Golden g(line, misalign);
    g.data = verify::Data(g.problem, seed, fill, misalign);
    return g;
  }

  Golden& x(const verify::Value& v) { return set(problem.x, data.x, v); }
  Golden& w(const verify::Value& v) { return set(problem.w, data.w, v); }
  Golden& y(const verify::Value& v) { return set(problem.y, data.y, v); }
  Golden& operand(std::size_t i, const verify::Value& v) { return set(problem.epilogue.operands[i].desc, data.operands[i], v); }
  Golden& zero_points(std::vector<std::int32_t> v) {
    data.w_zero_points = std::move(v);
    return *this;
  }
  /// What output 0 must hold at every coordinate, exactly (NaN for NaN).
  Golden& want(verify::Value v) {
    want_ = std::move(v);
    return *this;
  }

  void run() {
    const std::string line = problem.to_string();
    SCOPED_TRACE(line);
    if (::testing::Test::HasFatalFailure()) return;
    std::unique_ptr<verify::Case> c;
    const error_t e = verify::Case::make(problem, std::move(data), options, c);
    ASSERT_TRUE(e.is_good()) << e.err_msg;
    if (want_) check_wanted(*c);
    const double multiply_adds = problem.operations() / 2;
    if (multiply_adds < 1e5) set_num_threads(1);  // nothing to share out
    struct Restore {
      ~Restore() { set_num_threads(0); }
    } restore;
    if (multiply_adds < 4e6) {
      EXPECT_EQ(independent_check(problem, c->data(), c->expected().outputs()), "");
    }
    for (const Target& target : cpu_targets()) {
      const int ran = check_target(*c, target, multiply_adds < 2e7);
      if (meant_for(target, problem) && ran == 0) {
        ADD_FAILURE() << target.name()
                      << " declines a case meant for it: " << target.engine->accepts(problem, target.device).reason;
      }
    }
  }

  Problem problem;
  verify::Data data;
  verify::Options options;

 private:
  Golden& set(const TensorDesc& desc, verify::GuardedBuffer& buffer, const verify::Value& v) {
    verify::set_elements(desc, buffer.data(), v);
    return *this;
  }
  void check_wanted(const verify::Case& c) const {
    const Epilogue::Output& out = problem.epilogue.outputs[0];
    int wrong = 0;
    verify::for_each_index(problem.result(), [&](const std::int64_t* i) {
      const double have = verify::get_element(out.desc, c.expected().outputs()[0].data(), i), expected = want_(i);
      if (have == expected || (have != have && expected != expected) || ++wrong > 3) return;
      std::string at;
      for (int d = 0; d < out.desc.rank; ++d) at += std::to_string(i[d]) + " ";
      ADD_FAILURE() << "at " << at << "the report's number is " << expected << ", ours " << have;
    });
  }
  verify::Value want_;
};

/// Row-major list of numbers as a function of the last dims.
inline verify::Value grid(std::vector<double> v, std::int64_t columns) {
  return [v = std::move(v), columns](const std::int64_t* i) { return v[static_cast<std::size_t>(i[2] * columns + i[3])]; };
}
inline verify::Value constant(double v) {
  return [v](const std::int64_t*) { return v; };
}

}  // namespace octavo::testing
