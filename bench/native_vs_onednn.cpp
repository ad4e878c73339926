// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// cpu_native beside oneDNN on s8/u8 forward convolutions (scale + bias + ReLU -> s8), call by call in one process: the host may
// be shared, so only a ratio inside one run means anything. One line a layer: medians and minima of both, the ratio of medians,
// and what cpu_native ran. usage: native_vs_onednn layers.csv [filter] [threads] [isa] [spec prefix | all] [milliseconds a
// layer]

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dnnl.hpp>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "core/parallel.h"
#include "octavo/engine.h"

namespace {

/// Wall time; with one thread the thread's CPU time, which a busy machine disturbs less.
bool g_cpu_time = false;
struct Clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<Clock>;
  static constexpr bool is_steady = true;
  static time_point now() {
    timespec t;
    clock_gettime(g_cpu_time ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return time_point(duration(t.tv_sec * 1000000000ll + t.tv_nsec));
  }
};
double seconds_since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

struct Layer {
  std::string set, name;
  long n, c, h, w, k, r, s, stride, pad_h, pad_w, dilation, groups;
};

std::vector<Layer> read_layers(const char* path, const std::string& filter) {
  std::vector<Layer> layers;
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    for (char& ch : line) {
      if (ch == ',') ch = ' ';
    }
    std::istringstream in(line);
    Layer l;
    std::string pad;
    in >> l.set >> l.name >> l.n >> l.c >> l.h >> l.w >> l.k >> l.r >> l.s >> l.stride >> pad >> l.dilation >> l.groups;
    std::sscanf(pad.c_str(), "%ldx%ld", &l.pad_h, &l.pad_w);
    const std::string full = l.set + "," + l.name;
    const bool dense = l.groups == 1;
    if (filter == "dense" ? dense : full.find(filter) != std::string::npos) layers.push_back(l);
  }
  return layers;
}

std::vector<std::int8_t> random_bytes(std::size_t n, unsigned seed) {
  std::vector<std::int8_t> v(n);
  std::uint64_t r = 88172645463325252ull + seed;
  for (auto& b : v) {
    r ^= r << 13;
    r ^= r >> 7;
    r ^= r << 17;
    b = static_cast<std::int8_t>(r >> 16);
  }
  return v;
}

struct OneDnn {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  dnnl::convolution_forward conv;
  std::unordered_map<int, dnnl::memory> args;

