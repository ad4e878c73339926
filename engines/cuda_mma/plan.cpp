// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "engines/cuda_mma/plan.h"

#include <algorithm>

#include "engine/registry.h"
#include "engines/cuda_common/cuda_engine.h"
#include "engines/cuda_mma/halo_params.h"
#include "engines/cuda_mma/igemm_params.h"
#include "engines/cuda_mma/sources.h"

namespace octavo::cuda::mma {
namespace {

constexpr std::size_t kAlign = 256;
std::size_t rounded(std::int64_t bytes) { return (static_cast<std::size_t>(bytes) + kAlign - 1) / kAlign * kAlign; }
unsigned blocks_for(std::int64_t threads, int per_block) {
  return static_cast<unsigned>(std::clamp<std::int64_t>((threads + per_block - 1) / per_block, 1, 1 << 16));
}

class MmaPlan : public Plan {
 public:
  MmaPlan(const Problem& p, const Lowered& l, const Config& c, const DeviceTraits& device)
      : slots_(p), l_(l), c_(c), ordinal_(device.ordinal), direction_(p.direction), empty_(p.result().elements() == 0) {
    if (empty_) return;
    launch_.block[0] = static_cast<unsigned>(threads_of(c));
    launch_.shared_bytes = static_cast<unsigned>(shared_bytes(c, l));
    std::int64_t blocks = 0;
    if (c.family == Family::halo) {
      halo_ = dev::halo_params(halo_config(c, l, device), l.halo(), halo_ranges(c, l, device));
      blocks = dev::halo_blocks(halo_);
    } else {
      const dev::IgemmConfig g = igemm_config(c, l);
      igemm_ = dev::igemm_params(g, l.igemm(), c.splits);
      blocks = dev::igemm_blocks(igemm_);
      if (g.split) {
        partial_bytes_ = rounded(dev::igemm_partial_bytes(g, igemm_));
        reduce_.grid[0] = static_cast<unsigned>((dev::igemm_reduce_threads(g, igemm_) + kReduceThreads - 1) / kReduceThreads);
        reduce_.block[0] = kReduceThreads;
      }
    }
    launch_.grid[0] = static_cast<unsigned>(blocks);
    if (l.x.packed) x_bytes_ = rounded(l.x.pack.bytes());
    if (l.w.packed) w_bytes_ = rounded(l.w.pack.bytes());
    if (l.correct) sum_bytes_ = rounded(l.k * 4);
    wide_ = store_granule(l) > 1;
  }

  error_t prepare(const Problem& p, const DeviceTraits& device, const BuildOptions& options) {
    if (empty_) return {};
    std::vector<jit::KernelRequest> all{main_request(p, l_, c_, device)};
    if (l_.x.packed) all.push_back(pack_request(l_.x.pack, device));
    if (l_.w.packed) all.push_back(pack_request(l_.w.pack, device));
    if (l_.correct) all.push_back(sums_request(l_.w.pack, device));
    for (const auto& binary : jit::compile_all(all))
      if (!binary) return binary.error();
    std::size_t next = 0;
    OCTAVO_RETURN_IF_ERROR(load_kernel(all[next++], device, static_cast<int>(launch_.shared_bytes), kernel_));
    if (reduce_.grid[0] > 0 && partial_bytes_ > 0) {
      auto binary = jit::compile(all[0]);
      if (!binary) return binary.error();
      OCTAVO_RETURN_IF_ERROR(Kernel::load(device.ordinal, (*binary)->cubin, kReduceEntry, 0, reduce_kernel_));
    }
    if (l_.x.packed) OCTAVO_RETURN_IF_ERROR(load_kernel(all[next++], device, 0, x_kernel_));
    if (l_.w.packed) OCTAVO_RETURN_IF_ERROR(load_kernel(all[next++], device, 0, w_kernel_));
    if (l_.correct) OCTAVO_RETURN_IF_ERROR(load_kernel(all[next++], device, 0, sum_kernel_));
    OCTAVO_RETURN_IF_ERROR(filter_.set(p, device, options));
    if (const void* constant = filter_.select(nullptr)) {
      // A constant filter is packed once.
      if (l_.w.packed) {
        OCTAVO_RETURN_IF_ERROR(Buffer::allocate(device.ordinal, w_bytes_, packed_filter_));
        OCTAVO_RETURN_IF_ERROR(pack(*w_kernel_, l_.w.pack, constant, packed_filter_.data(), nullptr));
      }
      if (l_.correct) {
        OCTAVO_RETURN_IF_ERROR(Buffer::allocate(device.ordinal, sum_bytes_, constant_sums_));
        OCTAVO_RETURN_IF_ERROR(sums(constant, constant_sums_.data(), nullptr));
      }
      OCTAVO_RETURN_IF_ERROR(synchronize(device.ordinal));
      if (l_.w.packed) w_bytes_ = 0;
      if (l_.correct) sum_bytes_ = 0;
    }
    const Engine* simt = cuda_simt_engine();
    const std::vector<PlanSpec> specs = simt->specs(p, device);
    return simt->build(p, specs.front(), device, options, unaligned_);
  }

