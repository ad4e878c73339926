// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#include "core/text.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace octavo::text {

std::vector<std::string_view> split(std::string_view s, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = s.find(separator);
    parts.push_back(s.substr(0, at));
    if (at == std::string_view::npos) return parts;
    s.remove_prefix(at + 1);
  }
}

bool parse_int(std::string_view s, std::int64_t& out) {
  const auto [end, status] = std::from_chars(s.data(), s.data() + s.size(), out);
  return status == std::errc{} && end == s.data() + s.size() && !s.empty();
}

bool parse_double(std::string_view s, double& out) {
  const auto [end, status] = std::from_chars(s.data(), s.data() + s.size(), out);
  return status == std::errc{} && end == s.data() + s.size() && !s.empty();
}

std::string print_double(double v) {
  std::array<char, 40> buffer{};
  const auto [end, status] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), v);
  return status == std::errc{} ? std::string(buffer.data(), end) : "0";
}

std::string print_storage(const TensorDesc& t) {
  std::string s = short_name(t.type);
  s += ":";
  if (const std::string layout = layout_name(t); !layout.empty()) return s + layout;
  for (int i = 0; i < t.rank; ++i) s += (i ? "," : "") + std::to_string(t.stride[i]);
  if (t.vector != 1) s += "*" + std::to_string(t.vector);
  return s;
}

error_t parse_storage(std::string_view token, std::string_view s, TensorDesc& t) {
  const std::size_t colon = s.find(':');
  const std::string_view type = s.substr(0, colon);
  if (!parse_type(type, t.type)) {
    return bad("'" + std::string(token) + "' has type '" + std::string(type) + "'; did you mean '" +
               nearest(type, {"s8", "u8", "s32", "s64", "f16", "bf16", "f32", "f64", "e4m3", "e5m2", "bool"}) + "'?");
  }
  const std::string_view layout = colon == std::string_view::npos ? std::string_view("nhwc") : s.substr(colon + 1);
  if (set_layout(t, layout)) return {};
  std::string_view numbers = layout;
  t.vector = 1;
  if (const std::size_t star = layout.find('*'); star != std::string_view::npos) {
    if (!parse_int(layout.substr(star + 1), t.vector)) return bad("'" + std::string(token) + "' has no number after '*'.");
    numbers = layout.substr(0, star);
  }
  const auto parts = split(numbers, ',');
  bool ok = static_cast<int>(parts.size()) == t.rank;
  t.stride.fill(0);
  for (int i = 0; ok && i < t.rank; ++i) ok = parse_int(parts[i], t.stride[i]);
  if (!ok) {
    return bad("'" + std::string(token) + "' has layout '" + std::string(layout) + "'; use nhwc, nchw, nc4, nc16, nc32 or " +
               std::to_string(t.rank) + " strides separated by commas (did you mean '" +
               nearest(layout, {"nhwc", "nchw", "nc4", "nc16", "nc32"}) + "'?).");
  }
  return {};
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = ~std::size_t{0};
  for (const std::string& candidate : candidates) {
    std::vector<std::size_t> row(candidate.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < word.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i + 1;
      for (std::size_t j = 0; j < candidate.size(); ++j) {
        const std::size_t replaced = diagonal + (word[i] == candidate[j] ? 0 : 1);
        diagonal = row[j + 1];
        row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
      }
    }
    // "relu" means relu_fwd, however many letters are missing.
    const bool begins = word.size() >= 2 && candidate.starts_with(word);
    const std::size_t distance = begins ? std::min<std::size_t>(row.back(), 1) : row.back();
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace octavo::text
