// SPDX-License-Identifier: MIT
//
// Which step of brightness a value has: from the 5th to the 95th percentile of what was seen, so
// that a picture of little or much heat is neither black nor white.
//
//   const HeatScale scale(values, HeatScale::Kind::logarithmic);
//   scale.step(0.25, 5)    ->   0 .. 4
#pragma once

#include <cstddef>
#include <vector>

namespace hmkctl {

class HeatScale {
 public:
  enum class Kind { linear, logarithmic };
  static constexpr double kLow = 0.05, kHigh = 0.95;

  /// Values of 0 (nothing was seen) take no part; they have the lowest step.
  HeatScale(std::vector<double> values, Kind kind);
  /// All below low() is 0, all from high() on is `steps` - 1; what lies between is shared out.
  std::size_t step(double value, std::size_t steps) const;
  /// Where step `step` of `steps` begins; step 0: at low().
  double from(std::size_t step, std::size_t steps) const;
  double low() const { return low_; }
  double high() const { return high_; }
  /// Nothing was seen at all.
  bool is_empty() const { return high_ == 0; }

 private:
  Kind kind_;
  double low_ = 0, high_ = 0;
};

}  // namespace hmkctl
