// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// The store of winners and the tuner, on the CPU engines. Oracle: what was recorded; cpu_reference for results.

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "octavo/engine.h"
#include "support.h"
#include "tune/store.h"
#include "tune/tuner.h"
#include "verify/compare.h"

namespace octavo {
namespace {

using testing::start_child;
using testing::TemporaryDirectory;
using testing::wait_for;

Problem problem_of(int channels) {
  Problem p;
  const error_t e =
      parse_problem("fprop n=1 c=" + std::to_string(channels) +
                        " size=6x6 k=8 filter=3x3 pad=1x1 x=s8:nhwc w=s8:nhwc y=s8:nhwc epi=%1=f32.channel;%2=mul(%0,%1)",
                    p);
  EXPECT_TRUE(e.is_good()) << e.err_msg;
  return p;
}

/// The store of this process lies in a directory of its own.
class TuneStore : public ::testing::Test {
 protected:
  TuneStore() {
    if (const char* old = std::getenv("OCTAVO_CACHE_DIR")) before = old;
    setenv("OCTAVO_CACHE_DIR", directory.path().c_str(), 1);
  }
  ~TuneStore() override { setenv("OCTAVO_CACHE_DIR", before.c_str(), 1); }
  void append(const std::string& text) const { std::ofstream(tune::store_path(), std::ios::app | std::ios::binary) << text; }

