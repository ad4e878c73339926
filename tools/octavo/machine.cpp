// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "machine.h"

#include <fmt/format.h>

#include <ctime>
#include <fstream>

#include "pinning.h"

namespace octavo::cli {
namespace {

std::vector<std::string> g_command_line;

std::string cpuinfo(const char* key) {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (line.rfind(key, 0) != 0) continue;
    const std::string rest = line.substr(std::string(key).size());
    if (rest.find_first_not_of(" \t:") == std::string::npos || (rest[0] != ' ' && rest[0] != '\t' && rest[0] != ':')) continue;
    return rest.substr(rest.find_first_not_of(" \t:"));
  }
  return {};
}

}  // namespace

std::string machine_name(const DeviceTraits& device) {
  std::string name = cpuinfo("model name");
  if (name.empty()) name = device.name;
  const std::string family = cpuinfo("cpu family"), model = cpuinfo("model\t");
  if (!family.empty() && !model.empty()) name += fmt::format(" (family {} model {})", family, model);
  std::string features;
  const auto has = [&features](bool yes, const char* what) {
    if (yes) features += (features.empty() ? "" : " ") + std::string(what);
  };
  has(device.isa == CpuIsa::avx2, "AVX2");
  has(device.isa >= CpuIsa::avx512, "AVX-512");
  has(device.isa >= CpuIsa::avx512_vnni, "VNNI");
  has(device.avx512_bf16, "BF16");
  has(device.isa == CpuIsa::neon_dotprod, "NEON dotprod");
  if (device.isa >= CpuIsa::avx2) features += device.amx_int8 ? ", AMX" : ", no AMX";
  const std::size_t cpus = start_cpus().size();
  return fmt::format("{}{}{}, {} CPU{}", name, features.empty() ? "" : ", ", features, cpus, cpus == 1 ? "" : "s");
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
  return text;
}

void remember_command_line(int argc, char** argv) {
  g_command_line.assign(argv, argv + argc);
  start_cpus();
}

const std::vector<std::string>& command_line() { return g_command_line; }

std::string command_text() {
  std::string text = "octavo";
  for (std::size_t i = 1; i < g_command_line.size(); ++i) {
    const std::string& word = g_command_line[i];
    const bool plain = word.find_first_of(" \"'%()$;|&*") == std::string::npos;
    text += plain ? " " + word : " '" + word + "'";
  }
  return text;
}

}  // namespace octavo::cli
