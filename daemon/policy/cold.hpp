// SPDX-License-Identifier: MIT
//
// Which memory has not been accessed for how long, by address: regions change their borders, and
// what is cold stays so across them.
//
//   ColdMemory cold;
//   cold.saw(regions, {.now_s = end, .seconds = interval, .after_s = 600});     each interval
//   cold.forget(cold.oldest(kBytes));
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "policy/types.hpp"

namespace hmk::policy {

class ColdMemory {
 public:
  struct Range {
    std::uint64_t start = 0;
    Bytes length = 0;
    Bytes resident = 0;  // of it, as counted last
    double since_s = 0;  // not seen accessed since then

    bool operator==(const Range&) const = default;
  };
  struct Interval {
    double now_s = 0;    // its end, by any clock that does not go back
    double seconds = 0;  // it took
    double after_s = 0;  // what was not accessed for so long is cold
  };

  /// `regions`: in address order, each once; what is not among them is forgotten. One with any
  /// sample accessed is not cold, one that was not sampled is what it was. O(regions).
  void saw(std::span<const RegionView> regions, const Interval& interval);

  /// Resident bytes that are cold. Immovable regions do not count.
  Bytes bytes() const { return bytes_; }
  /// Pages of cold memory that were accessed in a second, on average: had they been paged out, so
  /// many would have come back. Of each region by the share of its samples that was accessed; none
  /// before anything was cold.
  std::optional<double> wakes_per_s() const { return wakes_per_s_; }
  /// Cold memory, the longest first, at most so many resident bytes; cut at 2 MiB where that is
  /// more.
  std::vector<Range> oldest(Bytes most) const;
  /// As if they had been accessed now. In any order, none twice.
  void forget(std::vector<Range> ranges);

  /// Seconds that the average of wakes_per_s() goes back.
  static constexpr double kMeanOf_s = 600;

 private:
  struct Stretch {
    std::uint64_t start = 0, end = 0;
    double since_s = 0;
  };
  void keep(std::uint64_t start, std::uint64_t end, double since_s);
  void keep_old(const RegionView& region);
  void keep_all(const RegionView& region);
  double pages_woken(const RegionView& region) const;
  void count(const RegionView& region, std::size_t first);
  void average(double woken, Bytes known);

  Interval interval_;
  std::vector<Stretch> old_, stretches_;  // ascending
  std::size_t next_ = 0;                  // of old_: ends behind the region at hand's start
  std::vector<Range> cold_;
  Bytes bytes_ = 0;
  std::optional<double> wakes_per_s_;
  double known_s_ = 0;  // that something was cold
};

}  // namespace hmk::policy
