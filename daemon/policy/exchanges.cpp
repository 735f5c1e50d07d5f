// SPDX-License-Identifier: MIT
#include "policy/exchanges.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace hmk::policy {

void Exchanges::planned(const Plan& plan) {
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  sides_.clear();
  promised_.clear();
  std::vector<std::size_t> exchange_of(plan.promotions.size(), kNone);
  const auto add = [&](const Move& move, std::size_t exchange) {
    promised_[exchange] += move.saved_ns_per_s;
    sides_.push_back({move.start, move.bytes, move.from, move.to, exchange});
  };
  for (const Move& move : plan.demotions) {
    const bool is_exchange = move.reason == Reason::kExchange || move.reason == Reason::kMadeRoom;
    if (!is_exchange || move.page_class != 0 || move.served != move.process ||
        move.serves >= plan.promotions.size())
      continue;
    const Move& riser = plan.promotions[move.serves];
    if (riser.page_class != 0 || riser.reason != Reason::kHot) continue;
    std::size_t& exchange = exchange_of[move.serves];
    if (exchange == kNone) {
      if (promised_.size() == kMost) continue;
      exchange = promised_.size();
      promised_.push_back(0);
      add(riser, exchange);
    }
    add(move, exchange);
  }
}

void Exchanges::saw(std::span<const RegionView> regions, const RateScale& scale,
                    const GainModel& model) {
  std::vector<std::optional<double>> now(promised_.size(), 0);
  for (const Side& side : sides_) {
    const RegionView* region = region_at(regions, side.start);
    const auto from = model.tier_of(side.from), to = model.tier_of(side.to);
    std::optional<double>& saves = now[side.exchange];
    if (region == nullptr || region->stale || !from || !to) saves.reset();
    if (saves) *saves += model.saved_ns_per_s(scale.last_heat_of(*region), side.bytes, *from, *to);
  }
  double kept = 0, all = 0;
  for (std::size_t exchange = 0; exchange < now.size(); ++exchange) {
    if (!now[exchange] || promised_[exchange] <= 0) continue;
    kept += std::clamp(*now[exchange] / promised_[exchange], -1.0, 1.0);
    ++all;
  }
  if (all > 0) kept_ += (kept / all - kept_) * all / (all + kMemory);
  sides_.clear();
  promised_.clear();
}

double Exchanges::deviations() const {
  const double lacking = std::clamp(1 - kept_ / kEnough, 0.0, 1.0);
  return kDeviations + lacking * (kMostDeviations - kDeviations);
}

}  // namespace hmk::policy
