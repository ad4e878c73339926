// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Whole graphs on a real device: host time of execute beside the driver's own launch, CUDA graphs, and an image of more than
// 2^31 elements.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <vector>

#include "device/cuda_device.h"
#include "device/cuda_kernel.h"
#include "device/cuda_memory.h"
#include "features.h"
#include "jit/kernel_request.h"
#include "octavo/octavo.h"

namespace octavo::gpu_check {
namespace {

using Clock = std::chrono::steady_clock;

bool report(bool good, const char* what, const std::string& detail = {}) {
  std::printf("%s %s%s%s\n", good ? "ok   " : "WRONG", what, detail.empty() ? "" : ": ", detail.c_str());
  std::fflush(stdout);
  return good;
}

/// Median microseconds of a call that queues work, over rounds of 20 with an empty queue before each.
double host_time(const DeviceTraits& device, const std::function<error_t()>& call, error_t& e) {
  std::vector<double> samples;
  for (int round = 0; round < 41 && e.is_good(); ++round) {
    const auto start = Clock::now();
    for (int i = 0; i < 20 && e.is_good(); ++i) e = call();
    samples.push_back(1e6 * std::chrono::duration<double>(Clock::now() - start).count() / 20);
    (void)cuda::synchronize(device.ordinal).is_bad();
  }
  std::nth_element(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2), samples.end());
  return samples[samples.size() / 2];
}

/// What the driver itself takes: cuLaunchKernel of a kernel that does nothing, with and without a kilobyte of parameters.
void launch_floor(const DeviceTraits& device) {
  for (const char* parameters : {"int* p", "const __grid_constant__ Big p"}) {
    jit::KernelRequest request;
    request.engine = "gpu_check", request.kernel = "empty", request.arch = cuda::arch_of(device);
    request.stub = std::string("struct Big { unsigned long long v[128]; };\nextern \"C\" __global__ void octavo_kernel(") +
                   parameters + ") {}\n";
    auto binary = jit::compile(request);
    std::shared_ptr<const cuda::Kernel> kernel;
    error_t e = binary ? cuda::Kernel::load(device.ordinal, (*binary)->cubin, "octavo_kernel", 0, kernel) : binary.error();
    cuda::Timer timer;
    if (e.is_good()) e = cuda::Timer::create(device.ordinal, timer);
    if (e.is_bad()) {
      std::printf("launch floor: %s\n", e.err_msg.c_str());
      return;
    }
    std::uint64_t bytes[128] = {};
    void* params[] = {bytes};
    const cuda::CurrentContext current(kernel->context());
    const double raw = host_time(
        device,
        [&]() -> error_t {
          return cuda::check(cuda::driver()->LaunchKernel(kernel->function(), 132, 1, 1, 256, 1, 1, 0,
                                                          static_cast<cuda::Stream>(timer.stream()), params, nullptr),
                             "cuLaunchKernel");
        },
        e);
    cuda::Launch launch;
    launch.grid[0] = 132, launch.block[0] = 256;
    const double ours = host_time(
        device, [&] { return kernel->launch(launch, params, timer.stream()); }, e);
    std::printf("      cuLaunchKernel(%s): %.2f us; Kernel::launch: %.2f us %s\n", parameters, raw, ours, e.err_msg.c_str());
  }
}

/// x = 1, w = 2: every sum is 2 * C * 9, whatever the order.
struct SmallGraph {
  static constexpr int kC = 32, kImages = 2, kSide = 14, kOut = kImages * kC * 12 * 12, kSum = 2 * kC * 9;
  handle_t handle = nullptr;
  graph::Graph g;
  std::shared_ptr<graph::Tensor_attributes> x, w, y;
  cuda::Buffer dx, dw, first, second, workspace;

