// SPDX-License-Identifier: MIT
//
// The nodes of a process's tiers as the planner sees them: room, latencies, and the price of moves.
//
//   tier_views(tiers, machine, config, CacheIs::room)
#pragma once

#include <vector>

#include "config/config.hpp"
#include "mover/tier_nodes.hpp"
#include "policy/types.hpp"
#include "topology/tiers.hpp"

namespace hmk {

enum class CacheIs { room, in_use };  ///< clean page cache that was not used a second time

/// Fastest first, those of a tier side by side. A node that has gone since has no room.
std::vector<policy::TierView> tier_views(const std::vector<Tier>& tiers, const Machine& machine,
                                         const Config& config, CacheIs cache);

TierNodes tier_nodes(const std::vector<Tier>& tiers);

/// In ascending order: another order of the tiers is no reason to rank anew.
std::vector<policy::NodeId> ranked_nodes(const std::vector<Tier>& tiers);

}  // namespace hmk
