// SPDX-License-Identifier: MIT
#include "mappings.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>

#include "util/file.hpp"

namespace hmkctl {
namespace {

/// "7f00-7f10 rw-p 00000000 00:00 0    [heap]"
std::optional<Mapping> parse_line(const std::string& line) {
  std::istringstream words(line);
  std::string range, skipped;
  Mapping one;
  words >> range >> skipped >> skipped >> skipped >> skipped;
  std::getline(words >> std::ws, one.name);
  const char* const end = range.data() + range.size();
  const auto dash = std::from_chars(range.data(), end, one.start, 16);
  if (dash.ec != std::errc{} || dash.ptr == end || *dash.ptr != '-') return std::nullopt;
  const auto last = std::from_chars(dash.ptr + 1, end, one.end, 16);
  if (last.ec != std::errc{} || last.ptr != end || one.end <= one.start) return std::nullopt;
  if (one.name.empty()) one.name = "anonymous";
  if (one.name.starts_with('/')) one.name.erase(0, one.name.rfind('/') + 1);
  return one;
}

}  // namespace

const Mapping* Mappings::at(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(all_, address, {}, &Mapping::end);
  return after == all_.end() || after->start > address ? nullptr : &*after;
}

std::string Mappings::name(std::uint64_t address) const {
  const Mapping* const found = at(address);
  return found == nullptr ? "" : found->name;
}

Mappings parse_mappings(std::string_view maps) {
  std::istringstream lines{std::string(maps)};
  std::vector<Mapping> all;
  for (std::string line; std::getline(lines, line);) {
    auto one = parse_line(line);
    if (!one || (!all.empty() && one->start < all.back().end)) continue;
    if (!all.empty() && all.back().end == one->start && all.back().name == one->name)
      all.back().end = one->end;
    else
      all.push_back(*std::move(one));
  }
  return Mappings(std::move(all));
}

Mappings mappings_of(const std::filesystem::path& root, int pid, const std::string& comm) {
  const auto proc = root / "proc" / std::to_string(pid);
  if (hmk::read_text(proc / "comm").value_or("") != comm + "\n") return {};
  return parse_mappings(hmk::read_text(proc / "maps").value_or(""));
}

}  // namespace hmkctl
