// SPDX-License-Identifier: MIT
//
// What HM-Keeper has to reach, and whether it does: scenarios, rates, sizes of leaves,
// layouts and budgets, three seeds each.
#pragma once

#include <nlohmann/json.hpp>

namespace hmk::sim {

/// Runs all of it on all cores, prints each line of the matrix when it is complete, then the
/// misses. One object per run; "missed" says which did not reach their goal.
nlohmann::ordered_json sweep();

}  // namespace hmk::sim
