// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What integer wgrad asks of an instruction set. Both operands are packed so that one 32-bit unit holds a channel's values at
// consecutive points of an output row (four bytes, or two 16-bit values), and a unit product sums over them exactly.
//
// Encodings. Bytes (VNNI): one side unsigned, one signed. dy s8: dy as it is, x + 128 (s8) or x (u8); dy u8: dy as it is,
// x (s8) or x - 128 (u8). 16 bits (the others): dy and x - zero point. With X0 the encoded zero point, which padding holds,
// sum (x - zx) dy = sum x' dy - X0 sum dy, modulo 2^32.

#include <cstdint>

#include "octavo/device.h"

namespace octavo::cpu_native {

/// c[i][:] (+)= sum over segments s and steps d of a[s * a_segment + d * a_step + i] . b[s * b_segment + d * b_step + :], in
/// units
struct UnitProductArgs {
  const std::uint32_t* a = nullptr;
  std::int64_t a_segment = 0, a_step = 0;
  const std::uint32_t* b = nullptr;
  std::int64_t b_segment = 0, b_step = 0;
  std::int64_t segments = 0, depth = 0;
  std::int32_t* c = nullptr;
  std::int64_t c_row = 0;
  bool accumulate = false;
  int tail = 0;             ///< columns of the last vector; 0 = all
  bool a_unsigned = false;  ///< bytes: a is the unsigned side, else b
};

/// Units of one step: unit c holds points[0..], channel c, xor-ed with `flip` (bytes) or minus `zero_point` (16 bits).
struct UnitPackArgs {
  std::uint32_t* to = nullptr;
  const std::uint8_t* points[4] = {};
  std::int64_t channels = 0;
  std::uint8_t flip = 0;
  bool is_signed = false;
  std::int32_t zero_point = 0;
};

struct WgradS8Kernels {
  int lanes = 0, points = 0;  ///< of a unit
  int max_vectors = 0, max_rows[5]{};
  void (*product)(int rows, int vectors, const UnitProductArgs& args) = nullptr;
  void (*pack)(const UnitPackArgs& args) = nullptr;
  double macs_per_cycle = 1;
};

extern const WgradS8Kernels kWgradS8Portable;
#if defined(__x86_64__)
extern const WgradS8Kernels kWgradS8Avx2, kWgradS8Avx512, kWgradS8Vnni;
#endif

inline const WgradS8Kernels& wgrad_s8_kernels(CpuIsa isa) {
#if defined(__x86_64__)
  if (isa >= CpuIsa::avx512_vnni) return kWgradS8Vnni;
  if (isa == CpuIsa::avx512) return kWgradS8Avx512;
  if (isa == CpuIsa::avx2) return kWgradS8Avx2;
#endif
  (void)isa;
  return kWgradS8Portable;
}

}  // namespace octavo::cpu_native
