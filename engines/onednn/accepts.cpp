// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "engines/onednn/accepts.h"

#include <string>

namespace octavo::onednn {
namespace {

std::string layout_problem(const char* name, const TensorDesc& t) {
  const std::string layout = layout_name(t);
  if (layout != "nhwc" && layout != "nchw")
    return std::string("tensor ") + name + " is neither packed nhwc nor packed nchw, the layouts handed to oneDNN";
  // Its kernels have held byte offsets in 32 bits (uxlfoundation/oneDNN issues); stay far away from that.
  if (t.span_bytes() >= std::int64_t{1} << 31)
    return std::string("tensor ") + name + " spans " + std::to_string(t.span_bytes()) +
           " bytes, and oneDNN is trusted below 2^31";
  return {};
}

Verdict integers(const Problem& p, const DeviceTraits& device, DataType_t out) {
  if (p.direction != Direction::fprop) return Verdict::no("oneDNN has no integer " + std::string(to_string(p.direction)) + ".");
  if (p.input_b().type != DataType_t::INT8 || element_bytes(p.input_a().type) != 1)
    return Verdict::no("oneDNN multiplies s8 or u8 by s8, and the types are " + std::string(short_name(p.input_a().type)) +
                       " and " + short_name(p.input_b().type) + ".");
  if (device.isa < CpuIsa::avx512_vnni)
    return Verdict::no("without VNNI oneDNN sums u8 x s8 pairs in saturating 16 bits, and this processor's level is " +
                       std::string(to_string(device.isa)) + ".");
  if (out != DataType_t::INT32 && out != DataType_t::INT8 && out != DataType_t::UINT8 && out != DataType_t::FLOAT)
    return Verdict::no("oneDNN stores s32, s8, u8 or f32 from integers, and the output is " + std::string(short_name(out)) +
                       ".");
  // s8 inputs are shifted to u8 and compensated, and results pass through float32: exact while every sum is below 2^24.
  constexpr std::int64_t kLongest = (std::int64_t{1} << 24) / (255 * 128);
  if (p.accumulation_length() > kLongest)
    return Verdict::no("oneDNN's int8 path goes through float32, exact for sums of at most " + std::to_string(kLongest) +
                       " products, and this sum has " + std::to_string(p.accumulation_length()) + ".");
  return Verdict::yes();
}

Verdict floats(const Problem& p, DataType_t out) {
  const DataType_t type = p.input_a().type;
  // 0 * inf is NaN: where a kernel multiplies a zero that it has put in itself (padding gathered into a matrix, pairs of bf16
  // channels or taps filled up), inf and NaN reach outputs whose window does not cover them. Seen on 2.6.3 in all three
  // directions of bf16, with padding or without, and in f32 with padding.
  if (type == DataType_t::BFLOAT16)
    return Verdict::no("oneDNN's bf16 kernels fill up pairs with zeros, which turn an inf or NaN outside the window into NaN.");
  if (type != DataType_t::FLOAT)
    return Verdict::no("oneDNN convolves f32 and s8/u8 here, and the inputs are " + std::string(short_name(type)) + ".");
  for (int i = 0; i < p.spatial(); ++i) {
    const std::size_t a = static_cast<std::size_t>(i);
    if (p.direction != Direction::dgrad && (p.pre_pad[a] != 0 || p.post_pad[a] != 0))
      return Verdict::no("oneDNN multiplies padding of " + std::to_string(p.pre_pad[a]) + " and " +
                         std::to_string(p.post_pad[a]) + " as zeros, which turn an inf or NaN of the other factor into NaN.");
  }
  if (p.compute != DataType_t::FLOAT)
    return Verdict::no("the compute type asks for TF32, which oneDNN does not have on the CPU.");
  if (out != DataType_t::FLOAT)
    return Verdict::no("oneDNN stores f32 from f32, and the output is " + std::string(short_name(out)) + ".");
  return Verdict::yes();
}

}  // namespace

Verdict contract_allows(const Problem& p, const DeviceTraits& device) {
  if (const error_t legal = p.validate(); legal.is_bad()) return Verdict::no(legal.err_msg);
  if (p.mode != ConvolutionMode_t::CROSS_CORRELATION)
    return Verdict::no("oneDNN cross-correlates only, and the mode is CONVOLUTION.");
  if (!p.epilogue.identity() || p.epilogue.outputs.size() != 1)
    return Verdict::no("the problem has an epilogue, whose roundings oneDNN's post-ops do not promise.");
  if (p.zero_points.x != 0 || p.zero_points.filter != ZeroPoints::Filter::none)
    return Verdict::no("the problem has zero points, which oneDNN folds into float32.");
  if (p.x.dim[0] == 0) return Verdict::no("the batch is empty.");
  for (int i = 0; i < p.spatial(); ++i) {
    const std::size_t a = static_cast<std::size_t>(i);
    const std::int64_t reach = p.dilation[a] * (p.w.dim[2 + a] - 1) + 1;
    if (p.pre_pad[a] >= reach || p.post_pad[a] >= reach)
      return Verdict::no("padding of " + std::to_string(p.pre_pad[a]) + " and " + std::to_string(p.post_pad[a]) +
                         " reaches past the filter's " + std::to_string(reach) +
                         ", which oneDNN's kernels are not trusted with.");
    // Found by our random tests on 2.6.3: bf16 weights of taps that meet padding only come out uninitialised.
    if (p.direction == Direction::wgrad && reach > p.x.dim[2 + a])
      return Verdict::no("the filter reaches over " + std::to_string(reach) + " positions of an image of " +
                         std::to_string(p.x.dim[2 + a]) +
                         ", and oneDNN leaves weight gradients of taps that meet only padding uninitialised.");
    if (p.stride[a] > 1024 || p.dilation[a] > 1024)
      return Verdict::no("a stride or dilation above 1024 is not handed to oneDNN.");
  }
  const TensorDesc& out = p.epilogue.outputs[0].desc;
  const TensorDesc &x = p.direction == Direction::dgrad ? out : p.x, &w = p.direction == Direction::wgrad ? out : p.w,
                   &y = p.direction == Direction::fprop ? out : p.y;
  for (const auto& [name, t] : {std::pair<const char*, const TensorDesc*>{"x", &x}, {"w", &w}, {"y", &y}})
    if (const std::string why = layout_problem(name, *t); !why.empty()) return Verdict::no(why + ".");
  return is_integer(p.input_a().type) ? integers(p, device, out.type) : floats(p, out.type);
}

}  // namespace octavo::onednn
