// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <hmk/core/budget.h>

#include <limits>

namespace {

constexpr std::uint64_t kSecond = 1000000000ull;
constexpr std::uint32_t kMax32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kMax64 = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint32_t kRegionsOf1500GiB = 786432;

TEST(BudgetSamples, FollowEquation81AtThePapersScanCost) {
  EXPECT_EQ(hmk_budget_num_ps(10 * kSecond, 500, 1270, 3, 0), 131233u);
  EXPECT_LT(hmk_budget_num_ps(10 * kSecond, 500, 1270, 3, 0), kRegionsOf1500GiB);
}

TEST(BudgetSamples, SufficeFor1500GiBAtATenthOfAMicrosecond) {
  EXPECT_EQ(hmk_budget_num_ps(10 * kSecond, 500, 100, 3, 0), 1666666u);
  EXPECT_GT(hmk_budget_num_ps(10 * kSecond, 500, 100, 3, 0), kRegionsOf1500GiB);
}

TEST(BudgetSamples, PayForTheOtherWorkFirst) {
  EXPECT_EQ(hmk_budget_num_ps(10 * kSecond, 500, 100, 3, 500000000 - 300), 1u);
  EXPECT_EQ(hmk_budget_num_ps(10 * kSecond, 500, 100, 3, 500000000 - 299), 0u);
}

TEST(BudgetSamples, AreNoneWhenTheOtherWorkUsesTheBudgetUp) {
  EXPECT_EQ(hmk_budget_num_ps(10 * kSecond, 500, 100, 3, 500000000), 0u);
  EXPECT_EQ(hmk_budget_num_ps(10 * kSecond, 500, 100, 3, kMax64), 0u);
  EXPECT_EQ(hmk_budget_num_ps(10 * kSecond, 0, 100, 3, 0), 0u);
  EXPECT_EQ(hmk_budget_num_ps(0, 500, 100, 3, 0), 0u);
}

TEST(BudgetSamples, SurviveZeroCostAndZeroScans) {
  EXPECT_EQ(hmk_budget_num_ps(10000, 10000, 0, 0, 0), 10000u);
}

TEST(BudgetSamples, SaturateInsteadOfOverflowing) {
  EXPECT_EQ(hmk_budget_num_ps(kMax64, 10000, 1, 1, 0), kMax32);
  EXPECT_EQ(hmk_budget_num_ps(kMax64, kMax32, kMax32, kMax32, 0), 1u);
}

TEST(BudgetPlan, UsesItsAimAndClearsEachSampleOnce) {
  // 75 % of 40 ms, less 10 ms, for 4 visits of 500 ns.
  EXPECT_EQ(hmk_budget_plan(40000000, 75, 500, 3, 10000000), 10000u);
}

TEST(BudgetPlan, KeepsAQuarterForSamples) {
  EXPECT_EQ(hmk_budget_plan(40000000, 75, 500, 3, kMax64), 3750u);
  EXPECT_EQ(hmk_budget_plan(0, 75, 500, 3, 0), 1u);
}

TEST(BudgetThreads, AreAsFewAsNeedHalfOfTheIntervalEach) {
  EXPECT_EQ(hmk_budget_threads(kSecond, 0), 1u);
  EXPECT_EQ(hmk_budget_threads(kSecond, kSecond / 2), 1u);
  EXPECT_EQ(hmk_budget_threads(kSecond, kSecond / 2 + 1), 2u);
  EXPECT_EQ(hmk_budget_threads(kSecond, kSecond), 2u);
  EXPECT_EQ(hmk_budget_threads(kSecond, hmk_budget_ns(kSecond, 80000)), 16u);
  EXPECT_EQ(hmk_budget_threads(1, kMax64), kMax32) << "it saturates";
}

TEST(BudgetShare, IsByWeightAndNeverMoreThanAllTogether) {
  EXPECT_EQ(hmk_budget_share(1000, 100, 100), 1000u);
  EXPECT_EQ(hmk_budget_share(1000, 100, 400), 250u);
  EXPECT_EQ(hmk_budget_share(1000, 1, 3), 333u);
  EXPECT_EQ(hmk_budget_share(600 * kSecond, 10000, 20000), 300 * kSecond);
  EXPECT_EQ(hmk_budget_share(4800 * kSecond, 10000, 10000), 4800 * kSecond);
}

TEST(BudgetInterval, IsAsAskedForWhileAQuarterIsLeftForSamples) {
  EXPECT_EQ(hmk_budget_interval(1000, 400, 0, 600000), 1000u);
  EXPECT_EQ(hmk_budget_interval(1000, 400, 300, 600000), 1000u);
  EXPECT_EQ(hmk_budget_interval(1000, 400, 301, 600000), 2000u);
  EXPECT_EQ(hmk_budget_interval(1000, 400, 600, 600000), 2000u);
  EXPECT_EQ(hmk_budget_interval(1000, 400, 601, 600000), 3000u);
}

TEST(BudgetInterval, IsNeverLongerThanTheLongest) {
  EXPECT_EQ(hmk_budget_interval(1000, 400, 300ULL * 599, 600000), 599000u);
  EXPECT_EQ(hmk_budget_interval(1000, 400, 300ULL * 600, 600000), 600000u);
  EXPECT_EQ(hmk_budget_interval(1000, 400, kMax64, 600000), 600000u);
  EXPECT_EQ(hmk_budget_interval(1000, 0, 1, 600000), 600000u);
  EXPECT_EQ(hmk_budget_interval(600000, 1, kMax64, 600000), 600000u);
}

TEST(BudgetTime, IsExactUpToTheLargestInterval) {
  EXPECT_EQ(hmk_budget_ns(10 * kSecond, 500), kSecond / 2);
  EXPECT_EQ(hmk_budget_ns(600 * kSecond, 5000), 300 * kSecond);
  EXPECT_EQ(hmk_budget_ns(19999, 1), 1u);
  EXPECT_EQ(hmk_budget_ns(kMax64, 10000), kMax64);
  EXPECT_EQ(hmk_budget_ns(kMax64, 10001), kMax64);
  EXPECT_EQ(hmk_budget_ns(10 * kSecond, 10001), 10 * kSecond + 1000000) << "of two threads";
  EXPECT_EQ(hmk_budget_ns(600 * kSecond, 80000), 4800 * kSecond);
  EXPECT_EQ(hmk_budget_ns(600 * kSecond, 80001), 4800 * kSecond) << "there is no more";
}

TEST(BudgetTrack, TakesTheFirstMeasurementAsItIs) {
  EXPECT_EQ(hmk_budget_track(0, 740), 740u);
  EXPECT_EQ(hmk_budget_track_fixed(0, 74000), 74000u);
}

TEST(BudgetTrack, MovesAQuarterOfTheWay) {
  EXPECT_EQ(hmk_budget_track(100, 200), 125u);
  EXPECT_EQ(hmk_budget_track(200, 100), 175u);
}

TEST(BudgetTrack, ReachesAConstantCostFromBothSides) {
  std::uint32_t up = 1, down = 1000;
  for (int i = 0; i < 60; ++i) {
    up = hmk_budget_track(up, 500);
    down = hmk_budget_track(down, 500);
  }
  EXPECT_EQ(up, 500u);
  EXPECT_EQ(down, 500u);
}

TEST(BudgetTrack, DoesNotOverflow) {
  EXPECT_EQ(hmk_budget_track(kMax32, kMax32), kMax32);
  EXPECT_EQ(hmk_budget_track_fixed(1, kMax64), 1 + (kMax64 - 1) / 4 + 1);
}

TEST(BudgetTrack, OneMeasurementLeavesAQuarterOfDoubt) {
  hmk_budget_cost cost{};
  hmk_budget_track_cost(&cost, 1'700'000);
  EXPECT_EQ(cost.ns, 1'700'000u);
  EXPECT_EQ(cost.dev_ns, 425'000u);
  hmk_budget_track_cost(&cost, 1'700'000);
  EXPECT_EQ(cost.dev_ns, 318'750u) << "the second says that it varies less";
  hmk_budget_track_cost(&cost, 2'550'000);
  EXPECT_EQ(cost.ns, 1'912'500u);
  EXPECT_EQ(cost.dev_ns, 318'750u + (850'000u - 318'750u) / 4 + 1);
}

TEST(BudgetTrack, AConstantCostLosesItsDoubt) {
  hmk_budget_cost cost{};
  for (int i = 0; i < 60; ++i) hmk_budget_track_cost(&cost, 1000);
  EXPECT_EQ(cost.ns, 1000u);
  EXPECT_EQ(cost.dev_ns, 0u);
  cost = {};
  hmk_budget_track_cost(&cost, kMax64);
  hmk_budget_track_cost(&cost, 1);
  EXPECT_EQ(cost.ns, kMax64 - (kMax64 - 1) / 4 - 1) << "and nothing overflows";
}

TEST(BudgetTrack, ForgetsAQuarterOfWhatIsNotMeasuredDownToTheLeast) {
  EXPECT_EQ(hmk_budget_forget(0), 0u);
  EXPECT_EQ(hmk_budget_forget(1), 1u);
  EXPECT_EQ(hmk_budget_forget(2), 1u);
  EXPECT_EQ(hmk_budget_forget(401), 301u);
  std::uint64_t cost = 820'000'000;  // a flush while the machine stood still
  int intervals = 0;
  for (; cost > 100'000; ++intervals) cost = hmk_budget_forget(cost);
  EXPECT_LT(intervals, 40);
}

TEST(TauRule, FillsInTheDefaultsForThreeScans) {
  const hmk_tau_rule rule = hmk_budget_tau_rule(3, 0, 0, 0);
  EXPECT_EQ(rule.base_q16, 65536u);
  EXPECT_EQ(rule.tau2_q16, 2 * 65536u);
  EXPECT_EQ(rule.step_q16, 16384u);
  EXPECT_EQ(rule.limit_q16, 3 * 65536u);
}

TEST(TauRule, KeepsTheThresholdsInOrder) {
  const hmk_tau_rule rule = hmk_budget_tau_rule(3, kMax32, 1, kMax32);
  EXPECT_EQ(rule.base_q16, rule.limit_q16);
  EXPECT_EQ(rule.tau2_q16, rule.limit_q16);
}

TEST(TauRule, NeverHasAStepOfZero) {
  EXPECT_EQ(hmk_budget_tau_rule(3, 1, 0, 0).step_q16, 1u);
}

class Tau1 : public testing::Test {
 protected:
  const hmk_tau_rule rule_ = hmk_budget_tau_rule(3, 0, 0, 0);
  std::uint32_t next(std::uint32_t now, std::uint32_t regions) const {
    return hmk_budget_tau1(now, &rule_, regions, 1000);
  }
};

TEST_F(Tau1, RisesOnlyWhenThereAreMoreRegionsThanSamples) {
  EXPECT_EQ(next(65536, 1000), 65536u);
  EXPECT_EQ(next(65536, 1001), 65536u + 16384u);
}

TEST_F(Tau1, FallsOnlyBelowNineTenths) {
  EXPECT_EQ(next(100000, 900), 100000u);
  EXPECT_EQ(next(100000, 899), 100000u - 16384u);
}

TEST_F(Tau1, NeverFallsBelowItsBase) {
  EXPECT_EQ(next(65536, 0), 65536u);
  EXPECT_EQ(next(65536 + 16384, 0), 65536u);
  EXPECT_EQ(next(65536 + 16385, 0), 65537u);
  EXPECT_EQ(next(0, 950), 65536u);
}

TEST_F(Tau1, StopsAtTau2BeforeTheLastResort) {
  EXPECT_EQ(next(131071, 2000), 131072u);
  EXPECT_EQ(next(131072, 2000), 131072u + 16384u);
}

TEST_F(Tau1, NeverRisesAboveTheNumberOfScans) {
  EXPECT_EQ(next(3 * 65536 - 1, 2000), 3 * 65536u);
  EXPECT_EQ(next(3 * 65536, 2000), 3 * 65536u);
  EXPECT_EQ(next(kMax32, 2000), 3 * 65536u);
}

TEST_F(Tau1, ForbidsSplittingOnlyBeyondTau2) {
  EXPECT_EQ(hmk_budget_may_split(131072, &rule_), 1);
  EXPECT_EQ(hmk_budget_may_split(131073, &rule_), 0);
}

}  // namespace
