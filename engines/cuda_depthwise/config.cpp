// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "engines/cuda_depthwise/config.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "core/zero_point.h"
#include "engines/cuda_common/conv_constants.h"
#include "engines/cuda_common/epilogue_codegen.h"

namespace octavo::cuda::depthwise {
namespace {

constexpr int kMostRegisters = 168;
constexpr int kMostShared = 40 << 10;
constexpr int kThreads = 256;

bool is_byte(DataType_t type) { return type == DataType_t::INT8 || type == DataType_t::UINT8; }

std::int64_t run_of(const TensorDesc& t) {
  if (t.vector == 1 && t.stride[1] != 1 && t.dim[1] > 1) return 1;
  std::int64_t g = t.vector > 1 ? std::gcd(t.vector, t.stride[1]) : 16;
  for (int i = 0; i < t.rank; ++i)
    if (i != 1 && t.dim[static_cast<std::size_t>(i)] > 1) g = std::gcd(g, t.stride[static_cast<std::size_t>(i)]);
  return std::max<std::int64_t>(g, 1);
}

std::int64_t columns_of(const View& view, const Config& c) {
  return (c.tq - 1) * view.stride[1] + (view.r[1] - 1) * view.dilation[1] + 1;
}

/// GB/s: what a large copy moves, reads and writes together, on the smallest common device of an architecture.
double bandwidth(const DeviceTraits& device) {
  switch (device.sm) {
    case 75:
      return 280;
    case 80:
      return 1700;
    case 86:
      return 700;
    case 87:
      return 180;
    case 89:
      return 850;
    case 90:
      return 4000;
    case 100:
      return 6500;
    default:
      return 1400;
  }
}

}  // namespace

View view_of(const Problem& p) {
  const Padded padded(p);
  View v;
  const bool dgrad = p.direction == Direction::dgrad;
  v.x_type = dgrad ? p.y.type : p.x.type;
  v.w_type = p.w.type;
  v.n = padded.n;
  v.channels = padded.k;
  v.per_group = padded.cg;
  v.flip = (p.mode == ConvolutionMode_t::CONVOLUTION) != dgrad;
  for (std::size_t i = 0; i < 2; ++i) {
    v.x[i] = dgrad ? padded.y[i + 1] : padded.x[i + 1];
    v.y[i] = dgrad ? padded.x[i + 1] : padded.y[i + 1];
    v.r[i] = padded.r[i + 1];
    v.stride[i] = padded.stride[i + 1];
    v.dilation[i] = padded.dilation[i + 1];
    v.pad[i] = dgrad ? v.dilation[i] * (v.r[i] - 1) - padded.pad[i + 1] : padded.pad[i + 1];
  }
  v.x_stride = dgrad ? padded.y_stride : padded.x_stride;
  v.w_stride = padded.w_stride;
  v.x_vector = dgrad ? padded.y_vector : padded.x_vector;
  v.w_vector = padded.w_vector;
  v.x_run = run_of(p.input_a());
  return v;
}

std::string Config::text() const { return "v" + std::to_string(v) + "q" + std::to_string(tq) + "p" + std::to_string(tp); }

std::optional<Config> Config::parse(const std::string& text) {
  Config c;
  int used = 0;
  if (std::sscanf(text.c_str(), "v%2dq%2dp%2d%n", &c.v, &c.tq, &c.tp, &used) != 3 || used != static_cast<int>(text.size()) ||
      c.text() != text)
    return std::nullopt;
  return c;
}

Path path_of(const Problem& p, const View& view, const Config& c) {
  const bool bytes = is_byte(view.x_type) && is_byte(view.w_type) && c.v % 4 == 0;
  if (!bytes || p.zero_points.filter != ZeroPoints::Filter::none) return Path::plain;
  const bool fits = view.x_type == DataType_t::INT8 ? p.zero_points.x >= -128 && p.zero_points.x <= 127
                                                    : p.zero_points.x >= 0 && p.zero_points.x <= 255;
  if (!fits) return Path::plain;
  if (view.per_group == 1 && view.dilation[1] == 1) return Path::taps;
  return view.per_group % 4 == 0 ? Path::groups : Path::plain;
}

int data_registers(const View& view, const Config& c, Path path) {
  const std::int64_t columns = std::min(columns_of(view, c), c.tq * view.r[1]);
  const std::int64_t raw = columns * ((c.v * element_bytes(view.x_type) + 3) / 4), acc = std::int64_t{c.tp} * c.tq * c.v;
  if (path == Path::plain) return static_cast<int>(acc + raw + columns * c.v + c.v);
  if (path == Path::groups) return static_cast<int>(acc + raw + c.v);
  return static_cast<int>(acc + raw + columns + 3 + c.v * ((view.r[1] + 3) / 4));
}

Block block_of(const View& view, const Config& c, Path path) {
  Block b;
  b.vectors = static_cast<int>(view.channels / c.v);
  const std::int64_t rows = path == Path::plain  ? view.r[0] * view.r[1] * view.per_group
                            : path == Path::taps ? view.r[0] * ((view.r[1] + 3) / 4)
                                                 : view.r[0] * view.r[1] * (view.per_group / 4);
  const std::int64_t lane_bytes = rows * c.v * 4;
  const int most = static_cast<int>(std::clamp<std::int64_t>(kMostShared / std::max<std::int64_t>(lane_bytes, 1), 0, 32));
  if (most == 0) return b.lanes = 0, b;
  const int chunks = (b.vectors + most - 1) / most;
  b.lanes = (b.vectors + chunks - 1) / chunks;
  b.tiles = std::max(1, kThreads / b.lanes);
  b.shared_bytes = static_cast<int>(lane_bytes) * b.lanes;
  return b;
}

std::int64_t tiles_of(const View& view, const Config& c) {
  return view.n * ((view.y[0] + c.tp - 1) / c.tp) * ((view.y[1] + c.tq - 1) / c.tq);
}

double cost_us(const Problem& p, const View& view, const Config& c, const DeviceTraits& device) {
  const Path path = path_of(p, view, c);
  double bytes = static_cast<double>(p.input_a().span_bytes());
  for (const Epilogue::Output& o : p.epilogue.outputs) bytes += static_cast<double>(o.desc.span_bytes());
  for (const Epilogue::Operand& o : p.epilogue.operands) bytes += static_cast<double>(o.desc.span_bytes());
  const double outputs = static_cast<double>(p.result().elements());
  // Instructions for an output element: products, what it takes to bring the inputs in, and the epilogue.
  const double per_tile = c.tp * c.tq * c.v;
  const double taps = static_cast<double>(view.r[0] * view.r[1] * view.per_group);
  const double rows = c.tp == 1 ? static_cast<double>(view.r[0]) : static_cast<double>((c.tp - 1) * view.stride[0] + view.r[0]);
  const double columns = static_cast<double>(std::min(columns_of(view, c), c.tq * view.r[1]));
  const double pieces = std::max(1., c.v * static_cast<double>(element_bytes(view.x_type)) / 16.);
  double work = 8. + 2. * static_cast<double>(p.epilogue.nodes.size());
  work += rows * columns * (4. * pieces + 3.) / per_tile;  // address, check, load, fill
  if (path == Path::taps) {
    work += static_cast<double>(view.r[0] * ((view.r[1] + 3) / 4)) * 2. + rows * columns * 2. * c.v / per_tile;
  } else if (path == Path::groups) {
    work += taps / 4. * (1. + 1. / c.tq);
  } else {
    work += taps * (1. + .3 / c.tq) + rows * columns * c.v / per_tile;
  }
  const double rate = std::max(device.sm_count, 1) * 90. * std::max(device.clock_khz, 500000) * 1e-3;  // a microsecond
  work += 48. / per_tile * c.v / 4;  // positions, the filter's loads
  // Measured on an H200: sixteen bytes of channels leave too few warps (1.2 to 1.5 times the time of eight).
  if (element_bytes(view.x_type) == 1 && c.v == 16) work *= 1.3;
  const double issue = outputs * work / rate;
  const double memory = bytes / (bandwidth(device) * 1e3);
  // Few threads do not fill the device.
  const double threads = static_cast<double>(tiles_of(view, c)) * static_cast<double>(view.channels) / c.v;
  const double fill = std::min(1., threads / (std::max(device.sm_count, 1) * 192.));
  return 3. + std::max(issue, memory) / std::max(fill, .05) + .25 * std::min(issue, memory);
}

std::vector<Config> configs(const Problem& p, const View& view) {
  std::vector<Config> out;
  const std::int64_t bytes = element_bytes(view.x_type);
  for (const int v : {16, 8, 4, 2, 1}) {
    if (view.channels % v != 0 || v % view.per_group != 0 || view.x_run % v != 0) continue;
    if (v * bytes > 16 && v != view.per_group) continue;
    // Narrower vectors only where the wide one is missing, or next to it for the tuner.
    if (!out.empty() && out.front().v > 2 * v) continue;
    for (const int tp : {1, 2})
      for (const int tq : {8, 4, 2, 1}) {
        // A wider tile compiles for seconds and leaves too few warps; a narrower one than needed brings inputs in twice.
        if (tp * tq * v > 64 || (tq == 1 && (view.y[1] > 1 || tp == 2) && !out.empty())) continue;
        const Config c{v, tq, tp};
        const Path path = path_of(p, view, c);
        if (tq > std::max<std::int64_t>(view.y[1], 1) * 2 - 1 ||
            (tp > 1 && (view.y[0] < 2 || view.r[0] > 5 || view.dilation[0] > 1)))
          continue;
        if (columns_of(view, c) > 64 || data_registers(view, c, path) > kMostRegisters) continue;
        // Unrolled products: a filter row of the tile, or all of it where rows are shared. They are what compiling takes time
        // for.
        const std::int64_t row = view.r[1] * tq * v * (path == Path::groups ? view.per_group / 4 : view.per_group);
        if (tp > 1 ? view.r[0] * tp * row > 320 : row > 1024 && !out.empty()) continue;
        if (block_of(view, c, path).lanes == 0) continue;
        out.push_back(c);
      }
  }
  return out;
}

Verdict accepts(const Problem& p) {
  if (!zero_point_fits(p)) return Verdict::no("x's zero point is no value of x's type: cuda_simt runs it");
  if (p.direction == Direction::wgrad) return Verdict::no("it computes fprop and dgrad, and the problem is wgrad");
  const Padded padded(p);
  if (padded.groups < 2) return Verdict::no("it takes depthwise and narrow groups, and the problem has 1 group");
  if (padded.cg != padded.kg)
    return Verdict::no("it takes as many outputs as inputs a group, and a group has " + std::to_string(padded.cg) + " and " +
                       std::to_string(padded.kg));
  if (padded.cg != 1 && padded.cg != 2 && padded.cg != 4 && padded.cg != 8)
    return Verdict::no("it takes groups of 1, 2, 4 or 8 channels, and these have " + std::to_string(padded.cg));
  if (padded.x[0] != 1 || padded.r[0] != 1 || padded.y[0] != 1)
    return Verdict::no("it takes one or two spatial axes of more than one element, and the problem has three");
  if (padded.pad[0] != 0) return Verdict::no("it takes no padding of a depth axis");
  const View v = view_of(p);
  const bool floats = v.x_type == v.w_type &&
                      (v.x_type == DataType_t::HALF || v.x_type == DataType_t::BFLOAT16 || v.x_type == DataType_t::FLOAT);
  if (!floats && !(is_byte(v.x_type) && is_byte(v.w_type)))
    return Verdict::no(std::string("it takes s8, u8, f16, bf16 and f32, and the inputs are ") + short_name(v.x_type) + " and " +
                       short_name(v.w_type));
  if (p.direction == Direction::dgrad) {
    if (padded.cg != 1)
      return Verdict::no("its dgrad is depthwise, and a group has " + std::to_string(padded.cg) + " channels");
    if (v.stride[0] != 1 || v.stride[1] != 1) return Verdict::no("its dgrad takes stride 1");
  }
  constexpr std::int64_t kLimit = std::int64_t{1} << 30;
  for (std::size_t i = 0; i < 2; ++i)
    if (v.x[i] > kLimit || v.y[i] * v.stride[i] > kLimit || v.r[i] * v.dilation[i] > kLimit || v.pad[i] > kLimit ||
        v.pad[i] < -kLimit)
      return Verdict::no("a spatial coordinate leaves 30 bits");
  if (v.channels > 65535) return Verdict::no("it takes at most 65535 channels");
  if (v.r[0] < 1 || v.r[1] < 1) return Verdict::no("the filter is empty");
  if (Verdict fits = epilogue_fits(p); !fits) return fits;
  if (configs(p, v).empty())
    return Verdict::no("no tile of a " + std::to_string(v.r[0]) + "x" + std::to_string(v.r[1]) + " filter in this layout fits");
  return Verdict::yes();
}

std::string constants(const Problem& p, const View& v, const Config& c) {
  const Path path = path_of(p, v, c);
  const Block block = block_of(v, c, path);
  const std::int64_t tiles = tiles_of(v, c);
  std::string text = "struct Conv {\n";
  const bool wide = needs_wide_index(p) || p.input_a().span_elements() > (std::int64_t{1} << 30);
  text += std::string("  using X = ") + storage_name(v.x_type) + ";\n  using W = " + storage_name(v.w_type) +
          ";\n  using idx_t = " + (wide ? "long long" : "int") +
          ";\n  using tile_t = " + (tiles < (std::int64_t{1} << 31) ? "u32" : "u64") + ";\n";
  const auto small = [&](const std::string& name, std::int64_t value) {
    text += "  static constexpr int " + name + " = " + std::to_string(value) + ";\n";
  };
  const auto index = [&](const std::string& name, std::int64_t value) {
    text += "  static constexpr idx_t " + name + " = " + std::to_string(value) + ";\n";
  };
  small("V", c.v);
  small("TP", c.tp);
  small("TQ", c.tq);
  small("CV", block.vectors);
  small("CB", block.lanes);
  small("PY", block.tiles);
  small("CG", v.per_group);
  for (std::size_t i = 0; i < 2; ++i) {
    const std::string axis = std::to_string(i + 1);
    small("X" + axis, v.x[i]);
    small("R" + axis, v.r[i]);
    small("Y" + axis, v.y[i]);
    small("B" + axis, v.pad[i]);
    small("S" + axis, v.stride[i]);
    small("D" + axis, v.dilation[i]);
  }
  index("XS0", v.x_stride[0]);
  index("XS1", v.x_stride[1]);
  index("XS3", v.x_stride[3]);
  index("XS4", v.x_stride[4]);
  index("XV", v.x_vector);
  index("WS0", v.w_stride[0]);
  index("WS1", v.w_stride[1]);
  index("WS3", v.w_stride[3]);
  index("WS4", v.w_stride[4]);
  index("WV", v.w_vector);
  small("PT", (v.y[0] + c.tp - 1) / c.tp);
  small("QT", (v.y[1] + c.tq - 1) / c.tq);
  text += "  static constexpr u64 kTiles = " + std::to_string(tiles) + "ull;\n";
  text += std::string("  static constexpr bool kFlip = ") + (v.flip ? "true" : "false") + ";\n";
  text += "  static constexpr s32 kZeroX = s32(" + std::to_string(p.zero_points.x) + "LL);\n";
  const bool scalar = p.zero_points.filter == ZeroPoints::Filter::scalar;
  text += "  static constexpr s32 kZeroW = s32(" + std::to_string(scalar ? p.zero_points.w : 0) + "LL);\n";
  small("kFilterZero", static_cast<int>(p.zero_points.filter));
  small("kPath", static_cast<int>(path));
  return text + "};\n";
}

}  // namespace octavo::cuda::depthwise
