// SPDX-License-Identifier: MIT
//
// The tiers as one process sees them, fastest first (HK-42, A-12): "fast"
// depends on where it runs, so they are asked for again every interval.
//
//   std::vector<Tier> tiers = order_tiers(machine, {.homes = {0}});
//   tiers.front().nodes    the fastest
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "topology/machine.hpp"
#include "topology/tier_spec.hpp"
#include "util/result.hpp"

namespace hmk {

/// Nodes of one tier are at most so much slower than the fastest of them.
inline constexpr std::uint32_t kClassPercent = 20;
/// And no bandwidth is more than so many times another.
inline constexpr std::uint32_t kClassBandwidths = 2;

struct Tier {
  std::vector<int> nodes;              ///< ascending
  std::uint32_t latency_ns = 0;        ///< of a read, the mean over homes and nodes; 0 unknown
  std::uint32_t write_latency_ns = 0;  ///< the same of a write
  std::uint32_t bandwidth_mib = 0;     ///< MiB/s, of all nodes together; 0 unknown
  std::uint64_t total_bytes = 0;
  std::uint64_t free_bytes = 0;   ///< above the kernel's watermarks
  std::uint64_t cache_bytes = 0;  ///< page cache that could make room
};

struct TierQuestion {
  std::set<int> homes = {};          ///< nodes it runs on, alike; empty: unknown
  std::set<int> mems_allowed = {};   ///< empty: all
  std::vector<TierSpec> fixed = {};  ///< the user's own tiers; empty: from the machine
};

/// What may be used of a node: above the watermarks the kernel keeps free.
std::uint64_t usable_free(const Node& node);
/// What it lacks to them.
std::uint64_t below_watermarks(const Node& node);

/// Nodes with memory the process may use. Those of one class of latency, as seen from all of its
/// homes, are one tier. Without latencies the distance stands for them, and a node with CPUs is
/// not of one class with a node without.
std::vector<Tier> order_tiers(const Machine& machine, const TierQuestion& question);

/// Where the order comes from: "config", "calibrated", "hmat" or "distance".
std::string_view tier_source(const Machine& machine, const TierQuestion& question);

/// Whether the machine has all nodes that the user's tiers name.
Result<void> check_tiers(const Machine& machine, const std::vector<TierSpec>& tiers);

/// Index of the node's tier, -1 for nodes outside all tiers.
int tier_of_node(const std::vector<Tier>& tiers, int node);

/// SLIT value, 0 when it is not known.
int distance(const Machine& machine, int from, int to);

}  // namespace hmk