  OneDnn(const Layer& l, std::int8_t* x, std::int8_t* w, float* bias, std::int8_t* y, const std::vector<float>& scales) {
    using dnnl::memory;
    using dt = memory::data_type;
    using tag = memory::format_tag;
    const long p = (l.h + 2 * l.pad_h - l.dilation * (l.r - 1) - 1) / l.stride + 1,
               q = (l.w + 2 * l.pad_w - l.dilation * (l.s - 1) - 1) / l.stride + 1;
    const memory::dims xd{l.n, l.c, l.h, l.w}, yd{l.n, l.k, p, q}, bd{l.k};
    const memory::dims wd =
        l.groups > 1 ? memory::dims{l.groups, l.k / l.groups, l.c / l.groups, l.r, l.s} : memory::dims{l.k, l.c, l.r, l.s};
    const memory::desc xm(xd, dt::s8, tag::nhwc), ym(yd, dt::s8, tag::nhwc), bm(bd, dt::f32, tag::x);
    const memory::desc wm(wd, dt::s8, tag::any), wp(wd, dt::s8, l.groups > 1 ? tag::gohwi : tag::ohwi);
    dnnl::primitive_attr attr;
    attr.set_output_scales(1 << 1, scales);
    dnnl::post_ops ops;
    ops.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0, 0);
    attr.set_post_ops(ops);
    const memory::dims st{l.stride, l.stride}, pd{l.pad_h, l.pad_w}, dl{l.dilation - 1, l.dilation - 1};
    dnnl::convolution_forward::desc d(dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, xm, wm, bm, ym,
                                      st, dl, pd, pd);
    dnnl::convolution_forward::primitive_desc primitive(d, attr, engine);
    conv = dnnl::convolution_forward(primitive);
    memory plain(wp, engine, w), packed(primitive.weights_desc(), engine);
    dnnl::reorder(plain, packed).execute(stream, plain, packed);
    stream.wait();
    args = {{DNNL_ARG_SRC, memory(xm, engine, x)},
            {DNNL_ARG_WEIGHTS, packed},
            {DNNL_ARG_BIAS, memory(bm, engine, bias)},
            {DNNL_ARG_DST, memory(ym, engine, y)}};
  }
  void operator()() {
    conv.execute(stream, args);
    stream.wait();
  }
};

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: native_vs_onednn layers.csv [filter|dense] [threads] [isa] [spec prefix|best|all] [ms]\n");
    return 2;
  }
  const std::string filter = argc > 2 ? argv[2] : "dense", wanted = argc > 5 ? argv[5] : "best";
  const int threads = argc > 3 ? std::atoi(argv[3]) : 1;
  const double budget = (argc > 6 ? std::atof(argv[6]) : 300) / 1e3;
  octavo::set_num_threads(threads);
  g_cpu_time = threads == 1;
  octavo::DeviceTraits device = octavo::host_cpu();
  if (argc > 4) {
    for (const auto isa : {octavo::CpuIsa::portable, octavo::CpuIsa::avx2, octavo::CpuIsa::avx512, octavo::CpuIsa::avx512_vnni,
                           octavo::CpuIsa::amx}) {
      if (std::strcmp(argv[4], octavo::to_string(isa)) == 0) device = octavo::with_isa(device, isa);
    }
  }
  device.threads = threads;
  const octavo::Engine* native = octavo::find_engine("cpu_native");
  double log_sum = 0, worst = 1e9, cost_log = 0;
  int layers = 0;
  for (const Layer& l : read_layers(argv[1], filter)) {
    char line[512];
    std::snprintf(line, sizeof line,
                  "fprop n=%ld c=%ld size=%ldx%ld k=%ld filter=%ldx%ld pad=%ldx%ld stride=%ldx%ld dil=%ldx%ld groups=%ld "
                  "x=s8:nhwc w=s8:nhwc y=s8:nhwc "
                  "epi=%%1=f32.channel;%%2=f32.channel;%%3=mul(%%0,%%1);%%4=add(%%3,%%2);%%5=relu_fwd(%%4)",
                  l.n, l.c, l.h, l.w, l.k, l.r, l.s, l.pad_h, l.pad_w, l.stride, l.stride, l.dilation, l.dilation, l.groups);
    octavo::Problem p;
    if (octavo::error_t e = octavo::parse_problem(line, p); e.is_bad()) {
      std::fprintf(stderr, "%s\n", e.get_message().c_str());
      return 1;
    }
    auto x = random_bytes(static_cast<std::size_t>(p.x.span_bytes()) + 64, 1),
         w = random_bytes(static_cast<std::size_t>(p.w.span_bytes()) + 64, 2);
    std::vector<std::int8_t> y(static_cast<std::size_t>(p.epilogue.outputs[0].desc.span_bytes()) + 64), z = y;
    std::vector<float> scale(static_cast<std::size_t>(l.k)), bias(scale.size()), folded(scale.size());
    for (std::size_t i = 0; i < scale.size(); ++i) {
      scale[i] = 1.0f / (3e3f * std::sqrt(static_cast<float>(l.c / l.groups * l.r * l.s)) + static_cast<float>(i));
      bias[i] = 0.01f * static_cast<float>(i % 100);
      folded[i] = bias[i] / scale[i];  // oneDNN 2.6 adds the bias before the scale
    }
    OneDnn peer(l, x.data(), w.data(), folded.data(), z.data(), scale);
    std::vector<std::pair<octavo::PlanSpec, std::unique_ptr<octavo::Plan>>> plans;
    double cold = 0;
    for (const octavo::PlanSpec& spec : native->specs(p, device)) {
      if (wanted != "best" && wanted != "all" && spec.config.rfind(wanted, 0) != 0) continue;
      std::unique_ptr<octavo::Plan> plan;
      const auto t = Clock::now();
      const octavo::error_t e = native->build(p, spec, device, {w.data()}, plan);
      if (plans.empty()) cold = seconds_since(t);
      if (e.is_bad()) {
        std::fprintf(stderr, "%s: %s\n", spec.config.c_str(), e.get_message().c_str());
        continue;
      }
      plans.emplace_back(spec, std::move(plan));
      if (wanted == "best") break;
    }
    std::size_t bytes = 0;
    for (const auto& [spec, plan] : plans) bytes = std::max(bytes, plan->workspace_bytes());
    auto* workspace = static_cast<std::byte*>(std::aligned_alloc(64, (bytes + 127) / 64 * 64));
    const void* operands[2] = {scale.data(), bias.data()};
    void* outputs[1] = {y.data()};
    octavo::Args args;
    args.x = x.data();
    args.operands = operands;
    args.outputs = outputs;
    args.workspace = workspace;
    std::vector<double> theirs;
    std::vector<std::vector<double>> ours(plans.size());
    const auto begin = Clock::now();
    for (int i = 0; i < 3 || (seconds_since(begin) < budget * static_cast<double>(1 + plans.size()) / 2 && i < 3000); ++i) {
      auto t = Clock::now();
      peer();
      theirs.push_back(seconds_since(t));
      for (std::size_t j = 0; j < plans.size(); ++j) {
        t = Clock::now();
        const octavo::error_t e = plans[j].second->execute(args);
        ours[j].push_back(seconds_since(t));
        if (e.is_bad()) std::fprintf(stderr, "%s\n", e.get_message().c_str());
      }
    }
    std::free(workspace);
    long off = 0;
    for (std::size_t i = 0; i + 64 < y.size(); ++i) off += std::abs(y[i] - z[i]) > 1;
    const double peer_ms = median(theirs) * 1e3, peer_min = *std::min_element(theirs.begin(), theirs.end()) * 1e3;
    double best = 1e30;
    for (std::size_t j = 0; j < plans.size(); ++j) best = std::min(best, median(ours[j]) * 1e3);
    for (std::size_t j = 0; j < plans.size(); ++j) {
      const double ms = median(ours[j]) * 1e3, min = *std::min_element(ours[j].begin(), ours[j].end()) * 1e3;
      std::printf("%-14s %-22s %-26s peer %9.4f (%9.4f) ours %9.4f (%9.4f) ms  ratio %5.2f  %6.0f Gop/s  est/real %4.2f%s\n",
                  l.set.c_str(), l.name.c_str(), plans[j].first.config.c_str(), peer_ms, peer_min, ms, min, peer_ms / ms,
                  p.operations() / ms / 1e6, plans[j].first.cost_us / ms / 1e3, off ? "  (differs from the peer)" : "");
    }
    if (!plans.empty()) {
      const double first = median(ours[0]) * 1e3;
      log_sum += std::log(peer_ms / first);
      cost_log += std::log(first / best);
      worst = std::min(worst, peer_ms / first);
      ++layers;
      if (cold > 5e-3) std::printf("    cold plan %.2f ms\n", cold * 1e3);
    }
    std::fflush(stdout);
  }
  if (layers)
    std::printf("layers %d  geomean %.3f  worst %.3f  first choice / best %.3f\n", layers, std::exp(log_sum / layers), worst,
                std::exp(cost_log / layers));
  return 0;
}
