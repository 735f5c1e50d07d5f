// SPDX-License-Identifier: MIT
#include "policy/balance.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace hmk::policy {
namespace {

constexpr double kMeanOf = 16;  // intervals in a moving average

struct Load {
  std::vector<float> hits;  // accesses a second, by region
  double stalls = 0;        // ns a second that all misses take together
  Bytes resident = 0;
};

/// ns that one access takes in misses, by node and whether it may write; 0 where no tier is.
class Stalls {
 public:
  Stalls(std::span<const TierView> tiers, const GainModel& model) {
    NodeId most = kNoNode;
    for (const TierView& tier : tiers) most = std::max(most, tier.node);
    by_node_.resize(static_cast<std::size_t>(most) + 1);  // of none: 0
    for (std::uint32_t t = 0; t < tiers.size(); ++t)
      for (const bool written : {false, true})
        by_node_[static_cast<std::size_t>(tiers[t].node)][written] = {
            model.stall_ns_per_s(1, written, t), model.stall_ns_per_s(1, written, model.next(t))};
  }
  /// What is not where most of a region is, and of which no more is known, lies in the next tier.
  double of(const RegionView& region, double hits) const {
    const auto node = static_cast<std::size_t>(region.node);  // kNoNode is beyond all
    if (node >= by_node_.size()) return 0;
    auto [here, there] = by_node_[node][region.written];
    if (region.away == 0) return hits * here;
    const auto other = static_cast<std::size_t>(region.away_node);
    if (other < by_node_.size()) there = by_node_[other][region.written].here;
    const double away = static_cast<double>(region.away) / static_cast<double>(region.resident);
    return hits * (here + away * (there - here));
  }

 private:
  struct Ns {
    double here = 0, next = 0;
  };
  std::vector<std::array<Ns, 2>> by_node_;
};

/// In one pass over what there is: there may be 50 MiB of regions.
Load load_of(const Balance::Seen& seen, const Stalls& stalls) {
  Load load;
  load.hits.reserve(seen.regions.size());
  for (const RegionView& region : seen.regions) {
    const double hits = accesses_per_s(heat_of(region), region.resident);
    load.hits.push_back(static_cast<float>(hits));
    load.resident += region.resident;
    if (hits > 0 && seen.parts.empty()) load.stalls += stalls.of(region, hits);
  }
  for (const RegionView& part : seen.parts)
    if (const double hits = accesses_per_s(heat_of(part), part.resident); hits > 0)
      load.stalls += stalls.of(part, hits);
  return load;
}

/// What of a move the ledger is told.
Ledger::Of kind_of(const Move& move, const GainModel& model) {
  if (move.page_class == 0) return Ledger::Of::range;
  const bool rises = model.tier_of(move.to) < model.tier_of(move.from);
  return rises ? Ledger::Of::risen : Ledger::Of::fallen;
}

}  // namespace

void Balance::moved(const Move& move, const Came& came) {
  const NodeId from = source_of(move);
  const bool is_undone = move.reason == Reason::kPutBack;  // pages of any size, and no plan's cost
  const std::uint64_t pages = came.bytes / kPage;
  const std::uint64_t priced_ns = page_ns_ == 0 ? came.spent_ns : pages * page_ns_;
  const std::uint64_t spent_ns = is_undone ? 0 : priced_ns;
  if (!is_undone) costs_.add(from, move.to, move.leaf_shift > 12, pages, spent_ns);
  const double share =
      move.bytes == 0 ? 0 : static_cast<double>(came.bytes) / static_cast<double>(move.bytes);
  ledger_.moved({.start = move.start,
                 .length = move.length,
                 .bytes = came.bytes,
                 .from = from,
                 .to = move.to,
                 .promised = move.saved_ns_per_s * share,
                 .spent_ns = spent_ns,
                 .of = kind_of(move, model_),
                 .undoes = is_undone});
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

bool Balance::saw(const Seen& seen, std::span<const TierView> tiers, const Interval& interval) {
  const PolicyParams params{.interval_s = interval.seconds};
  const Load load = load_of(seen, {tiers, GainModel(tiers, params)});
  cpu_ = static_cast<double>(interval.cpu_ns) / interval.seconds;
  scale_ = conserving_scale(load.stalls);
  is_governed_ = interval.is_governed;
  is_stretched_ = interval.is_stretched;
  most_ = interval.horizon;
  page_ns_ = interval.page_ns;

  persistence_.saw(seen.regions, load.hits, load.resident, seen.parts);
  horizon_ = persistence_.stays().horizon(interval.horizon);
  exchange_horizon_ = persistence_.stands_out().horizon(interval.horizon);
  model_ = GainModel(tiers, params, measured());
  exchanges_.saw(seen.regions, persistence_.scale(), model_);
  ledger_.saw(seen.finest(), model_, {interval.seconds, horizon_, interval.profile_ns});
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

void Balance::conserve(Plan& plan) const {
  if (is_governed_) return;
  for (auto* const moves : {&plan.promotions, &plan.demotions})
    for (Move& move : *moves) move.saved_ns_per_s *= scale_;
}

bool Balance::planned(const Plan& plan) {
  exchanges_.planned(plan);
  advice_ = {.saves = plan.waiting_ns_per_s};
  for (const auto* const moves : {&plan.promotions, &plan.demotions})
    for (const Move& move : *moves) {
      advice_.saves += move.saved_ns_per_s;
      const auto from = model_.tier_of(source_of(move)), to = model_.tier_of(move.to);
      if (from && to) advice_.costs += model_.cost_ns(move.bytes, *from, *to, move.leaf_shift);
    }
  if (!is_governed_ || !knows()) {
    return std::exchange(effort_, {}).is_reduced();
  }
  return effort_.saw({.earns = advice_.saves * horizon_,
                      .takes = ledger_.profiling(),
                      .has_changed = persistence_.has_changed(),
                      .is_stretched = is_stretched_});
}

}  // namespace hmk::policy
