// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The microkernel and the row packer as templates over an instruction set V, which gives
//   I, kLanes, load / store / broadcast of four bytes, dot(acc, x, w), whether to prefetch
// (DirectTile::prefetch), whether it has affine<vectors>(acc, DirectAffine, out), and affine_together<1 or 2 vectors>(acc,
// DirectAffine, outs) for the pixels that fill four vectors.
// Accumulators are one array per tile indexed by constants only (index_sequence), so that they stay in registers.

#include <cstring>
#include <utility>

#include "engines/cpu_native/direct_s8.h"
#include "engines/cpu_native/transpose.h"

namespace octavo::cpu_native {

#define OCTAVO_INLINE inline __attribute__((always_inline))
#define OCTAVO_LAMBDA_INLINE __attribute__((always_inline))

template <class V, int kPixels, int kVectors>
struct DirectMicro {
  using I = typename V::I;

  template <std::size_t... T>
  static OCTAVO_INLINE void accumulate(const DirectTile& t, I* acc, std::index_sequence<T...>) {
    ((acc[T] = V::load(t.init + static_cast<int>(T % kVectors) * V::kLanes)), ...);
    const std::int64_t bytes = std::int64_t{4} * t.steps;
    [[maybe_unused]] const std::uint8_t* ahead = t.prefetch;
    for (int r = 0; r < t.run_count; ++r) {
      const std::uint8_t* x = t.x + t.runs[r].x;
      const std::uint8_t* w = t.w + t.runs[r].w;
      const std::uint8_t* px[kPixels];
      for (int i = 0; i < kPixels; ++i) px[i] = x + t.pixel[i];
      for (std::int64_t c = 0; c < bytes; c += 4) {
        if constexpr (V::kPrefetch) {
          __builtin_prefetch(ahead, 0, 2);
          ahead += 64;
        }
        step(acc, px, c, w, std::make_index_sequence<kPixels>());
        w += kVectors * V::kLanes * 4;
      }
    }
  }

  template <std::size_t... T>
  static OCTAVO_INLINE void body(const DirectTile& t, std::index_sequence<T...> all) {
    I acc[kPixels * kVectors];
    accumulate(t, acc, all);
    (V::store(t.out + static_cast<std::int64_t>(T / kVectors) * t.out_stride + static_cast<int>(T % kVectors) * V::kLanes,
              acc[T]),
     ...);
  }

  template <std::size_t... P>
  static OCTAVO_INLINE void affine_body(const DirectTile& t, const DirectAffine& e, std::index_sequence<P...>) {
    I acc[kPixels * kVectors];
    accumulate(t, acc, std::make_index_sequence<static_cast<std::size_t>(kPixels * kVectors)>());
    // Pixels of few channels are finished together, as many as fill the lanes.
    constexpr int kTogether = kVectors == 1 ? 4 : kVectors == 2 ? 2 : 1, kGrouped = kPixels / kTogether * kTogether;
    if constexpr (kTogether > 1) {
      (affine_group<P, kTogether, kGrouped>(acc, e), ...);
    } else {
      (V::template affine<kVectors>(acc + P * kVectors, e, e.out[P]), ...);
    }
  }
  template <std::size_t P, int kTogether, int kGrouped>
  static OCTAVO_INLINE void affine_group(const I* acc, const DirectAffine& e) {
    if constexpr (P >= kGrouped) {
      V::template affine<kVectors>(acc + P * kVectors, e, e.out[P]);
    } else if constexpr (P % kTogether == 0) {
      V::template affine_together<kVectors>(acc + P * kVectors, e, e.out + P);
    }
  }
  static void run_affine(const DirectTile& t, const DirectAffine& e) {
    affine_body(t, e, std::make_index_sequence<static_cast<std::size_t>(kPixels)>());
  }

  template <std::size_t... P>
  static OCTAVO_INLINE void step(I* acc, const std::uint8_t* const* px, std::int64_t c, const std::uint8_t* w,
                                 std::index_sequence<P...>) {
    I b[kVectors];
    for (int v = 0; v < kVectors; ++v) b[v] = V::load(w + v * V::kLanes * 4);
    (row(acc + P * kVectors, V::broadcast(px[P] + c), b, std::make_index_sequence<kVectors>()), ...);
  }
  template <std::size_t... J>
  static OCTAVO_INLINE void row(I* acc, I x, const I* b, std::index_sequence<J...>) {
    (V::dot(acc[J], x, b[J]), ...);
  }

