// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>

#include "engines/cpu_native/epilogue.h"

// The affine form: scale and bias of 64 channels stay in registers while the points go by.

namespace octavo::cpu_native {
namespace {

using Program = TileEpilogue::Program;
using Bound = TileEpilogue::Bound;

struct Block {
  __m512i bias_i[4];
  __m512 scale[4], bias[4];
};

__m512i load_param(const Program& p, const Bound& b, int index, std::int64_t channel, std::int64_t last) {
  if (index < 0) return _mm512_setzero_si512();
  const TileEpilogue::Param& param = p.params[static_cast<std::size_t>(index)];
  const auto* at = reinterpret_cast<const std::int32_t*>(b.params + param.offset);
  // Lanes past the last channel are never stored; stay inside the vector.
  return param.channel ? _mm512_loadu_si512(at + std::min(channel, last)) : _mm512_set1_epi32(*at);
}

template <int kUsed, bool kUnsigned, bool kBiasI, bool kBias>
void points(const Program& p, const Block& k, const std::int32_t* acc, std::ptrdiff_t row_stride, std::int64_t count,
            std::byte* out, std::int64_t out_stride, int channels, const std::int64_t* vector_offset, bool stream) {
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const __m512i floor = p.affine.relu ? _mm512_setzero_si512() : _mm512_set1_epi8(-128);
  const __mmask64 mask = channels >= 64 ? ~__mmask64{0} : (__mmask64{1} << channels) - 1;
  for (std::int64_t i = 0; i < count; ++i, acc += row_stride, out += out_stride) {
    __m512i t[4];
#pragma GCC unroll 4
    for (int u = 0; u < 4; ++u) {
      if (u >= kUsed) {
        t[u] = _mm512_setzero_si512();
        continue;
      }
      __m512i v = _mm512_loadu_si512(acc + 16 * u);
      if constexpr (kBiasI) v = _mm512_add_epi32(v, k.bias_i[u]);
      __m512 f = _mm512_mul_ps(_mm512_cvtepi32_ps(v), k.scale[u]);
      if constexpr (kBias) f = _mm512_add_ps(f, k.bias[u]);
      t[u] = _mm512_cvtps_epi32(f);  // tame: it fits, and the packs saturate
    }
    const __m512i low = _mm512_packs_epi32(t[0], t[1]), high = _mm512_packs_epi32(t[2], t[3]);
    __m512i packed = kUnsigned ? _mm512_packus_epi16(low, high) : _mm512_max_epi8(_mm512_packs_epi16(low, high), floor);
    packed = _mm512_permutexvar_epi32(order, packed);
    if (!vector_offset) {
      if (stream) {
        _mm512_stream_si512(reinterpret_cast<__m512i*>(out), packed);
      } else {
        _mm512_mask_storeu_epi8(out, mask, packed);
      }
      continue;
    }
    const __m128i part[4] = {_mm512_extracti32x4_epi32(packed, 0), _mm512_extracti32x4_epi32(packed, 1),
                             _mm512_extracti32x4_epi32(packed, 2), _mm512_extracti32x4_epi32(packed, 3)};
#pragma GCC unroll 4
    for (int u = 0; u < kUsed; ++u)
      _mm_mask_storeu_epi8(out + vector_offset[u], static_cast<__mmask16>(mask >> (16 * u)), part[u]);
  }
}

template <bool kUnsigned, bool kBiasI, bool kBias>
void block(int used, const Program& p, const Block& k, const std::int32_t* acc, std::ptrdiff_t row_stride, std::int64_t count,
           std::byte* out, std::int64_t out_stride, int channels, const std::int64_t* vector_offset, bool stream) {
  switch (used) {
    case 1:
      return points<1, kUnsigned, kBiasI, kBias>(p, k, acc, row_stride, count, out, out_stride, channels, vector_offset,
                                                 stream);
    case 2:
      return points<2, kUnsigned, kBiasI, kBias>(p, k, acc, row_stride, count, out, out_stride, channels, vector_offset,
                                                 stream);
    case 3:
      return points<3, kUnsigned, kBiasI, kBias>(p, k, acc, row_stride, count, out, out_stride, channels, vector_offset,
                                                 stream);
    default:
      return points<4, kUnsigned, kBiasI, kBias>(p, k, acc, row_stride, count, out, out_stride, channels, vector_offset,
                                                 stream);
  }
}

}  // namespace

void run_affine_avx512(const Program& p, const Bound& b, const Rows& rows, const void* accumulators,
                       std::ptrdiff_t row_stride) {
  const RowAddress& a = p.outputs[static_cast<std::size_t>(p.steps.back().index)];
  const bool blocked = a.channels == RowAddress::Channels::blocked;
  if (!b.tame || (blocked && rows.channel % 16 != 0)) return run_chain_avx512(p, b, rows, accumulators, row_stride);
  const auto* acc = static_cast<const std::int32_t*>(accumulators);
  auto* base = static_cast<std::byte*>(b.args->outputs[static_cast<std::size_t>(p.steps.back().index)]);
  std::int64_t point = rows.outer * a.stride[0];
  for (int d = 2; d < p.rank; ++d)
    point += rows.spatial[static_cast<std::size_t>(d - 2)] * a.stride[static_cast<std::size_t>(d)];
  const std::int64_t last_step = a.stride[static_cast<std::size_t>(p.rank - 1)];
  const auto kernel = [&](bool bias_i, bool bias, bool is_unsigned) {
    if (is_unsigned)
      return bias_i ? (bias ? block<true, true, true> : block<true, true, false>)
             : bias ? block<true, false, true>
                    : block<true, false, false>;
    return bias_i ? (bias ? block<false, true, true> : block<false, true, false>)
           : bias ? block<false, false, true>
                  : block<false, false, false>;
  }(p.affine.bias_i >= 0, p.affine.bias >= 0, a.type == DataType_t::UINT8);
  for (std::int64_t c = 0; c < rows.channels; c += 64) {
    const int n = static_cast<int>(std::min<std::int64_t>(64, rows.channels - c));
    const int used = (n + 15) / 16;
    Block k;
    std::int64_t offset[4] = {};
    for (int u = 0; u < 4; ++u) {
      const std::int64_t cu = rows.channel + c + 16 * u, last = rows.channel + rows.channels;
      k.bias_i[u] = load_param(p, b, p.affine.bias_i, cu, last);
      k.scale[u] = _mm512_castsi512_ps(load_param(p, b, p.affine.scale, cu, last));
      k.bias[u] = _mm512_castsi512_ps(load_param(p, b, p.affine.bias, cu, last));
      if (blocked) offset[u] = cu / a.vector * a.stride[1] + cu % a.vector;
    }
    std::byte* out = base + point + (blocked ? 0 : rows.channel + c);
    const bool whole_lines =
        n == 64 && ((reinterpret_cast<std::uintptr_t>(out) | static_cast<std::uintptr_t>(last_step)) & 63) == 0;
    kernel(used, p, k, acc + c, row_stride, rows.count, out, last_step, n, blocked ? offset : nullptr, b.stream && whole_lines);
  }
}

}  // namespace octavo::cpu_native

#endif
