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
#pragma once

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

  /// A part of a move has ended: `bytes` of [start, start + length) came from one node to another.
  struct Moved {
    std::uint64_t start = 0;
    Bytes length = 0;
    Bytes bytes = 0;
    NodeId from = kNoNode;
    NodeId to = kNoNode;
    double promised = 0;         // ns/s that these bytes were to save
    std::uint64_t spent_ns = 0;  // whatever came of it
  };
  void moved(const Moved& what);

  struct Interval {
    double seconds = 0;
    double horizon = 1;  // intervals that heat lasts: what a move took is spread over them
    std::uint64_t profile_ns = 0;  // CPU time of profiling
  };
  /// What is remembered is looked up in `regions`, which are in address order. O(remembered * log).
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

  /// ns since the beginning.
  struct Sums {
    double promised = 0, saved = 0, spent = 0;
  };
  const Sums& sums() const { return sums_; }

  /// Of what is remembered in [start, end).
  Figures figures(std::uint64_t start, std::uint64_t end) const;
  std::size_t extents() const { return extents_.size(); }

  /// Bytes that were moved from a first place, and lie in another now: of [start, start + length).
  struct Displaced {
    std::uint64_t start = 0;
    Bytes length = 0;
    Bytes bytes = 0;
    NodeId first = kNoNode;
    NodeId now = kNoNode;
  };
  /// All that is remembered, by address.
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
  };
  using Extents = std::map<std::uint64_t, Extent>;  // by start; apart
  class Reckoning;

  void cut(std::uint64_t at);
  void forget_least();

  Extents extents_;
  std::map<Pair, Figures> pairs_;
  std::map<Pair, std::uint64_t> spending_ns_;  // in this interval
  Figures total_;
  Sums sums_;
  double realized_dev_ = 0, profiling_ = 0;
  bool is_moving_ = false, has_moved_ = false, is_rising_ = false;
};

}  // namespace hmk::policy
