// SPDX-License-Identifier: MIT
#include "topology/tiers.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace hmk {
namespace {

int distance(const Machine& machine, int from, int to) {
  const auto node = machine.nodes.find(from);
  if (node == machine.nodes.end()) return 0;
  const auto value = node->second.distance.find(to);
  return value == node->second.distance.end() ? 0 : value->second;
}

bool may_use(const Node& node, const TierQuestion& question) {
  return node.total_bytes > 0 &&
         (question.mems_allowed.empty() || question.mems_allowed.contains(node.id));
}

/// Without a known home the first node with CPUs stands in for it.
int home_or_first(const Machine& machine, int home) {
  if (machine.nodes.contains(home)) return home;
  for (const auto& [id, node] : machine.nodes)
    if (!node.cpus.empty()) return id;
  return machine.nodes.empty() ? -1 : machine.nodes.begin()->first;
}

/// sysfs tells the latency from a node's best initiators only. From elsewhere it
/// grows in proportion to the distance, which is what SLIT values mean.
std::uint32_t latency_from(const Machine& machine, const Node& node, int home,
                           std::uint32_t Access::*of) {
  if (!node.access) return 0;
  const Access& access = *node.access;
  const std::uint32_t nearest = access.*of;
  if (access.initiators.empty() || access.initiators.contains(home)) return nearest;
  const int far = distance(machine, home, node.id);
  const int near = distance(machine, *access.initiators.begin(), node.id);
  if (far <= 0 || near <= 0) return nearest;
  return static_cast<std::uint32_t>(std::uint64_t{nearest} * static_cast<std::uint64_t>(far) /
                                    static_cast<std::uint64_t>(near));
}

/// Latencies compare only when every usable node has one.
bool has_latencies(const Machine& machine, const TierQuestion& question) {
  return std::ranges::all_of(machine.nodes, [&](const auto& entry) {
    return !may_use(entry.second, question) || entry.second.access;
  });
}

Tier make_tier(const Machine& machine, const Node& node, int home) {
  return {node.id,
          latency_from(machine, node, home, &Access::latency_ns),
          latency_from(machine, node, home, &Access::write_latency_ns),
          node.access ? node.access->bandwidth_mib : 0,
          node.total_bytes,
          usable_free(node)};
}

std::vector<Tier> tiers_as_told(const Machine& machine, const TierQuestion& question, int home) {
  std::vector<Tier> tiers;
  for (const int id : question.fixed) {
    const auto node = machine.nodes.find(id);
    if (node != machine.nodes.end() && may_use(node->second, question))
      tiers.push_back(make_tier(machine, node->second, home));
  }
  return tiers;
}

}  // namespace

std::uint64_t usable_free(const Node& node) {
  return node.free_bytes - std::min(node.free_bytes, node.watermark_bytes);
}

std::vector<Tier> order_tiers(const Machine& machine, const TierQuestion& question) {
  const int home = home_or_first(machine, question.home);
  if (!question.fixed.empty()) return tiers_as_told(machine, question, home);

  const bool by_latency = has_latencies(machine, question);
  std::vector<Tier> tiers;
  for (const auto& [id, node] : machine.nodes)
    if (may_use(node, question)) tiers.push_back(make_tier(machine, node, home));

  const auto rank = [&](const Tier& tier) {
    const int away = distance(machine, home, tier.node);
    // Equal latency: more bandwidth first, then the nearer, then the lower number.
    return std::make_tuple(by_latency ? tier.latency_ns : 0u, by_latency ? ~tier.bandwidth_mib : 0u,
                           away, tier.node);
  };
  std::ranges::sort(tiers, {}, rank);
  return tiers;
}

std::string_view tier_source(const Machine& machine, const TierQuestion& question) {
  if (!question.fixed.empty()) return "config";
  return has_latencies(machine, question) ? "hmat" : "distance";
}

int tier_of_node(const std::vector<Tier>& tiers, int node) {
  for (std::size_t t = 0; t < tiers.size(); ++t)
    if (tiers[t].node == node) return static_cast<int>(t);
  return -1;
}

}  // namespace hmk
