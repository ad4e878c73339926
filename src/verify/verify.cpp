// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/verify.h"

#include <chrono>
#include <cstring>
#include <new>

namespace octavo::verify {
namespace {

/// A guarded host buffer and, where the engine's memory is another one, its copy there (guards included).
class Bound {
 public:
  Bound(Memory* memory, GuardedBuffer& host) : memory_(memory), host_(&host) {
    if (memory_ && host.block_size() > 0) device_ = memory_->allocate(host.block_size());
  }
  ~Bound() {
    if (device_) memory_->release(device_);
  }
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;

  void* address() const {
    if (!memory_ || host_->block_size() == 0) return host_->data();
    return static_cast<std::byte*>(device_) + host_->payload_offset();
  }
  error_t up() const {
    if (!memory_ || host_->block_size() == 0) return {};
    if (!device_)
      return {error_code_t::HANDLE_ERROR,
              "The device has no " + std::to_string(host_->block_size()) + " bytes left for a buffer."};
    return memory_->to_device(device_, host_->block(), host_->block_size());
  }
  error_t down() const { return device_ ? memory_->to_host(host_->block(), device_, host_->block_size()) : error_t{}; }

 private:
  Memory* memory_;
  GuardedBuffer* host_;
  void* device_ = nullptr;
};

/// Inputs as the engine sees them. Host engines read Data itself; a device gets copies.
struct Inputs {
  std::vector<std::unique_ptr<GuardedBuffer>> copies;
  std::vector<std::unique_ptr<Bound>> bound;
  std::vector<const void*> operands;
  Args args;

  error_t place(Memory* memory, const Problem& p, const Data& data) {
    args = data.args();
    if (!memory) return {};
    OCTAVO_RETURN_IF_ERROR(copy(memory, data.x, args.x));
    OCTAVO_RETURN_IF_ERROR(copy(memory, data.w, args.w));
    OCTAVO_RETURN_IF_ERROR(copy(memory, data.y, args.y));
    operands = data.operand_addresses;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (p.epilogue.operands[i].source == Epilogue::Source::device)
        OCTAVO_RETURN_IF_ERROR(copy(memory, data.operands[i], operands[i]));
    }
    args.operands = operands;
    if (!data.w_zero_points.empty()) {
      GuardedBuffer zero_points(data.w_zero_points.size() * sizeof(std::int32_t));
      std::memcpy(zero_points.data(), data.w_zero_points.data(), zero_points.size());
      const void* address = nullptr;
      OCTAVO_RETURN_IF_ERROR(copy(memory, zero_points, address));
      args.w_zero_points = static_cast<const std::int32_t*>(address);
    }
    return {};
  }

  error_t copy(Memory* memory, const GuardedBuffer& from, const void*& address) {
    copies.push_back(std::make_unique<GuardedBuffer>(from.clone()));
    bound.push_back(std::make_unique<Bound>(memory, *copies.back()));
    OCTAVO_RETURN_IF_ERROR(bound.back()->up());
    address = bound.back()->address();
    return {};
  }
};

std::uint64_t input_checksum(const Data& d) {
  std::uint64_t sum = d.x.checksum() ^ (d.w.checksum() * 3) ^ (d.y.checksum() * 5);
  for (const GuardedBuffer& o : d.operands) sum = sum * 7 ^ o.checksum();
  return sum;
}

bool inputs_intact(const Data& d) {
  for (const GuardedBuffer& o : d.operands)
    if (!o.intact()) return false;
  return d.x.intact() && d.w.intact() && d.y.intact();
}

/// "" or what went wrong. One plan, `runs` times.
std::string run_plan(const Plan& plan, const Problem& p, const Data& data, const Expected& expected, const Options& o,
                     Report& report) {
  Memory* memory = o.memory;
  Inputs inputs;
  if (error_t e = inputs.place(memory, p, data); e.is_bad()) return e.err_msg;
  if (o.constant_filter && p.direction != Direction::wgrad) inputs.args.w = nullptr;
  std::vector<GuardedBuffer> outputs = make_outputs(p, o.misalign_elements), first;
  const std::size_t shift = static_cast<std::size_t>(o.misalign_elements);
  GuardedBuffer workspace(plan.workspace_bytes(), 0xff, shift);
  Bound bound_workspace(memory, workspace);
  std::vector<std::unique_ptr<Bound>> bound_outputs;
  std::vector<void*> addresses;
  for (GuardedBuffer& b : outputs) {
    bound_outputs.push_back(std::make_unique<Bound>(memory, b));
    addresses.push_back(bound_outputs.back()->address());
  }
  Args args = inputs.args;
  args.outputs = addresses;
  args.workspace = plan.workspace_bytes() > 0 ? bound_workspace.address() : nullptr;
  args.stream = memory ? memory->stream() : nullptr;
  const std::uint64_t before = input_checksum(data);

  for (int run = 0; run < o.runs; ++run) {
    workspace.refill(run % 2 == 0 ? 0xff : 0x3c);
    for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i].refill(prefill(p.epilogue.outputs[i].desc.type));
    if (error_t e = bound_workspace.up(); e.is_bad()) return e.err_msg;
    for (const auto& b : bound_outputs)
      if (error_t e = b->up(); e.is_bad()) return e.err_msg;
    const auto start = std::chrono::steady_clock::now();
    if (error_t e = plan.execute(args); e.is_bad()) return "execute failed: " + e.err_msg;
    if (memory)
      if (error_t e = memory->synchronize(); e.is_bad()) return "execute failed: " + e.err_msg;
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (error_t e = bound_workspace.down(); e.is_bad()) return e.err_msg;
    for (const auto& b : bound_outputs)
      if (error_t e = b->down(); e.is_bad()) return e.err_msg;

    if (!workspace.intact()) return "The engine wrote outside its workspace.";
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (!outputs[i].intact()) return "The engine wrote outside output " + std::to_string(i) + ".";
    if (run == 0) {
      double worst = 0;
      if (std::string wrong = expected.judge(p, data, outputs, &worst); !wrong.empty()) return wrong;
      report.worst = worst;
      if (o.runs > 1)
        for (const GuardedBuffer& b : outputs) first.push_back(b.clone());
    } else {
      for (std::size_t i = 0; i < outputs.size(); ++i)
        if (outputs[i].size() > 0 && std::memcmp(outputs[i].data(), first[i].data(), outputs[i].size()) != 0)
          return "Run " + std::to_string(run + 1) + " gave other bits than run 1 in output " + std::to_string(i) + ".";
    }
  }
  for (std::size_t i = 0; i < inputs.bound.size(); ++i) {
    const std::uint64_t sent = inputs.copies[i]->checksum();
    if (error_t e = inputs.bound[i]->down(); e.is_bad()) return e.err_msg;
    if (!inputs.copies[i]->intact() || inputs.copies[i]->checksum() != sent) return "The engine wrote to an input.";
  }
  if (input_checksum(data) != before) return "The engine wrote to an input.";
  if (!inputs_intact(data)) return "The engine wrote outside an input.";
  return {};
}

}  // namespace

