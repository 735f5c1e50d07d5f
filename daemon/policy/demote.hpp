// SPDX-License-Identifier: MIT
//
// Slow demotion (HK-39, A-13): who leaves a tier so that something hotter can
// enter, and where it goes. Used by plan.cpp; nothing leaves unless asked.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "policy/rank.hpp"

namespace hmk::policy {

/// Bytes a tier could still take: free minus reserve, minus what the plan puts
/// there, plus what it takes away. Negative: eating into the reserve.
using Room = std::vector<std::int64_t>;  // by tier, fastest first

/// A region may be in a plan once: shared by promotions and demotions.
class Used {
 public:
  explicit Used(std::size_t ids) : used_(ids, false) {}
  bool test(Histogram::Id id) const { return used_[id]; }
  void set(Histogram::Id id) { used_[id] = true; }
  void clear(Histogram::Id id) { used_[id] = false; }

 private:
  std::vector<bool> used_;
};

/// The regions of one tier in the order of demotes_before(). Walks each list at
/// most once per plan, and none before it is needed.
class VictimQueue {
 public:
  VictimQueue(const Histogram& histogram, std::uint32_t tier);

  /// The next victim that `used` does not hold, or nothing.
  std::optional<Histogram::Id> peek(const Used& used);
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
  std::uint32_t tier;           // that must have room
  Bytes bytes;                  // to enter it
  std::uint32_t source_tier;    // where they come from: partner of an exchange
  Bytes leaving_source;         // bytes that surely leave the source tier
  HotnessQ16 victim_below_q16;  // only regions with a smaller WHI may be victims
};

/// The demotions that make room, not yet part of a plan.
struct RoomMade {
  struct Victim {
    Histogram::Id id;
    std::uint32_t to_tier;
    Bytes length;   // from the region's start; whole unless it was cut
    Bytes leaves;   // bytes that surely leave the tier
    Bytes arrives;  // bytes that arrive in the other at most
    bool exchange;
  };
  std::vector<Victim> victims;
  Bytes bytes = 0;       // that surely leave the tier, all victims together
  Bytes exchanged = 0;   // that arrive in the source tier at most
  bool nowhere = false;  // a victim was cold enough but had nowhere to go
};

/// Finds victims until `wanted.bytes` fit and the reserve is whole again, or
/// until no victim is cold enough. Victims go to the next lower tier with room;
/// when there is none, to the source tier, and then never more than leaves it.
/// Changes `room`, `queue` and `used` as if all of it happened.
RoomMade make_room(const Histogram& histogram, const RoomWanted& wanted, Room& room,
                   VictimQueue& queue, Used& used);

/// Takes back what make_room() did.
void undo_room(const RoomMade& made, std::uint32_t tier, Room& room, VictimQueue& queue,
               Used& used);

/// How much of a region is cut off for `want` bytes: aligned to its leaf,
/// counted from its start; the whole length when `want` reaches it, 0 when not
/// even one leaf fits.
Bytes cut_length(const Histogram::Entry& region, Bytes want);

/// The least number of bytes the first `cut` bytes of a region can hold when
/// `held` of its `length` bytes are somewhere in it.
Bytes at_least_in_cut(Bytes length, Bytes held, Bytes cut);

}  // namespace hmk::policy
