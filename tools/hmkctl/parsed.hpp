// SPDX-License-Identifier: MIT
//
// Options whose text is a size, a time or a share.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "util/units.hpp"

namespace hmkctl {

/// A duration above 0.
inline hmk::Result<hmk::Nanoseconds> parse_time(std::string_view text) {
  auto time = hmk::parse_duration(text);
  if (time && time->count() <= 0)
    return hmk::Error{"'" + std::string(text) + "' is no time", "write for example 60s"};
  return time;
}

/// An option of which `parse` makes a value or says what is wrong.
template <class Parse, class Take>
CLI::Option* add_parsed(CLI::App& verb, const char* name, const char* help, Parse parse,
                        Take take) {
  return verb.add_option_function<std::string>(
      name,
      [=](const std::string& text) {
        const auto value = parse(text);
        if (!value) throw CLI::ValidationError(name, value.error().line());
        take(*value);
      },
      help);
}

}  // namespace hmkctl
