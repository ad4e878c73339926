// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "tune/tuner.h"

#include <algorithm>
#include <chrono>

namespace octavo::tune {
namespace {

using verify::GuardedBuffer;
using Clock = std::chrono::steady_clock;

constexpr double kHopeless = 8;  ///< a first run this much slower than the best one's: not timed further
constexpr double kBehind = 1.3;  ///< after a round, this much behind the best: out

double microseconds(Clock::time_point since) { return std::chrono::duration<double, std::micro>(Clock::now() - since).count(); }

/// A host buffer with its guards and, where plans run in another memory, its copy there.
class Scratch {
 public:
  Scratch(verify::Memory* memory, GuardedBuffer& host) : memory_(memory), host_(&host) {
    if (memory_ && host.block_size() > 0) device_ = memory_->allocate(host.block_size());
  }
  ~Scratch() {
    if (device_) memory_->release(device_);
  }
  Scratch(Scratch&& other) noexcept
      : memory_(other.memory_), host_(other.host_), device_(std::exchange(other.device_, nullptr)) {}
  Scratch& operator=(Scratch&&) = delete;
  void* address() const {
    if (!memory_ || host_->block_size() == 0) return host_->data();
    return device_ ? static_cast<std::byte*>(device_) + host_->payload_offset() : nullptr;
  }
  error_t up() const {
    if (!memory_ || host_->block_size() == 0) return {};
    if (!device_) return {error_code_t::HANDLE_ERROR, "The device has no memory left for the candidates' buffers."};
    return memory_->to_device(device_, host_->block(), host_->block_size());
  }
  error_t down() const { return device_ ? memory_->to_host(host_->block(), device_, host_->block_size()) : error_t(); }

 private:
  verify::Memory* memory_;
  GuardedBuffer* host_;
  void* device_ = nullptr;
};

class Tuner {
 public:
  Tuner(const Problem& problem, const DeviceTraits& device, verify::Data& data, const Judge& judge, const Options& options)
      : problem_(problem),
        device_(device),
        data_(data),
        judge_(judge),
        options_(options),
        outputs_(verify::make_outputs(problem)) {}

  error_t bind() {
    args_ = data_.args();
    const auto input = [&](GuardedBuffer& buffer, auto& address) -> error_t {
      if (buffer.size() == 0) return {};
      inputs_.push_back(&buffer);
      sums_.push_back(buffer.checksum());
      scratch_.emplace_back(options_.memory, buffer);
      OCTAVO_RETURN_IF_ERROR(scratch_.back().up());
      address = scratch_.back().address();
      return {};
    };
    OCTAVO_RETURN_IF_ERROR(input(data_.x, args_.x));
    OCTAVO_RETURN_IF_ERROR(input(data_.w, args_.w));
    OCTAVO_RETURN_IF_ERROR(input(data_.y, args_.y));
    operands_.assign(data_.operand_addresses.begin(), data_.operand_addresses.end());
    for (std::size_t i = 0; i < data_.operands.size(); ++i)
      if (problem_.epilogue.operands[i].source == Epilogue::Source::device)
        OCTAVO_RETURN_IF_ERROR(input(data_.operands[i], operands_[i]));
    if (!data_.w_zero_points.empty()) {
      const std::size_t bytes = data_.w_zero_points.size() * sizeof(std::int32_t);
      zero_points_ = GuardedBuffer(bytes);
      std::copy_n(reinterpret_cast<const std::byte*>(data_.w_zero_points.data()), bytes, zero_points_.data());
      OCTAVO_RETURN_IF_ERROR(input(zero_points_, zero_point_address_));
      args_.w_zero_points = static_cast<const std::int32_t*>(zero_point_address_);
    }
    for (GuardedBuffer& buffer : outputs_) {
      results_.emplace_back(options_.memory, buffer);
      OCTAVO_RETURN_IF_ERROR(results_.back().up());
      addresses_.push_back(results_.back().address());
    }
    args_.operands = operands_;
    args_.outputs = addresses_;
    if (options_.memory) args_.stream = options_.memory->stream();
    return {};
  }

  /// Builds a candidate, runs it once on poisoned buffers and has it judged.
  std::string admit(const PlanSpec& spec, std::unique_ptr<Plan>& plan, GuardedBuffer& workspace, double& first_us) {
    BuildOptions build;
    if (options_.constant_filter && problem_.direction != Direction::wgrad) build.constant_filter = data_.w.data();
    if (const error_t e = build_plan(problem_, spec, device_, build, plan); e.is_bad()) return "build failed: " + e.err_msg;
    workspace = GuardedBuffer(plan->workspace_bytes(), 0x5a);
    std::vector<GuardedBuffer> fresh = verify::make_outputs(problem_);
    for (std::size_t i = 0; i < outputs_.size(); ++i) std::copy_n(fresh[i].block(), fresh[i].block_size(), outputs_[i].block());
    for (const Scratch& result : results_)
      if (const error_t e = result.up(); e.is_bad()) return e.err_msg;
    Scratch space(options_.memory, workspace);
    if (const error_t e = space.up(); e.is_bad()) return e.err_msg;
    const auto start = Clock::now();
    if (const error_t e = run(*plan, space.address(), 1); e.is_bad()) return "execute failed: " + e.err_msg;
    first_us = microseconds(start);
    for (const Scratch& result : results_)
      if (const error_t e = result.down(); e.is_bad()) return e.err_msg;
    for (const Scratch& input : scratch_)
      if (const error_t e = input.down(); e.is_bad()) return e.err_msg;
    if (const error_t e = space.down(); e.is_bad()) return e.err_msg;
    if (!workspace.intact()) return "it wrote outside its workspace";
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      if (!inputs_[i]->intact() || inputs_[i]->checksum() != sums_[i]) return "it wrote to an input";
    return judge_(outputs_);
  }

