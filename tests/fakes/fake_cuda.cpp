// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// A CUDA driver for machines without a GPU, loaded through OCTAVO_CUDA_DRIVER. Device memory is host memory. A module is
// found in the kernel cache by its binary, its kernel.cu is compiled with the host compiler (fakes/host_prelude.h) and
// launches run it: slow, but the launch path and the kernels' arithmetic are the real ones. Two devices, h200-like.
//   OCTAVO_FAKE_KERNELS   kernels/ and tests/fakes (colon list of include directories)
//   OCTAVO_FAKE_COMPILER  C++ compiler (default c++)

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "device/cuda_driver.h"

namespace {

using namespace octavo::cuda;
namespace fs = std::filesystem;

struct HostKernel {
  int (*sizes)(std::size_t*) = nullptr;
  void (*run)(const unsigned*, const unsigned*, void**) = nullptr;
  HostKernel* reduce = nullptr;  ///< the module's second entry point
};
struct FakeContext {
  int ordinal = 0;
};
struct Node {
  HostKernel* kernel = nullptr;
  unsigned grid[3], block[3];
  unsigned shared = 0;
  std::vector<std::vector<char>> params;
  std::vector<void*> pointers;
};
struct FakeGraph {
  std::vector<Node*> nodes;
};
struct FakeStream {
  FakeGraph* capturing = nullptr;
};
struct Block {
  std::size_t bytes = 0;
  int ordinal = 0;
};

std::recursive_mutex mutex;
FakeContext contexts[2] = {{0}, {1}};
thread_local FakeContext* current = nullptr;
std::map<std::uint64_t, Block> allocations;
std::map<std::string, HostKernel*> modules;  // by binary
std::int64_t launches = 0, allocation_calls = 0, synchronisations = 0;
int failing_launches = 0;

constexpr int kInvalidValue = 1, kOutOfMemory = 2, kInvalidContext = 201, kInvalidImage = 200, kNotFound = 500;

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string include_flags() {
  std::string flags, list = std::getenv("OCTAVO_FAKE_KERNELS") ? std::getenv("OCTAVO_FAKE_KERNELS") : "";
  for (std::size_t at = 0; at < list.size();) {
    std::size_t end = list.find(':', at);
    if (end == std::string::npos) end = list.size();
    flags += " -I'" + list.substr(at, end - at) + "'";
    at = end + 1;
  }
  return flags;
}

/// Compiled once for a source, the prelude and the flags; the file stays beside the cache for the next process.
HostKernel* compile(const fs::path& entry) {
  static int counter = 0;
  const char* compiler = std::getenv("OCTAVO_FAKE_COMPILER");
  const fs::path scratch = entry.parent_path().parent_path() / "fake";
  fs::create_directories(scratch);
  const std::string kernel_text = read_file(entry / "kernel.cu");
  const auto mentions = [&](const char* word) { return kernel_text.find(word) != std::string::npos; };
  const std::string text = std::string("#include \"host_prelude.h\"\n") +
                           (mentions("conv/halo.cuh") || mentions("conv/igemm.cuh") ? "#include \"host_tensor.h\"\n" : "") +
                           kernel_text + (mentions("octavo_reduce(") ? "\n#define OCTAVO_FAKE_REDUCE 1" : "") +
                           "\n#include \"host_epilogue.h\"\n";
  const std::string base = (scratch / (std::to_string(::getpid()) + "." + std::to_string(counter++))).string();
  const std::string call =
      std::string(compiler ? compiler : "c++") +
      " -std=c++17 -O1 -w -fPIC -shared -fno-gnu-unique -Wl,-Bsymbolic -ffp-contract=off -fno-strict-aliasing -fwrapv" +
      include_flags();
  std::string inputs = text + call;
  // The entry's name carries the hash of all headers of kernels/; the fakes' own are read here.
  inputs += entry.filename().string();
  const std::string list = std::getenv("OCTAVO_FAKE_KERNELS") ? std::getenv("OCTAVO_FAKE_KERNELS") : "";
  const std::string fakes = list.substr(list.rfind(':') + 1);
  inputs += read_file(fakes + "/host_prelude.h") + read_file(fakes + "/host_epilogue.h") + read_file(fakes + "/host_tensor.h");
  const fs::path built = scratch / (std::to_string(std::hash<std::string>{}(inputs)) + ".so");
  if (!fs::exists(built)) {
    std::ofstream(base + ".cpp") << text;
    const std::string command = call + " '" + base + ".cpp' -o '" + base + ".so' >'" + base + ".log' 2>&1";
    if (std::system(command.c_str()) != 0) {
      std::fprintf(stderr, "fake driver: %s\n%s\n", command.c_str(), read_file(base + ".log").substr(0, 4000).c_str());
      return nullptr;
    }
    fs::rename(base + ".so", built);
    fs::remove(base + ".cpp");
    fs::remove(base + ".log");
  }
  void* library = dlopen(built.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return nullptr;
  auto* kernel = new HostKernel;
  kernel->sizes = reinterpret_cast<int (*)(std::size_t*)>(dlsym(library, "octavo_fake_sizes"));
  kernel->run = reinterpret_cast<void (*)(const unsigned*, const unsigned*, void**)>(dlsym(library, "octavo_fake_run"));
  if (void* reduce = dlsym(library, "octavo_fake_run_reduce"))
    kernel->reduce =
        new HostKernel{kernel->sizes, reinterpret_cast<void (*)(const unsigned*, const unsigned*, void**)>(reduce), nullptr};
  return kernel;
}

/// The length of an ELF image: the end of its section or program headers, whichever is last.
std::size_t elf_bytes(const unsigned char* image) {
  const auto u64 = [&](int at) {
    std::uint64_t v;
    std::memcpy(&v, image + at, 8);
    return v;
  };
  const auto u16 = [&](int at) {
    std::uint16_t v;
    std::memcpy(&v, image + at, 2);
    return v;
  };
  return std::max(u64(0x28) + std::uint64_t{u16(0x3a)} * u16(0x3c), u64(0x20) + std::uint64_t{u16(0x36)} * u16(0x38));
}

void execute(Node& node) { node.kernel->run(node.grid, node.block, node.pointers.data()); }

}  // namespace

extern "C" {

Status cuInit(unsigned) { return 0; }
Status cuDriverGetVersion(int* v) { return *v = 13000, 0; }
Status cuGetErrorName(Status s, const char** name) {
  return *name = s == kOutOfMemory ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_FAKE", 0;
}
Status cuGetErrorString(Status, const char** text) { return *text = "the fake driver says no", 0; }
Status cuDeviceGetCount(int* n) { return *n = 2, 0; }
Status cuDeviceGet(Device* d, int ordinal) { return ordinal < 0 || ordinal > 1 ? 101 : (*d = ordinal, 0); }
Status cuDeviceGetName(char* name, int size, Device) {
  return std::snprintf(name, static_cast<std::size_t>(size), "fake H200"), 0;
}
Status cuDeviceGetAttribute(int* v, int id, Device) {
  switch (id) {
    case kComputeMajor:
      return *v = 9, 0;
    case kComputeMinor:
      return *v = 0, 0;
    case kMultiprocessorCount:
      return *v = 4, 0;
    case kSharedPerBlockOptin:
      return *v = 227 << 10, 0;
    case kSharedPerMultiprocessor:
      return *v = 228 << 10, 0;
    case kClockRate:
      return *v = 1980000, 0;
    default:
      return *v = 0, 0;
  }
}
Status cuDeviceTotalMem_v2(std::size_t* bytes, Device) { return *bytes = std::size_t{1} << 34, 0; }
Status cuDevicePrimaryCtxRetain(Context* c, Device d) { return *c = reinterpret_cast<Context>(&contexts[d]), 0; }
Status cuCtxGetCurrent(Context* c) { return *c = reinterpret_cast<Context>(current), 0; }
Status cuCtxSetCurrent(Context c) { return current = reinterpret_cast<FakeContext*>(c), 0; }
Status cuCtxSynchronize() { return ++synchronisations, current ? 0 : kInvalidContext; }

Status cuModuleLoadData(Module* m, const void* image) {
  const std::lock_guard lock(mutex);
  if (!current) return kInvalidContext;
  const auto* bytes = static_cast<const unsigned char*>(image);
  if (std::memcmp(bytes, "\177ELF", 4) != 0) return kInvalidImage;
  const std::string binary(reinterpret_cast<const char*>(bytes), elf_bytes(bytes));
  if (const auto found = modules.find(binary); found != modules.end()) return *m = reinterpret_cast<Module>(found->second), 0;
  const char* cache = std::getenv("OCTAVO_CACHE_DIR");
  std::error_code ec;
  for (fs::directory_iterator it(std::string(cache ? cache : ".") + "/kernels", ec), end; !ec && it != end; it.increment(ec)) {
    const std::string candidate = read_file(it->path() / "kernel.cubin");
    if (candidate.size() < binary.size() || candidate.compare(0, binary.size(), binary) != 0) continue;
    HostKernel* kernel = compile(it->path());
    if (!kernel) return kInvalidImage;
    modules[binary] = kernel;
    return *m = reinterpret_cast<Module>(kernel), 0;
  }
  return kInvalidImage;
}
Status cuModuleUnload(Module) { return 0; }
Status cuModuleGetFunction(Function* f, Module m, const char* name) {
  if (std::strcmp(name, "octavo_reduce") == 0) {
    HostKernel* reduce = reinterpret_cast<HostKernel*>(m)->reduce;
    return reduce ? (*f = reinterpret_cast<Function>(reduce), 0) : kNotFound;
  }
  if (std::strcmp(name, "octavo_kernel") != 0) return kNotFound;
  return *f = reinterpret_cast<Function>(m), 0;
}
Status cuFuncGetAttribute(int* v, int, Function) { return *v = 32, 0; }
Status cuFuncSetAttribute(Function, int, int value) { return value > 227 << 10 ? kInvalidValue : 0; }
Status cuOccupancyMaxActiveBlocksPerMultiprocessor(int* n, Function, int, std::size_t) { return *n = 2, 0; }

Status cuLaunchKernel(Function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                      Stream s, void** params, void**) {
  const std::lock_guard lock(mutex);
  if (!current) return kInvalidContext;
  if (gy > 65535 || gz > 65535 || bx * by * bz > 1024 || gx == 0 || gx > 2147483647u) return kInvalidValue;
  if (failing_launches > 0) return --failing_launches, 719;
  ++launches;
  Node node{reinterpret_cast<HostKernel*>(f), {gx, gy, gz}, {bx, by, bz}, shared, {}, {}};
  auto* stream = reinterpret_cast<FakeStream*>(s);
  if (!stream || !stream->capturing) {
    node.kernel->run(node.grid, node.block, params);
    return 0;
  }
  std::size_t sizes[64];
  const int count = node.kernel->sizes(sizes);
  auto* kept = new Node(node);
  for (int i = 0; i < count; ++i) {
    kept->params.emplace_back(static_cast<char*>(params[i]), static_cast<char*>(params[i]) + sizes[i]);
  }
  for (auto& p : kept->params) kept->pointers.push_back(p.data());
  stream->capturing->nodes.push_back(kept);
  return 0;
}
Status cuLaunchKernelEx(const LaunchConfig* c, Function f, void** params, void** extra) {
  return cuLaunchKernel(f, c->grid[0], c->grid[1], c->grid[2], c->block[0], c->block[1], c->block[2], c->shared_bytes,
                        c->stream, params, extra);
}

Status cuMemAlloc_v2(DevicePtr* p, std::size_t bytes) {
  const std::lock_guard lock(mutex);
  if (!current) return kInvalidContext;
  if (bytes > (std::size_t{1} << 34)) return kOutOfMemory;
  ++allocation_calls;
  void* memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (!memory) return kOutOfMemory;
  *p = reinterpret_cast<DevicePtr>(memory);
  allocations[*p] = {bytes, current->ordinal};
  return 0;
}
Status cuMemFree_v2(DevicePtr p) {
  const std::lock_guard lock(mutex);
  if (allocations.erase(p) == 0) return kInvalidValue;
  std::free(reinterpret_cast<void*>(p));
  return 0;
}
Status cuMemcpy(DevicePtr to, DevicePtr from, std::size_t n) {
  return std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), n), 0;
}
Status cuMemcpyHtoD_v2(DevicePtr to, const void* from, std::size_t n) {
  return std::memcpy(reinterpret_cast<void*>(to), from, n), 0;
}
Status cuMemcpyDtoH_v2(void* to, DevicePtr from, std::size_t n) { return std::memcpy(to, reinterpret_cast<void*>(from), n), 0; }
Status cuMemcpyDtoDAsync_v2(DevicePtr to, DevicePtr from, std::size_t n, Stream) { return cuMemcpy(to, from, n); }
Status cuMemsetD8_v2(DevicePtr p, unsigned char v, std::size_t n) { return std::memset(reinterpret_cast<void*>(p), v, n), 0; }
Status cuMemsetD8Async(DevicePtr p, unsigned char v, std::size_t n, Stream) { return cuMemsetD8_v2(p, v, n); }
Status cuPointerGetAttribute(void* out, int id, DevicePtr p) {
  const std::lock_guard lock(mutex);
  auto it = allocations.upper_bound(p);
  if (it == allocations.begin()) return kInvalidValue;
  --it;
  if (p >= it->first + it->second.bytes) return kInvalidValue;
  const int value = id == kPointerMemoryType ? kMemoryDevice : id == kPointerOrdinal ? it->second.ordinal : 0;
  return *static_cast<int*>(out) = value, 0;
}
Status cuPointerGetAttributes(unsigned count, int* ids, void** out, DevicePtr p) {
  for (unsigned i = 0; i < count; ++i)
    if (cuPointerGetAttribute(out[i], ids[i], p) != 0) *static_cast<int*>(out[i]) = ids[i] == kPointerOrdinal ? -2 : 0;
  return 0;
}
Status cuStreamCreate(Stream* s, unsigned) { return *s = reinterpret_cast<Stream>(new FakeStream), 0; }
Status cuStreamDestroy_v2(Stream s) { return delete reinterpret_cast<FakeStream*>(s), 0; }
Status cuStreamSynchronize(Stream) { return ++synchronisations, 0; }
Status cuStreamIsCapturing(Stream s, int* status) { return *status = s && reinterpret_cast<FakeStream*>(s)->capturing, 0; }
Status cuStreamBeginCapture_v2(Stream s, int) { return reinterpret_cast<FakeStream*>(s)->capturing = new FakeGraph, 0; }
Status cuStreamEndCapture(Stream s, Graph* g) {
  auto* stream = reinterpret_cast<FakeStream*>(s);
  *g = reinterpret_cast<Graph>(stream->capturing);
  stream->capturing = nullptr;
  return 0;
}
Status cuEventCreate(Event* e, unsigned) { return *e = reinterpret_cast<Event>(new int), 0; }
Status cuEventDestroy_v2(Event e) { return delete reinterpret_cast<int*>(e), 0; }
Status cuEventRecord(Event, Stream) { return 0; }
Status cuEventSynchronize(Event) { return ++synchronisations, 0; }
Status cuEventElapsedTime(float* ms, Event, Event) { return *ms = 0.01f, 0; }
Status cuGraphCreate(Graph* g, unsigned) { return *g = reinterpret_cast<Graph>(new FakeGraph), 0; }
Status cuGraphDestroy(Graph g) { return delete reinterpret_cast<FakeGraph*>(g), 0; }
Status cuGraphInstantiateWithFlags(GraphExec* e, Graph g, unsigned long long) {
  return *e = reinterpret_cast<GraphExec>(new FakeGraph(*reinterpret_cast<FakeGraph*>(g))), 0;
}
Status cuGraphExecDestroy(GraphExec e) { return delete reinterpret_cast<FakeGraph*>(e), 0; }
Status cuGraphLaunch(GraphExec e, Stream) {
  const std::lock_guard lock(mutex);
  for (Node* node : reinterpret_cast<FakeGraph*>(e)->nodes) execute(*node);
  return 0;
}
Status cuGraphGetNodes(Graph g, GraphNode* out, std::size_t* n) {
  auto* graph = reinterpret_cast<FakeGraph*>(g);
  if (out)
    for (std::size_t i = 0; i < std::min(*n, graph->nodes.size()); ++i) out[i] = reinterpret_cast<GraphNode>(graph->nodes[i]);
  return *n = graph->nodes.size(), 0;
}
Status cuGraphNodeGetType(GraphNode, int* type) { return *type = 0, 0; }
Status cuGraphAddChildGraphNode(GraphNode* n, Graph g, const GraphNode*, std::size_t, Graph child) {
  auto* to = reinterpret_cast<FakeGraph*>(g);
  auto* from = reinterpret_cast<FakeGraph*>(child);
  to->nodes.insert(to->nodes.end(), from->nodes.begin(), from->nodes.end());
  return *n = reinterpret_cast<GraphNode>(to->nodes.empty() ? nullptr : to->nodes.back()), 0;
}
// A child graph's nodes are taken in one by one, so no node is ever a child graph.
Status cuGraphChildGraphNodeGetGraph(GraphNode, Graph*) { return kInvalidValue; }
Status cuGraphAddKernelNode_v2(GraphNode* n, Graph g, const GraphNode*, std::size_t, const KernelNodeParams* p) {
  auto* kernel = reinterpret_cast<HostKernel*>(p->function);
  auto* node =
      new Node{kernel, {p->grid[0], p->grid[1], p->grid[2]}, {p->block[0], p->block[1], p->block[2]}, p->shared_bytes, {}, {}};
  std::size_t sizes[64];
  const int count = kernel->sizes(sizes);
  for (int i = 0; i < count; ++i)
    node->params.emplace_back(static_cast<char*>(p->kernel_params[i]), static_cast<char*>(p->kernel_params[i]) + sizes[i]);
  for (auto& q : node->params) node->pointers.push_back(q.data());
  reinterpret_cast<FakeGraph*>(g)->nodes.push_back(node);
  return *n = reinterpret_cast<GraphNode>(node), 0;
}
Status cuGraphKernelNodeGetParams_v2(GraphNode n, KernelNodeParams* p) {
  auto* node = reinterpret_cast<Node*>(n);
  *p = {};
  p->function = reinterpret_cast<Function>(node->kernel);
  std::copy(node->grid, node->grid + 3, p->grid);
  std::copy(node->block, node->block + 3, p->block);
  p->kernel_params = node->pointers.data();
  return 0;
}
Status cuGraphKernelNodeSetParams_v2(GraphNode n, const KernelNodeParams* p) {
  auto* node = reinterpret_cast<Node*>(n);
  for (std::size_t i = 0; i < node->params.size(); ++i)
    std::memcpy(node->params[i].data(), p->kernel_params[i], node->params[i].size());
  return 0;
}

// For tests: what has happened, and what shall fail.
void fake_cuda_counts(std::int64_t* out) {
  out[0] = launches, out[1] = allocation_calls, out[2] = synchronisations,
  out[3] = static_cast<std::int64_t>(allocations.size());
}
void fake_cuda_fail_launches(int n) { failing_launches = n; }

}  // extern "C"
