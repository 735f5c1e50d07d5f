// SPDX-License-Identifier: MIT
#include "topology/tiers.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <tuple>

namespace hmk {
namespace {

bool may_use(const Node& node, const TierQuestion& question) {
  return node.total_bytes > 0 &&
         (question.mems_allowed.empty() || question.mems_allowed.contains(node.id));
}

/// Without a known home the first node with CPUs stands in for it.
std::set<int> homes_or_first(const Machine& machine, std::set<int> homes) {
  std::erase_if(homes, [&](int home) { return !machine.nodes.contains(home); });
  if (!homes.empty() || machine.nodes.empty()) return homes;
  for (const auto& [id, node] : machine.nodes)
    if (!node.cpus.empty()) return {id};
  return {machine.nodes.begin()->first};
}

/// sysfs tells the latency from a node's best initiators only. From elsewhere it
/// grows in proportion to the distance, which is what SLIT values mean.
std::uint32_t latency_from(const Machine& machine, const Node& node, int home,
                           std::uint32_t Access::*of) {
  if (const auto measured = node.seen_from.find(home); measured != node.seen_from.end())
    return measured->second.*of;
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
    const Node& node = entry.second;
    return !may_use(node, question) || node.access || !node.seen_from.empty();
  });
}

/// Of the best initiators.
std::uint32_t bandwidth_of(const Node& node) {
  std::uint32_t most = node.seen_from.empty() && node.access ? node.access->bandwidth_mib : 0;
  for (const auto& [home, access] : node.seen_from) most = std::max(most, access.bandwidth_mib);
  return most;
}

/// A node as all homes of a process see it, each counting the same.
struct Seen {
  const Node* node = nullptr;
  std::uint32_t latency_ns = 0, write_latency_ns = 0, bandwidth_mib = 0;
  int distance = 0;  // the sum over homes; 0 unknown
};

Seen see(const Machine& machine, const Node& node, const std::set<int>& homes) {
  Seen seen{.node = &node, .bandwidth_mib = bandwidth_of(node)};
  std::uint64_t reads = 0, writes = 0;
  for (const int home : homes) {
    reads += latency_from(machine, node, home, &Access::latency_ns);
    writes += latency_from(machine, node, home, &Access::write_latency_ns);
    seen.distance += distance(machine, home, node.id);
  }
  if (homes.empty()) return seen;
  seen.latency_ns = static_cast<std::uint32_t>(reads / homes.size());
  seen.write_latency_ns = static_cast<std::uint32_t>(writes / homes.size());
  return seen;
}

template <typename T>
bool is_near(T value, T fastest) {
  return std::uint64_t(value) * 100 <= std::uint64_t(fastest) * (100 + kClassPercent);
}

bool are_alike(const Seen& fastest, const Seen& other, bool by_latency) {
  if (!by_latency)
    return fastest.distance > 0 && is_near(other.distance, fastest.distance) &&
           fastest.node->cpus.empty() == other.node->cpus.empty();
  const auto [less, more] = std::minmax(fastest.bandwidth_mib, other.bandwidth_mib);
  return is_near(other.latency_ns, fastest.latency_ns) &&
         (less == 0 || more <= std::uint64_t{less} * kClassBandwidths);
}

Tier make_tier(const std::vector<Seen>& nodes) {
  Tier tier;
  std::uint64_t reads = 0, writes = 0;
  bool know_bandwidth = true;
  for (const Seen& seen : nodes) {
    tier.nodes.push_back(seen.node->id);
    tier.total_bytes += seen.node->total_bytes;
    tier.free_bytes += usable_free(*seen.node);
    tier.cache_bytes += seen.node->cache_bytes;
    tier.bandwidth_mib += seen.bandwidth_mib;
    know_bandwidth = know_bandwidth && seen.bandwidth_mib > 0;
    reads += seen.latency_ns;
    writes += seen.write_latency_ns;
  }
  if (!know_bandwidth) tier.bandwidth_mib = 0;
  tier.latency_ns = static_cast<std::uint32_t>(reads / nodes.size());
  tier.write_latency_ns = static_cast<std::uint32_t>(writes / nodes.size());
  std::ranges::sort(tier.nodes);
  return tier;
}

