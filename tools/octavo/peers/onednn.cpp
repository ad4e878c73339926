// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "peer.h"

#ifndef OCTAVO_CLI_ONEDNN

namespace octavo::cli {
std::unique_ptr<Peer> make_onednn_peer(const DeviceTraits&, bool, error_t& error) {
  error = {error_code_t::INVALID_VALUE,
           "peer onednn is not in this build: install libdnnl-dev and configure again, or leave it out of --peers."};
  return nullptr;
}
}  // namespace octavo::cli

#else
#include <dlfcn.h>

#include <cstring>
#include <dnnl.hpp>
#include <unordered_map>

#include "engines/cpu_reference/scalar.h"
#include "pinning.h"
#include "verify/buffer.h"

namespace octavo::cli {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

error_t unsupported(const std::string& why) { return {error_code_t::GRAPH_NOT_SUPPORTED, "oneDNN: " + why}; }

bool to_dnnl(DataType_t type, memory::data_type& out) {
  switch (type) {
    case DataType_t::FLOAT:
      out = memory::data_type::f32;
      return true;
    case DataType_t::HALF:
      out = memory::data_type::f16;
      return true;
    case DataType_t::BFLOAT16:
      out = memory::data_type::bf16;
      return true;
    case DataType_t::INT8:
      out = memory::data_type::s8;
      return true;
    case DataType_t::UINT8:
      out = memory::data_type::u8;
      return true;
    case DataType_t::INT32:
      out = memory::data_type::s32;
      return true;
    default:
      return false;
  }
}

// The tensor as it lies in our buffer.
error_t user_desc(const TensorDesc& desc, std::int64_t groups, bool filter, memory::desc& out) {
  memory::data_type type;
  if (!to_dnnl(desc.type, type)) return unsupported(std::string("has no type ") + short_name(desc.type));
  memory::dims dims(desc.dim.begin(), desc.dim.begin() + desc.rank),
      strides(desc.stride.begin(), desc.stride.begin() + desc.rank);
  if (desc.vector != 1) {
    static const std::unordered_map<std::int64_t, Tag> tags = {{4, Tag::aBcd4b}, {16, Tag::aBcd16b}, {32, Tag::aBcd32b}};
    const auto tag = tags.find(desc.vector);
    if (tag == tags.end() || desc.rank != 4 || (filter && groups > 1)) return unsupported("has no tag for this vector layout");
    out = memory::desc(dims, type, tag->second);
    return {};
  }
  if (filter && groups > 1) {
    dims.insert(dims.begin(), groups);
    dims[1] /= groups;
    strides.insert(strides.begin(), dims[1] * strides[0]);
  }
  out = memory::desc(dims, type, strides);
  return {};
}

// Powers of two: nothing is rounded.
verify::GuardedBuffer scaled_filter(const TensorDesc& desc, const void* data, const std::vector<float>& scale) {
  verify::GuardedBuffer out(static_cast<std::size_t>(desc.span_bytes()));
  std::memcpy(out.data(), data, static_cast<std::size_t>(desc.span_bytes()));
  std::array<std::int64_t, kMaxRank> index{};
  const std::int64_t per_filter = desc.dim[0] ? desc.elements() / desc.dim[0] : 0;
  for (std::int64_t k = 0; k < desc.dim[0]; ++k) {
    const double factor = scale[scale.size() == 1 ? 0 : static_cast<std::size_t>(k)];
    for (std::int64_t i = 0; i < per_filter; ++i) {
      index[0] = k;
      std::int64_t rest = i;
      for (int d = desc.rank - 1; d > 0; --d) {
        index[static_cast<std::size_t>(d)] = rest % desc.dim[static_cast<std::size_t>(d)];
        rest /= desc.dim[static_cast<std::size_t>(d)];
      }
      const std::int64_t at = desc.offset(index.data());
      const double value = cpu_reference::load(desc.type, data, at).to_f64() * factor;
      cpu_reference::store(desc.type, out.data(), at, cpu_reference::Scalar::of_f64(value));
    }
  }
  return out;
}

memory::desc any_desc(const memory::desc& of, memory::data_type type) { return memory::desc(of.dims(), type, Tag::any); }

class Run final : public PeerRun {
 public:
  explicit Run(const dnnl::engine& engine) : engine_(engine), stream_(engine) {}

