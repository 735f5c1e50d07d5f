// SPDX-License-Identifier: MIT
#include "policy/pinned.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "policy/plan.hpp"
#include "support/policy.hpp"

using namespace hmk::policy;
using namespace hmk::test;
using Displaced = Ledger::Displaced;

namespace {

Displaced pinned(std::uint64_t at_mib, Bytes mib, NodeId to, NodeId now) {
  return {at_mib * kMiB, mib * kMiB, mib * kMiB, to, now};
}

struct Process {
  std::vector<RegionView> regions = {};
  std::vector<Displaced> pinned = {};
  std::vector<Bytes> held = {}, cap = {}, floor = {};
};

std::vector<Plan> plans(const std::vector<Process>& processes, const std::vector<TierView>& tiers,
                        const PolicyParams& params = {}) {
  std::vector<NodeId> nodes;
  nodes.reserve(tiers.size());
  for (const TierView& tier : tiers) nodes.push_back(tier.node);
  std::vector<Histogram> histograms;
  std::vector<ProcessView> views;
  for (const Process& process : processes) {
    Histogram& histogram =
        histograms.emplace_back(Histogram::Shape{params.buckets, params.hotness_max}, nodes);
    for (const RegionView& region : process.regions)
      histogram.insert(static_cast<ProcessId>(histograms.size()), region);
  }
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const auto& [regions, pinned, held, cap, floor] = processes[i];
    views.push_back({.histogram = &histograms[i],
                     .tiers = tiers,
                     .held = held,
                     .cap = cap,
                     .floor = floor,
                     .pinned = pinned,
                     .process = static_cast<ProcessId>(i + 1)});
  }
  return make_plans(views, params);
}

Bytes no_room(const Plan& plan) {
  return std::accumulate(plan.pinned_no_room.begin(), plan.pinned_no_room.end(), Bytes{0},
                         [](Bytes sum, const auto& one) { return sum + one.second; });
}

Plan plan(const std::vector<RegionView>& regions, const std::vector<Displaced>& pinned,
          const std::vector<TierView>& tiers, const PolicyParams& params = {}) {
  return plans({{regions, pinned}}, tiers, params).front();
}

TEST(Pinned, RisesIntoRoomBeforeWhatIsHot) {
  const Plan p =
      plan({region(0, 4, 1, 3)}, {pinned(8, 4, 0, 1)}, {tier(0, 100), tier(1, 0)}, limit(6));
  ASSERT_EQ(p.promotions.size(), 2u);
  EXPECT_EQ(p.promotions[0].start, 8 * kMiB);
  EXPECT_EQ(p.promotions[0].reason, Reason::kPin);
  EXPECT_EQ(p.promotions[0].process, 1u);
  EXPECT_EQ(p.promotions[1].reason, Reason::kHot);
  EXPECT_EQ(p.promotions[1].bytes, 2 * kMiB) << "what the limit leaves";
  EXPECT_EQ(p.promoted, 6 * kMiB);
}

TEST(Pinned, TakesTheRoomOfWhatIsNotHoweverHot) {
  const Plan p = plan({region(0, 4, 0, 3)}, {pinned(8, 4, 0, 1)}, {tier(0, 0), tier(1, 100)});
  ASSERT_EQ(p.promotions.size(), 1u);
  ASSERT_EQ(p.demotions.size(), 1u);
  EXPECT_EQ(p.demotions[0].reason, Reason::kForPin);
  EXPECT_EQ(p.demotions[0].start, 0u);
  EXPECT_EQ(p.demotions[0].bytes, 4 * kMiB);
  EXPECT_EQ(p.demotions[0].served, 1u);
  EXPECT_EQ(p.demotions[0].serves, 0u);
  EXPECT_EQ(no_room(p), 0u);
}

TEST(Pinned, ChangesPlacesWhereAllIsFull) {
  const Plan p = plan({region(0, 4, 0, 3)}, {pinned(8, 4, 0, 1)}, {tier(0, 0), tier(1, 0)});
  ASSERT_EQ(p.promotions.size(), 1u);
  EXPECT_EQ(p.promoted, 4 * kMiB);
  EXPECT_EQ(p.demoted, 4 * kMiB);
}

TEST(Pinned, TakesTheColdestFirst) {
  const Plan p = plan({region(0, 4, 0, 3), region(4, 4, 0, 1)}, {pinned(8, 4, 0, 1)},
                      {tier(0, 0), tier(1, 100)});
  ASSERT_EQ(p.demotions.size(), 1u);
  EXPECT_EQ(p.demotions[0].start, 4 * kMiB);
}

