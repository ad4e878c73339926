// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// The kernel cache: oracle = the bytes that were published, recomputed from the entry's number. Compilations go to a fake
// NVRTC, so none of this needs CUDA.

#include <dlfcn.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "jit/disk_cache.h"
#include "jit/kernel_request.h"
#include "support.h"
#include "verify/random.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;
using jit::Lookup;
using testing::on_fake_nvrtc;
using testing::start_child;
using testing::TemporaryDirectory;
using testing::Variables;
using testing::wait_for;

constexpr int kEntries = 1000;

std::string entry_name(int i) { return "engine.kernel.sm_90a." + std::to_string(i) + ".13-0"; }
std::string entry_source(int i) {
  return "// source " + std::to_string(i) + std::string(static_cast<std::size_t>(i % 97) * 50, 's');
}
jit::KernelBinary entry_binary(int i) {
  jit::KernelBinary binary;
  binary.cubin =
      "\177ELF" + std::to_string(i) + std::string(static_cast<std::size_t>(i % 89) * 700, static_cast<char>('a' + i % 26));
  binary.resources.registers = i % 255;
  return binary;
}
std::string cache_of(const char* variable = "OCTAVO_CACHE_DIR") { return std::string(std::getenv(variable)) + "/kernels"; }

Lookup look_up(const std::string& directory, int i, bool& same) {
  jit::KernelBinary found;
  const Lookup lookup = jit::find_on_disk(directory, entry_name(i), entry_source(i), found);
  const jit::KernelBinary wanted = entry_binary(i);
  same = lookup != Lookup::hit || (found.cubin == wanted.cubin && found.resources.registers == wanted.resources.registers);
  return lookup;
}

jit::KernelRequest request(int i) {
  jit::KernelRequest r;
  r.engine = "test";
  r.kernel = "kernel" + std::to_string(i);
  r.headers = {"ptx/types.cuh"};
  r.stub = "extern \"C\" __global__ void octavo_kernel(int* p) { *p = " + std::to_string(i) + "; }\n";
  r.arch = "sm_90a";
  return r;
}

// ---- children ---------------------------------------------------------------------------------------------------------

TEST(Child, DISABLED_publish_all) {
  bool same = false;
  for (int i = 0; i < kEntries; ++i)
    if (look_up(cache_of(), i, same) != Lookup::hit) jit::publish(cache_of(), entry_name(i), entry_source(i), entry_binary(i));
}

/// Compiles OCTAVO_TEST_COUNT kernels; all must come out, and the statistics must say how.
TEST(Child, DISABLED_compile) {
  if (std::getenv("OCTAVO_TEST_FILE_LIMIT")) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  }
  if (std::getenv("OCTAVO_TEST_DROP_ROOT") && geteuid() == 0) {
    ASSERT_EQ(setgid(65534), 0);
    ASSERT_EQ(setuid(65534), 0);
  }
  const int count = std::atoi(std::getenv("OCTAVO_TEST_COUNT"));
  std::vector<jit::KernelRequest> requests;
  for (int i = 0; i < count; ++i) requests.push_back(request(i));
  const auto results = jit::compile_all(requests);
  for (int i = 0; i < count; ++i) {
    const auto& result = results[static_cast<std::size_t>(i)];
    ASSERT_TRUE(result.ok()) << result.error().err_msg;
    EXPECT_EQ((*result)->cubin.substr(0, 4), "\177ELF");
    EXPECT_EQ((*result)->resources.registers, 33);
  }
  const jit::CacheStatistics s = jit::cache_statistics();
  const auto expect = [&](const char* variable, std::int64_t value) {
    if (const char* text = std::getenv(variable)) {
      EXPECT_EQ(value, std::atoi(text)) << variable;
    }
  };
  expect("OCTAVO_TEST_COMPILED", s.compiled);
  expect("OCTAVO_TEST_DISK_HITS", s.disk_hits);
  expect("OCTAVO_TEST_CORRUPT", s.corrupt);
  expect("OCTAVO_TEST_FAILURES", s.publish_failures);
  EXPECT_EQ(s.compiled + s.disk_hits, count);
}

