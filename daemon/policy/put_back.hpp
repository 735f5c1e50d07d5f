// SPDX-License-Identifier: MIT
//
// The moves that undo moves: what was promoted goes down, what made room for it goes up, each to
// where it lay before it was first moved.
//
//   Plan plan = put_back(balance.ledger().displaced(), tiers);
#pragma once

#include <span>

#include "policy/ledger.hpp"
#include "policy/types.hpp"

namespace hmk::policy {

/// What belongs to a node outside of `tiers`, or lies in the same tier as first, stays. What goes
/// down serves what goes up into as much room, so that a full tier can be undone piece by piece.
Plan put_back(std::span<const Ledger::Displaced> displaced, std::span<const TierView> tiers);

}  // namespace hmk::policy
