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

template <class T>
T* align_up(T* p) {
  const auto v = reinterpret_cast<std::uintptr_t>(p);
  return reinterpret_cast<T*>((v + kAlign - 1) / kAlign * kAlign);
}

}  // namespace

struct DirectFloatPlan::Call {
  const Args* args = nullptr;
  const void* in = nullptr;
  const float* filter = nullptr;
  bool finite = true;  ///< the filter is
  TileEpilogue::Bound bound;
  float* scratch = nullptr;  // per slot: strip, accumulators
  std::int64_t scratch_floats = 0;
};

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
          combo.taps.push_back(at * static_cast<std::int64_t>(sizeof(float)));
          if (b_.merged) break;
        }
      }
    }
    if (b_.merged) combo.depth_per_channel = static_cast<std::int64_t>(pw.offset.size());
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
  const std::size_t floats = (constant_filter_ ? 0 : static_cast<std::size_t>(round_up(filter_floats_, 16))) +
                             static_cast<std::size_t>(slots_) * static_cast<std::size_t>(b_.strip_floats + b_.acc_floats);
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
  call.scratch_floats = b_.strip_floats + b_.acc_floats;
  // As many workers as there is scratch for; each takes the next task when it is free.
  std::atomic<std::int64_t> next{0};
  parallel_for(std::min<std::int64_t>(slots_, b_.tasks), [&](std::int64_t slot, int) {
    for (std::int64_t task; (task = next.fetch_add(1, std::memory_order_relaxed)) < b_.tasks;) {
      run_task(call, task, static_cast<int>(slot));
    }
  });
  return {};
}

void DirectFloatPlan::run_columns(TapsArgs t, int vectors, const float* a, std::int64_t pixel, float* c, std::int64_t stride,
                                  std::int64_t columns) const {
  t.a_row = pixel * static_cast<std::int64_t>(sizeof(float));
  t.c_row = stride * static_cast<std::int64_t>(sizeof(float));
  const std::int64_t tiles = ceil_div(columns, kernels_.max_rows[vectors]);
  for (std::int64_t tile = 0, at = 0; tile < tiles; ++tile) {
    const std::int64_t rows = columns / tiles + (tile < columns % tiles ? 1 : 0);
    t.a = a + at * pixel;
    t.c = c + at * stride;
    kernels_.taps(static_cast<int>(rows), vectors, t);
    at += rows;
  }
}

// The filter has infinities or NaN: 0 * inf from padding must not enter a sum, so each tap runs over the points whose input
// is inside the image. The order of the sum is the same.
void DirectFloatPlan::run_carefully(TapsArgs t, int vectors, std::int64_t combo, const std::array<std::int64_t, 3>& point,
                                    std::int64_t depth, const float* a, std::int64_t pixel, float* c, std::int64_t stride,
                                    std::int64_t columns) const {
  const AxisPhase &pd = g_.phase(0, combo), &ph = g_.phase(1, combo), &pw = g_.phase(2, combo);
  const float* b = t.b;
  if (!t.accumulate) {
    t.n_taps = 0;  // zeros
    run_columns(t, vectors, a, pixel, c, stride, columns);
  }
  t.accumulate = true;
  t.n_taps = 1;
  t.depth = depth;
  const auto inside = [&](std::size_t axis, std::int64_t i, std::int64_t offset) {
    const std::int64_t at = i * g_.axis[axis].in_step + offset;
    return at >= 0 && at < g_.axis[axis].in;
  };
  for (const std::int64_t od : pd.offset) {
    for (const std::int64_t oh : ph.offset) {
      for (const std::int64_t ow : pw.offset) {
        t.b = b;
        b += depth * vectors * kernels_.lanes;
        if (!inside(0, point[0], od) || !inside(1, point[1], oh)) continue;
        std::int64_t begin = 0, end = columns;
        while (begin < end && !inside(2, point[2] + begin, ow)) ++begin;
        while (end > begin && !inside(2, point[2] + end - 1, ow)) --end;
        const std::int64_t at = (g_.axis[0].strip_offset(od) * b_.plane + g_.axis[1].strip_offset(oh) * b_.row +
                                 g_.axis[2].strip_offset(ow) * b_.pitch) *
                                static_cast<std::int64_t>(sizeof(float));
        t.taps = &at;
        run_columns(t, vectors, a + begin * pixel, pixel, c + begin * stride, stride, end - begin);
      }
    }
  }
}

