// SPDX-License-Identifier: MIT
#include "tier_views.hpp"

#include <algorithm>
#include <cmath>

namespace hmk {
namespace {

/// Where they were calibrated.
void price_moves(std::vector<policy::TierView>& views, const Machine& machine) {
  if (machine.moves.empty()) return;
  for (policy::TierView& from : views)
    for (const policy::TierView& to : views) {
      const auto found = machine.moves.find({from.node, to.node});
      const MoveFigures figures = found == machine.moves.end() ? MoveFigures{} : found->second;
      from.page_ns.push_back(figures.page_ns);
      from.huge_ns.push_back(figures.huge_ns * policy::kPage / policy::kHuge);
    }
}

policy::TierView view_of(const Tier& tier, int id, const Node& node, policy::Bytes reserve,
                         CacheIs cache) {
  const double share = tier.total_bytes == 0 ? 0
                                             : static_cast<double>(node.total_bytes) /
                                                   static_cast<double>(tier.total_bytes);
  return {
      .node = id,
      .total = node.total_bytes,
      .free = usable_free(node) + (cache == CacheIs::room ? node.cache_bytes : 0),
      // Below its watermarks a node has less than no room.
      .reserve = static_cast<policy::Bytes>(std::llround(static_cast<double>(reserve) * share)) +
                 below_watermarks(node),
      .latency_ns = tier.latency_ns,
      .write_latency_ns = tier.write_latency_ns,
      .bandwidth_mib = tier.bandwidth_mib / static_cast<std::uint32_t>(tier.nodes.size()),
      .joins = id != tier.nodes.front()};
}

}  // namespace

std::vector<policy::TierView> tier_views(const std::vector<Tier>& tiers, const Machine& machine,
                                         const Config& config, CacheIs cache) {
  std::vector<policy::TierView> views;
  for (const Tier& tier : tiers)
    for (const int id : tier.nodes) {
      // It was there when the tiers were ordered, yet the machine may have been read anew since.
      const auto found = machine.nodes.find(id);
      const Node node = found == machine.nodes.end() ? Node{} : found->second;
      views.push_back(view_of(tier, id, node, reserve_for(config, tier.total_bytes), cache));
    }
  for (policy::TierView& from : views)
    for (const policy::TierView& to : views)
      from.distance.push_back(distance(machine, from.node, to.node));
  price_moves(views, machine);
  return views;
}

TierNodes tier_nodes(const std::vector<Tier>& tiers) {
  TierNodes nodes;
  for (const Tier& tier : tiers) nodes.push_back(tier.nodes);
  return nodes;
}

std::vector<policy::NodeId> ranked_nodes(const std::vector<Tier>& tiers) {
  std::vector<policy::NodeId> nodes;
  for (const Tier& tier : tiers) nodes.insert(nodes.end(), tier.nodes.begin(), tier.nodes.end());
  std::ranges::sort(nodes);
  return nodes;
}

}  // namespace hmk
