// SPDX-License-Identifier: MIT
#include "policy/likely.hpp"

#include <gtest/gtest.h>

#include "support/policy.hpp"

using namespace hmk::policy;
using namespace hmk::test;

namespace {

class LikelyTest : public testing::Test {
 protected:
  static constexpr NodeId kNodes[] = {0, 1};

  void add(NodeId node, int rate_q8, std::uint16_t dev_q8, Bytes mib = 2) {
    RegionView seen = region(next_, mib, node, 1);
    seen.rate_q8 = static_cast<std::int16_t>(rate_q8);
    seen.rate_dev_q8 = dev_q8;
    histogram_.insert(0, seen);
    next_ += mib;
  }
  int guess(std::uint32_t node, int rate_q8, std::uint16_t dev_q8) const {
    const Heat seen{.rate_q8 = static_cast<std::int16_t>(rate_q8), .rate_dev_q8 = dev_q8};
    return LikelyRates(histogram_).heat(seen, node).rate_q8;
  }

  Histogram histogram_{{.buckets = 64, .hotness_max = 3}, kNodes};
  std::uint64_t next_ = 0;
};

TEST_F(LikelyTest, WhatDiffersByNoMoreThanChanceIsAllAlike) {
  for (const int rate_q8 : {900, 1000, 1100}) add(1, rate_q8, 100);
  EXPECT_EQ(guess(1, 1100, 100), 1000);
  EXPECT_EQ(guess(1, 500, 100), 1000);
}

TEST_F(LikelyTest, WhatIsKnownIsWhatItWasSeenAs) {
  for (const int rate_q8 : {900, 1000, 1100}) add(1, rate_q8, 100);
  EXPECT_EQ(guess(1, 1100, 0), 1100);
}

// Variance 300^2, of it 100^2 by chance: eight ninths of a difference are believed.
TEST_F(LikelyTest, TheMoreRegionsDifferTheMoreIsBelieved) {
  add(1, 700, 100);
  add(1, 1300, 100);
  EXPECT_EQ(guess(1, 1300, 100), 1000 + 300 * 8 / 9 + 1);
  EXPECT_EQ(guess(1, 700, 100), 1000 - 300 * 8 / 9 - 1);
  EXPECT_LT(guess(1, 1300, 400), guess(1, 1300, 100)) << "the less the less is known";
}

TEST_F(LikelyTest, EachNodeForItselfAndByItsPages) {
  add(0, 2000, 100);
  add(1, 1000, 100, 6);
  add(1, 1100, 100, 2);
  EXPECT_EQ(guess(1, 3000, 100), 1025);
  EXPECT_EQ(guess(0, 3000, 100), 2000);
}

}  // namespace
