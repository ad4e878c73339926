// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Engines, verdicts, specs and plans. Oracle: the contract in octavo/engine.h.

#include <gtest/gtest.h>

#include <set>

#include "octavo/engine.h"
#include "verify/random_problem.h"

namespace octavo {
namespace {

Problem parse(const char* line) {
  Problem p;
  EXPECT_TRUE(parse_problem(line, p).is_good()) << line;
  return p;
}

const char kLine[] = "fprop n=1 c=4 size=5x5 k=4 filter=3x3 x=s8 w=s8 y=s32";

TEST(Registry, NamesAreUniqueAndFound) {
  std::set<std::string_view> names;
  for (const Engine* e : engines()) {
    EXPECT_TRUE(names.insert(e->name()).second) << e->name();
    EXPECT_EQ(find_engine(e->name()), e);
  }
  EXPECT_TRUE(names.count("cpu_reference"));
  EXPECT_EQ(find_engine("no such engine"), nullptr);
}

TEST(Registry, VerdictsAlwaysCarryAReasonAndSpecsAreRanked) {
  verify::Rng rng(21);
  for (int i = 0; i < 300; ++i) {
    const Problem p = verify::random_problem(rng);
    bool accepted = false;
    for (const EngineVerdict& row : verdicts(p, host_cpu())) {
      accepted = accepted || row.verdict.accepted;
      EXPECT_NE(row.verdict.accepted, !row.verdict.reason.empty()) << row.engine->name() << " on " << p.to_string();
      if (row.verdict) {
        EXPECT_FALSE(row.engine->specs(p, host_cpu()).empty()) << row.engine->name();
      }
    }
    EXPECT_TRUE(accepted) << "no engine accepts " << p.to_string();
    const std::vector<PlanSpec> specs = plan_specs(p, host_cpu());
    for (std::size_t k = 1; k < specs.size(); ++k) EXPECT_LE(specs[k - 1].cost_us, specs[k].cost_us);
  }
}

TEST(Registry, BuildRefusesWhatItCannotDo) {
  const Problem p = parse(kLine);
  std::unique_ptr<Plan> plan;
  EXPECT_EQ(build_plan(p, {"nonesuch", "", 0}, host_cpu(), {}, plan).code, error_code_t::INVALID_VALUE);
  EXPECT_TRUE(build_plan(p, {"cpu_reference", "fastest", 0}, host_cpu(), {}, plan).is_bad());
  DeviceTraits gpu;
  gpu.kind = DeviceKind::cuda;
  EXPECT_EQ(build_plan(p, {"cpu_reference", "", 0}, gpu, {}, plan).code, error_code_t::GRAPH_NOT_SUPPORTED);
  Problem illegal = p;
  illegal.stride[0] = 0;
  const error_t e = build_plan(illegal, {"cpu_reference", "", 0}, host_cpu(), {}, plan);
  EXPECT_NE(e.err_msg.find("tride"), std::string::npos) << e.err_msg;
  EXPECT_EQ(plan, nullptr);
}

TEST(Registry, ExecuteChecksItsAddresses) {
  const Problem p = parse("fprop n=1 c=4 size=5x5 k=4 filter=3x3 x=s8 w=s8 y=s32 epi=%1=s32.channel;%2=add(%0,%1):s32");
  std::unique_ptr<Plan> plan;
  ASSERT_TRUE(build_plan(p, {"cpu_reference", "", 0}, host_cpu(), {}, plan).is_good());
  EXPECT_EQ(plan->spec.engine, "cpu_reference");
  EXPECT_FALSE(plan->describe().empty());
  std::vector<std::byte> memory(plan->workspace_bytes() + 4096);
  const void* operands[] = {memory.data()};
  void* outputs[] = {memory.data() + 1024};
  Args good;
  good.x = good.w = memory.data();
  good.operands = operands, good.outputs = outputs, good.workspace = memory.data() + 2048;
  EXPECT_TRUE(plan->execute(good).is_good());
  for (int missing = 0; missing < 5; ++missing) {
    Args args = good;
    if (missing == 0) args.x = nullptr;
    if (missing == 1) args.w = nullptr;
    if (missing == 2) args.operands = {};
    if (missing == 3) args.outputs = {};
    if (missing == 4) args.workspace = nullptr;
    const error_t e = plan->execute(args);
    EXPECT_EQ(e.code, error_code_t::INVALID_VARIANT_PACK) << missing;
    EXPECT_FALSE(e.err_msg.empty());
  }
}

TEST(Device, LevelsOnlyGoDown) {
  const DeviceTraits host = host_cpu();
  for (const CpuIsa isa : {CpuIsa::portable, CpuIsa::avx2, CpuIsa::avx512, CpuIsa::avx512_vnni, CpuIsa::amx}) {
    const DeviceTraits t = with_isa(host, isa);
    EXPECT_LE(t.isa, host.isa);
    if (isa < CpuIsa::avx512_vnni && host.isa > isa) {
      EXPECT_FALSE(t.avx512_bf16 || t.amx_int8) << to_string(isa);
    }
  }
  EXPECT_GE(host.threads, 1);
}

}  // namespace
}  // namespace octavo
