// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// The tensor-core kernels against CUTLASS on one GPU, in one process: every candidate's result is compared with an exact
// reference on the GPU, then all candidates of a problem are timed in turn (CUDA graphs of 20 launches, median of the rounds).
// Prints one JSON object a line. Usage: mma_bench KERNELS_DIR LAYERS_CSV [--only TEXT] [--rounds N] [--arch sm_90|compute_80]
// [--work stated|orin|resnet|half|all] [--compile-only ARCH]

#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <nvrtc.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "bench_device.h"
#include "engines/cuda_mma/halo_params.h"
#include "engines/cuda_mma/igemm_params.h"
#include "peers.h"

using namespace octavo::dev;

#define CHECK(x)                                                                              \
  do {                                                                                        \
    cudaError_t e_ = (x);                                                                     \
    if (e_ != cudaSuccess) {                                                                  \
      std::fprintf(stderr, "%s:%d %s: %s\n", __FILE__, __LINE__, #x, cudaGetErrorString(e_)); \
      std::exit(1);                                                                           \
    }                                                                                         \
  } while (0)

namespace {

std::string g_root, g_arch = "sm_90", g_only, g_work = "all";
int g_rounds = 25, g_sms = 132;
bool g_no_gpu = false;

std::string read(const std::string& path) {
  std::ifstream f(path);
  std::stringstream s;
  s << f.rdbuf();
  return s.str();
}

const char* kElem[] = {"Elem::s8", "Elem::u8", "Elem::f16", "Elem::bf16", "Elem::tf32"};
std::string literal(const HaloConfig& c) {
  char b[256];
  std::snprintf(b, sizeof b, "{%s, %s, %d, %d, %d, %d, %d, %d, %d, %d, %d, %s, %uu}", kElem[int(c.a)], kElem[int(c.b)], c.r,
                c.s, c.chunks, c.channels_out, c.warps_m, c.warps_n, c.groups, c.tile, c.stages, c.resident ? "true" : "false",
                c.heights);
  return b;
}
std::string literal(const IgemmConfig& c) {
  char b[256];
  std::snprintf(b, sizeof b, "{%s, %s, %d, %d, %d, %d, %d, %s, %s, %d, %d, %d, %d, %d, %d, %d, %s}", kElem[int(c.a)],
                kElem[int(c.b)], c.t, c.r, c.s, c.tap_bytes, c.align, c.run ? "true" : "false", c.padded ? "true" : "false",
                c.bm, c.bn, c.bk, c.warps_m, c.warps_n, c.stages, c.blocks, c.split ? "true" : "false");
  return b;
}

struct BenchEpilogueArgs {
  void* y;
  float scale;
  const float* scales;
  const float* bias;
};

struct Compiled {
  std::string image, log;
  double ms = 0;
  cudaLibrary_t library{};
  cudaKernel_t kernel{}, reduce{};
  int registers = 0, local = 0;
};
std::mutex g_nvrtc;
bool compile(const std::string& source, bool reduce, Compiled& out) {
  nvrtcProgram prog;
  auto begin = std::chrono::steady_clock::now();
  nvrtcCreateProgram(&prog, source.c_str(), "bench.cu", 0, nullptr, nullptr);
  std::string include = "-I" + g_root, bench = "-I" + g_root + "/../bench/cuda", arch = "--gpu-architecture=" + g_arch;
  const char* options[] = {include.c_str(), bench.c_str(), arch.c_str(), "--std=c++20", "--fmad=false", "--ptxas-options=-v"};
  nvrtcResult r = nvrtcCompileProgram(prog, 6, options);
  size_t n = 0;
  nvrtcGetProgramLogSize(prog, &n);
  out.log.resize(n);
  nvrtcGetProgramLog(prog, out.log.data());
  if (r != NVRTC_SUCCESS) return false;
  if (g_arch.rfind("compute", 0) == 0) {
    nvrtcGetPTXSize(prog, &n);
    out.image.resize(n);
    nvrtcGetPTX(prog, out.image.data());
  } else {
    nvrtcGetCUBINSize(prog, &n);
    out.image.resize(n);
    nvrtcGetCUBIN(prog, out.image.data());
  }
  nvrtcDestroyProgram(&prog);
  out.ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  if (g_no_gpu) return true;
  CHECK(cudaLibraryLoadData(&out.library, out.image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  CHECK(cudaLibraryGetKernel(&out.kernel, out.library, "octavo_kernel"));
  if (reduce) CHECK(cudaLibraryGetKernel(&out.reduce, out.library, "octavo_reduce"));
  cudaFuncAttributes a;
  CHECK(cudaFuncGetAttributes(&a, reinterpret_cast<const void*>(out.kernel)));
  out.registers = a.numRegs, out.local = int(a.localSizeBytes);
  return true;
}

struct Problem : PeerProblem {
  std::string set, name;
  double operations() const { return 2.0 * n * p() * q() * k * r * s * c; }
};

struct Candidate {
  std::string name;
  bool peer = false;
  std::function<void(cudaStream_t, int set)> launch;
  std::shared_ptr<Compiled> code;
  bool half = false, interleaved = false;
  int epilogue = 0;
  std::string source;
  bool split = false;
  std::function<void(Candidate&)> bind;  // makes launch once the code is loaded
  int wrong = -1;
  double warm = 0, cold = 0, least = 0;
};

/// Device buffers of one problem; `sets` copies of x and y so that a rotation over them misses the L2.
struct Buffers {
  static constexpr int kSets = 6;
  char *x = nullptr, *w = nullptr, *y = nullptr, *xi = nullptr, *wi = nullptr, *wc = nullptr;
  int* ref = nullptr;
  float* reff = nullptr;
  float *scales = nullptr, *bias = nullptr;
  void* partial = nullptr;
  size_t nx = 0, nw = 0, ny = 0, px = 0, py = 0;
};
float scale_of(const Problem& z) { return 1.f / float(std::max(8, int(40 * std::sqrt(double(z.c) * z.r * z.s)))); }

std::string output_strides(const Problem& z, bool interleaved);
void run_source(const Problem& z, Candidate& c, const std::string& config, const char* type, const char* params,
                const char* threads, const char* blocks, bool split) {
  std::string s =
      std::string("#include \"conv/") + type + ".cuh\"\n#include \"bench_epilogue.cuh\"\nusing namespace octavo::dev;\n";
  std::string ct = std::string(type) == "halo" ? "HaloConfig" : "IgemmConfig",
              cl = std::string(type) == "halo" ? "Halo" : "Igemm";
  s += "__device__ constexpr " + ct + " kConfig" + config + ";\nusing E = BenchStore<" + std::to_string(c.epilogue) +
       output_strides(z, c.interleaved) + ">;\n";
  s += std::string("extern \"C\" __global__ void __launch_bounds__(") + threads + ", " + blocks +
       ") octavo_kernel(const __grid_constant__ " + params +
       " p, const __grid_constant__ E e) {\n  extern __shared__ __align__(128) char shared[];\n  " + cl +
       "<kConfig, E>(p, e, shared).run();\n}\n";
  if (split)
    s += std::string("extern \"C\" __global__ void __launch_bounds__(128) octavo_reduce(const __grid_constant__ ") + params +
         " p, const __grid_constant__ E e) { igemm_reduce<kConfig>(p, e, blockIdx.x, 128u); }\n";
  c.source = s;
  c.split = split;
}

BenchEpilogueArgs epilogue_args(const Problem& z, const Buffers& b, int set, int kind) {
  BenchEpilogueArgs e{};
  e.y = b.y + set * b.py;
  e.scale = scale_of(z);
  if (kind == 1) e.scales = b.scales, e.bias = b.bias;
  return e;
}
/// The strides of y as the template arguments of BenchStore.
std::string output_strides(const Problem& z, bool interleaved) {
  const int pq = z.p() * z.q(), sq = interleaved ? 32 : z.k;
  std::string text;
  for (int stride : {pq * z.k, z.q() * sq, sq, interleaved ? pq * 32 : 32}) text += ", " + std::to_string(stride);
  return text;
}

template <class P>
void launch(cudaKernel_t kernel, unsigned grid, int threads, int shared, cudaStream_t stream, P& params, BenchEpilogueArgs& e) {
  void* args[] = {&params, &e};
  cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(grid), dim3(unsigned(threads)), args, size_t(shared), stream);
}

void set_shared(cudaKernel_t kernel, int bytes) {
  if (bytes > 48 << 10)
    CHECK(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
}

int bytes_per(const Candidate& c) { return c.half ? 2 : 1; }

Candidate halo_candidate(const Problem& z, const Buffers& b, HaloConfig cfg, bool half, bool interleaved, int epilogue,
                         const std::string& tag) {
  Candidate c;
  c.half = half, c.interleaved = interleaved, c.epilogue = half ? 2 : epilogue;
  const int es = half ? 2 : 1;
  HaloGeometry g;
  g.n = z.n, g.h = z.h, g.w = z.w, g.p = z.p(), g.q = z.q(), g.pad_top = g.pad_bottom = g.pad_left = z.pad, g.k = z.k;
  if (interleaved) {
    g.x_n = 1LL * z.h * z.w * z.c, g.x_h = z.w * 32, g.x_w = 32, g.x_chunk = 32LL * z.h * z.w;
    g.w_k = 32, g.w_s = 32LL * z.k, g.w_r = 32LL * z.k * z.s,
    g.w_chunk = 32LL * z.k * z.r * z.s;  // C/32, R, S, K, 32: CUTLASS's order
  } else {
    g.x_w = 1LL * z.c * es, g.x_h = g.x_w * z.w, g.x_n = g.x_h * z.h, g.x_chunk = 32;
    g.w_s = 1LL * z.c * es, g.w_r = g.w_s * z.s, g.w_k = g.w_r * z.r, g.w_chunk = 32;
  }
  const int blocks_out = z.k / cfg.channels_out;
  HaloParams p = halo_params(cfg, g, std::max(1, g_sms / blocks_out));
  cfg.heights = halo_heights(cfg, p.units, p.ranges);
  char name[200];
  std::snprintf(name, sizeof name, "halo%s k%d w%dx%d g%d t%d st%d %s%s%s", tag.c_str(), cfg.channels_out, cfg.warps_m,
                cfg.warps_n, cfg.groups, cfg.tile, cfg.stages, cfg.resident ? "res" : "str", interleaved ? " nc32" : "",
                epilogue == 1 ? " channel" : "");
  c.name = name;
  run_source(z, c, literal(cfg), "halo", "HaloParams", std::to_string(halo_threads(cfg)).c_str(), "1", false);
  c.bind = [=, bb = &b](Candidate& self) {
    set_shared(self.code->kernel, halo_shared_bytes(cfg));
    self.launch = [=, kernel = self.code->kernel, kind = self.epilogue](cudaStream_t s, int set) {
      HaloParams q = p;
      q.x = (interleaved ? bb->xi : bb->x) + set * bb->px, q.w = interleaved ? bb->wi : bb->w;
      BenchEpilogueArgs e = epilogue_args(z, *bb, set, kind);
      launch(kernel, unsigned(halo_blocks(q)), halo_threads(cfg), halo_shared_bytes(cfg), s, q, e);
    };
  };
  return c;
}

Candidate igemm_candidate(const Problem& z, const Buffers& b, IgemmConfig cfg, bool half, bool interleaved, int splits) {
  Candidate c;
  c.half = half, c.interleaved = interleaved, c.epilogue = half ? 2 : 0;
  const int es = half ? 2 : 1;
  cfg.a = cfg.b = half ? Elem::f16 : Elem::s8;
  cfg.r = z.r, cfg.s = z.s, cfg.tap_bytes = z.c * es, cfg.padded = z.pad > 0, cfg.split = splits > 1;
  IgemmGeometry g;
  g.n = z.n, g.k = z.k;
  g.in[1] = z.h, g.in[2] = z.w, g.out[1] = z.p(), g.out[2] = z.q(), g.stride[1] = g.stride[2] = z.stride,
  g.pad[1] = g.pad[2] = z.pad;
  if (interleaved) {
    g.x_s[2] = 32, g.x_s[1] = 32LL * z.w, g.x_n = 1LL * z.h * z.w * z.c, g.x_pair = 32LL * z.h * z.w;
    g.w_k = 32, g.w_s[2] = 32LL * z.k, g.w_s[1] = 32LL * z.k * z.s, g.w_pair = 32LL * z.k * z.r * z.s;
  } else {
    g.x_s[2] = 1LL * z.c * es, g.x_s[1] = g.x_s[2] * z.w, g.x_n = g.x_s[1] * z.h;
    g.w_s[2] = 1LL * z.c * es, g.w_s[1] = g.w_s[2] * z.s, g.w_k = g.w_s[1] * z.r;
  }
  if (z.c * es % 16) {
    cfg.align = 1;
    if (z.c <= 4) cfg.run = true, cfg.tap_bytes = z.s * z.c * es, cfg.s = 1;
  }
  IgemmParams p = igemm_params(cfg, g, splits);
  char name[200];
  std::snprintf(name, sizeof name, "igemm %dx%dx%d w%dx%d st%d b%d%s%s", cfg.bm, cfg.bn, cfg.bk, cfg.warps_m, cfg.warps_n,
                cfg.stages, cfg.blocks, interleaved ? " nc32" : "",
                cfg.split ? (" split" + std::to_string(p.splits)).c_str() : "");
  c.name = name;
  run_source(z, c, literal(cfg), "igemm", "IgemmParams", std::to_string(igemm_threads(cfg)).c_str(),
             std::to_string(cfg.blocks).c_str(), cfg.split);
  c.bind = [=, bb = &b](Candidate& self) {
    set_shared(self.code->kernel, igemm_shared_bytes(cfg));
    self.launch = [=, code = self.code, kind = self.epilogue](cudaStream_t s, int set) {
      IgemmParams q = p;
      q.x = (interleaved ? bb->xi : bb->x) + set * bb->px, q.w = interleaved ? bb->wi : bb->w;
      q.x_end = q.x + bb->nx, q.w_end = q.w + bb->nw, q.partial = bb->partial;
      BenchEpilogueArgs e = epilogue_args(z, *bb, set, kind);
      launch(code->kernel, unsigned(igemm_blocks(q)), igemm_threads(cfg), igemm_shared_bytes(cfg), s, q, e);
      if (cfg.split) launch(code->reduce, unsigned((igemm_reduce_threads(cfg, q) + 127) / 128), 128, 0, s, q, e);
    };
  };
  if (cfg.split && igemm_partial_bytes(cfg, p) > (256 << 20)) c.source.clear();
  return c;
}

void make_buffers(const Problem& z, bool half, Buffers& b) {
  const size_t es = half ? 2 : 1;
  b.nx = size_t(z.n) * z.h * z.w * z.c * es, b.nw = size_t(z.k) * z.r * z.s * z.c * es,
  b.ny = size_t(z.n) * z.p() * z.q() * z.k * es;
  b.px = (b.nx + 255) / 256 * 256, b.py = (b.ny + 255) / 256 * 256;
  CHECK(cudaMalloc(&b.x, b.px * Buffers::kSets));
  CHECK(cudaMalloc(&b.y, b.py * Buffers::kSets));
  CHECK(cudaMalloc(&b.w, b.nw + 256));
  CHECK(cudaMalloc(&b.ref, b.ny / es * 4));
  CHECK(cudaMalloc(&b.scales, size_t(z.k) * 4));
  CHECK(cudaMalloc(&b.bias, size_t(z.k) * 4));
  CHECK(cudaMalloc(&b.partial, 256 << 20));
  bench_random(b.x, b.nx / es, 1, half);
  bench_random(b.w, b.nw / es, 77, half);
  bench_channels(b.scales, b.bias, z.k, scale_of(z));
  bench_reference(b.x, b.w, b.ref, z, half);
  if (!half && z.c % 32 == 0) {
    CHECK(cudaMalloc(&b.xi, b.px * Buffers::kSets));
    CHECK(cudaMalloc(&b.wi, b.nw + 256));
    bench_interleave(b.x, b.xi, size_t(z.n) * z.h * z.w, size_t(z.h) * z.w, z.c);
    CHECK(cudaMalloc(&b.wc, b.nw + 256));
    bench_interleave_filter(b.w, b.wi, z.k, z.r * z.s, z.c, false);
    bench_interleave_filter(b.w, b.wc, z.k, z.r * z.s, z.c, true);
    for (int i = 1; i < Buffers::kSets; ++i) CHECK(cudaMemcpy(b.xi + i * b.px, b.xi, b.nx, cudaMemcpyDeviceToDevice));
  }
  for (int i = 1; i < Buffers::kSets; ++i) CHECK(cudaMemcpy(b.x + i * b.px, b.x, b.nx, cudaMemcpyDeviceToDevice));
  CHECK(cudaDeviceSynchronize());
}
void free_buffers(Buffers& b) {
  for (void* p : {(void*)b.x, (void*)b.w, (void*)b.y, (void*)b.xi, (void*)b.wi, (void*)b.wc, (void*)b.ref, (void*)b.scales,
                  (void*)b.bias, b.partial})
    cudaFree(p);
}

void compile_all(std::vector<Candidate>& list) {
  if (!g_only.empty())
    list.erase(
        std::remove_if(list.begin(), list.end(), [](const Candidate& c) { return c.name.find(g_only) == std::string::npos; }),
        list.end());
  std::atomic<size_t> next{0};
  std::vector<std::thread> pool;
  for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); ++t)
    pool.emplace_back([&] {
      for (size_t i; (i = next++) < list.size();) {
        Candidate& c = list[i];
        if (c.source.empty()) continue;
        auto code = std::make_shared<Compiled>();
        if (compile(c.source, c.split, *code))
          c.code = code;
        else
          std::fprintf(stderr, "compile failed: %s\n%s\n%s\n", c.name.c_str(), code->log.c_str(), c.source.c_str());
      }
    });
  for (auto& t : pool) t.join();
}

void measure(const Problem& z, Buffers& b, std::vector<Candidate>& list) {
  compile_all(list);
  for (auto& c : list)
    if (c.code && c.bind) c.bind(c);
  list.erase(std::remove_if(list.begin(), list.end(), [](const Candidate& c) { return !c.launch; }), list.end());
  if (list.empty()) return;
  cudaStream_t s;
  CHECK(cudaStreamCreate(&s));
  constexpr int kLaunches = 20;
  struct Graphs {
    cudaGraphExec_t warm, cold;
  };
  std::vector<Graphs> graphs(list.size());
  std::vector<std::vector<float>> warm(list.size()), cold(list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    auto& c = list[i];
    CHECK(cudaMemset(b.y, 0x5A, b.ny));
    c.launch(s, 0);
    cudaError_t e = cudaStreamSynchronize(s);
    if (e == cudaSuccess) e = cudaGetLastError();
    if (e != cudaSuccess) {
      std::printf("{\"fault\": \"%s\", \"candidate\": \"%s\", \"problem\": \"%s\"}\n", cudaGetErrorString(e), c.name.c_str(),
                  z.name.c_str());
      std::fflush(stdout);
      std::exit(2);  // the context is gone
    }
    c.wrong = bench_check(b.y, b.ref, z, c.half, c.interleaved, scale_of(z), c.epilogue == 1 ? b.scales : nullptr, b.bias);
    for (int k = 0; k < 2; ++k) {
      cudaGraph_t g;
      CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
      for (int j = 0; j < kLaunches; ++j) c.launch(s, k ? j % Buffers::kSets : 0);
      CHECK(cudaStreamEndCapture(s, &g));
      CHECK(cudaGraphInstantiate(k ? &graphs[i].cold : &graphs[i].warm, g, 0));
      cudaGraphDestroy(g);
    }
  }
  cudaEvent_t a, e;
  cudaEventCreate(&a);
  cudaEventCreate(&e);
  for (int round = -2; round < g_rounds; ++round)
    for (size_t i = 0; i < list.size(); ++i)
      for (int k = 0; k < 2; ++k) {
        if (k && round % 3 != 0) continue;
        cudaEventRecord(a, s);
        cudaGraphLaunch(k ? graphs[i].cold : graphs[i].warm, s);
        cudaEventRecord(e, s);
        CHECK(cudaEventSynchronize(e));
        float ms;
        cudaEventElapsedTime(&ms, a, e);
        if (round >= 0) (k ? cold : warm)[i].push_back(ms / kLaunches * 1e3f);
      }
  for (size_t i = 0; i < list.size(); ++i) {
    auto& c = list[i];
    std::sort(warm[i].begin(), warm[i].end());
    std::sort(cold[i].begin(), cold[i].end());
    c.warm = warm[i][warm[i].size() / 2], c.least = warm[i][0], c.cold = cold[i].empty() ? 0 : cold[i][cold[i].size() / 2];
    std::printf(
        "{\"set\": \"%s\", \"problem\": \"%s\", \"candidate\": \"%s\", \"peer\": %s, \"type\": \"%s\", \"wrong\": %d, \"us\": "
        "%.3f, \"us_min\": %.3f, \"us_cold\": %.3f, "
        "\"tops\": %.1f, \"registers\": %d, \"local\": %d, \"compile_ms\": %.0f}\n",
        z.set.c_str(), z.name.c_str(), c.name.c_str(), c.peer ? "true" : "false", c.half ? "f16" : "s8", c.wrong, c.warm,
        c.least, c.cold, z.operations() / c.warm * 1e-6, c.code ? c.code->registers : 0, c.code ? c.code->local : 0,
        c.code ? c.code->ms : 0.0);
    std::fflush(stdout);
    cudaGraphExecDestroy(graphs[i].warm);
    cudaGraphExecDestroy(graphs[i].cold);
  }
  cudaStreamDestroy(s);
}

void add_peer(std::vector<Candidate>& list, const Problem& z, const Buffers& b, const char* name, PeerMake make,
              bool interleaved) {
  if (g_no_gpu) return;
  std::vector<PeerLaunch> sets;
  for (int i = 0; i < Buffers::kSets; ++i) {
    auto l = make(z, (interleaved ? b.xi : b.x) + i * b.px, interleaved ? b.wc : b.w, b.y + i * b.py, scale_of(z));
    if (!l) return;
    sets.push_back(l);
  }
  Candidate c;
  c.name = name, c.peer = true, c.interleaved = interleaved;
  c.launch = [sets](cudaStream_t s, int set) { sets[size_t(set)](s); };
  list.push_back(c);
}
void add_nhwc_peers(std::vector<Candidate>& list, const Problem& z, const Buffers& b) {
  add_peer(list, z, b, "cutlass nhwc 128x128x64 4", cutlass_nhwc_128x128x64_4, false);
  add_peer(list, z, b, "cutlass nhwc 256x128x64 3", cutlass_nhwc_256x128x64_3, false);
  add_peer(list, z, b, "cutlass nhwc 128x64x64 4", cutlass_nhwc_128x64x64_4, false);
  add_peer(list, z, b, "cutlass nhwc 64x64x64 6", cutlass_nhwc_64x64x64_6, false);
}

struct Tile {
  int bm, bn, bk, wm, wn, stages, blocks;
};
const Tile kTiles[] = {{128, 128, 64, 2, 2, 4, 2}, {128, 128, 128, 2, 2, 3, 2}, {256, 128, 64, 4, 2, 4, 1},
                       {128, 256, 64, 2, 4, 4, 1}, {128, 64, 64, 2, 2, 4, 3},   {128, 64, 128, 2, 2, 3, 3},
                       {64, 64, 64, 2, 2, 5, 4},   {64, 64, 128, 2, 2, 4, 3},   {64, 128, 64, 2, 2, 4, 3},
                       {64, 128, 128, 1, 4, 3, 3}, {256, 64, 64, 4, 1, 4, 2},   {64, 256, 64, 1, 4, 4, 2},
                       {128, 128, 64, 4, 2, 4, 2}};
void add_igemm(std::vector<Candidate>& list, const Problem& z, const Buffers& b, bool half, bool interleaved) {
  for (const Tile& t : kTiles) {
    if (t.bn >= 2 * z.k && t.bn > 64) continue;
    IgemmConfig c;
    c.bm = t.bm, c.bn = t.bn, c.bk = t.bk, c.warps_m = t.wm, c.warps_n = t.wn, c.stages = t.stages, c.blocks = t.blocks;
    if (z.c * (half ? 2 : 1) % 16) {
      if (t.bk != 64 || t.bm * t.bn > 128 * 64) continue;
      c.stages = 3, c.blocks = 2;
    }
    list.push_back(igemm_candidate(z, b, c, half, interleaved, 1));
    const long long tiles = 1LL * div_up(z.n * z.p() * z.q(), t.bm) * div_up(z.k, t.bn);
    if (tiles < g_sms * t.blocks && z.c * z.r * z.s >= 1024)
      for (int splits : {2, 3, 4})
        if (splits * tiles <= g_sms * t.blocks) list.push_back(igemm_candidate(z, b, c, half, interleaved, splits));
  }
}
void add_halo(std::vector<Candidate>& list, const Problem& z, const Buffers& b, bool half, bool interleaved, int limit,
              int epilogue, const char* tag) {
  const int es = half ? 2 : 1;
  if (z.stride != 1 || z.r * z.s == 1 || z.c * es % 32) return;
  struct H {
    int k, wm, wn, g, t, st;
    bool res;
  };
  static const H kAll[] = {{128, 2, 2, 2, 4, 5, true}, {128, 2, 2, 2, 4, 3, true},  {128, 2, 2, 2, 3, 5, true},
                           {64, 4, 1, 2, 4, 4, true},  {64, 4, 1, 2, 4, 3, true},   {64, 2, 2, 2, 4, 4, true},
                           {64, 2, 1, 2, 4, 4, true},  {64, 4, 1, 2, 3, 4, true},   {64, 2, 2, 3, 4, 4, true},
                           {32, 4, 1, 2, 4, 4, true},  {128, 4, 2, 1, 4, 4, false}, {128, 2, 2, 1, 4, 4, false},
                           {64, 4, 1, 1, 4, 4, false}};
  for (const H& h : kAll) {
    HaloConfig c;
    c.a = c.b = half ? Elem::f16 : Elem::s8;
    c.r = z.r, c.s = z.s, c.chunks = z.c * es / 32, c.channels_out = h.k, c.warps_m = h.wm, c.warps_n = h.wn, c.groups = h.g,
    c.tile = h.t, c.stages = h.st, c.resident = h.res;
    if (z.k % h.k || halo_shared_bytes(c) > limit) continue;
    list.push_back(halo_candidate(z, b, c, half, interleaved, epilogue, tag));
  }
}

std::vector<Problem> layers(const std::string& csv, const std::string& set) {
  std::vector<Problem> out;
  std::ifstream f(csv);
  std::string line;
  std::getline(f, line);
  while (std::getline(f, line)) {
    std::vector<std::string> v;
    std::stringstream s(line);
    for (std::string t; std::getline(s, t, ',');) v.push_back(t);
    if (v.size() < 13 || v[0] != set || v[12] != "1" || v[11] != "1") continue;
    Problem z;
    z.set = v[0], z.name = v[1];
    int* to[] = {&z.n, &z.c, &z.h, &z.w, &z.k, &z.r, &z.s, &z.stride};
    for (int i = 0; i < 8; ++i) *to[i] = std::stoi(v[size_t(i) + 2]);
    z.pad = std::stoi(v[10]);
    out.push_back(z);
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 1;
  g_root = argv[1];
  for (int i = 3; i + 1 < argc; i += 2) {
    std::string k = argv[i], v = argv[i + 1];
    if (k == "--only") g_only = v;
    if (k == "--rounds") g_rounds = std::stoi(v);
    if (k == "--arch") g_arch = v;
    if (k == "--work") g_work = v;
    if (k == "--compile-only") g_arch = v, g_no_gpu = true;
  }
  auto want = [&](const char* w) { return g_work == "all" || g_work == w; };
  if (!g_no_gpu) {
    cudaDeviceProp d;
    CHECK(cudaGetDeviceProperties(&d, 0));
    int driver = 0;
    cudaDriverGetVersion(&driver);
    g_sms = d.multiProcessorCount;
    std::printf(
        "{\"device\": \"%s\", \"sms\": %d, \"driver\": %d, \"mma_s8_tops\": %.1f, \"mma_f16_tflops\": %.1f, "
        "\"mma_s8_tops_128_threads\": %.1f, \"mma_s8_tops_384_threads\": %.1f}\n",
        d.name, g_sms, driver, bench_mma_rate(false, g_sms), bench_mma_rate(true, g_sms), bench_mma_rate(false, g_sms, 128),
        bench_mma_rate(false, g_sms, 384));
    std::fflush(stdout);
  }
  auto work = [&](const Problem& z, bool half, const std::function<void(std::vector<Candidate>&, Buffers&)>& fill) {
    Buffers b;
    if (!g_no_gpu) make_buffers(z, half, b);
    std::vector<Candidate> list;
    fill(list, b);
    if (g_no_gpu) {
      compile_all(list);
      for (auto& c : list)
        if (c.code) {
          std::string log = c.code->log;
          for (auto& ch : log)
            if (ch == '\n') ch = ' ';
          auto at = log.find("stack frame");
          std::printf("%-24s %-44s %4.0f ms  %s\n", z.name.c_str(), c.name.c_str(), c.code->ms,
                      at == std::string::npos ? log.c_str() : log.substr(at - 10, 150).c_str());
        } else {
          std::printf("%s: %s DID NOT COMPILE\n", z.name.c_str(), c.name.c_str());
        }
      return;
    }
    measure(z, b, list);
    free_buffers(b);
  };
  Problem stated{};
  stated.set = "stated", stated.name = "fprop2d-10x128x72x120";
  stated.n = 10, stated.h = 72, stated.w = 120, stated.c = stated.k = 128, stated.r = stated.s = 3,
  stated.pad = stated.stride = 1;
  if (want("stated"))
    work(stated, false, [&](auto& list, Buffers& b) {
      add_peer(list, stated, b, "cutlass nc32 128x128x64 4", cutlass_nc32_128x128x64_4, true);
      add_nhwc_peers(list, stated, b);
      add_halo(list, stated, b, false, true, 227 << 10, 0, "");
      add_halo(list, stated, b, false, false, 227 << 10, 0, "");
      add_halo(list, stated, b, false, true, 227 << 10, 1, "");
      for (bool il : {false, true}) add_igemm(list, stated, b, false, il);
    });
  Problem orin = stated;
  orin.set = "orin", orin.name = "fprop2d-80x128x72x120", orin.n = 80;
  if (want("orin"))
    work(orin, false, [&](auto& list, Buffers& b) {
      add_peer(list, orin, b, "cutlass nc32 128x128x64 4", cutlass_nc32_128x128x64_4, true);
      add_halo(list, orin, b, false, true, 163 << 10, 0, "163");
      add_halo(list, orin, b, false, true, 227 << 10, 0, "");
      add_halo(list, orin, b, false, false, 163 << 10, 0, "163");
    });
  for (bool half : {false, true})
    if (want(half ? "half" : "resnet"))
      for (const Problem& z : layers(argv[2], "resnet50-b32"))
        work(z, half, [&](auto& list, Buffers& b) {
          if (!half) add_nhwc_peers(list, z, b);
          add_igemm(list, z, b, half, false);
          add_halo(list, z, b, half, false, 227 << 10, 0, "");
        });
  return 0;
}
