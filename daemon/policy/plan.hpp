// SPDX-License-Identifier: MIT
//
// Fast promotion (HK-35 .. HK-38): which regions go up this interval, straight
// to the fastest tier that has room or holds something colder.
//
//   Plan plan = make_plan(ranking.histogram(), tiers, params);
#pragma once

#include <span>

#include "policy/histogram.hpp"
#include "policy/types.hpp"

namespace hmk::policy {

/// Chooses the moves of one interval over all processes.
///
/// Pure: same input, same plan. Promises, each of them a property test:
///  - sum of promoted bytes is at most `params.promote_limit`; a region larger
///    than the rest of it is cut at leaf alignment;
///  - no region is in the plan twice; none that is immovable, demote-only
///    (promotions) or of zero WHI (promotions) is in it;
///  - a promotion goes to a faster tier, or gathers the rest of a region that
///    is mostly in the fastest one; a demotion goes to a slower tier;
///  - a victim's WHI is below that of the region it makes room for, by
///    `gain_margin` buckets;
///  - a tier ends with at least its reserve free, or with no less than before.
///
/// `tiers` are those of the histogram, same nodes in the same order; tiers the
/// histogram does not know are ignored.
Plan make_plan(const Histogram& histogram, std::span<const TierView> tiers,
               const PolicyParams& params);

/// The same from a plain list of regions of one process, for callers that keep
/// no state. O(all regions) each time.
Plan make_plan(std::span<const RegionView> regions, std::span<const TierView> tiers,
               const PolicyParams& params);

}  // namespace hmk::policy
