// SPDX-License-Identifier: MIT
//
// How long heat lasts: the share of it that is still there k intervals later, and what that sums
// to. A move pays for as long.
//
//   persistence.saw(regions, hits);             each interval
//   persistence.horizon(60)                     intervals, 60 at most
//   persistence.has_changed()                   another program, as it were
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "policy/types.hpp"

namespace hmk::policy {

class Persistence {
 public:
  static constexpr std::array<unsigned, 5> kLags{1, 2, 4, 8, 16};
  /// Addresses drawn each interval: with 17 intervals kept 68 KiB at most. A share of one half is
  /// known to 0.03.
  static constexpr std::size_t kSamples = 256;

  /// `regions` in address order, `hits`: accesses a second to each of them.
  void saw(std::span<const RegionView> regions, std::span<const float> hits);

  /// Of the heat of kLags[lag] intervals before, the part that is still there: a moving average.
  std::optional<double> share(std::size_t lag) const { return shares_[lag]; }
  /// Intervals that all heat of now is worth: the sum of the shares over the next `most`. As long
  /// as nothing is known it stays.
  double horizon(double most) const;
  /// In one interval more heat went than in the longest lag that is known: it has moved.
  bool has_changed() const { return has_changed_; }

 private:
  struct Sample {
    std::uint64_t address;
    float rate;    // accesses a second to a page
    float spread;  // a factor that chance explains
  };
  using Cohort = std::vector<Sample>;  // in address order

  static Cohort draw(std::span<const RegionView> regions, std::span<const float> hits);
  static double left_of(const Cohort& then, std::span<const RegionView> regions);

  std::deque<Cohort> cohorts_;  // newest first
  std::array<std::optional<double>, kLags.size()> shares_;
  /// In them; what is not known is taken for this many in which all stayed.
  std::array<unsigned, kLags.size()> counts_{4, 4, 4, 4, 4};
  bool has_changed_ = false;
};

}  // namespace hmk::policy
