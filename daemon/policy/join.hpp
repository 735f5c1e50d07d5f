// SPDX-License-Identifier: MIT
//
// Which stretches of 2 MiB that are mapped by small entries should be one huge page again: those
// that are hot all over, stay so, and lie where they belong. What a join costs is paid back by page
// walks that the program then saves.
//
//   Joins joins;
//   for (const Join& join : joins.choose(regions, terms))       once an interval
//     ok(join.start) ? joins.joined(join.start, seq) : joins.refused(join.start, seq);
//
// A stretch is followed by its address and not by its region, whose borders move when its
// neighbours change.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "policy/types.hpp"

namespace hmk::policy {

/// [start, start + kHuge), all of it on `node`.
struct Join {
  std::uint64_t start = 0;
  NodeId node = kNoNode;
  double saved_ns_per_s = 0;  // expected

  bool operator==(const Join&) const = default;
};

class Joins {
 public:
  /// Intervals in which a stretch must have been alike. The module counts what is present and where
  /// once in eight or more, and what moves back within eight was a mistake (PingPong::kSoon).
  static constexpr unsigned kSteady = 8;
  /// Of one process in one interval: as much as khugepaged joins in 10 s as the kernel ships it.
  static constexpr Bytes kMostBytes = 16ull << 20;
  /// Stretches followed, the hottest: 8 GiB, 512 intervals' work, in half a MiB.
  static constexpr std::size_t kMostWatched = 4'096;
  /// Intervals in which what was joined is not joined again; twice as many each time it has been
  /// split since. The module examines no huge page twice within as many.
  static constexpr std::uint64_t kLeftAlone = 64;
  /// Stretches of which that is remembered: 128 GiB, 6 MiB.
  static constexpr std::size_t kMostLeft = 65'536;
  static constexpr unsigned kMostDoublings = 6;
  /// What an access through a huge entry takes less, where entries are all that can miss: half of
  /// what random updates of 4 GiB lose (90 ns with 4 KiB entries, 44 ns with 2 MiB). Programs
  /// with neighbours to their accesses lose less.
  static constexpr double kWalkNs = 23;

  using Areas =
      std::span<const std::pair<std::uint64_t, std::uint64_t>>;  // [start, end), ascending
  /// Whether one of them holds all of a stretch.
  static bool hold(Areas areas, std::uint64_t start);
  struct Terms {
    std::uint64_t seq = 0;                 // of the interval
    double horizon_s = 0;                  // within which a join has to pay
    double scale = 1;                      // of the time an access takes: Measured::scale
    double ns_per_page = 0;                // that joining takes
    std::span<const TierView> tiers = {};  // fastest first, with what is free now
    std::optional<Areas> areas = {};       // that may be joined; none: all
  };

  /// `regions`: of private anonymous memory, in address order. The most worthwhile first, at most
  /// kMostBytes and what is free on the node: a copy needs room for a moment.
  std::vector<Join> choose(std::span<const RegionView> regions, const Terms& terms);
  void joined(std::uint64_t start, std::uint64_t seq);
  /// The kernel could not: left alone for kSteady intervals, then twice as many and so on.
  void refused(std::uint64_t start, std::uint64_t seq);
  std::size_t watched() const { return watched_.size(); }
  std::size_t left_alone() const { return left_.size(); }

 private:
  struct Watched {
    NodeId node = kNoNode;
    std::int16_t rate_q8 = 0;  // when it was first seen so
    std::uint16_t rate_dev_q8 = 0;
    unsigned intervals = 0;  // alike since
    double saved_ns_per_s = 0;
  };
  using ByStart = std::map<std::uint64_t, Watched>;
  struct Left {
    std::uint64_t until = 0;  // last interval it is left alone
    std::uint64_t pause = 0;  // how long that is
    unsigned joins = 0, refusals = 0;
  };

  void watch(const RegionView& region, const Terms& terms, ByStart& now) const;
  void keep(const RegionView& region, std::uint64_t seq, ByStart& now) const;
  void restart(const RegionView& region, ByStart& now) const;
  static Watched follow(const Watched& before, const Watched& now);
  bool is_left_alone(std::uint64_t start, std::uint64_t seq) const;
  void leave_alone(Left& left, std::uint64_t seq, std::uint64_t pause);
  void forget_old(std::uint64_t seq);

  ByStart watched_;
  std::map<std::uint64_t, Left> left_;  // by start
};

}  // namespace hmk::policy
