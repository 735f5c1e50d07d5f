// SPDX-License-Identifier: MIT
#include "policy/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "policy/rank.hpp"
#include "support/policy.hpp"

using namespace hmk::policy;
using namespace hmk::test;

namespace {

Plan plan(const std::vector<RegionView>& regions, const std::vector<TierView>& tiers,
          const PolicyParams& params = {}) {
  return make_plan(regions, tiers, params);
}

TEST(PlanPromotion, GoesStraightToTheFastestTier) {
  const Plan p = plan({region(0, 2, 3, 3)}, {tier(0, 10), tier(1, 10), tier(2, 10), tier(3, 10)});
  ASSERT_EQ(p.promotions.size(), 1u);
  EXPECT_EQ(p.promotions[0].from, 3);
  EXPECT_EQ(p.promotions[0].to, 0);
  EXPECT_EQ(p.promotions[0].length, 2 * kMiB);
  EXPECT_EQ(p.promotions[0].reason, Reason::kHot);
  EXPECT_EQ(p.promoted, 2 * kMiB);
}

TEST(PlanPromotion, TakesTheHottestFirstWhateverTheirTier) {
  const Plan p = plan({region(0, 2, 1, 1), region(2, 2, 3, 3), region(4, 2, 2, 2)},
                      {tier(0, 100), tier(1, 0), tier(2, 0), tier(3, 0)});
  ASSERT_EQ(p.promotions.size(), 3u);
  EXPECT_EQ(p.promotions[0].from, 3);
  EXPECT_EQ(p.promotions[1].from, 2);
  EXPECT_EQ(p.promotions[2].from, 1);
}

TEST(PlanPromotion, GoesToTheSecondTierWhenTheFirstHoldsHotterThings) {
  const Plan p =
      plan({region(0, 2, 0, 3), region(2, 2, 2, 2)}, {tier(0, 0), tier(1, 2), tier(2, 0)});
  ASSERT_EQ(p.promotions.size(), 1u);
  EXPECT_EQ(p.promotions[0].to, 1);
  EXPECT_TRUE(p.demotions.empty());
}

TEST(PlanClasses, TheHotPagesOfARegionRiseWhileItsColdPagesMakeRoom) {
  const Plan p = plan({class_of(0, 64, 0, 7, 4), class_of(0, 64, 1, 7, 8),
                       class_of(0, 64, 0, 1, 20), class_of(0, 64, 1, 1, 32)},
                      {tier(0, 0), tier(1, 100)});
  ASSERT_EQ(p.promotions.size(), 1u);
  EXPECT_EQ(p.promotions[0].page_class, 7);
  EXPECT_EQ(p.promotions[0].from, 1);
  EXPECT_EQ(p.promotions[0].start, 0u);
  EXPECT_EQ(p.promotions[0].length, 64 * kMiB) << "wherever in the region they are";
  EXPECT_EQ(p.promotions[0].bytes, 8 * kMiB);
  ASSERT_EQ(p.demotions.size(), 1u);
  EXPECT_EQ(p.demotions[0].page_class, 1);
  EXPECT_EQ(p.demotions[0].from, 0);
  EXPECT_EQ(p.demotions[0].bytes, 8 * kMiB) << "of the 20 that are cold";
  EXPECT_NEAR(static_cast<double>(p.demotions[0].length), 64.0 * kMiB * 8 / 20, kPage);
}

TEST(PlanClasses, AClassLargerThanTheLimitIsCutToItsShareOfTheLengthEachTurnElsewhere) {
  PolicyParams params = limit(2);
  std::set<std::uint64_t> starts;
  for (params.turn = 0; params.turn < 8; ++params.turn) {
    const Plan p = plan({class_of(0, 64, 1, 7, 8)}, {tier(0, 100), tier(1, 0)}, params);
    ASSERT_EQ(p.promotions.size(), 1u);
    EXPECT_EQ(p.promotions[0].length, 16 * kMiB);
    EXPECT_EQ(p.promotions[0].bytes, 2 * kMiB);
    EXPECT_LE(p.promotions[0].start, 48 * kMiB);
    starts.insert(p.promotions[0].start);
    EXPECT_EQ(p.cut, 1u);
  }
  EXPECT_GT(starts.size(), 6u);
}

// Each cut leaves a hole where it was. Always from the same place the next ones would find less and
// less: after 1000 turns 90 % would still be there.
TEST(PlanClasses, AClassLargerThanTheLimitIsMovedInTheEnd) {
  constexpr std::uint64_t kPages = 64 * kMiB / kPage;
  std::vector<bool> is_slow(kPages);
  for (std::uint64_t page = 0; page < kPages; page += 3) is_slow[page] = true;
  const auto left = [&] { return static_cast<Bytes>(std::ranges::count(is_slow, true)) * kPage; };
  PolicyParams params = limit(2);
  for (params.turn = 1; left() > 0 && params.turn < 1000; ++params.turn) {
    RegionView hot = class_of(0, 64, 1, 7, 0);
    hot.resident = left();
    const Plan p = plan({hot}, {tier(0, 100), tier(1, 0)}, params);
    ASSERT_EQ(p.promotions.size(), 1u);
    const Move& move = p.promotions[0];
    for (std::uint64_t page = move.start / kPage; page < (move.start + move.length) / kPage; ++page)
      is_slow[page] = false;
  }
  EXPECT_LE(params.turn, 16u) << "11 at best";
}

TEST(PlanClasses, NoMoreOfAClassRisesThanThereIsRoomFor) {
  const Plan p = plan({class_of(0, 64, 1, 7, 8)}, {tier(0, 2), tier(1, 0)});
  ASSERT_EQ(p.promotions.size(), 1u);
  EXPECT_EQ(p.promotions[0].length, 16 * kMiB);
  EXPECT_EQ(p.promotions[0].bytes, 2 * kMiB);
}

TEST(PlanPromotion, BreaksTiesByTheLastIntervalThenBySize) {
  RegionView recent = region(0, 4, 1, 2), small = region(4, 2, 1, 2), large = region(8, 4, 1, 2);
  recent.hi_q16 = q16(3);
  const Plan p = plan({large, small, recent}, {tier(0, 100), tier(1, 0)});
  ASSERT_EQ(p.promotions.size(), 3u);
  EXPECT_EQ(p.promotions[0].start, 0u);
  EXPECT_EQ(p.promotions[1].start, 4 * kMiB);
  EXPECT_EQ(p.promotions[2].start, 8 * kMiB);
}

TEST(PlanPromotion, SpendsTheLimitToTheByte) {
  const Plan p =
      plan({region(0, 3, 1, 3), region(4, 3, 1, 2)}, {tier(0, 100), tier(1, 0)}, limit(6));
  EXPECT_EQ(p.promoted, 6 * kMiB);
  EXPECT_EQ(p.cut, 0u);
  EXPECT_FALSE(p.limit_reached);
}

TEST(PlanPromotion, CutsARegionAtTheLimit) {
  PolicyParams params = limit(200);
  const Plan p = plan({region(0, 256, 1, 3)}, {tier(0, 1000), tier(1, 0)}, params);
  ASSERT_EQ(p.promotions.size(), 1u);
  EXPECT_EQ(p.promotions[0].length, 200 * kMiB);
  EXPECT_EQ(p.cut, 1u);
  params.promote_limit = 256 * kMiB - 1;
  EXPECT_EQ(plan({region(0, 256, 1, 3)}, {tier(0, 1000), tier(1, 0)}, params).promoted,
            256 * kMiB - kPage);
}

TEST(PlanPromotion, CutsNoHugePageAndLeavesTheLimitToASmallerOne) {
  RegionView huge = region(0, 4, 1, 3);
  huge.leaf_shift = 21;
  const Plan p = plan({huge, region(4, 1, 1, 1)}, {tier(0, 100), tier(1, 0)}, limit(3));
  ASSERT_EQ(p.promotions.size(), 2u);
  EXPECT_EQ(p.promotions[0].length, 2 * kMiB);
  EXPECT_EQ(p.promotions[1].length, kMiB);
}

TEST(PlanPromotion, SaysThatTheLimitWasReached) {
  const Plan p =
      plan({region(0, 2, 1, 3), region(2, 2, 1, 3)}, {tier(0, 100), tier(1, 0)}, limit(2));
  EXPECT_EQ(p.promotions.size(), 1u);
  EXPECT_TRUE(p.limit_reached);
}

TEST(PlanPromotion, OfNothingAtALimitOfZero) {
  const Plan p = plan({region(0, 2, 1, 3)}, {tier(0, 100), tier(1, 0)}, limit(0));
  EXPECT_TRUE(p.promotions.empty());
  EXPECT_TRUE(p.demotions.empty());
}

TEST(PlanPromotion, NeverTakesWhatIsCold) {
  EXPECT_TRUE(plan({region(0, 2, 1, 0)}, {tier(0, 100), tier(1, 0)}).promotions.empty());
  RegionView barely = region(0, 2, 1, 0);
  barely.whi_q16 = 1;
  EXPECT_EQ(plan({barely}, {tier(0, 100), tier(1, 0)}).promotions.size(), 1u);
}

TEST(PlanPromotion, HoldsToItsThresholdExactly) {
  PolicyParams params;
  params.promote_at_least_q16 = q16(1);
  RegionView r = region(0, 2, 1, 1);
  EXPECT_EQ(plan({r}, {tier(0, 100), tier(1, 0)}, params).promotions.size(), 1u);
  --r.whi_q16;
  EXPECT_TRUE(plan({r}, {tier(0, 100), tier(1, 0)}, params).promotions.empty());
}

TEST(PlanPromotion, LeavesImmovableRegions) {
  RegionView fixed = region(0, 2, 1, 3);
  fixed.movable = false;
  EXPECT_TRUE(plan({fixed}, {tier(0, 100), tier(1, 0)}).promotions.empty());
}

TEST(PlanPromotion, KeepsTheReserveFree) {
  const Plan p = plan({region(0, 8, 1, 3)}, {tier(0, 10, 4), tier(1, 0)});
  EXPECT_EQ(p.promoted, 6 * kMiB);
  EXPECT_TRUE(plan({region(0, 8, 1, 3)}, {tier(0, 10, 10), tier(1, 0)}).promotions.empty());
}

TEST(PlanPromotion, CountsASparseRegionByWhatIsPresent) {
  RegionView sparse = region(0, 64, 1, 3);
  sparse.resident = 2 * kMiB;
  const Plan p = plan({sparse}, {tier(0, 100), tier(1, 0)}, limit(2));
  ASSERT_EQ(p.promotions.size(), 1u);
  EXPECT_EQ(p.promotions[0].length, 64 * kMiB);
  EXPECT_EQ(p.promotions[0].bytes, 2 * kMiB);
}

TEST(PlanPromotion, GathersThePagesOfARegionThatAreNotInTheFastestTier) {
  RegionView r = region(0, 64, 0, 3);
  r.away = 10 * kMiB;
  const Plan p = plan({r}, {tier(0, 10), tier(1, 0)}, limit(10));
  ASSERT_EQ(p.promotions.size(), 1u);
  EXPECT_EQ(p.promotions[0].reason, Reason::kGather);
  EXPECT_EQ(p.promotions[0].bytes, 10 * kMiB);
  EXPECT_EQ(p.promotions[0].length, 64 * kMiB);
  EXPECT_EQ(p.promotions[0].to, 0);
}

TEST(PlanPromotion, GathersInTheFastestTierOnly) {
  RegionView r = region(0, 64, 1, 0.1);
  r.away = 10 * kMiB;
  EXPECT_TRUE(
      plan({r, region(64, 2, 0, 3)}, {tier(0, 0), tier(1, 100), tier(2, 100)}).promotions.empty());
}

TEST(PlanPromotion, OneHotIntervalMovesARegionNoFurtherThanItsSmoothedHotness) {
  RegionView burst = region(0, 2, 1, 1.5);  // cold before, count 3 now: WHI 1.5
  burst.hi_q16 = q16(3);
  const std::vector<TierView> full = {tier(0, 0), tier(1, 0)};
  EXPECT_TRUE(plan({burst, region(2, 2, 0, 1.6)}, full).promotions.empty());
}

TEST(PlanPromotion, PassesAPlaceThatIsTooSmallToBeWorthIt) {
  RegionView r = region(0, 4, 2, 3);
  const Plan p = plan({r}, {tier(0, 1), tier(1, 4), tier(2, 0)});
  ASSERT_EQ(p.promotions.size(), 1u);
  EXPECT_EQ(p.promotions[0].to, 1);
  const Plan half = plan({r}, {tier(0, 2), tier(1, 4), tier(2, 0)});
  EXPECT_EQ(half.promotions[0].to, 0);
  EXPECT_EQ(half.promotions[0].length, 2 * kMiB);
}

TEST(PlanPromotion, TakesPartOfARegionWhenItIsHalfOrTwoMebibytes) {
  const auto promoted = [](Bytes mib, Bytes free) {
    std::vector<TierView> tiers = {tier(0, 0), tier(1, 0)};
    tiers[0].free = free;
    return plan({region(0, mib, 1, 3)}, tiers).promoted;
  };
  EXPECT_EQ(promoted(1, kMiB / 2), kMiB / 2);
  EXPECT_EQ(promoted(1, kMiB / 2 - kPage), 0u);
  EXPECT_EQ(promoted(64, 2 * kMiB), 2 * kMiB);
  EXPECT_EQ(promoted(64, 2 * kMiB - kPage), 0u);
}

TEST(PlanPromotion, GivesAListUpAfterSixtyFourCandidatesWithoutAPlace) {
  const auto promoted = [](std::uint64_t misfits) {
    std::vector<RegionView> regions;
    for (std::uint64_t i = 0; i < misfits; ++i) regions.push_back(region(2 * i, 1, 1, 3));
    RegionView small = region(2 * misfits, 1, 1, 3);
    small.length = small.resident = kPage;
    small.hi_q16 = q16(2);  // last of its list
    regions.push_back(small);
    std::vector<TierView> tiers = {tier(0, 0), tier(1, 0)};
    tiers[0].free = kPage;
    return plan(regions, tiers).promoted;
  };
  EXPECT_EQ(promoted(63), kPage);
  EXPECT_EQ(promoted(64), 0u);
}

TEST(PlanPromotion, TierByTierClimbsOneTierAtATime) {
  PolicyParams params;
  params.tier_by_tier = true;
  const std::vector<TierView> tiers = {tier(0, 10), tier(1, 10), tier(2, 10), tier(3, 10)};
  for (const NodeId from : {1, 2, 3}) {
    const Plan p = plan({region(0, 2, from, 3)}, tiers, params);
    ASSERT_EQ(p.promotions.size(), 1u);
    EXPECT_EQ(p.promotions[0].to, from - 1);
  }
}

TEST(PlanDemotion, HappensOnlyWhenAPromotionLacksRoom) {
  const std::vector<RegionView> regions = {region(0, 2, 0, 0), region(2, 2, 1, 3)};
  EXPECT_TRUE(plan(regions, {tier(0, 2), tier(1, 0)}).demotions.empty());
  EXPECT_EQ(plan(regions, {tier(0, 0), tier(1, 2)}).demotions.size(), 1u);
  EXPECT_TRUE(plan({regions[0]}, {tier(0, 0), tier(1, 2)}).demotions.empty());
}

TEST(PlanDemotion, GoesOneTierDownWhileThereIsRoom) {
  const Plan p = plan({region(0, 2, 0, 0), region(2, 2, 3, 3)},
                      {tier(0, 0), tier(1, 2), tier(2, 9), tier(3, 9)});
  ASSERT_EQ(p.demotions.size(), 1u);
  EXPECT_EQ(p.demotions[0].from, 0);
  EXPECT_EQ(p.demotions[0].to, 1);
  EXPECT_EQ(p.demotions[0].reason, Reason::kMadeRoom);
}

TEST(PlanDemotion, SaysHowLargeTheVictimsPagesAre) {
  std::vector<RegionView> regions = {region(0, 2, 0, 0), region(2, 2, 1, 3)};
  regions[0].leaf_shift = 21;
  const Plan plan = make_plan(regions, std::vector{tier(0, 0), tier(1, 10)}, limit(10));
  ASSERT_EQ(plan.demotions.size(), 1u);
  EXPECT_EQ(plan.demotions[0].leaf_shift, 21);
}

TEST(PlanDemotion, MakesRoomInAnyTierThatIsADestination) {
  const Plan p = plan({region(0, 2, 0, 3), region(2, 2, 1, 0), region(4, 2, 3, 2)},
                      {tier(0, 0), tier(1, 0), tier(2, 2), tier(3, 0)});
  ASSERT_EQ(p.promotions.size(), 1u);
  EXPECT_EQ(p.promotions[0].to, 1);
  ASSERT_EQ(p.demotions.size(), 1u);
  EXPECT_EQ(p.demotions[0].from, 1);
  EXPECT_EQ(p.demotions[0].to, 2);
}

TEST(PlanDemotion, ExchangesWhenAllTiersAreFull) {
  const Plan p =
      plan({region(0, 2, 0, 0), region(2, 2, 2, 3)}, {tier(0, 0), tier(1, 0), tier(2, 0)});
  ASSERT_EQ(p.promotions.size(), 1u);
  ASSERT_EQ(p.demotions.size(), 1u);
  EXPECT_EQ(p.demotions[0].to, 2);
  EXPECT_EQ(p.demotions[0].reason, Reason::kExchange);
}

TEST(PlanDemotion, ExchangesEvenBelowTheReserve) {
  const Plan p = plan({region(0, 2, 0, 0), region(2, 2, 1, 3)}, {tier(0, 1, 64), tier(1, 1, 64)});
  EXPECT_EQ(p.promoted, 2 * kMiB);
  EXPECT_EQ(p.demoted, 2 * kMiB);
}

TEST(PlanDemotion, NeedsAGainOfExactlyTheMargin) {
  const std::vector<TierView> full = {tier(0, 0), tier(1, 0)};
  RegionView victim = region(0, 2, 0, 1), riser = region(2, 2, 1, 1);
  riser.whi_q16 = victim.whi_q16 + 3072;  // one bucket
  set_sure_rate(riser);
  EXPECT_EQ(plan({victim, riser}, full).promotions.size(), 1u);
  --riser.whi_q16;
  const Plan p = plan({victim, riser}, full);
  EXPECT_TRUE(p.promotions.empty());
  EXPECT_EQ(p.no_gain, 1u);
}

TEST(PlanDemotion, WithoutAMarginStillNeedsSomeGain) {
  const std::vector<TierView> full = {tier(0, 0), tier(1, 0)};
  PolicyParams params;
  params.gain_margin = 0;
  RegionView victim = region(0, 2, 0, 1), riser = region(2, 2, 1, 1);
  EXPECT_TRUE(plan({victim, riser}, full, params).promotions.empty());
  ++riser.whi_q16;
  ++riser.rate_q8;
  EXPECT_EQ(plan({victim, riser}, full, params).promotions.size(), 1u);
}

TEST(PlanDemotion, CutsAnExchangeToWhatIsColdEnough) {
  const Plan p =
      plan({region(0, 2, 0, 0), region(2, 2, 0, 3), region(4, 4, 1, 3)}, {tier(0, 0), tier(1, 0)});
  ASSERT_EQ(p.promotions.size(), 1u);
  EXPECT_EQ(p.promotions[0].length, 2 * kMiB);
  EXPECT_EQ(p.demoted, 2 * kMiB);
}

TEST(PlanDemotion, SaysWhenVictimsHadNowhereToGo) {
  RegionView huge = region(0, 64, 0, 0);
  huge.leaf_shift = 21;
  const Plan p = plan({huge, region(64, 1, 1, 3)}, {tier(0, 0), tier(1, 0)});
  EXPECT_TRUE(p.promotions.empty());
  EXPECT_EQ(p.no_room, 1u);
  EXPECT_EQ(p.stayed, (std::vector<Stayed>{{.node = 1, .no_room = kMiB}}));
}

TEST(Plan, SaysHowManyBytesStayInEachTierAndWhy) {
  const Plan p =
      plan({region(0, 2, 0, 3), region(2, 8, 1, 2), region(10, 4, 2, 1), region(14, 64, 2, 0)},
           {tier(0, 0), tier(1, 0), tier(2, 0)});
  EXPECT_TRUE(p.promotions.empty());
  EXPECT_EQ(p.stayed, (std::vector<Stayed>{{.node = 1, .no_gain = 8 * kMiB},
                                           {.node = 2, .no_gain = 4 * kMiB}}))
      << "what is cold wants nothing";
}

TEST(Plan, IsEmptyWithoutRegionsOrTiers) {
  EXPECT_EQ(plan({}, {tier(0, 10)}), Plan{});
  EXPECT_EQ(plan({region(0, 2, 0, 3)}, {}), Plan{});
  EXPECT_EQ(plan({region(0, 2, 0, 3)}, {tier(0, 10)}), Plan{});
}

TEST(Plan, HasNothingToDoWhenTheHotIsFastAndTheColdIsSlow) {
  const Plan p = plan({region(0, 2, 0, 3), region(2, 2, 1, 1)}, {tier(0, 0), tier(1, 0)});
  EXPECT_TRUE(p.promotions.empty());
  EXPECT_TRUE(p.demotions.empty());
}

TEST(Plan, LetsProcessesCompeteInOneView) {
  const NodeId nodes[] = {0, 1};
  Ranking ranking({.buckets = 64, .hotness_max = 3}, nodes);
  const std::vector<RegionView> warm = {region(0, 2, 1, 1)}, hot = {region(0, 2, 1, 3)};
  ranking.update(5, warm);
  ranking.update(6, hot);
  const std::vector<TierView> tiers = {tier(0, 2), tier(1, 0)};
  const Plan p = make_plan(ranking.histogram(), tiers, {});
  ASSERT_EQ(p.promotions.size(), 1u);
  EXPECT_EQ(p.promotions[0].process, 6u);
}

TEST(Plan, TakesATierNobodyDescribedAsFull) {
  const NodeId nodes[] = {0, 1};
  Ranking ranking({.buckets = 64, .hotness_max = 3}, nodes);
  const std::vector<RegionView> hot = {region(0, 2, 1, 3)};
  ranking.update(0, hot);
  const std::vector<TierView> tiers = {tier(1, 10)};
  EXPECT_TRUE(make_plan(ranking.histogram(), tiers, {}).promotions.empty());
}

// Heat that is soon elsewhere fills what is free, and sends nothing away.
TEST(PlanPromotion, ChangesPlacesOnlyForWhatStaysHotterThanOthers) {
  std::vector<RegionView> regions = {warm(0, 0, 0), warm(2, 1, 12), warm(4, 1, 11)};
  regions[0].whi_q16 = q16(1);
  const auto promoted = [&](Bytes free_mib, double exchange_horizon) {
    std::vector<TierView> tiers = two_tiers(free_mib);
    tiers[1].free = 64 * kMiB;
    Histogram histogram({}, std::vector<NodeId>{0, 1});
    for (const RegionView& r : regions) histogram.insert(0, r);
    const ProcessView view{.histogram = &histogram,
                           .tiers = tiers,
                           .measured = {.horizon = 60, .exchange_horizon = exchange_horizon}};
    return make_plans({&view, 1}, {}).front().promoted / kMiB;
  };
  EXPECT_EQ(promoted(0, 60), 2u) << "in the place of the cold one";
  EXPECT_EQ(promoted(0, 0), 0u);
  EXPECT_EQ(promoted(2, 60), 4u);
  EXPECT_EQ(promoted(2, 0), 2u);
  EXPECT_EQ(promoted(4, 0), 4u);
}

TEST(PlanPromotion, OfWhatIsReadTooRoughlyTakesNobodysPlaceAndTellsWhatItWouldSave) {
  std::vector<RegionView> regions = {warm(0, 0, 0), warm(2, 1, 12), warm(4, 1, 11)};
  regions[0].whi_q16 = q16(1);
  const auto plan = [&](Bytes free_mib, bool only_fills) {
    std::vector<TierView> tiers = two_tiers(free_mib);
    tiers[1].free = 64 * kMiB;
    Histogram histogram({}, std::vector<NodeId>{0, 1});
    for (const RegionView& r : regions) histogram.insert(0, r);
    const ProcessView view{.histogram = &histogram, .tiers = tiers, .only_fills = only_fills};
    return make_plans({&view, 1}, {}).front();
  };
  const Plan exact = plan(2, false), rough = plan(2, true);
  ASSERT_EQ(exact.promotions.size(), 2u);
  ASSERT_EQ(exact.demotions.size(), 1u);
  ASSERT_EQ(rough.promotions.size(), 1u) << "into what is free";
  EXPECT_EQ(rough.promotions[0], exact.promotions[0]);
  EXPECT_TRUE(rough.demotions.empty());
  EXPECT_EQ(rough.waiting, exact.promotions[1].bytes);
  EXPECT_DOUBLE_EQ(rough.waiting_ns_per_s,
                   exact.promotions[1].saved_ns_per_s + exact.demotions[0].saved_ns_per_s);
  EXPECT_EQ(exact.waiting, 0u);
  EXPECT_EQ(plan(0, true).promoted, 0u);
  EXPECT_EQ(plan(0, true).waiting, plan(0, false).promoted);
}

}  // namespace
