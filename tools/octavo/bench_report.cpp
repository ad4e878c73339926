// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench.h"
#include "command.h"

namespace octavo::cli {
namespace {

using Json = nlohmann::ordered_json;

double rounded(double v, double digits = 1e4) {
  if (v == 0 || !std::isfinite(v)) return v;
  const double scale = digits / std::exp2(std::floor(std::log2(std::fabs(v))));
  return std::round(v * scale) / scale;
}

Json peer_json(const PeerResult& p) {
  Json j;
  j["version"] = p.version;
  if (!p.missing.empty()) {
    j["missing"] = p.missing;
    return j;
  }
  j["median_us"] = rounded(p.timing.median_us);
  j["min_us"] = rounded(p.timing.min_us);
  j["right"] = p.right;
  if (!p.right) j["wrong"] = p.wrong;
  j["ratio"] = rounded(p.ratio);
  j["implementation"] = p.implementation;
  return j;
}

Json result_json(const BenchResult& r) {
  Json j;
  j["problem"] = r.item.problem.to_string();
  j["set"] = r.item.set;
  j["name"] = r.item.name;
  j["engine"] = r.engine;
  j["config"] = r.config;
  if (!r.error.empty()) {
    j["error"] = r.error;
    j["right"] = false;
    return j;
  }
  j["describe"] = r.describe;
  j["right"] = r.right;
  if (!r.right) j["wrong"] = r.wrong;
  j["checked"] = rounded(r.checked);
  j["median_us"] = rounded(r.timing.median_us);
  j["min_us"] = rounded(r.timing.min_us);
  j["gops"] = rounded(r.gops);
  j["share"] = rounded(r.share);
  j["operations"] = r.item.problem.operations();
  j["bytes"] = r.bytes;
  j["plan_ms"] = rounded(r.plan_ms);
  j["iterations"] = r.iterations;
  j["clean"] = r.clean;
  Json peers = Json::object();
  double best = 0;
  for (const auto& [name, peer] : r.peers) {
    peers[name] = peer_json(peer);
    if (peer.missing.empty() && (best == 0 || peer.ratio < best)) best = peer.ratio;
  }
  j["peers"] = peers;
  // Against the fastest peer: the ratio that is hardest to reach.
  if (best > 0) j["ratio"] = rounded(best);
  return j;
}

struct Group {
  double log_sum = 0;
  int count = 0, wrong = 0, failed = 0, peer_wrong = 0;
  double worst = INFINITY;
  std::string worst_name;
  double log_share = 0;
  int shares = 0;
};

}  // namespace

void write_json(const BenchReport& report, const std::string& path) {
  Json list = Json::array();
  for (const BenchResult& r : report.results) {
    Json j = result_json(r);
    // A list of rows, as scripts want it; what the whole run shares is repeated in each row, so that rows may be merged.
    j["machine"] = report.machine;
    j["isa"] = to_string(report.device.isa);
    j["threads"] = report.device.threads;
    j["date"] = report.date;
    j["command"] = report.command;
    const auto ceiling = report.ceilings.find(short_name(r.item.problem.input_a().type));
    if (ceiling != report.ceilings.end()) {
      j["ceiling"] = {{"loop", ceiling->second.name}, {"gops", rounded(ceiling->second.gops)}};
    }
    j["read_gbs"] = rounded(report.read_gbs);
    list.push_back(std::move(j));
  }
  std::ofstream file(path);
  file << list.dump(1) << '\n';
  file.close();
  if (!file) throw RunError(fmt::format("--json '{}' cannot be written.", path));
}

std::string summary(const BenchReport& report) {
  // group -> peer -> figures
  std::vector<std::string> order;
  std::map<std::string, std::map<std::string, Group>> groups;
  const auto group = [&](const std::string& set, const std::string& peer) -> Group& {
    if (!groups.count(set)) order.push_back(set);
    return groups[set][peer];
  };
  for (const BenchResult& r : report.results) {
    for (const std::string& set : {r.item.set, std::string("all")}) {
      Group& own = group(set, "");
      own.failed += !r.error.empty();
      own.wrong += r.error.empty() && !r.right;
      if (r.share > 0) {
        own.log_share += std::log(r.share);
        ++own.shares;
      }
      for (const auto& [name, peer] : r.peers) {
        if (!peer.missing.empty() || peer.ratio <= 0) continue;
        Group& g = group(set, name);
        g.log_sum += std::log(peer.ratio);
        ++g.count;
        g.peer_wrong += !peer.right;
        if (peer.ratio < g.worst) {
          g.worst = peer.ratio;
          g.worst_name = r.item.name;
        }
      }
    }
  }
  std::string out;
  std::erase(order, "all");
  if (order.size() != 1) order.emplace_back("all");
  for (const std::string& set : order) {
    const Group& own = groups[set][""];
    out += fmt::format("{:<18} geomean {:.0f}% of the ceiling", set,
                       own.shares ? 100 * std::exp(own.log_share / own.shares) : 0.0);
    for (const auto& [name, g] : groups[set]) {
      if (name.empty() || g.count == 0) continue;
      out += fmt::format("; {} time / ours: geomean {:.2f} over {}, worst {:.2f} ({})", name, std::exp(g.log_sum / g.count),
                         g.count, g.worst, g.worst_name);
      if (g.peer_wrong) out += fmt::format(", {} wrong in {}", name, g.peer_wrong);
    }
    if (own.wrong) out += fmt::format("; OURS IS WRONG in {}", own.wrong);
    if (own.failed) out += fmt::format("; {} did not run", own.failed);
    out += '\n';
  }
  return out;
}

}  // namespace octavo::cli
