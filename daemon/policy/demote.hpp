// SPDX-License-Identifier: MIT
//
// Slow demotion (HK-39, A-13): who leaves a tier so that something hotter can
// enter, and where it goes. Used by plan.cpp; nothing leaves unless asked.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "policy/cut.hpp"
#include "policy/gain.hpp"
#include "policy/rank.hpp"
#include "policy/shares.hpp"
#include "policy/tier_order.hpp"

namespace hmk::policy {

/// How much of each region a plan has spoken for: a promoted region is taken whole, a victim from
/// its first_cut() on, over its end to where that was, and what is left of it is a victim still.
class Taken {
 public:
  Taken(const Histogram& histogram, std::uint64_t turn)
      : histogram_(&histogram), turn_(turn), pages_(histogram.id_limit(), 0) {}
  Bytes bytes(Histogram::Id id) const { return Bytes{pages_[id]} * kPage; }
  bool all(Histogram::Id id) const { return pages_[id] >= (*histogram_)[id].pages; }
  bool any(Histogram::Id id) const { return pages_[id] != 0; }
  void set(Histogram::Id id, Bytes bytes) {
    pages_[id] = static_cast<std::uint32_t>(bytes / kPage);
  }
  void set_all(Histogram::Id id) { pages_[id] = (*histogram_)[id].pages; }

  /// What comes next of a region that is not taken wholly: bytes [offset, end) of it.
  struct Left {
    Bytes offset, end;
  };
  Left left(Histogram::Id id) const {
    const Histogram::Entry& region = (*histogram_)[id];
    const Bytes first = first_cut(region, turn_), to_the_end = region.length() - first;
    if (bytes(id) < to_the_end) return {first + bytes(id), region.length()};
    return {bytes(id) - to_the_end, first};
  }

 private:
  const Histogram* histogram_;
  std::uint64_t turn_;
  std::vector<std::uint32_t> pages_;
};

/// The regions of one node in the order of demotes_before(). Walks each list at
/// most once per plan, and none before it is needed.
class VictimQueue {
 public:
  /// `index`: of the node in the histogram.
  VictimQueue(const Histogram& histogram, std::uint32_t index);

  /// The next victim of which `taken` leaves something, or nothing.
  std::optional<Histogram::Id> peek(const Taken& taken);
  /// Takes the one peek() returned off the queue.
  void pop() { list_.pop(); }
  /// Puts a popped one back.
  void push(Histogram::Id id) { list_.push(id); }

 private:
  const Histogram* histogram_;
  std::uint32_t index_;
  std::uint32_t next_bucket_ = 0;
  Shortlist list_;
};

/// What one process has on the nodes of its tiers, and how much of it a plan has spoken for.
struct Holder {
  /// `tiers`: nodes that the histogram knows; `places`: of each of them; `turn`: of first_cut().
  Holder(const Histogram& regions, std::span<const TierView> tiers,
         std::vector<std::uint32_t> places, std::uint64_t turn = 0);
  /// The node of its list at a place.
  std::optional<std::uint32_t> node_at(std::uint32_t place) const;
  /// Room on a node of its list, as far as the tier as a whole keeps its reserve.
  std::int64_t room_on(std::uint32_t node, const Room& room) const;

  const Histogram* histogram;
  TierOrder order;
  std::vector<std::uint32_t> places, columns;
  Taken taken;
  std::vector<VictimQueue> queues;
};

/// What a hotter region needs in one place.
struct RoomWanted {
  std::size_t owner = 0;             // of the region: index of its holder
  std::uint32_t place = 0;           // that must have room
  Bytes bytes = 0;                   // to enter it
  Bytes free = 0;                    // of these, into room that is there already
  Bytes from_others = kNoBound;      // of the rest, at most so much from other processes
  Bytes from_own = kNoBound;         // and from the region's own
  std::uint32_t source = 0;          // place they come from: partner of an exchange
  Bytes leaving_source = 0;          // bytes that leave it
  HotnessQ16 victim_below_q16 = 0;   // only regions with a smaller WHI may be victims
  Heat riser = {};                   // of what needs the room, and
  const GainModel* model = nullptr;  // who says whether it is surely hotter; none: it is
  Shares::Stage stage = Shares::Stage::kRemainder;
};

/// The demotions that make room, not yet part of a plan.
struct RoomMade {
  struct Victim {
    std::size_t owner;
    Histogram::Id id;
    std::uint32_t from, to;  // nodes of its owner's list
    Bytes before;            // of its region, taken before
    Bytes offset;            // of the piece in its region
    Bytes length;            // of the piece: no more than is needed
    Bytes leaves;            // bytes that leave the node, the region's pages taken as evenly spread
    Bytes arrives;           // bytes that arrive in the other, likewise
    bool exchange;
    bool by_share;  // for the weights, whatever its hotness
  };
  std::vector<Victim> victims;
  Bytes bytes = 0;       // that leave the place, all victims together
  Bytes exchanged = 0;   // that arrive in the source
  bool nowhere = false;  // a victim was cold enough but had nowhere to go
};

/// Finds victims until `wanted.bytes` fit and the reserve is whole again, or until no holder has
/// one that is cold enough or that the shares let go: the coldest of all first. Victims go to
/// their next lower tier with room, there to the nearest node that has it, and what leaves the
/// source is room there: an exchange. When there is none, pieces are exchanged, never more than
/// leaves the source. Changes `room`, `shares` and the holders as if all of it happened.
RoomMade make_room(std::span<Holder> holders, const RoomWanted& wanted, Room& room, Shares& shares);

/// Whether make_room() would find a first victim for a riser of any size.
bool has_victim(std::span<Holder> holders, const RoomWanted& wanted, const Shares& shares);

/// Takes back what make_room() did.
void undo_room(const RoomMade& made, std::span<Holder> holders, Room& room, Shares& shares);

}  // namespace hmk::policy
