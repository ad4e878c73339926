// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "support.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "jit/nvrtc.h"

namespace octavo::testing {
namespace {

/// Before anything asks for the driver. A child has its environment from its parent.
const bool on_fake_driver = [] {
  setenv("OCTAVO_CUDA_DRIVER", OCTAVO_FAKE_DRIVER, 0);
  setenv("OCTAVO_FAKE_KERNELS", OCTAVO_FAKE_KERNEL_DIRS, 0);
  setenv("OCTAVO_CACHE_DIR", OCTAVO_FAKE_CACHE, 0);
  return true;
}();

template <class F>
F fake_symbol(const char* name) {
  void* library = dlopen(OCTAVO_FAKE_DRIVER, RTLD_NOW | RTLD_NOLOAD);
  return library ? reinterpret_cast<F>(dlsym(library, name)) : nullptr;
}

}  // namespace

TemporaryDirectory::TemporaryDirectory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "octavo_test.XXXXXX").string();
  if (const char* made = mkdtemp(pattern.data())) path_ = made;
}
TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ec;
  if (!path_.empty()) std::filesystem::remove_all(path_, ec);
}

int start_child(const std::string& test, const Variables& variables) {
  const std::string filter = "--gtest_filter=" + test;
  const int child = fork();
  if (child != 0) return child;
  for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  unsetenv("GTEST_OUTPUT");
  unsetenv("GTEST_SHARD_STATUS_FILE");
  unsetenv("GTEST_TOTAL_SHARDS");
  execl("/proc/self/exe", "test_cuda_host", filter.c_str(), "--gtest_also_run_disabled_tests", "--gtest_brief=1",
        static_cast<char*>(nullptr));
  _exit(127);
}

int wait_for(int child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

std::string fake_nvrtc_path() { return OCTAVO_FAKE_NVRTC; }

Counts fake_counts() {
  std::array<std::int64_t, 4> raw{};
  if (const auto read = fake_symbol<void (*)(std::int64_t*)>("fake_cuda_counts")) read(raw.data());
  return {raw[0], raw[1], raw[2], raw[3]};
}

void fail_launches(int count) {
  if (const auto set = fake_symbol<void (*)(int)>("fake_cuda_fail_launches")) set(count);
}

std::string no_nvrtc() { return jit::nvrtc_available().err_msg; }

}  // namespace octavo::testing
