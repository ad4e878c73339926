// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What cuda_depthwise runs for a problem: pure, host only.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "octavo/engine.h"
#include "octavo/problem.h"

namespace octavo::cuda::depthwise {

/// The convolution as kernels/conv/depthwise.cuh sees it: dgrad with stride 1 is an fprop on dy with the filter turned.
struct View {
  DataType_t x_type = DataType_t::NOT_SET, w_type = DataType_t::NOT_SET;
  std::int64_t n = 0, channels = 0, per_group = 1;
  std::array<std::int64_t, 2> x{1, 1}, r{1, 1}, y{1, 1}, pad{}, stride{1, 1}, dilation{1, 1};
  std::array<std::int64_t, 5> x_stride{}, w_stride{};
  std::int64_t x_vector = 1, w_vector = 1, x_run = 1;  ///< runs of any divisor of x_run channels are contiguous and aligned
  bool flip = false;
};
View view_of(const Problem& problem);

enum class Path { plain = 0, taps = 1, groups = 2 };

struct Config {
  int v = 1, tq = 1, tp = 1;  ///< channels, columns and rows of a thread's tile
  std::string text() const;   ///< "v8q4p1"
  static std::optional<Config> parse(const std::string& text);
  bool operator==(const Config&) const = default;
};

Path path_of(const Problem& problem, const View& view, const Config& config);
/// Registers that a thread needs for its data: what keeps a configuration from spilling.
int data_registers(const View& view, const Config& config, Path path);

/// Threads: vectors of channels x tiles.
struct Block {
  int vectors = 1;  ///< CV: all vectors of channels
  int lanes = 1;    ///< CB: of them a block
  int tiles = 1;    ///< PY
  int shared_bytes = 0;
  int chunks() const { return (vectors + lanes - 1) / lanes; }
  int threads() const { return lanes * tiles; }
};
Block block_of(const View& view, const Config& config, Path path);
std::int64_t tiles_of(const View& view, const Config& config);

/// Configurations that fit, best first by the cost model; empty when the engine has none.
std::vector<Config> configs(const Problem& problem, const View& view);
double cost_us(const Problem& problem, const View& view, const Config& config, const DeviceTraits& device);

Verdict accepts(const Problem& problem);
/// The `Conv` struct.
std::string constants(const Problem& problem, const View& view, const Config& config);

}  // namespace octavo::cuda::depthwise
