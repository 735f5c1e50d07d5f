// SPDX-License-Identifier: MIT
#include "policy/gain.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
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
  set_rate(r, 63);
  return r;
}

/// So many accesses a second to a leaf, which is a page.
Heat heat(double rate) {
  return {.whi_q16 = 1, .rate_q8 = static_cast<std::int16_t>(std::lround(256 * std::log2(rate)))};
}

TEST(Gain, SavesTheLatencyDifferenceOfEachExpectedAccess) {
  PolicyParams params = within(10);
  params.interval_s = 4;
  const GainModel model(paper_tiers(), params);
  // 8 visits of 16 misses a second to a page, 10 intervals of 4 seconds.
  EXPECT_NEAR(model.saved_ns(heat(8), kPage, 3, 0), 8. * 4 * 16 * 250 * 10, 1);
  EXPECT_NEAR(model.saved_ns(heat(8), kPage, 0, 3), -8. * 4 * 16 * 250 * 10, 1);
  EXPECT_EQ(model.saved_ns({.whi_q16 = 0, .rate_q8 = 256}, kMiB, 3, 0), 0) << "never seen accessed";
}

TEST(Gain, AVisitToAHugeLeafIsOneToOneOfItsPages) {
  const GainModel model(paper_tiers(), within(10));
  Heat huge = heat(64);
  huge.leaf_shift = 21;
  EXPECT_DOUBLE_EQ(model.saved_ns(huge, 2 * kMiB, 3, 0), model.saved_ns(heat(64), kPage, 3, 0));
}

TEST(Gain, ARateOverDecadesIsWorthThatMuchMore) {
  const GainModel model(paper_tiers(), within(10));
  EXPECT_NEAR(model.saved_ns(heat(16384), kPage, 3, 0),
              16384 * model.saved_ns(heat(1), kPage, 3, 0), 1);
}

TEST(Gain, HalfOfTheAccessesToWhatIsWrittenAreWrites) {
  std::vector<TierView> tiers = paper_tiers();
  tiers[3].write_latency_ns = 1340;  // of the others it is not known: as a read
  const GainModel model(tiers, within(10));
  const Heat read = heat(2);
  Heat written = read;
  written.written = true;
  EXPECT_DOUBLE_EQ(model.saved_ns(written, kPage, 3, 0),
                   model.saved_ns(read, kPage, 3, 0) * 750 / 250);
  EXPECT_DOUBLE_EQ(model.saved_ns(written, kPage, 2, 0), model.saved_ns(read, kPage, 2, 0));
}

TEST(Gain, CopiesAtTheLesserBandwidthAndPaysForEachPage) {
  const GainModel model(paper_tiers(), {});
  EXPECT_NEAR(model.cost_ns(kMiB, 3, 0), 256 * GainModel::kNsPerPage + 1e9 / 1024, 1);
  EXPECT_EQ(model.cost_ns(kMiB, 0, 3), model.cost_ns(kMiB, 3, 0));
}

TEST(Gain, WhatWasCalibratedIsThePriceUntilMovesAreMeasured) {
  std::vector<TierView> tiers = paper_tiers();
  tiers[3].page_ns = {1500, 0};
  tiers[3].huge_ns = {200};
  const GainModel model(tiers, {});
  EXPECT_DOUBLE_EQ(model.cost_ns(kMiB, 3, 0), 256 * 1500);
  EXPECT_DOUBLE_EQ(model.cost_ns(2 * kMiB, 3, 0, 21), 512 * 200);
  EXPECT_DOUBLE_EQ(model.cost_ns(kMiB, 3, 1), GainModel(paper_tiers(), {}).cost_ns(kMiB, 3, 1));
  MoveCosts costs;
  costs.add(tiers[3].node, tiers[0].node, false, 1 << 20, (1ull << 20) * 700);
  const GainModel measured(tiers, {}, {.costs = &costs});
  EXPECT_NEAR(measured.cost_ns(kMiB, 3, 0), 256 * 700, 256 * 5);
}

