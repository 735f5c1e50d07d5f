// SPDX-License-Identifier: MIT
//
// The memory of a process that the operator has pinned.
//
//   pinned_in(config.pins, 4711, "redis-server", parse_mappings(maps))
#pragma once

#include <span>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "policy/wanted.hpp"
#include "record/recording.hpp"
#include "topology/tiers.hpp"

namespace hmk {

/// In address order and disjoint: of two pins that meet the first counts. Wanted::by is the number
/// of the pin.
std::vector<policy::Wanted> pinned_in(std::span<const Pin> pins, std::int32_t pid,
                                      const std::string& comm,
                                      const std::vector<RecordedMapping>& mappings);

/// Fails where a pin names a tier that this machine does not have.
Result<void> check_pins(const Machine& machine, const Config& config);

}  // namespace hmk
