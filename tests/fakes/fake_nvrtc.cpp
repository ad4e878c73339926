// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// An NVRTC for tests of the kernel cache, loaded through OCTAVO_NVRTC: the "binary" names the source and the options it was
// made from, so a mix-up shows. Counts what it does and how many compilations ran at the same time.
//   OCTAVO_FAKE_NVRTC_MEET   each compilation waits (at most five seconds) until so many are inside at once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>

namespace {

struct Program {
  std::string source, name, binary, log;
};
std::atomic<int> inside{0}, peak{0}, compiled{0};

int wanted() {
  const char* text = std::getenv("OCTAVO_FAKE_NVRTC_MEET");
  return text ? std::atoi(text) : 1;
}

}  // namespace

extern "C" {

const char* nvrtcGetErrorString(int) { return "NVRTC_ERROR_COMPILATION"; }
int nvrtcVersion(int* major, int* minor) { return *major = 13, *minor = 7, 0; }
int nvrtcCreateProgram(Program** p, const char* source, const char* name, int, const char* const*, const char* const*) {
  return *p = new Program{source, name, {}, {}}, 0;
}
int nvrtcDestroyProgram(Program** p) { return delete *p, *p = nullptr, 0; }
int nvrtcCompileProgram(Program* p, int count, const char* const* options) {
  const int now = ++inside;
  for (int seen = peak; seen < now && !peak.compare_exchange_weak(seen, now);) {
  }
  ++compiled;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (peak < wanted() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::string all = p->source;
  for (int i = 0; i < count; ++i) all += std::string("\n") + options[i];
  --inside;
  if (all.find("#error") != std::string::npos) return p->log = "fake: #error", 6;
  p->binary = "\177ELF" + std::to_string(std::hash<std::string>{}(all)) + std::string(20000, 'b');
  p->log = "ptxas info : Used 33 registers, 1024 bytes smem\n 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n";
  return 0;
}
int nvrtcGetCUBINSize(Program* p, std::size_t* size) { return *size = p->binary.size(), 0; }
int nvrtcGetCUBIN(Program* p, char* out) { return std::memcpy(out, p->binary.data(), p->binary.size()), 0; }
int nvrtcGetProgramLogSize(Program* p, std::size_t* size) { return *size = p->log.size() + 1, 0; }
int nvrtcGetProgramLog(Program* p, char* out) { return std::memcpy(out, p->log.c_str(), p->log.size() + 1), 0; }

int fake_nvrtc_peak() { return peak; }
int fake_nvrtc_compiled() { return compiled; }

}  // extern "C"
