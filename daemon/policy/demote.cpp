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

using Wide = unsigned __int128;

/// Bytes before `offset`, in whole pages.
Bytes expected_before(Bytes length, Bytes held, Bytes offset) {
  return static_cast<Bytes>(Wide{held} * offset / length) & ~(kPage - 1);
}

/// As much of what is left of the region as holds `need` bytes of its tier, to the next leaf.
RoomMade::Victim way_for(Histogram::Id id, const Histogram::Entry& region, Bytes offset,
                         Bytes need) {
  Bytes end = region.length();
  const Bytes until = expected_before(end, region.home(), offset) + need;
  if (until < region.home()) {
    const Bytes leaf = Bytes{1} << region.leaf_shift;
    const auto holds = static_cast<Bytes>((Wide{until} * end + region.home() - 1) / region.home());
    end = std::min(end, ((region.start + holds + leaf - 1) & ~(leaf - 1)) - region.start);
  }
  const Bytes leaves = expected_in_piece(region.length(), region.home(), offset, end);
  return {.id = id,
          .to_tier = 0,
          .offset = offset,
          .length = end - offset,
          .leaves = leaves,
          .arrives =
              std::max(leaves, expected_in_piece(region.length(), region.resident(), offset, end)),
          .exchange = false};
}

}  // namespace

Bytes cut_length(const Histogram::Entry& region, Bytes want) {
  if (want >= region.length()) return region.length();
  const std::uint64_t leaf = std::uint64_t{1} << region.leaf_shift;
  const std::uint64_t end = (region.start + want) & ~(leaf - 1);
  return end > region.start ? end - region.start : 0;
}

Bytes at_least_in_cut(Bytes length, Bytes held, Bytes cut) {
  if (cut >= length) return held;
  const Bytes elsewhere = length - cut;
  return held > elsewhere ? held - elsewhere : 0;
}

Bytes expected_in_piece(Bytes length, Bytes held, Bytes begin, Bytes end) {
  return expected_before(length, held, end) - expected_before(length, held, begin);
}

VictimQueue::VictimQueue(const Histogram& histogram, std::uint32_t tier)
    : histogram_(&histogram), tier_(tier), list_(histogram, demotes_before) {}

std::optional<Histogram::Id> VictimQueue::peek(const Taken& taken) {
  for (;;) {
    while (list_.empty() && next_bucket_ < histogram_->buckets()) {
      list_ = Shortlist(*histogram_, demotes_before);
      const auto any = [](const Histogram::Entry&) { return true; };
      list_.add(next_bucket_, tier_, any);
      if (tier_ == 0) list_.add(next_bucket_, histogram_->away_column(), any);
      list_.seal();
      ++next_bucket_;
    }
    if (list_.empty()) return std::nullopt;
    if (!taken.all(list_.front())) return list_.front();
    list_.pop();
  }
}

RoomMade make_room(const Histogram& histogram, const RoomWanted& wanted, Room& room,
                   VictimQueue& queue, Taken& taken) {
  RoomMade made;
  const std::uint32_t tier = wanted.tier;
  const auto had = static_cast<Bytes>(std::max<std::int64_t>(room[tier], 0));
  std::vector<Histogram::Id> passed_over;  // no way out for this candidate, perhaps for the next

  while (room[tier] < as_signed(wanted.bytes) && passed_over.size() < kMostPassedOver) {
    const auto id = queue.peek(taken);
    if (!id || histogram[*id].whi_q16 >= wanted.victim_below_q16) break;
    queue.pop();

    const Histogram::Entry& region = histogram[*id];
    if (wanted.model &&
        !wanted.model->is_surely_hotter(wanted.riser, {region.whi_q16, region.samples})) {
      passed_over.push_back(*id);
      continue;
    }
    RoomMade::Victim way = way_for(*id, region, taken.bytes(*id),
                                   static_cast<Bytes>(as_signed(wanted.bytes) - room[tier]));
    if (way.leaves == 0) {  // what is left of it holds nothing of this tier
      taken.set_all(*id);
      continue;
    }
    // What the promotion leaves behind in its own tier is room there.
    const Bytes left_behind = wanted.leaving_source - made.exchanged;
    const auto takes = [&](std::uint32_t to) {
      const Bytes more = to == wanted.source_tier ? left_behind : 0;
      return room[to] + as_signed(more) >= as_signed(way.arrives);
    };
    way.to_tier = tier + 1;
    while (way.to_tier < histogram.tiers() && !takes(way.to_tier)) ++way.to_tier;
    bool found = way.to_tier < histogram.tiers();
    way.exchange = found && room[way.to_tier] < as_signed(way.arrives);
    if (!found) {
      // Everything below is full: swap with the source, which then gets no more than leaves it.
      // Only the promotion gets its room that way, not the reserve.
      const Bytes have = had + made.bytes;
      const Bytes lacks = wanted.bytes > have ? wanted.bytes - have : 0;
      way = way_for(*id, region, taken.bytes(*id), std::min(lacks, left_behind));
      way.to_tier = wanted.source_tier;
      way.exchange = true;
      found = lacks > 0 && way.arrives <= left_behind;
    }
    if (!found || way.leaves == 0) {
      made.nowhere = true;
      passed_over.push_back(*id);
      continue;
    }
    taken.set(*id, way.offset + way.length);
    if (!taken.all(*id)) queue.push(*id);
    room[tier] += as_signed(way.leaves);
    room[way.to_tier] -= as_signed(way.arrives);
    made.bytes += way.leaves;
    if (way.exchange) made.exchanged += way.arrives;
    made.victims.push_back(way);
  }
  for (const Histogram::Id id : passed_over) queue.push(id);
  return made;
}

void undo_room(const RoomMade& made, std::uint32_t tier, Room& room, VictimQueue& queue,
               Taken& taken) {
  for (const RoomMade::Victim& victim : std::views::reverse(made.victims)) {
    if (taken.all(victim.id)) queue.push(victim.id);
    taken.set(victim.id, victim.offset);
    room[tier] -= as_signed(victim.leaves);
    room[victim.to_tier] += as_signed(victim.arrives);
  }
}

}  // namespace hmk::policy