  std::size_t shared_memory_bytes() const override { return kernel_ ? kernel_->shared_bytes(launch_) : 0; }
  std::size_t workspace_bytes() const override {
    const std::size_t bytes = partial_bytes_ + x_bytes_ + w_bytes_ + sum_bytes_;
    return bytes == 0 ? 0 : bytes + kAlign;  // its own start may be anywhere
  }

  error_t execute(const Args& args) const override {
    if (empty_) return {};
    const void* x = direction_ == Direction::dgrad ? args.y : args.x;
    const void* w = direction_ == Direction::wgrad ? args.y : filter_.select(args.w);
    if (!x) return missing_input(direction_ == Direction::dgrad ? "y" : "x");
    if (!w) return missing_input(direction_ == Direction::wgrad ? "y" : "w");
    std::uint64_t slots[kMaxEpilogueSlots];
    bool aligned = true;
    OCTAVO_RETURN_IF_ERROR(slots_.fill(args, slots, aligned));
    const auto fits = [&](const void* p) { return reinterpret_cast<std::uintptr_t>(p) % static_cast<unsigned>(l_.align) == 0; };
    if ((wide_ && !aligned) || (!l_.x.packed && !fits(x)) || (!l_.w.packed && !fits(w))) return unaligned_->execute(args);
    char* workspace = static_cast<char*>(args.workspace);
    if (workspace_bytes() > 0 && !workspace)
      return {error_code_t::INVALID_VARIANT_PACK,
              "The plan needs " + std::to_string(workspace_bytes()) + " bytes of workspace and none is bound."};
    workspace += (kAlign - reinterpret_cast<std::uintptr_t>(workspace) % kAlign) % kAlign;
    const auto take = [&](std::size_t bytes) {
      char* at = workspace;
      workspace += bytes;
      return at;
    };
    const void* correction = constant_sums_.data();
    if (sum_bytes_ > 0) {
      void* to = take(sum_bytes_);
      OCTAVO_RETURN_IF_ERROR(sums(w, to, args.stream));
      correction = to;
    }
    if (l_.x.packed) {
      void* to = take(x_bytes_);
      OCTAVO_RETURN_IF_ERROR(pack(*x_kernel_, l_.x.pack, x, to, args.stream));
      x = to;
    }
    if (packed_filter_.data()) {
      w = packed_filter_.data();
    } else if (l_.w.packed) {
      void* to = take(w_bytes_);
      OCTAVO_RETURN_IF_ERROR(pack(*w_kernel_, l_.w.pack, w, to, args.stream));
      w = to;
    }
    const char* const x_bytes = static_cast<const char*>(x) + l_.x.offset;
    const char* const w_bytes = static_cast<const char*>(w) + l_.w.offset;
    if (c_.family == Family::halo) {
      dev::HaloParams params = halo_;
      params.x = x_bytes, params.w = w_bytes;
      void* list[] = {&params, slots, &correction};
      return kernel_->launch(launch_, list, args.stream);
    }
    dev::IgemmParams params = igemm_;
    params.x = params.x_end = x_bytes, params.w = params.w_end = w_bytes;
    if (partial_bytes_ > 0) params.partial = take(partial_bytes_);
    void* list[] = {&params, slots, &correction};
    OCTAVO_RETURN_IF_ERROR(kernel_->launch(launch_, list, args.stream));
    return reduce_kernel_ ? reduce_kernel_->launch(reduce_, list, args.stream) : error_t{};
  }