error_t Case::make(const Problem& problem, const Options& options, std::unique_ptr<Case>& out) {
  OCTAVO_RETURN_IF_ERROR(problem.validate());
  try {
    return make(problem, Data(problem, options.seed, options.fill, options.misalign_elements), options, out);
  } catch (const std::bad_alloc&) {
    return {error_code_t::HANDLE_ERROR, "There is not enough memory for the tensors of '" + problem.to_string() + "'."};
  }
}

error_t Case::make(const Problem& problem, Data data, const Options& options, std::unique_ptr<Case>& out) {
  OCTAVO_RETURN_IF_ERROR(problem.validate());
  try {
    std::unique_ptr<Case> made(new Case(problem, std::move(data), options));
    OCTAVO_RETURN_IF_ERROR(Expected::compute(made->problem_, made->data_, made->expected_));
    out = std::move(made);
  } catch (const std::bad_alloc&) {
    return {error_code_t::HANDLE_ERROR, "There is not enough memory for the tensors of '" + problem.to_string() + "'."};
  }
  return {};
}

Report Case::check(const PlanSpec& spec, const DeviceTraits& device) const {
  BuildOptions build;
  if (options_.constant_filter && problem_.direction != Direction::wgrad) build.constant_filter = data_.w.data();
  std::unique_ptr<Plan> plan;
  if (error_t e = build_plan(problem_, spec, device, build, plan); e.is_bad()) {
    Report report;
    report.engine = spec.engine, report.config = spec.config;
    report.message = "build failed: " + e.err_msg;
    return report;
  }
  return check(*plan);
}

Report Case::check(const Plan& plan) const {
  Report report;
  report.engine = plan.spec.engine, report.config = plan.spec.config;
  report.exact = expected_.exact();
  try {
    report.message = run_plan(plan, problem_, data_, expected_, options_, report);
  } catch (const std::bad_alloc&) {
    report.message =
        "There is not enough memory for the outputs or the workspace of " + std::to_string(plan.workspace_bytes()) + " bytes.";
  }
  report.right = report.message.empty();
  return report;
}

std::vector<Report> verify_problem(const Problem& problem, const DeviceTraits& device, const Options& options,
                                   bool every_spec) {
  std::vector<Report> reports;
  std::unique_ptr<Case> made;
  if (error_t e = Case::make(problem, options, made); e.is_bad()) {
    Report report;
    report.engine = "cpu_reference";
    report.message = e.err_msg;
    return {report};
  }
  for (const EngineVerdict& row : verdicts(problem, device)) {
    if (!row.verdict) continue;
    const std::vector<PlanSpec> specs = row.engine->specs(problem, device);
    if (specs.empty()) {
      Report report;
      report.engine = std::string(row.engine->name());
      report.message = "The engine accepts the problem and offers no plan for it.";
      reports.push_back(report);
      continue;
    }
    for (const PlanSpec& spec : specs) {
      reports.push_back(made->check(spec, device));
      if (!every_spec) break;
    }
  }
  return reports;
}

}  // namespace octavo::verify
