// SPDX-License-Identifier: MIT
//
// Which nodes are faster than a node, which of them share a tier, and which of those are near: by
// their index in a list of tiers.
//
//   const TierOrder order(tiers);
//   order.tier(2) < order.tier(3)                       node 2 of the list is faster
//   for (const auto to : order.nearest(2, first)) ...   of a tier, the nearest to it first
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "policy/types.hpp"

namespace hmk::policy {

class TierOrder {
 public:
  explicit TierOrder(std::span<const TierView> tiers);

  std::uint32_t size() const { return static_cast<std::uint32_t>(nodes_.size()); }
  NodeId node(std::uint32_t at) const { return nodes_[at]; }
  std::optional<std::uint32_t> find(NodeId node) const;

  /// The number of its tier, the fastest is 0.
  std::uint32_t tier(std::uint32_t at) const { return tiers_[at]; }
  /// The nodes of its tier are [first_of(at), end_of(at)).
  std::uint32_t first_of(std::uint32_t at) const { return firsts_[at]; }
  std::uint32_t end_of(std::uint32_t at) const { return ends_[at]; }

  /// The nodes of the tier that begins at `first`, the nearest to `from` first.
  std::span<const std::uint32_t> nearest(std::uint32_t from, std::uint32_t first) const {
    return std::span(by_nearness_[from]).subspan(first, ends_[first] - first);
  }
  /// The nodes of all slower tiers, the next tier first, and of each the nearest to `from`.
  std::span<const std::uint32_t> below(std::uint32_t from) const {
    return std::span(by_nearness_[from]).subspan(ends_[from]);
  }
  /// Whether memory of which a part lies on `away` may go to `to`: not when that part would
  /// change its place within a tier.
  bool may_take(std::uint32_t to, NodeId away) const {
    const auto part = find(away);
    return !part || *part == to || tier(*part) != tier(to);
  }

 private:
  std::vector<NodeId> nodes_;
  std::vector<std::uint32_t> tiers_, firsts_, ends_;
  std::vector<std::vector<std::uint32_t>> by_nearness_;  // by tier, then distance
};

}  // namespace hmk::policy
