// SPDX-License-Identifier: MIT
//
// Forecasts drawn at random: the same for a seed on every machine. All fit: the last tier has room
// for everything.
#pragma once

#include <cstdint>

#include "policy/horizon.hpp"

namespace hmk::plan {

/// 1 to 6 regions of 1 to 4 units, 1 to 4 windows, 2 or 3 tiers, every fifth static.
policy::Forecast small_case(std::uint64_t seed);

/// A program in phases: of the groups a seventh are hot always, most in one phase of four, the
/// others never. Regions of 2 MiB; four tiers, three of which hold a fifth of it each.
struct Phases {
  std::size_t groups = 200;
  std::uint32_t windows = 24;
  unsigned most_regions = 1;  // of a group
};
policy::Forecast phased_case(const Phases& phases, std::uint64_t seed);

}  // namespace hmk::plan
