// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

// Path "winograd": exact integer F(4x4, 3x3) for 3x3, stride 1, s8/u8 fprop. A block is a run of tiles (over images, rows and
// columns of tiles); its transformed input, 36 small GEMMs and the output transform stay in the cache of one core.

#include "engines/cpu_native/winograd_s8.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <vector>

#include "core/parallel.h"
#include "core/zero_point.h"
#include "engines/cpu_native/direct_s8_filter.h"
#include "engines/cpu_native/epilogue.h"
#include "engines/cpu_native/geometry.h"
#include "engines/cpu_native/pack.h"
#include "engines/cpu_native/path.h"
#include "engines/cpu_native/stream.h"

namespace octavo::cpu_native {

const WinogradIsa& winograd_isa(CpuIsa isa) {
#if defined(__x86_64__)
  if (isa >= CpuIsa::avx512_vnni) return kWinogradVnni;
  if (isa == CpuIsa::avx512) return kWinogradAvx512;
  if (isa == CpuIsa::avx2) return kWinogradAvx2;
#else
  (void)isa;
#endif
  return kWinogradPortable;
}

namespace {

bool is_byte(DataType_t t) { return t == DataType_t::INT8 || t == DataType_t::UINT8; }

/// Largest |v - zero| over the values of a byte type.
std::int64_t reach(DataType_t type, std::int64_t zero) {
  const std::int64_t lo = type == DataType_t::INT8 ? -128 : 0;
  return std::max(zero - lo, lo + 255 - zero);
}

/// Channels whose sum stays below 2^25 whatever the data: what a part of C may hold.
std::int64_t safe_channels(const Problem& p) {
  const std::int64_t zw = p.zero_points.filter == ZeroPoints::Filter::scalar ? p.zero_points.w : 0;
  return ((std::int64_t{1} << 25) - 1) / (9 * reach(p.x.type, p.zero_points.x) * reach(p.w.type, zw));
}

Verdict winograd_accepts(const Problem& p, const DeviceTraits&) {
  if (p.direction != Direction::fprop)
    return Verdict::no("it runs fprop and the problem is a " + std::string(to_string(p.direction)));
  if (!is_byte(p.x.type) || !is_byte(p.w.type)) {
    return Verdict::no(std::string("it reads s8 and u8, and the inputs are ") + short_name(p.x.type) + " and " +
                       short_name(p.w.type));
  }
  if (p.spatial() != 2 || p.w.dim[2] != 3 || p.w.dim[3] != 3) return Verdict::no("the filter is not 3x3");
  if (p.stride[0] != 1 || p.stride[1] != 1 || p.dilation[0] != 1 || p.dilation[1] != 1)
    return Verdict::no("stride and dilation must be 1");
  if (p.groups() != 1) return Verdict::no("the filter has " + std::to_string(p.groups()) + " groups");
  if (p.zero_points.filter == ZeroPoints::Filter::per_channel) return Verdict::no("the filter has a zero point per channel");
  if (!zero_point_fits(p)) {
    return Verdict::no("x's zero point " + std::to_string(p.zero_points.x) + " is no value of type " + short_name(p.x.type));
  }
  const std::int64_t zw = p.zero_points.filter == ZeroPoints::Filter::scalar ? p.zero_points.w : 0;
  if (reach(p.w.type, zw) > kWinogradMaxWeight) return Verdict::no("a transformed weight could leave 16 bits");
  return Verdict::yes();
}

/// Tiles a block: V (transformed input) is written once and read once per 64 output channels, so it stays in L2.
std::int64_t block_tiles(std::int64_t channel_pitch) {
  const std::int64_t by_cache = (1300 << 10) / (kWinogradPoints * channel_pitch * 2);
  return std::clamp<std::int64_t>(by_cache / 6 * 6, 12, 36);
}

class WinogradPlan final : public Plan {
 public:
  WinogradPlan(const Problem& p, const WinogradIsa& isa, const DeviceTraits& device, double work_us)
      : p_(p), g_(p), isa_(isa), level_(device.isa), work_us_(work_us) {
    stream_ = worth_streaming(device, p.x.elements() + p.y.elements());
  }

