// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <mutex>
#include <thread>

#include "core/env.h"
#include "core/hash.h"
#include "jit/disk_cache.h"
#include "jit/embedded.h"
#include "jit/kernel_request.h"
#include "jit/nvrtc.h"

namespace octavo::jit {
namespace {

using Binary = std::shared_ptr<const KernelBinary>;

// Raised whenever the meaning of a key or of a file in the cache changes.
constexpr int kFormat = 1;

// One multiply and one add stay two roundings, as everywhere in the library; sums that want FMA say fmaf.
const char* const kOptions[] = {"--std=c++17", "--fmad=false", "--ptxas-options=--verbose"};

struct Counters {
  std::atomic<std::int64_t> memory_hits{0}, disk_hits{0}, compiled{0}, publish_failures{0}, corrupt{0};
} counters;

/// A compilation for each CPU, at most eight at a time: each holds a few hundred MB.
class Gate {
 public:
  Gate() { free_ = std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, 8); }
  void enter() {
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [&] { return free_ > 0; });
    --free_;
  }
  void leave() {
    {
      const std::lock_guard lock(mutex_);
      ++free_;
    }
    ready_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable ready_;
  int free_ = 1;
};

struct Shard {
  std::mutex mutex;
  std::map<std::string, std::shared_future<Result<Binary>>> kernels;
};
constexpr std::size_t kShards = 16;
Shard shards[kShards];

std::size_t shard_of(const std::string& name) { return std::hash<std::string>{}(name) % kShards; }

int number_before(const std::string& log, const std::string& phrase) {
  const std::size_t at = log.find(phrase);
  if (at == std::string::npos) return 0;
  std::size_t begin = at;
  while (begin > 0 && log[begin - 1] == ' ') --begin;
  std::size_t end = begin;
  while (begin > 0 && log[begin - 1] >= '0' && log[begin - 1] <= '9') --begin;
  return end > begin ? std::atoi(log.substr(begin, end - begin).c_str()) : 0;
}

KernelResources read_resources(const std::string& log) {
  KernelResources r;
  r.registers = number_before(log, "registers");
  r.static_shared = number_before(log, "bytes smem");
  r.local_bytes = number_before(log, "bytes stack frame");
  r.spill_bytes = number_before(log, "bytes spill stores") + number_before(log, "bytes spill loads");
  return r;
}

void dump(const std::string& directory, const std::string& name, const std::string& source, const NvrtcOutput& output) {
  std::error_code ec;
  std::filesystem::create_directories(directory, ec);
  const std::string base = directory + "/" + name;
  std::ofstream(base + ".cu", std::ios::binary) << source;
  std::ofstream(base + ".log", std::ios::binary) << output.log;
  std::ofstream(base + ".cubin", std::ios::binary) << output.cubin;
}

std::vector<std::string> all_options(const KernelRequest& request) {
  std::vector<std::string> options{"--gpu-architecture=" + request.arch};
  options.insert(options.end(), std::begin(kOptions), std::end(kOptions));
  options.insert(options.end(), request.options.begin(), request.options.end());
  return options;
}

Result<Binary> produce(const KernelRequest& request, const std::string& name) {
  const std::string source = request.source();
  const std::string directory = cache_directory();
  auto binary = std::make_shared<KernelBinary>();
  switch (find_on_disk(directory, name, source, *binary)) {
    case Lookup::hit:
      ++counters.disk_hits;
      return Binary(binary);
    case Lookup::corrupt:
      ++counters.corrupt;
      break;
    case Lookup::miss:
      break;
  }
  if (env(Env::jit) == "0")
    return error_t{error_code_t::NVRTC_COMPILATION_FAILED,
                   "Kernel " + name + " is not in the cache " + directory +
                       " and OCTAVO_JIT=0 forbids compiling it: fill the cache with `octavo compile`."};
  static Gate gate;
  gate.enter();
  const auto begin = std::chrono::steady_clock::now();
  Result<NvrtcOutput> output = nvrtc_compile(source, name, all_options(request));
  const auto end = std::chrono::steady_clock::now();
  gate.leave();
  if (!output) return output.error();
  binary = std::make_shared<KernelBinary>();
  binary->cubin = std::move(output->cubin);
  binary->resources = read_resources(output->log);
  binary->name = name;
  binary->compile_ms = std::chrono::duration<double, std::milli>(end - begin).count();
  ++counters.compiled;
  if (const std::string to = env(Env::jit_dump); !to.empty()) {
    output->cubin = binary->cubin;
    dump(to, name, source, *output);
  }
  if (!publish(directory, name, source, *binary)) ++counters.publish_failures;
  return Binary(binary);
}

}  // namespace

