// SPDX-License-Identifier: MIT
#include "policy/balance.hpp"

#include <gtest/gtest.h>

#include "policy/plan.hpp"
#include "support/policy.hpp"

using namespace hmk::policy;
using namespace hmk::test;

namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
Balance::Interval second(std::uint64_t cpu_ns) {
  return {.seconds = 1, .cpu_ns = cpu_ns, .horizon = 60, .is_governed = true};
}

Plan plan_of(const Balance& balance, const std::vector<RegionView>& regions) {
  const std::vector<TierView> tiers = two_tiers(64);
  Histogram histogram({}, std::vector<NodeId>{0, 1});
  for (const RegionView& r : regions) histogram.insert(0, r);
  const ProcessView view{.histogram = &histogram,
                         .tiers = tiers,
                         .promote_limit = balance.governor().limit(1024 * kMiB),
                         .measured = balance.plans_by()};
  return make_plans({&view, 1}, {}).front();
}

TEST(Balance, PromisesNoMoreThanTheProcessHasTime) {
  // 2^10 accesses a second to each of 512 pages, 16 misses of 350 ns: 2.9 s a second.
  const std::vector<RegionView> regions = {warm(0, 1, 10)};
  Balance balance;
  balance.saw(regions, two_tiers(64), second(kSecond));
  const Plan plan = plan_of(balance, regions);
  ASSERT_EQ(plan.promotions.size(), 1u);
  EXPECT_NEAR(plan.promotions[0].saved_ns_per_s, 1e9 * 250 / 350, 1e3);
  balance.planned(plan);
  EXPECT_DOUBLE_EQ(balance.advice().saves, plan.promotions[0].saved_ns_per_s);
  EXPECT_NEAR(balance.advice().costs, 512 * 5000, 1);
  balance.saw(regions, two_tiers(64), second(4 * kSecond));
  EXPECT_NEAR(balance.measured().scale, (1 * 15. / 16 + 4) / (2.936 * 31 / 16), 1e-3)
      << "on average";
  Balance slack;
  slack.saw(regions, two_tiers(64), second(4 * kSecond));
  EXPECT_EQ(slack.measured().scale, 1) << "it has time for all of them";
  balance.saw(regions, two_tiers(64), second(0));
  EXPECT_TRUE(plan_of(balance, regions).promotions.empty()) << "what does not run does not wait";
}

TEST(Balance, UngovernedPlansGoByWhatIsAssumedAndPromiseNoMoreThanThereIsTime) {
  const std::vector<RegionView> regions = {warm(0, 1, 10)};
  Balance balance;
  Balance::Interval interval = second(kSecond);
  interval.is_governed = false;
  balance.saw(regions, two_tiers(64), interval);
  EXPECT_EQ(balance.plans_by().scale, 1);
  EXPECT_EQ(balance.plans_by().horizon, 60);
  EXPECT_EQ(balance.plans_by().costs, nullptr);
  Plan plan = plan_of(balance, regions);
  ASSERT_EQ(plan.promotions.size(), 1u);
  balance.conserve(plan);
  EXPECT_NEAR(plan.promotions[0].saved_ns_per_s, 1e9 * 250 / 350, 1e3);
}

TEST(Balance, WhatMovesTookIsWhatTheNextOnesCost) {
  const std::vector<RegionView> regions = {warm(0, 1, 2)};  // saves 0.0082 s a second
  Balance balance;
  balance.saw(regions, two_tiers(64), second(kSecond));
  const Plan plan = plan_of(balance, regions);
  ASSERT_EQ(plan.promotions.size(), 1u);
  // 2 ms a page: 1 s for all of it, twice what 60 intervals bring.
  for (int k = 0; k < 8; ++k)
    balance.moved(plan.promotions[0], {.bytes = 2 * kMiB, .spent_ns = 512 * 2'000'000ull});
  EXPECT_NEAR(balance.costs().ns_per_page(1, 0, false, 5000), 2e6, 2e5);
  balance.saw(regions, two_tiers(64), second(kSecond));
  EXPECT_TRUE(plan_of(balance, regions).promotions.empty());
  EXPECT_DOUBLE_EQ(balance.costs().ns_per_page(1, 0, true, 5000), 5000)
      << "of huge pages not known";
}