  error_t init(const BuildOptions& options) {
    OCTAVO_RETURN_IF_ERROR(epilogue_.compile(p_, level_));
    shape_ = PackedFilterShape(g_, *isa_.products);
    slots_ = threads_for(work_us_ + epilogue_.interpreted_us());
    w_signed_ = p_.w.type == DataType_t::INT8;
    w_zero_ = p_.zero_points.filter == ZeroPoints::Filter::scalar ? p_.zero_points.w : 0;
    tiles_h_ = ceil_div(g_.out[1], kWinogradTile);
    tiles_w_ = ceil_div(g_.out[2], kWinogradTile);
    pitch_ = round_up(g_.c, isa_.chunk);
    native_chunks_ = p_.x.vector == 1 ? p_.x.stride[1] == 1 || g_.c == 1 : p_.x.vector % isa_.chunk == 0;
    std::int64_t parts = ceil_div(g_.c, std::max<std::int64_t>(2, safe_channels(p_) / 2 * 2));
    if (options.constant_filter) {
      const auto* krsc = static_cast<const std::uint8_t*>(options.constant_filter);
      AlignedBytes plain;
      if (!is_channels_last(p_.w)) {
        plain = AlignedBytes(channels_last_bytes(p_.w, g_.cg));
        to_channels_last(p_.w, krsc, plain.get(), g_.cg);
        krsc = reinterpret_cast<const std::uint8_t*>(plain.get());
      }
      parts = std::min(parts, parts_for(krsc));
      AlignedBytes words(static_cast<std::size_t>(words_bytes() * slots_));
      filter_ = AlignedBytes(static_cast<std::size_t>(transformed_bytes()));
      transform_filter(krsc, reinterpret_cast<std::int16_t*>(words.get()), reinterpret_cast<std::int16_t*>(filter_.get()));
    }
    c_parts_ = parts;
    choose_blocking();
    Carver carver;
    carve(carver);
    workspace_ = carver.used() + 64;
    return {};
  }

  std::size_t workspace_bytes() const override { return workspace_; }
  std::vector<NumericalNote_t> numerical_notes() const override {
    return {NumericalNote_t::WINOGRAD, NumericalNote_t::WINOGRAD_TILE_4x4};
  }
  std::string describe() const override {
    return std::string("exact integer Winograd F(4x4,3x3), ") + to_string(isa_.products->isa) + ", blocks of " +
           std::to_string(block_tiles_) + " tiles, C in " + std::to_string(c_parts_) + (c_parts_ == 1 ? " part" : " parts");
  }

  error_t execute(const Args& args) const override {
    if (p_.result().elements() == 0) return {};
    Carver carver(align64(args.workspace));
    const Areas a = carve(carver);
    const auto* filter = reinterpret_cast<const std::int16_t*>(filter_.get());
    if (!filter) {
      const auto* krsc = static_cast<const std::uint8_t*>(args.w);
      if (a.plain) {
        to_channels_last(p_.w, krsc, a.plain, g_.cg);
        krsc = a.plain;
      }
      transform_filter(krsc, a.words, a.filter);
      filter = a.filter;
    }
    TileEpilogue::Bound bound = epilogue_.bind(args, a.params);
    bound.stream = stream_;
    const std::int64_t blocks = ceil_div(total_tiles(), block_tiles_) * k_parts_;
    std::atomic<std::int64_t> next{0};
    parallel_for(std::min<std::int64_t>(slots_, blocks), [&](std::int64_t slot, int) {
      const Scratch s = scratch(a, slot);
      for (std::int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < blocks;) run_block(args, bound, filter, s, i);
      if (stream_) stream_fence();
    });
    return {};
  }

 private:
  struct Areas {
    std::byte* params = nullptr;
    std::uint8_t* plain = nullptr;
    std::int16_t* words = nullptr;
    std::int16_t* filter = nullptr;
    std::byte* slots = nullptr;
  };
  struct Scratch {
    std::int16_t* v = nullptr;
    std::int32_t* m = nullptr;
    std::int32_t* y = nullptr;
    std::int32_t* zeros = nullptr;
    std::int32_t* pixel = nullptr;
    std::uint8_t* rows = nullptr;
  };
  struct Strip {                           ///< tiles side by side, in one row of tiles of one image
    std::int64_t n, th, tw, tiles, first;  // first: index in the block
  };

