// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "engines/cuda_mma/lowering.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "core/zero_point.h"
#include "engines/cuda_common/conv_constants.h"

namespace octavo::cuda::mma {
namespace {

std::string str(std::int64_t v) { return std::to_string(v); }
error_t no(std::string why) { return {error_code_t::GRAPH_NOT_SUPPORTED, std::move(why)}; }

std::int64_t round_to(std::int64_t v, std::int64_t unit) { return (v + unit - 1) / unit * unit; }

std::optional<dev::Elem> element_of(DataType_t type) {
  switch (type) {
    case DataType_t::INT8:
      return dev::Elem::s8;
    case DataType_t::UINT8:
      return dev::Elem::u8;
    case DataType_t::HALF:
    case DataType_t::FP8_E4M3:  // both are subsets of f16
    case DataType_t::FP8_E5M2:
      return dev::Elem::f16;
    case DataType_t::BFLOAT16:
      return dev::Elem::bf16;
    case DataType_t::FLOAT:
      return dev::Elem::tf32;
    default:
      return std::nullopt;
  }
}
DataType_t stored_as(DataType_t type) {
  return type == DataType_t::FP8_E4M3 || type == DataType_t::FP8_E5M2 ? DataType_t::HALF : type;
}

/// A tensor with its axes padded to three spatial ones, strides in elements (0 where a size is 1).
struct View {
  DataType_t type = DataType_t::NOT_SET;
  std::int64_t stride[5]{}, vector = 1;
};
View view_of(const TensorDesc& t, const std::array<std::int64_t, 5>& stride) {
  View v;
  v.type = t.type, v.vector = t.vector;
  std::copy(stride.begin(), stride.end(), v.stride);
  return v;
}

/// Bytes of the largest power of two up to 16 that divides all of the given.
int common_align(std::initializer_list<std::int64_t> list) {
  std::int64_t g = 16;
  for (const std::int64_t v : list) g = std::gcd(g, v);
  return static_cast<int>(g);
}

/// Reads a view in place if its channels lie as the kernels want them. `channels` of a group, `groups` of them in the view.
int direct(const View& v, std::int64_t channels, std::int64_t groups, std::int64_t outer_size, Operand& o) {
  const std::int64_t es = element_bytes(v.type);
  if (stored_as(v.type) != v.type) return 0;
  const bool last = v.vector == 1 && (v.stride[1] == 1 || channels * groups == 1);
  const bool blocks = v.vector * es == 32 && (groups == 1 || channels % v.vector == 0);
  if (!last && !blocks) return 0;
  o.packed = false;
  o.outer = outer_size > 1 ? v.stride[0] * es : 0;
  for (int i = 0; i < 3; ++i) o.s[i] = v.stride[2 + i] * es;
  o.pair = last ? 32 : v.stride[1] * es;
  o.group = groups == 1 ? 0 : last ? channels * es : channels / v.vector * v.stride[1] * es;
  return common_align({o.outer, o.s[0], o.s[1], o.s[2], o.pair, o.group});
}

/// Strides of the packed form.
void use_pack(Operand& o) {
  Pack& p = o.pack;
  const std::int64_t es = element_bytes(p.to), pixel = p.groups * p.padded * es;
  o.packed = true, o.pair = 32, o.offset = 0;
  o.group = p.groups > 1 ? p.padded * es : 0;
  o.s[2] = pixel, o.s[1] = o.s[2] * p.size[2], o.s[0] = o.s[1] * p.size[1], o.outer = o.s[0] * p.size[0];
}

/// The piece a thread writes and the axis that neighbouring threads follow.
void finish_pack(Pack& p) {
  const int es = static_cast<int>(element_bytes(p.to));
  p.piece = static_cast<int>(std::min<std::int64_t>(p.padded, 16 / es));
  p.fastest = p.channel_stride == 1 || p.channel_vector > 1 ? 0
              : p.spatial_stride[2] == 1 && p.size[2] > 1   ? 1
              : p.outer_stride == 1 || p.outer_vector > 1   ? 2
                                                            : 0;
}

/// The three roles of a problem's tensors in the forward form.
struct Roles {
  View x, w;
  std::int64_t n, c, kg, groups;  ///< outer size of x, channels of a group, filters of a group
};

Pack pack_of(const View& v, std::int64_t outer, std::int64_t groups, std::int64_t channels, const std::int64_t (&source)[3],
             std::int64_t unit_bytes) {
  Pack p;
  p.from = v.type, p.to = stored_as(v.type);
  p.outer = outer, p.groups = groups, p.channels = channels;
  p.padded = round_to(channels * element_bytes(p.to), unit_bytes) / element_bytes(p.to);
  p.outer_stride = v.stride[0], p.channel_stride = v.stride[1], p.channel_vector = v.vector;
  for (int i = 0; i < 3; ++i) p.size[i] = p.source[i] = source[i], p.spatial_stride[i] = v.stride[2 + i];
  return p;
}

void flip_pack(Pack& p) {
  for (int i = 0; i < 3; ++i) {
    p.first += (p.source[i] - 1) * p.spatial_stride[i];
    p.spatial_stride[i] = -p.spatial_stride[i];
  }
}

/// Explicit padding: the packed input has exactly the pixels that windows touch.
void pad_explicitly(Lowered& l, Pack& p) {
  for (int i = 0; i < 3; ++i) {
    p.size[i] = (l.out[i] - 1) * l.stride[i] + (l.taps[i] - 1) * l.dilation[i] + 1;
    p.lead[i] += l.pad[i];
    l.in[i] = p.size[i], l.pad[i] = l.pad_end[i] = 0;
  }
  l.padded = false;
}

bool any_padding(const Lowered& l) {
  // Windows reach outside in front, or behind.
  for (int i = 0; i < 3; ++i)
    if (l.pad[i] > 0 || (l.out[i] - 1) * l.stride[i] + (l.taps[i] - 1) * l.dilation[i] + 1 - l.pad[i] > l.in[i]) return true;
  return false;
}

void lower_fprop(const Problem& p, const Padded& d, Lowered& l) {
  const View x = view_of(p.x, d.x_stride), w = view_of(p.w, d.w_stride);
  const bool flip = p.mode == ConvolutionMode_t::CONVOLUTION;
  l.n = d.n, l.k = d.k, l.groups = d.groups, l.channels = d.cg;
  std::int64_t in[3];
  for (std::size_t i = 0; i < 3; ++i) {
    l.in[i] = in[i] = d.x[i], l.out[i] = d.y[i], l.taps[i] = d.r[i], l.stride[i] = d.stride[i], l.pad[i] = d.pad[i],
    l.dilation[i] = d.dilation[i];
    l.pad_end[i] = (l.out[i] - 1) * l.stride[i] + (l.taps[i] - 1) * l.dilation[i] + 1 - l.pad[i] - l.in[i];
  }
  l.padded = any_padding(l);
  const std::int64_t es = element_bytes(stored_as(p.x.type)), row = d.cg * es, pixels = l.taps[0] * l.taps[1] * l.taps[2];
  std::int64_t taps[3] = {l.taps[0], l.taps[1], l.taps[2]};
  l.zero_point = p.zero_points.x;
  l.correct = l.zero_point != 0;

  // First layers: a filter row's S pixels are one run of bytes; the run is padded, not the channels.
  if (d.groups == 1 && row <= 8 && l.taps[2] > 1 && l.dilation[2] == 1) {
    std::int64_t pixel = 1;
    while (pixel < row || pixel < es || std::gcd(pixel * l.stride[2], std::int64_t{16}) < 4) pixel *= 2;
    l.x.pack = pack_of(x, d.n, 1, d.cg, in, pixel);
    l.x.pack.fill = static_cast<int>(l.zero_point);
    pad_explicitly(l, l.x.pack);
    l.w.pack = pack_of(w, d.k, 1, d.cg, taps, pixel);
    if (flip) flip_pack(l.w.pack);
    // Rows begin at multiples of 16 bytes; a pixel or tap more is never read.
    l.in[2] = l.x.pack.size[2] = round_to(l.x.pack.size[2], 16 / pixel);
    l.w.pack.size[2] = round_to(l.taps[2], 16 / pixel);
    finish_pack(l.x.pack), finish_pack(l.w.pack);
    use_pack(l.x), use_pack(l.w);
    l.tap_bytes = l.taps[2] * pixel;
    l.align = common_align({pixel * l.stride[2]});
    // One tap a row: what remains of the stride belongs to the address.
    l.x.s[2] *= l.stride[2], l.stride[2] = l.taps[2] = 1;
    return;
  }

  l.tap_bytes = row;
  int align_x = direct(x, d.cg, d.groups, d.n, l.x), align_w = direct(w, d.cg, 1, d.k, l.w);
  const bool explicit_padding = l.padded && (l.correct || l.taps[0] + l.taps[1] + l.taps[2] > 32);
  if (explicit_padding) align_x = 0;
  // Narrow copies cost instructions: where every pixel is read many times, one pass that packs it is cheaper.
  if (align_x < 4 || (align_x < 16 && pixels > 1)) {
    l.x.pack = pack_of(x, d.n, d.groups, d.cg, in, 16);
    l.x.pack.fill = static_cast<int>(l.zero_point);
    if (explicit_padding) pad_explicitly(l, l.x.pack);
    finish_pack(l.x.pack);
    use_pack(l.x);
    align_x = 16;
  }
  if (align_w < align_x || stored_as(w.type) != w.type) {
    l.w.pack = pack_of(w, d.k, 1, d.cg, taps, 16);
    if (flip) flip_pack(l.w.pack);
    finish_pack(l.w.pack);
    use_pack(l.w);
    align_w = 16;
  } else if (flip) {
    for (int i = 0; i < 3; ++i) {
      l.w.offset += (l.taps[i] - 1) * l.w.s[i];
      l.w.s[i] = -l.w.s[i];
    }
  }
  l.align = std::min(align_x, align_w);
  l.w.group = d.kg * l.w.outer;
  if (l.correct && !l.w.packed) l.w.pack = pack_of(w, d.k, 1, d.cg, taps, 16);
}

void lower_dgrad(const Problem& p, const Padded& d, Lowered& l) {
  const View y = view_of(p.y, d.y_stride), w = view_of(p.w, d.w_stride);
  l.n = d.n, l.k = d.c, l.groups = d.groups, l.channels = d.kg;
  bool insert = false;
  std::int64_t source[3], taps[3];
  for (std::size_t i = 0; i < 3; ++i) {
    source[i] = d.y[i], taps[i] = d.r[i];
    l.in[i] = (d.y[i] - 1) * d.stride[i] + 1, l.out[i] = d.x[i], l.taps[i] = d.r[i];
    l.dilation[i] = d.dilation[i], l.pad[i] = d.dilation[i] * (d.r[i] - 1) - d.pad[i];
    l.pad_end[i] = (l.out[i] - 1) + (l.taps[i] - 1) * l.dilation[i] + 1 - l.pad[i] - l.in[i];
    insert = insert || (d.stride[i] > 1 && d.y[i] > 1);
  }
  l.padded = true;
  l.tap_bytes = d.kg * element_bytes(stored_as(p.y.type));
  int align = direct(y, d.kg, d.groups, d.n, l.x);
  const bool explicit_padding = l.taps[0] + l.taps[1] + l.taps[2] > 32;
  if (insert || explicit_padding || align < 16) {
    Pack& x = l.x.pack;
    x = pack_of(y, d.n, d.groups, d.kg, source, 16);
    for (std::size_t i = 0; i < 3; ++i) x.size[i] = l.in[i], x.step[i] = d.stride[i];
    if (explicit_padding) pad_explicitly(l, x);
    finish_pack(x);
    use_pack(l.x);
  }
  // Filters of the gradient: one for each channel of x, over the output channels, back to front.
  Pack& f = l.w.pack;
  View turned = w;
  turned.stride[0] = w.stride[1], turned.stride[1] = w.stride[0], turned.vector = 1;
  f = pack_of(turned, d.cg, 1, d.kg, taps, 16);
  f.outer_vector = w.vector, f.outer_groups = d.groups, f.outer_group_stride = d.kg * w.stride[0];
  if (p.mode != ConvolutionMode_t::CONVOLUTION) flip_pack(f);
  finish_pack(f);
  use_pack(l.w);
  l.w.group = d.cg * l.w.outer;
  l.align = 16;
}

void lower_wgrad(const Problem& p, const Padded& d, Lowered& l) {
  const View x = view_of(p.x, d.x_stride), y = view_of(p.y, d.y_stride);
  // x with channels as images and images as channels, filtered by dy.
  l.n = d.cg, l.k = d.k, l.groups = d.groups, l.channels = d.n;
  std::int64_t source[3], taps[3];
  for (std::size_t i = 0; i < 3; ++i) {
    source[i] = d.x[i], taps[i] = d.y[i];
    l.in[i] = d.x[i], l.out[i] = d.r[i], l.taps[i] = d.y[i], l.stride[i] = d.dilation[i], l.dilation[i] = d.stride[i],
    l.pad[i] = d.pad[i];
  }
  l.transposed = true, l.flip = p.mode == ConvolutionMode_t::CONVOLUTION;
  l.tap_bytes = d.n * element_bytes(stored_as(p.x.type));
  const auto turn = [](View v) {
    std::swap(v.stride[0], v.stride[1]);
    v.vector = 1;
    return v;
  };
  l.x.pack = pack_of(turn(x), d.c, 1, d.n, source, 16);
  l.x.pack.outer_vector = x.vector;
  pad_explicitly(l, l.x.pack);
  l.w.pack = pack_of(turn(y), d.k, 1, d.n, taps, 16);
  l.w.pack.outer_vector = y.vector;
  finish_pack(l.x.pack), finish_pack(l.w.pack);
  use_pack(l.x), use_pack(l.w);
  l.x.group = d.cg * l.x.outer, l.w.group = d.kg * l.w.outer;
  l.align = 16;
}

std::string why_no_halo(const Lowered& l) {
  if (l.taps[0] != 1 || l.in[0] != 1 || l.out[0] != 1 || l.pad[0] != 0) return "the halo kernel takes two spatial axes";
  if (l.taps[1] * l.taps[2] == 1) return "a 1x1 filter has no halo";
  for (int i = 1; i < 3; ++i) {
    if (l.stride[i] != 1 || l.dilation[i] != 1) return "the halo kernel takes stride 1 and dilation 1";
    if (l.pad[i] < 0 || l.pad_end[i] < 0) return "the gradient's padding is negative";
  }
  if (l.taps[1] > 7 || l.taps[2] > 7) return "the halo kernel takes filters up to 7x7";
  if (std::min(l.pad[1], l.pad_end[1]) > l.taps[1] - 1) return "whole rows of output see padding only";
  if (l.align != 16 || l.tap_bytes % 32 != 0 || l.tap_bytes > 4096)
    return "the halo kernel takes channels in whole pieces of 32 bytes, 16-byte aligned";
  if (l.transposed || l.correct) return "the halo kernel takes forward convolutions without zero points";
  const std::int64_t limit = std::int64_t{1} << 30;
  const std::int64_t strips = l.n * ((l.out[2] + 7) / 8), pitch = l.in[1] + std::max(l.pad[1], l.pad_end[1]);
  if (l.in[2] + l.pad[2] > limit || strips * pitch > limit || l.n * (l.x.outer / 16) > 3 * limit ||
      l.x.s[1] / 16 * l.in[1] > limit || std::abs(l.w.s[1]) * l.taps[1] > limit)
    return "the image is too large for 32-bit positions";
  return {};
}

std::string too_large(const Lowered& l) {
  const std::int64_t limit = (std::int64_t{1} << 31) - (1 << 20), a = l.align;
  if (l.rows() > limit)
    return "there are " + str(l.rows()) + " output pixels, and the tensor-core kernels count them in 31 bits";
  // A tile of at most 256 rows touches this many images; offsets from the first one are 32-bit.
  const std::int64_t images = 255 / std::max<std::int64_t>(1, l.rows() / std::max<std::int64_t>(1, l.n)) + 2;
  std::int64_t reach = 0;
  for (int i = 0; i < 3; ++i)
    reach += std::abs(l.x.s[i]) / a * (l.in[i] + 2 * std::abs(l.pad[i]) + 2 * l.taps[i] * l.dilation[i] + 256 * l.stride[i]);
  if (std::min(images, l.n) * (l.x.outer / a) + reach + l.x.pair / a * (l.tap_bytes / 32 + 1) > limit)
    return "an image is too large for 32-bit offsets inside a tile";
  std::int64_t filters = (l.k / l.groups + 256) * (l.w.outer / a) + l.w.pair / a * (l.tap_bytes / 32 + 1);
  for (int i = 0; i < 3; ++i) filters += std::abs(l.w.s[i]) / a * l.taps[i];
  if (filters > limit) return "a group's filters are too large for 32-bit offsets";
  for (int i = 0; i < 3; ++i)
    if (l.in[i] + std::abs(l.pad[i]) > limit || l.out[i] * l.stride[i] > limit || l.taps[i] * l.dilation[i] > limit ||
        std::abs(l.pad[i]) > limit)
      return "an axis is too long for 32-bit positions";
  if (l.k + 512 > limit || l.groups * ((l.k / l.groups + 31) / 32) > (1 << 20)) return "there are too many output channels";
  return {};
}

}  // namespace

std::int64_t Pack::bytes() const {
  return outer_groups * outer * size[0] * size[1] * size[2] * groups * padded * element_bytes(to);
}

dev::HaloGeometry Lowered::halo() const {
  dev::HaloGeometry g;
  g.n = n, g.h = in[1], g.w = in[2], g.p = out[1], g.q = out[2];
  g.pad_top = pad[1], g.pad_bottom = pad_end[1], g.pad_left = pad[2];
  g.k = k, g.groups = groups;
  g.x_n = x.outer, g.x_h = x.s[1], g.x_w = x.s[2], g.x_chunk = x.pair;
  g.w_k = w.outer, g.w_r = w.s[1], g.w_s = w.s[2], g.w_chunk = w.pair;
  return g;
}

dev::IgemmGeometry Lowered::igemm() const {
  dev::IgemmGeometry g;
  g.n = n, g.k = k, g.groups = groups;
  for (int i = 0; i < 3; ++i)
    g.in[i] = in[i], g.out[i] = out[i], g.stride[i] = stride[i], g.pad[i] = pad[i], g.dilation[i] = dilation[i],
    g.x_s[i] = x.s[i], g.w_s[i] = w.s[i];
  g.x_n = x.outer, g.x_pair = x.pair, g.x_group = x.group, g.w_k = w.outer, g.w_pair = w.pair;
  return g;
}

Result<Lowered> lower(const Problem& p, const DeviceTraits& device) {
  if (device.kind != DeviceKind::cuda) return no("the device is a CPU, and cuda_mma runs on CUDA devices");
  if (device.sm < 75) return no("the device is sm_" + str(device.sm) + ", and cuda_mma needs sm_75 or newer");
  const auto a = element_of(p.input_a().type), b = element_of(p.input_b().type);
  if (!a || !b)
    return no(std::string("inputs of type ") + short_name(a ? p.input_b().type : p.input_a().type) +
              " have no tensor-core product; s8, u8, f16, bf16, fp8 (as f16) and f32 (as TF32, when asked for) have");
  if (*a == dev::Elem::tf32 && p.compute != DataType_t::FAST_FLOAT_FOR_FP8)
    return no(
        "f32 sums are real float32, and tensor cores only have TF32: set the compute type to FAST_FLOAT_FOR_FP8 to allow it");
  if (device.sm < 80 && (*a == dev::Elem::tf32 || *a == dev::Elem::bf16))
    return no(std::string(short_name(p.input_a().type)) + " products need sm_80, and the device is sm_" + str(device.sm));
  if (p.zero_points.filter != ZeroPoints::Filter::none)
    return no("the filter has zero points, which add a sum over each window of x: cuda_simt runs it");
  if (!zero_point_fits(p)) return no("x's zero point " + str(p.zero_points.x) + " is no value of x's type: cuda_simt runs it");
  const Padded d(p);
  if (p.result().elements() > 0 && p.accumulation_length() == 0) return no("the sums are empty");
  if (d.cg == 1 && d.kg == 1 && d.groups > 1)
    return no("a depthwise convolution leaves tensor cores idle: cuda_depthwise or cuda_simt runs it");
  Lowered l;
  l.a = *a, l.b = *b;
  if (p.result().elements() == 0) return l;
  for (const Epilogue::Operand& o : p.epilogue.operands)
    l.epilogue_reads = l.epilogue_reads || (o.source == Epilogue::Source::device && o.desc.elements() > 1);
  if (p.direction == Direction::fprop)
    lower_fprop(p, d, l);
  else if (p.direction == Direction::dgrad)
    lower_dgrad(p, d, l);
  else
    lower_wgrad(p, d, l);
  if (std::string why = too_large(l); !why.empty()) return no(why);
  const std::int64_t most = device.global_bytes > 0 ? device.global_bytes / 4 : std::int64_t{8} << 30;
  if ((l.x.packed ? l.x.pack.bytes() : 0) + (l.w.packed ? l.w.pack.bytes() : 0) > most)
    return no("packing would take more than a quarter of the device's memory");
  if (l.taps[0] * l.taps[1] * l.taps[2] * ((l.tap_bytes + 15) / 16) > (1 << 26)) return no("the sums are too long");
  l.halo_reason = why_no_halo(l);
  return l;
}

}  // namespace octavo::cuda::mma
