// SPDX-License-Identifier: MIT
//
// What the rate of a region probably is. Of many that are alike the one that looks hottest does so
// by chance, so the less is known of a region, and the more alike those of its node are, the nearer
// its rate is taken to be to their mean: the mean of what is left of a normal distribution around
// it once chance has been taken out (empirical Bayes, Efron and Morris 1975).
//
//   const LikelyRates likely(histogram);
//   const Heat heat = likely.heat(histogram[id].heat(), node);
#pragma once

#include <cstdint>
#include <vector>

#include "policy/histogram.hpp"
#include "policy/types.hpp"

namespace hmk::policy {

class LikelyRates {
 public:
  /// One pass over all regions.
  explicit LikelyRates(const Histogram& histogram);

  /// The same heat with the rate it probably has. `node`: index in the histogram.
  Heat heat(Heat seen, std::uint32_t node) const;

 private:
  /// Of the logarithms of the rates of a node, each page once: without what chance adds.
  struct Rates {
    double mean_q8 = 0, variance_q16 = 0;
  };
  std::vector<Rates> nodes_;
};

}  // namespace hmk::policy
