// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Problem::epilogue as device code. The text defines, for a kernel template to call:
//
//   struct EpilogueArgs { unsigned long long slot[n]; };             // a kernel parameter, filled by EpilogueSlots
//   struct Epilogue {
//     using acc_t;                                                   // type of value 0: s32, float or double
//     using idx_t;                                                   // int, or long long when an offset needs it
//     static Row row(idx_t d0, idx_t s0, idx_t s1, idx_t s2);        // one position; spatial axes padded in front to three
//     static Channels<V> channels<V, kWide>(args, idx_t c);          // operands that only depend on the channel
//     static void store<V, kWide>(args, row, c, channels, const acc_t (&acc)[V]);   // V consecutive channels, all valid
//     static constexpr int kRun;                                     // runs of any divisor of this are contiguous and aligned
//   };
//
// d0 is N (fprop, dgrad) or K (wgrad); "channel" is dimension 1 of the result. kWide promises c % V == 0 and pointers
// aligned to 16 bytes; accesses are then as wide as each tensor's strides allow. Every + - * / is one rounding.

#include <cstdint>
#include <string>
#include <vector>

#include "octavo/engine.h"
#include "octavo/problem.h"

namespace octavo::cuda {

inline constexpr int kMaxEpilogueSlots = 480;  // 4 KB of kernel parameters, less the engines' own

std::string generate_epilogue(const Problem& problem);

/// "no" when the epilogue has more tensors than a kernel takes parameters.
Verdict epilogue_fits(const Problem& problem);

/// Host side of EpilogueArgs.
class EpilogueSlots {
 public:
  explicit EpilogueSlots(const Problem& problem);
  /// Fills slots[0..count()); `aligned` is and-ed with "every pointer is aligned to 16 bytes".
  error_t fill(const Args& args, std::uint64_t* slots, bool& aligned) const;
  int count() const { return count_; }

 private:
  struct Operand {
    int index = 0;
    std::int64_t host_bytes = 0;  ///< > 0: a scalar in host memory
  };
  std::vector<Operand> operands_;
  int operand_count_ = 0;
  int outputs_ = 0;
  int count_ = 0;
};

/// The device name of a storage type: "s8", "bf16", "float", ...
const char* storage_name(DataType_t type);

}  // namespace octavo::cuda