  std::int64_t total_tiles() const { return g_.n * tiles_h_ * tiles_w_; }
  std::int64_t lanes(const FilterBlock& b) const { return std::int64_t{b.vectors} * isa_.products->lanes; }
  std::int64_t max_lanes() const { return std::int64_t{isa_.products->max_vectors} * isa_.products->lanes; }
  /// Odd multiples of a cache line, so that 36 streams do not fall on the same sets.
  static std::int64_t spread(std::int64_t bytes) { return (ceil_div(bytes, 64) | 1) * 64; }
  std::int64_t v_pitch() const { return spread(block_tiles_ * pitch_ * 2) / 2; }
  std::int64_t m_pitch() const { return spread(block_tiles_ * max_lanes() * 4) / 4; }

  std::int64_t words_bytes() const { return 9 * shape_.steps() * max_lanes() * 4 + 64; }
  /// The packed shape has 9 taps; the transformed one 36 points of the same.
  std::int64_t transformed_bytes() const { return shape_.bytes() * 4 + 256; }

  /// The filter's own bound: with it most filters need no split at any C.
  std::int64_t parts_for(const std::uint8_t* krsc) const {
    const std::int64_t x_reach = reach(p_.x.type, p_.zero_points.x), limit = ((std::int64_t{1} << 25) - 1) / x_reach;
    for (std::int64_t parts = 1;; ++parts) {
      bool fits = true;
      for (std::int64_t k = 0; k < g_.k && fits; ++k) {
        for (std::int64_t part = 0; part < parts && fits; ++part) {
          const std::int64_t c0 = part_begin(part, parts), c1 = part_begin(part + 1, parts);
          std::int64_t sum = 0;
          for (std::int64_t t = 0; t < 9; ++t) {
            const std::uint8_t* w = krsc + (k * 9 + t) * g_.c;
            std::int32_t s = 0;
            if (w_signed_) {
              for (std::int64_t c = c0; c < c1; ++c) s += std::abs(static_cast<std::int8_t>(w[c]) - w_zero_);
            } else {
              for (std::int64_t c = c0; c < c1; ++c) s += std::abs(w[c] - w_zero_);
            }
            sum += s;
          }
          fits = sum <= limit;
        }
      }
      if (fits) return parts;
    }
  }
  /// First channel of a part of C: even, because products come in pairs.
  std::int64_t part_begin(std::int64_t part, std::int64_t parts) const {
    return part == parts ? g_.c : ceil_div(g_.c, 2) * part / parts * 2;
  }

  /// KRSC bytes -> [block][point][step][lane][2].
  void transform_filter(const std::uint8_t* krsc, std::int16_t* words, std::int16_t* to) const {
    const std::int64_t steps = shape_.steps();
    const auto blocks = static_cast<std::int64_t>(shape_.blocks().size());
    std::atomic<std::int64_t> next{0};
    parallel_for(std::min<std::int64_t>(slots_, blocks), [&](std::int64_t slot, int) {
      std::int16_t* mine = words + slot * words_bytes() / 2;
      alignas(64) std::int16_t zero[2 * kMaxTileVectors * 16];
      std::fill_n(zero, 2 * kMaxTileVectors * 16, static_cast<std::int16_t>(w_zero_));
      for (std::int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < blocks;) {
        const FilterBlock& b = shape_.blocks()[static_cast<std::size_t>(i)];
        shape_.pack_block(g_, *isa_.products, b, krsc, w_signed_, reinterpret_cast<std::uint8_t*>(mine));
        WinogradFilter f{};
        f.elements = 2 * lanes(b);
        f.tap_pitch = steps * f.elements;
        f.point_pitch = steps * f.elements;
        f.zero_points = zero;
        for (std::int64_t s = 0; s < steps; ++s) {
          f.from = mine + s * f.elements;
          f.to = to + b.offset * 2 + s * f.elements;  // offset is in bytes of 9 taps: 4 times that, in 2-byte elements
          isa_.filter(f);
        }
      }
    });
  }

