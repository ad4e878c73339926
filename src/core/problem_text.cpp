// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <functional>

#include "core/hash.h"
#include "core/text.h"
#include "octavo/problem.h"

// The one-line grammar (docs/problem-grammar.md):
//   fprop n=10 c=128 size=72x120 k=128 filter=3x3 pad=1x1 x=s8:nhwc w=s8:nhwc y=s8:nhwc epi=%1=f32.channel;%2=mul(%0,%1)
// Tokens equal to their default are not printed, so one problem has one text, and the text is the key.

namespace octavo {
namespace {

using text::bad;

constexpr std::array kKeys = {"n",    "c",       "size", "k", "filter", "pad", "stride", "dil", "groups",
                              "mode", "compute", "x",    "w", "y",      "zx",  "zw",     "epi"};

using Spatial = std::array<std::int64_t, kMaxSpatial>;

std::string print_spatial(const std::int64_t* v, int n) {
  std::string s;
  for (int i = 0; i < n; ++i) s += (i ? "x" : "") + std::to_string(v[i]);
  return s;
}

bool all_equal(const Spatial& v, int n, std::int64_t value) {
  for (int i = 0; i < n; ++i) {
    if (v[i] != value) return false;
  }
  return true;
}

/// "3x3", or one number for every axis. n is the number of axes, or 0 to learn it.
bool parse_spatial(std::string_view s, int& n, Spatial& out) {
  const auto parts = text::split(s, 'x');
  const int count = static_cast<int>(parts.size());
  if (count > kMaxSpatial || (n != 0 && count != n && count != 1)) return false;
  if (n == 0) n = count;
  // Sizes, pads, strides and dilations past 2^31 are refused here, so that no arithmetic on them can overflow.
  constexpr std::int64_t kLimit = std::int64_t{1} << 31;
  for (int i = 0; i < n; ++i) {
    if (!text::parse_int(parts[count == 1 ? 0 : i], out[i]) || out[i] < -kLimit || out[i] > kLimit) return false;
  }
  return true;
}

DataType_t default_compute(const Problem& p) { return accumulator_type(p); }

struct Tokens {
  std::array<std::string_view, kKeys.size()> value{};
  std::string_view operator[](std::string_view key) const {
    for (std::size_t i = 0; i < kKeys.size(); ++i) {
      if (key == kKeys[i]) return value[i];
    }
    return {};
  }
};

error_t tokenize(std::string_view line, std::string_view& direction, Tokens& tokens) {
  bool first = true;
  while (true) {
    const std::size_t begin = line.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) break;
    line.remove_prefix(begin);
    const std::size_t end = line.find_first_of(" \t\r\n");
    const std::string_view token = line.substr(0, end);
    line.remove_prefix(token.size());
    if (first) {
      direction = token;
      first = false;
      continue;
    }
    const std::size_t equals = token.find('=');
    const std::string_view key = token.substr(0, equals);
    std::size_t at = 0;
    while (at < kKeys.size() && key != kKeys[at]) ++at;
    if (at == kKeys.size() || equals == std::string_view::npos) {
      std::vector<std::string> keys(kKeys.begin(), kKeys.end());
      return bad("'" + std::string(token) + "' is not a token of the problem grammar; did you mean '" +
                 text::nearest(key, keys) + "=...'?");
    }
    if (!tokens.value[at].empty()) return bad("'" + std::string(key) + "=' is given twice; give it once.");
    tokens.value[at] = token.substr(equals + 1);
    if (tokens.value[at].empty()) return bad("'" + std::string(key) + "=' has no value.");
  }
  return {};
}

error_t parse_dims(const Tokens& t, Problem& p, int& spatial) {
  Spatial size{}, filter{}, pre{}, post{}, stride{1, 1, 1}, dilation{1, 1, 1};
  std::int64_t n = 1, c = 0, k = 0, groups = 1;
  for (const char* key : {"c", "size", "k", "filter"}) {
    if (t[key].empty()) return bad(std::string("The problem has no '") + key + "='; c=, size=, k= and filter= are needed.");
  }
  auto integer = [&](const char* key, std::int64_t& out) -> error_t {
    if (t[key].empty() || text::parse_int(t[key], out)) return {};
    return bad(std::string("'") + key + "=" + std::string(t[key]) + "' is not a whole number.");
  };
  OCTAVO_RETURN_IF_ERROR(integer("n", n));
  OCTAVO_RETURN_IF_ERROR(integer("c", c));
  OCTAVO_RETURN_IF_ERROR(integer("k", k));
  OCTAVO_RETURN_IF_ERROR(integer("groups", groups));
  if (groups < 1) return bad("'groups=" + std::to_string(groups) + "' must be 1 or more.");
  if (c % groups != 0) {
    return bad("Channels do not divide into groups: c=" + std::to_string(c) + " and groups=" + std::to_string(groups) + ".");
  }
  auto axes = [&](const char* key, std::string_view value, Spatial& out) -> error_t {
    if (value.empty() || parse_spatial(value, spatial, out)) return {};
    return bad(std::string("'") + key + "=" + std::string(value) +
               "' is not a list such as 3x3 with one number (at most 2^31) for each of the " + std::to_string(spatial) +
               " spatial axes.");
  };
  spatial = 0;
  OCTAVO_RETURN_IF_ERROR(axes("size", t["size"], size));
  OCTAVO_RETURN_IF_ERROR(axes("filter", t["filter"], filter));
  OCTAVO_RETURN_IF_ERROR(axes("stride", t["stride"], stride));
  OCTAVO_RETURN_IF_ERROR(axes("dil", t["dil"], dilation));
  const std::string_view pad = t["pad"];
  const std::size_t colon = pad.find(':');
  OCTAVO_RETURN_IF_ERROR(axes("pad", pad.substr(0, colon), pre));
  post = pre;
  if (colon != std::string_view::npos) OCTAVO_RETURN_IF_ERROR(axes("pad", pad.substr(colon + 1), post));

  p.pre_pad = pre;
  p.post_pad = post;
  p.stride = stride;
  p.dilation = dilation;
  for (int i = spatial; i < kMaxSpatial; ++i) {
    p.stride[i] = p.dilation[i] = 1;
    p.pre_pad[i] = p.post_pad[i] = 0;
  }
  p.x.rank = p.w.rank = p.y.rank = spatial + 2;
  p.x.dim = {n, c};
  p.w.dim = {k, c / groups};
  p.y.dim = {n, k};
  for (int i = 0; i < spatial; ++i) {
    p.x.dim[2 + i] = size[i];
    p.w.dim[2 + i] = filter[i];
    const std::int64_t room = size[i] + p.pre_pad[i] + p.post_pad[i] - p.dilation[i] * (filter[i] - 1) - 1;
    // A bad stride or a filter that does not fit is reported by validate(), with the whole geometry.
    p.y.dim[2 + i] = p.stride[i] < 1 || room < 0 ? 1 : 1 + room / p.stride[i];
  }
  return {};
}

error_t parse_storages(const Tokens& t, Problem& p) {
  struct Role {
    const char* key;
    TensorDesc* tensor;
  };
  const std::array<Role, 3> roles{{{"x", &p.x}, {"w", &p.w}, {"y", &p.y}}};
  for (const Role& role : roles) {
    if (role.tensor == &p.result()) continue;
    const std::string_view value = t[role.key];
    if (value.empty()) {
      return bad(std::string("The ") + to_string(p.direction) + " reads " + role.key + " and the problem has no '" + role.key +
                 "='; give its type and layout, such as " + role.key + "=s8:nhwc.");
    }
    OCTAVO_RETURN_IF_ERROR(text::parse_storage(role.key, value, *role.tensor));
  }
  TensorDesc& result = p.result();
  const char* result_key = p.direction == Direction::fprop ? "y" : p.direction == Direction::dgrad ? "x" : "w";
  result.type = accumulator_type(p);
  p.compute = default_compute(p);
  if (!t["compute"].empty() && !parse_type(t["compute"], p.compute)) {
    return bad("'compute=" + std::string(t["compute"]) + "' is not a type; did you mean '" +
               text::nearest(t["compute"], {"s32", "f32", "f64", "fastf32"}) + "'?");
  }
  if (!t["epi"].empty()) OCTAVO_RETURN_IF_ERROR(text::parse_epilogue(t["epi"], p));
  Epilogue& e = p.epilogue;
  if (!t[result_key].empty()) {
    if (!e.outputs.empty())
      return bad(std::string("Both '") + result_key + "=' and out(...) in 'epi=' are given; use one of them.");
    Epilogue::Output out;
    out.desc = result;
    out.value = e.nodes.empty() ? 0 : e.first_node() + static_cast<int>(e.nodes.size()) - 1;
    OCTAVO_RETURN_IF_ERROR(text::parse_storage(result_key, t[result_key], out.desc));
    e.outputs.push_back(out);
  } else if (e.outputs.empty()) {
    return bad(std::string("The ") + to_string(p.direction) + " stores " + result_key + " and the problem has no '" +
               result_key + "='; give its type and layout, such as " + result_key + "=s32:nhwc.");
  }
  return {};
}

}  // namespace