  double execute() override {
    primitive_.execute(stream_, args_);
    stream_.wait();
    return -1;
  }

  error_t fetch(void* out) override {
    try {
      memory user(user_result_, engine_, out);
      dnnl::reorder(result_, user).execute(stream_, result_, user);
      stream_.wait();
    } catch (const dnnl::error& e) {
      return unsupported(std::string("the result cannot be copied back: ") + e.what());
    }
    return {};
  }

  std::string describe() const override { return describe_; }

  error_t create(const PeerInput& in);

 private:
  memory own(const memory::desc& desc) { return memory(desc, engine_); }

  // Copies into the layout that the primitive chose.
  memory pack(const memory::desc& from, const void* data, const memory::desc& to) {
    memory user(from, engine_, const_cast<void*>(data));
    memory packed = own(to);
    dnnl::reorder(user, packed).execute(stream_, user, packed);
    stream_.wait();
    return packed;
  }

  template <class Pd>
  void finish(const Pd& pd, int result_arg, const memory::desc& result_md) {
    describe_ = pd.impl_info_str();
    result_ = own(result_md);
    args_[result_arg] = result_;
    args_[DNNL_ARG_SCRATCHPAD] = own(pd.scratchpad_desc());
  }

  error_t fprop(const PeerInput& in);
  error_t backward(const PeerInput& in);
  error_t integer_dgrad(const PeerInput& in);

  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::primitive primitive_;
  std::unordered_map<int, memory> args_;
  memory result_;
  memory::desc user_result_;
  std::string describe_;
  memory::dims strides_, dilations_, pre_, post_;
};

error_t Run::fprop(const PeerInput& in) {
  const Problem& p = *in.problem;
  const std::int64_t k = p.w.dim[0];
  memory::desc x, w;
  OCTAVO_RETURN_IF_ERROR(user_desc(p.x, p.groups(), false, x));
  OCTAVO_RETURN_IF_ERROR(user_desc(p.w, p.groups(), true, w));
  OCTAVO_RETURN_IF_ERROR(user_desc(p.epilogue.outputs[0].desc, p.groups(), false, user_result_));
  if (in.parts.add) return unsupported("the residual of this benchmark is not given to it");

  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const bool scaled = in.parts.scale || in.parts.scale1;
  const std::vector<float> scale =
      scaled ? std::vector<float>(in.scale, in.scale + (in.parts.scale ? k : 1)) : std::vector<float>{};
  const bool integer = is_integer(p.x.type);
  std::vector<float> bias;
  if (in.parts.bias) bias.assign(in.bias, in.bias + k);
  if (scaled && integer) {
    attr.set_output_scales(in.parts.scale ? 1 << 1 : 0, scale);
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(bias.size()); ++i)  // oneDNN adds the bias before it scales
      bias[static_cast<std::size_t>(i)] /= scale[in.parts.scale ? static_cast<std::size_t>(i) : 0];
  }
  if (in.parts.relu) {
    dnnl::post_ops ops;
    ops.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
    attr.set_post_ops(ops);
  }
  const memory::desc bias_md({k}, memory::data_type::f32, Tag::x);
  const auto any_x = any_desc(x, x.data_type()), any_w = any_desc(w, w.data_type()),
             any_y = any_desc(user_result_, user_result_.data_type());
  using Conv = dnnl::convolution_forward;
  const auto inference = dnnl::prop_kind::forward_inference;
  const auto direct = dnnl::algorithm::convolution_direct;
  const Conv::desc desc = in.parts.bias
                              ? Conv::desc(inference, direct, any_x, any_w, bias_md, any_y, strides_, dilations_, pre_, post_)
                              : Conv::desc(inference, direct, any_x, any_w, any_y, strides_, dilations_, pre_, post_);
  const Conv::primitive_desc pd(desc, attr, engine_);
  primitive_ = Conv(pd);
  args_[DNNL_ARG_SRC] = pack(x, in.a, pd.src_desc());
  if (scaled && !integer) {  // folded into the filter, as a deployment would do
    const verify::GuardedBuffer folded = scaled_filter(p.w, in.b, scale);
    args_[DNNL_ARG_WEIGHTS] = pack(w, folded.data(), pd.weights_desc());
  } else {
    args_[DNNL_ARG_WEIGHTS] = pack(w, in.b, pd.weights_desc());
  }
  if (in.parts.bias) args_[DNNL_ARG_BIAS] = pack(bias_md, bias.data(), pd.bias_desc());
  finish(pd, DNNL_ARG_DST, pd.dst_desc());
  return {};
}