  std::vector<BehaviorNote_t> behavior_notes() const override {
    return {BehaviorNote_t::RUNTIME_COMPILATION, BehaviorNote_t::SUPPORTS_CUDA_GRAPH_NATIVE_API};
  }
  std::vector<NumericalNote_t> numerical_notes() const override {
    std::vector<NumericalNote_t> notes{NumericalNote_t::TENSOR_CORE};
    if (l_.a == dev::Elem::tf32) notes.push_back(NumericalNote_t::DOWN_CONVERT_INPUTS);
    return notes;
  }
  std::string describe() const override {
    if (empty_) return "nothing to compute";
    std::string text = c_.family == Family::halo ? "halo patches in shared memory" : "implicit GEMM";
    text += ", " + std::to_string(launch_.grid[0]) + " blocks of " + std::to_string(launch_.block[0]) + " threads, " +
            std::to_string(launch_.shared_bytes) + " bytes of shared memory";
    if (kernel_) text += ", " + std::to_string(kernel_->registers()) + " registers";
    if (l_.x.packed) text += ", packs " + std::string(direction_ == Direction::dgrad ? "y" : "x");
    if (l_.w.packed) text += ", packs " + std::string(direction_ == Direction::wgrad ? "y" : "w");
    return text;
  }

 private:
  error_t pack(const Kernel& kernel, const Pack& p, const void* from, void* to, void* stream) const {
    Launch launch;
    launch.grid[0] = blocks_for(p.pieces(), kPackThreads);
    launch.block[0] = kPackThreads;
    void* list[] = {&from, &to};
    return kernel.launch(launch, list, stream);
  }
  error_t sums(const void* w, void* to, void* stream) const {
    Launch launch;
    launch.grid[0] = static_cast<unsigned>((l_.k * 32 + kPackThreads - 1) / kPackThreads);
    launch.block[0] = kPackThreads;
    int factor = static_cast<int>(l_.zero_point);
    void* list[] = {&w, &to, &factor};
    return sum_kernel_->launch(launch, list, stream);
  }

  EpilogueSlots slots_;
  Lowered l_;
  Config c_;
  int ordinal_;
  Direction direction_;
  bool empty_, wide_ = false;
  dev::HaloParams halo_{};
  dev::IgemmParams igemm_{};
  Launch launch_, reduce_;
  std::size_t partial_bytes_ = 0, x_bytes_ = 0, w_bytes_ = 0, sum_bytes_ = 0;
  ConstantFilter filter_;
  Buffer packed_filter_, constant_sums_;
  std::shared_ptr<const Kernel> kernel_, reduce_kernel_, x_kernel_, w_kernel_, sum_kernel_;
  std::unique_ptr<Plan> unaligned_;
};

}  // namespace

error_t build_plan(const Problem& problem, const Lowered& l, const Config& c, const DeviceTraits& device,
                   const BuildOptions& options, std::unique_ptr<Plan>& plan) {
  auto made = std::make_unique<MmaPlan>(problem, l, c, device);
  OCTAVO_RETURN_IF_ERROR(made->prepare(problem, device, options));
  plan = std::move(made);
  return {};
}

}  // namespace octavo::cuda::mma