std::string Problem::to_string() const {
  const int n = spatial();
  std::string s = octavo::to_string(direction);
  s += " n=" + std::to_string(x.dim[0]) + " c=" + std::to_string(x.dim[1]) + " size=" + print_spatial(x.dim.data() + 2, n);
  s += " k=" + std::to_string(w.dim[0]) + " filter=" + print_spatial(w.dim.data() + 2, n);
  if (pre_pad != post_pad || !all_equal(pre_pad, n, 0)) {
    s += " pad=" + print_spatial(pre_pad.data(), n);
    if (pre_pad != post_pad) s += ":" + print_spatial(post_pad.data(), n);
  }
  if (!all_equal(stride, n, 1)) s += " stride=" + print_spatial(stride.data(), n);
  if (!all_equal(dilation, n, 1)) s += " dil=" + print_spatial(dilation.data(), n);
  if (groups() != 1) s += " groups=" + std::to_string(groups());
  if (mode == ConvolutionMode_t::CONVOLUTION) s += " mode=conv";
  if (compute != default_compute(*this)) s += std::string(" compute=") + short_name(compute);
  const bool single = epilogue.outputs.size() == 1 &&
                      epilogue.outputs[0].value ==
                          (epilogue.nodes.empty() ? 0 : epilogue.first_node() + static_cast<int>(epilogue.nodes.size()) - 1);
  auto storage = [&](const char* key, const TensorDesc& t) {
    if (&t != &result()) {
      s += std::string(" ") + key + "=" + text::print_storage(t);
    } else if (single) {
      s += std::string(" ") + key + "=" + text::print_storage(epilogue.outputs[0].desc);
    }
  };
  storage("x", x);
  storage("w", w);
  storage("y", y);
  if (zero_points.x != 0) s += " zx=" + std::to_string(zero_points.x);
  if (zero_points.filter == ZeroPoints::Filter::scalar) s += " zw=" + std::to_string(zero_points.w);
  if (zero_points.filter == ZeroPoints::Filter::per_channel) s += " zw=channel";
  if (const std::string epi = text::print_epilogue(*this); !epi.empty()) s += " epi=" + epi;
  return s;
}

