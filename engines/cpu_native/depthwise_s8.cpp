// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#include "engines/cpu_native/depthwise_s8.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "core/parallel.h"
#include "engines/cpu_native/epilogue.h"
#include "engines/cpu_native/geometry.h"
#include "engines/cpu_native/path.h"
#include "engines/cpu_native/plane.h"

namespace octavo::cpu_native {
namespace {

constexpr int kMaxFilterRows = 255;

DepthwiseKernels pick_kernels(CpuIsa isa) {
#if defined(__x86_64__)
  if (isa >= CpuIsa::avx512_vnni) return depthwise_s8_avx512_vnni();
  if (isa >= CpuIsa::avx2) return depthwise_s8_avx2();
#endif
  (void)isa;
  return depthwise_s8_portable();
}

Verdict accepts(const Problem& p, const DeviceTraits&) {
  if (p.direction != Direction::fprop) return Verdict::no("fprop only");
  if (p.x.type != DataType_t::INT8 && p.x.type != DataType_t::UINT8) return Verdict::no("x must be s8 or u8");
  if (p.w.type != DataType_t::INT8) return Verdict::no("w must be s8");
  if (p.w.dim[1] != 1 || p.w.dim[0] != p.x.dim[1]) return Verdict::no("needs one input and one output channel a group");
  if (p.spatial() > 2) return Verdict::no("1-D and 2-D only");
  if (p.zero_points.filter != ZeroPoints::Filter::none) return Verdict::no("the filter has zero points");
  const std::int32_t lowest = p.x.type == DataType_t::INT8 ? -128 : 0;
  if (p.zero_points.x < lowest || p.zero_points.x > lowest + 255) return Verdict::no("x's zero point is outside its type");
  if (p.x.vector == 1 && p.x.stride[1] != 1 && p.x.dim[1] != 1) return Verdict::no("channels of x must be contiguous");
  for (int i = 0; i < p.spatial(); ++i) {
    if (p.dilation[i] > 1 << 20 || p.w.dim[2 + i] > kMaxFilterRows) return Verdict::no("the filter reaches too far");
  }
  // The buffer of a tile must stay in cache.
  const int last = p.spatial() - 1;
  const std::int64_t columns = (kDepthwiseColumns - 1) * p.stride[last] + (p.w.dim[2 + last] - 1) * p.dilation[last] + 1;
  if (columns > 4096) return Verdict::no("stride and dilation make the tile too wide");
  return Verdict::yes();
}

std::vector<Candidate> candidates(const Problem& p, const DeviceTraits& device) {
  // Bound by vector work: about `cost` cycles for each output and 64 channels, at 2.5 GHz.
  const double outputs = static_cast<double>(p.y.elements()) / kDepthwiseBlock;
  const double taps = static_cast<double>(p.accumulation_length()) / 9;
  const double cycles = device.isa >= CpuIsa::avx512_vnni ? 30 + 12 * taps
                        : device.isa >= CpuIsa::avx2      ? 150 * (1 + taps)
                                                          : 800 * (1 + taps);
  return {{"", 1 + outputs * cycles / 2500 / std::max(1, device.threads)}};
}

class DepthwisePlan final : public Plan {
 public:
  error_t init(const Problem& problem, const DeviceTraits& device, const BuildOptions& options) {
    problem_ = problem;
    plane_ = plane_of(problem);
    kernels_ = pick_kernels(device.isa);
    OCTAVO_RETURN_IF_ERROR(epilogue_.compile(problem, device.isa));
    threads_ = threads_for(work_of(candidates(problem, one_thread(device))) + epilogue_.interpreted_us());
    groups_ = depthwise_groups(plane_.filter_rows);
    block_ = problem.x.vector > 1 ? std::min<std::int64_t>(problem.x.vector, kDepthwiseBlock) : kDepthwiseBlock;
    blocks_ = (problem.x.dim[1] + block_ - 1) / block_;
    // A narrow last block shares the lanes among neighbouring outputs.
    const std::int64_t tail = problem.x.dim[1] - (blocks_ - 1) * block_;
    if (kernels_.line) tail_pixels_ = tail <= 16 ? 4 : tail <= 32 ? 2 : 1;
    fused_ = kernels_.fused && epilogue_.program().affine.matches && epilogue_.program().affine.bias_i < 0 && output_is_run();
    // Output rows that one buffer serves: the filter fits into its 4 * groups rows that many times.
    shifts_ = plane_.step_rows == 1 && plane_.dilation_rows == 1 ? 4 * groups_ - plane_.filter_rows + 1 : 1;
    weight_bytes_ = static_cast<std::size_t>(plane_.filter_columns) * groups_ * kDepthwiseBlock * 4;
    block_bytes_ = align64(shifts_ * weight_bytes_ + kDepthwiseBlock * sizeof(std::int32_t));
    // A phase is every step-th image column: neighbouring outputs read neighbouring columns of one phase.
    const std::int64_t reach = (plane_.filter_columns - 1) * plane_.dilation_columns;
    phase_columns_ = kDepthwiseColumns + static_cast<int>(reach / plane_.step_columns) + 4;
    const std::int64_t columns =
        std::max((kDepthwiseColumns - 1) * plane_.step_columns + reach + 1, phase_columns_ * plane_.step_columns);
    buffer_bytes_ = align64(static_cast<std::size_t>(columns) * groups_ * kDepthwiseBlock * 4);
    line_bytes_ = tail_pixels_ > 1
                      ? align64(static_cast<std::size_t>(phase_columns_) * plane_.step_columns * (64 / tail_pixels_) + 64)
                      : 0;
    for (int s = 0; s < plane_.filter_columns; ++s) {
      const std::int64_t at = s * plane_.dilation_columns;
      const std::size_t column = static_cast<std::size_t>(groups_) * 256;
      taps_.push_back(at * column);
      phase_taps_.push_back((at % plane_.step_columns * phase_columns_ + at / plane_.step_columns) * column);
    }
    sums_bytes_ = align64((kDepthwiseColumns * kDepthwiseBlock + kAccumulatorPad) * sizeof(std::int32_t));
    thread_bytes_ = buffer_bytes_ + sums_bytes_ + 4 * groups_ * line_bytes_;
    if (options.constant_filter) {
      packed_.resize(blocks_ * block_bytes_ + 63);
      pack(options.constant_filter, aligned(packed_.data()));
    }
    return {};
  }

