// SPDX-License-Identifier: MIT
#include "topology/huge_pages.hpp"

#include <charconv>
#include <fstream>
#include <string>
#include <string_view>

#include "util/file.hpp"

namespace hmk {
namespace {

namespace fs = std::filesystem;

/// "always [madvise] never"
std::string chosen(const fs::path& file) {
  const std::string text = read_text(file).value_or("");
  const auto from = text.find('['), to = text.find(']');
  return from < to && to != std::string::npos ? text.substr(from + 1, to - from - 1) : "";
}

/// "7f0000200000-7f0000400000 rw-p ...": the first line about an area.
std::optional<HugeAreas::value_type> area_of(std::string_view line) {
  HugeAreas::value_type area;
  const char* const end = line.data() + line.size();
  const auto first = std::from_chars(line.data(), end, area.first, 16);
  if (first.ec != std::errc{} || first.ptr == end || *first.ptr != '-') return std::nullopt;
  const auto last = std::from_chars(first.ptr + 1, end, area.second, 16);
  if (last.ec != std::errc{} || last.ptr == end || *last.ptr != ' ') return std::nullopt;
  return area;
}

}  // namespace

HugeSetting read_huge_setting(const fs::path& root) {
  const fs::path folder = root / "sys/kernel/mm/transparent_hugepage";
  std::string word = chosen(folder / "hugepages-2048kB/enabled");
  if (word.empty() || word == "inherit") word = chosen(folder / "enabled");
  if (word == "always") return HugeSetting::always;
  return word == "madvise" ? HugeSetting::advised : HugeSetting::never;
}

std::optional<HugeAreas> read_advised(const fs::path& root, std::int32_t pid) {
  std::ifstream smaps(root / "proc" / std::to_string(pid) / "smaps");
  if (!smaps) return std::nullopt;
  HugeAreas areas;
  HugeAreas::value_type area;
  for (std::string line; std::getline(smaps, line);) {
    if (const auto begun = area_of(line)) area = *begun;
    if (!line.starts_with("VmFlags:") || line.find(" hg") == line.npos) continue;
    if (!areas.empty() && areas.back().second == area.first)
      areas.back().second = area.second;
    else
      areas.push_back(area);
  }
  if (smaps.bad()) return std::nullopt;  // it has ended meanwhile
  return areas;
}

}  // namespace hmk
