// SPDX-License-Identifier: MIT
//
// Plans over tiers of several nodes.
#include <gtest/gtest.h>

#include "policy/plan.hpp"
#include "policy/put_back.hpp"
#include "policy/rank.hpp"
#include "policy/tier_order.hpp"
#include "support/policy.hpp"

using namespace hmk::policy;
using namespace hmk::test;

namespace {

/// Two sockets: nodes 0 and 1 are the fast tier, nodes 2 and 3, beside them, the slow one.
std::vector<TierView> two_sockets(Bytes free0, Bytes free1, Bytes free2 = 100, Bytes free3 = 100) {
  std::vector<TierView> tiers = {tier(0, free0), tier(1, free1), tier(2, free2), tier(3, free3)};
  tiers[1].joins = tiers[3].joins = true;
  tiers[0].latency_ns = tiers[1].latency_ns = 100;
  tiers[2].latency_ns = tiers[3].latency_ns = 350;
  tiers[0].distance = {10, 20, 14, 24};
  tiers[1].distance = {20, 10, 24, 14};
  tiers[2].distance = {14, 24, 10, 24};
  tiers[3].distance = {24, 14, 24, 10};
  return tiers;
}

RegionView away(RegionView r, NodeId node, Bytes mib) {
  r.away = mib * kMiB;
  r.away_node = node;
  return r;
}

TEST(TierOrder, KnowsTheNodesOfATierAndTheirOrderByDistance) {
  const TierOrder order(two_sockets(0, 0));
  EXPECT_EQ(order.tier(1), 0u);
  EXPECT_EQ(order.tier(2), 1u);
  EXPECT_EQ(order.first_of(3), 2u);
  EXPECT_EQ(order.end_of(0), 2u);
  EXPECT_EQ(order.nearest(3, 0)[0], 1u);
  EXPECT_EQ(order.nearest(2, 0)[0], 0u);
  EXPECT_EQ(order.below(1).size(), 2u);
  EXPECT_EQ(order.below(1)[0], 3u);
  EXPECT_TRUE(order.below(2).empty());
  EXPECT_FALSE(order.find(7));
  EXPECT_FALSE(order.find(kNoNode));
}

TEST(NodeSets, NothingMovesBetweenTheNodesOfATier) {
  const std::vector regions{region(0, 2, 1, 3), region(4, 2, 0, 0), region(8, 2, 1, 0)};
  const Plan plan = make_plan(regions, two_sockets(50, 50), {});
  EXPECT_TRUE(plan.promotions.empty());
  EXPECT_TRUE(plan.demotions.empty());
}

TEST(NodeSets, APromotionTakesTheNearestNodeThatHasRoom) {
  for (const NodeId from : {2, 3}) {
    const Plan plan = make_plan(std::vector{region(0, 2, from, 3)}, two_sockets(2, 2), {});
    ASSERT_EQ(plan.promotions.size(), 1u);
    EXPECT_EQ(plan.promotions[0].to, from - 2);
  }
  const Plan far = make_plan(std::vector{region(0, 2, 2, 3)}, two_sockets(1, 2), {});
  ASSERT_EQ(far.promotions.size(), 1u);
  EXPECT_EQ(far.promotions[0].to, 1) << "a MiB is too little";
}

TEST(NodeSets, BesideAFullNodeNothingIsDemotedWhileTheOtherHasRoom) {
  const std::vector regions{region(0, 2, 0, 0), region(4, 2, 2, 3), region(8, 2, 2, 3)};
  const Plan plan = make_plan(regions, two_sockets(0, 4), {});
  ASSERT_EQ(plan.promotions.size(), 2u);
  EXPECT_EQ(plan.promotions[0].to, 1);
  EXPECT_EQ(plan.promotions[1].to, 1);
  EXPECT_TRUE(plan.demotions.empty());
}

TEST(NodeSets, InAFullTierTheColdestLeavesWhicheverNodeItIsOn) {
  const std::vector regions{region(0, 2, 0, 1), region(4, 2, 1, 0), region(8, 2, 2, 3)};
  const Plan plan = make_plan(regions, two_sockets(0, 0), {});
  ASSERT_EQ(plan.promotions.size(), 1u);
  EXPECT_EQ(plan.promotions[0].to, 1);
  ASSERT_EQ(plan.demotions.size(), 1u);
  EXPECT_EQ(plan.demotions[0].start, 4 * kMiB);
  EXPECT_EQ(plan.demotions[0].to, 3) << "beside its own socket";
}

TEST(NodeSets, AVictimGoesToTheNearestNodeWithRoomThenToTheOther) {
  const std::vector regions{region(0, 2, 1, 0), region(8, 2, 2, 3)};
  for (const Bytes room : {Bytes{2}, Bytes{1}}) {
    const Plan plan = make_plan(regions, two_sockets(0, 0, 100, room), {});
    ASSERT_EQ(plan.demotions.size(), 1u);
    EXPECT_EQ(plan.demotions[0].to, room == 2 ? 3 : 2);
  }
}

TEST(NodeSets, TheReserveIsTheTiersNotEachNodes) {
  std::vector<TierView> tiers = two_sockets(0, 6);
  tiers[0].reserve = tiers[1].reserve = 2 * kMiB;
  const Plan two = make_plan(std::vector{region(0, 2, 3, 3)}, tiers, {});
  EXPECT_EQ(two.promoted, 2 * kMiB) << "of 6 MiB 4 are kept";
  const Plan three = make_plan(std::vector{region(0, 3, 3, 3)}, tiers, {});
  EXPECT_EQ(three.promoted, 2 * kMiB) << "the region is cut";
}

TEST(NodeSets, APartThatIsInTheTierStaysWhereItIs) {
  const std::vector regions{away(region(0, 4, 2, 3), 1, 1)};
  const Plan plan = make_plan(regions, two_sockets(50, 50), {});
  ASSERT_EQ(plan.promotions.size(), 1u);
  EXPECT_EQ(plan.promotions[0].to, 1) << "node 0 is nearer, but the part on node 1 would move";
  const Plan full = make_plan(regions, two_sockets(50, 0), {});
  EXPECT_TRUE(full.promotions.empty());
  const std::vector falls{away(region(0, 4, 0, 0), 3, 1), region(8, 4, 2, 3)};
  const Plan down = make_plan(falls, two_sockets(0, 0), {});
  ASSERT_EQ(down.demotions.size(), 1u);
  EXPECT_EQ(down.demotions[0].to, 3);
}

TEST(NodeSets, OnlyWhatIsOutsideTheFastestTierIsGathered) {
  const Plan inside =
      make_plan(std::vector{away(region(0, 4, 0, 3), 1, 2)}, two_sockets(50, 50), {});
  EXPECT_TRUE(inside.promotions.empty());
  const Plan outside =
      make_plan(std::vector{away(region(0, 4, 1, 3), 2, 2)}, two_sockets(50, 50), {});
  ASSERT_EQ(outside.promotions.size(), 1u);
  EXPECT_EQ(outside.promotions[0].reason, Reason::kGather);
  EXPECT_EQ(outside.promotions[0].to, 1);
}

TEST(NodeSets, AFlipOfTheOrderNeedsNoOtherRanking) {
  Ranking ranking({}, std::vector<NodeId>{0, 1, 2, 3});
  ranking.update(0, std::vector{region(0, 2, 1, 3)});
  std::vector<TierView> tiers = {tier(0, 50), tier(1, 50), tier(2, 50), tier(3, 50)};
  EXPECT_EQ(make_plan(ranking.histogram(), tiers, {}).promotions.at(0).to, 0);
  std::swap(tiers[0], tiers[1]);
  EXPECT_TRUE(make_plan(ranking.histogram(), tiers, {}).promotions.empty());
}

TEST(NodeSets, CapsAreTheTiers) {
  Ranking ranking({}, std::vector<NodeId>{0, 1, 2, 3});
  ranking.update(0, std::vector{region(0, 2, 0, 3), region(4, 2, 2, 3), region(8, 2, 3, 3)});
  const std::vector<TierView> tiers = two_sockets(50, 50);
  ProcessView view{.histogram = &ranking.histogram(),
                   .tiers = tiers,
                   .held = {2 * kMiB, 0, 2 * kMiB, 2 * kMiB},
                   .cap = {4 * kMiB}};
  EXPECT_EQ(make_plans({&view, 1}, {}).front().promoted, 2 * kMiB);
  view.cap = {6 * kMiB};
  EXPECT_EQ(make_plans({&view, 1}, {}).front().promoted, 4 * kMiB);
}

/// Two alike processes, one on each socket, with all of its memory there.
TEST(NodeSets, SharesAreTheTiersNotEachNodes) {
  Ranking first({}, std::vector<NodeId>{0, 1, 2, 3}), second = first;
  first.update(0, std::vector{region(0, 8, 0, 1), region(10, 2, 2, 3)});
  second.update(1, std::vector{region(0, 8, 1, 1), region(10, 2, 3, 3)});
  const std::vector<TierView> tiers = two_sockets(0, 0);
  const std::vector<ProcessView> views{
      {.histogram = &first.histogram(), .tiers = tiers, .held = {8 * kMiB, 0, 2 * kMiB, 0}},
      {.histogram = &second.histogram(), .tiers = tiers, .held = {0, 8 * kMiB, 0, 2 * kMiB}}};
  for (const Plan& plan : make_plans(views, {})) {
    EXPECT_EQ(plan.promoted, 2 * kMiB);
    for (const Move& move : plan.demotions) EXPECT_EQ(move.process, move.served);
  }
}

/// One process sees four tiers from its socket, the other two from both.
TEST(NodeSets, ProcessesMaySeeDifferentTiers) {
  Ranking first({}, std::vector<NodeId>{0, 1, 2, 3}), second = first;
  first.update(0, std::vector{region(0, 2, 1, 3)});
  second.update(1, std::vector{region(0, 2, 1, 3), region(8, 2, 2, 3)});
  std::vector<TierView> apart = two_sockets(4, 4), together = apart;
  for (TierView& tier : apart) tier.joins = false;
  apart[1].latency_ns = 200;
  apart[3].latency_ns = 500;
  const std::vector<ProcessView> views{
      {.histogram = &first.histogram(), .tiers = apart, .held = {0, 2 * kMiB, 0, 0}},
      {.histogram = &second.histogram(), .tiers = together, .held = {0, 2 * kMiB, 2 * kMiB, 0}}};
  const std::vector<Plan> plans = make_plans(views, {});
  ASSERT_EQ(plans[0].promotions.size(), 1u);
  EXPECT_EQ(plans[0].promotions[0].to, 0);
  ASSERT_EQ(plans[1].promotions.size(), 1u);
  EXPECT_EQ(plans[1].promotions[0].from, 2);
}

TEST(NodeSets, NothingIsPutBackWithinATier) {
  const std::vector<Ledger::Displaced> displaced{{0, 2 * kMiB, 2 * kMiB, 0, 1},
                                                 {4 * kMiB, 2 * kMiB, 2 * kMiB, 3, 1}};
  const Plan plan = put_back(displaced, two_sockets(0, 0));
  EXPECT_TRUE(plan.promotions.empty());
  ASSERT_EQ(plan.demotions.size(), 1u);
  EXPECT_EQ(plan.demotions[0].to, 3);
}

}  // namespace
