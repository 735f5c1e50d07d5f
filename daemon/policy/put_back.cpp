// SPDX-License-Identifier: MIT
#include "policy/put_back.hpp"

#include <algorithm>
#include <vector>

#include "policy/tier_order.hpp"

namespace hmk::policy {
namespace {

constexpr ProcessId kOurs = 0, kAnother = 1;

Move back_move(const Ledger::Displaced& extent) {
  return {.process = kOurs,
          .start = extent.start,
          .length = extent.length,
          .bytes = extent.bytes,
          .from = extent.now,
          .to = extent.first,
          .reason = Reason::kPutBack,
          .served = kOurs};
}

/// Which promotion each demotion makes room for, in bytes one after the other.
void serve(Plan& plan) {
  std::uint32_t up = 0;
  Bytes down_bytes = 0;
  Bytes up_bytes = plan.promotions.empty() ? 0 : plan.promotions.front().bytes;
  for (Move& down : plan.demotions) {
    for (; down_bytes >= up_bytes && up + 1 < plan.promotions.size(); ++up)
      up_bytes += plan.promotions[up + 1].bytes;
    down.serves = up;
    down_bytes += down.bytes;
    // With nothing to go up the room is for others, and nobody waits for it.
    if (plan.promotions.empty()) down.served = kAnother;
  }
  for (up = 0; up < plan.promotions.size(); ++up) plan.promotions[up].serves = up;
}

}  // namespace

Plan put_back(std::span<const Ledger::Displaced> displaced, std::span<const TierView> tiers) {
  const TierOrder order(tiers);
  Plan plan;
  for (const Ledger::Displaced& extent : displaced) {
    const auto first = order.find(extent.first), now = order.find(extent.now);
    if (!first || !now || order.tier(*first) == order.tier(*now) || extent.bytes == 0) continue;
    const bool rises = *first < *now;
    (rises ? plan.promotions : plan.demotions).push_back(back_move(extent));
    (rises ? plan.promoted : plan.demoted) += extent.bytes;
  }
  serve(plan);
  return plan;
}

}  // namespace hmk::policy
