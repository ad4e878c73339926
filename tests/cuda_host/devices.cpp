// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Devices by name, with none present, and the text of generated epilogues. Oracle: NVIDIA's published figures; the layout
// rules in words.

#include <functional>
#include <limits>

#include "device/cuda_device.h"
#include "engines/cuda_common/conv_constants.h"
#include "engines/cuda_common/epilogue_codegen.h"
#include "support.h"

namespace octavo {
namespace {

TEST(Devices, published_figures) {
  struct Row {
    const char* name;
    int sm, count;
    std::int64_t shared_kib;
    const char* arch;
  };
  for (const Row& row :
       {Row{"h200", 90, 132, 227, "sm_90a"}, Row{"a100", 80, 108, 163, "sm_80"}, Row{"orin", 87, 16, 163, "sm_87"},
        Row{"rtx4090", 89, 128, 99, "sm_89"}, Row{"t4", 75, 40, 64, "sm_75"}, Row{"RTX3090", 86, 82, 99, "sm_86"},
        Row{"b200", 100, 148, 227, "sm_100a"}, Row{"rtx5090", 120, 170, 99, "sm_120a"}, Row{"sm_87", 87, 16, 163, "sm_87"},
        Row{"sm_90a", 90, 132, 227, "sm_90a"}}) {
    const auto device = cuda::device_by_name(row.name);
    ASSERT_TRUE(device.ok()) << device.error().err_msg;
    EXPECT_EQ(device->kind, DeviceKind::cuda);
    EXPECT_EQ(device->sm, row.sm) << row.name;
    EXPECT_EQ(device->sm_count, row.count) << row.name;
    EXPECT_EQ(device->smem_per_block, row.shared_kib << 10) << row.name;
    EXPECT_EQ(cuda::arch_of(*device), row.arch);
  }
}

TEST(Devices, every_listed_name_is_known_and_others_are_errors) {
  ASSERT_GE(cuda::device_names().size(), 15u);
  for (const std::string& name : cuda::device_names()) EXPECT_TRUE(cuda::device_by_name(name).ok()) << name;
  for (const char* name : {"", "h2000", "sm_", "sm_70", "sm_9", "sm_xx", "cpu"}) {
    const auto device = cuda::device_by_name(name);
    ASSERT_FALSE(device.ok()) << name;
    EXPECT_EQ(device.error().code, error_code_t::INVALID_CUDA_DEVICE);
    EXPECT_NE(device.error().err_msg.find("h200"), std::string::npos) << "the message lists what there is";
  }
}

TEST(Devices, from_the_driver) {
  ASSERT_EQ(cuda::device_count(), 2);
  const auto device = cuda::device(1);
  ASSERT_TRUE(device.ok()) << device.error().err_msg;
  EXPECT_EQ(device->name, "fake H200");
  EXPECT_EQ(device->sm, 90);
  EXPECT_EQ(device->ordinal, 1);
  for (const int ordinal : {2, -1, 1000}) {
    const auto none = cuda::device(ordinal);
    ASSERT_FALSE(none.ok());
    EXPECT_EQ(none.error().code, error_code_t::INVALID_CUDA_DEVICE);
  }
}

std::string epilogue_of(const std::string& line) {
  Problem problem;
  const error_t e = parse_problem(line, problem);
  EXPECT_TRUE(e.is_good()) << line << "\n" << e.err_msg;
  return cuda::generate_epilogue(problem);
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(EpilogueText, runs_follow_from_the_strides) {
  const std::string head = "fprop n=2 c=32 size=4x4 k=", tail = " filter=1x1 x=s8:nhwc w=s8:nhwc y=s8:";
  const std::string aligned = epilogue_of(head + "64" + tail + "nhwc epi=%1=f32.channel;%2=mul(%0,%1)");
  EXPECT_TRUE(has(aligned, "kRun = 32;")) << aligned;
  EXPECT_TRUE(has(aligned, "using acc_t = s32;"));
  EXPECT_TRUE(has(aligned, "slot[2]"));
  EXPECT_TRUE(has(aligned, "load_run<V, true>(reinterpret_cast<const float*>(args.slot[0])"));
  EXPECT_TRUE(has(aligned, "pack_s8<V>"));
  EXPECT_TRUE(has(epilogue_of(head + "20" + tail + "nhwc"), "kRun = 4;"));
  const std::string odd = epilogue_of(head + "33" + tail + "nhwc");
  EXPECT_TRUE(has(odd, "kRun = 1;"));
  EXPECT_FALSE(has(odd, "store_run")) << "channels of an odd pitch are not aligned";
  EXPECT_FALSE(has(epilogue_of(head + "64" + tail + "nchw"), "store_run")) << "channels are not neighbours in NCHW";
  EXPECT_TRUE(has(epilogue_of(head + "64" + tail + "nc32"), "/ 32 *"));
  EXPECT_TRUE(has(epilogue_of(head + "64" + tail + "nc4"), "kRun = 4;"));
}

TEST(EpilogueText, offsets_widen_past_two_to_the_thirty) {
  const auto wide = [](const char* n) {
    return has(epilogue_of(std::string("fprop n=") + n + " c=4 size=512x512 k=64 filter=1x1 x=s8:nhwc w=s8:nhwc y=s8:nhwc"),
               "using idx_t = long long;");
  };
  EXPECT_FALSE(wide("63"));
  EXPECT_TRUE(wide("65"));
  Problem problem;
  ASSERT_TRUE(parse_problem("fprop n=40 c=512 size=256x256 k=4 filter=1x1 x=s8:nhwc w=s8:nhwc y=s8:nhwc", problem).is_good());
  EXPECT_TRUE(cuda::needs_wide_index(problem));
  EXPECT_TRUE(has(cuda::conv_constants(problem), "using idx_t = long long;"));
}

TEST(EpilogueText, constants_are_spelt_as_stored) {
  Problem problem;
  ASSERT_TRUE(
      parse_problem("fprop n=1 c=4 size=4x4 k=4 filter=1x1 x=f32:nhwc w=f32:nhwc y=f32:nhwc epi=%1=f32.scalar;%2=mul(%0,%1)",
                    problem)
          .is_good());
  problem.epilogue.operands[0].source = Epilogue::Source::constant;
  problem.epilogue.operands[0].constant = 0.1;
  EXPECT_TRUE(has(cuda::generate_epilogue(problem), "v1 = (1.000000015e-01f);")) << cuda::generate_epilogue(problem);
  problem.epilogue.operands[0].constant = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(has(cuda::generate_epilogue(problem), "0x7f800000u"));
}

}  // namespace
}  // namespace octavo