  static void run(const DirectTile& t) { body(t, std::make_index_sequence<static_cast<std::size_t>(kPixels * kVectors)>()); }
};

/// Fills a row of the kernel table: tiles of 1..kPixels pixels.
template <class V, int kVectors, int kPixels>
constexpr void fill_kernels(DirectIsa& isa) {
  isa.tile_pixels[kVectors] = isa.tile_pixels[kVectors] > kPixels ? isa.tile_pixels[kVectors] : kPixels;
  isa.kernel[kVectors][kPixels] = &DirectMicro<V, kPixels, kVectors>::run;
  if constexpr (V::kAffine) isa.affine[kVectors][kPixels] = &DirectMicro<V, kPixels, kVectors>::run_affine;
  if constexpr (kPixels > 1) fill_kernels<V, kVectors, kPixels - 1>(isa);
}

template <class T>
struct EncodeByte {
  std::uint8_t flip;
  OCTAVO_INLINE T operator()(std::uint8_t v) const { return static_cast<T>(v ^ flip); }
};
template <bool kSigned>
struct EncodeWord {
  std::int32_t zero_point;
  OCTAVO_INLINE std::int16_t operator()(std::uint8_t v) const {
    return static_cast<std::int16_t>((kSigned ? static_cast<std::int8_t>(v) : static_cast<std::int32_t>(v)) - zero_point);
  }
};

/// n encoded elements from a run of memory.
template <class T, class E>
OCTAVO_INLINE void encode_run(const std::uint8_t* from, T* to, std::int64_t n, const E& encode) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = encode(from[i]);
}

/// Channel-strided memory (NCHW): blocks of 16 channels x 16 pixels, transposed, then encoded.
template <class T, class E>
void encode_transposed(const RowPack& p, std::int64_t group, const E& encode) {
  constexpr std::int64_t kBlock = 16;
  const std::int64_t pitch = p.groups * p.group_bytes / static_cast<std::int64_t>(sizeof(T));
  const std::uint8_t* from = p.from + group * p.channels * p.channel_stride;
  T* to = reinterpret_cast<T*>(p.to + group * p.group_bytes);
  // Channels outside: sixteen streams at a time, not one page after the other for every block.
  for (std::int64_t c0 = 0; c0 < p.channels; c0 += kBlock) {
    const std::int64_t nc = p.channels - c0 < kBlock ? p.channels - c0 : kBlock;
    for (std::int64_t w0 = 0; w0 < p.pixels; w0 += kBlock) {
      const std::int64_t nw = p.pixels - w0 < kBlock ? p.pixels - w0 : kBlock;
      const std::uint8_t* s = from + c0 * p.channel_stride + w0 * p.pixel_stride;
      alignas(16) std::uint8_t turned[kBlock][kBlock];
      if (p.pixel_stride == 1 && nw == kBlock && nc == kBlock) {
        transpose_16x16(s, p.channel_stride, turned[0], kBlock);
      } else {
        for (std::int64_t c = 0; c < nc; ++c) {
          for (std::int64_t w = 0; w < nw; ++w) turned[w][c] = s[c * p.channel_stride + w * p.pixel_stride];
        }
      }
      T* d = to + w0 * pitch + c0;
      if (nc == kBlock) {
        for (std::int64_t w = 0; w < nw; ++w, d += pitch) encode_run(turned[w], d, kBlock, encode);
      } else {
        for (std::int64_t w = 0; w < nw; ++w, d += pitch) encode_run(turned[w], d, nc, encode);
      }
    }
  }
}

template <class T, class E>
void encode_row(const RowPack& p, const E& encode) {
  const std::int64_t group_elements = p.group_bytes / static_cast<std::int64_t>(sizeof(T));
  const std::int64_t all = p.groups * p.channels;
  const bool dense = group_elements == p.channels;
  if (p.vector == 1 && p.channel_stride != 1 && all > 1) {
    for (std::int64_t g = 0; g < p.groups; ++g) encode_transposed<T>(p, g, encode);
  } else if (p.vector == 1 && dense && p.pixel_stride == all) {
    encode_run(p.from, reinterpret_cast<T*>(p.to), p.pixels * all, encode);
  } else {
    for (std::int64_t w = 0; w < p.pixels; ++w) {
      const std::uint8_t* from = p.from + w * p.pixel_stride;
      T* to = reinterpret_cast<T*>(p.to) + w * p.groups * group_elements;
      if (p.vector == 1) {
        for (std::int64_t g = 0; g < p.groups; ++g)
          encode_run(from + g * p.channels, to + g * group_elements, p.channels, encode);
      } else if (dense) {
        for (std::int64_t c = 0; c < all; c += p.vector) {
          encode_run(from + c / p.vector * p.channel_stride, to + c, all - c < p.vector ? all - c : p.vector, encode);
        }
      } else {
        for (std::int64_t c = 0; c < all; ++c) {
          to[c / p.channels * group_elements + c % p.channels] = encode(from[c / p.vector * p.channel_stride + c % p.vector]);
        }
      }
    }
  }
  if (dense || !p.pad_channels) return;
  for (std::int64_t i = 0; i < p.pixels * p.groups; ++i) {
    T* to = reinterpret_cast<T*>(p.to) + i * group_elements + p.channels;
    for (std::int64_t c = p.channels; c < group_elements; ++c) *to++ = 0;
  }
}

template <Encoding kEncoding>
void pack_row(const RowPack& p) {
  if constexpr (kEncoding == Encoding::s16) {
    if (p.is_signed) {
      encode_row<std::int16_t>(p, EncodeWord<true>{p.zero_point});
    } else {
      encode_row<std::int16_t>(p, EncodeWord<false>{p.zero_point});
    }
  } else {
    encode_row<std::uint8_t>(p, EncodeByte<std::uint8_t>{p.flip});
  }
}

}  // namespace octavo::cpu_native
