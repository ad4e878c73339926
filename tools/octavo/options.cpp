// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "command.h"
#include "core/epilogue_shorthand.h"
#include "core/parallel.h"
#include "core/text.h"
#include "device/cuda_device.h"

namespace octavo::cli {
namespace {

std::vector<const Command*>& registry() {
  static std::vector<const Command*> commands;
  return commands;
}

std::vector<std::string> isa_names() {
  std::vector<std::string> names;
  for (CpuIsa isa : {CpuIsa::portable, CpuIsa::neon_dotprod, CpuIsa::avx2, CpuIsa::avx512, CpuIsa::avx512_vnni, CpuIsa::amx})
    names.emplace_back(to_string(isa));
  return names;
}

}  // namespace

void require(const error_t& error) {
  if (error.is_bad()) throw UsageError(error.get_message());
}

void require_run(const error_t& error) {
  if (error.is_bad()) throw RunError(error.get_message());
}

Command::Command(int order_, const char* name_, const char* summary_, Setup setup_)
    : order(order_), name(name_), summary(summary_), setup(setup_) {
  registry().push_back(this);
}

std::vector<const Command*> Command::all() {
  std::vector<const Command*> commands = registry();
  std::sort(commands.begin(), commands.end(), [](const Command* a, const Command* b) { return a->order < b->order; });
  return commands;
}

void require_choice(const std::string& option, const std::string& value, const std::vector<std::string>& choices) {
  if (std::find(choices.begin(), choices.end(), value) != choices.end()) return;
  std::string list;
  for (const std::string& choice : choices) list += (list.empty() ? "" : ", ") + choice;
  const std::string near = text::nearest(value, choices);
  throw UsageError(option + " is '" + value + "'; " +
                   (near.empty() ? "it must be one of " + list + "." : "did you mean '" + near + "'? (one of " + list + ")"));
}

void MachineOptions::add(CLI::App& app) {
  app.add_option("--threads", threads, "CPU threads (default: OCTAVO_NUM_THREADS, else all)")->check(CLI::Range(1, 4096));
  app.add_option("--isa", isa, "use no instruction set above this: portable, avx2, avx512, avx512_vnni, amx, neon_dotprod");
}

bool MachineOptions::isa_forced() const { return !isa.empty() || std::getenv("OCTAVO_CPU_ISA") != nullptr; }

DeviceTraits MachineOptions::device() const {
  if (!isa.empty()) {
    require_choice("--isa", isa, isa_names());
    setenv("OCTAVO_CPU_ISA", isa.c_str(), 1);
  }
  if (threads > 0) set_num_threads(threads);
  DeviceTraits device = host_cpu();
  device.threads = num_threads();
  if (!isa.empty() && isa != to_string(device.isa))
    throw UsageError("--isa is '" + isa + "', which this processor does not have; its best is '" + to_string(device.isa) +
                     "'.");
  return device;
}

void DeviceOption::add(CLI::App& app) { app.add_option("--device", name, "cpu (default), cuda or cuda:N"); }

DeviceTraits DeviceOption::device(const MachineOptions& machine) const {
  const DeviceTraits host = machine.device();
  if (name == "cpu") return host;
  int ordinal = 0;
  if (name.rfind("cuda:", 0) == 0) {
    const std::string digits = name.substr(5);
    if (digits.empty() || digits.size() > 3 || digits.find_first_not_of("0123456789") != std::string::npos)
      throw UsageError("--device is '" + name + "'; after 'cuda:' comes the device's number.");
    ordinal = std::atoi(digits.c_str());
  } else {
    require_choice("--device", name, {"cpu", "cuda"});
  }
  const auto device = cuda::device(ordinal);
  if (!device) throw RunError(device.error().get_message());
  return *device;
}

std::vector<Problem> read_cases(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw UsageError("--cases '" + path + "' cannot be read; give a text file with one problem a line.");
  std::vector<Problem> problems;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (const std::size_t hash = line.find('#'); hash != std::string::npos) line.resize(hash);
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    Problem problem;
    if (const error_t error = parse_problem(line, problem); error.is_bad())
      throw UsageError(path + ":" + std::to_string(number) + ": " + error.get_message());
    problems.push_back(problem);
  }
  return problems;
}

void ProblemOptions::add(CLI::App& app, bool required) {
  auto* option = app.add_option("problem", line,
                                "the problem in one line, quoted: \"fprop n=10 c=128 size=72x120 k=128 filter=3x3 pad=1x1 "
                                "x=s8:nhwc w=s8:nhwc y=s8:nhwc\"");
  if (required) option->required();
  app.add_option("--epilogue", epilogue, "what follows the convolution: scale|scale1, bias, add, relu joined by '+'");
}

Problem ProblemOptions::problem() const {
  Problem problem;
  require(parse_problem(line, problem));
  EpilogueParts parts;
  require(parse_epilogue_parts(epilogue, parts));
  require(apply_epilogue_parts(parts, problem));
  require(problem.validate());
  return problem;
}

}  // namespace octavo::cli
