// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// wgrad. A filter element is the sum, over all (n, output pixel) whose tap meets the image, of x times dy. The positions of
// one tap are taken in blocks; a block's x and dy are gathered as one row a channel, and each element gets a dot product.

#include <algorithm>

#include "engines/cpu_reference/gather.h"
#include "engines/cpu_reference/plan.h"

namespace octavo::cpu_reference {
namespace {

constexpr std::int64_t kPositions = 256;  ///< summed per block
constexpr std::int64_t kFilters = 32;     ///< output channels of a task
constexpr std::int64_t kChannels = 128;   ///< input channels of a task

template <class E>
class WgradPlan final : public ReferencePlan {
  using Acc = typename Sum<E>::type;

 public:
  WgradPlan(const Problem& problem, const BuildOptions& options)
      : ReferencePlan(problem, options),
        x_(problem.x),
        y_(problem.y),
        k_tile_(std::clamp<std::int64_t>(g_.k_per_group, 1, kFilters)),
        c_tile_(std::clamp<std::int64_t>(g_.c_per_group, 1, kChannels)),
        k_tiles_((g_.k_per_group + k_tile_ - 1) / k_tile_),
        c_tiles_((g_.c_per_group + c_tile_ - 1) / c_tile_),
        tasks_(g_.taps * g_.groups * k_tiles_ * c_tiles_),
        slots_(std::clamp<std::int64_t>(tasks_, 1, 64)),
        gather_x_(gather_at<E>(x_.type)),
        gather_y_(gather_at<E>(y_.type)) {
    Slices measure;
    (void)scratch(measure, 0);
    workspace_ = measure.used() + 64;
  }

 protected:
  void run(const Args& args) const override {
    for_each_task(slots_, [&](std::int64_t slot, int) {
      Slices slices(args.workspace);
      const Scratch s = scratch(slices, slot);
      for (std::int64_t task = slot; task < tasks_; task += slots_) do_task(args, task, s);
    });
  }

 private:
  struct Scratch {
    E *x, *y;  ///< [channel][position]
    std::int64_t *x_offsets, *y_offsets;
    Acc* sums;  ///< [filter][channel]
    Scalar* values;
  };

  Scratch scratch(Slices& s, std::int64_t slot) const {
    const std::int64_t values = static_cast<std::int64_t>(epilogue_.value_count());
    Scratch r;
    r.x = s.take<E>(slots_ * c_tile_ * kPositions) + slot * c_tile_ * kPositions;
    r.y = s.take<E>(slots_ * k_tile_ * kPositions) + slot * k_tile_ * kPositions;
    r.x_offsets = s.take<std::int64_t>(slots_ * kPositions) + slot * kPositions;
    r.y_offsets = s.take<std::int64_t>(slots_ * kPositions) + slot * kPositions;
    r.sums = s.take<Acc>(slots_ * k_tile_ * c_tile_) + slot * k_tile_ * c_tile_;
    r.values = s.take<Scalar>(slots_ * values) + slot * values;
    return r;
  }

  void do_task(const Args& args, std::int64_t task, const Scratch& s) const {
    const std::int64_t c0 = task % c_tiles_ * c_tile_, k0 = task / c_tiles_ % k_tiles_ * k_tile_;
    const std::int64_t group = task / (c_tiles_ * k_tiles_) % g_.groups;
    const Triple tap = unravel(task / (c_tiles_ * k_tiles_ * g_.groups), g_.filter);
    const std::int64_t cs = std::min(c_tile_, g_.c_per_group - c0), ks = std::min(k_tile_, g_.k_per_group - k0);
    const std::int64_t c_first = group * g_.c_per_group + c0, k_first = group * g_.k_per_group + k0;
    std::fill_n(s.sums, ks * cs, Acc{0});

    std::int64_t count = 0;
    const auto add_block = [&] {
      for (std::int64_t c = 0; c < cs; ++c)
        gather_x_(args.x, s.x_offsets, count, x_.channel_offset(c_first + c), problem_.zero_points.x, s.x + c * kPositions);
      for (std::int64_t k = 0; k < ks; ++k)
        gather_y_(args.y, s.y_offsets, count, y_.channel_offset(k_first + k), 0, s.y + k * kPositions);
      for (std::int64_t k = 0; k < ks; ++k)
        for (std::int64_t c = 0; c < cs; ++c) s.sums[k * cs + c] += dot(s.x + c * kPositions, s.y + k * kPositions, count);
      count = 0;
    };
    const std::int64_t pixels = product(g_.out);
    for (std::int64_t n = 0; n < g_.n; ++n) {
      for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
        const Triple out = unravel(pixel, g_.out);
        Triple in;
        if (!g_.input_at(out, tap, in)) continue;
        s.x_offsets[count] = n * x_.batch + x_.spatial_offset(in);
        s.y_offsets[count] = n * y_.batch + y_.spatial_offset(out);
        if (++count == kPositions) add_block();
      }
    }
    if (count > 0) add_block();

    std::int64_t index[kMaxRank];
    for (std::int64_t k = 0; k < ks; ++k)
      for (std::int64_t c = 0; c < cs; ++c) {
        result_index(k_first + k, c0 + c, g_.filter_at(tap), index);
        epilogue_(index, accumulator(s.sums[k * cs + c]), args, s.values);
      }
  }

  const View x_, y_;
  const std::int64_t k_tile_, c_tile_, k_tiles_, c_tiles_, tasks_, slots_;
  const GatherAtFn<E> gather_x_, gather_y_;
};

}  // namespace

std::unique_ptr<Plan> make_wgrad_plan(const Problem& problem, const BuildOptions& options) {
  switch (packed_type(problem)) {
    case Packed::int16:
      return std::make_unique<WgradPlan<std::int16_t>>(problem, options);
    case Packed::int32:
      return std::make_unique<WgradPlan<std::int32_t>>(problem, options);
    default:
      return std::make_unique<WgradPlan<double>>(problem, options);
  }
}

}  // namespace octavo::cpu_reference