  void choose_blocking() {
    const std::int64_t tiles = total_tiles();
    std::int64_t t = block_tiles(pitch_);
    const std::int64_t wanted = 3 * slots_;
    while (t > 12 && ceil_div(tiles, t) < wanted) t -= 6;
    block_tiles_ = std::max<std::int64_t>(1, ceil_div(tiles, std::max<std::int64_t>(1, ceil_div(tiles, t))));
    k_parts_ = 1;
    const std::int64_t blocks = std::max<std::int64_t>(1, ceil_div(tiles, block_tiles_));
    if (blocks < wanted)
      k_parts_ = std::min<std::int64_t>(ceil_div(wanted, blocks), static_cast<std::int64_t>(shape_.blocks().size()));
  }

  Areas carve(Carver& c) const {
    Areas a;
    a.params = c.take<std::byte>(static_cast<std::int64_t>(epilogue_.workspace_bytes()));
    if (!filter_) {
      if (!is_channels_last(p_.w)) a.plain = c.take<std::uint8_t>(static_cast<std::int64_t>(channels_last_bytes(p_.w, g_.cg)));
      a.words = c.take<std::int16_t>(words_bytes() / 2 * slots_);
      a.filter = c.take<std::int16_t>(transformed_bytes() / 2);
    }
    a.slots = c.take<std::byte>(slot_bytes() * slots_);
    return a;
  }
  Scratch carve_slot(Carver& c) const {
    Scratch s;
    s.v = c.take<std::int16_t>(kWinogradPoints * v_pitch());
    s.m = c.take<std::int32_t>(kWinogradPoints * m_pitch());
    s.y = c.take<std::int32_t>((c_parts_ > 1 ? block_tiles_ : kStripTiles) * 16 * max_lanes() + 2 * kAccumulatorPad);
    s.zeros = c.take<std::int32_t>(max_lanes());
    s.pixel = c.take<std::int32_t>(block_tiles_);
    s.rows = native_chunks_ ? nullptr : c.take<std::uint8_t>(kWinogradReach * row_pixels() * pitch_);
    return s;
  }
  std::int64_t row_pixels() const { return std::min(g_.in[2], block_tiles_ * kWinogradTile + 2); }
  std::int64_t slot_bytes() const {
    Carver c;
    carve_slot(c);
    return static_cast<std::int64_t>(c.used());
  }
  Scratch scratch(const Areas& a, std::int64_t slot) const {
    Carver c(a.slots + slot * slot_bytes());
    return carve_slot(c);
  }

  /// Calls f(strip) for the tiles [begin, end), cut at rows of tiles and every `most` tiles.
  template <class F>
  void for_strips(std::int64_t begin, std::int64_t end, std::int64_t most, F&& f) const {
    for (std::int64_t i = begin; i < end;) {
      Strip s{};
      s.tw = i % tiles_w_;
      s.th = i / tiles_w_ % tiles_h_;
      s.n = i / tiles_w_ / tiles_h_;
      s.tiles = std::min({end - i, tiles_w_ - s.tw, most});
      s.first = i - begin;
      f(s);
      i += s.tiles;
    }
  }

  void transform_input(const Args& args, const Scratch& s, const Strip& strip) const {
    const auto* x = static_cast<const std::uint8_t*>(args.x) + strip.n * p_.x.stride[0];
    WinogradInput in{};
    in.column = strip.tw * kWinogradTile - g_.pad[2];
    in.width = g_.in[2];
    in.channels = g_.c;
    in.tiles = strip.tiles;
    in.zero_point = p_.zero_points.x;
    in.is_signed = p_.x.type == DataType_t::INT8;
    in.to = s.v + strip.first * pitch_;
    in.point_pitch = v_pitch();
    in.tile_pitch = pitch_;
    in.pixel_stride = p_.x.stride[3];
    in.vector = native_chunks_ ? p_.x.vector : 1;
    in.vector_stride = p_.x.stride[1];
    std::int64_t left = 0;
    if (!native_chunks_) {
      left = std::max<std::int64_t>(0, in.column);
      const std::int64_t right = std::min(g_.in[2], in.column + strip.tiles * kWinogradTile + 2);
      in.column -= left;
      in.width = std::max<std::int64_t>(0, right - left);
      in.pixel_stride = pitch_;
    }
    for (int r = 0; r < kWinogradReach; ++r) {
      const std::int64_t h = strip.th * kWinogradTile - g_.pad[1] + r;
      if (h < 0 || h >= g_.in[1]) continue;
      const std::uint8_t* row = x + h * p_.x.stride[2];
      if (!native_chunks_) {
        std::uint8_t* to = s.rows + r * row_pixels() * pitch_;
        RowPack pack{};
        pack.from = row + left * p_.x.stride[3];
        pack.pixel_stride = p_.x.stride[3];
        pack.channel_stride = p_.x.stride[1];
        pack.vector = p_.x.vector;
        pack.pixels = in.width;
        pack.groups = 1;
        pack.channels = g_.c;
        pack.to = to;
        pack.group_bytes = pitch_;
        pack_bytes(pack);
        row = to;
      }
      in.row[r] = row;
    }
    isa_.input(in);
  }

