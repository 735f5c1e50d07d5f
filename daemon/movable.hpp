// SPDX-License-Identifier: MIT
//
// Which memory of a process may move now. Not what is in flight, was refused or moves to and fro,
// waits to be read page by page, may be cold for all that is known, or is of a kind that mostly
// refuses.
//
//   movable.saw(snapshot, parts);             an interval has ended
//   movable.mark(views, tiers, nullptr);      RegionView::movable of each
//   movable.apart()                           what of these regions is not to move all the same
#pragma once

#include <linux/hmk.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "device/device.hpp"
#include "first_looks.hpp"
#include "metrics/counters.hpp"
#include "mover/kinds.hpp"
#include "mover/mover.hpp"
#include "policy/types.hpp"
#include "policy/wanted.hpp"
#include "topology/tiers.hpp"

namespace hmk {

class Movable {
 public:
  /// Bytes that stay, and why, by node.
  using Stayed = std::map<int, StayedCounters>;

  explicit Movable(const Mover& mover) : mover_(mover) {}

  /// The last interval, and the classes of its regions where they are told apart, else nothing.
  /// Both must live until the next one.
  void saw(const Snapshot& snapshot, std::span<const hmk_record> parts);

  /// Of a region or a class of it: nothing of it is in flight or left alone for a while.
  bool may_move(const hmk_record& record) const;
  /// What the program says of a piece that waits to be read page by page need not be read first.
  bool may_move_unread(const policy::RegionView& piece) const;

  /// Sets RegionView::movable of the views of its parts, or of its regions where there are none.
  /// Where what stays is asked for, it is added.
  void mark(std::span<policy::RegionView> views, const std::vector<Tier>& tiers, Stayed* stayed);
  /// As of the last mark(): parts of regions that are left alone, in address order and disjoint.
  const std::vector<policy::Wanted>& apart() const { return apart_; }

  /// A move has ended. The kind of its memory (HMK_KIND_*) where that turns out to mostly refuse.
  std::optional<unsigned> ended(const policy::Move& move, const hmk_range_result& result);
  /// What refused before may move now.
  void forget_kinds() { kinds_ = {}; }

  /// Of some records those of private memory, movable where nothing of them is in flight: memory
  /// that several processes map may have huge pages or be paged out by other rules, and the others
  /// would lose their entries.
  std::vector<policy::RegionView> private_views(std::span<const hmk_record> records) const;

 private:
  bool is_at_rest(std::uint64_t start, std::uint64_t length) const;
  bool waits_to_be_read(const hmk_record& record) const;
  bool may_move_apart(const hmk_record& record) const;
  bool is_left_alone(const hmk_record& record, const LeftAlone& spans, Stayed* stayed);
  void hold_doubted(std::span<policy::RegionView> views, const std::vector<Tier>& tiers);

  const Mover& mover_;
  Kinds kinds_;
  std::uint64_t seq_ = 0;
  FirstLooks first_looks_;
  std::span<const hmk_record> regions_, records_;  // records_: its parts, or regions_
  bool has_parts_ = false;
  std::vector<policy::Wanted> apart_;
};

}  // namespace hmk
