// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace octavo::cli {

/// A bar on the terminal for what takes longer than a second; nothing at all where stderr is not a terminal.
class Progress {
 public:
  explicit Progress(std::int64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void step(std::string label);  ///< what is being worked on now
  void done();                   ///< one more of `total`
  void clear();                  ///< takes the bar off the line, before something else is printed

 private:
  void draw_locked();
  void clear_locked();

  const std::int64_t total_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false, shown_ = false;
  std::int64_t count_ = 0;
  std::string label_;
  std::thread ticker_;
};

}  // namespace octavo::cli
