// SPDX-License-Identifier: MIT
#include "policy/demote.hpp"

#include <algorithm>
#include <ranges>

#include "policy/rank.hpp"

namespace hmk::policy {
namespace {

std::int64_t as_signed(Bytes bytes) {
  return static_cast<std::int64_t>(bytes);
}

// A pile of regions that fit nowhere or are hardly colder must not be searched for every candidate.
constexpr std::size_t kMostPassedOver = 16;

/// As much of what is left of the region as holds `need` bytes of its tier: to the next leaf,
/// or to the one before where that were more than `at_most`.
RoomMade::Victim way_for(Histogram::Id id, const Histogram::Entry& region, const Taken::Left& left,
                         Bytes need, Bytes at_most) {
  const Bytes length = region.length(), leaf = Bytes{1} << region.leaf_shift;
  const Bytes offset = left.offset;
  need = std::min(need, at_most);
  Bytes end = left.end;
  const Bytes until = expected_before(length, region.home(), offset) + need;
  if (until < region.home()) {
    const Bytes holds = offset_after(length, region.home(), until);
    end = std::min(end, ((region.start + holds + leaf - 1) & ~(leaf - 1)) - region.start);
  }
  Bytes leaves = expected_in_piece(length, region.home(), offset, end);
  if (leaves > at_most) {
    const Bytes before = (region.start + end - 1) & ~(leaf - 1);
    end = std::max(before, region.start + offset) - region.start;
    leaves = expected_in_piece(length, region.home(), offset, end);
  }
  RoomMade::Victim way{};
  way.id = id;
  way.offset = offset;
  way.length = end - offset;
  way.leaves = leaves;
  way.arrives = std::max(leaves, expected_in_piece(length, region.resident(), offset, end));
  return way;
}

}  // namespace

VictimQueue::VictimQueue(const Histogram& histogram, std::uint32_t index)
    : histogram_(&histogram), index_(index), list_(histogram, demotes_before) {}

std::optional<Histogram::Id> VictimQueue::peek(const Taken& taken) {
  for (;;) {
    while (list_.empty() && next_bucket_ < histogram_->buckets()) {
      list_ = Shortlist(*histogram_, demotes_before);
      const auto any = [](Histogram::Id) { return true; };
      list_.add(next_bucket_, index_, any);
      list_.add(next_bucket_, histogram_->away_column(index_), any);
      list_.seal();
      ++next_bucket_;
    }
    if (list_.empty()) return std::nullopt;
    if (!taken.all(list_.front())) return list_.front();
    list_.pop();
  }
}

Holder::Holder(const Histogram& regions, std::span<const TierView> tiers,
               std::vector<std::uint32_t> at, std::uint64_t turn)
    : histogram(&regions), order(tiers), places(std::move(at)), taken(regions, turn) {
  for (const TierView& tier : tiers) {
    std::uint32_t column = 0;
    while (regions.node(column) != tier.node) ++column;
    columns.push_back(column);
    queues.emplace_back(regions, column);
  }
}

std::optional<std::uint32_t> Holder::node_at(std::uint32_t place) const {
  const auto at = std::ranges::find(places, place);
  if (at == places.end()) return std::nullopt;
  return static_cast<std::uint32_t>(at - places.begin());
}

std::int64_t Holder::room_on(std::uint32_t node, const Room& room) const {
  std::int64_t of_tier = 0;
  for (std::uint32_t n = order.first_of(node); n < order.end_of(node); ++n)
    of_tier += room[places[n]];
  return std::min(room[places[node]], of_tier);
}

namespace {

/// The first victim of one holder, and what the shares say about it.
struct Next {
  std::size_t owner;
  std::uint32_t node;
  Histogram::Id id;
  Claim claim;
};

HotnessQ16 below_q16(const Claim& claim, HotnessQ16 colder_than, const Histogram& histogram) {
  if (claim.of == Claim::Of::kAny) return ~HotnessQ16{0};
  if (claim.of == Claim::Of::kIdle) return std::min(colder_than, histogram.lower_edge_q16(1));
  return colder_than;
}

/// The coldest that any holder has to give; of other processes at most `from_others`.
std::optional<Next> coldest(std::span<Holder> holders, const RoomWanted& wanted,
                            const Shares& shares, Bytes from_others) {
  std::optional<Next> first;
  for (std::size_t owner = 0; owner < holders.size(); ++owner) {
    const auto node = holders[owner].node_at(wanted.place);
    if (!node) continue;
    const Histogram& histogram = *holders[owner].histogram;
    Claim claim = shares.claim(wanted.owner, owner, wanted.place, wanted.stage);
    claim.at_most = std::min(claim.at_most,
                             shares.are_one(owner, wanted.owner) ? wanted.from_own : from_others);
    if (claim.at_most < kPage) continue;
    const auto id = holders[owner].queues[*node].peek(holders[owner].taken);
    if (!id || histogram[*id].whi_q16 >= below_q16(claim, wanted.victim_below_q16, histogram))
      continue;
    if (first && !demotes_before(histogram[*id], (*holders[first->owner].histogram)[first->id]))
      continue;
    first = Next{owner, *node, *id, claim};
  }
  return first;
}

/// The search for one promotion's room.
class RoomMaker {
 public:
  RoomMaker(std::span<Holder> holders, const RoomWanted& wanted, Room& room, Shares& shares)
      : holders_(holders),
        wanted_(wanted),
        room_(room),
        shares_(shares),
        from_others_(wanted.from_others) {}

