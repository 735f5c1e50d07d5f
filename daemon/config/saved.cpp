// SPDX-License-Identifier: MIT
#include "config/saved.hpp"

#include <cerrno>

#include "config/write.hpp"
#include "util/file.hpp"

namespace hmk {
namespace {

constexpr const char* kHeader =
    "# Written by hmkd: what 'hmkctl set --save' keeps. It counts before hmkd.yaml.\n"
    "# Take a value back with 'hmkctl set --unsave KEY'; or, while hmkd does not run, remove its "
    "line.\n";

/// Nothing when there is no such file.
Result<std::optional<std::string>> text_of(const std::filesystem::path& path) {
  std::error_code ignored;
  const auto kind = std::filesystem::status(path, ignored).type();
  if (path.empty() || kind == std::filesystem::file_type::not_found)
    return std::optional<std::string>();
  auto text = kind == std::filesystem::file_type::regular ? read_text(path) : std::nullopt;
  if (!text)
    return Error{path.string() + ": cannot be read", "check that it is a file of hmkd's own user"};
  return text;
}

}  // namespace

ConfigOrProblems read_saved_text(const std::filesystem::path& path, const std::string& text,
                                 ConfigOrProblems base) {
  return read_config_text(text, path.string(), std::move(base), Origin::Kind::saved);
}

ConfigOrProblems read_saved(const std::filesystem::path& path, ConfigOrProblems base) {
  const auto text = text_of(path);
  if (!text) {
    base.problems.push_back(text.error().line());
    return base;
  }
  return *text ? read_saved_text(path, **text, std::move(base)) : base;
}

Result<std::string> saved_with(const std::filesystem::path& path, const Key& key,
                               const std::optional<std::string>& value) {
  ConfigOrProblems saved = read_saved(path, {});
  if (!saved.problems.empty()) return Error{saved.problems.front(), "", EINVAL};
  const std::string name(key.name);
  if (value) {
    if (Result<void> done = key.set(saved.config, *value); !done) return done.error();
    saved.origins[name];
  } else if (saved.origins.erase(name) == 0) {
    return Error{"no value of key '" + name + "' is saved", "see 'hmkctl get " + name + "'"};
  }
  std::vector<std::string_view> names;
  for (const auto& [saved_name, origin] : saved.origins) names.push_back(saved_name);
  return kHeader + to_yaml(saved.config, {}, names);
}

}  // namespace hmk
