// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// fprop and dgrad of f32, bf16 and f16: the direct sum in f32, tiles of pixels x channels held in registers.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

#include "core/parallel.h"
#include "engines/cpu_native/direct_float_plan.h"
#include "engines/cpu_native/path.h"

namespace octavo::cpu_native {
namespace {

constexpr std::size_t kAlign = 64;
constexpr std::int64_t kFloat = sizeof(float);

template <class T>
T* align_up(T* p) {
  const auto v = reinterpret_cast<std::uintptr_t>(p);
  return reinterpret_cast<T*>((v + kAlign - 1) / kAlign * kAlign);
}

}  // namespace

DirectFloatPlan::DirectFloatPlan(const Problem& problem, const DeviceTraits& device, int vectors)
    : problem_(merge_pointwise(problem)), device_(device), kernels_(f32_kernels(device.isa)), g_(float_geometry(problem_)) {
  slots_ = std::max(1, device.threads);
  b_ = choose_blocking(g_, kernels_, device_, vectors);
}

error_t DirectFloatPlan::prepare(const BuildOptions& options) {
  OCTAVO_RETURN_IF_ERROR(epilogue_.compile(problem_, kernels_, device_.isa));
  store_direct_ = epilogue_.in_place() && b_.rounds(g_.ic) == 1;
  for (std::int64_t c = 0; c < g_.combos(); ++c) {
    Combo combo;
    combo.filter = filter_floats_;
    combo.filter_taps = g_.taps(c);
    filter_floats_ += combo.filter_taps * g_.ic * b_.columns * g_.groups;
    const AxisPhase &pd = g_.phase(0, c), &ph = g_.phase(1, c), &pw = g_.phase(2, c);
    for (const std::int64_t od : pd.offset) {
      for (const std::int64_t oh : ph.offset) {
        for (const std::int64_t ow : pw.offset) {
          const std::int64_t at = b_.direct ? od * g_.in_stride[0] + oh * g_.in_stride[1] + ow * g_.in_stride[2]
                                            : g_.axis[0].strip_offset(od) * b_.plane + g_.axis[1].strip_offset(oh) * b_.row +
                                                  g_.axis[2].strip_offset(ow) * b_.pitch;
          combo.taps.push_back({at * kFloat, static_cast<std::int64_t>(combo.taps.size())});
          if (b_.merged) break;
        }
      }
    }
    if (b_.merged) combo.depth_per_channel = static_cast<std::int64_t>(pw.offset.size());
    plan_segments(combo, c);
    tap_bytes_ = std::max(tap_bytes_, round_up(static_cast<std::int64_t>(combo.taps.size() * sizeof(FilterTap)), 64));
    combos_.push_back(std::move(combo));
  }
  if (options.constant_filter != nullptr) {
    constant_storage_ = std::make_unique<float[]>(static_cast<std::size_t>(filter_floats_) + kAlign / sizeof(float));
    float* packed = align_up(constant_storage_.get());
    constant_finite_ = pack_filter(options.constant_filter, packed);
    constant_filter_ = packed;
  }
  return {};
}

std::size_t DirectFloatPlan::workspace_bytes() const {
  const std::size_t floats =
      (constant_filter_ ? 0 : static_cast<std::size_t>(round_up(filter_floats_, 16))) +
      static_cast<std::size_t>(slots_) * static_cast<std::size_t>(b_.strip_floats + b_.acc_floats + tap_bytes_ / kFloat);
  return kAlign + static_cast<std::size_t>(round_up(static_cast<std::int64_t>(epilogue_.workspace_bytes()), kAlign)) +
         floats * sizeof(float);
}

std::string DirectFloatPlan::describe() const {
  return "direct f32 sum, tiles of " + std::to_string(kernels_.max_rows[b_.vectors]) + "x" +
         std::to_string(b_.vectors * kernels_.lanes) + (b_.direct ? ", input in place, " : ", packed input, ") +
         std::to_string(b_.tasks) + " tasks";
}

// One item: one phase, group and block of channels, all rounds.
bool DirectFloatPlan::pack_filter_item(const void* w, float* packed, std::int64_t item) const {
  const std::int64_t n_blocks = static_cast<std::int64_t>(b_.blocks.size());
  const ChannelBlock& block = b_.blocks[item % n_blocks];
  const std::int64_t group = item / n_blocks % g_.groups;
  const std::int64_t c = item / n_blocks / g_.groups;
  const Combo& combo = combos_[c];
  const std::int64_t width = static_cast<std::int64_t>(block.vectors) * kernels_.lanes;
  const std::int64_t bytes = element_bytes(g_.filter.type);
  const AxisPhase &pd = g_.phase(0, c), &ph = g_.phase(1, c), &pw = g_.phase(2, c);
  bool finite = true;
  constexpr std::int64_t kRun = 64;
  std::array<std::int64_t, kRun> offsets;
  for (std::int64_t first = 0; first < g_.ic; first += b_.chunk) {
    const std::int64_t depth = std::min(b_.chunk, g_.ic - first);
    float* dst = packed + combo.filter + combo.filter_taps * b_.columns * (group * g_.ic + first) +
                 combo.filter_taps * depth * block.column;
    for (const std::int64_t fd : pd.filter) {
      for (const std::int64_t fh : ph.filter) {
        for (const std::int64_t fw : pw.filter) {
          const std::int64_t tap = fd * g_.filter_stride[0] + fh * g_.filter_stride[1] + fw * g_.filter_stride[2];
          for (std::int64_t i = 0; i < depth; i += kRun) {
            const std::int64_t run = std::min(kRun, depth - i);
            for (std::int64_t j = 0; j < run; ++j) offsets[j] = g_.filter_offset(group, 0, first + i + j);
            if (g_.filter.vector == 1 || !g_.dgrad) {
              // From one output channel to the next is one stride.
              const std::int64_t o_stride = g_.dgrad ? g_.filter.stride[1] : g_.filter.stride[0];
              pack_filter_tap(dst + i * width, width, static_cast<const char*>(w) + (tap + block.first * o_stride) * bytes,
                              g_.filter.type, o_stride, offsets.data(), run, block.count, width);
            } else {
              for (std::int64_t l = 0; l < width; ++l) {
                const std::int64_t o = g_.filter_offset(0, block.first + l, 0);
                for (std::int64_t j = 0; j < run; ++j) {
                  float* at = dst + (i + j) * width + l;
                  if (l >= block.count) {
                    *at = 0;
                  } else {
                    kernels_.widen(at, static_cast<const char*>(w) + (tap + o + offsets[j]) * bytes, 1, g_.filter.type);
                  }
                }
              }
            }
          }
          for (std::int64_t i = 0; i < depth * width; ++i) finite = finite && std::isfinite(dst[i]);
          dst += depth * width;
        }
      }
    }
  }
  return finite;
}

bool DirectFloatPlan::pack_filter(const void* w, float* packed) const {
  const std::int64_t items = static_cast<std::int64_t>(b_.blocks.size()) * g_.groups * g_.combos();
  std::atomic<bool> finite{true};
  parallel_for(items, [&](std::int64_t item, int) {
    if (!pack_filter_item(w, packed, item)) finite.store(false, std::memory_order_relaxed);
  });
  return finite.load();
}

error_t DirectFloatPlan::execute(const Args& args) const {
  Call call;
  call.args = &args;
  call.in = g_.dgrad ? args.y : args.x;
  std::byte* at = align_up(static_cast<std::byte*>(args.workspace));
  call.bound = epilogue_.bind(args, at);
  at += round_up(static_cast<std::int64_t>(epilogue_.workspace_bytes()), kAlign);
  float* floats = reinterpret_cast<float*>(at);
  call.filter = constant_filter_;
  call.finite = constant_finite_;
  if (!constant_filter_) {
    call.finite = pack_filter(args.w, floats);
    call.filter = floats;
    floats += round_up(filter_floats_, 16);
  }
  call.scratch = floats;
  call.scratch_floats = b_.strip_floats + b_.acc_floats + tap_bytes_ / kFloat;
  // As many workers as there is scratch for; each takes the next task when it is free.
  std::atomic<std::int64_t> next{0};
  parallel_for(std::min<std::int64_t>(slots_, b_.tasks), [&](std::int64_t slot, int) {
    for (std::int64_t task; (task = next.fetch_add(1, std::memory_order_relaxed)) < b_.tasks;) {
      run_task(call, task, static_cast<int>(slot));
    }
  });
  return {};
}

namespace {

Verdict accepts(const Problem& problem, const DeviceTraits&) {
  if (std::string why = float_objection(problem, Direction::fprop, Direction::dgrad); !why.empty())
    return Verdict::no(std::move(why));
  return Verdict::yes();
}

std::vector<Candidate> candidates(const Problem& problem, const DeviceTraits& device) {
  const FloatGeometry g = float_geometry(merge_pointwise(problem));
  const F32Kernels& kernels = f32_kernels(device.isa);
  std::vector<Candidate> list;
  const int most = static_cast<int>(std::clamp<std::int64_t>(ceil_div(g.oc, kernels.lanes), 1, kernels.max_vectors));
  for (int v = 1; v <= most; ++v) list.push_back({"v" + std::to_string(v), choose_blocking(g, kernels, device, v).cost_us});
  // Equal counts are decided by what the count leaves out: traffic of the filter.
  const int best = std::min(most, choose_vectors(kernels, g.oc, std::min<std::int64_t>(g.axis[2].points, 224)));
  list[static_cast<std::size_t>(best - 1)].cost_us *= 0.98;
  std::stable_sort(list.begin(), list.end(), [](const Candidate& a, const Candidate& b) { return a.cost_us < b.cost_us; });
  return list;
}

error_t build(const Problem& problem, const std::string& config, const DeviceTraits& device, const BuildOptions& options,
              std::unique_ptr<Plan>& plan) {
  const int most = f32_kernels(device.isa).max_vectors;
  const int vectors = config.size() == 2 && config[0] == 'v' ? config[1] - '0' : 0;
  if (vectors < 1 || vectors > most) {
    return {error_code_t::INVALID_VALUE, "Config '" + config + "' of path direct_float must be v1 to v" + std::to_string(most) +
                                             "; take it from plan_specs()."};
  }
  auto direct = std::make_unique<DirectFloatPlan>(problem, device, vectors);
  OCTAVO_RETURN_IF_ERROR(direct->prepare(options));
  plan = std::move(direct);
  return {};
}

}  // namespace

extern const Path kDirectFloat;
const Path kDirectFloat{"direct_float", accepts, candidates, build};

}  // namespace octavo::cpu_native
