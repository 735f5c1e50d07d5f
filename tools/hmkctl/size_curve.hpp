// SPDX-License-Identifier: MIT
//
// How much of a process's accesses its hottest memory serves, by size: the best that any
// placement can do with a fast tier of that size.
//
//   const SizeCurve curve({{64 << 20, 900.0}, {1 << 30, 100.0}});
//   curve.share(64 << 20)    ->  0.9
//   curve.bytes_for(0.9)     ->  64 MiB
#pragma once

#include <cstdint>
#include <vector>

namespace hmkctl {

/// Memory that is accessed alike.
struct Warmth {
  std::uint64_t bytes = 0;
  double rate = 0;  ///< accesses per second, of all of it together
};

class SizeCurve {
 public:
  struct Corner {
    std::uint64_t bytes = 0;
    double share = 0;  ///< 0 .. 1
  };

  explicit SizeCurve(std::vector<Warmth> memory);

  /// Share of all accesses that the hottest `bytes` serve; 0 when nothing is accessed.
  double share(std::uint64_t bytes) const;
  /// The least size that serves `share`.
  std::uint64_t bytes_for(double share) const;

  /// How far it rises above a straight line, 0 .. 1: 0 when all memory is equally warm.
  double skew() const;

  std::uint64_t bytes() const { return corners_.back().bytes; }
  double rate() const { return rate_; }
  /// Straight lines between these; from (0, 0) to (all, 1), never steeper than before.
  const std::vector<Corner>& corners() const { return corners_; }
  /// Those that a picture of `steps` by `steps` can tell apart: twice as many at most, and both
  /// ends.
  std::vector<Corner> outline(unsigned steps) const;

 private:
  std::vector<Corner> corners_{{}};
  double rate_ = 0;
};

}  // namespace hmkctl