  std::size_t workspace_bytes() const override {
    return 63 + align64(epilogue_.workspace_bytes()) + affine_bytes() + (packed_.empty() ? blocks_ * block_bytes_ : 0) +
           threads_ * thread_bytes_;
  }

  error_t execute(const Args& args) const override {
    if (problem_.y.elements() == 0) return {};
    Call call;
    call.args = &args;
    std::byte* at = aligned(static_cast<std::byte*>(args.workspace));
    call.bound = epilogue_.bind(args, at);
    at += align64(epilogue_.workspace_bytes());
    call.fused = fused_ && call.bound.tame;
    if (call.fused) spread_affine(call.bound, reinterpret_cast<float*>(at));
    call.affine = reinterpret_cast<const float*>(at);
    at += affine_bytes();
    call.packed = aligned(const_cast<std::byte*>(packed_.data()));
    if (packed_.empty()) {
      pack(args.w, at);
      call.packed = at;
      at += blocks_ * block_bytes_;
    }
    // A task is some rows of one image: rows are read again by the next output row.
    const std::int64_t rows = std::clamp<std::int64_t>((plane_.out_height / 8 + shifts_ - 1) / shifts_ * shifts_, shifts_, 16);
    const std::int64_t strips = (plane_.out_height + rows - 1) / rows;
    parallel_for(problem_.x.dim[0] * strips, threads_, [&](std::int64_t task, int thread) {
      const std::int64_t n = task / strips, first = task % strips * rows;
      const std::int64_t end = std::min(first + rows, plane_.out_height);
      std::byte* scratch = at + thread * thread_bytes_;
      // All channels of a row before the next: the filter's image rows stay in L1.
      for (std::int64_t row = first; row < end; row += shifts_) {
        prefetch_rows(args, n, row + shifts_);
        for (std::int64_t b = 0; b < blocks_; ++b) run_rows(call, scratch, n, row, std::min(row + shifts_, end), b);
      }
    });
    return {};
  }