  TemporaryDirectory directory;
  std::string before;
  DeviceTraits device = host_cpu();
};

TEST(Child, DISABLED_record_forever) {
  for (int i = 0;; ++i)
    if (tune::record_winner(problem_of(1 + i % 50), host_cpu(), {"engine", "config", 1.0 + i, 2, 3, {}}).is_bad()) break;
}

TEST_F(TuneStore, the_winner_comes_first_while_this_build_has_it) {
  const Problem p = problem_of(16);
  const std::vector<PlanSpec> untuned = plan_specs(p, device);
  ASSERT_GE(untuned.size(), 2u);
  EXPECT_FALSE(tune::find_winner(p, device).has_value());
  const PlanSpec& last = untuned.back();
  ASSERT_TRUE(tune::record_winner(p, device, {last.engine, last.config, 1, 2, 3, {}}).is_good());
  const std::vector<PlanSpec> tuned = plan_specs(p, device);
  ASSERT_EQ(tuned.size(), untuned.size());
  EXPECT_EQ(tuned.front(), last);
  for (std::size_t i = 1; i < tuned.size(); ++i) EXPECT_EQ(tuned[i], untuned[i - 1]) << "the others keep their order";
  EXPECT_EQ(plan_specs(problem_of(17), device).front(), plan_specs(problem_of(17), device)[0]);
  // Another environment has no winner.
  DeviceTraits other = device;
  other.threads += 1;
  EXPECT_FALSE(tune::find_winner(p, other).has_value());
  // A renamed engine, or a configuration that is gone, is ignored: never another plan in its place.
  for (const auto& [engine, config] :
       {std::pair<const char*, const char*>{"cpu_renamed", ""}, {"cpu_native", "no such thing"}}) {
    ASSERT_TRUE(tune::record_winner(p, device, {engine, config, 1, 2, 3, {}}).is_good());
    EXPECT_TRUE(tune::find_winner(p, device).has_value());
    EXPECT_EQ(tune::winner_among(p, device, untuned), -1);
    EXPECT_EQ(plan_specs(p, device), untuned);
  }
}

TEST_F(TuneStore, torn_and_foreign_lines_are_skipped) {
  const Problem p = problem_of(8);
  ASSERT_TRUE(tune::record_winner(p, device, {"a", "1", 5, 6, 7, {}}).is_good());
  append("{\"format\":1,\"key\":\"" + p.hash().hex() + "\",\"stamp\":\"");  // torn by a kill
  ASSERT_TRUE(tune::record_winner(problem_of(9), device, {"b", "2", 5, 6, 7, {}}).is_good());
  append("\nnot json\n{\"format\":99}\n[]\n{\"format\":\"1\"}\n{\"format\":1,\"key\":3,\"stamp\":4}\n");
  const auto first = tune::find_winner(p, device), second = tune::find_winner(problem_of(9), device);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->engine + first->config, "a1");
  EXPECT_EQ(second->engine + second->config, "b2");
  EXPECT_EQ(second->us, 5);
  EXPECT_EQ(tune::store_statistics().unreadable_lines, 6);
  EXPECT_EQ(tune::store_statistics().winners, 2);
}

TEST_F(TuneStore, killed_writers_lose_at_most_their_line) {
  for (int round = 0; round < 4; ++round) {
    const int a = start_child("Child.DISABLED_record_forever", {{"OCTAVO_CACHE_DIR", directory.path()}});
    const int b = start_child("Child.DISABLED_record_forever", {{"OCTAVO_CACHE_DIR", directory.path()}});
    usleep(250000);
    kill(a, SIGKILL);
    kill(b, SIGKILL);
    EXPECT_EQ(wait_for(a), 128 + SIGKILL);
    EXPECT_EQ(wait_for(b), 128 + SIGKILL);
    EXPECT_LE(tune::store_statistics().unreadable_lines, 2 * (round + 1));
  }
  EXPECT_GE(tune::store_statistics().winners, 10);
}

TEST_F(TuneStore, a_store_that_takes_nothing_is_an_error_and_no_crash) {
  std::ofstream(directory.path() + "/tuned") << "a file";
  const error_t e = tune::record_winner(problem_of(8), device, {"a", "", 1, 1, 1, {}});
  EXPECT_TRUE(e.is_bad());
  EXPECT_NE(e.err_msg.find("OCTAVO_CACHE_DIR"), std::string::npos) << e.err_msg;
  EXPECT_FALSE(plan_specs(problem_of(8), device).empty());
}

TEST_F(TuneStore, nothing_wins_that_the_judge_has_not_passed) {
  const Problem p = problem_of(16);
  verify::Data data(p, 5, verify::Fill::automatic);
  verify::Expected expected;
  ASSERT_TRUE(verify::Expected::compute(p, data, expected).is_good());
  const std::vector<PlanSpec> specs = plan_specs(p, device);
  tune::Options options;
  options.seconds = 0.05;
  tune::Outcome outcome;
  const auto judge = [&](const std::vector<verify::GuardedBuffer>& got) { return expected.judge(p, data, got); };
  ASSERT_TRUE(tune::tune_problem(p, device, specs, data, judge, options, outcome).is_good());
  ASSERT_GE(outcome.winner, 0);
  ASSERT_EQ(outcome.candidates.size(), specs.size());
  const tune::Candidate& best = outcome.candidates[static_cast<std::size_t>(outcome.winner)];
  for (const tune::Candidate& c : outcome.candidates) {
    EXPECT_TRUE(c.us > 0 || !c.rejected.empty());
    if (c.us > 0) {
      EXPECT_LE(best.us, c.us);
    }
  }
  // A judge that fails the fastest: it does not win. One that fails all: an error.
  int calls = 0;
  const auto no_first = [&](const std::vector<verify::GuardedBuffer>& got) {
    return calls++ == outcome.winner ? std::string("wrong by order") : expected.judge(p, data, got);
  };
  tune::Outcome second;
  const error_t e = tune::tune_problem(p, device, specs, data, no_first, options, second);
  if (specs.size() > 1) {
    ASSERT_TRUE(e.is_good()) << e.err_msg;
    EXPECT_NE(second.winner, outcome.winner);
    EXPECT_EQ(second.candidates[static_cast<std::size_t>(outcome.winner)].us, 0);
  }
  const auto no = [](const std::vector<verify::GuardedBuffer>&) { return std::string("no"); };
  EXPECT_TRUE(tune::tune_problem(p, device, specs, data, no, options, second).is_bad());
}

}  // namespace
}  // namespace octavo
