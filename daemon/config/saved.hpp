// SPDX-License-Identifier: MIT
//
// What `hmkctl set --save` keeps: a file of hmkd's own that is laid over hmkd.yaml. Nobody else
// writes it, yet it is YAML and may be read and mended as such.
//
//   ConfigOrProblems got = read_saved("/var/lib/hmk/saved.yaml", read_config_file(...));
//   Result<std::string> text = saved_with("/var/lib/hmk/saved.yaml", *find_key("mode"), "manage");
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "config/keys.hpp"
#include "config/read.hpp"

namespace hmk {

/// `base` with what is saved over it; `base` itself where `path` is empty or nothing is saved.
ConfigOrProblems read_saved(const std::filesystem::path& path, ConfigOrProblems base);

/// What the file would be with this value of the key, or without one. An error where the file
/// cannot be read or has a problem: it is not written over.
Result<std::string> saved_with(const std::filesystem::path& path, const Key& key,
                               const std::optional<std::string>& value);

/// The same as read_saved(), of a text that is not in the file yet.
ConfigOrProblems read_saved_text(const std::filesystem::path& path, const std::string& text,
                                 ConfigOrProblems base);

}  // namespace hmk
