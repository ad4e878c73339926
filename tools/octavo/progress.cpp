// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace octavo::cli {

Progress::Progress(std::int64_t total) : total_(total) {
  if (!isatty(STDERR_FILENO)) return;
  ticker_ = std::thread([this] {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!wake_.wait_for(lock, std::chrono::milliseconds(250), [this] { return stop_; })) draw_locked();
  });
}

Progress::~Progress() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
    clear_locked();
  }
  wake_.notify_all();
  if (ticker_.joinable()) ticker_.join();
}

void Progress::step(std::string label) {
  const std::lock_guard<std::mutex> lock(mutex_);
  label_ = std::move(label);
}

void Progress::done() {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++count_;
}

void Progress::clear() {
  const std::lock_guard<std::mutex> lock(mutex_);
  clear_locked();
}

void Progress::clear_locked() {
  if (shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

void Progress::draw_locked() {
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  if (seconds < 1.0) return;
  constexpr int kWidth = 30;
  const int full = total_ > 0 ? static_cast<int>(kWidth * count_ / total_) : 0;
  std::string bar(static_cast<std::size_t>(full), '#');
  bar.resize(kWidth, '.');
  fmt::print(stderr, "\r\033[K[{}] {}/{} {:.0f} s  {:.60}", bar, count_, total_, seconds, label_);
  std::fflush(stderr);
  shown_ = true;
}

}  // namespace octavo::cli
