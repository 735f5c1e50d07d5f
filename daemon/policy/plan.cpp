// SPDX-License-Identifier: MIT
#include "policy/plan.hpp"

#include <algorithm>
#include <optional>

#include "policy/demote.hpp"
#include "policy/gain.hpp"
#include "policy/rank.hpp"

namespace hmk::policy {
namespace {

using Id = Histogram::Id;
using Entry = Histogram::Entry;

// After so many candidates of one list in a row without a place, the rest of it is left alone.
constexpr std::uint32_t kMostMisses = 64;
// A tier that is nearly full takes part of a region only when the part is worth a move.
constexpr Bytes kWorthAMove = Bytes{2} << 20;

/// The tiers in the order of the histogram; one that nobody described has no room.
std::vector<TierView> in_order(const Histogram& histogram, std::span<const TierView> tiers) {
  std::vector<TierView> ordered(histogram.tiers());
  for (std::uint32_t t = 0; t < histogram.tiers(); ++t) {
    const auto tier = std::ranges::find(tiers, histogram.node(t), &TierView::node);
    if (tier != tiers.end()) ordered[t] = *tier;
  }
  return ordered;
}

class Planner {
 public:
  Planner(const Histogram& histogram, std::span<const TierView> tiers, const PolicyParams& params)
      : histogram_(histogram),
        params_(params),
        margin_q16_(std::uint64_t{histogram.width_q16()} * params.gain_margin),
        model_(tiers, params),
        taken_(histogram),
        left_(params.promote_limit) {
    for (std::uint32_t t = 0; t < histogram.tiers(); ++t) {
      queues_.emplace_back(histogram, t);
      room_.push_back(static_cast<std::int64_t>(tiers[t].free) -
                      static_cast<std::int64_t>(tiers[t].reserve));
    }
  }

  Plan run() {
    for (std::uint32_t bucket = histogram_.buckets(); bucket-- > 0 && !spent_;) take_bucket(bucket);
    return std::move(plan_);
  }

 private:
  enum class Outcome { kTaken, kNoGain, kNoRoom, kNoBudget };

  struct List {
    std::uint32_t column;
    Shortlist ids;
    std::uint32_t misses = 0;
  };

  /// A victim must be colder than this for something of `whi` to replace it.
  HotnessQ16 victim_below(std::uint64_t whi_q16) const {
    if (margin_q16_ == 0) return static_cast<HotnessQ16>(whi_q16);
    return whi_q16 < margin_q16_ ? 0 : static_cast<HotnessQ16>(whi_q16 - margin_q16_ + 1);
  }

  /// Tiers below this number are a promotion for the regions of a column.
  std::uint32_t destinations(std::uint32_t column) const {
    return std::max(histogram_.tier_of(column), 1u);
  }

  /// Whether any tier has room for, or something colder than, a region of this bucket.
  bool has_a_chance(std::uint32_t bucket, std::uint32_t column) {
    const std::uint64_t hottest = bucket + 1 < histogram_.buckets()
                                      ? histogram_.lower_edge_q16(bucket + 1) - 1
                                      : ~HotnessQ16{0};
    for (std::uint32_t to = 0; to < destinations(column); ++to) {
      if (room_[to] > 0) return true;
      const auto victim = queues_[to].peek(taken_);
      if (victim && histogram_[*victim].whi_q16 < victim_below(hottest)) return true;
    }
    return false;
  }

  void take_bucket(std::uint32_t bucket) {
    std::vector<List> lists;
    for (std::uint32_t column = 1; column < histogram_.columns(); ++column) {
      const std::uint32_t count = histogram_.count(bucket, column);
      if (count == 0) continue;
      if (!has_a_chance(bucket, column)) {
        plan_.no_gain += count;
        continue;
      }
      lists.push_back({column, Shortlist(histogram_, promotes_before)});
      lists.back().ids.add(bucket, column, [this](const Entry& e) { return may_rise(e); });
      lists.back().ids.seal();
    }
    // All tiers compete together (HK-32): the first of all lists goes first.
    while (!spent_) {
      List* first = nullptr;
      for (List& list : lists) {
        if (list.ids.empty() || list.misses >= kMostMisses) continue;
        if (!first || promotes_before(histogram_[list.ids.front()], histogram_[first->ids.front()]))
          first = &list;
      }
      if (!first) return;
      const Id id = first->ids.front();
      first->ids.pop();
      if (!taken_.any(id)) count(*first, promote(id, first->column));
    }
  }

  bool may_rise(const Entry& region) const {
    return !region.demote_only &&
           region.whi_q16 >= std::max<HotnessQ16>(params_.promote_at_least_q16, 1);
  }

  void count(List& list, Outcome outcome) {
    list.misses = outcome == Outcome::kTaken ? 0 : list.misses + 1;
    if (outcome == Outcome::kNoGain) ++plan_.no_gain;
    if (outcome == Outcome::kNoRoom) ++plan_.no_room;
    if (outcome == Outcome::kNoBudget) plan_.limit_reached = true;
    spent_ = plan_.limit_reached && left_ < kPage;
  }

  Outcome promote(Id id, std::uint32_t column) {
    Outcome outcome = Outcome::kNoGain;
    for (std::uint32_t to = 0; to < destinations(column); ++to) {
      const Outcome tried = promote_to(id, column, to);
      if (tried == Outcome::kTaken || tried == Outcome::kNoBudget) return tried;
      if (tried == Outcome::kNoRoom) outcome = tried;
    }
    return outcome;
  }

