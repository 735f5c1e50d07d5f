// SPDX-License-Identifier: MIT
//
// What is pinned goes to its tier ahead of the ranking: into room, and into that of memory that is
// not pinned, however hot. Used by plan.cpp.
#pragma once

#include <optional>
#include <span>

#include "policy/demote.hpp"
#include "policy/wanted.hpp"

namespace hmk::policy {

/// A move of pinned memory, and what makes room for it.
struct PinnedMove {
  Ledger::Displaced what;  // as much of it as goes now
  std::uint32_t from, to;  // nodes of its owner's list
  RoomMade made;
  bool rises;
};

/// Moves `what`, or as much of it as finds room, to the tier of its node `first`. Changes `room`,
/// `shares` and the holders as if it had happened. Nothing where all room is taken by what stays.
/// What is pinned is in no holder's queue.
std::optional<PinnedMove> move_pinned(std::span<Holder> holders, std::size_t owner,
                                      const Ledger::Displaced& what, Room& room, Shares& shares);

}  // namespace hmk::policy
