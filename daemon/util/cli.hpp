// SPDX-License-Identifier: MIT
//
// What a CLI11 description says about itself: the words of suggestions and completions.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

namespace hmk {

inline std::vector<const CLI::App*> subcommands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

/// "--pid", "--once": the long options of `app` itself, without the hidden ones.
inline std::vector<std::string> long_options(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* const option : app.get_options())
    for (const std::string& name : option->get_lnames())
      if (!option->get_group().empty()) names.push_back("--" + name);
  return names;
}

/// Those of all its subcommands too, each once.
inline std::vector<std::string> all_long_options(const CLI::App& app) {
  std::vector<std::string> names = long_options(app);
  for (const CLI::App* const sub : subcommands(app))
    for (std::string& name : long_options(*sub))
      if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  return names;
}

}  // namespace hmk
