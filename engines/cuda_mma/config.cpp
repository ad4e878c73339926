// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "engines/cuda_mma/config.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "engines/cuda_mma/halo_params.h"
#include "engines/cuda_mma/igemm_params.h"

namespace octavo::cuda::mma {
namespace {

// {m, n, k, warps_m, warps_n, stages, blocks}
constexpr int kTiles[][7] = {
    {128, 128, 64, 2, 2, 4, 2}, {128, 128, 128, 2, 2, 3, 2}, {256, 128, 64, 4, 2, 4, 1}, {128, 256, 64, 2, 4, 4, 1},
    {128, 64, 64, 2, 2, 4, 3},  {128, 64, 128, 2, 2, 3, 3},  {64, 64, 64, 2, 2, 5, 4},   {64, 64, 128, 2, 2, 4, 3},
    {64, 128, 64, 2, 2, 4, 3},  {256, 64, 64, 4, 1, 4, 2},   {64, 256, 64, 1, 4, 4, 2},  {128, 32, 64, 4, 1, 4, 3},
    {64, 32, 128, 2, 1, 4, 6},  {128, 128, 64, 2, 2, 3, 1},  {64, 64, 64, 2, 2, 3, 2},   {128, 64, 64, 2, 2, 2, 2},
    {64, 128, 128, 1, 4, 3, 3},
};
// {m, n, warps_m, warps_n, groups, stages, resident}
constexpr int kHalos[][7] = {
    {4, 128, 2, 2, 2, 5, 1}, {4, 128, 2, 2, 2, 3, 1}, {3, 128, 2, 2, 2, 5, 1}, {4, 64, 4, 1, 2, 4, 1}, {4, 64, 4, 1, 2, 3, 1},
    {4, 64, 2, 2, 2, 4, 1},  {3, 64, 4, 1, 2, 4, 1},  {4, 64, 2, 2, 3, 4, 1},  {4, 32, 4, 1, 2, 4, 1}, {4, 128, 4, 2, 1, 4, 0},
    {4, 128, 2, 2, 1, 4, 0}, {4, 64, 4, 1, 1, 4, 0},  {4, 64, 2, 2, 1, 4, 0},
};

Config igemm_of(const int (&t)[7]) {
  Config c;
  c.m = t[0], c.n = t[1], c.k = t[2], c.warps_m = t[3], c.warps_n = t[4], c.stages = t[5], c.blocks = t[6];
  return c;
}
Config halo_of(const int (&t)[7]) {
  Config c;
  c.family = Family::halo, c.k = 0;
  c.m = t[0], c.n = t[1], c.warps_m = t[2], c.warps_n = t[3], c.groups = t[4], c.stages = t[5], c.resident = t[6];
  return c;
}

bool one_of(int v, std::initializer_list<int> list) { return std::find(list.begin(), list.end(), v) != list.end(); }

dev::HaloGeometry halo_geometry(const Lowered& l) { return l.halo(); }

}  // namespace

std::string Config::to_string() const {
  std::string text = family == Family::halo ? "halo" : "igemm";
  visit(*this, [&](const char* name, int value) { text += std::string(",") + name + "=" + std::to_string(value); });
  return text;
}

std::uint64_t Config::hash() const {
  std::uint64_t h = family == Family::halo ? 0x9E3779B97F4A7C15ull : 0xC2B2AE3D27D4EB4Full;
  visit(*this, [&](const char*, int value) { h = (h ^ static_cast<std::uint64_t>(value)) * 0x100000001B3ull; });
  return h;
}

Result<Config> parse_config(std::string_view text) {
  const auto bad = [&](const std::string& why) {
    return error_t{error_code_t::INVALID_VALUE, "Configuration \"" + std::string(text) + "\" of cuda_mma " + why};
  };
  Config c;
  std::string_view rest = text;
  const auto next = [&] {
    const std::size_t comma = rest.find(',');
    const std::string_view word = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    return word;
  };
  const std::string_view family = next();
  if (family == "halo")
    c.family = Family::halo, c.k = 0;
  else if (family != "igemm")
    return bad("names no kernel: it begins with \"igemm\" or \"halo\".");
  error_t error;
  Config::visit(c, [&](const char* name, int& value) {
    if (error.is_bad()) return;
    const std::string_view word = next();
    const std::string key = std::string(name) + "=";
    const std::string_view number = word.substr(std::min(word.size(), key.size()));
    const auto [end, code] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (word.substr(0, key.size()) != key || code != std::errc() || end != number.data() + number.size() || value < 0 ||
        value > (1 << 20))
      error = bad("has \"" + std::string(word) + "\" where " + key + "<number> belongs.");
  });
  if (error.is_bad()) return error;
  if (!rest.empty()) return bad("goes on after its last field: \"" + std::string(rest) + "\".");
  return c;
}

dev::IgemmConfig igemm_config(const Config& c, const Lowered& l) {
  dev::IgemmConfig g;
  g.a = l.a, g.b = l.b;
  g.t = static_cast<int>(l.taps[0]), g.r = static_cast<int>(l.taps[1]), g.s = static_cast<int>(l.taps[2]);
  g.tap_bytes = static_cast<int>(l.tap_bytes), g.align = l.align, g.padded = l.padded;
  g.bm = c.m, g.bn = c.n, g.bk = c.k, g.warps_m = c.warps_m, g.warps_n = c.warps_n, g.stages = c.stages, g.blocks = c.blocks;
  g.split = c.splits > 1;
  return g;
}

std::int64_t halo_ranges(const Config& c, const Lowered& l, const DeviceTraits& device) {
  return std::max<std::int64_t>(1,
                                std::int64_t{std::max(device.sm_count, 1)} * c.blocks / std::max<std::int64_t>(1, l.k / c.n));
}

dev::HaloConfig halo_config(const Config& c, const Lowered& l, const DeviceTraits& device) {
  dev::HaloConfig h;
  h.a = l.a, h.b = l.b, h.r = static_cast<int>(l.taps[1]), h.s = static_cast<int>(l.taps[2]);
  h.chunks = static_cast<int>(l.tap_bytes / 32), h.channels_out = c.n, h.warps_m = c.warps_m, h.warps_n = c.warps_n;
  h.groups = c.groups, h.tile = c.m, h.stages = c.stages, h.resident = c.resident != 0;
  const dev::HaloParams p = dev::halo_params(h, halo_geometry(l), halo_ranges(c, l, device));
  h.heights = dev::halo_heights(h, p.units, p.ranges);
  return h;
}

int threads_of(const Config& c) { return 32 * c.warps_m * c.warps_n * (c.family == Family::halo ? c.groups : 1); }

std::int64_t shared_bytes(const Config& c, const Lowered& l) {
  if (c.family == Family::igemm) return std::int64_t{c.stages} * (c.m + c.n) * c.k;
  const std::int64_t chunks = l.tap_bytes / 32, filter = l.taps[1] * l.taps[2] * c.n * 32;
  const std::int64_t rows = 2 * c.m * c.warps_m + l.taps[1] - 1, patch = (rows * (8 + l.taps[2] - 1) * 32 + 127) / 128 * 128;
  return (c.resident ? chunks * filter : 0) + std::int64_t{c.groups} * c.stages * (patch + (c.resident ? 0 : filter));
}

Verdict fits(const Config& c, const Lowered& l, const DeviceTraits& device) {
  const std::int64_t shared = shared_bytes(c, l);
  if (!one_of(c.warps_m, {1, 2, 4, 8}) || !one_of(c.warps_n, {1, 2, 4, 8}) || c.stages < 2 || c.stages > 8 || c.blocks < 1 ||
      c.blocks > 8 || threads_of(c) > 1024)
    return Verdict::no("warps, stages or blocks are out of range");
  if (shared > device.smem_per_block)
    return Verdict::no("it needs " + std::to_string(shared) + " bytes of shared memory and a block has " +
                       std::to_string(device.smem_per_block));
  if (shared * c.blocks > device.smem_per_sm)
    return Verdict::no(std::to_string(c.blocks) + " blocks need more shared memory than a multiprocessor has");
  const int n_tiles = c.n / (8 * c.warps_n);
  if (c.n % (16 * c.warps_n) != 0) return Verdict::no("a warp takes a multiple of 16 output channels");
  if (c.family == Family::igemm) {
    if (!one_of(c.k, {32, 64, 128})) return Verdict::no("a stage holds 32, 64 or 128 bytes of the reduction");
    const int step = threads_of(c) / (c.k / 16);
    if (c.m % (16 * c.warps_m) != 0 || c.m % step != 0 || c.n % step != 0) return Verdict::no("the tile does not divide");
    if (c.m / (16 * c.warps_m) * n_tiles > 32) return Verdict::no("the accumulators of a warp do not fit its registers");
    const std::int64_t iterations = (l.taps[0] * l.taps[1] * l.taps[2] * ((l.tap_bytes + 15) / 16) + c.k / 16 - 1) / (c.k / 16);
    if (c.splits < 1 || c.splits > iterations) return Verdict::no("more parts than the reduction has stages");
    return Verdict::yes();
  }
  if (!l.halo_reason.empty()) return Verdict::no(l.halo_reason);
  if (c.m < 1 || c.m > 4 || c.m * n_tiles > 32) return Verdict::no("the accumulators of a warp do not fit its registers");
  if (c.m * n_tiles == 32 && l.epilogue_reads)
    return Verdict::no("128 accumulators a thread leave no registers for the tensors that the epilogue reads");
  if (c.groups < 1 || c.groups > 4 || c.resident > 1 || c.stages < (c.resident ? 2 : 3))
    return Verdict::no("groups or stages are out of range");
  if (l.k / l.groups % c.n != 0)
    return Verdict::no("a group's " + std::to_string(l.k / l.groups) + " output channels are no multiple of " +
                       std::to_string(c.n));
  const std::int64_t pass = 32 * c.warps_m * c.warps_n / (2 * (8 + l.taps[2] - 1)), rows = 2 * c.m * c.warps_m + l.taps[1] - 1;
  if (pass < 1) return Verdict::no("a group has fewer threads than a row of a patch has pieces");
  if (rows > 16 * pass) return Verdict::no("a patch is more than 16 copies a thread");
  return Verdict::yes();
}

std::vector<Config> enumerate(const Lowered& l, const DeviceTraits& device) {
  std::set<Config> all;
  const auto add = [&](const Config& c) {
    if (fits(c, l, device)) all.insert(c);
  };
  const std::int64_t rows = l.n * l.out[0] * l.out[1] * l.out[2], columns = l.k / l.groups;
  for (const auto& t : kTiles) {
    Config c = igemm_of(t);
    if (c.n >= 2 * columns && c.n > 32) continue;
    while (c.blocks > 1 && !fits(c, l, device)) --c.blocks;
    while (c.stages > 2 && !fits(c, l, device)) --c.stages;
    add(c);
    // Parts of the reduction while that fills idle multiprocessors.
    const std::int64_t tiles = (rows + c.m - 1) / c.m * ((columns + c.n - 1) / c.n) * l.groups;
    const std::int64_t slots = std::int64_t{std::max(device.sm_count, 1)} * c.blocks;
    const std::int64_t bytes = rows * ((columns + c.n - 1) / c.n * c.n) * l.groups * 4;
    for (const int splits : {2, 4, 8, 16, 32, 64}) {
      if (tiles * splits > 2 * slots || bytes * splits > (std::int64_t{256} << 20)) break;
      c.splits = splits;
      add(c);
    }
  }
  if (l.halo_reason.empty())
    for (const auto& t : kHalos) {
      Config c = halo_of(t);
      while (c.m > 1 && !fits(c, l, device)) --c.m;
      add(c);
    }
  return {all.begin(), all.end()};
}

}  // namespace octavo::cuda::mma
