// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The epilogue of every CPU path: the pointwise DAG compiled once at plan build, run on accumulators that are still in
// cache. Two forms: a chain (one running value, operands of any broadcast, any number of outputs), vectorised for the
// instruction set, and the general DAG, interpreted row by row. Both write each output element once, to any layout.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "octavo/engine.h"

namespace octavo::cpu_native {

/// A block of result coordinates: dim 0 fixed, dim 1 in [channel, channel + channels), `count` points that are consecutive
/// along the last spatial axis from `spatial` on (which may not leave the last axis).
struct Rows {
  std::int64_t outer = 0;
  std::array<std::int64_t, kMaxSpatial> spatial{};
  std::int64_t count = 1;
  std::int64_t channel = 0;
  std::int64_t channels = 0;
};

/// Accumulators handed to run() may be read up to this many elements past `channels` in each row (values there are ignored).
inline constexpr int kAccumulatorPad = 16;

/// One step of the chain form. It acts on the running value, or on the auxiliary one (a residual on its way in).
struct ChainStep {
  enum class Op : std::uint8_t {
    to_float,   // s32 -> f32, to nearest even
    to_int,     // f32 -> s32: nearest even, saturated to [lo, hi], NaN -> 0
    clamp_int,  // s32 saturated to [lo, hi]
    add_i,
    sub_i,
    mul_i,
    max_i,
    min_i,  // wrapping
    add_f,
    sub_f,
    rsub_f,
    mul_f,
    div_f,
    max_f,
    min_f,   // rsub: operand - value
    relu_f,  // lower clip, slope, upper clip
    relu_i,  // slope 0 only
    neg_f,
    abs_f,
    load_f,
    load_i,  // auxiliary = operand
    store    // output `index`
  };
  enum class Source : std::uint8_t { none, scalar, channel, tensor, auxiliary };
  Op op = Op::store;
  Source source = Source::none;
  bool auxiliary = false;                 // acts on the auxiliary value
  bool value_is_int = false;              // store: type of the running value
  int index = -1;                         // param (scalar, channel), operand (tensor) or output (store)
  std::int32_t lo = 0, hi = 0;            // to_int, clamp_int; relu_i
  float lower = 0, upper = 0, slope = 0;  // relu_f (upper: infinity when there is none)
  bool has_upper = false;
};

/// Where the rows of an operand or output are, in elements.
struct RowAddress {
  enum class Channels : std::uint8_t { broadcast, contiguous, blocked, strided };  // along dim 1
  DataType_t type = DataType_t::NOT_SET;
  std::array<std::int64_t, kMaxRank> stride{};  // 0 along broadcast dims
  std::int64_t vector = 1;
  std::int64_t bytes = 1;
  Channels channels = Channels::strided;
};

/// The epilogue of quantised inference, recognised in a chain: (acc + bias_s32) -> f32, + before, * scale, + bias,
/// + residual [* residual scale], ReLU with an upper clip, and either the output or INT32 + zero point and then the output.
/// Everything is optional; -1 means absent. Indices are params, operands (residual) and outputs.
struct FusedForm {
  bool active = false;
  int bias_i = -1, before = -1, scale = -1, bias = -1;
  int residual = -1, residual_scale = -1;
  bool to_float = false, relu = false, has_upper = false, to_int = false;
  float lower = 0, upper = 0;
  int zero_point = -1;
  int output = 0;
};

class TileEpilogue {
 public:
  /// `isa` picks the code; never more than the processor has.
  error_t compile(const Problem& problem, CpuIsa isa);

  std::size_t workspace_bytes() const { return param_bytes_; }
  bool is_chain() const { return chain_ != nullptr; }
  /// What the interpreted form costs one core beside a convolution, roughly; a chain's share is part of a path's estimate.
  double interpreted_us() const;

  /// Addresses of one execution. Cheap to copy; refers to the Args, which must outlive it.
  struct Bound {
    const Args* args = nullptr;
    const std::byte* params = nullptr;  // expanded scalars and channel vectors
    bool tame = false;                  // affine form: neither NaN nor a value past int32 can arise
    bool stream = false;                // set by a path: whole lines may go past the caches (stream.h); it fences
  };
  /// Expands scalars and channel vectors into `workspace` (workspace_bytes(), 64-byte aligned). Host scalars are read here.
  Bound bind(const Args& args, void* workspace) const;

  /// `accumulators`: row-major, `row_stride` elements from one point to the next, of the problem's accumulator type. Safe to
  /// call from many threads at once; rows of different calls must not overlap.
  void run(const Bound& bound, const Rows& rows, const void* accumulators, std::ptrdiff_t row_stride) const;

  /// The affine form of up to 64 channels, for kernels that finish in registers: s8/u8 = sat(rne((acc + bias_i) * scale +
  /// bias)), not below `floor` (0 with ReLU). What `bias_i` adds, a kernel may start its accumulators from.
  struct AffineBlock {
    alignas(64) float scale[64], bias[64];
    alignas(64) std::int32_t bias_i[64];
    bool is_unsigned = false, relu = false;
  };
  /// False: the epilogue is not that, or these operands could take it past int32 or to NaN; use run().
  bool affine_block(const Bound& bound, std::int64_t channel, std::int64_t channels, AffineBlock& block) const;
  bool is_affine() const { return program_.affine.matches && staged_.empty(); }

  struct Param {
    int operand = 0;
    bool as_int = false, channel = false;
    std::size_t offset = 0;  // into Bound::params
  };
  /// The chain that nearly every quantised layer has: s32 -> (+ s32 bias) -> f32 * scale (+ bias) (relu at 0) -> s8 or u8.
  struct Affine {
    bool matches = false, relu = false;
    int bias_i = -1, scale = -1, bias = -1;  // params; -1 = none
  };
  struct Program {  // what the chain kernels read
    Affine affine;
    std::vector<ChainStep> steps;
    std::vector<Param> params;
    std::vector<RowAddress> operands, outputs;
    FusedForm fused;
    int rank = 0;
    bool float_accumulator = false;
  };
  const Program& program() const { return program_; }
  using ChainKernel = void (*)(const Program&, const Bound&, const Rows&, const void* accumulators, std::ptrdiff_t row_stride);

 private:
  bool is_tame(const Bound& bound) const;
  void stage_outputs();
  void run_staged(const Bound& bound, const Rows& rows, const void* accumulators, std::ptrdiff_t row_stride) const;
  void run_general(const Bound& bound, const Rows& rows, const void* accumulators, std::ptrdiff_t row_stride) const;

  Problem problem_;
  Program program_;
  /// Outputs whose channels do not follow each other (NCHW): program_ writes them to a small channels-last block instead,
  /// which is turned on its way to where `address` says.
  struct Staged {
    int output;
    RowAddress address;
  };
  std::vector<Staged> staged_;
  ChainKernel chain_ = nullptr;
  std::size_t param_bytes_ = 0;
};

void run_chain_portable(const TileEpilogue::Program&, const TileEpilogue::Bound&, const Rows&, const void*, std::ptrdiff_t);
#if defined(__x86_64__)
void run_chain_avx2(const TileEpilogue::Program&, const TileEpilogue::Bound&, const Rows&, const void*, std::ptrdiff_t);
void run_affine_avx512(const TileEpilogue::Program&, const TileEpilogue::Bound&, const Rows&, const void*, std::ptrdiff_t);
void run_chain_avx512(const TileEpilogue::Program&, const TileEpilogue::Bound&, const Rows&, const void*, std::ptrdiff_t);
#endif

}  // namespace octavo::cpu_native
