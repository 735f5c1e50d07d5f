// SPDX-License-Identifier: MIT
//
// The nodes of each tier, fastest first, as a plan was made for them.
//
//   tier_of({{0, 1}, {2, 3}}, 3)   1
#pragma once

#include <algorithm>
#include <vector>

namespace hmk {

using TierNodes = std::vector<std::vector<int>>;

/// -1: of no tier.
inline int tier_of(const TierNodes& tiers, int node) {
  const auto has = [=](const std::vector<int>& nodes) {
    return std::ranges::find(nodes, node) != nodes.end();
  };
  const auto found = std::ranges::find_if(tiers, has);
  return found == tiers.end() ? -1 : static_cast<int>(found - tiers.begin());
}

}  // namespace hmk
