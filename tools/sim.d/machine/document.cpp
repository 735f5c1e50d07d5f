// SPDX-License-Identifier: MIT
#include "machine/document.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <stdexcept>

namespace hmk::sim {

namespace {

std::string shown(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g", value);
  return text;
}

}  // namespace

Document Document::load(const std::string& path) {
  try {
    return {YAML::LoadFile(path), path, ""};
  } catch (const YAML::BadFile&) {
    throw std::invalid_argument(path + ": cannot be read; name a YAML file");
  } catch (const YAML::Exception& problem) {
    throw std::invalid_argument(path + ":" + std::to_string(problem.mark.line + 1) + ": " +
                                problem.msg);
  }
}

void Document::fail(const std::string& problem) const {
  const int line = node_.Mark().line + 1;
  throw std::invalid_argument(file_ + (line > 0 ? ":" + std::to_string(line) : "") + ": " +
                              (place_.empty() ? "" : place_ + ": ") + problem);
}

void Document::allow(std::initializer_list<const char*> keys) const {
  if (!node_.IsMap()) fail("want KEY: VALUE");
  for (const auto& pair : node_) {
    const auto key = pair.first.as<std::string>();
    if (std::ranges::find(keys, key) != keys.end()) continue;
    std::string problem = "unknown key '";
    problem.append(key).append("'; known are");
    for (const char* const word : keys) problem.append(" ").append(word);
    Document(pair.first, file_, place_).fail(problem);
  }
}

Document Document::get(const std::string& key) const {
  const auto found = find(key);
  if (!found) fail("'" + key + "' is missing");
  return *found;
}

std::optional<Document> Document::find(const std::string& key) const {
  if (!node_.IsMap() || !node_[key]) return std::nullopt;
  return Document(node_[key], file_, place_.empty() ? key : place_ + "." + key);
}

Document Document::at(std::size_t i) const {
  return {node_[i], file_, place_ + "[" + std::to_string(i) + "]"};
}

std::string Document::text() const {
  if (!node_.IsScalar()) fail("want one value");
  return node_.Scalar();
}

double Document::number(double least, double most) const {
  const std::string word = text();
  double value = 0;
  const auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (failed != std::errc{} || end != word.data() + word.size() ||
      !(value >= least && value <= most))
    fail("'" + word + "' is no number of " + shown(least) + " .. " + shown(most));
  return value;
}

double Document::share() const {
  std::string word = text();
  double value = 0;
  if (word.ends_with('%')) {
    word.pop_back();
    const auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (failed == std::errc{} && end == word.data() + word.size() && value >= 0 && value <= 100)
      return value / 100;
  }
  fail("'" + text() + "' is no share of 0% .. 100%");
}

}  // namespace hmk::sim
