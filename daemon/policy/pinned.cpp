// SPDX-License-Identifier: MIT
#include "policy/pinned.hpp"

#include <algorithm>

namespace hmk::policy {
namespace {

constexpr auto kStage = Shares::Stage::kPinned;

/// To one node.
class Way {
 public:
  Way(std::span<Holder> holders, std::size_t owner, std::uint32_t from, std::uint32_t to,
      Room& room, Shares& shares)
      : holders_(holders), owner_(owner), from_(from), to_(to), room_(room), shares_(shares) {}

  /// The largest part that finds room, and its room; `part` becomes that part.
  std::optional<RoomMade> find(std::optional<Ledger::Displaced>& part) {
    while (part) {
      const Bytes growth = shares_.growth(owner_, place(to_), kStage);
      const auto room = std::max<std::int64_t>(holders_[owner_].room_on(to_, room_), 0);
      const Bytes free = std::min(static_cast<Bytes>(room), growth);
      RoomMade made;
      if (free < part->bytes)
        made = make_room(holders_, wanted(part->bytes, free, growth), room_, shares_);
      const Bytes have = free + made.bytes;
      if (have >= part->bytes) return made;
      undo_room(made, holders_, room_, shares_);
      part = first_part(*part, have);
    }
    return std::nullopt;
  }

  void take(const Ledger::Displaced& part, bool rises) {
    room_[place(to_)] -= static_cast<std::int64_t>(part.bytes);
    room_[place(from_)] += static_cast<std::int64_t>(part.bytes);
    shares_.moved(owner_, place(from_), part.bytes, place(to_), part.bytes);
    if (rises) shares_.spend(owner_, part.bytes, kStage);
  }

 private:
  std::size_t place(std::uint32_t node) const { return holders_[owner_].places[node]; }

  RoomWanted wanted(Bytes bytes, Bytes free, Bytes growth) const {
    return {.owner = owner_,
            .place = holders_[owner_].places[to_],
            .bytes = bytes,
            .free = free,
            .from_others = growth - free,
            .source = holders_[owner_].places[from_],
            .leaving_source = bytes,
            .victim_below_q16 = ~HotnessQ16{0},
            .stage = kStage};
  }

  std::span<Holder> holders_;
  std::size_t owner_;
  std::uint32_t from_, to_;
  Room& room_;
  Shares& shares_;
};

}  // namespace

std::optional<PinnedMove> move_pinned(std::span<Holder> holders, std::size_t owner,
                                      const Ledger::Displaced& what, Room& room, Shares& shares) {
  const TierOrder& order = holders[owner].order;
  const auto first = order.find(what.first), from = order.find(what.now);
  if (!first || !from || order.tier(*first) == order.tier(*from)) return std::nullopt;
  const bool rises = *first < *from;
  for (const std::uint32_t to : order.nearest(*from, order.first_of(*first))) {
    std::optional<Ledger::Displaced> part = what;
    Way way(holders, owner, *from, to, room, shares);
    auto made = way.find(part);
    if (!made) continue;
    way.take(*part, rises);
    return PinnedMove{*part, *from, to, *std::move(made), rises};
  }
  return std::nullopt;
}

}  // namespace hmk::policy
