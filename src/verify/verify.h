// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs one problem on one engine with data from a seed and compares it with the oracle. The tests and `octavo verify` both
// go through here.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "octavo/engine.h"
#include "octavo/problem.h"
#include "verify/compare.h"
#include "verify/data.h"

namespace octavo::verify {

/// Where an engine's addresses live. The CPU's needs no copies; a CUDA test or tool passes its own.
class Memory {
 public:
  virtual ~Memory() = default;
  virtual void* allocate(std::size_t bytes) = 0;  ///< null: out of memory
  virtual void release(void* address) = 0;
  virtual error_t to_device(void* to, const void* from, std::size_t bytes) = 0;
  virtual error_t to_host(void* to, const void* from, std::size_t bytes) = 0;
  virtual error_t synchronize() = 0;
  virtual void* stream() { return nullptr; }
};

struct Options {
  std::uint64_t seed = 1;
  Fill fill = Fill::automatic;
  bool constant_filter = false;        ///< build with the filter's bytes, then bind none
  int runs = 1;                        ///< each run must give the same bits; the workspace is poisoned in between
  std::int64_t misalign_elements = 0;  ///< every buffer starts this many elements past a 64-byte boundary
  Memory* memory = nullptr;            ///< null: host memory
};

struct Report {
  std::string engine, config;
  bool right = false;
  bool exact = false;   ///< equality was asked for
  std::string message;  ///< what was wrong, one sentence
  double worst = 0;     ///< largest deviation in units of what was allowed
  double seconds = 0;   ///< the last run
};

/// One problem with its data and the oracle's answer; check() may be called from several threads.
class Case {
 public:
  static error_t make(const Problem& problem, const Options& options, std::unique_ptr<Case>& out);
  /// With the caller's data (seed and fill are not used).
  static error_t make(const Problem& problem, Data data, const Options& options, std::unique_ptr<Case>& out);

  Report check(const PlanSpec& spec, const DeviceTraits& device) const;
  /// A plan that exists already.
  Report check(const Plan& plan) const;

  const Problem& problem() const { return problem_; }
  const Data& data() const { return data_; }
  const Expected& expected() const { return expected_; }

 private:
  Case(const Problem& problem, Data data, const Options& options)
      : problem_(problem), data_(std::move(data)), options_(options) {}
  Problem problem_;
  Data data_;
  Options options_;
  Expected expected_;
};

/// Every accepting engine's specs (the best one of each engine, or all) on this device, cpu_reference included.
std::vector<Report> verify_problem(const Problem& problem, const DeviceTraits& device, const Options& options,
                                   bool every_spec = false);

}  // namespace octavo::verify