  RoomMade run() {
    while (lacking() > 0 && passed_over_.size() < kMostPassedOver) {
      const auto next = coldest(holders_, wanted_, shares_, from_others_);
      if (!next) break;
      take(*next);
    }
    for (const auto& [owner, node, id] : passed_over_) holders_[owner].queues[node].push(id);
    return std::move(made_);
  }

 private:
  struct PassedOver {  // no way out for this candidate, perhaps for the next
    std::size_t owner;
    std::uint32_t node;
    Histogram::Id id;
  };

  /// What the promotion and, with the reserve, the place still lack.
  Bytes lacking() const {
    return std::max(for_promotion(), static_cast<Bytes>(std::max<std::int64_t>(
                                         as_signed(wanted_.bytes) - room_[wanted_.place], 0)));
  }
  Bytes for_promotion() const {
    const Bytes have = wanted_.free + made_.bytes;
    return wanted_.bytes > have ? wanted_.bytes - have : 0;
  }

  void take(const Next& next) {
    Holder& holder = holders_[next.owner];
    holder.queues[next.node].pop();
    const Histogram::Entry& region = (*holder.histogram)[next.id];
    const bool by_share = next.claim.of == Claim::Of::kAny;
    if (!by_share && wanted_.model &&
        !wanted_.model->is_surely_hotter(wanted_.riser, region.heat())) {
      passed_over_.push_back({next.owner, next.node, next.id});
      return;
    }
    const Taken::Left left = holder.taken.left(next.id);
    const Bytes at_most = next.claim.at_most;
    RoomMade::Victim way = way_for(next.id, region, left, lacking(), at_most);
    if (way.leaves == 0) {
      if (at_most >= lacking())  // this holds nothing of this tier
        add_taken(next.owner, next.node, next.id, left.end - left.offset);
      else
        passed_over_.push_back({next.owner, next.node, next.id});
      return;
    }
    bool found = next_lower(next, way);
    if (!found) {
      // Everything below is full: swap with the source, which then gets no more than leaves it.
      // Only the promotion gets its room that way, not the reserve.
      way = way_for(next.id, region, left, std::min(for_promotion(), left_behind()), at_most);
      found = for_promotion() > 0 && swaps(next, way);
    }
    if (!found || way.leaves == 0) {
      made_.nowhere = true;
      passed_over_.push_back({next.owner, next.node, next.id});
      return;
    }
    way.owner = next.owner;
    way.from = next.node;
    way.by_share = by_share;
    way.before = holder.taken.bytes(next.id);
    add(way);
  }

