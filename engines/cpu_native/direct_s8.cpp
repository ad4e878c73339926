// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Path "direct": implicit GEMM of s8/u8 inputs, fprop (see direct_s8_plan.h).

#include "engines/cpu_native/direct_s8.h"

#include <algorithm>
#include <string>

#include "core/zero_point.h"
#include "engines/cpu_native/direct_s8_plan.h"
#include "engines/cpu_native/path.h"

namespace octavo::cpu_native {

const DirectIsa& direct_isa(CpuIsa isa) {
#if defined(__x86_64__)
  if (isa >= CpuIsa::avx512_vnni) return kDirectVnni;
  if (isa == CpuIsa::avx512) return kDirectAvx512;
  if (isa == CpuIsa::avx2) return kDirectAvx2;
#elif defined(__aarch64__)
  if (isa == CpuIsa::neon_dotprod) return kDirectNeon;
#endif
  return kDirectPortable;
}

namespace {

bool is_byte(DataType_t t) { return t == DataType_t::INT8 || t == DataType_t::UINT8; }

Verdict direct_accepts(const Problem& p, const DeviceTraits&) {
  if (p.direction != Direction::fprop)
    return Verdict::no("it runs fprop and the problem is a " + std::string(to_string(p.direction)));
  if (!is_byte(p.x.type) || !is_byte(p.w.type)) {
    return Verdict::no(std::string("it reads s8 and u8, and the inputs are ") + short_name(p.x.type) + " and " +
                       short_name(p.w.type));
  }
  if (!zero_point_fits(p)) {
    return Verdict::no("x's zero point " + std::to_string(p.zero_points.x) + " is no value of type " + short_name(p.x.type));
  }
  return Verdict::yes();
}

/// Cycles of one core, fitted to measurements on an Intel Xeon with VNNI; what matters is the order of the candidates.
std::vector<Candidate> direct_candidates(const Problem& p, const DeviceTraits& device) {
  const DirectIsa& isa = direct_isa(device.isa);
  const Geometry g(p);
  const double k = static_cast<double>(round_up(g.kg, isa.lanes) * g.groups);
  const double points = static_cast<double>(g.n * g.out[0] * g.out[1] * g.out[2]);
  const double window = static_cast<double>(g.taps() * round_up(g.cg, isa.channels_per_step));
  // Outputs that leave L2 are written at the speed of memory.
  const double store = points * static_cast<double>(g.k) > static_cast<double>(device.l2_bytes) ? 0.7 : 0.3;
  // A group of one or two vectors has little to do between the starts of its runs.
  const std::int64_t vectors = ceil_div(g.kg, isa.lanes);
  const double rate = isa.macs_per_cycle * (g.groups == 1 || vectors > 2 ? 1.0 : vectors == 2 ? 0.8 : 0.6);
  const double cycles = points * (k * window / rate + k * store + static_cast<double>(g.c) * 0.1);
  return {{"", 1.0 + cycles / 2500.0 / std::max(1, device.threads)}};
}

error_t direct_build(const Problem& p, const std::string& config, const DeviceTraits& device, const BuildOptions& options,
                     std::unique_ptr<Plan>& plan) {
  if (!config.empty()) {
    return {error_code_t::INVALID_VALUE, "Config '" + config + "' of path 'direct' is unknown; it has none."};
  }
  auto made =
      std::make_unique<DirectPlan>(p, direct_isa(device.isa), device, work_of(direct_candidates(p, one_thread(device))));
  OCTAVO_RETURN_IF_ERROR(made->init(options));
  plan = std::move(made);
  return {};
}

}  // namespace

extern const Path kDirectS8;
const Path kDirectS8{"direct", &direct_accepts, &direct_candidates, &direct_build};

}  // namespace octavo::cpu_native