TEST(Child, DISABLED_side_by_side) {
  const auto results = jit::compile_all({request(0), request(1)});
  ASSERT_TRUE(results[0].ok() && results[1].ok());
  void* fake = dlopen(testing::fake_nvrtc_path().c_str(), RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(fake, nullptr);
  EXPECT_EQ(reinterpret_cast<int (*)()>(dlsym(fake, "fake_nvrtc_peak"))(), 2) << "two kernels did not compile at the same time";
}

TEST(Child, DISABLED_one_kernel_many_threads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([] {
      for (int i = 0; i < 5; ++i) EXPECT_TRUE(jit::compile(request(i)).ok());
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(jit::cache_statistics().compiled, 5);
  EXPECT_EQ(jit::cache_statistics().memory_hits, 35);
}

TEST(Child, DISABLED_errors) {
  jit::KernelRequest bad = request(0);
  bad.stub += "#error\n";
  const auto result = jit::compile(bad);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, error_code_t::NVRTC_COMPILATION_FAILED);
  EXPECT_NE(result.error().err_msg.find("fake: #error"), std::string::npos) << result.error().err_msg;
  bad = request(0);
  bad.headers = {"no/such.cuh"};
  const auto missing = jit::compile(bad);
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().err_msg.find("no/such.cuh"), std::string::npos);
  setenv("OCTAVO_JIT", "0", 1);
  const auto forbidden = jit::compile(request(7));
  ASSERT_FALSE(forbidden.ok());
  EXPECT_NE(forbidden.error().err_msg.find("OCTAVO_JIT=0"), std::string::npos);
  unsetenv("OCTAVO_JIT");
  EXPECT_TRUE(jit::compile(request(7)).ok()) << "a refusal must not be remembered";
}

/// No NVRTC in this process: a shipped cache serves.
TEST(Child, DISABLED_without_nvrtc) {
  const auto result = jit::compile(request(0));
  ASSERT_TRUE(result.ok()) << result.error().err_msg;
  EXPECT_TRUE((*result)->from_disk);
  EXPECT_FALSE(jit::compile(request(1)).ok());
}

// ---- tests ------------------------------------------------------------------------------------------------------------

TEST(JitCache, killed_in_the_middle_of_a_thousand_publishes) {
  const TemporaryDirectory directory;
  const Variables variables{{"OCTAVO_CACHE_DIR", directory.path()}};
  const std::string cache = directory.path() + "/kernels";
  verify::Rng rng(7);
  int killed = 0;
  bool same = false;
  for (int round = 0; round < 25; ++round) {
    const int child = start_child("Child.DISABLED_publish_all", variables);
    // Readers beside the writer: whole entries or none, at every moment.
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(rng.between(15, 120));
    while (std::chrono::steady_clock::now() < until) {
      const int i = static_cast<int>(rng.between(0, kEntries - 1));
      ASSERT_NE(look_up(cache, i, same), Lookup::corrupt) << entry_name(i);
      ASSERT_TRUE(same) << entry_name(i);
    }
    ASSERT_EQ(kill(child, SIGKILL), 0);
    killed += wait_for(child) == 128 + SIGKILL;
    for (int i = 0; i < kEntries; ++i) {
      ASSERT_NE(look_up(cache, i, same), Lookup::corrupt) << entry_name(i) << " after kill " << round;
      ASSERT_TRUE(same) << entry_name(i);
    }
  }
  EXPECT_GT(killed, 10) << "the children were done before they were killed: the test saw nothing";
  ASSERT_EQ(wait_for(start_child("Child.DISABLED_publish_all", variables)), 0);
  for (int i = 0; i < kEntries; ++i) {
    ASSERT_EQ(look_up(cache, i, same), Lookup::hit) << entry_name(i);
    ASSERT_TRUE(same);
  }
}

TEST(JitCache, two_processes_publish_the_same_thousand) {
  const TemporaryDirectory directory;
  const Variables variables{{"OCTAVO_CACHE_DIR", directory.path()}};
  const int a = start_child("Child.DISABLED_publish_all", variables);
  const int b = start_child("Child.DISABLED_publish_all", variables);
  EXPECT_EQ(wait_for(a), 0);
  EXPECT_EQ(wait_for(b), 0);
  bool same = false;
  for (int i = 0; i < kEntries; ++i) {
    ASSERT_EQ(look_up(directory.path() + "/kernels", i, same), Lookup::hit) << entry_name(i);
    ASSERT_TRUE(same);
  }
  for (const auto& entry : fs::directory_iterator(directory.path() + "/kernels"))
    EXPECT_NE(entry.path().filename().string().substr(0, 3), "tmp") << "scratch left behind";
}

TEST(JitCache, two_processes_share_what_they_compile) {
  const TemporaryDirectory directory;
  Variables variables = on_fake_nvrtc(directory.path());
  variables["OCTAVO_TEST_COUNT"] = "40";
  const int a = start_child("Child.DISABLED_compile", variables);
  const int b = start_child("Child.DISABLED_compile", variables);
  EXPECT_EQ(wait_for(a), 0);
  EXPECT_EQ(wait_for(b), 0);
  variables["OCTAVO_TEST_COMPILED"] = "0";
  variables["OCTAVO_TEST_DISK_HITS"] = "40";
  EXPECT_EQ(wait_for(start_child("Child.DISABLED_compile", variables)), 0);
}

TEST(JitCache, corrupt_entries_cost_only_time) {
  const TemporaryDirectory directory;
  Variables variables = on_fake_nvrtc(directory.path());
  variables["OCTAVO_TEST_COUNT"] = "6";
  variables["OCTAVO_TEST_COMPILED"] = "6";
  ASSERT_EQ(wait_for(start_child("Child.DISABLED_compile", variables)), 0);
  std::vector<fs::path> entries;
  for (const auto& entry : fs::directory_iterator(directory.path() + "/kernels")) entries.push_back(entry.path());
  ASSERT_EQ(entries.size(), 6u);
  std::sort(entries.begin(), entries.end());
  fs::resize_file(entries[0] / "kernel.cubin", 100);            // torn
  std::ofstream(entries[1] / "meta.json") << "{\"cubin\": 3";   // no JSON
  fs::remove(entries[2] / "meta.json");                         // half an entry
  std::ofstream(entries[3] / "kernel.cu") << "another kernel";  // a digest that collides
  {
    std::fstream file(entries[4] / "kernel.cubin", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(1000);
    file.put('X');  // one byte
  }
  variables["OCTAVO_TEST_COMPILED"] = "5";
  variables["OCTAVO_TEST_DISK_HITS"] = "1";
  variables["OCTAVO_TEST_CORRUPT"] = "5";
  EXPECT_EQ(wait_for(start_child("Child.DISABLED_compile", variables)), 0);
  variables["OCTAVO_TEST_COMPILED"] = "0";  // and it is whole again
  variables["OCTAVO_TEST_DISK_HITS"] = "6";
  variables["OCTAVO_TEST_CORRUPT"] = "0";
  EXPECT_EQ(wait_for(start_child("Child.DISABLED_compile", variables)), 0);
}

TEST(JitCache, a_cache_that_takes_nothing_costs_only_time) {
  const TemporaryDirectory directory;
  fs::create_directories(directory.path() + "/full");
  std::ofstream(directory.path() + "/file") << "no directory";
  fs::create_directories(directory.path() + "/read_only/kernels");
  fs::permissions(directory.path(), fs::perms(0755));
  fs::permissions(directory.path() + "/read_only/kernels", fs::perms(0555));
  struct Case {
    const char *place, *variable;
  };
  for (const Case& c : {Case{"/full", "OCTAVO_TEST_FILE_LIMIT"}, Case{"/file", "OCTAVO_TEST_NOTHING"},
                        Case{"/read_only", "OCTAVO_TEST_DROP_ROOT"}}) {
    Variables variables = on_fake_nvrtc(directory.path() + c.place);
    variables["OCTAVO_TEST_COUNT"] = "4";
    variables["OCTAVO_TEST_COMPILED"] = "4";
    variables["OCTAVO_TEST_FAILURES"] = "4";
    variables[c.variable] = "1";
    EXPECT_EQ(wait_for(start_child("Child.DISABLED_compile", variables)), 0) << c.place;
  }
  // Nothing half-made stays on the full disk, and with room again it fills.
  EXPECT_TRUE(fs::is_empty(directory.path() + "/full/kernels"));
  Variables variables = on_fake_nvrtc(directory.path() + "/full");
  variables["OCTAVO_TEST_COUNT"] = "4";
  variables["OCTAVO_TEST_FAILURES"] = "0";
  EXPECT_EQ(wait_for(start_child("Child.DISABLED_compile", variables)), 0);
  // What a read-only cache holds is used.
  variables["OCTAVO_TEST_DROP_ROOT"] = "1";
  variables["OCTAVO_TEST_DISK_HITS"] = "4";
  fs::permissions(directory.path() + "/full/kernels", fs::perms(0555));
  EXPECT_EQ(wait_for(start_child("Child.DISABLED_compile", variables)), 0);
  fs::permissions(directory.path() + "/full/kernels", fs::perms::owner_all);
}

TEST(JitCache, several_kernels_compile_side_by_side) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "not observed: this machine has one CPU";
  const TemporaryDirectory directory;
  Variables variables = on_fake_nvrtc(directory.path());
  variables["OCTAVO_FAKE_NVRTC_MEET"] = "2";
  EXPECT_EQ(wait_for(start_child("Child.DISABLED_side_by_side", variables)), 0);
}

TEST(JitCache, threads_that_want_one_kernel_compile_it_once) {
  const TemporaryDirectory directory;
  EXPECT_EQ(wait_for(start_child("Child.DISABLED_one_kernel_many_threads", on_fake_nvrtc(directory.path()))), 0);
}

TEST(JitCache, errors_name_their_cause_and_are_not_remembered) {
  const TemporaryDirectory directory;
  EXPECT_EQ(wait_for(start_child("Child.DISABLED_errors", on_fake_nvrtc(directory.path()))), 0);
}

TEST(JitCache, a_shipped_cache_serves_without_nvrtc) {
  const TemporaryDirectory directory;
  Variables variables = on_fake_nvrtc(directory.path());
  variables["OCTAVO_TEST_COUNT"] = "1";
  ASSERT_EQ(wait_for(start_child("Child.DISABLED_compile", variables)), 0);
  variables["OCTAVO_NVRTC"] = directory.path() + "/no_such_library.so";
  EXPECT_EQ(wait_for(start_child("Child.DISABLED_without_nvrtc", variables)), 0);
}

TEST(JitCache, keys_differ_in_everything_that_matters) {
  const std::string base = jit::kernel_name(request(0));
  const auto changed = [&](auto&& change) {
    jit::KernelRequest r = request(0);
    change(r);
    return jit::kernel_name(r) != base;
  };
  EXPECT_EQ(jit::kernel_name(request(0)), base);
  EXPECT_TRUE(changed([](auto& r) { r.arch = "sm_90"; }));
  EXPECT_TRUE(changed([](auto& r) { r.options.push_back("--maxrregcount=64"); }));
  EXPECT_TRUE(changed([](auto& r) { r.headers.push_back("conv/geometry.cuh"); }));
  EXPECT_TRUE(changed([](auto& r) { r.stub += " "; }));
  EXPECT_TRUE(changed([](auto& r) { r.entry = "other"; }));
}

}  // namespace
}  // namespace octavo
