// SPDX-License-Identifier: MIT
#include "policy/shares.hpp"

#include <gtest/gtest.h>

#include "policy/rank.hpp"
#include "support/policy.hpp"

using namespace hmk::policy;
using namespace hmk::test;

namespace {

using Parts = std::vector<Bytes>;
using Stage = Shares::Stage;

TEST(Divide, ByWeight) {
  EXPECT_EQ(divide(400, std::vector<Claimant>{{.weight = 3}, {.weight = 1}}, 0), (Parts{300, 100}));
  EXPECT_EQ(divide(10, std::vector<Claimant>{{.weight = 0}, {.weight = 1}}, 0), (Parts{5, 5}));
  EXPECT_EQ(divide(10, {}, 0), Parts{});
}

TEST(Divide, WhatACapLeavesGoesToTheOthers) {
  const std::vector<Claimant> claimants = {
      {.weight = 2, .cap = {100}}, {.weight = 1}, {.weight = 1}};
  EXPECT_EQ(divide(400, claimants, 0), (Parts{100, 150, 150}));
  EXPECT_EQ(divide(400, claimants, 1), (Parts{200, 100, 100})) << "no bounds in that place";
}

TEST(Divide, WhatAFloorTakesTheOthersLack) {
  const std::vector<Claimant> claimants = {
      {.weight = 1, .floor = {250}}, {.weight = 1, .cap = {60}}, {.weight = 2}};
  EXPECT_EQ(divide(400, claimants, 0), (Parts{250, 50, 100}));
}

TEST(Divide, FloorsBeyondTheWholeEndInWhatThereIs) {
  const std::vector<Claimant> claimants = {{.floor = {300}}, {.floor = {300}}, {.weight = 5}};
  EXPECT_EQ(divide(400, claimants, 0), (Parts{300, 100, 0}));
  const std::vector<Claimant> crossed = {{.cap = {10}, .floor = {300}}, {}};
  EXPECT_EQ(divide(400, crossed, 0), (Parts{10, 390})) << "a cap below its floor wins";
}

TEST(Shares, GiveTheLimitByWeightFirstAndWhatIsLeftToAnyone) {
  Shares shares({{.weight = 3}, {.weight = 1}}, Room{0}, 400, true);
  EXPECT_EQ(shares.limit(0, Stage::kEntitled), 300u);
  EXPECT_EQ(shares.limit(1, Stage::kOwnLimit), 100u);
  shares.spend(1, 60, Stage::kEntitled);
  EXPECT_EQ(shares.limit(1, Stage::kOwnLimit), 40u);
  EXPECT_EQ(shares.limit(1, Stage::kRemainder), 340u);
}

TEST(Shares, ATierOfSeveralPlacesIsDividedAsOne) {
  // The first has all it has in one place, the second in the other.
  const std::vector<std::uint32_t> one = {0, 0};
  const Shares even({{.held = {80, 0}, .tiers = one}, {.held = {0, 80}, .tiers = one}}, Room{0, 40},
                    0, true);
  for (const std::size_t who : {0u, 1u})
    for (const std::size_t place : {0u, 1u})
      EXPECT_EQ(even.growth(who, place, Stage::kEntitled), 20u);
  EXPECT_EQ(even.claim(0, 1, 1, Stage::kEntitled).of, Claim::Of::kIdle);
  // A floor for the tier, with what it holds anywhere in it.
  const Shares floored(
      {{.held = {80, 0}, .tiers = one}, {.held = {10, 80}, .floor = {60}, .tiers = one}},
      Room{0, 0}, 0, false);
  EXPECT_EQ(floored.claim(0, 1, 1, Stage::kRemainder).at_most, 30u);
}

TEST(Shares, WhoSeesTheTierInPartsHasItsPartOfEach) {
  const Shares shares({{.held = {40, 40}, .cap = {90}, .tiers = {0, 0}}, {.held = {0, 40}}},
                      Room{40, 0}, 0, true);
  EXPECT_EQ(shares.growth(0, 0, Stage::kEntitled), 0u) << "half of 80 and half of 80";
  EXPECT_EQ(shares.growth(0, 1, Stage::kRemainder), 10u) << "its cap is for both";
  EXPECT_EQ(shares.growth(1, 0, Stage::kEntitled), 40u);
  EXPECT_EQ(shares.growth(1, 1, Stage::kEntitled), 0u);
}

TEST(Shares, AGroupIsOneBesideTheOthers) {
  const auto worker = [](Bytes held) {
    return Claimant{.held = {held, 50}, .cap = {100}, .floor = {20}, .group = 7};
  };
  Shares shares({worker(30), {.held = {0, 100}}, worker(50)}, Room{200, 1000}, 90, true);
  EXPECT_EQ(shares.limit(0, Stage::kEntitled), 45u) << "of two, not of three";
  EXPECT_EQ(shares.limit(1, Stage::kEntitled), 45u);
  EXPECT_EQ(shares.growth(2, 0, Stage::kEntitled), 20u) << "its cap is for both";
  EXPECT_EQ(shares.growth(1, 0, Stage::kEntitled), 180u) << "what the cap leaves";
  EXPECT_TRUE(shares.are_one(0, 2));
  EXPECT_EQ(shares.claim(0, 2, 0, Stage::kEntitled).at_most, kNoBound) << "as of its own";
  EXPECT_EQ(shares.claim(1, 2, 0, Stage::kEntitled).at_most, 60u) << "one floor for both";

  shares.moved(0, 1, 10, 0, 10);
  EXPECT_EQ(shares.growth(2, 0, Stage::kOwnLimit), 10u);
  EXPECT_TRUE(shares.may_hold(2, 0, 10, 0));
  EXPECT_FALSE(shares.may_hold(2, 0, 11, 0));
  EXPECT_TRUE(shares.may_hold(2, 0, 11, 1));
  shares.undo(0, 1, 10, 0, 10);
  EXPECT_EQ(shares.growth(2, 0, Stage::kOwnLimit), 20u);
  shares.spend(0, 40, Stage::kEntitled);
  EXPECT_EQ(shares.limit(2, Stage::kEntitled), 5u);
  const Shares alone({worker(0), worker(0)}, Room{200, 1000}, 90, true);
  EXPECT_FALSE(alone.by_weight()) << "nobody is beside it";
}

TEST(Shares, BelowItsShareAProcessTakesFromThoseAboveTheirs) {
  const Shares shares({{.held = {20}}, {.held = {80}}}, Room{0}, 0, true);
  const Claim claim = shares.claim(0, 1, 0, Stage::kEntitled);
  EXPECT_EQ(claim.of, Claim::Of::kAny);
  EXPECT_EQ(claim.at_most, 30u);
  EXPECT_EQ(shares.claim(1, 0, 0, Stage::kOwnLimit).of, Claim::Of::kIdle);
  EXPECT_EQ(shares.growth(0, 0, Stage::kEntitled), 30u);
  EXPECT_EQ(shares.growth(1, 0, Stage::kEntitled), 0u);
}

TEST(Shares, WithoutWeightsTheColderLoses) {
  const Shares shares({{.held = {20}}, {.held = {80}, .floor = {70}}}, Room{0}, 0, false);
  EXPECT_FALSE(shares.by_weight());
  const Claim claim = shares.claim(0, 1, 0, Stage::kRemainder);
  EXPECT_EQ(claim.of, Claim::Of::kColder);
  EXPECT_EQ(claim.at_most, 10u);
}

/// Process 1 has `mine`, process 2 `yours`, in tiers that both see alike.
struct Two {
  std::vector<RegionView> mine, yours;
  std::vector<TierView> tiers;
  ProcessView first{}, second{};
  PolicyParams params{};