void DirectFloatPlan::run_task(const Call& call, std::int64_t task, int slot) const {
  // Blocks of channels vary slowest: neighbours share the filter.
  const std::int64_t cw = task % b_.cuts[2];
  const std::int64_t ch = task / b_.cuts[2] % b_.cuts[1];
  const std::int64_t cd = task / (b_.cuts[2] * b_.cuts[1]) % b_.cuts[0];
  const std::int64_t ci = task / (b_.cuts[2] * b_.cuts[1] * b_.cuts[0]) % b_.image_cuts;
  const std::int64_t rest = task / (b_.cuts[2] * b_.cuts[1] * b_.cuts[0] * b_.image_cuts);
  const std::int64_t group = rest % g_.groups, cut = rest / g_.groups;

  const std::array<std::int64_t, 3> first{cd * b_.points[0], ch * b_.points[1], cw * b_.points[2]};
  std::array<std::int64_t, 3> count, out_first, out_end;
  for (int a = 0; a < 3; ++a) {
    const FloatAxis& axis = g_.axis[a];
    count[a] = std::min(b_.points[a], axis.points - first[a]);
    out_first[a] = first[a] * axis.steps();
    out_end[a] = std::min(axis.out, (first[a] + count[a]) * axis.steps());
  }
  const std::int64_t image = ci * b_.images, images = std::min(b_.images, g_.n - image);
  const std::size_t block_first = static_cast<std::size_t>(cut * b_.blocks_per_cut);
  const std::size_t block_end = std::min(b_.blocks.size(), block_first + static_cast<std::size_t>(b_.blocks_per_cut));
  const std::int64_t out_columns = out_end[2] - out_first[2];

  float* strip = call.scratch + slot * call.scratch_floats;
  float* acc = strip + b_.strip_floats;
  const std::int64_t strip_image = g_.axis[0].extent(b_.points[0]) * b_.plane;
  const std::int64_t rounds = b_.rounds(g_.ic);
  const std::int64_t acc_row_columns = b_.points[2] * g_.axis[2].steps();

  for (std::int64_t round = 0; round < rounds; ++round) {
    const std::int64_t channel = round * b_.chunk, depth = std::min(b_.chunk, g_.ic - channel);
    if (!b_.direct) {
      for (std::int64_t i = 0; i < images; ++i) {
        StripBox box;
        box.image = image + i;
        box.output = first;
        box.count = count;
        box.channel = group * g_.ic + channel;
        box.channels = depth;
        box.pitch = b_.pitch;
        box.row = b_.row;
        box.plane = b_.plane;
        pack_strip(kernels_, g_, call.in, box, strip + i * strip_image);
      }
    }
    for (std::size_t bi = block_first; bi < block_end; ++bi) {
      const ChannelBlock& block = b_.blocks[bi];
      const std::int64_t width = static_cast<std::int64_t>(block.vectors) * kernels_.lanes;
      std::int64_t acc_row = 0;
      for (std::int64_t i = 0; i < images; ++i) {
        for (std::int64_t od = out_first[0]; od < out_end[0]; ++od) {
          for (std::int64_t oh = out_first[1]; oh < out_end[1]; ++oh, ++acc_row) {
            const std::int64_t pd = od % g_.axis[0].steps(), ph = oh % g_.axis[1].steps();
            const std::int64_t di = od / g_.axis[0].steps(), hi = oh / g_.axis[1].steps();
            const std::int64_t acc_stride = rounds == 1 ? width : b_.columns;
            float* acc_at = rounds == 1 ? acc : acc + acc_row * acc_row_columns * b_.columns + block.column;
            float* out = nullptr;
            std::int64_t out_stride = 0;
            Rows r;
            r.outer = image + i;
            const std::int64_t point[3] = {od, oh, out_first[2]};
            for (int s = 0; s < g_.spatial; ++s) r.spatial[static_cast<std::size_t>(s)] = point[3 - g_.spatial + s];
            r.count = out_columns;
            r.channel = group * g_.oc + block.first;
            r.channels = block.count;
            if (store_direct_) {
              out = static_cast<float*>(epilogue_.address(*call.args, r));
              out_stride = epilogue_.pixel_stride();
            }
            for (std::int64_t pw = 0; pw < g_.axis[2].steps(); ++pw) {
              const std::int64_t c = (pd * g_.axis[1].steps() + ph) * g_.axis[2].steps() + pw;
              const Combo& combo = combos_[c];
              const std::int64_t columns = std::min(first[2] + count[2], g_.phase(2, c).outputs) - first[2];
              if (columns <= 0) continue;
              TapsArgs t;
              std::int64_t pixel;
              const float* a;
              if (b_.direct) {
                pixel = g_.in_stride[2] * g_.axis[2].in_step;
                a = static_cast<const float*>(call.in) + (image + i) * g_.in.stride[0] +
                    di * g_.axis[0].in_step * g_.in_stride[0] + hi * g_.axis[1].in_step * g_.in_stride[1] + first[2] * pixel +
                    (group * g_.ic + channel) * (g_.in.dim[1] == 1 ? 0 : 1);
              } else {
                pixel = b_.pitch * g_.axis[2].strip_step();
                a = strip + i * strip_image + (di - first[0]) * g_.axis[0].strip_step() * b_.plane +
                    (hi - first[1]) * g_.axis[1].strip_step() * b_.row;
              }
              t.taps = combo.taps.data();
              t.n_taps = static_cast<std::int64_t>(combo.taps.size());
              t.depth = depth * combo.depth_per_channel;
              t.b = call.filter + combo.filter + combo.filter_taps * b_.columns * (group * g_.ic + channel) +
                    combo.filter_taps * depth * block.column;
              const std::int64_t step = g_.axis[2].steps();
              float* target = out ? out + pw * out_stride : acc_at + pw * acc_stride;
              const std::int64_t target_stride = (out ? out_stride : acc_stride) * step;
              t.accumulate = round > 0;
              t.tail = out ? block.tail : 0;
              if (call.finite || b_.direct) {
                run_columns(t, block.vectors, a, pixel, target, target_stride, columns);
              } else {
                run_carefully(t, block.vectors, c, {di, hi, first[2]}, depth, a, pixel, target, target_stride, columns);
              }
            }
            if (!out && round + 1 == rounds && out_columns > 0) {
              epilogue_.run(call.bound, r, acc_at, acc_stride);
            }
          }
        }
      }
    }
  }
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
