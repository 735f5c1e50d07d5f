// SPDX-License-Identifier: MIT
#include "gaps.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "random.hpp"

namespace hmk::load {
namespace {

TEST(Gaps, AreNothingBeforeTheFirst) {
  const Gaps gaps;
  EXPECT_EQ(gaps.count(), 0u);
  EXPECT_EQ(gaps.quantile(0.99), 0u);
  EXPECT_EQ(gaps.longest(), 0u);
}

TEST(Gaps, ToldFromOneTimeAreThatTimeWithinAThirtySecondPart) {
  std::vector<std::uint64_t> times{0, 1, 31, 32, 33, 63, 64, 65, UINT64_MAX, UINT64_MAX - 1};
  Random random(1);
  for (int i = 0; i < 10000; ++i) times.push_back(random.next() >> random.below(64));
  for (const std::uint64_t time : times) {
    Gaps gaps;
    gaps.add(time);
    EXPECT_LE(gaps.quantile(0.5), time);
    EXPECT_GE(gaps.quantile(0.5), time - time / 32);
    EXPECT_EQ(gaps.longest(), time);
  }
}

TEST(Gaps, QuantilesAreThoseOfTheSortedTimes) {
  Random random(2);
  std::vector<std::uint64_t> times;
  Gaps gaps;
  for (int i = 0; i < 100000; ++i) {
    times.push_back(random.below(1000) * random.below(1000));
    gaps.add(times.back());
  }
  std::sort(times.begin(), times.end());
  for (const double q : {0.01, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const auto exact = times[static_cast<std::size_t>(q * 100000) - 1];
    EXPECT_LE(gaps.quantile(q), exact) << q;
    EXPECT_GE(gaps.quantile(q), exact - exact / 32) << q;
  }
  EXPECT_EQ(gaps.count(), 100000u);
}

}  // namespace
}  // namespace hmk::load
