// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// cases/*.txt: every line parses, prints back as itself, and (smoke, regressions) runs on every engine. Oracle: cpu_reference
// and, where small enough, the independent evaluation.

#include <fstream>

#include "common/golden.h"

namespace octavo::testing {
namespace {

std::vector<std::string> lines_of(const std::string& name) {
  std::ifstream file(std::string(OCTAVO_SOURCE_DIR) + "/cases/" + name);
  EXPECT_TRUE(file.good()) << name;
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line[0] != '#') lines.push_back(line);
  return lines;
}

TEST(CaseLists, EveryLineParsesAndPrintsBack) {
  for (const char* name : {"smoke.txt", "layers.txt", "regressions.txt"}) {
    const std::vector<std::string> lines = lines_of(name);
    EXPECT_GE(lines.size(), 19u) << name;
    for (const std::string& line : lines) {
      const Problem p = parse(line);
      EXPECT_EQ(parse(p.to_string()), p) << line;
    }
  }
}

TEST(CaseLists, LayersAreTheTable) {
  std::ifstream table(std::string(OCTAVO_SOURCE_DIR) + "/bench/layers.csv");
  std::size_t rows = 0;
  for (std::string line; std::getline(table, line);) rows += !line.empty();
  EXPECT_EQ(lines_of("layers.txt").size() + 1, rows);
}

void run_all(const char* name) {
  std::uint64_t seed = 1;
  for (const std::string& line : lines_of(name))
    for (const verify::Fill fill : {verify::Fill::integers, verify::Fill::reals}) Golden::random(line, seed++, fill).run();
}

TEST(CaseLists, SmokeOnEveryEngine) { run_all("smoke.txt"); }
TEST(CaseLists, RegressionsOnEveryEngine) { run_all("regressions.txt"); }

}  // namespace
}  // namespace octavo::testing