TEST(Balance, APriceOfTheConfigurationStandsForWhatMovesTook) {
  const std::vector<RegionView> regions = {warm(0, 1, 2)};
  Balance balance;
  Balance::Interval priced = second(kSecond);
  priced.page_ns = 1'150;
  balance.saw(regions, two_tiers(64), priced);
  const Plan plan = plan_of(balance, regions);
  ASSERT_EQ(plan.promotions.size(), 1u);
  for (int k = 0; k < 8; ++k)
    balance.moved(plan.promotions[0], {.bytes = 2 * kMiB, .spent_ns = 512 * 2'000'000ull});
  EXPECT_NEAR(balance.costs().ns_per_page(1, 0, false, 1'150), 1'150, 1);
  balance.saw(regions, two_tiers(64), priced);
  EXPECT_DOUBLE_EQ(balance.ledger().sums().spent, 8 * 512 * 1'150.);
  EXPECT_FALSE(plan_of(balance, regions).promotions.empty());
}

TEST(Balance, WhatIsPutBackIsNoPlansCost) {
  Balance balance;
  balance.saw({}, two_tiers(64), second(kSecond));
  balance.moved({.bytes = 2 * kMiB, .from = 0, .to = 1, .reason = Reason::kPutBack},
                {.bytes = 2 * kMiB, .spent_ns = 512 * 2'000'000ull});
  EXPECT_DOUBLE_EQ(balance.costs().ns_per_page(0, 1, false, 5000), 5000);
  balance.saw({}, two_tiers(64), second(kSecond));
  EXPECT_DOUBLE_EQ(balance.ledger().sums().spent, 0);
}

TEST(Balance, WhatDoesNotLastDoesNotMove) {
  Balance balance;
  std::vector<RegionView> regions;
  for (std::uint64_t k = 0; k < 80; ++k) {  // another of 20 is hot in each interval
    regions.clear();
    for (std::uint64_t i = 0; i < 20; ++i) {
      regions.push_back(warm(2 * i, 1, i == k % 20 ? 0 : -12));
      regions.back().hi_q16 = regions.back().whi_q16 = q16(i == k % 20 ? 2 : 1);
    }
    balance.saw(regions, two_tiers(64), second(kSecond));
  }
  EXPECT_LT(balance.measured().horizon, 1);
  EXPECT_EQ(balance.measured().exchange_horizon, 0)
      << "it is the one that will be cold the longest";
  EXPECT_TRUE(plan_of(balance, regions).promotions.empty());
  Balance new_one;  // knows nothing yet: 2 ms a second for 60, at 2.6 ms
  new_one.saw(regions, two_tiers(64), second(kSecond));
  EXPECT_EQ(plan_of(new_one, regions).promotions.size(), 1u);
}

/// Profiled for a second at a loss, until `halved` says that it is enough.
Balance at_a_loss(const std::vector<RegionView>& regions, const Balance::Interval& interval,
                  bool (Effort::*halved)() const) {
  Balance balance;
  while (!(balance.effort().*halved)()) {
    balance.saw(regions, two_tiers(64), interval);
    balance.planned({});
  }
  return balance;
}

TEST(Balance, WhatWaitsForABetterReadingMakesTheBudgetWhole) {
  Balance::Interval interval = second(kSecond);
  interval.profile_ns = kSecond / 100;
  Balance balance = at_a_loss({warm(0, 0, 3)}, interval, &Effort::is_rough);
  Plan plan;
  plan.waiting_ns_per_s = 1e9;
  EXPECT_TRUE(balance.planned(plan));
  EXPECT_DOUBLE_EQ(balance.advice().saves, 1e9);
  EXPECT_FALSE(balance.effort().is_reduced());
}

TEST(Balance, AStretchedIntervalTakesBackTheLastHalving) {
  const std::vector<RegionView> regions = {warm(0, 0, 3)};
  Balance::Interval interval = second(kSecond);
  interval.profile_ns = kSecond / 100;
  Balance balance = at_a_loss(regions, interval, &Effort::is_reduced);
  interval.is_stretched = true;
  balance.saw(regions, two_tiers(64), interval);
  EXPECT_TRUE(balance.planned({}));
  EXPECT_FALSE(balance.effort().is_reduced());
}

TEST(Balance, ThePromiseOfAPieceIsItsPart) {
  Balance balance;
  const std::vector<RegionView> regions = {warm(0, 0, 3)};
  Move piece{.start = 0, .length = 2 * kMiB, .bytes = 2 * kMiB, .from = 1, .to = 0};
  piece.saved_ns_per_s = 100;
  balance.moved(piece, {.bytes = kMiB, .spent_ns = 1});
  balance.saw(regions, two_tiers(64), second(kSecond));
  EXPECT_DOUBLE_EQ(balance.ledger().total().promised, 50);
}

TEST(Balance, WhatIsGatheredCameFromTheNextTier) {
  Balance balance;
  const std::vector<RegionView> regions = {warm(0, 0, 3)};
  balance.saw(regions, two_tiers(64), second(kSecond));
  balance.moved({.length = 2 * kMiB, .bytes = kMiB, .from = 0, .to = 0}, {.bytes = kMiB});
  balance.saw(regions, two_tiers(64), second(kSecond));
  EXPECT_DOUBLE_EQ(balance.ledger().pairs().at({1, 0}).realized, 8. * 256 * 16 * 250);
}

// A program that is not faster for its moves: what is promoted is cold by then, at a cost.
TEST(Balance, TheGovernorSlowsWhatDoesNotPayAndIsWholeWhenItIsOff) {
  Balance balance;
  Balance::Interval interval = second(kSecond);
  interval.is_governed = true;
  bool was_told = false;
  for (std::uint64_t k = 0; k < 30; ++k) {
    balance.moved(
        {.start = 2 * k * kMiB, .length = 2 * kMiB, .bytes = 2 * kMiB, .from = 1, .to = 0},
        {.bytes = 2 * kMiB, .spent_ns = 5'000'000});
    std::vector<RegionView> regions;
    for (std::uint64_t i = 0; i < 30; ++i) regions.push_back(warm(2 * i, 0, -12));
    was_told = balance.saw(regions, two_tiers(64), interval) || was_told;
  }
  EXPECT_TRUE(was_told);
  EXPECT_EQ(balance.governor().divisor(), 16u);
  interval.is_governed = false;
  EXPECT_TRUE(balance.saw({}, two_tiers(64), interval));
  EXPECT_EQ(balance.governor().divisor(), 1u);
}

TEST(Balance, MovesOfClassesAreReckonedApart) {
  const std::vector<RegionView> regions = {region(0, 64, 1, 1)};
  std::vector<RegionView> parts = {class_of(0, 64, 0, 5, 8), class_of(0, 64, 1, 1, 56)};
  Balance balance;
  const auto see = [&] { balance.saw({regions, parts}, two_tiers(64), second(kSecond)); };
  see();
  Move up{.length = 64 * kMiB, .bytes = 8 * kMiB, .page_class = 5, .from = 1, .to = 0};
  Move down{.length = 64 * kMiB, .bytes = 8 * kMiB, .page_class = 1, .from = 0, .to = 1};
  balance.moved(up, {8 * kMiB, 0});
  balance.moved(down, {8 * kMiB, 0});
  see();
  see();
  EXPECT_EQ(balance.ledger().displaced_bytes(), 16 * kMiB);
  EXPECT_GT(balance.ledger().total().realized, 0) << "what is hot rose";
  std::swap(up.from, up.to);
  std::swap(down.from, down.to);
  up.reason = down.reason = Reason::kPutBack;
  balance.moved(up, {8 * kMiB, 0});
  balance.moved(down, {8 * kMiB, 0});
  EXPECT_EQ(balance.ledger().displaced_bytes(), 0u);
}

}  // namespace
