// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Another library running the same convolution, for `octavo bench`. A peer is given the same bytes as our engine, lays them
// out as it likes best before the clock starts, and hands its result back so that it is checked like ours.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/epilogue_shorthand.h"
#include "octavo/device.h"
#include "octavo/problem.h"

namespace octavo::cli {

/// What a peer is given: tensors in the problem's own layout and, as the epilogue's parts, f32 vectors.
struct PeerInput {
  const Problem* problem = nullptr;
  EpilogueParts parts;
  const void* a = nullptr;       ///< fprop x, dgrad y, wgrad x
  const void* b = nullptr;       ///< fprop w, dgrad w, wgrad y
  const float* scale = nullptr;  ///< powers of two, so that adding the bias before or after scaling gives the same bits
  const float* bias = nullptr;
  int threads = 1;
};

class PeerRun {
 public:
  virtual ~PeerRun() = default;
  /// One call; returns the microseconds it took by the peer's own clock, or a negative number where ours is to be used.
  virtual double execute() = 0;
  /// The last result in the layout of problem.epilogue.outputs[0].
  virtual error_t fetch(void* out) = 0;
  virtual std::string describe() const { return {}; }
  /// For a run that computes something else than the problem: "" when its last result is right, else what is wrong. Others are
  /// judged by what fetch() gives.
  virtual std::string own_verdict(double /*operations_to_check*/) { return {}; }
  virtual bool judges_itself() const { return false; }
};

class Peer {
 public:
  virtual ~Peer() = default;
  virtual std::string_view name() const = 0;
  virtual std::string version() const = 0;
  virtual error_t create(const PeerInput& input, std::unique_ptr<PeerRun>& run) = 0;
};

/// Null and an error that says what is missing where the peer is not in this build or not on this machine.
std::unique_ptr<Peer> make_onednn_peer(const DeviceTraits& device, bool isa_forced, error_t& error);
std::unique_ptr<Peer> make_torch_peer(int threads, error_t& error);
/// Octavo itself on another problem.
std::unique_ptr<Peer> make_own_peer(const Problem& problem, const DeviceTraits& device);

}  // namespace octavo::cli
