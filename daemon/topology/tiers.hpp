// SPDX-License-Identifier: MIT
//
// The tiers as one process sees them, fastest first (HK-42, A-12): "fast"
// depends on where it runs, so the order is asked again every interval.
//
//   std::vector<Tier> tiers = order_tiers(machine, {.home = 0});
//   tiers.front().node    the fastest
#pragma once

#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "topology/machine.hpp"

namespace hmk {

struct Tier {
  int node = -1;
  std::uint32_t latency_ns = 0;        ///< of a read, as seen from the home node; 0 unknown
  std::uint32_t write_latency_ns = 0;  ///< the same of a write
  std::uint32_t bandwidth_mib = 0;     ///< MiB/s; 0 unknown
  std::uint64_t total_bytes = 0;
  std::uint64_t free_bytes = 0;  ///< above the kernel's watermarks
};

struct TierQuestion {
  int home = -1;                    ///< node the process runs on; -1 unknown
  std::set<int> mems_allowed = {};  ///< empty: all
  std::vector<int> fixed = {};      ///< the user's own order; empty: from the machine
};

/// What may be used of a node: above the watermarks the kernel keeps free.
std::uint64_t usable_free(const Node& node);

/// Nodes with memory the process may use, one tier each.
std::vector<Tier> order_tiers(const Machine& machine, const TierQuestion& question);

/// Where the order comes from: "config", "hmat" or "distance".
std::string_view tier_source(const Machine& machine, const TierQuestion& question);

/// Index of the node's tier, -1 for nodes outside all tiers.
int tier_of_node(const std::vector<Tier>& tiers, int node);

}  // namespace hmk