error_t Run::backward(const PeerInput& in) {
  const Problem& p = *in.problem;
  if (in.parts.any()) return unsupported("a gradient takes no epilogue");
  const bool dgrad = p.direction == Direction::dgrad;
  memory::desc a, b;
  OCTAVO_RETURN_IF_ERROR(user_desc(p.input_a(), p.groups(), false, a));
  OCTAVO_RETURN_IF_ERROR(user_desc(p.input_b(), p.groups(), dgrad, b));
  OCTAVO_RETURN_IF_ERROR(user_desc(p.epilogue.outputs[0].desc, p.groups(), !dgrad, user_result_));
  const memory::desc& x = dgrad ? user_result_ : a;
  const memory::desc& w = dgrad ? b : user_result_;
  const memory::desc& y = dgrad ? a : b;
  const auto any_x = any_desc(x, x.data_type()), any_w = any_desc(w, w.data_type()), any_y = any_desc(y, y.data_type());
  const auto direct = dnnl::algorithm::convolution_direct;
  // The forward descriptor is only a hint of layouts; it speaks the input type throughout.
  const memory::data_type io = a.data_type();
  const dnnl::convolution_forward::primitive_desc hint(
      dnnl::convolution_forward::desc(dnnl::prop_kind::forward_training, direct, any_desc(x, io), any_desc(w, io),
                                      any_desc(y, io), strides_, dilations_, pre_, post_),
      engine_);
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (dgrad) {
    using Conv = dnnl::convolution_backward_data;
    const Conv::primitive_desc pd(Conv::desc(direct, any_x, any_w, any_y, strides_, dilations_, pre_, post_), attr, engine_,
                                  hint);
    primitive_ = Conv(pd);
    args_[DNNL_ARG_DIFF_DST] = pack(a, in.a, pd.diff_dst_desc());
    args_[DNNL_ARG_WEIGHTS] = pack(b, in.b, pd.weights_desc());
    finish(pd, DNNL_ARG_DIFF_SRC, pd.diff_src_desc());
  } else {
    using Conv = dnnl::convolution_backward_weights;
    const Conv::primitive_desc pd(Conv::desc(direct, any_x, any_w, any_y, strides_, dilations_, pre_, post_), attr, engine_,
                                  hint);
    primitive_ = Conv(pd);
    args_[DNNL_ARG_SRC] = pack(a, in.a, pd.src_desc());
    args_[DNNL_ARG_DIFF_DST] = pack(b, in.b, pd.diff_dst_desc());
    finish(pd, DNNL_ARG_DIFF_WEIGHTS, pd.diff_weights_desc());
  }
  return {};
}

// For integers the data gradient is best asked for as what it equals, a deconvolution: that one is JIT-compiled.
error_t Run::integer_dgrad(const PeerInput& in) {
  const Problem& p = *in.problem;
  if (in.parts.any()) return unsupported("a gradient takes no epilogue");
  memory::desc y, w;
  OCTAVO_RETURN_IF_ERROR(user_desc(p.y, p.groups(), false, y));
  OCTAVO_RETURN_IF_ERROR(user_desc(p.w, p.groups(), true, w));
  OCTAVO_RETURN_IF_ERROR(user_desc(p.epilogue.outputs[0].desc, p.groups(), false, user_result_));
  // Its filter is (g,) C/g, K/g, spatial: ours with two axes exchanged.
  std::vector<int> order;
  for (int i = 0; i < static_cast<int>(w.dims().size()); ++i) order.push_back(i);
  const std::size_t first = p.groups() > 1 ? 1 : 0;
  std::swap(order[first], order[first + 1]);
  const memory::desc exchanged = w.permute_axes(order);
  using Deconv = dnnl::deconvolution_forward;
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const Deconv::desc desc(dnnl::prop_kind::forward_inference, dnnl::algorithm::deconvolution_direct, any_desc(y, y.data_type()),
                          any_desc(exchanged, w.data_type()), any_desc(user_result_, user_result_.data_type()), strides_,
                          dilations_, pre_, post_);
  const Deconv::primitive_desc pd(desc, attr, engine_);
  primitive_ = Deconv(pd);
  args_[DNNL_ARG_SRC] = pack(y, in.a, pd.src_desc());
  args_[DNNL_ARG_WEIGHTS] = pack(exchanged, in.b, pd.weights_desc());
  finish(pd, DNNL_ARG_DST, pd.dst_desc());
  return {};
}