  error_t run(const Plan& plan, void* workspace, int times) {
    Args args = args_;
    args.workspace = workspace;
    for (int i = 0; i < times; ++i) OCTAVO_RETURN_IF_ERROR(plan.execute(args));
    return options_.memory ? options_.memory->synchronize() : error_t();
  }

 private:
  const Problem& problem_;
  const DeviceTraits& device_;
  verify::Data& data_;
  const Judge& judge_;
  const Options& options_;
  std::vector<GuardedBuffer> outputs_;
  GuardedBuffer zero_points_;
  const void* zero_point_address_ = nullptr;
  std::vector<GuardedBuffer*> inputs_;
  std::vector<std::uint64_t> sums_;
  std::vector<Scratch> scratch_, results_;
  std::vector<const void*> operands_;
  std::vector<void*> addresses_;
  Args args_;
};

}  // namespace

error_t tune_problem(const Problem& problem, const DeviceTraits& device, const std::vector<PlanSpec>& specs, verify::Data& data,
                     const Judge& judge, const Options& options, Outcome& outcome) {
  outcome = {};
  Tuner tuner(problem, device, data, judge, options);
  OCTAVO_RETURN_IF_ERROR(tuner.bind());
  struct Live {
    std::size_t index;
    std::unique_ptr<Plan> plan;
    GuardedBuffer workspace;
    std::unique_ptr<Scratch> space;
    double best = 0;
  };
  std::vector<Live> live;
  double fastest_first = 0;
  for (const PlanSpec& spec : specs) {
    if (static_cast<int>(outcome.candidates.size()) >= options.most_candidates) break;
    if (options.progress) options.progress(spec.engine + (spec.config.empty() ? "" : ":" + spec.config));
    Candidate candidate{spec, 0, {}};
    Live one{outcome.candidates.size(), nullptr, {}, nullptr, 0};
    double first = 0;
    candidate.rejected = tuner.admit(spec, one.plan, one.workspace, first);
    if (candidate.rejected.empty()) {
      // The untuned pick is always timed: it is what the winner is compared with.
      const bool hopeless =
          fastest_first > 0 && first > kHopeless * fastest_first && first > 1000 && !outcome.candidates.empty();
      fastest_first = fastest_first > 0 ? std::min(fastest_first, first) : first;
      if (hopeless)
        candidate.rejected = "its first run took " + std::to_string(first / fastest_first) + " times the fastest one's";
      else
        live.push_back(std::move(one));
    }
    outcome.candidates.push_back(std::move(candidate));
  }
  if (live.empty())
    return {
        error_code_t::HEURISTIC_QUERY_FAILED,
        "No candidate is right for " + problem.to_string() +
            (outcome.candidates.empty() ? std::string(": no engine accepts it.") : ": " + outcome.candidates.front().rejected)};
  for (Live& one : live) {
    one.space = std::make_unique<Scratch>(options.memory, one.workspace);
    OCTAVO_RETURN_IF_ERROR(one.space->up());
    OCTAVO_RETURN_IF_ERROR(tuner.run(*one.plan, one.space->address(), 1));  // warm
  }
  // Rounds over all that are still in, so that a disturbance hits everybody; the minimum counts.
  constexpr int kRounds = 12;
  const auto begin = Clock::now();
  for (int round = 0; round < kRounds && (round < 2 || microseconds(begin) < options.seconds * 1e6); ++round) {
    double best = 0;
    for (Live& one : live) {
      // Batches of a millisecond: the clock and the wait weigh little.
      const int times = one.best > 0 ? std::clamp(static_cast<int>(1000 / one.best), 1, 200) : 1;
      const auto start = Clock::now();
      OCTAVO_RETURN_IF_ERROR(tuner.run(*one.plan, one.space->address(), times));
      const double us = microseconds(start) / times;
      one.best = one.best > 0 ? std::min(one.best, us) : us;
      best = best > 0 ? std::min(best, one.best) : one.best;
      outcome.candidates[one.index].us = one.best;
    }
    if (round >= 1) std::erase_if(live, [&](const Live& one) { return one.best > kBehind * best && one.index != 0; });
  }
  for (const Live& one : live) {
    const double us = outcome.candidates[one.index].us;
    if (outcome.winner < 0 || us < outcome.candidates[static_cast<std::size_t>(outcome.winner)].us)
      outcome.winner = static_cast<int>(one.index);
  }
  return {};
}

}  // namespace octavo::tune
