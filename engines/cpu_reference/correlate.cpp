// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// fprop and dgrad. Both give each result pixel, for each of its channels, the sum over the taps that meet a pixel of the
// other tensor of a dot product over that tensor's channels; they differ in which pixel a tap meets. Taps that meet padding
// (or, in dgrad, no output pixel at all) contribute nothing, so NaN and inf stay where they are.

#include <algorithm>

#include "engines/cpu_reference/gather.h"
#include "engines/cpu_reference/plan.h"

namespace octavo::cpu_reference {
namespace {

template <class E>
class CorrelatePlan final : public ReferencePlan {
 public:
  CorrelatePlan(const Problem& problem, const BuildOptions& options)
      : ReferencePlan(problem, options),
        forward_(problem.direction == Direction::fprop),
        in_(forward_ ? problem.x : problem.y),
        w_(problem.w),
        channels_(forward_ ? g_.k : g_.c),
        per_group_(forward_ ? g_.k_per_group : g_.c_per_group),
        inner_(forward_ ? g_.c_per_group : g_.k_per_group),
        box_(forward_ ? g_.out : g_.in),
        pixels_(g_.n * product(box_)),
        gather_in_(gather<E>(in_.type)),
        gather_w_(gather<E>(w_.type)) {
    constexpr std::int64_t kFilterBytes = std::int64_t{32} << 20, kScratchBytes = std::int64_t{64} << 20;
    const std::int64_t row = std::max<std::int64_t>(1, g_.taps * inner_) * static_cast<std::int64_t>(sizeof(E));
    block_ = std::clamp<std::int64_t>(kFilterBytes / row, 1, std::max<std::int64_t>(channels_, 1));
    chunks_ = std::clamp<std::int64_t>(kScratchBytes / row, 16, 256);
    chunks_ = std::max<std::int64_t>(1, std::min(chunks_, pixels_));
    Slices measure;
    (void)layout(measure);
    workspace_ = measure.used() + 64;
  }

 protected:
  void run(const Args& args) const override {
    Slices slices(args.workspace);
    const Workspace ws = layout(slices);
    for (std::int64_t first = 0; first < channels_; first += block_) {
      const std::int64_t last = std::min(first + block_, channels_);
      for_each_task(last - first, [&](std::int64_t m, int) { pack_filter(args, first + m, ws.filter + m * g_.taps * inner_); });
      for_each_task(chunks_, [&](std::int64_t chunk, int) {
        const Scratch scratch = ws.scratch(chunk, *this);
        const std::int64_t end = share(chunk + 1);
        for (std::int64_t pixel = share(chunk); pixel < end; ++pixel) do_pixel(args, pixel, first, last, ws.filter, scratch);
      });
    }
  }

 private:
  struct Scratch {
    E* patch;            ///< [valid tap][inner]: the other tensor's channels that this pixel meets
    std::int64_t* taps;  ///< which taps those are
    Scalar* values;
  };
  struct Workspace {
    E* filter;  ///< [channel of this block][tap][inner]
    E* patch;
    std::int64_t* taps;
    Scalar* values;
    Scratch scratch(std::int64_t chunk, const CorrelatePlan& p) const {
      return {patch + chunk * p.g_.taps * p.inner_, taps + chunk * p.g_.taps,
              values + chunk * static_cast<std::int64_t>(p.epilogue_.value_count())};
    }
  };

  Workspace layout(Slices& s) const {
    Workspace ws;
    ws.filter = s.take<E>(block_ * g_.taps * inner_);
    ws.patch = s.take<E>(chunks_ * g_.taps * inner_);
    ws.taps = s.take<std::int64_t>(chunks_ * g_.taps);
    ws.values = s.take<Scalar>(chunks_ * static_cast<std::int64_t>(epilogue_.value_count()));
    return ws;
  }