error_t Run::create(const PeerInput& in) {
  const Problem& p = *in.problem;
  if (p.mode != ConvolutionMode_t::CROSS_CORRELATION) return unsupported("has no CONVOLUTION mode");
  if (p.zero_points != ZeroPoints{}) return unsupported("zero points are not given to it by this benchmark");
  const int spatial = p.spatial();
  for (int i = 0; i < spatial; ++i) {
    const auto d = static_cast<std::size_t>(i);
    strides_.push_back(p.stride[d]);
    dilations_.push_back(p.dilation[d] - 1);
    pre_.push_back(p.pre_pad[d]);
    // oneDNN wants the padding that the output size implies, not the one that was asked for.
    const std::int64_t need = (p.y.dim[d + 2] - 1) * p.stride[d] + p.dilation[d] * (p.w.dim[d + 2] - 1) + 1;
    post_.push_back(need - p.x.dim[d + 2] - p.pre_pad[d]);
  }
  try {
    if (p.direction == Direction::fprop) return fprop(in);
    if (p.direction == Direction::dgrad && is_integer(p.y.type)) return integer_dgrad(in);
    return backward(in);
  } catch (const dnnl::error& e) {
    return unsupported(e.what());
  }
}

// The library's threads are OpenMP's. Looked up at run time, so that a build on another runtime still links.
void use_openmp_threads(int threads) {
  const auto set = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  const auto number = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_thread_num"));
  using Body = void (*)(void*);
  const auto region = reinterpret_cast<void (*)(Body, void*, unsigned, unsigned)>(dlsym(RTLD_DEFAULT, "GOMP_parallel"));
  if (set) set(threads);
  if (!number || !region) return;
  static int (*thread_number)() = nullptr;
  thread_number = number;
  region([](void*) { pin_this_thread(thread_number()); }, nullptr, static_cast<unsigned>(threads), 0);
}

class OneDnn final : public Peer {
 public:
  OneDnn() : engine_(dnnl::engine::kind::cpu, 0) {}
  std::string_view name() const override { return "onednn"; }
  std::string version() const override {
    const dnnl_version_t* v = dnnl_version();
    return std::to_string(v->major) + "." + std::to_string(v->minor) + "." + std::to_string(v->patch);
  }
  error_t create(const PeerInput& input, std::unique_ptr<PeerRun>& run) override {
    use_openmp_threads(input.threads);
    auto made = std::make_unique<Run>(engine_);
    OCTAVO_RETURN_IF_ERROR(made->create(input));
    run = std::move(made);
    return {};
  }

 private:
  dnnl::engine engine_;
};

dnnl::cpu_isa max_isa(const DeviceTraits& device) {
  switch (device.isa) {
    case CpuIsa::amx:
      return dnnl::cpu_isa::avx512_core_amx;
    case CpuIsa::avx512_vnni:
      return device.avx512_bf16 ? dnnl::cpu_isa::avx512_core_bf16 : dnnl::cpu_isa::avx512_core_vnni;
    case CpuIsa::avx512:
      return dnnl::cpu_isa::avx512_core;
    case CpuIsa::avx2:
      return dnnl::cpu_isa::avx2;
    default:
      return dnnl::cpu_isa::sse41;
  }
}

}  // namespace

std::unique_ptr<Peer> make_onednn_peer(const DeviceTraits& device, bool isa_forced, error_t& error) {
  try {
    if (isa_forced && dnnl::set_max_cpu_isa(max_isa(device)) != dnnl::status::success) {
      error = {error_code_t::INVALID_VALUE, std::string("peer onednn: its instruction set cannot be limited to ") +
                                                to_string(device.isa) + " in this build of it."};
      return nullptr;
    }
    return std::make_unique<OneDnn>();
  } catch (const dnnl::error& e) {
    error = {error_code_t::INVALID_VALUE, std::string("peer onednn does not start: ") + e.what()};
    return nullptr;
  }
}

}  // namespace octavo::cli
#endif
