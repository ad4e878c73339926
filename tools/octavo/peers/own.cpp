// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "check.h"
#include "peer.h"
#include "verify/compare.h"
#include "workload.h"

// Octavo against itself: another problem (a layout, a direction) timed in turn with the one that is asked for.

namespace octavo::cli {
namespace {

class Run final : public PeerRun {
 public:
  Run(const Problem& problem, verify::Data data)
      : problem_(problem), data_(std::move(data)), outputs_(verify::make_outputs(problem)) {}

  error_t build(const PlanSpec& spec, const DeviceTraits& device) {
    spec_ = spec;
    const void* filter = problem_.direction == Direction::wgrad ? nullptr : data_.w.data();
    OCTAVO_RETURN_IF_ERROR(runner_.build(problem_, spec, device, filter));
    runner_.bind(data_, outputs_);
    return {};
  }
  double execute() override { return runner_.execute().is_bad() ? 0 : -1; }
  error_t fetch(void*) override { return {error_code_t::GRAPH_NOT_SUPPORTED, "another problem has another result"}; }
  std::string describe() const override { return spec_.engine + ":" + spec_.config; }
  bool judges_itself() const override { return true; }
  std::string own_verdict(double operations) override {
    PartialOracle oracle;
    if (const error_t error = oracle.prepare(problem_, data_, operations); error.is_bad()) return error.get_message();
    return oracle.judge(outputs_);
  }

 private:
  Problem problem_;
  verify::Data data_;
  std::vector<verify::GuardedBuffer> outputs_;
  PlanSpec spec_;
  Runner runner_;
};

class Own final : public Peer {
 public:
  Own(const Problem& problem, const DeviceTraits& device) : problem_(problem), device_(device) {}
  std::string_view name() const override { return "own"; }
  std::string version() const override { return problem_.to_string(); }
  error_t create(const PeerInput&, std::unique_ptr<PeerRun>& run) override {
    const std::vector<PlanSpec> specs = plan_specs(problem_, device_);
    if (specs.empty()) return {error_code_t::GRAPH_NOT_SUPPORTED, "No engine accepts the problem."};
    auto made = std::make_unique<Run>(problem_, make_data(problem_, 1));
    OCTAVO_RETURN_IF_ERROR(made->build(specs[0], device_));
    run = std::move(made);
    return {};
  }

 private:
  Problem problem_;
  DeviceTraits device_;
};

}  // namespace

std::unique_ptr<Peer> make_own_peer(const Problem& problem, const DeviceTraits& device) {
  return std::make_unique<Own>(problem, device);
}

}  // namespace octavo::cli