  /// Bytes that leave the source for good, for the owner of the promotion.
  Bytes left_behind() const { return wanted_.leaving_source - made_.exchanged; }

  bool next_lower(const Next& next, RoomMade::Victim& way) const {
    const Holder& holder = holders_[next.owner];
    for (const std::uint32_t to : holder.order.below(next.node)) {
      if (!holder.order.may_take(to, holder.histogram->away_node(next.id))) continue;
      way.to = to;
      const std::uint32_t place = holder.places[to];
      const auto takes = [&](std::int64_t leaves) {
        return holder.room_on(to, room_) + leaves >= as_signed(way.arrives) &&
               shares_.may_hold(next.owner, place, way.arrives,
                                shares_.are_one(next.owner, wanted_.owner) ? leaves : 0);
      };
      // What the promotion leaves behind in its own tier is room there.
      way.exchange = !takes(0);
      if (!way.exchange || (place == wanted_.source && takes(as_signed(left_behind()))))
        return true;
    }
    return false;
  }

  /// Only downwards, which for another process need not be where the promotion comes from.
  bool swaps(const Next& next, RoomMade::Victim& way) const {
    const Holder& holder = holders_[next.owner];
    const auto to = holder.node_at(wanted_.source);
    if (!to || holder.order.tier(*to) <= holder.order.tier(next.node) ||
        !holder.order.may_take(*to, holder.histogram->away_node(next.id)) ||
        way.arrives > left_behind() ||
        !shares_.may_hold(
            next.owner, wanted_.source, way.arrives,
            shares_.are_one(next.owner, wanted_.owner) ? as_signed(left_behind()) : 0))
      return false;
    way.to = *to;
    way.exchange = true;
    return true;
  }

  void add_taken(std::size_t owner, std::uint32_t node, Histogram::Id id, Bytes length) {
    Holder& holder = holders_[owner];
    holder.taken.set(id, holder.taken.bytes(id) + length);
    if (!holder.taken.all(id)) holder.queues[node].push(id);
  }

  void add(const RoomMade::Victim& way) {
    const Holder& holder = holders_[way.owner];
    const std::uint32_t to = holder.places[way.to];
    add_taken(way.owner, way.from, way.id, way.length);
    room_[wanted_.place] += as_signed(way.leaves);
    room_[to] -= as_signed(way.arrives);
    shares_.moved(way.owner, wanted_.place, way.leaves, to, way.arrives);
    if (!shares_.are_one(way.owner, wanted_.owner))
      from_others_ -= std::min(from_others_, way.leaves);
    made_.bytes += way.leaves;
    if (way.exchange) made_.exchanged += way.arrives;
    made_.victims.push_back(way);
  }

  std::span<Holder> holders_;
  const RoomWanted& wanted_;
  Room& room_;
  Shares& shares_;
  Bytes from_others_;
  RoomMade made_;
  std::vector<PassedOver> passed_over_;
};

}  // namespace

RoomMade make_room(std::span<Holder> holders, const RoomWanted& wanted, Room& room,
                   Shares& shares) {
  return RoomMaker(holders, wanted, room, shares).run();
}

bool has_victim(std::span<Holder> holders, const RoomWanted& wanted, const Shares& shares) {
  return coldest(holders, wanted, shares, wanted.from_others).has_value();
}

void undo_room(const RoomMade& made, std::span<Holder> holders, Room& room, Shares& shares) {
  for (auto last = made.victims.rbegin(); last != made.victims.rend(); ++last) {
    const RoomMade::Victim& victim = *last;
    Holder& holder = holders[victim.owner];
    const std::uint32_t from = holder.places[victim.from], to = holder.places[victim.to];
    if (holder.taken.all(victim.id)) holder.queues[victim.from].push(victim.id);
    holder.taken.set(victim.id, victim.before);
    room[from] -= as_signed(victim.leaves);
    room[to] += as_signed(victim.arrives);
    shares.undo(victim.owner, from, victim.leaves, to, victim.arrives);
  }
}

}  // namespace hmk::policy
