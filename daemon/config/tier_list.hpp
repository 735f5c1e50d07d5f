// SPDX-License-Identifier: MIT
//
// The value of `tiers`: auto, nodes or sets of nodes, fastest first.
//
//   parse_tiers("0,1,2,3")            four tiers
//   parse_tiers("[[0, 1], [2, 3]]")   two
//   parse_tiers("[{nodes: [0, 1], read: 95ns, write: 95ns, bandwidth: 380GiB/s}, 2]")
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "topology/tier_spec.hpp"
#include "util/result.hpp"

namespace hmk {

/// No tier: auto.
Result<std::vector<TierSpec>> parse_tiers(std::string_view text);
/// What parse_tiers() reads the same from.
std::string tiers_text(const std::vector<TierSpec>& tiers);

}  // namespace hmk
