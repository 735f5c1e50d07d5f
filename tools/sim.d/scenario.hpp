// SPDX-License-Identifier: MIT
//
// The scenarios by name. A scenario says which world exists in an interval;
// worlds change at most a few times, so all are built at the start.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "world.hpp"

namespace hmk::sim {

enum class Layout { kContiguous, kScattered };

std::string_view to_string(Layout layout);

struct ScenarioOptions {
  Layout layout = Layout::kContiguous;
  std::uint64_t seed = 1;
  unsigned leaf_shift = 12;
  double hot_rate = 1.0;  // accesses per hot leaf and second
  Bytes bytes = 0;        // managed memory instead of the scenario's; 0: as it says
  Bytes hot = 0;          // of needle-160g; 0: as it says
  Bytes piece = 2 << 20;  // a scattered hot set consists of these
};

struct Scenario {
  std::string name = {};
  std::uint32_t intervals = 12;  // unless the user says otherwise
  std::uint32_t num_ps = 0;      // samples instead of what the budget pays for; 0: the budget
  bool ordered = false;          // asks for the order of heat, not only for what is hot
  double fast_share = 0;         // asks what a fast tier of that share of the memory serves
  std::vector<World> worlds = {};
  std::vector<std::uint32_t> from = {};  // worlds[i] exists from interval from[i] on

  const World& at(std::uint32_t interval) const;
};

/// Names that make_scenario() knows.
const std::vector<std::string>& scenario_names();

/// Throws std::invalid_argument for an unknown name or too little memory.
Scenario make_scenario(std::string_view name, const ScenarioOptions& options);

}  // namespace hmk::sim
