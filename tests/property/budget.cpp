// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <hmk/core/budget.h>

#include <algorithm>

#include "support/random.hpp"

using hmk::test::Random;

namespace {

TEST(BudgetProperties, TheSamplesNeverCostMoreThanTheBudgetAndOneMoreWould) {
  Random random(3);
  for (int i = 0; i < 100000; ++i) {
    const std::uint64_t interval = 50000000 + random.below(600000000000ull);
    const std::uint32_t bp = 1 + random.below32(80000), cost = 1 + random.below32(100000);
    const std::uint32_t scans = 1 + random.below32(16);
    const std::uint64_t budget = interval * bp / 10000;
    const std::uint64_t fixed = random.one_in(4) ? 0 : random.below(2 * budget + 1);
    const std::uint64_t each = std::uint64_t{cost} * scans;
    const std::uint64_t samples = hmk_budget_num_ps(interval, bp, cost, scans, fixed);
    ASSERT_EQ(hmk_budget_ns(interval, bp), budget);
    if (samples) {
      ASSERT_LE(fixed + samples * each, budget);
    }
    if (samples < 0xffffffff) {
      ASSERT_GT(fixed + (samples + 1) * each, budget);
    }
  }
}

TEST(BudgetProperties, TheTrackedCostStaysBetweenWhatWasMeasured) {
  Random random(4);
  std::uint32_t cost = 0, low = ~0u, high = 0;
  for (int i = 0; i < 100000; ++i) {
    const std::uint32_t now = 1 + random.below32(5000);
    low = std::min(low, now);
    high = std::max(high, now);
    cost = hmk_budget_track(cost, now);
    ASSERT_GE(cost, low);
    ASSERT_LE(cost, high);
  }
}

TEST(BudgetProperties, Tau1MovesByOneStepAtMostAndStaysInItsRange) {
  Random random(5);
  for (int round = 0; round < 200; ++round) {
    const std::uint32_t scans = 1 + random.below32(16);
    const hmk_tau_rule rule = hmk_budget_tau_rule(
        scans, random.below32(scans << 16), random.below32(scans << 16), random.below32(1 << 16));
    ASSERT_LE(rule.base_q16, rule.tau2_q16);
    ASSERT_LE(rule.tau2_q16, rule.limit_q16);
    std::uint32_t tau = rule.base_q16;
    for (int interval = 0; interval < 200; ++interval) {
      const std::uint32_t next =
          hmk_budget_tau1(tau, &rule, random.below32(2000), random.below32(2000));
      ASSERT_GE(next, rule.base_q16);
      ASSERT_LE(next, rule.limit_q16);
      ASSERT_LE(std::max(next, tau) - std::min(next, tau), rule.step_q16);
      tau = next;
    }
  }
}

TEST(BudgetProperties, Tau1ReachesTheLimitUnderPressureAndItsBaseAfterwards) {
  const hmk_tau_rule rule = hmk_budget_tau_rule(3, 0, 0, 0);
  std::uint32_t tau = rule.base_q16;
  for (int i = 0; i < 8; ++i) tau = hmk_budget_tau1(tau, &rule, 2000, 1000);
  EXPECT_EQ(tau, rule.limit_q16);
  for (int i = 0; i < 8; ++i) tau = hmk_budget_tau1(tau, &rule, 100, 1000);
  EXPECT_EQ(tau, rule.base_q16);
}

}  // namespace
