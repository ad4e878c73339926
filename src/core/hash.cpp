// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#include "core/hash.h"

#include <array>

namespace octavo {

Hash128 hash_bytes(std::string_view bytes) {
  __extension__ typedef unsigned __int128 u128;
  constexpr u128 kPrime = (static_cast<u128>(0x0000000001000000ULL) << 64) | 0x000000000000013BULL;
  u128 h = (static_cast<u128>(0x6c62272e07bb0142ULL) << 64) | 0x62b821756295c58dULL;
  for (const char c : bytes) {
    h ^= static_cast<unsigned char>(c);
    h *= kPrime;
  }
  return {static_cast<std::uint64_t>(h >> 64), static_cast<std::uint64_t>(h)};
}

std::string Hash128::hex() const {
  static constexpr const char* kDigits = "0123456789abcdef";
  std::string text(32, '0');
  for (int i = 0; i < 16; ++i) {
    text[15 - i] = kDigits[(hi >> (4 * i)) & 15];
    text[31 - i] = kDigits[(lo >> (4 * i)) & 15];
  }
  return text;
}

}  // namespace octavo
