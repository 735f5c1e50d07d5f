// SPDX-License-Identifier: MIT
#include "policy/balance.hpp"

#include <algorithm>

namespace hmk::policy {
namespace {

constexpr double kMeanOf = 16;  // intervals in a moving average

/// Accesses a second to each region.
std::vector<float> hits_of(std::span<const RegionView> regions) {
  std::vector<float> hits;
  hits.reserve(regions.size());
  for (const RegionView& region : regions)
    hits.push_back(static_cast<float>(accesses_per_s(heat_of(region), region.resident)));
  return hits;
}

/// ns a second that all misses take together. What is not where most of a region is lies in the
/// next tier, or further away.
double stalls(std::span<const RegionView> regions, std::span<const float> hits,
              const GainModel& model) {
  double sum = 0;
  for (std::size_t i = 0; i < hits.size(); ++i) {
    const RegionView& region = regions[i];
    const auto tier = model.tier_of(region.node);
    if (!tier || hits[i] == 0) continue;
    const double away =
        hits[i] * (static_cast<double>(region.away) / static_cast<double>(region.resident));
    sum += model.stall_ns_per_s(hits[i] - away, region.written, *tier) +
           model.stall_ns_per_s(away, region.written, model.next(*tier));
  }
  return sum;
}

}  // namespace

void Balance::moved(const Move& move, const Came& came) {
  const NodeId from = source_of(move);
  costs_.add(from, move.to, move.leaf_shift > 12, came.bytes / kPage, came.spent_ns);
  const double share =
      move.bytes == 0 ? 0 : static_cast<double>(came.bytes) / static_cast<double>(move.bytes);
  ledger_.moved({.start = move.start,
                 .length = move.length,
                 .bytes = came.bytes,
                 .from = from,
                 .to = move.to,
                 .promised = move.saved_ns_per_s * share,
                 .spent_ns = came.spent_ns});
}

/// What is gathered comes from anywhere, at the least from the next tier.
NodeId Balance::source_of(const Move& move) const {
  const auto to = model_.tier_of(move.to);
  return move.from == move.to && to ? model_.node(model_.next(*to)) : move.from;
}

/// All that is promised are misses that become shorter: they never take longer than the CPU time,
/// in this interval and on average.
double Balance::conserving_scale(double stalls) {
  cpu_mean_ += (cpu_ - cpu_mean_) / kMeanOf;
  stalls_mean_ += (stalls - stalls_mean_) / kMeanOf;
  const auto within = [](double time, double wanted) { return wanted > time ? time / wanted : 1; };
  return std::min(within(cpu_, stalls), within(cpu_mean_, stalls_mean_));
}

bool Balance::saw(std::span<const RegionView> regions, std::span<const TierView> tiers,
                  const Interval& interval) {
  const PolicyParams params{.interval_s = interval.seconds};
  const std::vector<float> hits = hits_of(regions);
  cpu_ = static_cast<double>(interval.cpu_ns) / interval.seconds;
  scale_ = conserving_scale(stalls(regions, hits, GainModel(tiers, params)));

  persistence_.saw(regions, hits);
  horizon_ = persistence_.horizon(interval.horizon);
  model_ = GainModel(tiers, params, measured());
  ledger_.saw(regions, model_, {interval.seconds, horizon_, interval.profile_ns});
  if (!interval.is_governed || !knows()) {
    const bool was_slow = governor_.divisor() > 1;
    governor_ = {};
    return was_slow;
  }
  const Ledger::Figures& total = ledger_.total();
  return governor_.saw({.net = total.realized - total.spent,
                        .is_rising = ledger_.is_rising(),
                        .has_moved = ledger_.has_moved(),
                        .has_changed = persistence_.has_changed()});
}

void Balance::planned(const Plan& plan) {
  advice_ = {};
  for (const auto* const moves : {&plan.promotions, &plan.demotions})
    for (const Move& move : *moves) {
      advice_.saves += move.saved_ns_per_s;
      const auto from = model_.tier_of(source_of(move)), to = model_.tier_of(move.to);
      if (from && to) advice_.costs += model_.cost_ns(move.bytes, *from, *to, move.leaf_shift);
    }
}

}  // namespace hmk::policy
