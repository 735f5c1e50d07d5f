// SPDX-License-Identifier: MIT
//
// The moves that undo moves: what was promoted goes down, what made room for it goes up, each to
// where it lay before it was first moved.
//
//   Plan plan = put_back(balance.ledger().displaced(), tiers, parts);
//
// Of the pages of a class nobody knows which they were. What rose was the hottest of its region and
// what fell the coldest: as many of those that are so now go back.
#pragma once

#include <span>

#include "policy/ledger.hpp"
#include "policy/types.hpp"

namespace hmk::policy {

/// What belongs to a node outside of `tiers`, or lies in the same tier as first, stays. What goes
/// down serves what goes up into as much room, so that a full tier can be undone piece by piece.
/// `parts`: of the last interval, in address order; pages of a class stay where their region is
/// told as a whole.
Plan put_back(std::span<const Ledger::Displaced> displaced, std::span<const TierView> tiers,
              std::span<const RegionView> parts = {});

}  // namespace hmk::policy
