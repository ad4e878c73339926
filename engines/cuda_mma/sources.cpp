// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "engines/cuda_mma/sources.h"

#include <initializer_list>
#include <type_traits>

#include "device/cuda_device.h"
#include "engines/cuda_common/cuda_engine.h"

namespace octavo::cuda::mma {
namespace {

/// A braced list of an aggregate's members, in order.
class Literal {
 public:
  template <class T>
  Literal& operator()(T value) {
    text_ += text_.empty() ? "{" : ", ";
    if constexpr (std::is_same_v<T, bool>)
      text_ += value ? "true" : "false";
    else if constexpr (std::is_same_v<T, dev::Elem>)
      text_ += "Elem(" + std::to_string(static_cast<int>(value)) + ")";
    else
      text_ += std::to_string(value) + (std::is_same_v<T, unsigned> ? "u" : std::is_same_v<T, std::int64_t> ? "LL" : "");
    return *this;
  }
  Literal& three(const std::int64_t (&values)[3]) {
    text_ += std::string(text_.empty() ? "{" : ", ") + "{" + std::to_string(values[0]) + "LL, " + std::to_string(values[1]) +
             "LL, " + std::to_string(values[2]) + "LL}";
    return *this;
  }
  std::string text() const { return text_ + "}"; }

 private:
  std::string text_;
};

std::string literal(const dev::IgemmConfig& c) {
  return Literal()(c.a)(c.b)(c.t)(c.r)(c.s)(c.tap_bytes)(c.align)(c.run)(c.padded)(c.bm)(c.bn)(c.bk)(c.warps_m)(c.warps_n)(
             c.stages)(c.blocks)(c.split)
      .text();
}
std::string literal(const dev::HaloConfig& c) {
  return Literal()(c.a)(c.b)(c.r)(c.s)(c.chunks)(c.channels_out)(c.warps_m)(c.warps_n)(c.groups)(c.tile)(c.stages)(c.resident)(
             c.heights)
      .text();
}
std::string literal(const Pack& p) {
  Literal t;
  t(p.outer_groups)(p.outer).three(p.size).three(p.lead).three(p.step).three(p.source)(p.groups)(p.channels)(p.padded);
  t(p.outer_group_stride)(p.outer_stride)(p.outer_vector).three(p.spatial_stride)(p.channel_stride)(p.channel_vector)(p.first);
  return t(p.piece)(p.fastest)(p.fill).text();
}

std::string short_type(dev::Elem e) {
  const char* const names[] = {"s8", "u8", "f16", "bf16", "tf32"};
  return names[static_cast<int>(e)];
}

jit::KernelRequest request_of(const char* kernel, const DeviceTraits& device) {
  jit::KernelRequest r;
  r.engine = "cuda_mma";
  r.kernel = kernel;
  r.arch = arch_of(device);
  return r;
}

}  // namespace

int store_granule(const Lowered& l) {
  const std::int64_t k = l.k / l.groups;
  int granule = 1;
  while (granule < 16 && k % (2 * granule) == 0) granule *= 2;
  return l.transposed ? 1 : granule;
}

jit::KernelRequest main_request(const Problem& problem, const Lowered& l, const Config& c, const DeviceTraits& device) {
  const bool halo = c.family == Family::halo;
  jit::KernelRequest r = request_of("", device);
  r.kernel = std::string(halo ? "halo_" : "igemm_") + to_string(problem.direction) + "_" + short_type(l.a);
  r.headers = {halo ? "conv/halo.cuh" : "conv/igemm.cuh", "conv/store.cuh"};
  const std::string type = halo ? "Halo" : "Igemm";
  const int granule = store_granule(l);
  const std::int64_t* s = l.out;
  std::string config = "using namespace octavo::dev;\n__device__ constexpr " + type + "Config kConfig" +
                       (halo ? literal(halo_config(c, l, device)) : literal(igemm_config(c, l))) + ";\n";
  config += "__device__ constexpr StoreConfig kStore" +
            Literal()(granule)(granule > 1)(l.transposed)(l.flip)(static_cast<int>(s[0]))(static_cast<int>(s[1]))(
                static_cast<int>(s[2]))(l.correct)
                .text() +
            ";\n";
  const std::string parameters =
      "const __grid_constant__ " + type + "Params p, const __grid_constant__ EpilogueArgs args, " + "const int* corrections";
  const std::string store = "const octavo::dev::TileStore<kStore, Epilogue, EpilogueArgs> store{args, corrections};\n  ";
  r.stub = kernel_stub(config, generate_epilogue(problem), threads_of(c), parameters,
                       "OCTAVO_SHARED(shared);\n  " + store + type +
                           "<kConfig, octavo::dev::TileStore<kStore, Epilogue, EpilogueArgs>>(p, store, shared).run();",
                       c.blocks);
  if (!halo && c.splits > 1)
    r.stub += "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(kReduceThreads) + ") " + kReduceEntry + "(" +
              parameters + ") {\n  " + store + "igemm_reduce<kConfig>(p, store, blockIdx.x, " + std::to_string(kReduceThreads) +
              "u);\n}\n";
  return r;
}

jit::KernelRequest pack_request(const Pack& pack, const DeviceTraits& device) {
  jit::KernelRequest r = request_of("pack", device);
  r.headers = {"conv/pack.cuh"};
  const std::string from = storage_name(pack.from), to = storage_name(pack.to);
  r.stub = kernel_stub("__device__ constexpr conv::PackConfig kConfig" + literal(pack) + ";\n", "", kPackThreads,
                       "const " + from + "* from, " + to + "* to", "conv::pack<kConfig, " + to + ", " + from + ">(from, to);");
  return r;
}

jit::KernelRequest sums_request(const Pack& pack, const DeviceTraits& device) {
  jit::KernelRequest r = request_of("filter_sums", device);
  r.headers = {"conv/pack.cuh"};
  const std::string from = storage_name(pack.from);
  r.stub =
      kernel_stub("__device__ constexpr conv::PackConfig kConfig" + literal(pack) + ";\n", "", kPackThreads,
                  "const " + from + "* w, s32* sums, s32 factor", "conv::filter_sums<kConfig, " + from + ">(w, sums, factor);");
  return r;
}

}  // namespace octavo::cuda::mma
