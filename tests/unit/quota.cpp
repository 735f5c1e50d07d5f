// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <hmk/core/quota.h>

#include <algorithm>

#include "support/regions.hpp"

using namespace hmk::test;

namespace {

Regions base_regions(std::uint64_t nr) {
  Regions regions;
  for (std::uint64_t i = 0; i < nr; ++i)
    regions.push_back(region_of(i * kBasePages, (i + 1) * kBasePages));
  return regions;
}

class Quota : public testing::Test {
 protected:
  hmk_quota_rule rule_ = {.num_ps = 0, .top_k = 5, .scout_bp = 0, .by_size = 0};
  hmk_quota_state state_{};
  hmk_quota_result result_{};

  void assign(Regions& regions, std::uint32_t num_ps, std::uint64_t freed = 0) {
    rule_.num_ps = num_ps;
    hmk_quota_assign(regions.data(), static_cast<std::uint32_t>(regions.size()), freed, &rule_,
                     &state_, &result_);
    EXPECT_EQ(result_.sum, sum_of_quotas(regions));
    EXPECT_EQ(result_.sum,
              hmk_quota_sum(regions.data(), static_cast<std::uint32_t>(regions.size())));
  }
};

TEST_F(Quota, BySizeGivesThreeWhereOneMoreLookDecides) {
  rule_.by_size = 1;
  Regions regions = base_regions(100);
  for (const std::size_t i : {7u, 50u, 99u}) hmk_region_set(&regions[i], HMK_REGION_AGAIN);
  assign(regions, 150);
  EXPECT_EQ(result_.sum, 150u);
  for (std::size_t i = 0; i < regions.size(); i++) {
    if (hmk_region_is(&regions[i], HMK_REGION_AGAIN))
      EXPECT_EQ(regions[i].quota, 3) << i;
    else
      EXPECT_LE(regions[i].quota, 2) << i;
  }
}

TEST_F(Quota, BySizeGivesNoMoreThanThereAreToAnyone) {
  rule_.by_size = 1;
  Regions regions = base_regions(100);
  for (hmk_region& r : regions) hmk_region_set(&r, HMK_REGION_AGAIN);
  assign(regions, 100);
  for (const hmk_region& r : regions) EXPECT_EQ(r.quota, 1);
  regions = {region_of(0, 2), region_of(2, 512ul * 64)};
  hmk_region_set(&regions[0], HMK_REGION_AGAIN);
  assign(regions, 20);
  EXPECT_EQ(regions[0].quota, 2);  // it has no more leaves
  EXPECT_EQ(regions[1].quota, 18);
}

TEST(QuotaCap, IsTheNumberOfLeavesUpToTheMost) {
  const auto cap = [](std::uint64_t pages, std::uint8_t leaf_shift) {
    hmk_region r = region_of(0, pages);
    r.leaf_shift = leaf_shift;
    return hmk_quota_cap(&r);
  };
  EXPECT_EQ(cap(1, 12), 1u);
  EXPECT_EQ(cap(HMK_CORE_MAX_QUOTA - 1, 12), HMK_CORE_MAX_QUOTA - 1);
  EXPECT_EQ(cap(HMK_CORE_MAX_QUOTA, 12), HMK_CORE_MAX_QUOTA);
  EXPECT_EQ(cap(HMK_CORE_MAX_QUOTA + 1, 12), HMK_CORE_MAX_QUOTA);
  EXPECT_EQ(cap(512, 21), 1u);
  EXPECT_EQ(cap(513, 21), 2u);
  EXPECT_EQ(cap(16UL * 512, 21), 16u);
  EXPECT_EQ(cap(1 << 18, 30), 1u);
}

TEST(QuotaTop, KeepsTheLargestInOrder) {
  hmk_top top;
  hmk_top_init(&top, 3);
  for (const std::uint32_t variance : {5u, 0u, 9u, 1u, 7u, 7u, 3u})
    hmk_top_offer(&top, variance * 10, variance);
  ASSERT_EQ(top.nr, 3u);
  EXPECT_EQ(top.at[0].variance_q16, 9u);
  EXPECT_EQ(top.at[1].variance_q16, 7u);
  EXPECT_EQ(top.at[2].variance_q16, 7u);
  EXPECT_EQ(top.at[0].index, 90u);
}

TEST(QuotaTop, RecordsNothingThatHasNotChanged) {
  hmk_top top;
  hmk_top_init(&top, 3);
  hmk_top_offer(&top, 1, 0);
  EXPECT_EQ(top.nr, 0u);
}

TEST(QuotaTop, KeepsTheFirstOfEqualOnes) {
  hmk_top top;
  hmk_top_init(&top, 1);
  hmk_top_offer(&top, 1, 5);
  hmk_top_offer(&top, 2, 5);
  EXPECT_EQ(top.at[0].index, 1u);
}

TEST(QuotaTop, ClampsItsSize) {
  hmk_top top;
  hmk_top_init(&top, 0);
  EXPECT_EQ(top.k, 1u);
  hmk_top_init(&top, HMK_QUOTA_MAX_TOP + 1);
  EXPECT_EQ(top.k, HMK_QUOTA_MAX_TOP);
  for (std::uint32_t i = 1; i < 1000; ++i) hmk_top_offer(&top, i, i);
  EXPECT_EQ(top.nr, HMK_QUOTA_MAX_TOP);
  EXPECT_EQ(top.at[HMK_QUOTA_MAX_TOP - 1].index, 1000 - HMK_QUOTA_MAX_TOP);
}

TEST_F(Quota, SpreadsTheSurplusBySize) {
  Regions r = {region_of(0, 512), region_of(512, 2048)};
  assign(r, 10);
  EXPECT_EQ(r[0].quota, 3);
  EXPECT_EQ(r[1].quota, 7);
}

TEST_F(Quota, GivesNoRegionMoreThanItCanUseAndTheRestToOthers) {
  Regions r = {region_of(0, 2), region_of(2, 2000)};
  assign(r, HMK_CORE_MAX_QUOTA + 2);
  EXPECT_EQ(r[0].quota, 2);
  EXPECT_EQ(r[1].quota, HMK_CORE_MAX_QUOTA);
}

TEST_F(Quota, LeavesSamplesOverWhenNobodyCanUseThem) {
  Regions r = {region_of(0, 2), region_of(2, 2000)};
  assign(r, HMK_CORE_MAX_QUOTA + 3);
  EXPECT_EQ(result_.sum, HMK_CORE_MAX_QUOTA + 2);
}

TEST_F(Quota, IsDegradedWithOneRegionMoreThanSamples) {
  Regions r = base_regions(10);
  assign(r, 10);
  EXPECT_EQ(result_.degraded, 0u);
  assign(r, 9);
  EXPECT_EQ(result_.degraded, 1u);
  EXPECT_EQ(result_.sum, 10u);
  assign(r, 0);
  EXPECT_EQ(result_.sum, 10u);
}

TEST_F(Quota, GivesFreedSamplesToWhatChangedMost) {
  Regions r = base_regions(4);
  for (hmk_region& region : r) region.quota = 2;
  r[2].prev_hi_q16 = 1000;
  r[3].prev_hi_q16 = 10;
  assign(r, 9, 1);
  EXPECT_EQ(r[2].quota, 3);
  EXPECT_EQ(result_.moved, 1u);
  EXPECT_EQ(result_.sum, 9u);
}

TEST_F(Quota, SharesFreedSamplesAmongTheTopK) {
  Regions r = base_regions(8);
  rule_.top_k = 2;
  r[1].prev_hi_q16 = 100;
  r[4].prev_hi_q16 = 300;
  r[6].prev_hi_q16 = 200;
  assign(r, 11, 3);
  EXPECT_EQ(r[1].quota, 1);
  EXPECT_EQ(r[4].quota, 3);
  EXPECT_EQ(r[6].quota, 2);
}

TEST_F(Quota, SpreadsFreedSamplesThatTheTopKCannotTake) {
  Regions r = base_regions(3);
  r[0].prev_hi_q16 = 100;
  assign(r, 3 + 40, 40);
  EXPECT_EQ(r[0].quota, HMK_CORE_MAX_QUOTA);
  EXPECT_EQ(result_.moved, HMK_CORE_MAX_QUOTA - 1);
  EXPECT_EQ(result_.sum, 43u);
}

TEST_F(Quota, TakesSamplesBackWhenTheBudgetShrinks) {
  Regions r = base_regions(4);
  assign(r, 64);
  assign(r, 7);
  EXPECT_EQ(result_.sum, 7u);
  for (const hmk_region& region : r) EXPECT_GE(region.quota, 1);
}

TEST_F(Quota, SendsAShareOfTheSamplesScouting) {
  Regions r = base_regions(80);
  rule_.scout_bp = 1000;
  assign(r, 100);
  EXPECT_EQ(result_.scouts, 10u);
  EXPECT_EQ(result_.sum, 100u);
  unsigned marked = 0;
  for (const hmk_region& region : r) marked += (region.flags & HMK_REGION_SCOUTED) != 0;
  EXPECT_EQ(marked, 10u);
}

TEST_F(Quota, LetsScoutsVisitEveryRegionInTurn) {
  Regions r = base_regions(90);
  rule_.scout_bp = 1000;
  std::vector<int> visits(r.size());
  for (int interval = 0; interval < 9; ++interval) {
    assign(r, 100);
    for (std::size_t i = 0; i < r.size(); ++i) visits[i] += (r[i].flags & HMK_REGION_SCOUTED) != 0;
  }
  for (const int count : visits) EXPECT_EQ(count, 1);
}

TEST_F(Quota, SendsNoScoutToARegionOfOneLeaf) {
  Regions r = base_regions(4);
  for (hmk_region& region : r) region.leaf_shift = 21;
  rule_.scout_bp = 5000;
  assign(r, 8);
  EXPECT_EQ(result_.scouts, 0u);
  EXPECT_EQ(result_.sum, 4u);
}

TEST_F(Quota, SendsNoScoutWhenRegionsNeedAllSamples) {
  Regions r = base_regions(10);
  rule_.scout_bp = 5000;
  assign(r, 10);
  EXPECT_EQ(result_.scouts, 0u);
  assign(r, 11);
  EXPECT_EQ(result_.scouts, 1u);
}

TEST(QuotaTurns, WatchAsManyRegionsAsCanBeFromWhereTheLastTurnEnded) {
  Regions regions;
  for (std::uint64_t i = 0; i < 5; i++) regions.push_back(region_of(i, i + 1));
  hmk_quota_state state{};
  std::string watched;
  for (int turn = 0; turn < 3; turn++) {
    EXPECT_EQ(hmk_quota_take_turns(regions.data(), 5, 2, &state), 2u);
    for (const hmk_region& r : regions) watched += hmk_region_is(&r, HMK_REGION_STALE) ? '.' : 'x';
    watched += ' ';
  }
  EXPECT_EQ(watched, "xx... ..xx. x...x ");
  EXPECT_EQ(hmk_quota_take_turns(regions.data(), 5, 5, &state), 5u);
  for (const hmk_region& r : regions) EXPECT_FALSE(hmk_region_is(&r, HMK_REGION_STALE));
}

TEST(QuotaTurns, GoOnWithTheFirstRegionThatCouldNotBePaidFor) {
  Regions regions;
  for (std::uint64_t i = 0; i < 4; i++) {
    regions.push_back(region_of(8 * i, 8 * i + 8));
    regions.back().quota = 3;
  }
  regions[0].flags |= HMK_REGION_STALE;
  hmk_quota_state state{};
  hmk_quota_cut_short(regions.data(), 4, 0, 4, &state);
  EXPECT_EQ(regions[1].quota, 3);
  EXPECT_EQ(regions[2].quota, 1) << "what is left of its samples";
  EXPECT_FALSE(hmk_region_is(&regions[2], HMK_REGION_STALE));
  EXPECT_TRUE(hmk_region_is(&regions[3], HMK_REGION_STALE));
  EXPECT_EQ(state.turn_at, regions[2].start);
  hmk_quota_cut_short(regions.data(), 4, 0, 0, &state);
  for (const hmk_region& r : regions) EXPECT_TRUE(hmk_region_is(&r, HMK_REGION_STALE));
}

// Cut in the order of the addresses, the same regions would be left out for ever: a turn that
// begins with region 2 of four and pays for two would go on with region 2 each time.
TEST(QuotaTurns, CutShortOfTheRegionsWhoseTurnCameLast) {
  Regions regions;
  for (std::uint64_t i = 0; i < 4; i++) regions.push_back(region_of(i, i + 1));
  hmk_quota_state state{};
  hmk_quota_cut_short(regions.data(), 4, 2, 3, &state);
  std::string watched;
  for (const hmk_region& r : regions) watched += hmk_region_is(&r, HMK_REGION_STALE) ? '.' : 'x';
  EXPECT_EQ(watched, "x.xx");
  EXPECT_EQ(state.turn_at, regions[1].start);
}

/// Regions of so many samples each, on rung 0.
Regions with_quotas(const std::vector<std::uint16_t>& quotas) {
  Regions regions = base_regions(quotas.size());
  for (std::size_t i = 0; i < quotas.size(); i++) regions[i].quota = quotas[i];
  return regions;
}

std::vector<std::uint16_t> quotas_of(const Regions& regions) {
  std::vector<std::uint16_t> quotas;
  for (const hmk_region& r : regions) quotas.push_back(r.quota);
  return quotas;
}

void fit(Regions& regions, std::uint64_t most) {
  hmk_quota_fit(regions.data(), static_cast<__u32>(regions.size()), most);
}

TEST(QuotaFit, TakesNothingWhereAllFit) {
  Regions regions = with_quotas({3, 1, 5});
  fit(regions, 9);
  EXPECT_EQ(quotas_of(regions), (std::vector<std::uint16_t>{3, 1, 5}));
  fit(regions, 8);
  EXPECT_EQ(sum_of_quotas(regions), 8u);
}

TEST(QuotaFit, TakesInProportionToWhatIsAboveOneEach) {
  Regions regions = with_quotas({21, 1, 11, 0, 2, 2});
  fit(regions, 37 - 16);
  EXPECT_EQ(quotas_of(regions), (std::vector<std::uint16_t>{11, 1, 6, 0, 2, 1}));
}

TEST(QuotaFit, LeavesEachRegionOneAndTheShorterWindowsAllTheyHave) {
  Regions regions = with_quotas({4, 4, 1, 4});
  regions[1].rung = 1;
  fit(regions, 3);
  EXPECT_EQ(quotas_of(regions), (std::vector<std::uint16_t>{1, 4, 1, 1}));
  regions = with_quotas({4, 4, 1, 4});
  fit(regions, 0);
  EXPECT_EQ(quotas_of(regions), (std::vector<std::uint16_t>{1, 1, 1, 1}));
  fit(regions, 3);  // nothing is above one: they take turns
  EXPECT_EQ(sum_of_quotas(regions), 4u);
}

TEST(QuotaFit, LeavesAsManyAsThereIsRoomFor) {
  std::vector<std::uint16_t> quotas;
  for (unsigned i = 0; i < 97; i++) quotas.push_back(static_cast<std::uint16_t>(i * 7 % 33));
  for (const std::uint64_t most : {100u, 500u, 1000u}) {
    Regions regions = with_quotas(quotas);
    fit(regions, most);
    EXPECT_EQ(sum_of_quotas(regions), most);
  }
}

/// @read: of each region's samples, in the order of turns from `first` on.
std::uint64_t settle(Regions& regions, std::size_t first, const std::vector<__u32>& read) {
  hmk_quota_unread unread{};
  hmk_quota_state state{.spread_at = 0, .scout_at = 0, .turn_at = 7};
  for (std::size_t n = 0; n < regions.size(); n++)
    hmk_quota_watched(&unread, &regions[(first + n) % regions.size()], read[n]);
  hmk_quota_settle(&unread, &state);
  return state.turn_at;
}

TEST(QuotaUnread, NextTurnBeginsWithTheFirstThatWasNotWatched) {
  Regions regions = with_quotas({2, 2, 2, 2});
  regions[0].rung = 3;
  EXPECT_EQ(settle(regions, 2, {2, 1, 0, 0}), regions[0].start);
  EXPECT_EQ(quotas_of(regions), (std::vector<std::uint16_t>{2, 2, 2, 1}));
  EXPECT_TRUE(hmk_region_is(&regions[0], HMK_REGION_STALE));
  EXPECT_TRUE(hmk_region_is(&regions[1], HMK_REGION_STALE));
  EXPECT_FALSE(hmk_region_is(&regions[2], HMK_REGION_STALE));
  EXPECT_EQ(regions[0].rung, 2);
  EXPECT_EQ(regions[1].rung, 0);
}

TEST(QuotaUnread, NextTurnStaysWhereAllWereWatched) {
  Regions regions = with_quotas({2, 0, 2, 2});  // one has no page
  EXPECT_EQ(settle(regions, 0, {2, 0, 1, 2}), 7u);
}

TEST(QuotaUnread, WhereRegionsTakeTurnsOnlyTheEndOfThisOneIsRepeated) {
  Regions regions = with_quotas({1, 1, 1, 1, 1});
  hmk_region_set(&regions[4], HMK_REGION_STALE);
  EXPECT_EQ(settle(regions, 0, {1, 0, 1, 1, 0}), 7u);
  regions = with_quotas({1, 1, 1, 1, 1});
  hmk_region_set(&regions[4], HMK_REGION_STALE);
  EXPECT_EQ(settle(regions, 0, {0, 1, 0, 0, 0}), regions[2].start);
}

TEST_F(Quota, OfNoRegionsIsNothing) {
  Regions r;
  assign(r, 100, 5);
  EXPECT_EQ(result_.sum, 0u);
  EXPECT_EQ(result_.degraded, 0u);
}

}  // namespace
