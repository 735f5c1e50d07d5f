// SPDX-License-Identifier: MIT
//
// What the moves of one process were to save, what they save now and what they took: time a second
// of the program, by pair of tiers.
//
//   ledger.moved({.start = .., .length = .., .bytes = .., .from = 3, .to = 0, .spent_ns = ..});
//   ledger.saw(regions, model, interval);       the interval has ended
//   ledger.total().realized                     ns/s
//
// "Saved" is compared with doing nothing: each byte remembered knows where it lay before it was
// first moved. So a victim's loss counts, and what came back counts no more.
//
// Of the pages of a class nobody knows which they are: some of a range rise while others fall. Both
// are remembered apart, and of each no more than lies where it went to. What it saves goes by what
// all pages that lie there are accessed.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "policy/gain.hpp"
#include "policy/types.hpp"

namespace hmk::policy {

class Ledger {
 public:
  /// 128 GiB in the pieces that the mover makes, in at most 3 MiB. Beyond that the eighth that
  /// matters least is forgotten.
  static constexpr std::size_t kMostExtents = 32'768;

  /// What moved: a range, or of a range the pages of a class.
  enum class Of : std::uint8_t { range, risen, fallen };
  static constexpr std::size_t kKinds = 3;

  /// A part of a move has ended: `bytes` of [start, start + length) came from one node to another.
  struct Moved {
    std::uint64_t start = 0;
    Bytes length = 0;
    Bytes bytes = 0;
    NodeId from = kNoNode;
    NodeId to = kNoNode;
    double promised = 0;         // ns/s that these bytes were to save
    std::uint64_t spent_ns = 0;  // whatever came of it
    Of of = Of::range;
    bool undoes = false;  // of a class: goes back, after having moved the other way
  };
  void moved(const Moved& what);

  struct Interval {
    double seconds = 0;
    double horizon = 1;  // intervals that heat lasts: what a move took is spread over them
    std::uint64_t profile_ns = 0;  // CPU time of profiling
  };
  /// What is remembered is looked up in `regions`, which are in address order, the classes of one
  /// side by side. O(remembered * log).
  void saw(std::span<const RegionView> regions, const GainModel& model, const Interval& interval);

  /// ns/s of the program, of what is remembered.
  struct Figures {
    double promised = 0;  // when it was moved
    double realized = 0;  // now
    double spent = 0;     // by moves, as a moving average over the horizon
  };
  using Pair = std::pair<NodeId, NodeId>;  // from where it lay first, or moves: from, to
  const std::map<Pair, Figures>& pairs() const { return pairs_; }
  const Figures& total() const { return total_; }
  double realized_dev() const { return realized_dev_; }  // standard deviation, by the rates'
  double profiling() const { return profiling_; }        // ns/s in the last interval
  bool has_moved() const { return has_moved_; }          // in the last interval
  /// What is saved has grown in it by more than the moves took, over the horizon: an investment.
  bool is_rising() const { return is_rising_; }

  /// ns since the beginning. What moved in an interval has saved for half of it.
  struct Sums {
    double promised = 0, saved = 0, spent = 0;
  };
  const Sums& sums() const { return sums_; }

  /// Of what is remembered in [start, end).
  Figures figures(std::uint64_t start, std::uint64_t end) const;
  std::size_t extents() const;

  /// Bytes that were moved from a first place, and lie in another now: of [start, start + length).
  struct Displaced {
    std::uint64_t start = 0;
    Bytes length = 0;
    Bytes bytes = 0;
    NodeId first = kNoNode;
    NodeId now = kNoNode;
    Of of = Of::range;
  };
  /// All that is remembered, by kind and address.
  std::vector<Displaced> displaced() const;
  Bytes displaced_bytes() const;

 private:
  /// Bytes that were moved from a first place, and lie in another now.
  struct Extent {
    Bytes length = 0;
    Bytes bytes = 0;  // of the length, taken as evenly spread
    NodeId first = kNoNode;
    NodeId now = kNoNode;
    double promised = 0;
    double realized = 0;
    bool is_new = true;  // the last records do not know of it
  };
  using Extents = std::map<std::uint64_t, Extent>;  // by start; apart
  class Reckoning;

  Extents& extents(Of of) { return extents_[static_cast<std::size_t>(of)]; }
  static void cut(Extents& extents, std::uint64_t at);
  static Bytes take_back(Extents& extents, const Moved& what);
  void add(const Moved& what, Bytes bytes, double promised);
  void forget_least();

  std::array<Extents, kKinds> extents_;  // by Of
  std::map<Pair, Figures> pairs_;
  std::map<Pair, std::uint64_t> spending_ns_;  // in this interval
  Figures total_;
  Sums sums_;
  double realized_dev_ = 0, profiling_ = 0;
  bool is_moving_ = false, has_moved_ = false, is_rising_ = false;
};

}  // namespace hmk::policy
