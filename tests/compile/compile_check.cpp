// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Every kernel of lines.txt compiled by NVRTC for every architecture, with no GPU: no spills, no local memory, and registers
// and shared memory as in expected.txt. Registers belong to one NVRTC version; with another, only spills, local memory and
// shared memory are checked.
//   compile_check LINES EXPECTED [--update]      exit status 77: not observed, there is no NVRTC

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "device/cuda_device.h"
#include "engines/cuda_common/cuda_engine.h"
#include "jit/nvrtc.h"

namespace octavo {
namespace {

constexpr const char* kArchitectures[] = {"sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90a", "sm_100a", "sm_120a"};

struct Item {
  std::string key;  ///< line number, engine, configuration, kernel of the plan, architecture
  jit::KernelRequest request;
};

bool collect(const std::string& path, std::vector<Item>& items, std::map<std::string, int>& kernels) {
  std::ifstream in(path);
  if (!in) return std::printf("WRONG cannot read %s\n", path.c_str()), false;
  int number = 0;
  bool good = true;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    ++number;
    const bool all = line.rfind("all ", 0) == 0;
    if (all) line.erase(0, 4);
    Problem problem;
    error_t e = parse_problem(line, problem);
    if (e.is_good()) e = problem.validate();
    if (e.is_bad()) {
      std::printf("WRONG %s\n  %s\n", line.c_str(), e.err_msg.c_str());
      good = false;
      continue;
    }
    for (const char* name : kArchitectures) {
      auto device = cuda::device_by_name(name);
      if (!device) return std::printf("WRONG %s\n", device.error().err_msg.c_str()), false;
      for (const EngineVerdict& row : verdicts(problem, *device)) {
        const auto* engine = dynamic_cast<const cuda::CudaEngine*>(row.engine);
        if (!row.verdict || !engine) continue;
        std::vector<PlanSpec> specs = engine->specs(problem, *device);
        if (!all && specs.size() > 1) specs.resize(1);
        for (const PlanSpec& spec : specs) {
          auto requests = engine->requests(problem, spec, *device);
          if (!requests) {
            std::printf("WRONG %s:%s %s\n  %s\n", spec.engine.c_str(), spec.config.c_str(), line.c_str(),
                        requests.error().err_msg.c_str());
            good = false;
            continue;
          }
          for (std::size_t i = 0; i < requests->size(); ++i) {
            ++kernels[spec.engine];
            items.push_back({"line " + std::to_string(number) + " " + spec.engine +
                                 (spec.config.empty() ? "" : ":" + spec.config) + " kernel " + std::to_string(i) + " " + name,
                             (*requests)[i]});
          }
        }
      }
    }
  }
  return good;
}

std::map<std::string, std::string> read_expected(const std::string& path, std::string& version) {
  std::map<std::string, std::string> rows;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    const std::size_t at = line.find(" = ");
    if (at == std::string::npos) continue;
    if (line.substr(0, at) == "nvrtc")
      version = line.substr(at + 3);
    else
      rows[line.substr(0, at)] = line.substr(at + 3);
  }
  return rows;
}

int run(const std::string& lines, const std::string& expected_path, bool update) {
  jit::NvrtcVersion version;
  if (const error_t e = jit::nvrtc_available(&version); e.is_bad()) {
    std::printf("not observed: %s\n", e.err_msg.c_str());
    return 77;
  }
  // A cache of its own, so that everything is compiled now.
  std::string scratch = (std::filesystem::temp_directory_path() / "octavo_compile.XXXXXX").string();
  if (!mkdtemp(scratch.data())) return std::printf("WRONG no temporary directory\n"), 1;
  setenv("OCTAVO_CACHE_DIR", scratch.c_str(), 1);
  // NVRTC has a cache of its own, and what comes from there has no log: no registers, and no spills to be seen.
  setenv("CUDA_CACHE_DISABLE", "1", 1);
  setenv("CUDA_CACHE_PATH", (scratch + "/nvrtc").c_str(), 1);
  std::vector<Item> items;
  std::map<std::string, int> kernels;
  bool good = collect(lines, items, kernels);
  std::vector<jit::KernelRequest> requests;
  for (const Item& item : items) requests.push_back(item.request);
  const auto begin = std::chrono::steady_clock::now();
  const auto results = jit::compile_all(requests);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::error_code ignored;
  std::filesystem::remove_all(scratch, ignored);

  const std::string now = std::to_string(version.major) + "." + std::to_string(version.minor);
  std::string then;
  std::map<std::string, std::string> expected = read_expected(expected_path, then);
  std::string table = "nvrtc = " + now + "\n";
  std::vector<double> times;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string& key = items[i].key;
    if (!results[i]) {
      std::printf("WRONG %s\n  %s\n", key.c_str(), results[i].error().err_msg.substr(0, 3000).c_str());
      good = false;
      continue;
    }
    const jit::KernelResources& r = (*results[i])->resources;
    times.push_back((*results[i])->compile_ms);
    if (r.spill_bytes != 0 || r.local_bytes != 0) {
      std::printf("WRONG %s: %d bytes spilled, %d bytes of local memory; both must be 0\n", key.c_str(), r.spill_bytes,
                  r.local_bytes);
      good = false;
    }
    if (r.registers <= 0) {
      std::printf("WRONG %s: the compiler's log names no registers\n", key.c_str());
      good = false;
    }
    const std::string shared = "shared " + std::to_string(r.static_shared);
    const std::string row = shared + " registers " + std::to_string(r.registers);
    table += key + " = " + row + "\n";
    if (update) continue;
    const auto found = expected.find(key);
    if (found == expected.end()) {
      std::printf("WRONG %s: %s, and expected.txt does not have it\n", key.c_str(), row.c_str());
      good = false;
      continue;
    }
    const bool same = then == now ? found->second == row : found->second.rfind(shared + " ", 0) == 0;
    if (!same) {
      std::printf("WRONG %s: %s, expected %s\n", key.c_str(), row.c_str(), found->second.c_str());
      good = false;
    }
    expected.erase(found);
  }
  if (update) {
    std::ofstream(expected_path) << "# Written by compile_check --update.\n" << table;
  } else {
    for (const auto& [key, row] : expected) {
      std::printf("WRONG %s is in expected.txt, and no kernel of lines.txt has that name now\n", key.c_str());
      good = false;
    }
    if (then != now)
      std::printf("registers not observed: expected.txt is of NVRTC %s, this is %s\n", then.c_str(), now.c_str());
  }
  for (const auto& [engine, count] : kernels) std::printf("%s: %d kernels\n", engine.c_str(), count);
  if (times.empty()) return std::printf("WRONG nothing was compiled\n"), 1;
  std::sort(times.begin(), times.end());
  std::printf("%zu compilations in %.1f s; each %.0f ms median, %.0f ms at most\n", times.size(), seconds,
              times[times.size() / 2], times.back());
  return good ? 0 : 1;
}

}  // namespace
}  // namespace octavo

int main(int argc, char** argv) {
  if (argc < 3) {
    std::printf("compile_check LINES EXPECTED [--update]\n");
    return 2;
  }
  return octavo::run(argv[1], argv[2], argc > 3 && std::string(argv[3]) == "--update");
}