  std::vector<Plan> plans() {
    std::vector<NodeId> nodes;
    for (const TierView& t : tiers) nodes.push_back(t.node);
    Ranking one({.buckets = 64, .hotness_max = 3}, nodes), two = one;
    one.update(1, mine);
    two.update(2, yours);
    first.histogram = &one.histogram();
    second.histogram = &two.histogram();
    first.held = held(mine);
    second.held = held(yours);
    first.tiers = second.tiers = tiers;
    return make_plans(std::vector{first, second}, params);
  }
  std::vector<Bytes> held(const std::vector<RegionView>& regions) const {
    std::vector<Bytes> held(tiers.size(), 0);
    for (const RegionView& r : regions) held[static_cast<std::size_t>(r.node)] += r.resident;
    return held;
  }
};

TEST(PlanShares, WhoIsBelowItsShareTakesFromWhoIsAboveHoweverHot) {
  Two two{{region(0, 8, 1, 1)}, {region(0, 16, 0, 3)}, {tier(0, 0), tier(1, 100)}};
  const std::vector<Plan> plans = two.plans();
  EXPECT_EQ(plans[0].promoted, 8 * kMiB);
  ASSERT_EQ(plans[1].demotions.size(), 1u);
  EXPECT_EQ(plans[1].demoted, 8 * kMiB);
  const Move& victim = plans[1].demotions[0];
  EXPECT_EQ(victim.reason, Reason::kShare);
  EXPECT_EQ(victim.process, 2u);
  EXPECT_EQ(victim.served, 1u);
}

// All is alike, so that what is the hottest changes all the time; a share is no race with others.
TEST(PlanShares, AShareIsGivenHoweverSoonOthersAreAsHot) {
  Two two{{region(0, 8, 1, 3)}, {region(0, 16, 0, 3)}, {tier(0, 0), tier(1, 100)}};
  two.mine[0].rate_q8 = two.yours[0].rate_q8 = 12 << 8;
  two.tiers[0].latency_ns = 90;
  two.tiers[1].latency_ns = 300;
  two.first.measured = two.second.measured = {.horizon = 60, .exchange_horizon = 0};
  const std::vector<Plan> plans = two.plans();
  EXPECT_EQ(plans[0].promoted, 8 * kMiB);
  EXPECT_EQ(plans[1].demoted, 8 * kMiB);
  two.params.shares_by_weight = false;
  EXPECT_EQ(two.plans()[0].promoted, 0u) << "as hot is no reason to change places";
}

TEST(PlanShares, WhoHasItsShareTakesOnlyWhatTheOtherDoesNotUse) {
  Two two{
      {region(0, 8, 0, 1)}, {region(0, 8, 0, 3), region(8, 8, 1, 3)}, {tier(0, 0), tier(1, 100)}};
  EXPECT_EQ(two.plans()[1].promoted, 0u);
  two.mine = {region(0, 8, 0, 0)};
  const std::vector<Plan> plans = two.plans();
  EXPECT_EQ(plans[1].promoted, 8 * kMiB);
  EXPECT_EQ(plans[0].demoted, 8 * kMiB);
  EXPECT_EQ(plans[0].demotions.at(0).reason, Reason::kMadeRoom);
}

TEST(PlanShares, FreeRoomGoesToWhoeverWantsIt) {
  Two two{{}, {region(0, 8, 1, 3), region(8, 8, 1, 3)}, {tier(0, 16), tier(1, 100)}};
  EXPECT_EQ(two.plans()[1].promoted, 16 * kMiB);
}

TEST(PlanShares, WithoutWeightsTheHottestWinWhoseEver) {
  Two two{{region(0, 8, 1, 1)}, {region(0, 16, 0, 3)}, {tier(0, 0), tier(1, 100)}};
  two.params.shares_by_weight = false;
  EXPECT_EQ(two.plans()[0].promoted, 0u);
  std::swap(two.mine[0].whi_q16, two.yours[0].whi_q16);
  std::swap(two.mine[0].rate_q8, two.yours[0].rate_q8);
  const std::vector<Plan> plans = two.plans();
  EXPECT_EQ(plans[0].promoted, 8 * kMiB);
  EXPECT_EQ(plans[1].demoted, 8 * kMiB);
}

TEST(PlanShares, ACapBoundsWhatAProcessGetsInATier) {
  Two two{{}, {region(0, 16, 1, 3)}, {tier(0, 16), tier(1, 100)}};
  two.second.cap = {4 * kMiB};
  EXPECT_EQ(two.plans()[1].promoted, 4 * kMiB);
  two.yours = {region(0, 4, 0, 0), region(16, 8, 1, 3)};
  const Plan at_cap = two.plans()[1];
  EXPECT_EQ(at_cap.promoted, 4 * kMiB) << "it exchanges its own";
  EXPECT_EQ(at_cap.demoted, 4 * kMiB);
}

TEST(PlanShares, AtItsCapAGroupExchangesAmongItsProcesses) {
  Two two{{region(0, 8, 0, 0)}, {region(0, 16, 1, 3)}, {tier(0, 8), tier(1, 100)}};
  two.first.cap = two.second.cap = {8 * kMiB};
  EXPECT_EQ(two.plans()[1].promoted, 8 * kMiB) << "a cap each";
  two.first.group = two.second.group = 0;
  const std::vector<Plan> plans = two.plans();
  EXPECT_EQ(plans[1].promoted, 8 * kMiB);
  EXPECT_EQ(plans[0].demoted, 8 * kMiB);
  two.yours = {region(0, 16, 1, 0)};
  EXPECT_EQ(two.plans()[1].promoted, 0u);
}

TEST(PlanShares, ACapKeepsVictimsOutOfATier) {
  Two two{{region(0, 8, 0, 0), region(8, 8, 3, 3)},
          {},
          {tier(0, 0), tier(1, 100), tier(2, 100), tier(3, 100)}};
  two.first.cap = {kNoBound, 0};
  const Plan plan = two.plans()[0];
  ASSERT_EQ(plan.demotions.size(), 1u);
  EXPECT_EQ(plan.demotions[0].to, 2);
}

TEST(PlanShares, AFloorIsKeptToTheByteAndForOthersOnly) {
  Two two{{region(0, 8, 0, 0)}, {region(0, 8, 1, 3)}, {tier(0, 0), tier(1, 100)}};
  two.first.floor = {6 * kMiB + kPage};
  EXPECT_EQ(two.plans()[0].demoted, 2 * kMiB - kPage);
  two.mine[0].leaf_shift = 21;
  EXPECT_EQ(two.plans()[0].demoted, 0u) << "no huge page is cut for less than it holds";
  two.yours.clear();
  two.mine.push_back(region(8, 8, 1, 3));
  EXPECT_EQ(two.plans()[0].demoted, 8 * kMiB) << "it may exchange its own";
}

TEST(PlanShares, ThePartsOfTheLimitAreByWeight) {
  Two two{{region(0, 64, 1, 1)}, {}, {tier(0, 200), tier(1, 0)}};
  for (std::uint64_t i = 0; i < 32; ++i) two.yours.push_back(region(2 * i, 2, 1, 3));
  two.first.weight = 3;
  two.params = limit(40);
  std::vector<Plan> plans = two.plans();
  EXPECT_EQ(plans[0].promoted, 30 * kMiB);
  EXPECT_EQ(plans[1].promoted, 10 * kMiB);
  two.mine = {region(0, 4, 1, 1)};
  plans = two.plans();
  EXPECT_EQ(plans[0].promoted, 4 * kMiB);
  EXPECT_EQ(plans[1].promoted, 36 * kMiB) << "what one does not use the other may";
}

TEST(PlanShares, TwoSocketsSeeTheSameNodesInDifferentOrders) {
  const NodeId nodes[] = {0, 1};
  Ranking one({}, nodes), two({}, nodes);
  one.update(1, std::vector{region(0, 8, 1, 3)});
  two.update(2, std::vector{region(0, 8, 0, 3)});
  const std::vector<TierView> of_one = {tier(0, 8), tier(1, 8)}, of_two = {tier(1, 8), tier(0, 8)};
  const std::vector<Plan> plans = make_plans(
      std::vector<ProcessView>{
          {.histogram = &one.histogram(), .tiers = of_one, .held = {0, 8 * kMiB}},
          {.histogram = &two.histogram(), .tiers = of_two, .held = {0, 8 * kMiB}}},
      {});
  EXPECT_EQ(plans[0].promotions.at(0).to, 0);
  EXPECT_EQ(plans[1].promotions.at(0).to, 1);
}

}  // namespace
