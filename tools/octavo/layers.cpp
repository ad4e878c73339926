// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "layers.h"

#include <fmt/format.h>

#include <fstream>
#include <map>
#include <sstream>

#include "command.h"
#include "core/text.h"

namespace octavo::cli {
namespace {

std::vector<std::string> cells(std::string line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
  std::vector<std::string> out;
  for (const std::string_view cell : text::split(line, ',')) out.emplace_back(cell);
  return out;
}

}  // namespace

std::vector<Layer> read_layers(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw UsageError(fmt::format("--layers '{}' cannot be read; give a CSV file such as bench/layers.csv.", path));
  std::ostringstream text;
  text << file.rdbuf();
  return parse_layers(text.str(), path);
}

std::vector<Layer> parse_layers(const std::string& text, const std::string& path) {
  std::istringstream file(text);
  static const std::vector<std::string> needed = {"set", "name", "n",      "c",   "h",        "w",     "k",
                                                  "r",   "s",    "stride", "pad", "dilation", "groups"};
  std::string line;
  std::getline(file, line);
  std::map<std::string, std::size_t> column;
  const std::vector<std::string> header = cells(line);
  for (std::size_t i = 0; i < header.size(); ++i) column[header[i]] = i;
  for (const std::string& name : needed) {
    if (!column.count(name)) {
      throw UsageError(
          fmt::format("--layers '{}' has no column '{}' in its first line; it needs {}.", path, name, fmt::join(needed, ",")));
    }
  }
  std::vector<Layer> layers;
  for (int number = 2; std::getline(file, line); ++number) {
    const std::vector<std::string> row = cells(line);
    if (row.size() == 1 && row[0].empty()) continue;
    if (row.size() != header.size())
      throw UsageError(fmt::format("{}:{} has {} cells where the first line has {}.", path, number, row.size(), header.size()));
    const auto at = [&](const char* name) { return row[column[name]]; };
    layers.push_back({at("set"), at("name"), at("n"), at("c"), at("h") + "x" + at("w"), at("k"), at("r") + "x" + at("s"),
                      at("stride"), at("pad"), at("dilation"), at("groups")});
  }
  return layers;
}

Problem layer_problem(const Layer& l, const LayerOptions& o) {
  const std::string output = o.output.empty() ? o.type : o.output;
  const std::string filter_type = o.type == "u8" ? "s8" : o.type;
  std::string x = o.type, w = filter_type, y = o.type;
  (o.direction == "fprop" ? y : o.direction == "dgrad" ? x : w) = output;
  const std::string line = fmt::format(
      "{} n={} c={} size={} k={} filter={} pad={} stride={} dil={} groups={} x={}:{} w={}:{} y={}:{}", o.direction, l.n, l.c,
      l.size, l.k, l.filter, l.pad, l.stride, l.dilation, l.groups, x, o.layout, w, o.layout, y, o.layout);
  Problem problem;
  if (const error_t error = parse_problem(line, problem); error.is_bad())
    throw UsageError(fmt::format("Layer {} / {}: {}", l.set, l.name, error.get_message()));
  require(apply_epilogue_parts(o.parts, problem));
  require(problem.validate());
  return problem;
}

}  // namespace octavo::cli