  void run_block(const Args& args, const TileEpilogue::Bound& bound, const std::int16_t* filter, const Scratch& s,
                 std::int64_t index) const {
    const std::int64_t part = index % k_parts_, begin = index / k_parts_ * block_tiles_;
    const std::int64_t end = std::min(total_tiles(), begin + block_tiles_), tiles = end - begin;
    for_strips(begin, end, block_tiles_, [&](const Strip& strip) { transform_input(args, s, strip); });
    std::fill_n(s.zeros, max_lanes(), 0);
    for (std::int64_t t = 0; t < tiles; ++t) s.pixel[t] = static_cast<std::int32_t>(t * pitch_ * 2);
    const auto blocks = static_cast<std::int64_t>(shape_.blocks().size());
    for (std::int64_t kb = blocks * part / k_parts_; kb < blocks * (part + 1) / k_parts_; ++kb) {
      const FilterBlock& fb = shape_.blocks()[static_cast<std::size_t>(kb)];
      for (std::int64_t cp = 0; cp < c_parts_; ++cp) {
        multiply(filter, s, fb, tiles, cp);
        std::int64_t y_at = 0;
        for_strips(begin, end, kStripTiles, [&](const Strip& strip) {
          WinogradOutput out{};
          out.from = s.m + strip.first * lanes(fb);
          out.point_pitch = m_pitch();
          out.tile_pitch = lanes(fb);
          out.tiles = strip.tiles;
          out.vectors = fb.vectors;
          out.to = s.y + y_at;
          out.accumulate = cp > 0;
          isa_.output(out);
          if (cp + 1 == c_parts_) store(bound, fb, strip, out.to);
          if (c_parts_ > 1) y_at += strip.tiles * 16 * lanes(fb);
        });
      }
    }
  }

  /// M[point][tile][lane] = sum over a part of C of V[point][tile][c] * U[point][c][lane].
  void multiply(const std::int16_t* filter, const Scratch& s, const FilterBlock& fb, std::int64_t tiles,
                std::int64_t cp) const {
    const std::int64_t c0 = part_begin(cp, c_parts_), steps = ceil_div(part_begin(cp + 1, c_parts_) - c0, 2);
    const DirectIsa& isa = *isa_.products;
    const std::int64_t groups = ceil_div(tiles, isa.tile_pixels[fb.vectors]);
    const std::int64_t point_bytes = shape_.steps() * lanes(fb) * 4;
    const DirectRun run{};
    DirectTile t{};
    t.runs = &run;
    t.run_count = 1;
    t.steps = static_cast<int>(steps);
    t.init = s.zeros;
    t.out_stride = lanes(fb);
    for (int point = 0; point < kWinogradPoints; ++point) {
      t.x = reinterpret_cast<const std::uint8_t*>(s.v + point * v_pitch() + c0);
      t.w = reinterpret_cast<const std::uint8_t*>(filter) + fb.offset * 4 + point * point_bytes + c0 / 2 * lanes(fb) * 4;
      // The filter of 36 points is larger than what stays in L2: fetch the next point's while this one is multiplied.
      const std::uint8_t* next = t.w + (point + 1 < kWinogradPoints ? point_bytes : 0);
      for (std::int64_t i = 0; i < groups; ++i) {
        t.prefetch = next + std::min<std::int64_t>(i, fb.vectors - 1) * steps * 64;
        const std::int64_t from = tiles * i / groups, n = tiles * (i + 1) / groups - from;
        t.pixel = s.pixel + from;
        t.out = s.m + point * m_pitch() + from * lanes(fb);
        isa.kernel[fb.vectors][n](t);
      }
    }
  }

