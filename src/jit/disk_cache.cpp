// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "jit/disk_cache.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/env.h"
#include "core/hash.h"

namespace octavo::jit {
namespace {

namespace fs = std::filesystem;

bool read_file(const fs::path& path, std::string& out) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return false;
  out.assign(std::istreambuf_iterator<char>(in), {});
  return !in.bad();
}

/// Written and on the disk before it returns: the rename that follows must not be seen before the bytes.
bool write_file(const fs::path& path, const std::string& bytes) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0) return false;
  std::size_t done = 0;
  bool good = true;
  while (good && done < bytes.size()) {
    const ssize_t n = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    good = n > 0;
    if (good) done += static_cast<std::size_t>(n);
  }
  good = good && ::fsync(fd) == 0;
  return ::close(fd) == 0 && good;
}

void sync_directory(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

/// Removes scratch directories that killed processes left: those of more than a day ago.
void sweep(const fs::path& root) {
  std::error_code ec;
  const auto now = fs::file_time_type::clock::now();
  std::vector<fs::path> stale;
  for (fs::directory_iterator it(root, ec), end; !ec && it != end; it.increment(ec)) {
    std::error_code ignored;
    if (it->path().filename().string().rfind("tmp.", 0) != 0) continue;
    const auto written = fs::last_write_time(it->path(), ignored);
    if (!ignored && now - written > std::chrono::hours(24)) stale.push_back(it->path());
  }
  for (const fs::path& path : stale) fs::remove_all(path, ec);
}

std::string digest(const std::string& bytes) { return hash_bytes(bytes).hex(); }

}  // namespace

std::string cache_directory() {
  if (const std::string forced = env(Env::cache_dir); !forced.empty()) return forced + "/kernels";
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg && *xdg) return std::string(xdg) + "/octavo/kernels";
  if (const char* home = std::getenv("HOME"); home && *home) return std::string(home) + "/.cache/octavo/kernels";
  return {};
}

Lookup find_on_disk(const std::string& directory, const std::string& name, const std::string& source, KernelBinary& out) {
  if (directory.empty()) return Lookup::miss;
  const fs::path entry = fs::path(directory) / name;
  std::string meta, text;
  if (!read_file(entry / "meta.json", meta)) {
    std::error_code ec;
    if (!fs::exists(entry, ec)) return Lookup::miss;
    // It may have been published between the two looks.
    if (!read_file(entry / "meta.json", meta)) return Lookup::corrupt;
  }
  const nlohmann::json json = nlohmann::json::parse(meta, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !read_file(entry / "kernel.cu", text) || !read_file(entry / "kernel.cubin", out.cubin))
    return Lookup::corrupt;
  if (text != source) return Lookup::corrupt;
  try {
    if (json.at("cubin").get<std::string>() != digest(out.cubin) || out.cubin.empty()) return Lookup::corrupt;
    out.resources.registers = json.at("registers").get<int>();
    out.resources.static_shared = json.at("static_shared").get<int>();
    out.resources.local_bytes = json.at("local_bytes").get<int>();
    out.resources.spill_bytes = json.at("spill_bytes").get<int>();
    out.compile_ms = json.at("compile_ms").get<double>();
  } catch (const nlohmann::json::exception&) {
    return Lookup::corrupt;
  }
  out.name = name;
  out.from_disk = true;
  return Lookup::hit;
}

std::string newest_version(const std::string& directory, const std::string& prefix) {
  std::string best;
  std::error_code ec;
  for (fs::directory_iterator it(directory, ec), end; !ec && it != end; it.increment(ec)) {
    std::string name = it->path().filename().string();
    if (name.rfind(prefix, 0) == 0 && name > best) best = std::move(name);
  }
  return best;
}

bool publish(const std::string& directory, const std::string& name, const std::string& source, const KernelBinary& binary) {
  if (directory.empty()) return false;
  std::error_code ec;
  const fs::path root(directory), target = root / name;
  fs::create_directories(root, ec);
  if (ec) return false;
  static std::once_flag swept;
  std::call_once(swept, [&] { sweep(root); });
  // A name of its own, also among machines that share the directory.
  std::string pattern = (root / "tmp.XXXXXX").string();
  if (!::mkdtemp(pattern.data())) return false;
  const fs::path scratch(pattern);
  fs::permissions(scratch, fs::perms::owner_all | fs::perms(055), ec);
  const nlohmann::json meta = {{"name", name},
                               {"cubin", digest(binary.cubin)},
                               {"registers", binary.resources.registers},
                               {"static_shared", binary.resources.static_shared},
                               {"local_bytes", binary.resources.local_bytes},
                               {"spill_bytes", binary.resources.spill_bytes},
                               {"compile_ms", binary.compile_ms}};
  bool good = write_file(scratch / "kernel.cu", source) && write_file(scratch / "kernel.cubin", binary.cubin) &&
              write_file(scratch / "meta.json", meta.dump(1) + "\n");
  if (good) {
    sync_directory(scratch);
    fs::rename(scratch, target, ec);
    if (ec) {
      // The name is taken: by another process's entry, which is as good, or by a corrupt one, which has to go.
      KernelBinary other;
      if (find_on_disk(directory, name, source, other) != Lookup::hit) {
        const fs::path old = scratch.string() + ".old";
        fs::rename(target, old, ec);
        fs::rename(scratch, target, ec);
        std::error_code ignored;
        fs::remove_all(old, ignored);
        good = !ec;
      }
    }
    if (good) sync_directory(root);
  }
  fs::remove_all(scratch, ec);
  return good;
}

}  // namespace octavo::jit
