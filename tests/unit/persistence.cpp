// SPDX-License-Identifier: MIT
#include "policy/persistence.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "policy/gain.hpp"
#include "support/policy.hpp"

using namespace hmk::policy;
using namespace hmk::test;

namespace {

constexpr std::uint64_t kRegions = 1024;

/// Regions of which `is_hot` says which are hot: their rate is 2^`log_hot`, that of the others
/// 2^`log_warm`.
template <typename Hot>
void see(Persistence& persistence, Hot&& is_hot, double log_hot = 6, double log_warm = 0) {
  std::vector<RegionView> regions;
  std::vector<float> hits;
  for (std::uint64_t i = 0; i < kRegions; ++i) {
    RegionView r = region(2 * i, 2, 0, is_hot(i) ? 2 : 1);
    r.hi_q16 = r.whi_q16;
    r.rate_q8 = static_cast<std::int16_t>(256 * (is_hot(i) ? log_hot : log_warm));
    r.rate_dev_q8 = 0;
    regions.push_back(r);
    hits.push_back(static_cast<float>(accesses_per_s(heat_of(r), r.resident)));
  }
  persistence.saw(regions, hits, kRegions * 2 * kMiB);
}

/// In interval `k`: one of `areas` parts of all memory, for `length` intervals each.
auto phase(std::uint64_t k, std::uint64_t areas, std::uint64_t length) {
  return [=](std::uint64_t i) { return i / (kRegions / areas) == k / length % areas; };
}

TEST(Persistence, WithoutEvidenceHeatStays) {
  Persistence persistence;
  EXPECT_DOUBLE_EQ(persistence.stays().horizon(60), 60);
  EXPECT_DOUBLE_EQ(persistence.stands_out().horizon(60), 60);
  EXPECT_FALSE(persistence.has_changed());
}

// It may have freed all that it had, and the next interval says so.
TEST(Persistence, WhatGoesAtTheBeginningIsForgottenAsTheProgramSettles) {
  Persistence persistence;
  see(
      persistence, [](auto i) { return i < 64; }, 12);
  see(
      persistence, [](auto i) { return i >= 512 && i < 576; }, 12);
  EXPECT_LT(persistence.stands_out().share(0).value(), 0);
  EXPECT_EQ(persistence.stands_out().horizon(60), 0);
  for (int k = 0; k < 12; ++k)
    see(
        persistence, [](auto i) { return i >= 512 && i < 576; }, 12);
  EXPECT_GT(persistence.stands_out().horizon(60), 5);
}

TEST(Persistence, WhatStaysLastsAsLongAsIsAsked) {
  Persistence persistence;
  for (int k = 0; k < 40; ++k) see(persistence, [](auto i) { return i % 8 == 0; });
  for (std::size_t lag = 0; lag < Persistence::kLags.size(); ++lag)
    EXPECT_NEAR(persistence.stands_out().share(lag).value(), 1, 1e-6);
  EXPECT_DOUBLE_EQ(persistence.stands_out().horizon(60), 60);
  EXPECT_DOUBLE_EQ(persistence.stands_out().horizon(3), 3);
}

// A 32nd of the hot set, an eighth of all, is replaced each interval. When 28 have been as much of
// it is left as of any memory.
TEST(Persistence, AShareThatGoesByTheIntervalIsSeenAtEachLag) {
  Persistence persistence;
  for (std::uint64_t k = 0; k < 60; ++k)
    see(persistence, [k](auto i) { return (i + kRegions - 4 * k % kRegions) % kRegions < 128; });
  double sum = 0;
  for (std::size_t lag = 0; lag < Persistence::kLags.size(); ++lag)
    EXPECT_NEAR(persistence.stands_out().share(lag).value(), 1 - Persistence::kLags[lag] / 28.,
                0.02)
        << lag;
  for (int k = 1; k <= 8; ++k) sum += 1 - k / 28.;
  EXPECT_NEAR(persistence.stands_out().horizon(8), sum, 0.2);
  EXPECT_GT(persistence.stands_out().horizon(1000), 14) << "28 / 2";
  EXPECT_LT(persistence.stands_out().horizon(1000), 28);
}

// Of phases of 4 intervals in 16 areas 3/4, 2/4 and 1/4 are left on average, then less than
// anywhere.
TEST(Persistence, PhasesLastAsLongAsTheirRest) {
  Persistence persistence;
  for (std::uint64_t k = 0; k < 80; ++k) see(persistence, phase(k, 16, 4), 12);
  const double any = 1. / 16, rest = -any / (1 - any);
  const auto share = [=](double left) { return (left - any) / (1 - any); };
  EXPECT_NEAR(persistence.stands_out().horizon(60), share(.75) + share(.5) + share(.25) + 5 * rest,
              0.25);
}

// Hot for an interval, then not before 7 more: to bring it is to send away what comes next.
TEST(Persistence, WhatComesRoundLastsForNothing) {
  Persistence persistence;
  for (std::uint64_t k = 0; k < 80; ++k) see(persistence, phase(k, 9, 1), 12);
  EXPECT_LT(persistence.stands_out().share(0).value(), -0.05);
  EXPECT_EQ(persistence.stands_out().horizon(60), 0);
}

// What is accessed alike may stay for ever, and no memory is better than another.
TEST(Persistence, WhereAllIsAlikeNothingLasts) {
  Persistence persistence;
  for (int k = 0; k < 20; ++k) see(persistence, [](auto) { return true; });
  EXPECT_EQ(persistence.stands_out().share(0).value(), 0);
  EXPECT_EQ(persistence.stands_out().horizon(60), 0);
  EXPECT_EQ(persistence.stays().horizon(60), 60) << "where there is room for it";
}

// The smoothed hotness of what has cooled is high for some intervals yet.
TEST(Persistence, WhatHasCooledIsSeenAtOnce) {
  Persistence persistence;
  for (std::uint64_t k = 0; k < 2; ++k) {
    std::vector<RegionView> regions;
    std::vector<float> hits;
    for (std::uint64_t i = 0; i < kRegions; ++i) {
      RegionView r = region(2 * i, 2, 0, i < 64 ? 2 : 1);
      r.hi_q16 = i < 64 && k == 0 ? q16(2) : q16(1);
      r.rate_q8 = static_cast<std::int16_t>(i < 64 ? 12 * 256 : 0);
      r.rate_dev_q8 = 0;
      regions.push_back(r);
      hits.push_back(static_cast<float>(accesses_per_s(heat_of(r), r.resident)));
    }
    persistence.saw(regions, hits, kRegions * 2 * kMiB);
  }
  EXPECT_NEAR(persistence.stands_out().share(0).value(), 0, 0.01);
}

TEST(Persistence, AJumpIsAChangeAndARepeatedOneIsNot) {
  Persistence persistence;
  for (int k = 0; k < 20; ++k) {
    see(persistence, [](auto i) { return i < 64; });
    EXPECT_FALSE(persistence.has_changed()) << k;
  }
  see(persistence, [](auto i) { return i >= 512 && i < 576; });
  EXPECT_FALSE(persistence.has_changed()) << "one interval may have been read badly";
  see(persistence, [](auto i) { return i >= 512 && i < 576; });
  EXPECT_TRUE(persistence.has_changed());
  unsigned changes = 0;
  for (std::uint64_t k = 0; k < 80; ++k) {
    see(persistence, phase(k, 16, 4));
    changes += k > 24 && persistence.has_changed();
  }
  EXPECT_EQ(changes, 0u) << "it always does that";
}

// With a small budget heat reads as next to nothing at times and as before the next.
TEST(Persistence, TwoIntervalsThatWereReadBadlyAreNoChange) {
  Persistence persistence;
  for (int k = 0; k < 60; ++k) {
    const int log_hot = k % 10 >= 8 ? 1 : 6;
    see(
        persistence, [](auto i) { return i < 64; }, log_hot);
    EXPECT_FALSE(persistence.has_changed()) << k;
  }
}

// What was hot is as warm as anything now, and all is warmer: half of its heat stays.
TEST(Persistence, OldHeatThatStandsOutNoMoreIsAChange) {
  Persistence persistence;
  for (int k = 0; k < 20; ++k)
    see(
        persistence, [](auto i) { return i < 64; }, 2);
  for (int k = 0; k < 2; ++k)
    see(
        persistence, [](auto i) { return i >= 512 && i < 576; }, 3, 1.5);
  EXPECT_GT(persistence.stays().share(0).value(), 0.5);
  EXPECT_TRUE(persistence.has_changed());
}

TEST(Persistence, HeatThatMovesAndFallsIsAChangeAfterOneIntervalMore) {
  Persistence persistence;
  for (int k = 0; k < 20; ++k) see(persistence, [](auto i) { return i < 64; });
  std::vector<bool> seen;
  for (int k = 0; k < 3; ++k) {
    see(
        persistence, [](auto i) { return i >= 512 && i < 576; }, 4);
    seen.push_back(persistence.has_changed());
  }
  EXPECT_EQ(seen, (std::vector<bool>{false, false, true}));
}

TEST(Persistence, WhatChanceExplainsHasNotGone) {
  Persistence persistence;
  for (int k = 0; k < 10; ++k) {
    std::vector<RegionView> regions;
    std::vector<float> hits;
    for (std::uint64_t i = 0; i < kRegions; ++i) {
      RegionView r = region(2 * i, 2, 0, 1);
      if (i < 64) r.whi_q16 = q16(k % 2 == 0 ? 3 : 2.5);
      r.hi_q16 = r.whi_q16;
      r.rate_dev_q8 = 256;
      r.rate_q8 = static_cast<std::int16_t>(i < 64 ? 2048 + (k % 2 == 0 ? 0 : -256) : 0);
      regions.push_back(r);
      hits.push_back(static_cast<float>(accesses_per_s(heat_of(r), r.resident)));
    }
    persistence.saw(regions, hits, kRegions * 2 * kMiB);
  }
  EXPECT_DOUBLE_EQ(persistence.stays().share(0).value(), 1);
  EXPECT_DOUBLE_EQ(persistence.stands_out().share(0).value(), 1);
}

TEST(Persistence, AnIdleProgramSaysNothing) {
  Persistence persistence;
  const std::vector<float> none(kRegions, 0);
  std::vector<RegionView> cold;
  for (std::uint64_t i = 0; i < kRegions; ++i) cold.push_back(region(2 * i, 2, 0, 0));
  for (int k = 0; k < 5; ++k) persistence.saw(cold, none, kRegions * 2 * kMiB);
  EXPECT_FALSE(persistence.stands_out().share(0));
  persistence.saw({}, {}, 0);
  EXPECT_DOUBLE_EQ(persistence.stands_out().horizon(60), 60);
}

}  // namespace
