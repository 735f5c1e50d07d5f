// SPDX-License-Identifier: MIT
#include "record/mappings.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace hmk {
namespace {

/// Cuts the next word off.
std::string_view take_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(word.size());
  return word;
}

/// "7f00-7f10 rw-p 00000000 00:00 0    [heap]"
std::optional<RecordedMapping> parse_line(std::string_view line) {
  const std::string_view range = take_word(line);
  for (int skipped = 0; skipped < 4; ++skipped) take_word(line);
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  RecordedMapping one{0, 0, std::string(line.empty() ? "anonymous" : line)};
  const char* const end = range.data() + range.size();
  const auto dash = std::from_chars(range.data(), end, one.start, 16);
  if (dash.ec != std::errc{} || dash.ptr == end || *dash.ptr != '-') return std::nullopt;
  const auto last = std::from_chars(dash.ptr + 1, end, one.end, 16);
  if (last.ec != std::errc{} || last.ptr != end || one.end <= one.start) return std::nullopt;
  if ((one.start | one.end) % 4096 != 0) return std::nullopt;
  return one;
}

}  // namespace

std::vector<RecordedMapping> parse_mappings(std::string_view maps) {
  std::vector<RecordedMapping> all;
  while (!maps.empty()) {
    const std::string_view line = maps.substr(0, maps.find('\n'));
    maps.remove_prefix(std::min(line.size() + 1, maps.size()));
    auto one = parse_line(line);
    if (!one || (!all.empty() && one->start < all.back().end)) continue;
    if (!all.empty() && all.back().end == one->start && all.back().name == one->name)
      all.back().end = one->end;
    else
      all.push_back(*std::move(one));
  }
  return all;
}

}  // namespace hmk
