// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "engines/cuda_common/graph_steps.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>

#include "device/cuda_device.h"
#include "engines/cuda_common/cuda_engine.h"

namespace octavo::cuda {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kSliceElements = 4096, kMostSlices = 512, kManyOutputs = 4096;
using Dims = std::array<std::int64_t, kMaxRank>;

std::string number(std::int64_t v) { return std::to_string(v) + "ull"; }

Launch launch_for(std::int64_t threads, const DeviceTraits& device) {
  Launch launch;
  const std::int64_t most = static_cast<std::int64_t>(std::max(device.sm_count, 1)) * 64;
  launch.grid[0] = static_cast<unsigned>(std::clamp<std::int64_t>((threads + kThreads - 1) / kThreads, 1, most));
  launch.block[0] = kThreads;
  return launch;
}

jit::KernelRequest request_for(const char* name, const char* header, const DeviceTraits& device, std::string stub) {
  jit::KernelRequest request;
  request.engine = "graph_steps";
  request.kernel = name;
  request.headers = {header};
  request.arch = arch_of(device);
  request.stub = std::move(stub);
  return request;
}

/// `name(u64 linear)`: element offset of the linear index over `dim`, row-major, in the layout of `t`.
std::string offset_function(const char* name, const TensorDesc& t, const Dims& dim) {
  std::string text = std::string("  static OCTAVO_DEVICE s64 ") + name + "([[maybe_unused]] u64 i) {\n    s64 at = 0;\n";
  for (int k = t.rank - 1; k >= 0; --k) {
    const auto d = static_cast<std::size_t>(k);
    if (dim[d] <= 1) continue;
    const std::string size = number(dim[d]), stride = std::to_string(t.stride[d]) + "ll";
    if (d == 1 && t.vector > 1) {
      const std::string v = number(t.vector);
      text += "    at += static_cast<s64>(i % " + size + " / " + v + ") * " + stride + " + static_cast<s64>(i % " + size +
              " % " + v + ");\n";
    } else {
      text += "    at += static_cast<s64>(i % " + size + ") * " + stride + ";\n";
    }
    text += "    i /= " + size + ";\n";
  }
  return text + "    return at;\n  }\n";
}

// ---- pointwise

/// What the epilogue generator reads: the result's dims, an integer accumulator (always 0), the nodes.
Problem carrier(const TensorDesc& shape, const Epilogue& epilogue) {
  Problem p;
  p.x.type = p.w.type = DataType_t::INT8;
  p.y = shape;
  p.y.type = DataType_t::INT32;
  p.compute = DataType_t::INT32;
  p.epilogue = epilogue;
  return p;
}

/// decode<V>(): fastest along the first output's smallest stride; a run of V channels is one step of the channel axis.
std::string decode(const TensorDesc& shape, const TensorDesc& out) {
  std::array<int, kMaxRank> order{};
  std::iota(order.begin(), order.end(), 0);
  const auto stride = [&](int d) { return d == 1 && out.vector > 1 ? 1 : out.stride[static_cast<std::size_t>(d)]; };
  std::stable_sort(order.begin(), order.begin() + shape.rank, [&](int a, int b) { return stride(a) < stride(b); });
  std::string text =
      "  template <int V>\n  static OCTAVO_DEVICE steps::Place decode([[maybe_unused]] u64 i) {\n    steps::Place at;\n";
  for (int k = 0; k < shape.rank; ++k) {
    const int d = order[static_cast<std::size_t>(k)];
    const std::int64_t size = shape.dim[static_cast<std::size_t>(d)];
    if (size <= 1) continue;
    if (d == 1) {
      text += "    at.c = i % (" + number(size) + " / V) * V;\n    i /= " + number(size) + " / V;\n";
    } else {
      const std::string name = d == 0 ? "d0" : "s" + std::to_string(d - 2 + kMaxRank - shape.rank);
      text += "    at." + name + " = i % " + number(size) + ";\n    i /= " + number(size) + ";\n";
    }
  }
  return text + "    return at;\n  }\n";
}

class PointwisePlan final : public StepPlan {
 public:
  PointwisePlan(const TensorDesc& shape, const Epilogue& epilogue)
      : elements_(shape.elements()), slots_(carrier(shape, epilogue)) {}

