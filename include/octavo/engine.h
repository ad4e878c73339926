// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The contract of an engine. Stateless: everything that lives is in the Plan. C++20.

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "octavo/device.h"
#include "octavo/enums.h"
#include "octavo/error.h"
#include "octavo/problem.h"

namespace octavo {

/// Yes means: it runs *and is right*. No always carries the reason, one sentence.
struct Verdict {
  bool accepted = false;
  std::string reason;
  static Verdict yes() { return {true, {}}; }
  static Verdict no(std::string why) { return {false, std::move(why)}; }
  explicit operator bool() const { return accepted; }
};

/// One configuration of one engine for one problem. `config` is the engine's own canonical text (may be empty).
struct PlanSpec {
  std::string engine;
  std::string config;
  double cost_us = 0;             ///< the cost model's estimate; ranks specs across engines
  std::int64_t shared_bytes = 0;  ///< what is known before it is built of Plan::shared_memory_bytes: a lower bound
  bool operator==(const PlanSpec&) const = default;
};

/// Addresses for one execution. The tensor that the problem's direction computes is not among x, w, y (leave it null).
struct Args {
  const void* x = nullptr;
  const void* w = nullptr;
  const void* y = nullptr;
  const std::int32_t* w_zero_points = nullptr;  ///< ZeroPoints::Filter::per_channel: int32[K]
  std::span<const void* const> operands;        ///< one each for epilogue.operands (null for constants)
  std::span<void* const> outputs;               ///< one each for epilogue.outputs
  void* workspace = nullptr;
  void* stream = nullptr;  ///< CUstream on a CUDA device, unused on the CPU
};

/// Immutable and thread-safe. execute() does not allocate, lock, read the environment or synchronise with the device.
class Plan {
 public:
  virtual ~Plan() = default;
  virtual std::size_t workspace_bytes() const { return 0; }
  virtual std::size_t shared_memory_bytes() const { return 0; }  ///< the most that a block of its kernels uses on a GPU
  virtual error_t execute(const Args& args) const = 0;
  virtual std::vector<BehaviorNote_t> behavior_notes() const { return {}; }
  virtual std::vector<NumericalNote_t> numerical_notes() const { return {}; }
  virtual std::string describe() const { return {}; }  ///< one line for explain: what it will run
  PlanSpec spec;                                       ///< set by build_plan()
};

struct BuildOptions {
  /// Not null: the filter's bytes (layout problem.w) are declared constant. The engine may pack them now and must not
  /// keep the pointer; Args::w is then ignored.
  const void* constant_filter = nullptr;
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::string_view name() const = 0;  ///< stable id: serialised plans and tuned tables hold it
  virtual DeviceKind device() const = 0;
  /// Pure: no device call.
  virtual Verdict accepts(const Problem& problem, const DeviceTraits& device) const = 0;
  /// Configurations, best first by the cost model; never empty for an accepted problem. Pure.
  virtual std::vector<PlanSpec> specs(const Problem& problem, const DeviceTraits& device) const = 0;
  virtual error_t build(const Problem& problem, const PlanSpec& spec, const DeviceTraits& device, const BuildOptions& options,
                        std::unique_ptr<Plan>& plan) const = 0;
};

/// All engines of this build, in registration order.
std::span<const Engine* const> engines();
const Engine* find_engine(std::string_view name);

struct EngineVerdict {
  const Engine* engine = nullptr;
  Verdict verdict;
};
/// Stage 2: one row for each engine of this build.
std::vector<EngineVerdict> verdicts(const Problem& problem, const DeviceTraits& device);
/// Stage 3: the specs of every accepting engine, best first.
std::vector<PlanSpec> plan_specs(const Problem& problem, const DeviceTraits& device);
/// Stage 4.
error_t build_plan(const Problem& problem, const PlanSpec& spec, const DeviceTraits& device, const BuildOptions& options,
                   std::unique_ptr<Plan>& plan);

}  // namespace octavo