  std::string describe() const override {
    return std::string("depthwise, four filter rows a dword") + (fused_ ? ", epilogue in registers" : "");
  }

 private:
  struct Call {
    const Args* args = nullptr;
    TileEpilogue::Bound bound;
    bool fused = false;
    const float* affine = nullptr;  // [block][scale, bias][64], in slot order
    const std::byte* packed = nullptr;
  };

  template <class T>
  static T* aligned(T* p) {
    return reinterpret_cast<T*>(align64(reinterpret_cast<std::uintptr_t>(p)));
  }

  std::size_t affine_bytes() const {
    return fused_ ? static_cast<std::size_t>(blocks_) * 2 * kDepthwiseBlock * sizeof(float) : 0;
  }

  /// Do a block's channels stand side by side in the output?
  bool output_is_run() const {
    const TensorDesc& y = problem_.epilogue.outputs.back().desc;
    return y.vector == 1 ? y.stride[1] == 1 || y.dim[1] == 1 : y.vector >= block_ && block_ <= y.vector;
  }

  int pixels_of(std::int64_t b) const { return b + 1 == blocks_ ? tail_pixels_ : 1; }

  int slot(int c) const { return fused_ ? depthwise_slot(c) : c; }

  void spread_affine(const TileEpilogue::Bound& bound, float* out) const {
    const TileEpilogue::Program& program = epilogue_.program();
    const auto value = [&](int index, std::int64_t c) {
      if (index < 0) return 0.0f;
      const TileEpilogue::Param& param = program.params[static_cast<std::size_t>(index)];
      return reinterpret_cast<const float*>(bound.params + param.offset)[param.channel ? c : 0];
    };
    for (std::int64_t b = 0; b < blocks_; ++b, out += 2 * kDepthwiseBlock) {
      for (int i = 0; i < kDepthwiseBlock; ++i) {
        const std::int64_t c = b * block_ + i % (kDepthwiseBlock / pixels_of(b));
        const bool real = c < std::min((b + 1) * block_, problem_.x.dim[1]);
        out[slot(i)] = real ? value(program.affine.scale, c) : 0.0f;
        out[kDepthwiseBlock + slot(i)] = real ? value(program.affine.bias, c) : 0.0f;
      }
    }
  }

  void pack(const void* filter, std::byte* out) const {
    const auto* w = static_cast<const std::int8_t*>(filter);
    const bool flip = problem_.mode == ConvolutionMode_t::CONVOLUTION;
    const int last = 1 + problem_.spatial();
    const std::int32_t shift = (problem_.x.type == DataType_t::INT8 ? 128 : 0) + problem_.zero_points.x;
    for (std::int64_t b = 0; b < blocks_; ++b, out += block_bytes_) {
      std::memset(out, 0, block_bytes_);
      const int lanes = kDepthwiseBlock / pixels_of(b);
      auto* weights = reinterpret_cast<std::int8_t*>(out);
      auto* start = reinterpret_cast<std::int32_t*>(out + shifts_ * weight_bytes_);
      for (int i = 0; i < block_ && b * block_ + i < problem_.x.dim[1]; ++i) {
        std::int32_t sum = 0;
        for (int r = 0; r < plane_.filter_rows; ++r) {
          for (int s = 0; s < plane_.filter_columns; ++s) {
            std::int64_t index[kMaxRank] = {b * block_ + i, 0};
            if (problem_.spatial() == 2) index[2] = flip ? plane_.filter_rows - 1 - r : r;
            index[last] = flip ? plane_.filter_columns - 1 - s : s;
            const std::int8_t v = w[problem_.w.offset(index)];
            sum += v;
            for (int k = 0; k < shifts_; ++k) {
              const int row = r + k;
              for (int lane = i; lane < kDepthwiseBlock; lane += lanes)
                weights[k * weight_bytes_ +
                        ((static_cast<std::size_t>(s) * groups_ + row / 4) * kDepthwiseBlock + slot(lane)) * 4 + row % 4] = v;
            }
          }
        }
        for (int lane = i; lane < kDepthwiseBlock; lane += lanes)
          start[slot(lane)] = static_cast<std::int32_t>(-static_cast<std::int64_t>(shift) * sum);
      }
    }
  }

