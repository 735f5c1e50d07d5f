// SPDX-License-Identifier: MIT
#include "tier_bar.hpp"

#include <algorithm>
#include <cmath>

namespace hmkctl {

std::string tier_bar(const TierUse& use, std::size_t width) {
  // Figures of different sources and moments: what is more than the tier is cut off.
  const std::uint64_t resident = std::min(use.resident, use.total);
  const std::uint64_t hot = std::min(use.hot, resident);
  const std::uint64_t free = std::min(use.free, use.total - resident);
  std::string bar;
  const auto put = [&](std::uint64_t bytes, char with) {
    if (bytes == 0) return;
    const double part = static_cast<double>(bytes) / static_cast<double>(use.total);
    const auto cells = static_cast<std::size_t>(std::lround(part * static_cast<double>(width)));
    bar.append(std::min(std::max<std::size_t>(cells, 1), width - bar.size()), with);
  };
  put(hot, '#');
  put(resident - hot, '=');
  put(use.total - resident - free, '-');
  bar.resize(width, '.');
  return "[" + bar + "]";
}

}  // namespace hmkctl