  error_t prepare(const TensorDesc& shape, const Epilogue& epilogue, const DeviceTraits& device) {
    if (elements_ == 0) return {};
    if (const Verdict fits = epilogue_fits(carrier(shape, epilogue)); !fits)
      return {error_code_t::GRAPH_NOT_SUPPORTED, "Pointwise operations that run as one kernel: " + fits.reason + "."};
    launch_ = launch_for(elements_, device);
    return load_kernel(pointwise_request(shape, epilogue, device), device, 0, kernel_);
  }

  error_t execute(std::span<const void* const> in, std::span<void* const> out, void*, void* stream) const override {
    if (elements_ == 0) return {};
    Args args;
    args.operands = in, args.outputs = out;
    std::uint64_t slots[kMaxEpilogueSlots];
    bool aligned = true;
    OCTAVO_RETURN_IF_ERROR(slots_.fill(args, slots, aligned));
    int wide = aligned ? 1 : 0;
    void* params[] = {slots, &wide};
    return kernel_->launch(launch_, params, stream);
  }

 private:
  std::int64_t elements_;
  EpilogueSlots slots_;
  Launch launch_;
  std::shared_ptr<const Kernel> kernel_;
};

// ---- reductions

/// How many warps share an output. The shape alone decides, so that the bits do not depend on the device.
std::int64_t slices_of(const Reduction& r) {
  if (r.y.elements() == 0) return 1;
  const std::int64_t covered = r.x.elements() / r.y.elements();
  return r.y.elements() >= kManyOutputs ? 1 : std::clamp<std::int64_t>(covered / kSliceElements, 1, kMostSlices);
}

class ReductionPlan final : public StepPlan {
 public:
  error_t prepare(const Reduction& r, const DeviceTraits& device) {
    outputs_ = r.y.elements();
    if (outputs_ == 0) return {};
    slices_ = slices_of(r);
    const std::vector<jit::KernelRequest> requests = reduction_requests(r, device);
    OCTAVO_RETURN_IF_ERROR(load_kernel(requests[0], device, 0, partial_));
    OCTAVO_RETURN_IF_ERROR(load_kernel(requests[1], device, 0, combine_));
    first_ = launch_for(outputs_ * slices_ * 32, device);
    second_ = launch_for(outputs_, device);
    return {};
  }
  std::int64_t workspace_bytes() const override { return outputs_ * slices_ * 8; }

  error_t execute(std::span<const void* const> in, std::span<void* const> out, void* workspace, void* stream) const override {
    if (outputs_ == 0) return {};
    const void* x = in[0];
    void* y = out[0];
    void* one[] = {&x, &workspace};
    OCTAVO_RETURN_IF_ERROR(partial_->launch(first_, one, stream));
    void* two[] = {&workspace, &y};
    return combine_->launch(second_, two, stream);
  }

 private:
  std::int64_t outputs_ = 0, slices_ = 1;
  Launch first_, second_;
  std::shared_ptr<const Kernel> partial_, combine_;
};

class ReorderPlan final : public StepPlan {
 public:
  error_t prepare(const TensorDesc& w, const DeviceTraits& device) {
    elements_ = w.elements();
    if (elements_ == 0) return {};
    launch_ = launch_for(elements_, device);
    return load_kernel(reorder_request(w, device), device, 0, kernel_);
  }
  error_t execute(std::span<const void* const> in, std::span<void* const> out, void*, void* stream) const override {
    if (elements_ == 0) return {};
    const void* from = in[0];
    void* to = out[0];
    void* params[] = {&from, &to};
    return kernel_->launch(launch_, params, stream);
  }

 private:
  std::int64_t elements_ = 0;
  Launch launch_;
  std::shared_ptr<const Kernel> kernel_;
};

template <class P, class... A>
error_t prepare(std::unique_ptr<P> made, std::unique_ptr<StepPlan>& plan, const A&... arguments) {
  OCTAVO_RETURN_IF_ERROR(made->prepare(arguments...));
  plan = std::move(made);
  return {};
}

}  // namespace

