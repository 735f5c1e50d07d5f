// SPDX-License-Identifier: MIT
#include "policy/put_back.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "policy/tier_order.hpp"
#include "policy/wanted.hpp"

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
          .leaf_shift = kLargestLeaf,
          .served = kOurs};
}

/// All pages of a class.
Move back_move(const RegionView& part, NodeId first) {
  return {.process = kOurs,
          .generation = part.generation,
          .start = part.start,
          .length = part.length,
          .bytes = part.resident,
          .page_class = part.page_class,
          .from = part.node,
          .to = first,
          .reason = Reason::kPutBack,
          .leaf_shift = part.leaf_shift,
          .served = kOurs};
}

using Parts = std::span<const RegionView>;

/// Where in `parts` those of a region begin that is told by classes: of each that an extent meets.
std::vector<std::size_t> mixed_in(Parts parts, const Ledger::Displaced& extent) {
  const auto end_of = [](const RegionView& part) { return part.start + part.length; };
  std::vector<std::size_t> mixed;
  for (auto at = std::ranges::upper_bound(parts, extent.start, {}, end_of);
       at != parts.end() && at->start < extent.start + extent.length; ++at)
    if (at->page_class != 0 && (mixed.empty() || parts[mixed.back()].start != at->start))
      mixed.push_back(static_cast<std::size_t>(at - parts.begin()));
  return mixed;
}

/// Bytes of a region's classes that are to go back: by where those begin, from and to.
using Back = std::map<std::tuple<std::size_t, NodeId, NodeId>, Bytes>;

/// Classes on one node of a region, in the order in which they go back: those that are nearest to
/// what `bytes` of them were. None twice.
std::vector<Move> classes_back(Parts parts, const TierOrder& order, const Back& back) {
  std::vector<Move> moves;
  std::vector<bool> is_taken(parts.size());
  for (const auto& [way, bytes] : back) {
    const auto [at, now, first] = way;
    std::vector<std::size_t> there;  // the hottest first
    for (std::size_t p = at; p < parts.size() && parts[p].start == parts[at].start; ++p)
      if (parts[p].node == now && !is_taken[p]) there.push_back(p);
    if (*order.find(first) < *order.find(now)) std::ranges::reverse(there);
    Bytes left = bytes;
    for (const std::size_t p : there) {
      if (left < std::max(parts[p].resident / 2, kPage)) break;
      is_taken[p] = true;
      moves.push_back(back_move(parts[p], first));
      left -= std::min(left, parts[p].resident);
    }
  }
  return moves;
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

Plan put_back(std::span<const Ledger::Displaced> displaced, std::span<const TierView> tiers,
              std::span<const RegionView> parts) {
  const TierOrder order(tiers);
  std::vector<Move> moves;
  Back back;
  for (const Ledger::Displaced& extent : displaced) {
    const auto first = order.find(extent.first), now = order.find(extent.now);
    if (!first || !now || order.tier(*first) == order.tier(*now) || extent.bytes == 0) continue;
    const std::vector<std::size_t> mixed = mixed_in(parts, extent);
    if (mixed.empty() && extent.of == Ledger::Of::range) moves.push_back(back_move(extent));
    for (const std::size_t at : mixed)
      back[{at, extent.now, extent.first}] += extent.bytes / mixed.size();
  }
  std::ranges::copy(classes_back(parts, order, back), std::back_inserter(moves));
  Plan plan;
  for (const Move& move : moves) {
    const bool rises = *order.find(move.to) < *order.find(move.from);
    (rises ? plan.promotions : plan.demotions).push_back(move);
    (rises ? plan.promoted : plan.demoted) += move.bytes;
  }
  serve(plan);
  return plan;
}

}  // namespace hmk::policy
