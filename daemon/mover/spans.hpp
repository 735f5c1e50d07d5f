// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace hmk {

/// [start, end) of addresses.
using Spans = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

/// What of spans that are in address order and apart lies in [start, end).
inline Spans common(const Spans& spans, std::uint64_t start, std::uint64_t end) {
  Spans inside;
  for (auto at = std::ranges::upper_bound(spans, start, {}, [](auto& span) { return span.second; });
       at != spans.end() && at->first < end; ++at)
    inside.emplace_back(std::max(at->first, start), std::min(at->second, end));
  return inside;
}

inline std::uint64_t bytes_of(const Spans& spans) {
  std::uint64_t bytes = 0;
  for (const auto& [start, end] : spans) bytes += end - start;
  return bytes;
}

}  // namespace hmk