std::string KernelRequest::source() const {
  std::string text;
  for (const std::string& header : headers) text += "#include \"" + header + "\"\n";
  return text + stub;
}

std::string kernel_name(const KernelRequest& request) {
  std::string key = "format " + std::to_string(kFormat) + "\n";
  for (const std::string& option : all_options(request)) key += option + "\n";
  for (const std::string& header : request.headers) {
    const EmbeddedFile* file = find_embedded(header);
    key += header + " " + (file ? file->closure : "missing") + "\n";
  }
  key += request.entry + "\n" + request.stub;
  const std::string name = request.engine + "." + request.kernel + "." + request.arch + "." + hash_bytes(key).hex();
  NvrtcVersion version;
  if (nvrtc_available(&version).is_good())
    return name + "." + std::to_string(version.major) + "-" + std::to_string(version.minor);
  // Without NVRTC a shipped cache serves, whatever version filled it.
  const std::string shipped = newest_version(cache_directory(), name + ".");
  return shipped.empty() ? name : shipped;
}

Result<Binary> compile(const KernelRequest& request) {
  for (const std::string& header : request.headers)
    if (!find_embedded(header))
      return error_t{error_code_t::NVRTC_COMPILATION_FAILED,
                     "Kernel " + request.kernel + " includes " + header + ", which is not embedded."};
  const std::string name = kernel_name(request);
  Shard& shard = shards[shard_of(name)];
  std::promise<Result<Binary>> promise;
  std::shared_future<Result<Binary>> future;
  {
    const std::lock_guard lock(shard.mutex);
    if (const auto found = shard.kernels.find(name); found != shard.kernels.end()) {
      future = found->second;
    } else {
      shard.kernels.emplace(name, promise.get_future().share());
    }
  }
  if (future.valid()) {
    ++counters.memory_hits;
    return future.get();
  }
  Result<Binary> result = produce(request, name);
  promise.set_value(result);
  if (!result) {  // a failure is not remembered: the disk, the environment or NVRTC may come back
    const std::lock_guard lock(shard.mutex);
    shard.kernels.erase(name);
  }
  return result;
}

std::vector<Result<Binary>> compile_all(const std::vector<KernelRequest>& requests) {
  std::vector<Result<Binary>> results(requests.size(), error_t{error_code_t::NVRTC_COMPILATION_FAILED, "Not compiled."});
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < requests.size(); i = next++) results[i] = compile(requests[i]);
  };
  const std::size_t threads = std::min<std::size_t>(requests.size(), std::clamp(std::thread::hardware_concurrency(), 1u, 8u));
  std::vector<std::thread> pool;
  for (std::size_t i = 1; i < threads; ++i) pool.emplace_back(work);
  work();
  for (std::thread& thread : pool) thread.join();
  return results;
}

CacheStatistics cache_statistics() {
  return {counters.memory_hits, counters.disk_hits, counters.compiled, counters.publish_failures, counters.corrupt};
}

void forget_memory_cache() {
  for (Shard& shard : shards) {
    const std::lock_guard lock(shard.mutex);
    shard.kernels.clear();
  }
}

const EmbeddedFile* find_embedded(std::string_view name) {
  for (const EmbeddedFile& file : embedded_files())
    if (name == file.name) return &file;
  return nullptr;
}

}  // namespace octavo::jit
