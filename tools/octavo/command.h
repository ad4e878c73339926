// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// One file a subcommand: it defines a Command at namespace scope and is then part of the program.

#include <CLI/CLI.hpp>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "octavo/device.h"
#include "octavo/error.h"
#include "octavo/problem.h"

namespace octavo::cli {

/// A mistake in what was typed: exit status 2 and one sentence.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// The work itself failed: exit status 1 and one sentence.
struct RunError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void require(const error_t& error);      ///< throws UsageError when bad: the problem, a name, a value
void require_run(const error_t& error);  ///< throws RunError when bad

class Command {
 public:
  /// `setup` adds the subcommand's options and returns what runs it: the exit status.
  using Setup = std::function<int()> (*)(CLI::App& app);
  Command(int order, const char* name, const char* summary, Setup setup);

  int order;
  const char* name;
  const char* summary;
  Setup setup;

  static std::vector<const Command*> all();  ///< in the order of the help text
};

/// Options that several subcommands have.
struct MachineOptions {
  int threads = 0;
  std::string isa;
  void add(CLI::App& app);
  /// Applies them; call before anything reads the processor.
  DeviceTraits device() const;
  bool isa_forced() const;
};

/// Where plans run: "cpu" (default), "cuda" or "cuda:N".
struct DeviceOption {
  std::string name = "cpu";
  void add(CLI::App& app);
  DeviceTraits device(const MachineOptions& machine) const;
};

struct ProblemOptions {
  std::string line;
  std::string epilogue;
  void add(CLI::App& app, bool required = true);
  Problem problem() const;
};

/// A text file with one problem a line; '#' starts a comment. Throws UsageError with the line's number.
std::vector<Problem> read_cases(const std::string& path);

/// Throws UsageError with the nearest valid spelling when `value` is not one of `choices`.
void require_choice(const std::string& option, const std::string& value, const std::vector<std::string>& choices);

}  // namespace octavo::cli