  /// The first pixel of a chunk: pixels_ * chunk / chunks_ without the product's overflow.
  std::int64_t share(std::int64_t chunk) const { return pixels_ / chunks_ * chunk + pixels_ % chunks_ * chunk / chunks_; }

  std::int32_t filter_zero_point(const Args& args, std::int64_t k) const {
    switch (problem_.zero_points.filter) {
      case ZeroPoints::Filter::scalar:
        return problem_.zero_points.w;
      case ZeroPoints::Filter::per_channel:
        return args.w_zero_points[k];
      default:
        return 0;
    }
  }

  /// Everything that result channel m multiplies with, as one contiguous row.
  void pack_filter(const Args& args, std::int64_t m, E* to) const {
    const std::int64_t k0 = m / per_group_ * g_.k_per_group;
    for (std::int64_t t = 0; t < g_.taps; ++t, to += inner_) {
      const std::int64_t tap = w_.spatial_offset(g_.filter_at(unravel(t, g_.filter)));
      if (forward_) {
        gather_w_(args.w, {m * w_.batch + tap, 0, inner_, w_.channel, w_.vector}, filter_zero_point(args, m), to);
      } else {
        const std::int64_t base = w_.channel_offset(m % per_group_) + tap;
        for (std::int64_t j = 0; j < inner_; ++j)
          gather_w_(args.w, {base, k0 + j, 1, w_.batch, 1}, filter_zero_point(args, k0 + j), to + j);
      }
    }
  }

  void do_pixel(const Args& args, std::int64_t pixel, std::int64_t first, std::int64_t last, const E* filter,
                const Scratch& s) const {
    const std::int64_t n = pixel / product(box_);
    const Triple at = unravel(pixel % product(box_), box_);
    const void* data = forward_ ? args.x : args.y;
    const std::int32_t zero_point = forward_ ? problem_.zero_points.x : 0;
    std::int64_t index[kMaxRank];
    for (std::int64_t m = first; m < last;) {
      const std::int64_t group = m / per_group_, group_end = std::min((group + 1) * per_group_, last);
      std::int64_t valid = 0;
      for (std::int64_t t = 0; t < g_.taps; ++t) {
        Triple other;
        const Triple tap = unravel(t, g_.filter);
        if (!(forward_ ? g_.input_at(at, tap, other) : g_.output_at(at, tap, other))) continue;
        gather_in_(data, {n * in_.batch + in_.spatial_offset(other), group * inner_, inner_, in_.channel, in_.vector},
                   zero_point, s.patch + valid * inner_);
        s.taps[valid++] = t;
      }
      for (; m < group_end; ++m) {
        const E* row = filter + (m - first) * g_.taps * inner_;
        typename Sum<E>::type sum = 0;
        if (valid == g_.taps) {
          sum = dot(s.patch, row, g_.taps * inner_);
        } else {
          for (std::int64_t v = 0; v < valid; ++v) sum += dot(s.patch + v * inner_, row + s.taps[v] * inner_, inner_);
        }
        result_index(n, m, at, index);
        epilogue_(index, accumulator(sum), args, s.values);
      }
    }
  }

  const bool forward_;
  const View in_, w_;
  const std::int64_t channels_, per_group_, inner_;  ///< of the result; per group; summed over
  const Triple box_;                                 ///< the result's spatial size
  const std::int64_t pixels_;
  std::int64_t block_, chunks_;
  const GatherFn<E> gather_in_, gather_w_;
};

}  // namespace

std::unique_ptr<Plan> make_correlate_plan(const Problem& problem, const BuildOptions& options) {
  switch (packed_type(problem)) {
    case Packed::int16:
      return std::make_unique<CorrelatePlan<std::int16_t>>(problem, options);
    case Packed::int32:
      return std::make_unique<CorrelatePlan<std::int32_t>>(problem, options);
    default:
      return std::make_unique<CorrelatePlan<double>>(problem, options);
  }
}

}  // namespace octavo::cpu_reference
