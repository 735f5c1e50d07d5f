// SPDX-License-Identifier: MIT
//
// Fast promotion (HK-35 .. HK-38): which regions go up this interval, straight
// to the fastest tier that has room or holds something colder.
//
//   Plan plan = make_plan(ranking.histogram(), tiers, params);       one process
//   std::vector<Plan> plans = make_plans(processes, params);         several
#pragma once

#include <span>
#include <vector>

#include "policy/gain.hpp"
#include "policy/histogram.hpp"
#include "policy/ledger.hpp"
#include "policy/shares.hpp"
#include "policy/types.hpp"

namespace hmk::policy {

/// A process in a plan over several.
struct ProcessView {
  const Histogram* histogram;       // of its regions
  std::span<const TierView> tiers;  // as it sees them; `free` and `reserve` are the node's
  std::uint32_t weight = 1;
  std::vector<Bytes> held = {};    // by node of `tiers`: resident bytes of its regions
  std::vector<Bytes> cap = {};     // by tier: it never gets more; shorter: no bound
  std::vector<Bytes> floor = {};   // by tier: others never leave it less; shorter: nothing
  Bytes promote_limit = kNoBound;  // of its own, within that of all
  Measured measured = {};          // what its moves took and its heat lasts
  // Its hotness is read too roughly to take anybody's place: it gets what is free, and what is its
  // own by weight. What else would pay is `Plan::waiting`.
  bool only_fills = false;
  // What is pinned to another tier than that it is in; `first` is a node of the tier it belongs to.
  // Of `histogram` it takes no part.
  std::span<const Ledger::Displaced> pinned = {};
  ProcessId process = 0;                    // of what is pinned
  std::optional<std::uint32_t> group = {};  // weight, caps and floors are of all in it together
};

/// Chooses the moves of one interval over all processes (HK-32, A-20); one plan for each.
///
/// All regions of all processes compete together, and `params.shares_by_weight` decides
/// between processes: see shares.hpp. Processes may see the same nodes in different orders.
///
/// Pure: same input, same plan. Promises, each of them a property test:
///  - sum of promoted bytes is at most `params.promote_limit`; a region larger
///    than the rest of it is cut at leaf alignment;
///  - no region is in the plan twice, nor the pages of a class and node of one, while other
///    classes of it may go another way; none that is immovable
///    (promotions) or of zero WHI (promotions) is in it;
///  - a promotion goes to a faster tier, or gathers the rest of a region that
///    is mostly in the fastest one; a demotion goes to a slower tier;
///  - no part of a region that is known to lie in a tier goes to another node of it;
///  - a victim's WHI is below that of the region it makes room for, by
///    `gain_margin` buckets, but for what goes by weight;
///  - nobody gets beyond its cap, or falls below its floor for others' sake;
///  - for what only fills nothing else leaves, but what makes room for it by weight;
///  - a tier ends with at least its reserve free, or with no less than before.
///
/// Of a tier of several nodes a promotion takes the nearest that has room, and a demotion, too.
/// Nodes a histogram does not know are ignored, and of one that is in no tier nothing moves.
std::vector<Plan> make_plans(std::span<const ProcessView> processes, const PolicyParams& params);

/// The plan of one process, or of several that are one histogram and one to the shares.
Plan make_plan(const Histogram& histogram, std::span<const TierView> tiers,
               const PolicyParams& params);

/// The same from a plain list of regions, for callers that keep no state. O(all regions) each time.
Plan make_plan(std::span<const RegionView> regions, std::span<const TierView> tiers,
               const PolicyParams& params);

}  // namespace hmk::policy