TEST(Gain, WithoutALatencyOfEveryTierMovesCostNothing) {
  std::vector<TierView> tiers = paper_tiers();
  EXPECT_TRUE(GainModel(tiers, {}).knows());
  EXPECT_FALSE(GainModel({}, {}).knows());
  tiers[2].latency_ns = 0;
  const GainModel blind(tiers, {});
  EXPECT_FALSE(blind.knows());
  EXPECT_EQ(blind.cost_ns(kMiB, 3, 0), 0);
  EXPECT_GT(blind.saved_ns(heat(1), kMiB, 3, 0), -blind.saved_ns(heat(0.9), kMiB, 0, 3));
}

TEST(Gain, KnowsWhatChanceCanMake) {
  const GainModel model(paper_tiers(), {});
  const auto surely = [&](int apart_q8, std::uint16_t dev_q8) {
    const auto rate_q8 = static_cast<std::int16_t>(apart_q8);
    return model.is_surely_hotter({.rate_q8 = rate_q8, .rate_dev_q8 = dev_q8},
                                  {.rate_dev_q8 = dev_q8});
  };
  // Three deviations of the difference, which are sqrt(2) of one.
  EXPECT_TRUE(surely(425, 100));
  EXPECT_FALSE(surely(424, 100));
  EXPECT_TRUE(surely(1, 0));
  EXPECT_FALSE(surely(0, 0));
  EXPECT_FALSE(surely(-2000, 100));
}

TEST(Gain, AsksForAsManyDeviationsAsWereMeasuredToDo) {
  const GainModel model(paper_tiers(), {}, {.deviations = 4.5});
  const Heat cold{.rate_dev_q8 = 100};
  EXPECT_TRUE(model.is_surely_hotter({.rate_q8 = 637, .rate_dev_q8 = 100}, cold));
  EXPECT_FALSE(model.is_surely_hotter({.rate_q8 = 636, .rate_dev_q8 = 100}, cold));
}

TEST(Gain, ARateIsToldFromItsLogarithmOverItsWholeRange) {
  for (const std::uint8_t leaf_shift : std::initializer_list<std::uint8_t>{12, 21, 30})
    for (int q8 = -32'768; q8 <= 32'767; q8 += 7) {
      const Heat heat{
          .whi_q16 = 1, .rate_q8 = static_cast<std::int16_t>(q8), .leaf_shift = leaf_shift};
      ASSERT_NEAR(accesses_per_s(heat, kPage) / std::exp2(q8 / 256. + 12 - leaf_shift), 1, 1e-12)
          << q8;
    }
}

TEST(MoveCosts, StartFromWhatIsAssumedAndBecomeWhatIsMeasured) {
  MoveCosts costs;
  EXPECT_EQ(costs.ns_per_page(3, 0, false, 5000), 5000);
  costs.add(3, 0, false, 256, 256ul * 1000);
  EXPECT_NEAR(costs.ns_per_page(3, 0, false, 5000), 3000, 10);
  for (int k = 0; k < 1000; ++k) costs.add(3, 0, false, 1024, 1024ul * 1000);
  EXPECT_NEAR(costs.ns_per_page(3, 0, false, 5000), 1000, 20);
  EXPECT_EQ(costs.ns_per_page(3, 0, true, 5000), 5000) << "another size of page";
  EXPECT_EQ(costs.ns_per_page(0, 3, false, 5000), 5000) << "another direction";
  for (int k = 0; k < 192; ++k) costs.add(3, 0, false, 1024, 1024ul * 2000);
  EXPECT_NEAR(costs.ns_per_page(3, 0, false, 5000), 1950, 20)
      << "192 MiB x 4 later the old is forgotten";
}

TEST(MoveCosts, WhatGaveNothingIsPaidByWhatMoved) {
  MoveCosts costs;
  costs.add(3, 0, false, 0, 256ul * 1000);
  EXPECT_EQ(costs.ns_per_page(3, 0, false, 5000), 6000);
}

