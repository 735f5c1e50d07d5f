// SPDX-License-Identifier: MIT
#include "as_recorded.hpp"

#include <algorithm>

namespace hmkctl {

AsRecorded::AsRecorded(const std::vector<hmk::RecordedTier>& tiers)
    : tiers_(tiers), accesses_(tiers.size()), peak_(tiers.size()) {}

void AsRecorded::add(const hmk::RecordedFrame& frame) {
  const double seconds = static_cast<double>(frame.end_ns - frame.start_ns) / 1e9;
  std::vector<double> bytes(tiers_.size());
  for (const hmk::RecordedMove& move : frame.moves) moved_pages_ += move.moved_pages;
  for (const hmk::RecordedRegion& region : frame.regions) {
    const auto pages = static_cast<double>(region.resident_pages);
    const double accesses = pages * region.rate() * seconds;
    const auto tier = std::ranges::find_if(tiers_, [&](const hmk::RecordedTier& one) {
      return std::ranges::find(one.nodes, region.node) != one.nodes.end();
    });
    if (tier == tiers_.end()) {
      unknown_ += accesses;
      continue;
    }
    const auto number = static_cast<std::size_t>(tier - tiers_.begin());
    accesses_[number] += accesses;
    bytes[number] += pages * 4096;
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) peak_[i] = std::max(peak_[i], bytes[i]);
}

}  // namespace hmkctl
