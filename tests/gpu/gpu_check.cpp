// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Every CUDA engine against the oracle on a real device, without a test framework: it also runs under compute-sanitizer.
//   gpu_check [--cases FILE]... [--random N] [--seed S] [--engine NAME] [--every-spec] [--modes] [--threads T] [--features]
//   [--time FILE]

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "device/cuda_device.h"
#include "features.h"
#include "verify/device_memory.h"
#include "verify/mode_problems.h"
#include "verify/random_problem.h"

namespace octavo::gpu_check {
namespace {

struct Settings {
  std::vector<std::string> files, timed;
  int random = 0, threads = 0, ordinal = 0;
  std::uint64_t seed = 1;
  std::string engine;
  bool every_spec = false, features = false, modes = false;
};

struct Tally {
  std::mutex mutex;
  std::map<std::string, std::pair<int, int>> engines;  ///< right, wrong
  int problems = 0, refused = 0;
};

void check_one(const Problem& problem, const verify::Options& base, const Settings& settings, const DeviceTraits& device,
               Tally& tally) {
  auto memory = verify::memory_for(device);
  verify::Options options = base;
  std::vector<std::string> lines;
  std::vector<std::pair<std::string, bool>> results;
  if (!memory) {
    lines.push_back(memory.error().err_msg);
    results.emplace_back("device", false);
  } else {
    options.memory = memory->get();
    std::unique_ptr<verify::Case> made;
    if (error_t e = verify::Case::make(problem, options, made); e.is_bad()) {
      lines.push_back(e.err_msg);
      results.emplace_back("oracle", false);
    } else {
      for (const EngineVerdict& row : verdicts(problem, device)) {
        if (!row.verdict || (!settings.engine.empty() && row.engine->name() != settings.engine)) continue;
        for (const PlanSpec& spec : row.engine->specs(problem, device)) {
          const verify::Report report = made->check(spec, device);
          results.emplace_back(std::string(row.engine->name()), report.right);
          if (!report.right)
            lines.push_back(spec.engine + (spec.config.empty() ? "" : ":" + spec.config) + ": " +
                            report.message.substr(0, 2000));
          if (!settings.every_spec) break;
        }
      }
    }
  }
  const std::lock_guard lock(tally.mutex);
  ++tally.problems;
  if (results.empty()) ++tally.refused;
  for (const auto& [engine, right] : results) ++(right ? tally.engines[engine].first : tally.engines[engine].second);
  if (!lines.empty()) {
    std::printf("WRONG %s (seed %llu%s%s)\n", problem.to_string().c_str(), static_cast<unsigned long long>(options.seed),
                options.constant_filter ? ", constant filter" : "", options.misalign_elements ? ", misaligned" : "");
    for (const std::string& line : lines) std::printf("  %s\n", line.c_str());
    std::fflush(stdout);
  }
}

std::vector<Problem> read_cases(const std::string& path, bool& good) {
  std::vector<Problem> problems;
  std::ifstream in(path);
  if (!in) {
    std::printf("WRONG cannot read %s\n", path.c_str());
    good = false;
  }
  for (std::string line; std::getline(in, line);) {
    const std::size_t hash = line.find('#');
    if (hash != std::string::npos) line.resize(hash);
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    Problem problem;
    error_t e = parse_problem(line, problem);
    if (e.is_good()) e = problem.validate();
    if (e.is_bad()) {
      std::printf("WRONG %s\n  %s\n", line.c_str(), e.err_msg.c_str());
      good = false;
      continue;
    }
    problems.push_back(problem);
  }
  return problems;
}

int run(const Settings& settings) {
  auto device = cuda::device(settings.ordinal);
  if (!device) {
    std::printf("WRONG %s\n", device.error().err_msg.c_str());
    return 1;
  }
  std::printf("device %s sm_%d, %d multiprocessors, %lld bytes of shared memory a block\n", device->name.c_str(), device->sm,
              device->sm_count, static_cast<long long>(device->smem_per_block));
  bool good = true;
  std::vector<std::pair<Problem, verify::Options>> work;
  for (const std::string& file : settings.files)
    for (const Problem& problem : read_cases(file, good)) work.emplace_back(problem, verify::Options{});
  if (settings.modes)
    for (const DataType_t input : {DataType_t::INT32, DataType_t::FLOAT, DataType_t::DOUBLE})
      for (const Problem& problem : verify::mode_problems(input)) {
        verify::Options options;
        options.fill = verify::Fill::edges;
        work.emplace_back(problem, options);
      }
  verify::Rng rng(settings.seed);
  verify::ProblemRange range;
  range.foreign_zero_points = true;
  for (int i = 0; i < settings.random; ++i) {
    verify::Options options;
    options.seed = settings.seed * 1000003 + static_cast<std::uint64_t>(i);
    options.runs = i % 4 == 0 ? 2 : 1;
    options.constant_filter = i % 5 == 0;
    options.misalign_elements = i % 3 == 0 ? 1 : 0;
    work.emplace_back(verify::random_problem(rng, range), options);
  }
  Tally tally;
  const auto start = std::chrono::steady_clock::now();
  std::atomic<std::size_t> next{0};
  const auto worker = [&] {
    for (std::size_t i = next++; i < work.size(); i = next++)
      check_one(work[i].first, work[i].second, settings, *device, tally);
  };
  const int threads =
      settings.threads > 0 ? settings.threads : static_cast<int>(std::min(std::thread::hardware_concurrency(), 16u));
  std::vector<std::thread> pool;
  for (int i = 1; i < threads; ++i) pool.emplace_back(worker);
  worker();
  for (std::thread& thread : pool) thread.join();
  for (const auto& [engine, counts] : tally.engines) {
    std::printf("%s: %d right, %d wrong\n", engine.c_str(), counts.first, counts.second);
    good = good && counts.second == 0;
  }
  if (!work.empty())
    std::printf("%d problems, %d that no engine took, %.1f s\n", tally.problems, tally.refused,
                std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  good = good && (tally.refused == 0 || !settings.engine.empty());
  if (settings.features) good = check_features(*device) & check_graph_features(*device) & good;
  for (const std::string& file : settings.timed) {
    const std::vector<Problem> problems = read_cases(file, good);
    for (const Problem& problem : problems) good = time_problem(problem, *device, settings.engine, settings.every_spec) && good;
  }
  std::printf(good ? "gpu_check: all right\n" : "gpu_check: FAILED\n");
  return good ? 0 : 1;
}

}  // namespace
}  // namespace octavo::gpu_check

int main(int argc, char** argv) {
  octavo::gpu_check::Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&]() -> std::string {
      if (i + 1 >= argc) {
        std::printf("%s needs a value\n", word.c_str());
        std::exit(2);
      }
      return argv[++i];
    };
    if (word == "--cases") {
      settings.files.push_back(value());
    } else if (word == "--time") {
      settings.timed.push_back(value());
    } else if (word == "--random") {
      settings.random = std::atoi(value().c_str());
    } else if (word == "--seed") {
      settings.seed = std::strtoull(value().c_str(), nullptr, 10);
    } else if (word == "--threads") {
      settings.threads = std::atoi(value().c_str());
    } else if (word == "--device") {
      settings.ordinal = std::atoi(value().c_str());
    } else if (word == "--engine") {
      settings.engine = value();
    } else if (word == "--every-spec") {
      settings.every_spec = true;
    } else if (word == "--modes") {
      settings.modes = true;
    } else if (word == "--features") {
      settings.features = true;
    } else {
      std::printf("unknown option %s\n", word.c_str());
      return 2;
    }
  }
  return octavo::gpu_check::run(settings);
}
