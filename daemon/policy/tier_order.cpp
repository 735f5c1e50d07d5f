// SPDX-License-Identifier: MIT
#include "policy/tier_order.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

namespace hmk::policy {
namespace {

int distance(const TierView& from, std::uint32_t to) {
  return to < from.distance.size() ? from.distance[to] : std::numeric_limits<int>::max();
}

}  // namespace

TierOrder::TierOrder(std::span<const TierView> tiers) {
  const auto size = static_cast<std::uint32_t>(tiers.size());
  std::uint32_t first = 0, tier = 0;
  for (std::uint32_t at = 0; at < size; ++at) {
    if (at > 0 && !tiers[at].joins) {
      first = at;
      ++tier;
    }
    nodes_.push_back(tiers[at].node);
    tiers_.push_back(tier);
    firsts_.push_back(first);
    ends_.push_back(at + 1);
    std::fill(ends_.begin() + first, ends_.end(), at + 1);
  }
  for (const TierView& from : tiers) {
    std::vector<std::uint32_t>& order = by_nearness_.emplace_back(size);
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::sort(order, {}, [&](std::uint32_t to) {
      return std::tuple(tiers_[to], distance(from, to), to);
    });
  }
}

std::optional<std::uint32_t> TierOrder::find(NodeId node) const {
  const auto at = std::ranges::find(nodes_, node);
  if (node == kNoNode || at == nodes_.end()) return std::nullopt;
  return static_cast<std::uint32_t>(at - nodes_.begin());
}

}  // namespace hmk::policy