  void store(const TileEpilogue::Bound& bound, const FilterBlock& fb, const Strip& strip, const std::int32_t* y) const {
    Rows rows;
    rows.outer = strip.n;
    rows.channel = fb.k;
    rows.channels = fb.channels;
    const std::int64_t q = strip.tw * kWinogradTile;
    rows.count = std::min(strip.tiles * kWinogradTile, g_.out[2] - q);
    for (std::int64_t r = 0; r < kWinogradTile; ++r) {
      const std::int64_t p = strip.th * kWinogradTile + r;
      if (p >= g_.out[1]) break;
      rows.spatial = {p, q, 0};
      epilogue_.run(bound, rows, y + r * strip.tiles * kWinogradTile * lanes(fb), lanes(fb));
    }
  }

  static constexpr std::int64_t kStripTiles = 4;

  const Problem p_;
  const Geometry g_;
  const WinogradIsa& isa_;
  const CpuIsa level_;
  const double work_us_;
  TileEpilogue epilogue_;
  PackedFilterShape shape_;
  AlignedBytes filter_;
  bool w_signed_ = true, native_chunks_ = true, stream_ = false;
  std::int32_t w_zero_ = 0;
  std::int64_t tiles_h_ = 1, tiles_w_ = 1, pitch_ = 0, block_tiles_ = 1, k_parts_ = 1, c_parts_ = 1;
  int slots_ = 1;
  std::size_t workspace_ = 0;
};

/// Cycles of one core, fitted to measurements on an Intel Xeon with VNNI; what matters is the order of the candidates.
std::vector<Candidate> winograd_candidates(const Problem& p, const DeviceTraits& device) {
  const WinogradIsa& isa = winograd_isa(device.isa);
  const Geometry g(p);
  const double c = static_cast<double>(round_up(g.c, 2)), k = static_cast<double>(round_up(g.k, isa.products->lanes));
  const std::int64_t tile_count = g.n * ceil_div(g.out[1], kWinogradTile) * ceil_div(g.out[2], kWinogradTile);
  const double tiles = static_cast<double>(tile_count);
  const double products = tiles * kWinogradPoints * c * k / isa.products->macs_per_cycle;
  // Each block of tiles streams the whole transformed filter: from L3, unless it fits L2 beside the block's own data.
  const std::int64_t block = block_tiles(round_up(g.c, isa.chunk));
  const double filter = kWinogradPoints * c * k * 2;
  const double stream = static_cast<double>(ceil_div(tile_count, block)) * filter /
                        (filter + 0.7e6 < static_cast<double>(device.l2_bytes) ? 20.0 : 6.0);
  // An ordinary filter of many channels passes 2^25 about here; transforms of the output are then done once a part.
  const double parts = std::ceil(static_cast<double>(g.c) / 440.0);
  const double transforms = tiles * (c * 14.0 + k * 19.0 * parts) * 16.0 / isa.products->lanes;
  return {{"", 1.0 + (products + stream + transforms) / 2500.0 / std::max(1, device.threads)}};
}

error_t winograd_build(const Problem& p, const std::string& config, const DeviceTraits& device, const BuildOptions& options,
                       std::unique_ptr<Plan>& plan) {
  if (!config.empty()) {
    return {error_code_t::INVALID_VALUE, "Config '" + config + "' of path 'winograd' is unknown; it has none."};
  }
  auto made =
      std::make_unique<WinogradPlan>(p, winograd_isa(device.isa), device, work_of(winograd_candidates(p, one_thread(device))));
  OCTAVO_RETURN_IF_ERROR(made->init(options));
  plan = std::move(made);
  return {};
}

}  // namespace

extern const Path kWinogradS8;
const Path kWinogradS8{"winograd", &winograd_accepts, &winograd_candidates, &winograd_build};

}  // namespace octavo::cpu_native
