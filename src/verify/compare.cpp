// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/compare.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <span>

#include "engines/cpu_reference/epilogue.h"
#include "engines/cpu_reference/pointwise.h"

namespace octavo::verify {
namespace {

using cpu_reference::EpilogueEvaluator;
using cpu_reference::Scalar;
using Mode = PointwiseMode_t;

error_t run_oracle(const Problem& problem, const Args& inputs, std::vector<GuardedBuffer>& outputs) {
  const Engine* oracle = find_engine("cpu_reference");
  if (oracle == nullptr)
    return {error_code_t::HANDLE_ERROR, "This build has no engine 'cpu_reference', so nothing can be verified."};
  DeviceTraits cpu;
  std::unique_ptr<Plan> plan;
  OCTAVO_RETURN_IF_ERROR(oracle->build(problem, {"cpu_reference", "", 0}, cpu, {}, plan));
  GuardedBuffer workspace(plan->workspace_bytes(), 0xff, 0, false);
  std::vector<void*> addresses;
  for (GuardedBuffer& o : outputs) addresses.push_back(o.data());
  Args args = inputs;
  args.outputs = addresses;
  args.workspace = workspace.data();
  return plan->execute(args);
}

/// The problem whose only output is the accumulator, as packed f64.
Problem accumulator_problem(const Problem& p) {
  Problem q = p;
  Epilogue::Output out;
  out.desc = p.result();
  out.desc.type = DataType_t::DOUBLE;
  set_layout(out.desc, "nchw");
  q.epilogue = {};
  q.epilogue.outputs.push_back(out);
  return q;
}

error_t accumulators(const Problem& p, const Args& inputs, std::vector<double>& out) {
  const Problem q = accumulator_problem(p);
  std::vector<GuardedBuffer> outputs = make_outputs(q);
  Args args = inputs;
  args.operands = {};
  OCTAVO_RETURN_IF_ERROR(run_oracle(q, args, outputs));
  out.resize(static_cast<std::size_t>(p.result().elements()));
  if (!out.empty()) std::memcpy(out.data(), outputs[0].data(), out.size() * sizeof(double));
  return {};
}

/// |tensor|, and whether all of it is whole numbers.
GuardedBuffer magnitude(const TensorDesc& desc, const GuardedBuffer& from, bool& whole) {
  GuardedBuffer copy = from.clone();
  const std::int64_t n = desc.span_elements();
  for (std::int64_t i = 0; i < n; ++i) {
    const double v = cpu_reference::load(desc.type, from.data(), i).to_f64();
    if (std::isfinite(v) && v != std::nearbyint(v)) whole = false;
    cpu_reference::store(desc.type, copy.data(), i, Scalar::of_f64(std::fabs(v)));
  }
  return copy;
}

/// How far an inexact node may be off, in units of its compute type's roundoff times its scale; 0 = must be exact.
/// Arithmetic is exact by contract on integer problems; on floating-point ones a product may stay unrounded in an FMA.
double node_error(const Epilogue::Node& n, bool integer_problem, double v, double a, double b) {
  if (n.compute != DataType_t::FLOAT && n.compute != DataType_t::DOUBLE) return 0;
  const double unit = n.compute == DataType_t::DOUBLE ? 0x1p-53 : 0x1p-24;
  // In the subnormal range a unit in the last place no longer shrinks with the value.
  const double least = n.compute == DataType_t::DOUBLE ? 0x1p-1074 : 0x1p-149, clipped = std::min(std::fabs(a), 8.);
  switch (n.mode) {
    case Mode::ADD:
    case Mode::SUB:
    case Mode::MUL:
    case Mode::ADD_SQUARE:
      return integer_problem ? 0 : 2 * unit * std::fabs(v);
    case Mode::RELU_FWD:
    case Mode::RELU_BWD:
      return integer_problem || n.slope == 0 ? 0 : 2 * unit * std::fabs(v);
    case Mode::DIV:
    case Mode::SQRT:
    case Mode::RSQRT:
    case Mode::RECIPROCAL:
      return 4 * unit * std::fabs(v) + least;
    case Mode::EXP:
      return 16 * unit * std::fabs(v) * (1 + std::fabs(a)) + 2 * least;
    case Mode::POW:
      return 16 * unit * std::fabs(v) * (1 + std::fabs(b * std::log2(std::fabs(a) + 1e-300))) + 2 * least;
    case Mode::LOG:
    case Mode::SIN:
    case Mode::COS:
      return 16 * unit * std::max(std::fabs(v), 1.);
    case Mode::TAN:
      return 16 * unit * (1 + v * v) * (1 + std::fabs(a));
    case Mode::TANH_FWD:
    case Mode::SIGMOID_FWD:
    case Mode::ELU_FWD:
    case Mode::GELU_FWD:
    case Mode::SOFTPLUS_FWD:
    case Mode::SWISH_FWD:
    case Mode::ERF:
    case Mode::GELU_APPROX_TANH_FWD:
      return 16 * unit * std::max({std::fabs(v), clipped, std::fabs(n.alpha)});
    case Mode::TANH_BWD:
    case Mode::SIGMOID_BWD:
    case Mode::ELU_BWD:
    case Mode::GELU_BWD:
    case Mode::SOFTPLUS_BWD:
    case Mode::SWISH_BWD:
    case Mode::GELU_APPROX_TANH_BWD:
      return 64 * unit * std::max(std::fabs(v), std::fabs(a) * (1 + std::fabs(n.alpha)));
    default:
      return 0;
  }
}

bool has_inexact_node(const Problem& p) {
  const bool integers = is_integer(p.input_a().type);
  return std::any_of(p.epilogue.nodes.begin(), p.epilogue.nodes.end(),
                     [&](const Epilogue::Node& n) { return node_error(n, integers, 1, 1, 1) != 0; });
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// The least and the greatest value that the sites of error allow.
struct Interval {
  double low = 0, high = 0;
  bool any = false;  ///< an error without bound (an infinite gradient times a slope that may round to zero): NaN too
};

/// Evaluates the DAG at one coordinate with at most one site moved: site 0 the accumulator, 1 + i node i, -1 nothing.
class Mover {
 public:
  Mover(const Problem& problem, const Data& data)
      : p_(problem), evaluator_(problem), args_(data.args()), values_(evaluator_.value_count()), stepped_(has_steps(problem)) {}

  /// The interval of every value of the DAG at `index`.
  void intervals(const std::int64_t* index, double accumulator, double error, std::vector<Interval>& out) {
    evaluator_.load_operands(index, args_, values_.data());
    evaluate(index, accumulator, -1, 0);
    center_.clear();
    for (const Scalar& v : values_) center_.push_back(v.to_f64());
    out.assign(center_.size(), {});
    for (std::size_t i = 0; i < center_.size(); ++i) out[i] = {center_[i], center_[i], false};
    for (int site = 0; site <= static_cast<int>(p_.epilogue.nodes.size()); ++site) {
      if (site == 0 && error == 0) continue;
      if (site > 0 && !errs(site - 1)) continue;
      spread_.assign(center_.size(), {});
      const std::size_t own = site == 0 ? 0 : values_.size() - p_.epilogue.nodes.size() + static_cast<std::size_t>(site) - 1;
      const double center = site == 0 ? accumulator : before_rounding(index, site - 1);
      const double most = site == 0 ? error : error_of(site - 1, center);
      if (most == 0) continue;
      const auto try_value = [&](double value) {
        evaluate(index, site == 0 ? value : accumulator, site, value);
        for (std::size_t i = own; i < center_.size(); ++i) widen(center_[i], values_[i].to_f64(), spread_[i], out[i]);
      };
      if (!std::isfinite(most)) {
        constexpr double kInfinity = std::numeric_limits<double>::infinity();
        for (const double value : {std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity, 0.}) {
          evaluate(index, site == 0 ? value : accumulator, site, value);
          for (std::size_t i = own; i < center_.size(); ++i) out[i].any |= !same(values_[i].to_f64(), center_[i]);
        }
        continue;
      }
      for (const double sign : steps()) try_value(center + sign * most);
      // What may round to zero may have either sign, and the reciprocal of it is at the other end.
      if (std::fabs(center) <= most)
        for (const double zero : {0., -0.}) try_value(zero);
      for (std::size_t i = 0; i < center_.size(); ++i) out[i].low += spread_[i].low, out[i].high += spread_[i].high;
    }
  }

 private:
  /// Ends of the error are enough while the DAG is monotonic between them. Behind a rounding it has steps, and the least value
  /// may lie just before one: look in between too.
  std::span<const double> steps() const {
    static constexpr std::array kEnds{-1., 1.};
    static constexpr std::array kBetween{-1.,     -0.75,  -0.5,   -0.25, -0.125, -0x1p-5, -0x1p-8, -0x1p-12,
                                         0x1p-12, 0x1p-8, 0x1p-5, 0.125, 0.25,   0.5,     0.75,    1.};
    if (stepped_) return kBetween;
    return kEnds;
  }
  static bool has_steps(const Problem& p) {
    return std::any_of(p.epilogue.nodes.begin(), p.epilogue.nodes.end(), [](const Epilogue::Node& n) {
      return is_integer(n.result) || n.compute == DataType_t::INT32 || n.mode == Mode::FLOOR || n.mode == Mode::CEIL ||
             n.mode == Mode::MOD;
    });
  }
  bool errs(int node) const {
    return node_error(p_.epilogue.nodes[static_cast<std::size_t>(node)], is_integer(p_.input_a().type), 1, 1, 1) != 0;
  }
  static void widen(double center, double moved, Interval& by, Interval& whole) {
    if (moved == center || std::isnan(moved) || std::isnan(center)) return;
    if (std::isinf(center)) {  // differences from it say nothing
      whole.low = std::min(whole.low, moved), whole.high = std::max(whole.high, moved);
      return;
    }
    const double difference = moved - center;  // may be infinite: an overflow that rounding decides
    by.low = std::min(by.low, difference);
    by.high = std::max(by.high, difference);
  }
  /// The inputs and the unrounded value of a node, at the center. Leaves values_ at the center.
  double before_rounding(const std::int64_t* index, int at) {
    evaluate(index, center_[0], -1, 0);
    Epilogue::Node node = p_.epilogue.nodes[static_cast<std::size_t>(at)];
    Scalar in[3];
    inputs(node, in);
    first_ = in[0].to_f64(), second_ = in[1].to_f64();
    node.result = DataType_t::FLOAT;
    return cpu_reference::evaluate(node, in, index).to_f64();
  }
  double error_of(int at, double v) const {
    return node_error(p_.epilogue.nodes[static_cast<std::size_t>(at)], is_integer(p_.input_a().type), v, first_, second_);
  }
  void inputs(const Epilogue::Node& node, Scalar in[3]) const {
    for (std::size_t k = 0; k < 3; ++k)
      if (node.in[k] >= 0) in[k] = values_[static_cast<std::size_t>(node.in[k])];
  }
  /// Site 0: `accumulator` is moved already. Site 1 + i: node i has `value` before it is rounded.
  void evaluate(const std::int64_t* index, double accumulator, int site, double value) {
    switch (accumulator_type(p_)) {
      case DataType_t::INT32:
        values_[0] = Scalar::of_i32(static_cast<std::int32_t>(accumulator));
        break;
      case DataType_t::DOUBLE:
        values_[0] = Scalar::of_f64(accumulator);
        break;
      default:
        values_[0] = Scalar::of_f32(static_cast<float>(accumulator));
        break;
    }
    std::size_t to = values_.size() - p_.epilogue.nodes.size();
    for (std::size_t i = 0; i < p_.epilogue.nodes.size(); ++i, ++to) {
      const Epilogue::Node& node = p_.epilogue.nodes[i];
      if (site == static_cast<int>(i) + 1) {
        values_[to] = cpu_reference::round_to_result(node.result, node.compute == DataType_t::DOUBLE
                                                                      ? Scalar::of_f64(value)
                                                                      : Scalar::of_f32(static_cast<float>(value)));
      } else {
        Scalar in[3];
        inputs(node, in);
        values_[to] = cpu_reference::evaluate(node, in, index);
      }
    }
  }

  const Problem& p_;
  EpilogueEvaluator evaluator_;
  Args args_;
  std::vector<Scalar> values_;
  bool stepped_ = false;
  std::vector<double> center_;
  std::vector<Interval> spread_;
  double first_ = 0, second_ = 0;  ///< inputs of the node that before_rounding() looked at
};

double cast(DataType_t type, double v) {
  alignas(8) unsigned char bytes[8] = {};
  cpu_reference::store(type, bytes, 0, Scalar::of_f64(v));
  return cpu_reference::load(type, bytes, 0).to_f64();
}

std::string number(double v) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", v);
  return text;
}

std::string coordinate(const TensorDesc& desc, const std::int64_t* index) {
  std::string s = "[";
  for (int i = 0; i < desc.rank; ++i) s += (i ? "," : "") + std::to_string(index[i]);
  return s + "]";
}

}  // namespace

unsigned char prefill(DataType_t type) { return is_integer(type) || type == DataType_t::BOOLEAN ? 0x5a : 0xff; }

std::vector<GuardedBuffer> make_outputs(const Problem& problem, std::int64_t misalign_elements) {
  std::vector<GuardedBuffer> outputs;
  for (const Epilogue::Output& o : problem.epilogue.outputs)
    outputs.emplace_back(static_cast<std::size_t>(o.desc.span_bytes()), prefill(o.desc.type),
                         static_cast<std::size_t>(misalign_elements * element_bytes(o.desc.type)));
  return outputs;
}

double accumulation_error(const Problem& p) {
  if (is_integer(p.input_a().type)) return 0;
  const double length = static_cast<double>(std::max<std::int64_t>(p.accumulation_length(), 1));
  // Rigorous is L; beyond 64 terms roundings do not all fall one way, and 8 sqrt(L) is eight standard deviations.
  const double terms = std::min(length, 8 * std::sqrt(length)) + 1;
  if (accumulator_type(p) == DataType_t::DOUBLE) return 2 * terms * 0x1p-53;            // the oracle's own sum is no wider here
  const double inputs = p.compute == DataType_t::FAST_FLOAT_FOR_FP8 ? 2 * 0x1p-10 : 0;  // TF32 may truncate both
  return terms * 0x1p-24 + inputs;
}

error_t Expected::compute(const Problem& p, const Data& data, Expected& out) {
  out = {};
  out.outputs_ = make_outputs(p);
  OCTAVO_RETURN_IF_ERROR(run_oracle(p, data.args(), out.outputs_));
  const bool integers = is_integer(p.input_a().type);
  if (integers && !has_inexact_node(p)) return {};

  bool whole = true;
  Args args = data.args();
  if (!integers) {
    GuardedBuffer x, w, y;
    if (p.direction != Direction::dgrad) args.x = (x = magnitude(p.x, data.x, whole)).data();
    if (p.direction != Direction::wgrad) args.w = (w = magnitude(p.w, data.w, whole)).data();
    if (p.direction != Direction::fprop) args.y = (y = magnitude(p.y, data.y, whole)).data();
    OCTAVO_RETURN_IF_ERROR(accumulators(p, args, out.errors_));
    const double largest = out.errors_.empty() ? 0 : *std::max_element(out.errors_.begin(), out.errors_.end());
    const double exact_below = accumulator_type(p) == DataType_t::DOUBLE ? 0x1p53 : 0x1p24;
    const bool tf32 = p.compute == DataType_t::FAST_FLOAT_FOR_FP8;
    if (whole && largest < exact_below && !tf32 && !has_inexact_node(p)) {
      out.errors_.clear();  // every partial sum is exact in any order: equality
      return {};
    }
    const double share = whole && largest < exact_below && !tf32 ? 0 : accumulation_error(p);
    // Products under the normal range may be flushed to zero.
    const double flushed = static_cast<double>(p.accumulation_length()) *
                           (accumulator_type(p) == DataType_t::DOUBLE ? std::numeric_limits<double>::min()
                                                                      : static_cast<double>(std::numeric_limits<float>::min()));
    for (double& e : out.errors_) e = std::isfinite(e) ? e * share + (share > 0 ? flushed : 0) : 0;
  }
  OCTAVO_RETURN_IF_ERROR(accumulators(p, data.args(), out.accumulators_));
  if (out.errors_.empty()) out.errors_.assign(out.accumulators_.size(), 0.);
  return {};
}

std::string Expected::judge(const Problem& p, const Data& data, const std::vector<GuardedBuffer>& got, double* worst) const {
  if (worst) *worst = 0;
  const auto identical = [&](std::size_t o) {
    return got[o].size() == outputs_[o].size() &&
           (got[o].size() == 0 || std::memcmp(got[o].data(), outputs_[o].data(), got[o].size()) == 0);
  };
  bool all = true;
  for (std::size_t o = 0; o < outputs_.size(); ++o) all = all && identical(o);
  if (all) return {};

  std::string first;
  std::int64_t wrong = 0, linear = 0;
  std::vector<Interval> allowed;
  Mover mover(p, data);
  for_each_index(p.result(), [&](const std::int64_t* index) {
    const std::size_t at = static_cast<std::size_t>(linear++);
    bool known = false;
    for (std::size_t o = 0; o < outputs_.size(); ++o) {
      const Epilogue::Output& output = p.epilogue.outputs[o];
      const double want = get_element(output.desc, outputs_[o].data(), index),
                   have = get_element(output.desc, got[o].data(), index);
      if (same(want, have)) continue;
      double low = want, high = want;
      if (!exact()) {
        if (!known) mover.intervals(index, accumulators_[at], errors_[at], allowed);
        known = true;
        if (allowed[static_cast<std::size_t>(output.value)].any) continue;
        const Interval& i = allowed[static_cast<std::size_t>(output.value)];
        low = std::min(want, cast(output.desc.type, i.low)), high = std::max(want, cast(output.desc.type, i.high));
        if (worst) *worst = std::max(*worst, std::fabs(have - want) / std::max(have > want ? high - want : want - low, 1e-300));
        if (have >= low && have <= high) continue;
      }
      if (wrong++ == 0) {
        first = "Output " + std::to_string(o) + " is wrong at " + coordinate(p.result(), index) + ": " + number(have) +
                " instead of " + number(want) + (exact() ? " (exactly)" : " (" + number(low) + " to " + number(high) + ")");
      }
    }
  });
  if (wrong > 0) return first + "; " + std::to_string(wrong) + " elements of " + std::to_string(linear) + " are wrong.";

  // Right elements: what is left must be the bytes between them.
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    if (identical(o)) continue;
    const Epilogue::Output& output = p.epilogue.outputs[o];
    const std::int64_t bytes = element_bytes(output.desc.type);
    GuardedBuffer patched = got[o].clone();
    for_each_index(p.result(), [&](const std::int64_t* index) {
      const std::int64_t offset = output.desc.offset(index) * bytes;
      std::memcpy(patched.data() + offset, outputs_[o].data() + offset, static_cast<std::size_t>(bytes));
    });
    for (std::size_t b = 0; b < patched.size(); ++b) {
      if (patched.data()[b] != outputs_[o].data()[b])
        return "Output " + std::to_string(o) + " has byte " + std::to_string(b) + " changed, which belongs to no element.";
    }
  }
  return {};
}

}  // namespace octavo::verify
