// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "command.h"
#include "core/env.h"
#include "core/text.h"
#include "octavo/engine.h"

namespace octavo::cli {
namespace {

// The parts of docs/ that follow from the code; scripts/docs.py puts them there and CI checks that they are up to date.
int run(const std::string& name) {
  if (name == "environment") {
    fmt::print("| variable | meaning |\n|---|---|\n");
    for (const EnvRow& row : kEnvTable) fmt::print("| `{}` | {} |\n", row.name, row.meaning);
  } else if (name == "types") {
    fmt::print("| type | bytes |\n|---|---|\n");
    for (int i = 0; i < 32; ++i) {
      const auto type = static_cast<DataType_t>(i);
      const std::string text = short_name(type);
      DataType_t back = DataType_t::NOT_SET;
      if (!parse_type(text, back) || back != type || element_bytes(type) == 0) continue;
      fmt::print("| `{}` | {} |\n", text, element_bytes(type));
    }
  } else if (name == "modes") {
    std::string line;
    for (const std::string& mode : text::mode_names()) line += (line.empty() ? "`" : " `") + mode + "`";
    fmt::print("{}\n", line);
  } else if (name == "engines") {
    fmt::print("| engine | runs on |\n|---|---|\n");
    for (const Engine* engine : engines())
      fmt::print("| `{}` | {} |\n", engine->name(), engine->device() == DeviceKind::cpu ? "the CPU" : "NVIDIA GPUs");
  } else {
    require_choice("name", name, {"environment", "types", "modes", "engines"});
  }
  return 0;
}

std::function<int()> setup(CLI::App& app) {
  auto name = std::make_shared<std::string>();
  app.add_option("name", *name, "environment, types, modes or engines")->required();
  app.group("");  // for scripts: not in the list of commands
  return [name] { return run(*name); };
}

const Command kDocs(90, "docs", "print a table that docs/ holds", setup);

}  // namespace
}  // namespace octavo::cli