error_t parse_problem(std::string_view line, Problem& out) {
  Problem p;
  std::string_view direction;
  Tokens tokens;
  OCTAVO_RETURN_IF_ERROR(tokenize(line, direction, tokens));
  if (direction == "fprop") {
    p.direction = Direction::fprop;
  } else if (direction == "dgrad") {
    p.direction = Direction::dgrad;
  } else if (direction == "wgrad") {
    p.direction = Direction::wgrad;
  } else {
    return bad("The problem starts with '" + std::string(direction) +
               "'; it must start with fprop, dgrad or wgrad (did you mean '" +
               text::nearest(direction, {"fprop", "dgrad", "wgrad"}) + "'?).");
  }
  int spatial = 0;
  OCTAVO_RETURN_IF_ERROR(parse_dims(tokens, p, spatial));
  const std::string_view mode = tokens["mode"];
  if (mode == "conv") {
    p.mode = ConvolutionMode_t::CONVOLUTION;
  } else if (!mode.empty() && mode != "xcorr") {
    return bad("'mode=" + std::string(mode) + "' is neither xcorr nor conv; did you mean '" +
               text::nearest(mode, {"xcorr", "conv"}) + "'?");
  }
  OCTAVO_RETURN_IF_ERROR(parse_storages(tokens, p));
  std::int64_t v = 0;
  if (!tokens["zx"].empty()) {
    if (!text::parse_int(tokens["zx"], v)) return bad("'zx=" + std::string(tokens["zx"]) + "' is not a whole number.");
    p.zero_points.x = static_cast<std::int32_t>(v);
  }
  if (tokens["zw"] == "channel") {
    p.zero_points.filter = ZeroPoints::Filter::per_channel;
  } else if (!tokens["zw"].empty()) {
    if (!text::parse_int(tokens["zw"], v))
      return bad("'zw=" + std::string(tokens["zw"]) + "' is neither a whole number nor 'channel'.");
    p.zero_points.filter = ZeroPoints::Filter::scalar;
    p.zero_points.w = static_cast<std::int32_t>(v);
  }
  OCTAVO_RETURN_IF_ERROR(p.validate());
  out = std::move(p);
  return {};
}

Hash128 Problem::hash() const { return hash_bytes(to_string()); }

}  // namespace octavo
