// SPDX-License-Identifier: MIT
#include "policy/rate_scale.hpp"

#include <gtest/gtest.h>

#include "support/policy.hpp"

using namespace hmk::policy;
using namespace hmk::test;

namespace {

TEST(RateScale, KnowsNothingBeforeItHasLearnt) {
  EXPECT_FALSE(RateScale().rate_q8(q16(1)));
}

TEST(RateScale, IsStraightBetweenWhatItHasLearntAndStaysBeyond) {
  RateScale scale;
  scale.learn(q16(1), 256);
  scale.learn(q16(3), 1024);
  EXPECT_EQ(scale.rate_q8(q16(1)), 256);
  EXPECT_EQ(scale.rate_q8(q16(2)), 640);
  EXPECT_EQ(scale.rate_q8(q16(1.5)), 448);
  EXPECT_EQ(scale.rate_q8(q16(3)), 1024);
  EXPECT_EQ(scale.rate_q8(0), 256);
  EXPECT_EQ(scale.rate_q8(q16(16)), 1024);
  EXPECT_EQ(scale.rate_q8(~0u), 1024);
}

// Points that share a sixteenth of hotness: the newest is known, and is right for itself.
TEST(RateScale, AStepHasOnePointOnBothSidesOfIt) {
  RateScale scale;
  scale.learn(q16(2) + 2000, 500);
  EXPECT_EQ(scale.rate_q8(q16(2)), 500);
  EXPECT_EQ(scale.rate_q8(q16(2) + 4000), 500);
  scale.learn(q16(2) + 1000, 100);
  scale.learn(q16(2) + 3000, 300);
  EXPECT_EQ(scale.rate_q8(q16(2) + 3000), 300);
  EXPECT_EQ(scale.rate_q8(q16(2) + 1000), 300);
}

TEST(RateScale, TheEndOfTheScaleIsAHotnessLikeAnyOther) {
  RateScale scale;
  scale.learn(0, -512);
  scale.learn(q16(16), 2048);
  EXPECT_EQ(scale.rate_q8(q16(16)), 2048);
  EXPECT_EQ(scale.rate_q8(q16(8)), 768);
}

}  // namespace
