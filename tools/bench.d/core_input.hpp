// SPDX-License-Identifier: MIT
//
// Regions and samples of an interval that has just ended, the same each time: neighbours
// differ, so that most regions stay; one in 16 splits and one in 16 merges.
#pragma once

#include <hmk/core/ladder.h>
#include <hmk/core/types.h>

#include <cstdint>
#include <vector>

namespace hmk::bench {

/// What the module watches through: windows of the ladder or equal ones, three looks each.
hmk_ladder windows(bool is_ladder);

struct Interval {
  std::vector<hmk_region> regions;  // those watched have two samples each
  std::vector<hmk_sample> samples;
};

/// Counts are drawn as chance gives them where windows differ: half of the regions are
/// accessed once in the longest window, half of them 512 times as often.
/// Regions beyond the first `watched_percent` are stale.
Interval interval(const hmk_ladder& windows, std::uint32_t nr, unsigned watched_percent);

}  // namespace hmk::bench
