// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "tune/store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>

#include "core/env.h"
#include "octavo/version.h"

namespace octavo::tune {
namespace {

using Json = nlohmann::json;

struct Table {
  std::map<std::string, Winner> winners;  ///< by key and stamp
  StoreStatistics statistics;
};

std::string key_of(const std::string& hash, const std::string& stamp) { return hash + " " + stamp; }

/// A line that is torn, or of another format, is no winner.
bool read_line(const std::string& line, std::string& key, Winner& w) {
  const Json j = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!j.is_object()) return false;
  try {
    if (j.at("format").get<int>() != 1) return false;
    key = key_of(j.at("key").get<std::string>(), j.at("stamp").get<std::string>());
    w.engine = j.at("engine").get<std::string>();
    w.config = j.at("config").get<std::string>();
    w.us = j.value("us", 0.0);
    w.untuned_us = j.value("untuned_us", 0.0);
    w.candidates = j.value("candidates", 0);
    w.problem = j.value("problem", std::string());
  } catch (const Json::exception&) {
    return false;
  }
  return true;
}

std::shared_ptr<const Table> read_table(const std::string& path) {
  auto table = std::make_shared<Table>();
  std::ifstream in(path, std::ios::binary);
  for (std::string line; std::getline(in, line);) {
    if (line.empty()) continue;
    std::string key;
    Winner winner;
    if (read_line(line, key, winner))
      table->winners[key] = std::move(winner);
    else
      ++table->statistics.unreadable_lines;
  }
  table->statistics.winners = static_cast<std::int64_t>(table->winners.size());
  return table;
}

/// The file's table; read again when its size or time has changed.
std::shared_ptr<const Table> current_table() {
  static std::mutex mutex;
  static std::string known_path;
  static struct stat known {};
  static std::shared_ptr<const Table> table;
  static const auto empty = std::make_shared<const Table>();
  const std::string path = store_path();
  struct stat now {};
  if (path.empty() || ::stat(path.c_str(), &now) != 0) return empty;
  const std::lock_guard lock(mutex);
  const bool same = table && path == known_path && now.st_size == known.st_size && now.st_ino == known.st_ino &&
                    now.st_mtim.tv_sec == known.st_mtim.tv_sec && now.st_mtim.tv_nsec == known.st_mtim.tv_nsec;
  if (!same) {
    table = read_table(path);
    known_path = path;
    known = now;
  }
  return table;
}

}  // namespace

std::string environment_stamp(const DeviceTraits& d) {
  std::string text = std::string("octavo ") + OCTAVO_VERSION_STRING + "; " + d.name;
  if (d.kind == DeviceKind::cpu)
    return text + "; " + to_string(d.isa) + "; " + std::to_string(d.threads) + " threads; L2 " +
           std::to_string(d.l2_bytes >> 10) + " KiB";
  return text + "; sm_" + std::to_string(d.sm) + "; " + std::to_string(d.sm_count) + " multiprocessors; " +
         std::to_string(d.smem_per_block >> 10) + " KiB shared; " + std::to_string(d.clock_khz / 1000) + " MHz";
}

std::string store_path() {
  if (const std::string forced = env(Env::cache_dir); !forced.empty()) return forced + "/tuned/winners.jsonl";
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg && *xdg) return std::string(xdg) + "/octavo/tuned/winners.jsonl";
  if (const char* home = std::getenv("HOME"); home && *home) return std::string(home) + "/.cache/octavo/tuned/winners.jsonl";
  return {};
}

std::optional<Winner> find_winner(const Problem& problem, const DeviceTraits& device) {
  const std::shared_ptr<const Table> table = current_table();
  if (table->winners.empty()) return std::nullopt;
  const auto found = table->winners.find(key_of(problem.hash().hex(), environment_stamp(device)));
  if (found == table->winners.end()) return std::nullopt;
  return found->second;
}

int winner_among(const Problem& problem, const DeviceTraits& device, const std::vector<PlanSpec>& specs) {
  const std::optional<Winner> winner = find_winner(problem, device);
  if (!winner) return -1;
  for (std::size_t i = 0; i < specs.size(); ++i)
    if (specs[i].engine == winner->engine && specs[i].config == winner->config) return static_cast<int>(i);
  return -1;
}

error_t record_winner(const Problem& problem, const DeviceTraits& device, const Winner& w) {
  const std::string path = store_path();
  const auto failed = [&](const std::string& what) {
    return error_t{error_code_t::INVALID_VALUE, "The winner could not be stored in " + (path.empty() ? "a file" : path) + ": " +
                                                    what + "; set OCTAVO_CACHE_DIR to a folder that can be written."};
  };
  if (path.empty()) return failed("there is no home folder");
  std::error_code ec;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ec);
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) return failed(std::strerror(errno));
  const Json j = {{"format", 1},
                  {"key", problem.hash().hex()},
                  {"stamp", environment_stamp(device)},
                  {"engine", w.engine},
                  {"config", w.config},
                  {"us", w.us},
                  {"untuned_us", w.untuned_us},
                  {"candidates", w.candidates},
                  {"problem", problem.to_string()}};
  std::string line = j.dump() + "\n";
  // One writer at a time where locks work; one write() that appends everywhere. What a killed writer left ends here.
  ::flock(fd, LOCK_EX);
  char last = '\n';
  struct stat now {};
  if (::fstat(fd, &now) == 0 && now.st_size > 0 && ::pread(fd, &last, 1, now.st_size - 1) == 1 && last != '\n')
    line = "\n" + line;
  const ssize_t written = ::write(fd, line.data(), line.size());
  const int error = errno;
  const bool good = written == static_cast<ssize_t>(line.size()) && ::fsync(fd) == 0;
  ::close(fd);
  if (good) return {};
  return failed(written < 0 ? std::strerror(error) : "the disk took a part of the line");
}

StoreStatistics store_statistics() { return current_table()->statistics; }

}  // namespace octavo::tune
