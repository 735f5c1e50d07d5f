// SPDX-License-Identifier: MIT
#include "config/write.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cctype>
#include <cstdio>

#include "config/keys.hpp"
#include "util/printable.hpp"

namespace hmk {
namespace {

/// Bytes that are no UTF-8 pass through yaml-cpp's reader, and its emitter would replace them.
std::string byte_by_byte(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    char escaped[8];
    std::snprintf(escaped, sizeof(escaped), "\\x%02x", static_cast<unsigned char>(c));
    const bool is_plain =
        c != '"' && c != '\\' && c != 0x7f && static_cast<unsigned char>(c) >= 0x20;
    out += is_plain ? std::string(1, c) : escaped;
  }
  return out + '"';
}

/// In quotes where YAML would take it for more than a word: yaml-cpp ends one of a list at '?', too.
std::string quoted(const std::string& text) {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("/._+-=%:@*").find(c) != std::string_view::npos;
  };
  const bool is_word = !text.empty() && std::ranges::all_of(text, is_plain) &&
                       std::string_view("=%:@*-").find(text[0]) == std::string_view::npos &&
                       text.back() != ':';
  if (is_word) return text;
  YAML::Emitter out;
  out << YAML::DoubleQuoted << text;
  std::string emitted = out.c_str();
  const std::string_view replaced = "\xef\xbf\xbd";
  if (text.find(replaced) != text.npos || emitted.find(replaced) == emitted.npos) return emitted;
  return byte_by_byte(text);
}

std::string value_text(const Key& key, const Config& config) {
  const std::string text = key.get(config);
  if (key.is_nested && text.starts_with('[')) return std::string(text);  // as YAML writes it
  if (!key.is_list || (!text.empty() && text.find(',') == text.npos)) return quoted(text);
  std::string list = "[";
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    list += (from == 0 ? "" : ", ") + quoted(text.substr(from, comma - from));
    from = comma + 1;
  }
  return list + "]";
}

}  // namespace

std::string to_yaml(const Config& config, const Origins& origins,
                    std::span<const std::string_view> names) {
  std::string text;
  for (const std::string_view name : names) {
    const Key* const key = find_key(name);
    if (key == nullptr) continue;
    text += std::string(name) + ": " + value_text(*key, config);
    if (const auto origin = origins.find(name); origin != origins.end())
      text += "  # " + std::string(to_string(origin->second.kind)) +
              (origin->second.place.empty() ? "" : " " + printable(origin->second.place));
    text += "\n";
  }
  return text;
}

}  // namespace hmk
