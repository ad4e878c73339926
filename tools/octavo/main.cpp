// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdio>
#include <map>

#include "command.h"
#include "core/text.h"
#include "machine.h"

namespace octavo::cli {
namespace {

// What CLI11 found wrong, as one sentence with the nearest valid spelling.
std::string explain(const CLI::App& app, const std::vector<std::string>& words, const CLI::ParseError& error) {
  std::vector<std::string> names;
  const CLI::App* used = nullptr;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(sub->get_name());
    if (!words.empty() && words[0] == sub->get_name()) used = sub;
  }
  if (!used) {
    if (words.empty()) return "A command is missing; it is one of: " + fmt::format("{}", fmt::join(names, ", ")) + ".";
    const std::string near = text::nearest(words[0], names);
    return "'" + words[0] + "' is not a command; " +
           (near.empty() ? "it must be one of: " + fmt::format("{}", fmt::join(names, ", ")) + "."
                         : "did you mean '" + near + "'?");
  }
  std::vector<std::string> options;
  for (const CLI::Option* option : used->get_options()) {
    if (!option->get_positional()) options.push_back(option->get_name());
  }
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string word = words[i].substr(0, words[i].find('='));
    if (word.rfind("--", 0) != 0 || std::find(options.begin(), options.end(), word) != options.end()) continue;
    const std::string near = text::nearest(word, options);
    return "octavo " + words[0] + " has no option '" + word + "'; " +
           (near.empty() ? "it has " + fmt::format("{}", fmt::join(options, ", ")) + "." : "did you mean '" + near + "'?");
  }
  std::string message = error.what();
  for (char& c : message) c = c == '\n' ? ' ' : c;
  return "octavo " + words[0] + ": " + message + " (octavo " + words[0] + " --help shows what it takes)";
}

int run(int argc, char** argv) {
  remember_command_line(argc, argv);
  CLI::App app{"Convolutions that are right in every layout and type, and as fast as this machine can run them."};
  app.set_version_flag("--version", std::string("octavo ") + OCTAVO_VERSION);
  app.require_subcommand(1);
  std::map<const CLI::App*, std::function<int()>> actions;
  for (const Command* command : Command::all()) {
    CLI::App* sub = app.add_subcommand(command->name, command->summary);
    actions[sub] = command->setup(*sub);
  }
  const std::vector<std::string> words(argv + 1, argv + argc);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& done) {
    return app.exit(done);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "octavo: {}\n", explain(app, words, error));
    return 2;
  }
  try {
    return actions.at(app.get_subcommands().front())();
  } catch (const UsageError& error) {
    fmt::print(stderr, "octavo: {}\n", error.what());
    return 2;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "octavo: this problem needs more memory than the machine gives; make it smaller.\n");
    return 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "octavo: {}\n", error.what());
    return 1;
  }
}

}  // namespace
}  // namespace octavo::cli

int main(int argc, char** argv) { return octavo::cli::run(argc, argv); }