  /// Asks for the image rows that the output rows from `row` on need and those before did not.
  void prefetch_rows(const Args& args, std::int64_t n, std::int64_t row) const {
    const TensorDesc& x = problem_.x;
    if (x.vector != 1) return;
    const std::int64_t bytes = (plane_.width - 1) * plane_.column_stride + x.dim[1];
    const std::int64_t bottom =
        (row + shifts_ - 1) * plane_.step_rows - plane_.pad_rows + (plane_.filter_rows - 1) * plane_.dilation_rows;
    for (std::int64_t h = std::max<std::int64_t>(0, bottom - shifts_ * plane_.step_rows + 1); h <= bottom && h < plane_.height;
         ++h) {
      const auto* at = static_cast<const char*>(args.x) + n * x.stride[0] + h * plane_.row_stride;
      for (std::int64_t i = 0; i < std::min<std::int64_t>(bytes, 1 << 15); i += 64) __builtin_prefetch(at + i, 0, 2);
    }
  }

  void run_rows(const Call& call, std::byte* scratch, std::int64_t n, std::int64_t row, std::int64_t end,
                std::int64_t b) const {
    const TensorDesc& x = problem_.x;
    const std::int64_t channel = b * block_;
    const std::int64_t channel_offset = x.vector > 1 ? channel / x.vector * x.stride[1] : channel;
    const auto* image = static_cast<const std::uint8_t*>(call.args->x) + n * x.stride[0] + channel_offset;
    const std::uint8_t* rows[kMaxFilterRows + 4];
    for (int r = 0; r < 4 * groups_; ++r) {
      // With a row stride or dilation of more than 1 the rows past the filter meet zero weights: any bytes will do.
      const std::int64_t h = row * plane_.step_rows - plane_.pad_rows + r * plane_.dilation_rows;
      rows[r] = h >= 0 && h < plane_.height && r < plane_.filter_rows + shifts_ - 1 ? image + h * plane_.row_stride : nullptr;
    }
    const std::byte* packed = call.packed + b * block_bytes_;
    DepthwiseTile t{};
    t.rows = rows;
    t.column_bytes = plane_.column_stride;
    t.width = plane_.width;
    t.groups = groups_;
    t.filter_columns = plane_.filter_columns;
    t.pixels = pixels_of(b);
    t.tap = t.pixels > 1 ? phase_taps_.data() : taps_.data();
    t.advance = static_cast<std::size_t>(t.pixels > 1 ? t.pixels : plane_.step_columns) * groups_ * 256;
    t.channels = static_cast<int>(std::min(block_, x.dim[1] - channel));
    t.flip = x.type == DataType_t::INT8 ? 0x80 : 0;
    t.fill = static_cast<std::uint8_t>(static_cast<std::uint8_t>(problem_.zero_points.x) ^ t.flip);
    t.start = reinterpret_cast<const std::int32_t*>(packed + shifts_ * weight_bytes_);
    t.buffer = reinterpret_cast<std::uint8_t*>(scratch);
    t.sums = reinterpret_cast<std::int32_t*>(scratch + buffer_bytes_);
    for (std::int64_t q = 0; q < plane_.out_width; q += kDepthwiseColumns) {
      t.count = static_cast<int>(std::min<std::int64_t>(kDepthwiseColumns, plane_.out_width - q));
      t.first_column = q * plane_.step_columns - plane_.pad_columns;
      t.columns = static_cast<int>((t.count - 1) * plane_.step_columns + (t.filter_columns - 1) * plane_.dilation_columns + 1);
      if (t.pixels > 1) {
        fill_shared(t, scratch + buffer_bytes_ + sums_bytes_);
      } else {
        (fused_ ? kernels_.fill_slots : kernels_.fill)(t);
      }
      for (std::int64_t p = row; p < end; ++p) {
        t.weights = reinterpret_cast<const std::int8_t*>(packed + (p - row) * weight_bytes_);
        finish_row(call, t, n, p, q, b);
      }
    }
  }