  Outcome promote_to(Id id, std::uint32_t column, std::uint32_t to) {
    const Entry& region = histogram_[id];
    const std::uint32_t from = histogram_.tier_of(column);
    const bool gathers = from == to;
    const Bytes all = gathers ? region.away() : region.resident();

    Bytes length = all <= left_ ? region.length() : cut_length(region, left_);
    if (length == 0) return Outcome::kNoBudget;
    const Bytes wanted = std::min(all, length);
    if (gain_ns(region, wanted, from, to) <= 0) return Outcome::kNoGain;

    const auto had = static_cast<Bytes>(std::max<std::int64_t>(room_[to], 0));
    RoomMade made;
    if (had < wanted) {
      made = make_room(histogram_,
                       {.tier = to,
                        .bytes = wanted,
                        .source_tier = from,
                        .leaving_source = gathers ? 0 : leaves_home(region, length),
                        .victim_below_q16 = victim_below(region.whi_q16),
                        .riser = {region.whi_q16, region.samples},
                        .model = &model_},
                       room_, queues_[to], taken_);
      if (had + made.bytes < wanted) length = cut_length(region, had + made.bytes);
    }
    const Bytes bytes = std::min(all, length);
    const bool worth = bytes >= wanted / 2 || bytes >= kWorthAMove;
    const bool pays = gain_ns(region, bytes, from, to) > loss_ns(made, to, bytes);
    if (length == 0 || !worth || !pays || made.exchanged > leaves_home(region, length)) {
      undo_room(made, to, room_, queues_[to], taken_);
      return made.nowhere ? Outcome::kNoRoom : Outcome::kNoGain;
    }

    taken_.set_all(id);
    room_[to] -= static_cast<std::int64_t>(bytes);
    if (!gathers) room_[from] += static_cast<std::int64_t>(leaves_home(region, length));
    left_ -= bytes;
    plan_.promoted += bytes;
    plan_.cut += length < region.length();
    const auto serves = static_cast<std::uint32_t>(plan_.promotions.size());
    plan_.promotions.push_back(
        move_of(region, length, bytes, from, to, gathers ? Reason::kGather : Reason::kHot, serves));
    for (const RoomMade::Victim& victim : made.victims) {
      plan_.demoted += victim.arrives;
      plan_.demotions.push_back(
          move_of(histogram_[victim.id], victim.length, victim.arrives, to, victim.to_tier,
                  victim.exchange ? Reason::kExchange : Reason::kMadeRoom, serves));
      plan_.demotions.back().start += victim.offset;
    }
    return Outcome::kTaken;
  }

  /// What is gathered comes from the next tier, or from further away.
  double gain_ns(const Entry& region, Bytes bytes, std::uint32_t from, std::uint32_t to) const {
    if (from == to) from = std::min(to + 1, histogram_.tiers() - 1);
    return model_.saved_ns(region.whi_q16, bytes, from, to) - model_.cost_ns(bytes, from, to);
  }

  /// What the victims lose and cost. Refilling the reserve is not charged to the promotion.
  double loss_ns(const RoomMade& made, std::uint32_t tier, Bytes promoted) const {
    double loss = 0;
    for (const RoomMade::Victim& victim : made.victims) {
      loss -= model_.saved_ns(histogram_[victim.id].whi_q16, victim.leaves, tier, victim.to_tier);
      loss += model_.cost_ns(victim.arrives, tier, victim.to_tier);
    }
    return made.bytes > promoted
               ? loss * static_cast<double>(promoted) / static_cast<double>(made.bytes)
               : loss;
  }

  static Bytes leaves_home(const Entry& region, Bytes length) {
    return at_least_in_cut(region.length(), region.home(), length);
  }

  Move move_of(const Entry& region, Bytes length, Bytes bytes, std::uint32_t from, std::uint32_t to,
               Reason reason, std::uint32_t serves) const {
    return {.process = region.process,
            .generation = region.generation,
            .start = region.start,
            .length = length,
            .bytes = bytes,
            .from = histogram_.node(from),
            .to = histogram_.node(to),
            .reason = reason,
            .whi_q16 = region.whi_q16,
            .serves = serves};
  }

  const Histogram& histogram_;
  const PolicyParams& params_;
  std::uint64_t margin_q16_;
  GainModel model_;
  Room room_;
  std::vector<VictimQueue> queues_;  // by tier
  Taken taken_;
  Bytes left_;  // of promote_limit
  bool spent_ = false;
  Plan plan_;
};

}  // namespace

Plan make_plan(const Histogram& histogram, std::span<const TierView> tiers,
               const PolicyParams& params) {
  return Planner(histogram, in_order(histogram, tiers), params).run();
}

Plan make_plan(std::span<const RegionView> regions, std::span<const TierView> tiers,
               const PolicyParams& params) {
  std::vector<NodeId> nodes;
  for (const TierView& tier : tiers) nodes.push_back(tier.node);
  Histogram histogram({.buckets = params.buckets, .num_scans = params.num_scans}, nodes);
  histogram.reserve(regions.size());
  for (const RegionView& region : regions) histogram.insert(0, region);
  return make_plan(histogram, tiers, params);
}

}  // namespace hmk::policy
