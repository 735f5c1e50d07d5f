// SPDX-License-Identifier: MIT
//
// A schedule of pieces of memory as a plan for another run: by mapping and offset instead of by
// address.
//
//   plan.mappings = planned(heat.pieces(), schedule(demand.forecast(room)), context.mappings);
#pragma once

#include <vector>

#include "demand.hpp"
#include "heat_pieces.hpp"
#include "policy/horizon.hpp"
#include "record/tier_plan.hpp"

namespace hmkctl {

/// Memory outside of all mappings is left out; mappings are in address order. Of a piece whose
/// parts lie in different tiers each part gets a range of it, whose length is its share.
std::vector<hmk::PlannedMapping> planned(const std::vector<HeatPieces::Piece>& pieces,
                                         const hmk::policy::Schedule& found,
                                         const std::vector<hmk::RecordedMapping>& mappings);

/// Where memory is given out first come, first served, the fastest tier first, and never moves;
/// what came together by address. `bytes` and `latency_ns` by tier.
Outcome first_touch(std::vector<HeatPieces::Piece> pieces, std::vector<double> bytes,
                    const std::vector<double>& latency_ns);

}  // namespace hmkctl
