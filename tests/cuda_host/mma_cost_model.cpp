// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// The cost model against times measured on an H200 (bench/measured/h200-mma.csv): how much slower is its pick than the best
// configuration measured for the same problem.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

#include "device/cuda_device.h"
#include "engines/cuda_mma/cost_model.h"

namespace octavo::cuda::mma {
namespace {

struct Row {
  Config config;
  double us;
};
struct Group {
  Problem problem;
  std::vector<Row> rows;
};

std::vector<std::string> split(const std::string& line, char by) {
  std::vector<std::string> words;
  std::stringstream in(line);
  for (std::string word; std::getline(in, word, by);) words.push_back(word);
  return words;
}

/// mma_bench's names: "halo k128 w2x2 g2 t4 st5 res", "igemm 128x128x64 w2x2 st4 b2 split2", both with " nc32" or not.
bool parse(const std::string& text, Config& c, bool& nc32) {
  nc32 = text.find("nc32") != std::string::npos;
  c = Config{};
  char resident[8] = {};
  if (std::sscanf(text.c_str(), "halo%*[^k]k%d w%dx%d g%d t%d st%d %3s", &c.n, &c.warps_m, &c.warps_n, &c.groups, &c.m,
                  &c.stages, resident) == 7) {
    c.family = Family::halo, c.k = 0, c.resident = std::string(resident) == "res";
    return true;
  }
  if (std::sscanf(text.c_str(), "igemm %dx%dx%d w%dx%d st%d b%d", &c.m, &c.n, &c.k, &c.warps_m, &c.warps_n, &c.stages,
                  &c.blocks) != 7)
    return false;
  if (const auto at = text.find("split"); at != std::string::npos) c.splits = std::atoi(text.c_str() + at + 5);
  return true;
}

std::map<std::string, std::array<int, 9>> layers() {
  std::map<std::string, std::array<int, 9>> all;
  std::ifstream in(OCTAVO_SOURCE_DIR "/bench/layers.csv");
  for (std::string line; std::getline(in, line);) {
    const auto w = split(line, ',');
    if (w.size() < 13 || w[0] == "set") continue;
    std::array<int, 9> v{};
    for (std::size_t i = 0; i < 8; ++i) v[i] = std::atoi(w[i + 2].c_str());
    v[8] = std::atoi(w[10].c_str());
    all[w[0] + "," + w[1]] = v;
  }
  all["stated,fprop2d-10x128x72x120"] = {10, 128, 72, 120, 128, 3, 3, 1, 1};
  all["orin,fprop2d-80x128x72x120"] = {80, 128, 72, 120, 128, 3, 3, 1, 1};
  return all;
}

std::map<std::string, Group> measurements() {
  std::map<std::string, Group> groups;
  const auto known = layers();
  std::ifstream in(OCTAVO_SOURCE_DIR "/bench/measured/h200-mma.csv");
  for (std::string line; std::getline(in, line);) {
    const auto w = split(line, ',');
    if (line[0] == '#' || w.size() != 5) continue;
    Config c;
    bool nc32 = false;
    EXPECT_TRUE(parse(w[3], c, nc32)) << line;
    const auto layer = known.find(w[0] + "," + w[1]);
    EXPECT_TRUE(layer != known.end()) << line;
    if (layer == known.end() || layer->second[1] < 8) continue;  // first layers were measured without packing
    const auto& v = layer->second;
    const std::string layout = w[2] + ":" + (nc32 ? "nc32" : "nhwc");
    Group& group = groups[w[0] + "," + w[1] + "," + layout];
    if (group.rows.empty()) {
      std::ostringstream text;
      text << "fprop n=" << v[0] << " c=" << v[1] << " size=" << v[2] << "x" << v[3] << " k=" << v[4] << " filter=" << v[5]
           << "x" << v[6] << " pad=" << v[8] << "x" << v[8] << " stride=" << v[7] << "x" << v[7] << " x=" << layout
           << " w=" << layout << " y=" << layout;
      const error_t e = parse_problem(text.str(), group.problem);
      EXPECT_TRUE(e.is_good()) << text.str() << e.err_msg;
    }
    group.rows.push_back({c, std::atof(w[4].c_str())});
  }
  return groups;
}

TEST(MmaCostModel, PickIsNearTheBestMeasured) {
  const DeviceTraits device = *device_by_name("h200");
  double regret = 0, error = 0;
  int problems = 0, rows = 0;
  for (const auto& [name, group] : measurements()) {
    const auto l = lower(group.problem, device);
    ASSERT_TRUE(l.ok()) << name << ": " << l.error().err_msg;
    EXPECT_FALSE(l->x.packed || l->w.packed) << name;
    const Row *pick = nullptr, *best = nullptr;
    double least = 0;
    for (const Row& row : group.rows) {
      EXPECT_TRUE(fits(row.config, *l, device))
          << name << " " << row.config.to_string() << ": " << fits(row.config, *l, device).reason;
      const double us = estimate_us(row.config, *l, device);
      error += std::abs(std::log(us / row.us));
      ++rows;
      if (!pick || us < least) pick = &row, least = us;
      if (!best || row.us < best->us) best = &row;
      if (std::getenv("OCTAVO_COST_ROWS"))
        std::printf("%s %s %.2f %.2f\n", name.c_str(), row.config.to_string().c_str(), row.us, us);
    }
    regret += std::log(pick->us / best->us);
    ++problems;
    std::printf("%-44s pick %7.2f (model %7.2f) %-48s best %7.2f %s\n", name.c_str(), pick->us, least,
                pick->config.to_string().c_str(), best->us, best->config.to_string().c_str());
  }
  ASSERT_GE(problems, 46);
  ASSERT_GE(rows, 800);
  std::printf("pick / best: %.3f over %d problems; mean error of the model %.1f%% over %d rows\n", std::exp(regret / problems),
              problems, 100 * (std::exp(error / rows) - 1), rows);
  EXPECT_LE(std::exp(regret / problems), 1.10);
}

TEST(MmaConfig, TextComesBack) {
  const DeviceTraits device = *device_by_name("h200");
  Problem p;
  ASSERT_TRUE(
      parse_problem("fprop n=10 c=128 size=72x120 k=128 filter=3x3 pad=1x1 x=s8:nhwc w=s8:nhwc y=s8:nhwc", p).is_good());
  const auto l = lower(p, device);
  ASSERT_TRUE(l.ok());
  const std::vector<Config> all = enumerate(*l, device);
  ASSERT_GE(all.size(), 20u);
  for (const Config& c : all) {
    const auto back = parse_config(c.to_string());
    ASSERT_TRUE(back.ok()) << back.error().err_msg;
    EXPECT_EQ(*back, c);
    EXPECT_EQ(back->hash(), c.hash());
  }
  for (const char* bad : {"", "gemm,m=1", "igemm", "igemm,m=128", "halo,m=4,n=x,wm=2,wn=2,g=2,st=5,res=1,b=1",
                          "halo,m=4,n=128,wm=2,wn=2,g=2,st=5,res=1,b=1,z=1", "halo,m=4,n=-128,wm=2,wn=2,g=2,st=5,res=1,b=1"})
    EXPECT_FALSE(parse_config(bad).ok()) << bad;
}

}  // namespace
}  // namespace octavo::cuda::mma
