// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Grouped 8-bit fprop. A unit is one vector of 16 sums: the outputs of several narrow groups side by side (each lane's dword
// holds four channels of its own group: a block diagonal without waste), or 16 outputs of one wide group, whose dwords are
// broadcast.

#include <cstddef>
#include <cstdint>

namespace octavo::cpu_native {

inline constexpr int kUnitLanes = 16;
inline constexpr int kGroupedBlock = 64;                       ///< outputs a block
inline constexpr int kSumsPitch = kGroupedBlock + kUnitLanes;  ///< a unit's idle lanes spill over its right neighbour

/// One image row for the units of a block, laid out so that taps read it with no further shuffles.
struct GroupedLine {
  const std::uint8_t* row;  ///< (row, column 0, the unit's first input channel); null = padding
  std::ptrdiff_t column_bytes;
  std::int64_t width, first_column;
  int columns;
  int units;                  ///< side by side in x; more than one only where lanes is set and units * span <= 64
  int span;                   ///< input channels of a unit, in bytes
  int dwords;                 ///< of a group: ceil(C/g / 4)
  const std::uint8_t* lanes;  ///< [dwords][64] byte of the span that each byte of a vector takes; null: broadcast unit
  std::uint8_t flip, fill;
  std::uint8_t* out;       ///< [columns][dwords] vectors (64 bytes), or dwords (4 bytes) for a broadcast unit
  std::size_t unit_pitch;  ///< bytes from one unit's line to the next's
};

struct GroupedRow {
  const std::uint8_t* const* lines;  ///< filter rows: the unit's lines
  const std::size_t* tap;            ///< [filter_columns] byte offset in a line
  int filter_rows, filter_columns, dwords;
  bool broadcast;
  std::size_t advance;         ///< bytes in a line from one output to the next
  int count;                   ///< outputs of the row
  int units;                   ///< 1, or 2 units of one wide group that share the broadcasts
  std::size_t unit_bytes;      ///< from one unit's start and weights to the next's
  const std::int8_t* weights;  ///< [row][column][dword][16 lanes][4]
  const std::int32_t* start;   ///< [16]
  std::int32_t* sums;          ///< output o, unit u at o * kSumsPitch + 16 * u
};

struct GroupedKernels {
  void (*line)(const GroupedLine&);
  void (*row)(const GroupedRow&);
};

GroupedKernels grouped_s8_portable();
#if defined(__x86_64__)
GroupedKernels grouped_s8_avx512_vnni();
#endif

}  // namespace octavo::cpu_native
