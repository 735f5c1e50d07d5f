// SPDX-License-Identifier: MIT
//
// How far apart samples are taken, so that all of them together stay within a budget.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace hmkctl {

/// The kernel's time for a sample with a physical address, in nanoseconds: an interrupt's part, and
/// a walk of the page tables. Assumed, not measured: some 1 us on servers of these years.
inline constexpr double kSampleCost = 1500;

class SamplePace {
 public:
  /// `budget` of one CPU, above 0; periods are a multiple of `granule`.
  SamplePace(double budget, std::uint64_t first, std::uint64_t granule)
      : budget_(budget), granule_(granule), period_(rounded(static_cast<double>(first))) {}

  std::uint64_t period() const { return period_; }
  double cost_ns() const { return cost_ns_; }  ///< so far

  /// A round of `passed_ns` has brought so many samples, and our own part took `own_ns`: the period
  /// for the next one. At most four times as long or a quarter at once, since few samples say
  /// little of the rate.
  std::uint64_t next(std::uint64_t samples, double own_ns, double passed_ns) {
    const double cost = static_cast<double>(samples) * kSampleCost + own_ns;
    cost_ns_ += cost;
    const double wanted = budget_ * passed_ns;
    const double factor = wanted > 0 ? std::clamp(cost / wanted, 0.25, 4.0) : 4.0;
    period_ = rounded(static_cast<double>(period_) * factor);
    return period_;
  }

 private:
  static constexpr double kLeast = 1000, kMost = 1e9;

  std::uint64_t rounded(double period) const {
    const auto whole = static_cast<std::uint64_t>(std::clamp(period, kLeast, kMost));
    return granule_ > 1 ? whole / granule_ * granule_ : whole | 1;
  }

  double budget_;
  std::uint64_t granule_, period_;
  double cost_ns_ = 0;
};

}  // namespace hmkctl
