// SPDX-License-Identifier: MIT
//
// In which order `regions` tells of them: what lies first is what a reader sees who asks for a few.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "metrics/hot_set.hpp"
#include "topology/tiers.hpp"

namespace hmk {

/// Ends with the lowest address, whatever else is equal.
enum class RegionOrder {
  hotness,   ///< smoothed hotness, highest first
  hot_slow,  ///< hot bytes outside tier 1, most first; then by rate
  size,      ///< largest first
  rate,      ///< accesses per second and page, most first
  address,
  tier  ///< the slowest first, in it by rate
};

/// Words of the socket, in the order of the enum.
inline constexpr std::array<std::string_view, 6> kRegionOrders{"hotness", "hot-slow", "size",
                                                               "rate",    "address",  "tier"};
std::optional<RegionOrder> region_order(std::string_view word);

/// Hot bytes of it in any tier but the first.
std::uint64_t hot_slow_bytes(const hmk_record& record, const HotSet& hot,
                             const std::vector<Tier>& tiers);

/// The first `limit` of the records in that order; 0: all of them.
std::vector<const hmk_record*> ordered(std::span<const hmk_record> records, RegionOrder order,
                                       std::size_t limit, const HotSet& hot,
                                       const std::vector<Tier>& tiers);

}  // namespace hmk
