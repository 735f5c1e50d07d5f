// SPDX-License-Identifier: MIT
#include "node_spans.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "util/file.hpp"

namespace hmkctl {
namespace {

constexpr std::uint64_t kPage = 4096;

}  // namespace

NodeSpans::NodeSpans(std::vector<Span> spans) : spans_(std::move(spans)) {
  std::ranges::sort(spans_, {}, &Span::begin);
}

int NodeSpans::node_of(std::uint64_t address) const {
  auto span = std::ranges::upper_bound(spans_, address, {}, &Span::begin);
  while (span != spans_.begin())
    if (address < (--span)->end) return span->node;
  return -1;
}

/// "Node 1, zone   Normal" heads a zone; "spanned 65536" and "start_pfn: 262144" count pages.
NodeSpans read_node_spans(const std::filesystem::path& root) {
  std::vector<NodeSpans::Span> spans;
  std::istringstream lines(hmk::read_text(root / "proc/zoneinfo").value_or(""));
  std::uint64_t pages = 0;
  int node = -1;
  for (std::string line; std::getline(lines, line);) {
    const auto number_after = [&](std::string_view word) {
      return std::strtoull(line.c_str() + line.find(word) + word.size(), nullptr, 10);
    };
    if (line.starts_with("Node ")) {
      node = static_cast<int>(number_after("Node "));
      pages = 0;
    } else if (line.find(" spanned ") != line.npos) {
      pages = number_after(" spanned ");
    } else if (line.find("start_pfn:") != line.npos && pages > 0) {
      const std::uint64_t begin = number_after("start_pfn:") * kPage;
      spans.push_back({begin, begin + pages * kPage, node});
    }
  }
  return NodeSpans(std::move(spans));
}

}  // namespace hmkctl