std::vector<Tier> tiers_as_told(const Machine& machine, const TierQuestion& question,
                                const std::set<int>& homes) {
  std::vector<Tier> tiers;
  for (const TierSpec& spec : question.fixed) {
    std::vector<Seen> nodes;
    for (const int id : spec.nodes) {
      const auto node = machine.nodes.find(id);
      if (node != machine.nodes.end() && may_use(node->second, question))
        nodes.push_back(see(machine, node->second, homes));
    }
    if (nodes.empty()) continue;
    Tier& tier = tiers.emplace_back(make_tier(nodes));
    if (spec.latency_ns > 0) {
      tier.latency_ns = spec.latency_ns;
      tier.write_latency_ns = spec.write_latency_ns;
    }
    if (spec.write_latency_ns > 0) tier.write_latency_ns = spec.write_latency_ns;
    if (spec.bandwidth_mib > 0) tier.bandwidth_mib = spec.bandwidth_mib;
  }
  return tiers;
}

}  // namespace

int distance(const Machine& machine, int from, int to) {
  const auto node = machine.nodes.find(from);
  if (node == machine.nodes.end()) return 0;
  const auto value = node->second.distance.find(to);
  return value == node->second.distance.end() ? 0 : value->second;
}

std::uint64_t usable_free(const Node& node) {
  return node.free_bytes - std::min(node.free_bytes, node.watermark_bytes);
}

std::uint64_t below_watermarks(const Node& node) {
  return node.watermark_bytes - std::min(node.free_bytes, node.watermark_bytes);
}

std::vector<Tier> order_tiers(const Machine& machine, const TierQuestion& question) {
  const std::set<int> homes = homes_or_first(machine, question.homes);
  if (!question.fixed.empty()) return tiers_as_told(machine, question, homes);

  const bool by_latency = has_latencies(machine, question);
  std::vector<Seen> nodes;
  for (const auto& [id, node] : machine.nodes)
    if (may_use(node, question)) nodes.push_back(see(machine, node, homes));
  // Equal latency: more bandwidth first, then the nearer, then the lower number.
  std::ranges::sort(nodes, {}, [&](const Seen& seen) {
    return std::make_tuple(by_latency ? seen.latency_ns : 0u, by_latency ? ~seen.bandwidth_mib : 0u,
                           seen.distance, seen.node->id);
  });
  std::vector<std::vector<Seen>> classes;
  for (const Seen& seen : nodes) {
    const auto alike = std::ranges::find_if(
        classes, [&](const auto& members) { return are_alike(members.front(), seen, by_latency); });
    if (alike == classes.end())
      classes.push_back({seen});
    else
      alike->push_back(seen);
  }
  std::vector<Tier> tiers;
  tiers.reserve(classes.size());
  for (const auto& members : classes) tiers.push_back(make_tier(members));
  // The mean of a class may lie above that of the next one.
  if (by_latency) std::ranges::stable_sort(tiers, {}, &Tier::latency_ns);
  return tiers;
}

std::string_view tier_source(const Machine& machine, const TierQuestion& question) {
  if (!question.fixed.empty()) return "config";
  if (!has_latencies(machine, question)) return "distance";
  const bool is_measured = std::ranges::any_of(
      machine.nodes, [](const auto& entry) { return !entry.second.seen_from.empty(); });
  return is_measured ? "calibrated" : "hmat";
}

Result<void> check_tiers(const Machine& machine, const std::vector<TierSpec>& tiers) {
  std::string known;
  for (const auto& [id, node] : machine.nodes)
    known += (known.empty() ? "" : ", ") + std::to_string(id);
  for (const TierSpec& tier : tiers)
    for (const int node : tier.nodes)
      if (!machine.nodes.contains(node))
        return Error{"tiers: this machine has no node " + std::to_string(node),
                     "name nodes of " + known, ENODEV};
  return {};
}

int tier_of_node(const std::vector<Tier>& tiers, int node) {
  for (std::size_t t = 0; t < tiers.size(); ++t)
    if (std::ranges::find(tiers[t].nodes, node) != tiers[t].nodes.end()) return static_cast<int>(t);
  return -1;
}

}  // namespace hmk