// What is pinned itself takes no part in the ranking: set_apart().
TEST(Pinned, SaysWhatFindsNoRoomBesideOtherPins) {
  RegionView held = region(0, 8, 0, 0);
  held.movable = false;
  const Plan p =
      plan({held, region(8, 4, 0, 3)}, {pinned(16, 8, 0, 1)}, {tier(0, 0), tier(1, 100)});
  ASSERT_EQ(p.promotions.size(), 1u);
  EXPECT_EQ(p.promotions[0].bytes, 4 * kMiB);
  EXPECT_EQ(no_room(p), 4 * kMiB);
  ASSERT_EQ(p.demotions.size(), 1u);
  EXPECT_EQ(p.demotions[0].start, 8 * kMiB) << "not what is held";
}

TEST(Pinned, WaitsForTheNextIntervalAtTheLimit) {
  const Plan p = plan({}, {pinned(0, 8, 0, 1)}, {tier(0, 100), tier(1, 0)}, limit(4));
  ASSERT_EQ(p.promotions.size(), 1u);
  EXPECT_EQ(p.promotions[0].length, 4 * kMiB);
  EXPECT_EQ(no_room(p), 0u);
  EXPECT_TRUE(
      plan({}, {pinned(0, 8, 0, 1)}, {tier(0, 100), tier(1, 0)}, limit(0)).promotions.empty());
}

TEST(Pinned, FallsToASlowerTierFirst) {
  const Plan p = plan({}, {pinned(0, 4, 0, 1), pinned(8, 4, 1, 0)}, {tier(0, 0), tier(1, 4)});
  ASSERT_EQ(p.demotions.size(), 1u);
  EXPECT_EQ(p.demotions[0].reason, Reason::kPin);
  EXPECT_EQ(p.demotions[0].served, kNobody);
  ASSERT_EQ(p.promotions.size(), 1u) << "into the room that it leaves";
  EXPECT_EQ(p.demoted, 4 * kMiB);
}

TEST(Pinned, FallsWhereSomethingElseCanFallFurther) {
  const Plan p =
      plan({region(16, 4, 1, 3)}, {pinned(0, 4, 1, 0)}, {tier(0, 0), tier(1, 0), tier(2, 100)});
  ASSERT_EQ(p.demotions.size(), 2u);
  EXPECT_EQ(p.demotions[0].reason, Reason::kForPin);
  EXPECT_EQ(p.demotions[0].to, 2);
  EXPECT_EQ(p.demotions[1].reason, Reason::kPin);
}

TEST(Pinned, StaysWhereThereIsNoRoomBelow) {
  const Plan p = plan({region(16, 4, 1, 3)}, {pinned(0, 4, 1, 0)}, {tier(0, 0), tier(1, 0)});
  EXPECT_TRUE(p.demotions.empty());
  EXPECT_EQ(no_room(p), 4 * kMiB);
}

TEST(Pinned, TakesFromOtherProcessesDownToTheirFloors) {
  const std::vector<Process> processes{
      {.pinned = {pinned(0, 8, 0, 1)}, .held = {0, 8 * kMiB}},
      {.regions = {region(0, 8, 0, 3)}, .held = {8 * kMiB}, .floor = {6 * kMiB}}};
  const auto all = plans(processes, {tier(0, 0), tier(1, 100)});
  EXPECT_EQ(all[0].promoted, 2 * kMiB);
  EXPECT_EQ(no_room(all[0]), 6 * kMiB);
  ASSERT_EQ(all[1].demotions.size(), 1u);
  EXPECT_EQ(all[1].demotions[0].served, 1u);
  EXPECT_EQ(all[1].demotions[0].bytes, 2 * kMiB);
}

TEST(Pinned, KeepsToItsCap) {
  const auto all =
      plans({{.pinned = {pinned(0, 8, 0, 1)}, .cap = {4 * kMiB}}}, {tier(0, 100), tier(1, 0)});
  EXPECT_EQ(all[0].promoted, 4 * kMiB);
  EXPECT_EQ(no_room(all[0]), 4 * kMiB);
}

TEST(Pinned, ToANodeOfNoTierDoesNothing) {
  EXPECT_TRUE(plan({}, {pinned(0, 8, 7, 1)}, {tier(0, 100), tier(1, 0)}).promotions.empty());
}

TEST(Pinned, GoesToAnyNodeOfItsTier) {
  std::vector<TierView> tiers{tier(0, 0), tier(1, 100), tier(2, 0)};
  tiers[1].joins = true;
  const Plan p = plan({}, {pinned(0, 8, 0, 2)}, tiers);
  ASSERT_EQ(p.promotions.size(), 1u);
  EXPECT_EQ(p.promotions[0].to, 1);
}

}  // namespace
