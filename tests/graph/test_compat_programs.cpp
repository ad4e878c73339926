// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Compiles and runs tests/compat/programs.cpp, which is written for cudnn-frontend, against the compat header: C++17 and
// C++20, warnings as errors, with and without CUDA's headers where there are some.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace octavo::test {
namespace {

#if defined(OCTAVO_SOURCE_DIR) && defined(OCTAVO_LIBRARY) && defined(OCTAVO_CXX)

std::string run_command(std::string const& command, int& status) {
  std::string output;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (!pipe) return status = -1, "popen failed";
  char buffer[4096];
  while (std::fgets(buffer, sizeof buffer, pipe)) output += buffer;
  status = pclose(pipe);
  return output;
}

std::string root() { return OCTAVO_SOURCE_DIR; }

std::string flags(std::string const& standard) {
  return std::string(OCTAVO_CXX) + " -std=" + standard + " -Wall -Wextra -Wshadow -Werror -Wno-unused-function -I" + root() +
         "/include/octavo/compat -isystem " + root() + "/third_party " + OCTAVO_EXTRA_FLAGS;
}

class CompatPrograms : public ::testing::TestWithParam<std::string> {};

TEST_P(CompatPrograms, CompileAndRun) {
  auto const out = std::filesystem::temp_directory_path() / ("octavo_compat_" + GetParam() + "_" + std::to_string(getpid()));
  int status = 0;
  std::string text = run_command(flags(GetParam()) + " -O1 -DOCTAVO_COMPAT_STANDINS " + root() +
                                     "/tests/compat/programs.cpp -o " + out.string() + " " + OCTAVO_LIBRARY + " " + OCTAVO_LINK,
                                 status);
  ASSERT_EQ(status, 0) << text;
  text = run_command(OCTAVO_RUN + out.string(), status);
  EXPECT_EQ(status, 0) << text;
  EXPECT_NE(text.find("8 programs right"), std::string::npos) << text;
  std::filesystem::remove(out);
}

TEST_P(CompatPrograms, CompileWithCudaHeaders) {
  std::string const cuda = "/usr/local/cuda/include";
  if (!std::filesystem::exists(cuda + "/cuda_runtime.h")) GTEST_SKIP() << "no CUDA headers here";
  int status = 0;
  std::string const text =
      run_command(flags(GetParam()) + " -isystem " + cuda + " -fsyntax-only " + root() + "/tests/compat/programs.cpp", status);
  EXPECT_EQ(status, 0) << text;
}

TEST_P(CompatPrograms, CompileWithoutJson) {
  int status = 0;
  std::string const text = run_command(
      "printf '#include <cudnn_frontend.h>\\nint main() { cudnn_frontend::graph::Graph g; "
      "return g.validate().is_good() ? 0 : 1; }\\n' | " +
          flags(GetParam()) + " -DCUDNN_FRONTEND_SKIP_JSON_LIB -x c++ -fsyntax-only -",
      status);
  EXPECT_EQ(status, 0) << text;
}

INSTANTIATE_TEST_SUITE_P(Standards, CompatPrograms, ::testing::Values("c++17", "c++20"), [](auto const& which) {
  return which.param == "c++17" ? std::string("cpp17") : std::string("cpp20");
});

#endif

}  // namespace
}  // namespace octavo::test