  error_t make(const DeviceTraits& device) {
    OCTAVO_RETURN_IF_ERROR(create_handle(handle, device.ordinal));
    g.set_io_data_type(DataType_t::INT8).set_compute_data_type(DataType_t::INT32);
    const auto tensor = [&](const char* name, std::vector<std::int64_t> d) {
      return g.tensor(
          graph::Tensor_attributes().set_name(name).set_dim(d).set_stride({d[1] * d[2] * d[3], 1, d[1] * d[3], d[1]}));
    };
    x = tensor("X", {kImages, kC, kSide, kSide});
    w = tensor("W", {kC, kC, 3, 3});
    y = g.conv_fprop(x, w, graph::Conv_fprop_attributes().set_padding({0, 0}).set_stride({1, 1}).set_dilation({1, 1}));
    y->set_output(true).set_data_type(DataType_t::INT32);
    OCTAVO_RETURN_IF_ERROR(g.build(handle, {HeurMode_t::A}));
    const auto fill = [&](cuda::Buffer& buffer, std::int64_t bytes, unsigned char value) -> error_t {
      OCTAVO_RETURN_IF_ERROR(cuda::Buffer::allocate(device.ordinal, static_cast<std::size_t>(bytes), buffer));
      return buffer.fill(value);
    };
    OCTAVO_RETURN_IF_ERROR(fill(dx, kImages * kC * kSide * kSide, 1));
    OCTAVO_RETURN_IF_ERROR(fill(dw, kC * kC * 9, 2));
    OCTAVO_RETURN_IF_ERROR(fill(first, kOut * 4, 0x5a));
    OCTAVO_RETURN_IF_ERROR(fill(second, kOut * 4, 0x5a));
    return fill(workspace, g.get_workspace_size() + 16, 0x5a);
  }
  graph::Graph::UidMap pack(const cuda::Buffer& out) const {
    return {{x->get_uid(), dx.data()}, {w->get_uid(), dw.data()}, {y->get_uid(), out.data()}};
  }
  static int right(const cuda::Buffer& buffer) {
    std::vector<std::int32_t> host(kOut);
    if (buffer.download(host.data(), host.size() * 4).is_bad()) return -1;
    return static_cast<int>(std::count(host.begin(), host.end(), kSum));
  }
  ~SmallGraph() {
    if (handle) (void)destroy_handle(handle).is_bad();
  }
};

bool check_graph(const DeviceTraits& device) {
  SmallGraph s;
  if (error_t e = s.make(device); e.is_bad()) return report(false, "a graph on the device", e.err_msg);
  const auto pack = s.pack(s.first);
  error_t e = s.g.execute(s.handle, pack, s.workspace.data());
  if (e.is_good()) e = cuda::synchronize(device.ordinal);
  bool good = report(e.is_good() && SmallGraph::right(s.first) == SmallGraph::kOut, "a graph executes", e.err_msg);
  const double us = host_time(
      device, [&] { return s.g.execute(s.handle, pack, s.workspace.data()); }, e);
  good &= report(e.is_good() && us <= 3.0, "host time of Graph::execute by uid", std::to_string(us) + " us " + e.err_msg);
  std::vector<void*> sorted;
  for (const std::int64_t uid : s.g.get_variant_pack_uids_sorted()) sorted.push_back(pack.at(uid));
  const double by_order = host_time(
      device, [&] { return s.g.execute(s.handle, sorted.data(), static_cast<int>(sorted.size()), s.workspace.data()); }, e);
  good &= report(e.is_good() && by_order <= 3.0, "host time of Graph::execute by order",
                 std::to_string(by_order) + " us " + e.err_msg);

  // Inside a graph of the caller's.
  const cuda::Driver& d = *cuda::driver();
  cuda::Context context = nullptr;
  (void)cuda::primary_context(device.ordinal, context).is_bad();
  const cuda::CurrentContext current(context);
  cuda::Graph made = nullptr;
  e = cuda::check(d.GraphCreate(&made, 0), "cuGraphCreate");
  auto* target = reinterpret_cast<CUgraph_st*>(made);
  const auto launch = [&]() -> error_t {
    cuda::GraphExec exec = nullptr;
    OCTAVO_RETURN_IF_ERROR(cuda::check(d.GraphInstantiate(&exec, made, 0), "cuGraphInstantiate"));
    error_t ran = cuda::check(d.GraphLaunch(exec, nullptr), "cuGraphLaunch");
    if (ran.is_good()) ran = cuda::synchronize(device.ordinal);
    d.GraphExecDestroy(exec);
    return ran;
  };
  if (e.is_good()) e = s.first.fill(0x5a);
  if (e.is_good()) e = s.g.populate_cuda_graph(s.handle, pack, s.workspace.data(), target);
  const int early = SmallGraph::right(s.first);
  if (e.is_good()) e = launch();
  good &= report(e.is_good() && early == 0 && SmallGraph::right(s.first) == SmallGraph::kOut, "populate_cuda_graph", e.err_msg);
  if (e.is_good()) e = s.first.fill(0x5a);
  if (e.is_good()) e = s.g.update_cuda_graph(s.handle, s.pack(s.second), s.workspace.data(), target);
  if (e.is_good()) e = launch();
  good &= report(e.is_good() && SmallGraph::right(s.second) == SmallGraph::kOut && SmallGraph::right(s.first) == 0,
                 "update_cuda_graph", e.err_msg);
  if (made) d.GraphDestroy(made);
  return good;
}

/// A public report: one fp16 image of 514 x 2048 x 2048. x = -1 but +1 in the last channel; w = 0 but 0.5 there. A wrapped
/// offset gives -4.5 or faults.
bool check_large_image(const DeviceTraits& device) {
  Problem p;
  error_t e = parse_problem("fprop n=1 c=514 size=2048x2048 k=1 filter=3x3 pad=1x1 x=f16:nchw w=f16:nchw y=f32:nchw", p);
  constexpr std::size_t kPlane = 2048 * 2048;
  cuda::Buffer x, w, y;
  std::vector<std::uint16_t> plane(kPlane, 0xbc00), filter(514 * 9, 0);
  std::fill(filter.end() - 9, filter.end(), static_cast<std::uint16_t>(0x3800));
  if (e.is_good()) e = cuda::Buffer::allocate(device.ordinal, 514 * kPlane * 2, x);
  if (e.is_good()) e = cuda::Buffer::allocate(device.ordinal, filter.size() * 2, w);
  if (e.is_good()) e = cuda::Buffer::allocate(device.ordinal, kPlane * 4, y);
  if (e.is_good()) e = w.upload(filter.data(), filter.size() * 2);
  for (std::size_t c = 0; c < 514 && e.is_good(); ++c) {
    if (c == 513) std::fill(plane.begin(), plane.end(), static_cast<std::uint16_t>(0x3c00));
    e = x.upload(plane.data(), kPlane * 2, c * kPlane * 2);
  }
  bool good = true;
  int ran = 0;
  std::string last;
  for (const PlanSpec& spec : plan_specs(p, device)) {
    if (e.is_bad() || spec.engine == last) continue;
    last = spec.engine;
    std::unique_ptr<Plan> plan;
    cuda::Buffer workspace;
    e = build_plan(p, spec, device, {}, plan);
    if (e.is_good()) e = cuda::Buffer::allocate(device.ordinal, plan->workspace_bytes(), workspace);
    if (e.is_good()) e = y.fill(0xff);
    void* outputs[] = {y.data()};
    Args args;
    args.x = x.data(), args.w = w.data(), args.outputs = outputs, args.workspace = workspace.data();
    if (e.is_good()) e = plan->execute(args);
    if (e.is_good()) e = cuda::synchronize(device.ordinal);
    std::vector<float> got(kPlane);
    if (e.is_good()) e = y.download(got.data(), kPlane * 4);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < kPlane; ++i) {
      const std::size_t row = i / 2048, column = i % 2048;
      const bool v = row == 0 || row == 2047, h = column == 0 || column == 2047;
      wrong += !(got[i] == (v && h ? 2.f : v || h ? 3.f : 4.5f));
    }
    ++ran;
    good &= report(e.is_good() && wrong == 0, (spec.engine + " on an image of more than 2^31 elements").c_str(),
                   std::to_string(wrong) + " wrong " + e.err_msg);
  }
  return report(e.is_good() && ran > 0, "an image of more than 2^31 elements", e.err_msg) && good;
}

}  // namespace

bool check_graph_features(const DeviceTraits& device) {
  launch_floor(device);
  bool good = check_graph(device);
  return check_large_image(device) && good;
}

}  // namespace octavo::gpu_check