jit::KernelRequest pointwise_request(const TensorDesc& shape, const Epilogue& epilogue, const DeviceTraits& device) {
  const std::int64_t channels = shape.rank > 1 ? shape.dim[1] : 1;
  const std::string config = "struct S {\n  static constexpr u64 kElements = " + number(shape.elements()) +
                             ", kChannels = " + number(channels) + ";\n" + decode(shape, epilogue.outputs.front().desc) +
                             "};\n";
  return request_for(
      "pointwise", "steps/pointwise.cuh", device,
      kernel_stub(config, generate_epilogue(carrier(shape, epilogue)), kThreads,
                  "const __grid_constant__ EpilogueArgs args, int aligned", "steps::pointwise<S, Epilogue>(args, aligned);"));
}

std::vector<jit::KernelRequest> reduction_requests(const Reduction& r, const DeviceTraits& device) {
  Dims kept{}, covered{};
  std::int64_t count = 1;
  for (std::size_t i = 0; i < static_cast<std::size_t>(r.x.rank); ++i) {
    kept[i] = r.y.dim[i];
    covered[i] = r.y.dim[i] == 1 ? r.x.dim[i] : 1;
    count *= covered[i];
  }
  const bool whole = r.compute == DataType_t::INT32 && (r.squares || r.mode != ReductionMode_t::NORM2);
  const int mode = r.squares ? 100 : static_cast<int>(r.mode);
  const int compute = r.compute == DataType_t::DOUBLE ? 1 : r.compute == DataType_t::INT32 ? 2 : 0;
  const std::string config =
      std::string("struct R {\n  using In = ") + storage_name(r.x.type) + ";\n  using Out = " + storage_name(r.y.type) +
      ";\n  using Acc = " + (whole ? "s64" : "double") + ";\n  static constexpr int kMode = " + std::to_string(mode) +
      ", kCompute = " + std::to_string(compute) + ";\n  static constexpr u64 kOutputs = " + number(r.y.elements()) +
      ", kCovered = " + number(count) + ", kSlices = " + number(slices_of(r)) + ";\n" + offset_function("base", r.x, kept) +
      offset_function("inner", r.x, covered) + offset_function("out", r.y, kept) + "};\n";
  return {
      request_for("partial", "steps/reduce.cuh", device,
                  kernel_stub(config, "", kThreads, "const R::In* in, R::Acc* slices", "steps::partial<R>(in, slices);")),
      request_for("combine", "steps/reduce.cuh", device,
                  kernel_stub(config, "", kThreads, "const R::Acc* slices, R::Out* out", "steps::combine<R>(slices, out);"))};
}

jit::KernelRequest reorder_request(const TensorDesc& w, const DeviceTraits& device) {
  const std::string config = "struct R {\n  static constexpr u64 kK = " + number(w.dim[0]) + ", kC = " + number(w.dim[1]) +
                             ", kR = " + number(w.dim[2]) + ", kS = " + number(w.dim[3]) + ";\n" +
                             offset_function("out", w, w.dim) + "};\n";
  return request_for("reorder", "steps/reorder.cuh", device,
                     kernel_stub(config, "", kThreads, "const s8* from, s8* to", "steps::reorder<R>(from, to);"));
}

error_t build_pointwise(const TensorDesc& shape, const Epilogue& epilogue, const DeviceTraits& device,
                        std::unique_ptr<StepPlan>& plan) {
  return prepare(std::make_unique<PointwisePlan>(shape, epilogue), plan, shape, epilogue, device);
}
error_t build_reduction(const Reduction& reduction, const DeviceTraits& device, std::unique_ptr<StepPlan>& plan) {
  return prepare(std::make_unique<ReductionPlan>(), plan, reduction, device);
}
error_t build_reorder(const TensorDesc& w, const DeviceTraits& device, std::unique_ptr<StepPlan>& plan) {
  return prepare(std::make_unique<ReorderPlan>(), plan, w, device);
}

}  // namespace octavo::cuda
