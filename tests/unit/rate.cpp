// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <hmk/core/rate.h>

#include <cmath>
#include <random>

namespace {

constexpr double kSecond = 1e9;

hmk_ladder ladder() {
  hmk_ladder l{};
  hmk_ladder_make(&l, static_cast<__u64>(kSecond), 3);
  return l;
}

hmk_ladder equal() {
  hmk_ladder l{};
  hmk_ladder_make_equal(&l, static_cast<__u64>(kSecond / 3), 3);
  return l;
}

}  // namespace

TEST(Rate, FourTimesTheSamplesHalveTheDeviation) {
  for (const hmk_ladder& l : {ladder(), equal()})
    for (__u32 hotness = 0; hotness <= l.nr << 16; hotness += 1u << 12) {
      const int once = hmk_rate_dev_q8(&l, hotness, 16), four = hmk_rate_dev_q8(&l, hotness, 64);
      EXPECT_NEAR(four, once / 2.0, 2.0) << hotness;
      EXPECT_GT(once, 0);
    }
}

TEST(Rate, WithoutASampleNothingIsKnown) {
  const hmk_ladder l = ladder();
  EXPECT_EQ(hmk_rate_dev_q8(&l, 2 << 16, 0), hmk_rate_dev_q8(&l, 2 << 16, 1));
  EXPECT_GT(hmk_rate_dev_q8(&l, 2 << 16, 0), 3 * hmk_rate_dev_q8(&l, 2 << 16, 16));
}

// What it says of counts in equal windows is what counts that are drawn do.
TEST(Rate, TheDeviationIsThatOfRatesFromDrawnCounts) {
  const hmk_ladder l = equal();
  std::mt19937 random(1);
  for (const double rate : {1.0, 2.0, 4.0}) {
    constexpr int kRounds = 4000, kSamples = 24;
    std::binomial_distribution<unsigned> seen(3 * kSamples, 1 - std::exp(-rate / 3));
    double sum = 0, squares = 0;
    for (int i = 0; i < kRounds; ++i) {
      const double told = hmk_ladder_rate_q8(&l, (seen(random) << 16) / kSamples);
      sum += told;
      squares += told * told;
    }
    const double dev = std::sqrt(squares / kRounds - sum / kRounds * (sum / kRounds));
    const __u32 hotness = hmk_ladder_hotness_q16(&l, static_cast<int>(256 * std::log2(rate)));
    EXPECT_NEAR(hmk_rate_dev_q8(&l, hotness, 16 * kSamples) / dev, 1, 0.2) << rate;
  }
}
