// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Every problem that the tensor-core kernels take, as one forward convolution over operands they can read: gradients become
// forward convolutions of other tensors, unreadable layouts are packed into workspace first. Pure.

#include <cstdint>
#include <string>

#include "core/result.h"
#include "engines/cuda_mma/halo_params.h"
#include "engines/cuda_mma/igemm_params.h"
#include "octavo/device.h"
#include "octavo/problem.h"

namespace octavo::cuda::mma {

/// What kernels/conv/pack.cuh does to one input; the members are PackConfig's.
struct Pack {
  DataType_t from = DataType_t::NOT_SET, to = DataType_t::NOT_SET;
  std::int64_t outer_groups = 1, outer = 0;
  std::int64_t size[3]{1, 1, 1}, lead[3]{}, step[3]{1, 1, 1}, source[3]{1, 1, 1};
  std::int64_t groups = 1, channels = 0, padded = 0;
  std::int64_t outer_group_stride = 0, outer_stride = 0, outer_vector = 1;
  std::int64_t spatial_stride[3]{};
  std::int64_t channel_stride = 0, channel_vector = 1, first = 0;
  int piece = 16, fastest = 0, fill = 0;

  std::int64_t bytes() const;
  std::int64_t pieces() const { return outer_groups * outer * size[0] * size[1] * size[2] * (groups * padded / piece); }
};

/// One operand of the kernels; strides in bytes.
struct Operand {
  bool packed = false;
  Pack pack;  ///< when packed; `sums` of a filter read it too
  std::int64_t outer = 0, s[3]{}, pair = 32, group = 0, offset = 0;
};

struct Lowered {
  dev::Elem a = dev::Elem::s8, b = dev::Elem::s8;
  std::int64_t n = 0, in[3]{1, 1, 1}, out[3]{1, 1, 1}, taps[3]{1, 1, 1};
  std::int64_t stride[3]{1, 1, 1}, pad[3]{}, pad_end[3]{}, dilation[3]{1, 1, 1};
  std::int64_t k = 0, groups = 1, channels = 0;  ///< k of all groups, channels of one
  std::int64_t tap_bytes = 0;                    ///< of one group's channels, or of a run of S pixels in a first layer
  int align = 16;                                ///< what all addresses are multiples of
  bool padded = true;                            ///< taps may fall outside the input
  bool transposed = false, flip = false;         ///< of the result: StoreConfig
  bool correct = false;                          ///< a zero point of x: subtract its share of each filter's sum
  std::int64_t zero_point = 0;
  Operand x, w;
  std::string halo_reason;  ///< why the halo kernel cannot run it; empty: it can

  std::int64_t rows() const { return n * out[0] * out[1] * out[2]; }
  std::int64_t reduction_bytes() const { return taps[0] * taps[1] * taps[2] * ((tap_bytes + 15) / 16 * 16); }
  dev::HaloGeometry halo() const;
  dev::IgemmGeometry igemm() const;
};

/// The error's message is the engine's reason for "no".
Result<Lowered> lower(const Problem& problem, const DeviceTraits& device);

}  // namespace octavo::cuda::mma
