// SPDX-License-Identifier: MIT
#include "time_ticks.hpp"

#include <gtest/gtest.h>

#include <cmath>

using namespace hmkctl;

namespace {

std::string labels(double seconds, std::size_t most) {
  std::string out;
  for (const TimeTick& tick : time_ticks(seconds, most)) out += tick.label + " ";
  return out;
}

TEST(TimeTicks, AreRound) {
  EXPECT_EQ(labels(12, 5), "0s 5s 10s ");
  EXPECT_EQ(labels(1, 6), "0ms 200ms 400ms 600ms 800ms 1000ms ");
  EXPECT_EQ(labels(640, 5), "0min 5min 10min ");
  EXPECT_EQ(labels(30000, 6), "0h 2h 4h 6h 8h ");
  EXPECT_EQ(labels(0.004, 3), "0ms 2ms 4ms ");
  EXPECT_EQ(labels(1000000, 4), "0d 4d 8d ");
}

TEST(TimeTicks, AreWhereTheySay) {
  const auto ticks = time_ticks(12, 5);
  EXPECT_EQ(ticks[0].at, 0);
  EXPECT_NEAR(ticks[2].at, 10.0 / 12, 1e-9);
}

TEST(TimeTicks, AreNeverMoreThanAsked) {
  for (int k = 0; k < 409; ++k)
    for (const std::size_t most : {2u, 3u, 7u}) {
      const double seconds = 1e-5 * std::pow(1.07, k);  // up to 112 days
      const auto ticks = time_ticks(seconds, most);
      ASSERT_LE(ticks.size(), most) << seconds;
      ASSERT_GE(ticks.size(), 1u) << seconds;
      ASSERT_LE(ticks.back().at, 1 + 1e-6);
    }
  EXPECT_EQ(labels(10, 2), "0s 10s ");
  EXPECT_EQ(labels(0, 5), "0s ");
}

}  // namespace
