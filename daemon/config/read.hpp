// SPDX-License-Identifier: MIT
//
// Text -> Config, checked. All problems are reported at once, so that a file is
// mended in one go; a config with a problem is never used in part.
//
//   ConfigOrProblems got = read_config_file("/etc/hmk/hmkd.yaml");
//   if (!got.problems.empty()) for (auto& p : got.problems) print(p);
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "config/config.hpp"

namespace hmk {

/// Where the value of a key comes from.
struct Origin {
  enum class Kind {
    builtin,  ///< the default
    file,     ///< hmkd.yaml, or a file of conf.d
    saved,    ///< `hmkctl set --save`
    flag,     ///< hmkd's command line
    set       ///< `hmkctl set`, until hmkd ends
  };
  Kind kind = Kind::builtin;
  std::string place = {};  ///< "FILE:LINE", the flag, or nothing
};
/// "default", "file", "saved", "flag" or "set".
std::string_view to_string(Origin::Kind kind);

/// By key; a key that is not there has its default.
using Origins = std::map<std::string, Origin, std::less<>>;

struct ConfigOrProblems {
  Config config;
  std::vector<std::string> problems;  ///< one line each: "file:line: key: problem; remedy"
  Origins origins = {};
};

/// The text laid over `base`: a key that it does not name keeps its value.
ConfigOrProblems read_config_text(const std::string& text, const std::string& file_name,
                                  ConfigOrProblems base = {},
                                  Origin::Kind kind = Origin::Kind::file);
ConfigOrProblems read_config_file(const std::filesystem::path& path);

/// The files `*.yaml` of a folder over `base`, in the order of their names, which begin with no
/// dot: lists by process (`attach`, `classes`, `weights`, ...) add to what comes before, other keys
/// replace it. A folder that is not there has none.
ConfigOrProblems read_config_folder(const std::filesystem::path& folder, ConfigOrProblems base);

}  // namespace hmk