  /// Lays the narrow block's columns side by side, phase by phase, and fills the buffer from there: 64 bytes at column j
  /// hold columns j to j + pixels - 1.
  void fill_shared(const DepthwiseTile& t, std::byte* scratch) const {
    const std::size_t slot_bytes = 64 / t.pixels;
    const std::int64_t step = plane_.step_columns;
    const std::uint8_t* lines[kMaxFilterRows + 4];
    for (int r = 0; r < 4 * groups_; ++r) {
      lines[r] = reinterpret_cast<std::uint8_t*>(scratch) + r * line_bytes_;
      kernels_.line(t, t.rows[r], static_cast<int>(step), phase_columns_,
                    reinterpret_cast<std::uint8_t*>(scratch) + r * line_bytes_);
    }
    DepthwiseTile from = t;
    from.rows = lines;
    from.column_bytes = static_cast<std::ptrdiff_t>(slot_bytes);
    from.width = from.columns = static_cast<int>(step * phase_columns_);
    from.first_column = 0;
    from.channels = kDepthwiseBlock;
    from.flip = 0;
    (fused_ ? kernels_.fill_slots : kernels_.fill)(from);
  }

  void finish_row(const Call& call, const DepthwiseTile& t, std::int64_t n, std::int64_t p, std::int64_t q,
                  std::int64_t b) const {
    const std::int64_t channel = b * block_;
    if (call.fused) {
      const TensorDesc& y = problem_.epilogue.outputs.back().desc;
      DepthwiseAffine a{};
      a.scale = call.affine + b * 2 * kDepthwiseBlock;
      a.bias = a.scale + kDepthwiseBlock;
      a.relu = epilogue_.program().affine.relu;
      a.is_unsigned = y.type == DataType_t::UINT8;
      std::int64_t at[kMaxRank] = {n, channel, p, q};
      if (problem_.spatial() == 1) at[2] = q;
      a.out = static_cast<std::uint8_t*>(call.args->outputs.back()) + y.offset(at);
      a.out_stride = y.stride[1 + problem_.spatial()];
      return kernels_.fused(t, a);
    }
    if (fused_) {
      DepthwiseTile all = t;
      all.channels = kDepthwiseBlock;  // slots of few channels lie in every vector
      kernels_.sums(all);
      unslot(t);
    } else {
      kernels_.sums(t);
    }
    Rows out;
    out.outer = n;
    out.spatial = {p, q};
    if (problem_.spatial() == 1) out.spatial = {q};
    out.count = t.count;
    out.channel = channel;
    out.channels = t.channels;
    epilogue_.run(call.bound, out, t.sums, kDepthwiseBlock / t.pixels);
  }

  /// The packed filter is in slot order and this call's scales rule the fused form out (rare: infinite or huge ones).
  static void unslot(const DepthwiseTile& t) {
    for (int o = 0; o < t.count; ++o) {
      std::int32_t* sums = t.sums + static_cast<std::size_t>(o) * kDepthwiseBlock;
      std::int32_t row[kDepthwiseBlock];
      std::memcpy(row, sums, sizeof row);
      for (int c = 0; c < kDepthwiseBlock; ++c) sums[c] = row[depthwise_slot(c)];
    }
  }

  Problem problem_;
  Plane plane_{};
  DepthwiseKernels kernels_{};
  TileEpilogue epilogue_;
  std::vector<std::byte> packed_;
  bool fused_ = false;
  int threads_ = 1, groups_ = 1, phase_columns_ = 1, shifts_ = 1, tail_pixels_ = 1;
  std::vector<std::size_t> taps_, phase_taps_;
  std::int64_t block_ = kDepthwiseBlock, blocks_ = 1;
  std::size_t weight_bytes_ = 0, block_bytes_ = 0, buffer_bytes_ = 0, sums_bytes_ = 0, line_bytes_ = 0, thread_bytes_ = 0;
};

error_t build(const Problem& problem, const std::string&, const DeviceTraits& device, const BuildOptions& options,
              std::unique_ptr<Plan>& plan) {
  auto built = std::make_unique<DepthwisePlan>();
  OCTAVO_RETURN_IF_ERROR(built->init(problem, device, options));
  plan = std::move(built);
  return {};
}

}  // namespace

extern const Path kDepthwiseS8;
const Path kDepthwiseS8{"depthwise_s8", accepts, candidates, build};

}  // namespace octavo::cpu_native
