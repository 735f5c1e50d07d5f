// SPDX-License-Identifier: MIT
//
// Text -> Config, checked. All problems are reported at once, so that a file is
// mended in one go; a config with a problem is never used in part.
//
//   ConfigOrProblems got = read_config_file("/etc/hmk/hmkd.yaml");
//   if (!got.problems.empty()) for (auto& p : got.problems) print(p);
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config/config.hpp"

namespace hmk {

struct ConfigOrProblems {
  Config config;
  std::vector<std::string> problems;  ///< one line each: "file:line: key: problem; remedy"
};

ConfigOrProblems read_config_text(const std::string& text, const std::string& file_name);
ConfigOrProblems read_config_file(const std::filesystem::path& path);

}  // namespace hmk
