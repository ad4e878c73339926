// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// One instantiation of CUTLASS's sm_80 implicit-GEMM fprop, s8 -> s8 with one scale.

#include <cstdio>
#include <memory>

#include "cutlass/conv/conv2d_problem_size.h"
#include "cutlass/conv/conv3d_problem_size.h"
#include "cutlass/conv/device/implicit_gemm_convolution.h"
#include "cutlass/conv/kernel/default_conv2d_fprop.h"
#include "cutlass/cutlass.h"
#include "cutlass/epilogue/thread/linear_combination_clamp.h"
#include "peers.h"

template <class LayoutX, class LayoutW, int kAlign, int kM, int kN, int kK, int kWarpM, int kWarpN, int kStages, int kVector>
PeerLaunch cutlass_peer(const PeerProblem& z, const void* x, const void* w, void* y, float scale) {
  if (z.c % kAlign || z.k % kAlign) return nullptr;
  using Kernel = typename cutlass::conv::kernel::DefaultConv2dFprop<
      int8_t, LayoutX, int8_t, LayoutW, int8_t, LayoutX, int32_t, cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80,
      cutlass::gemm::GemmShape<kM, kN, kK>, cutlass::gemm::GemmShape<kWarpM, kWarpN, kK>, cutlass::gemm::GemmShape<16, 8, 32>,
      cutlass::epilogue::thread::LinearCombinationClamp<int8_t, kVector, int32_t, float>,
      cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>, kStages, cutlass::arch::OpMultiplyAddSaturate,
      cutlass::conv::IteratorAlgorithm::kOptimized>::Kernel;
  using Op = cutlass::conv::device::ImplicitGemmConvolution<Kernel>;
  cutlass::conv::Conv2dProblemSize size({z.n, z.h, z.w, z.c}, {z.k, z.r, z.s, z.c}, {z.pad, z.pad, z.pad, z.pad},
                                        {z.stride, z.stride}, {1, 1}, {z.n, z.p(), z.q(), z.k},
                                        cutlass::conv::Mode::kCrossCorrelation, 1);
  LayoutX lx = LayoutX::packed({z.n, z.h, z.w, z.c}), ly = LayoutX::packed({z.n, z.p(), z.q(), z.k});
  LayoutW lw = LayoutW::packed({z.k, z.r, z.s, z.c});
  auto op = std::make_shared<Op>();
  typename Op::Arguments args(size, {static_cast<int8_t*>(const_cast<void*>(x)), lx},
                              {static_cast<int8_t*>(const_cast<void*>(w)), lw}, {static_cast<int8_t*>(y), ly},
                              {static_cast<int8_t*>(y), ly}, {scale, 0.f});
  if (op->can_implement(args) != cutlass::Status::kSuccess || op->get_workspace_size(args) != 0) return nullptr;
  if (op->initialize(args) != cutlass::Status::kSuccess) return nullptr;
  return [op](cudaStream_t s) { (void)(*op)(s); };
}
