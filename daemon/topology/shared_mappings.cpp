// SPDX-License-Identifier: MIT
#include "topology/shared_mappings.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

namespace hmk {
namespace {

/// Cuts words and numbers off a line.
class Line {
 public:
  explicit Line(std::string_view text) : left_(text) {}
  /// Up to `end`, which is taken as well.
  std::optional<std::uint64_t> number(char end, int base) {
    std::uint64_t value = 0;
    const auto [at, error] =
        std::from_chars(left_.data(), left_.data() + left_.size(), value, base);
    if (error != std::errc{} || at == left_.data() + left_.size() || *at != end)
      return std::nullopt;
    left_.remove_prefix(static_cast<std::size_t>(at - left_.data()) + 1);
    return value;
  }
  std::string_view word() {
    const std::string_view word = left_.substr(0, left_.find(' '));
    left_.remove_prefix(std::min(word.size() + 1, left_.size()));
    return word;
  }

 private:
  std::string_view left_;
};

/// "7f00-7f10 rw-s 00000000 00:01 1024    /dev/zero (deleted)"
std::optional<SharedMapping> parse_line(std::string_view text) {
  Line line(text);
  const auto start = line.number('-', 16), end = line.number(' ', 16);
  if (!start || !end || *end <= *start || (*start | *end) % 4096 != 0) return std::nullopt;
  if (const std::string_view rights = line.word(); rights.size() != 4 || rights[3] != 's')
    return std::nullopt;
  const auto offset = line.number(' ', 16), major = line.number(':', 16),
             minor = line.number(' ', 16), inode = line.number(' ', 10);
  if (!offset || *offset % 4096 != 0 || !major || !minor || !inode) return std::nullopt;
  return SharedMapping{*start, *end, *offset, {(*major << 32) + *minor, *inode}};
}

}  // namespace

std::vector<SharedMapping> parse_shared_mappings(std::string_view maps) {
  std::vector<SharedMapping> all;
  while (!maps.empty()) {
    const std::string_view line = maps.substr(0, maps.find('\n'));
    maps.remove_prefix(std::min(line.size() + 1, maps.size()));
    // A line without a name ends with its inode.
    const auto one = parse_line(std::string(line) + ' ');
    if (one && (all.empty() || all.back().end <= one->start)) all.push_back(*one);
  }
  return all;
}

}  // namespace hmk
