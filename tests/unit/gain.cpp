// SPDX-License-Identifier: MIT
#include "policy/gain.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "policy/plan.hpp"
#include "support/policy.hpp"

using namespace hmk::policy;
using namespace hmk::test;

namespace {

/// Table 8.1 of the paper, seen from one socket.
std::vector<TierView> paper_tiers() {
  std::vector<TierView> tiers = {tier(0, 0), tier(1, 0), tier(2, 0), tier(3, 0)};
  const std::uint32_t latency[] = {90, 145, 275, 340}, gib[] = {95, 35, 35, 1};
  for (std::size_t t = 0; t < 4; ++t) {
    tiers[t].latency_ns = latency[t];
    tiers[t].bandwidth_mib = gib[t] * 1024;
  }
  return tiers;
}

PolicyParams within(std::uint32_t horizon) {
  PolicyParams params;
  params.horizon = horizon;
  return params;
}

/// A region whose hotness is no matter of chance.
RegionView known(std::uint64_t mib, Bytes length_mib, NodeId node, double whi) {
  RegionView r = region(mib, length_mib, node, whi);
  r.samples = 63;
  return r;
}

TEST(Gain, SavesTheLatencyDifferenceOfEachExpectedAccess) {
  const GainModel model(paper_tiers(), within(10));
  // Half of the windows: 3 * ln 2 visits of 16 misses per page and interval, 10 intervals.
  EXPECT_NEAR(model.saved_ns({q16(1.5)}, kPage, 3, 0), 3 * 0.693147 * 16 * 250 * 10, 1);
  EXPECT_NEAR(model.saved_ns({q16(1.5)}, kPage, 0, 3), -3 * 0.693147 * 16 * 250 * 10, 1);
  EXPECT_EQ(model.saved_ns({0}, kMiB, 3, 0), 0);
}

TEST(Gain, TakesAPageSeenInEveryWindowAsVisitedAFewTimesInEach) {
  const GainModel model(paper_tiers(), within(10));
  const double always = model.saved_ns({q16(3)}, kPage, 3, 0);
  EXPECT_NEAR(always, 3 * 6.931472 * 16 * 250 * 10, 1);  // ln 1024
  EXPECT_EQ(model.saved_ns({q16(16)}, kPage, 3, 0), always);
}

TEST(Gain, HalfOfTheAccessesToWhatIsWrittenAreWrites) {
  std::vector<TierView> tiers = paper_tiers();
  tiers[3].write_latency_ns = 1340;  // of the others it is not known: as a read
  const GainModel model(tiers, within(10));
  const double read = model.saved_ns({q16(1.5), 1, false}, kPage, 3, 0);
  EXPECT_DOUBLE_EQ(model.saved_ns({q16(1.5), 1, true}, kPage, 3, 0), read * 750 / 250);
  EXPECT_DOUBLE_EQ(model.saved_ns({q16(1.5), 1, true}, kPage, 2, 0),
                   model.saved_ns({q16(1.5), 1, false}, kPage, 2, 0));
}

TEST(Gain, CopiesAtTheLesserBandwidthAndPaysForEachPage) {
  const GainModel model(paper_tiers(), {});
  EXPECT_NEAR(model.cost_ns(kMiB, 3, 0), 256 * GainModel::kNsPerPage + 1e9 / 1024, 1);
  EXPECT_EQ(model.cost_ns(kMiB, 0, 3), model.cost_ns(kMiB, 3, 0));
}

TEST(Gain, WithoutALatencyOfEveryTierWarmerIsEnough) {
  std::vector<TierView> tiers = paper_tiers();
  EXPECT_TRUE(GainModel(tiers, {}).knows());
  EXPECT_FALSE(GainModel({}, {}).knows());
  tiers[2].latency_ns = 0;
  const GainModel blind(tiers, {});
  EXPECT_FALSE(blind.knows());
  EXPECT_EQ(blind.cost_ns(kMiB, 3, 0), 0);
  EXPECT_GT(blind.saved_ns({q16(1)}, kMiB, 3, 0), -blind.saved_ns({q16(0.9)}, kMiB, 0, 3));
}

TEST(Gain, KnowsWhatChanceCanMake) {
  const GainModel model(paper_tiers(), {});
  // Three looks each in three intervals: sqrt(2 * 10 / 121 / 9) of the looks is one deviation.
  const double apart = 3 * 3 * 0.135517;
  EXPECT_TRUE(model.is_surely_hotter({q16(3), 1}, {0, 1}));
  EXPECT_FALSE(model.is_surely_hotter({q16(1.5), 1}, {q16(1.5), 1}));
  EXPECT_FALSE(model.is_surely_hotter({q16(apart - 0.1), 1}, {0, 1}));
  EXPECT_TRUE(model.is_surely_hotter({q16(apart - 0.1), 16}, {0, 16}));
}

TEST(AutoLimit, IsWhatTheSlowestTierCopiesBothWaysInTheTimeForMoving) {
  const std::vector<TierView> tiers = paper_tiers();  // the slowest at 1 GiB/s
  const double ns_per_byte = 1e9 / (1 << 30) + 5000.0 / 4096;
  const Bytes limit = auto_limit(tiers, 0.5e9);
  EXPECT_EQ(limit % kPage, 0u);
  EXPECT_NEAR(static_cast<double>(limit), 0.5e9 / (2 * ns_per_byte), kPage);
  EXPECT_NEAR(static_cast<double>(limit) / kMiB, 110.8, 0.1);
}

TEST(AutoLimit, WithoutBandwidthsItIsTheWorkOnThePages) {
  const std::vector<TierView> tiers = {tier(0, 0), tier(1, 0)};
  EXPECT_EQ(auto_limit(tiers, 0.5e9), 204'800'000u) << "near the 200 MB of the paper";
  EXPECT_EQ(auto_limit({}, 0.5e9), 204'800'000u);
}

TEST(AutoLimit, AtTheEdgesOfThePage) {
  const std::vector<TierView> tiers = {tier(0, 0)};
  EXPECT_EQ(auto_limit(tiers, 0), 0u);
  EXPECT_EQ(auto_limit(tiers, 9'999), 0u);
  EXPECT_EQ(auto_limit(tiers, 10'000), kPage) << "one page up, one down, 5 us each";
  EXPECT_EQ(auto_limit(tiers, 19'999), kPage);
  EXPECT_EQ(auto_limit(tiers, 20'000), 2 * kPage);
}

TEST(PlanGain, WhatDiffersByChanceStaysWhereItIs) {
  RegionView cool = region(0, 2, 0, 1.24), warm = region(2, 2, 2, 2);
  cool.samples = warm.samples = 1;
  EXPECT_TRUE(make_plan(std::vector{cool, warm}, paper_tiers(), {}).promotions.empty());
  cool.samples = warm.samples = 40;
  EXPECT_EQ(make_plan(std::vector{cool, warm}, paper_tiers(), {}).promotions.size(), 1u);
}

// The hottest of many meets the coldest of many: 14 % of them change places where 1.5 deviations
// are enough, 2 % with 3.
TEST(PlanGain, OfManyEquallyWarmRegionsFewChangePlaces) {
  constexpr std::uint64_t kRegions = 2000;
  constexpr std::uint16_t kSamples = 8;
  PolicyParams params = within(1000);
  params.promote_limit = kRegions * 2 * kMiB;
  std::mt19937 random(1);
  const double looks = kSamples * params.num_scans * (2 / params.alpha - 1);
  std::binomial_distribution<int> seen(static_cast<int>(looks), 0.3);
  std::vector<RegionView> regions;
  for (std::uint64_t i = 0; i < kRegions; ++i) {
    const double whi = seen(random) / looks * params.num_scans;
    regions.push_back(region(2 * i, 2, i % 2 == 0 ? 0 : 2, whi));
    regions.back().samples = kSamples;
  }
  const Plan plan = make_plan(regions, paper_tiers(), params);
  EXPECT_LT(plan.promotions.size(), kRegions / 40);
  EXPECT_GT(plan.no_gain, kRegions / 3);
}

TEST(PlanGain, TheOrderOfTiersThatIsToldWins) {
  std::vector<TierView> tiers = paper_tiers();
  std::rotate(tiers.begin(), tiers.begin() + 1,
              tiers.end());  // node 0, the fastest, is told as the last
  tiers[0].free = 8 * kMiB;
  const Plan p = make_plan(std::vector{region(0, 2, 0, 3)}, tiers, {});
  ASSERT_EQ(p.promotions.size(), 1u);
  EXPECT_EQ(p.promotions[0].to, 1);
}

TEST(PlanGain, LukewarmRegionsOfTheSlowerTiersStayWhereTheyAre) {
  const std::vector<TierView> full = paper_tiers();
  const std::vector<RegionView> lukewarm = {known(0, 2, 1, 0.4), known(2, 2, 2, 0.6)};
  EXPECT_TRUE(make_plan(lukewarm, full, within(10)).promotions.empty());
  EXPECT_EQ(make_plan(lukewarm, full, within(10)).no_gain, 2u);
  EXPECT_EQ(make_plan(lukewarm, full, within(1000)).promotions.size(), 1u);
}

TEST(PlanGain, WhatIsHotReplacesWhatIsLukewarmWhateverItsTier) {
  for (NodeId from = 1; from < 4; ++from) {
    const Plan p =
        make_plan(std::vector{known(0, 2, 0, 1), known(2, 2, from, 3)}, paper_tiers(), {});
    ASSERT_EQ(p.promotions.size(), 1u) << from;
    EXPECT_EQ(p.promotions[0].to, 0);
  }
}

TEST(PlanGain, FreeRoomIsFilledFromTheTierWhereItPays) {
  std::vector<TierView> tiers = paper_tiers();
  tiers[0].free = 64 * kMiB;
  const Plan p = make_plan(std::vector{known(0, 2, 1, 0.05), known(2, 2, 3, 0.05)}, tiers, {});
  ASSERT_EQ(p.promotions.size(), 1u) << "55 ns are too little, 250 ns are enough";
  EXPECT_EQ(p.promotions[0].from, 3);
}

TEST(PlanGain, RefillingTheReserveIsNotChargedToThePromotion) {
  std::vector<TierView> tiers = paper_tiers();
  tiers[0].reserve = 60 * kMiB;
  tiers[3].free = 900 * kMiB;
  const Plan p = make_plan(std::vector{known(0, 100, 0, 0), known(100, 2, 3, 1)}, tiers, {});
  EXPECT_EQ(p.promoted, 2 * kMiB);
  EXPECT_EQ(p.demoted, 62 * kMiB);
}

}  // namespace
