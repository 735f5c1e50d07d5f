// SPDX-License-Identifier: MIT
//
// Which memory lies in another tier than that in which it is wanted, as the records of the last
// interval say.
//
//   const Misplaced found = misplaced(records, follower.wanted(mappings, now_ns), tiers, most);
#pragma once

#include <linux/hmk.h>

#include <cstdint>
#include <span>
#include <vector>

#include "mover/tier_nodes.hpp"
#include "policy/wanted.hpp"

namespace hmk {

struct Misplaced {
  /// In address order. `first`: a node of the tier where it is wanted.
  std::vector<policy::Ledger::Displaced> extents;
  std::uint64_t bytes = 0;  ///< of all, also beyond `most`
};

/// Extents of at most `most` bytes that are to rise, and as many that are to fall. `tiers`: nodes
/// of each; what is wanted in a tier that is not there stays.
Misplaced misplaced(std::span<const hmk_record> records, std::span<const policy::Wanted> wanted,
                    const TierNodes& tiers, std::uint64_t most);

/// What of `wanted` is there at all.
struct Presence {
  std::uint64_t bytes = 0, elsewhere_bytes = 0;
};
/// By Wanted::by, of which each is below `nr`.
std::vector<Presence> presence_of(std::span<const hmk_record> records,
                                  std::span<const policy::Wanted> wanted, const TierNodes& tiers,
                                  std::size_t nr);

}  // namespace hmk
