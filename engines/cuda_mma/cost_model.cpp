// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "engines/cuda_mma/cost_model.h"

#include <algorithm>
#include <cmath>

#include "engines/cuda_mma/igemm_params.h"

namespace octavo::cuda::mma {
namespace {

double ceil_div(double a, double b) { return std::ceil(a / b); }

double traffic_floor_us(const Lowered& l, const Rates& r) {
  const double es = static_cast<double>(dev::bytes_of(l.a));
  const double x = static_cast<double>(l.n * l.in[0] * l.in[1] * l.in[2] * l.groups * l.channels) * es;
  const double w = static_cast<double>(l.k) * static_cast<double>(l.reduction_bytes());
  const double y = static_cast<double>(l.rows() * l.k) * es;
  return (x + w + y) / r.dram;
}

double igemm_us(const Config& c, const Lowered& l, const DeviceTraits& d, const Rates& r, double mhz) {
  const double sms = std::max(d.sm_count, 1), columns = static_cast<double>(l.k / l.groups);
  const double iterations = ceil_div(static_cast<double>(l.reduction_bytes()), c.k);
  const double per_split = ceil_div(iterations, c.splits), splits = ceil_div(iterations, per_split);
  const double tiles =
      ceil_div(static_cast<double>(l.rows()), c.m) * ceil_div(columns, c.n) * static_cast<double>(l.groups) * splits;
  const double threads = threads_of(c), warps = threads / 32, steps = c.k / 32.;
  const double mt = c.m / (16. * c.warps_m), nt = c.n / (8. * c.warps_n);
  // One stage of one block, in cycles of the multiprocessor.
  const double products = c.m / 16. * (c.n / 8.) * steps * r.mma / 4 / r.share;
  const double shared = warps * steps * (4 * mt + 2 * nt) + (c.m + c.n) * c.k / 128.;
  const double narrow = l.align < 16 ? 16. / l.align : 1;
  const double loads = (c.m + c.n) * c.k / r.l2 * (narrow > 1 ? 0.6 + 0.4 * narrow : 1);
  const double epilogue = c.m * static_cast<double>(c.n) / 128 * r.element * (l.transposed ? 4 : 1);
  const auto wave = [&](double blocks) {
    const double busy = std::max({blocks * (products + r.shared * shared), blocks * loads});
    const double alone = std::max(products * std::max(1., 4 / warps) + r.stage, r.latency / (c.stages - 1));
    return per_split * std::max(busy + r.stage / blocks, alone) + r.block + epilogue * (blocks > 1 ? 0.5 + 0.5 * blocks : 1);
  };
  const double slots = sms * c.blocks, full = std::floor(tiles / slots), rest = tiles - full * slots;
  double cycles = full * wave(c.blocks);
  if (rest > 0) cycles += wave(std::max(1., ceil_div(rest, sms)));
  double us = cycles / mhz;
  if (c.splits > 1) {
    const double partial =
        splits * static_cast<double>(l.rows()) * ceil_div(columns, c.n) * c.n * static_cast<double>(l.groups) * 4;
    us += r.reduce + 2 * partial / r.dram / 1.5;
  }
  return us;
}

double halo_us(const Config& c, const Lowered& l, const DeviceTraits& d, const Rates& r, double mhz) {
  const dev::HaloConfig h = halo_config(c, l, d);
  const dev::HaloParams p = dev::halo_params(h, l.halo(), halo_ranges(c, l, d));
  const double sms = std::max(d.sm_count, 1), blocks = static_cast<double>(dev::halo_blocks(p)),
               waves = ceil_div(blocks, sms * c.blocks);
  const double units = ceil_div(p.units, p.ranges), per_group = ceil_div(units, c.groups), tiles = ceil_div(per_group, c.m);
  const double taps = h.r * h.s, nt = c.n / (8. * c.warps_n), warps = c.warps_m * c.warps_n, height = per_group / tiles;
  // One chunk of one tile of one group.
  const double products = warps * height * nt * taps * r.mma / 4 / r.halo_share;
  const double shared = warps * ((height + h.r - 1) * h.s * 4 + nt * 2 * taps);
  const double patch = dev::halo_patch_bytes(h), filter = dev::halo_filter_bytes(h);
  const double loads = (patch + (c.resident ? 0 : filter)) / r.l2;
  const double epilogue = height * nt * 2 * 2 * r.element * warps / 4;
  const double issue = (r.halo_issue + r.halo_copy * dev::halo_copies(h)) * warps / 4;
  const double together = c.groups * std::max({products + r.shared * shared + issue, loads});
  const double alone =
      std::max(products * std::max(1., 4 / warps), r.latency / std::max(1, dev::halo_distance(h))) + r.halo_stage;
  const double chunk = std::max(together, alone);
  double cycles = tiles * h.chunks * chunk + r.halo_start + epilogue;
  cycles += (tiles - 1) * epilogue * (c.groups == 1 ? 1 : r.halo_alone);
  if (c.resident) cycles += (filter + c.groups * patch) / r.l2;
  return waves * cycles / mhz;
}

double pack_us(const Pack& p, const Rates& r) {
  const double read =
      static_cast<double>(p.bytes()) * static_cast<double>(element_bytes(p.from)) / static_cast<double>(element_bytes(p.to));
  return 1.5 + (static_cast<double>(p.bytes()) + read * (p.fastest == 0 ? 1 : 1.5)) / r.pack;
}

}  // namespace

Rates rates_of(const DeviceTraits& device, dev::Elem element) {
  Rates r;
  const bool narrow = dev::is_integer(element);
  // Cycles of a scheduler for 16x8 outputs over 32 bytes, from the published dense rates.
  switch (device.sm) {
    case 75:
      r.mma = 16, r.dram = 0.28e6, r.l2 = 32;
      break;
    case 80:
      r.mma = 8, r.dram = 1.6e6, r.l2 = 48;
      break;
    case 87:
      r.mma = 8, r.dram = 0.18e6, r.l2 = 32;
      break;
    case 86:
    case 89:
    case 120:
    case 121:
      r.mma = narrow ? 16 : 32, r.dram = 0.8e6, r.l2 = 32;
      break;
    default:
      break;
  }
  r.pack = r.dram * 0.55;
  return r;
}

double estimate_us(const Config& c, const Lowered& l, const DeviceTraits& device, const Rates& r) {
  const double mhz = device.clock_khz > 0 ? device.clock_khz * 1e-3 : 1500.;
  const double kernel = c.family == Family::halo ? halo_us(c, l, device, r, mhz) : igemm_us(c, l, device, r, mhz);
  double us = r.launch + std::max(kernel, traffic_floor_us(l, r));
  if (l.x.packed) us += pack_us(l.x.pack, r);
  if (l.w.packed) us += pack_us(l.w.pack, r);
  if (l.correct) us += 2;
  return us;
}

double estimate_us(const Config& c, const Lowered& l, const DeviceTraits& device) {
  return estimate_us(c, l, device, rates_of(device, l.a));
}

}  // namespace octavo::cuda::mma