TEST(Gain, WhatWasMeasuredReplacesWhatIsAssumed) {
  MoveCosts costs;
  for (int k = 0; k < 1000; ++k) costs.add(3, 0, true, 1024, 1024ul * 500);
  const GainModel model(paper_tiers(), {}, {.scale = 0.5, .horizon = 30, .costs = &costs});
  EXPECT_NEAR(model.cost_ns(kMiB, 3, 0, 21), 256 * 500, 256 * 50);
  EXPECT_NEAR(model.cost_ns(kMiB, 3, 0, 12), 256 * 5000 + 1e9 / 1024, 1);
  EXPECT_NEAR(model.saved_ns(heat(8), kPage, 3, 0), 8. * 16 * 250 * 30 / 2, 1);
  EXPECT_DOUBLE_EQ(model.saved_ns(heat(8), kPage, 3, 0, Lasts::beyond_others),
                   model.saved_ns(heat(8), kPage, 3, 0));
  const GainModel cyclic(paper_tiers(), {}, {.horizon = 30, .exchange_horizon = 3});
  EXPECT_DOUBLE_EQ(cyclic.saved_ns(heat(8), kPage, 3, 0, Lasts::beyond_others),
                   cyclic.saved_ns(heat(8), kPage, 3, 0) / 10);
  EXPECT_NEAR(GainModel(paper_tiers(), within(10), {.horizon = 30}).saved_ns(heat(8), kPage, 3, 0),
              8. * 16 * 250 * 10, 1)
      << "never more than the key";
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

TEST(AutoLimit, WhatMovesWereMeasuredToTakeCounts) {
  MoveCosts dear;
  for (int k = 0; k < 1000; ++k) dear.add(3, 0, false, 1024, 1024ul * 90'000);
  const Bytes limit = auto_limit(paper_tiers(), 0.5e9, {.costs = &dear});
  EXPECT_NEAR(static_cast<double>(limit), 0.5e9 / (2 * 90'000) * 4096,
              0.01 * static_cast<double>(limit));
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
  std::vector<TierView> blind = paper_tiers(), as_told = paper_tiers();
  for (TierView& tier : blind) tier.latency_ns = 0;
  std::swap(as_told[0].latency_ns, as_told[2].latency_ns);  // by `tiers`, in another order
  for (const std::vector<TierView>& tiers : {paper_tiers(), blind, as_told}) {
    RegionView cool = region(0, 2, 0, 1.24), warm = region(2, 2, 2, 2);
    set_rate(cool, 1);
    set_rate(warm, 1);
    EXPECT_TRUE(make_plan(std::vector{cool, warm}, tiers, {}).promotions.empty());
    set_rate(cool, 40);
    set_rate(warm, 40);
    EXPECT_EQ(make_plan(std::vector{cool, warm}, tiers, {}).promotions.size(), 1u);
  }
}

// The hottest of many meets the coldest of many: 14 % of them change places where 1.5 deviations
// are enough, 2 % with 3.
TEST(PlanGain, OfManyEquallyWarmRegionsFewChangePlaces) {
  constexpr std::uint64_t kRegions = 2000;
  constexpr unsigned kSamples = 8;
  PolicyParams params = within(1000);
  params.promote_limit = kRegions * 2 * kMiB;
  std::mt19937 random(1);
  const double looks = kSamples * 3 * 3;
  std::binomial_distribution<int> seen(static_cast<int>(looks), 0.3);
  std::vector<RegionView> regions;
  for (std::uint64_t i = 0; i < kRegions; ++i) {
    const double whi = seen(random) / looks * 3;
    regions.push_back(region(2 * i, 2, i % 2 == 0 ? 0 : 2, whi));
    set_rate(regions.back(), kSamples);
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
  const std::vector<RegionView> lukewarm = {known(0, 2, 1, 0.4), known(2, 2, 2, 0.65)};
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
