// SPDX-License-Identifier: MIT
//
// Slow demotion (HK-39, A-13): who leaves a tier so that something hotter can
// enter, and where it goes. Used by plan.cpp; nothing leaves unless asked.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "policy/gain.hpp"
#include "policy/rank.hpp"

namespace hmk::policy {

/// Bytes a tier could still take: free minus reserve, minus what the plan puts
/// there, plus what it takes away. Negative: eating into the reserve.
using Room = std::vector<std::int64_t>;  // by tier, fastest first

/// How much of each region a plan has spoken for: a promoted region is taken whole, a victim from
/// its start on, and what is left of it is a victim still.
class Taken {
 public:
  explicit Taken(const Histogram& histogram)
      : histogram_(&histogram), pages_(histogram.id_limit(), 0) {}
  Bytes bytes(Histogram::Id id) const { return Bytes{pages_[id]} * kPage; }
  bool all(Histogram::Id id) const { return pages_[id] >= (*histogram_)[id].pages; }
  bool any(Histogram::Id id) const { return pages_[id] != 0; }
  void set(Histogram::Id id, Bytes bytes) {
    pages_[id] = static_cast<std::uint32_t>(bytes / kPage);
  }
  void set_all(Histogram::Id id) { pages_[id] = (*histogram_)[id].pages; }

 private:
  const Histogram* histogram_;
  std::vector<std::uint32_t> pages_;
};

/// The regions of one tier in the order of demotes_before(). Walks each list at
/// most once per plan, and none before it is needed.
class VictimQueue {
 public:
  VictimQueue(const Histogram& histogram, std::uint32_t tier);

  /// The next victim of which `taken` leaves something, or nothing.
  std::optional<Histogram::Id> peek(const Taken& taken);
  /// Takes the one peek() returned off the queue.
  void pop() { list_.pop(); }
  /// Puts a popped one back.
  void push(Histogram::Id id) { list_.push(id); }

 private:
  const Histogram* histogram_;
  std::uint32_t tier_;
  std::uint32_t next_bucket_ = 0;
  Shortlist list_;
};

/// What a hotter region needs in one tier.
struct RoomWanted {
  std::uint32_t tier;                // that must have room
  Bytes bytes;                       // to enter it
  std::uint32_t source_tier;         // where they come from: partner of an exchange
  Bytes leaving_source;              // bytes that leave the source tier
  HotnessQ16 victim_below_q16;       // only regions with a smaller WHI may be victims
  Heat riser = {};                   // of what needs the room, and
  const GainModel* model = nullptr;  // who says whether it is surely hotter; none: it is
};

/// The demotions that make room, not yet part of a plan.
struct RoomMade {
  struct Victim {
    Histogram::Id id;
    std::uint32_t to_tier;
    Bytes offset;   // of the piece in its region
    Bytes length;   // of the piece: no more than is needed
    Bytes leaves;   // bytes that leave the tier, the region's pages taken as evenly spread
    Bytes arrives;  // bytes that arrive in the other, likewise
    bool exchange;
  };
  std::vector<Victim> victims;
  Bytes bytes = 0;       // that leave the tier, all victims together
  Bytes exchanged = 0;   // that arrive in the source tier
  bool nowhere = false;  // a victim was cold enough but had nowhere to go
};

/// Finds victims until `wanted.bytes` fit and the reserve is whole again, or
/// until no victim is cold enough. Victims go to the next lower tier with room, and
/// what leaves the source tier is room there: an exchange. When there is none, pieces
/// are exchanged, never more than leaves the source tier.
/// Changes `room`, `queue` and `taken` as if all of it happened.
RoomMade make_room(const Histogram& histogram, const RoomWanted& wanted, Room& room,
                   VictimQueue& queue, Taken& taken);

/// Takes back what make_room() did.
void undo_room(const RoomMade& made, std::uint32_t tier, Room& room, VictimQueue& queue,
               Taken& taken);

/// How much of a region is cut off for `want` bytes: aligned to its leaf,
/// counted from its start; the whole length when `want` reaches it, 0 when not
/// even one leaf fits.
Bytes cut_length(const Histogram::Entry& region, Bytes want);

/// The least number of bytes the first `cut` bytes of a region can hold when
/// `held` of its `length` bytes are somewhere in it.
Bytes at_least_in_cut(Bytes length, Bytes held, Bytes cut);

/// The bytes [begin, end) of a region holds when its `held` bytes lie evenly over `length`: whole
/// pages, and the pieces of a region add up to all of it.
Bytes expected_in_piece(Bytes length, Bytes held, Bytes begin, Bytes end);

}  // namespace hmk::policy
