// SPDX-License-Identifier: MIT
#include "comparison.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace hmkctl {
namespace {

/// All blocks until it stops: what was watched is 100, `managed` where it is managed, and each
/// block `noise` more or less by turns of three.
Estimate run(const ComparisonRules& rules, double managed, double noise = 0.01) {
  Comparison comparison(rules);
  while (const auto arm = comparison.next()) {
    const double figure = (*arm == Arm::watch ? 100 : managed) *
                          (1 + noise * (static_cast<int>(comparison.blocks() * 7 % 3) - 1));
    comparison.add(std::array{figure * 0.99, figure * 1.01});
  }
  return comparison.estimate();
}

TEST(Comparison, AsManyPairsBeginEachWayAtEveryLook) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Comparison comparison({.within = 0, .seed = seed});
    std::vector<Arm> arms;
    for (double figure = 100; const auto arm = comparison.next(); figure = 201 - figure) {
      arms.push_back(*arm);
      comparison.add(std::array{figure});
    }
    ASSERT_EQ(arms.size(), 24u);
    EXPECT_EQ(arms[0], Arm::watch);
    int lead = 0;
    for (std::size_t at = 0; at < arms.size(); at += 2) {
      EXPECT_NE(arms[at], arms[at + 1]);
      lead += arms[at] == Arm::watch ? 1 : -1;
      const bool is_look = at >= 6 && at % 4 == 2;
      EXPECT_TRUE(!is_look || lead == 0) << "block " << at;
    }
  }
}

TEST(Comparison, TheSeedDrawsTheOrder) {
  const auto order = [](std::uint64_t seed) {
    Comparison comparison({.within = 0, .seed = seed});
    std::vector<Arm> arms;
    for (double figure = 100; const auto arm = comparison.next(); figure = 201 - figure) {
      arms.push_back(*arm);
      comparison.add(std::array{figure});
    }
    return arms;
  };
  EXPECT_EQ(order(5), order(5));
  unsigned others = 0;
  for (std::uint64_t seed = 1; seed < 20; ++seed) others += order(seed) != order(0);
  EXPECT_GT(others, 10u);
}

TEST(Comparison, AClearGainStopsAtTheFirstLook) {
  const Estimate found = run({}, 130);
  EXPECT_EQ(found.found, Found::gain);
  EXPECT_EQ(found.pairs, 4u);
  EXPECT_NEAR(found.change, 0.30, 0.02);
  EXPECT_GT(*found.low, 0);
  EXPECT_LT(*found.low, found.change);
  EXPECT_GT(*found.high, found.change);
}

TEST(Comparison, WhereLowerIsBetterAFallIsAGain) {
  EXPECT_EQ(run({.better = Better::lower}, 70).found, Found::gain);
  EXPECT_EQ(run({.better = Better::lower}, 130).found, Found::loss);
  EXPECT_EQ(run({}, 70).found, Found::loss);
}

TEST(Comparison, AFigureThatDoesNotChangeIsTheSame) {
  const Estimate found = run({}, 100, 0);
  EXPECT_EQ(found.found, Found::same);
  EXPECT_EQ(found.change, 0);
}

TEST(Comparison, WhatDriftsSteadilyIsNoDifference) {
  Comparison comparison({.seed = 3});
  for (double figure = 100; comparison.next(); figure *= 1.01)
    comparison.add(std::array{figure, figure});
  EXPECT_EQ(comparison.estimate().found, Found::same);
  EXPECT_NEAR(comparison.estimate().change, 0, 1e-9);
}

TEST(Comparison, NoisyFiguresAreUnclearAndSayHowFar) {
  const Estimate found = run({}, 101, 0.2);
  EXPECT_EQ(found.found, Found::unclear);
  EXPECT_EQ(found.pairs, 12u);
  EXPECT_LT(*found.low, -0.03);
  EXPECT_GT(*found.high, 0.03);
}

TEST(Comparison, BelowTheFirstLookNothingIsSaid) {
  Comparison comparison({});
  EXPECT_FALSE(comparison.estimate().low);
  for (int blocks = 0; blocks < 6; ++blocks)
    comparison.add(std::array{*comparison.next() == Arm::watch ? 100.0 : 200.0});
  EXPECT_EQ(comparison.estimate().found, Found::unclear);
  EXPECT_NEAR(comparison.estimate().change, 1, 1e-9);
}

TEST(Comparison, TheGuardStopsAtTheSecondManagedBlock) {
  Comparison comparison({.guard = 0.05});
  unsigned managed = 0;
  while (const auto arm = comparison.next()) {
    managed += *arm == Arm::manage;
    const double figure = *arm == Arm::manage ? 75 : 100;  // PostgreSQL's, 1.33 times as long
    comparison.add(std::array{figure * 0.98, figure * 1.02});
  }
  EXPECT_EQ(managed, 2u);
  EXPECT_EQ(comparison.estimate().found, Found::guard);
  EXPECT_NEAR(comparison.estimate().change, -0.25, 1e-9);
  EXPECT_FALSE(comparison.estimate().low);
}

TEST(Comparison, TheGuardLetsSmallerLossesAndChanceBe) {
  EXPECT_EQ(run({.guard = 0.05}, 96, 0.001).found, Found::loss);
  EXPECT_NE(run({.guard = 0.05}, 97, 0.2).found, Found::guard) << "blocks differ by more";
  Comparison comparison({.guard = 0.05});
  while (const auto arm = comparison.next()) {  // the parts differ by more
    const double figure = *arm == Arm::manage ? 93 : 100;
    comparison.add(std::array{figure * 0.6, figure * 1.4});
  }
  EXPECT_NE(comparison.estimate().found, Found::guard);
}

TEST(Comparison, WithoutAGuardALossIsOnlyFound) {
  EXPECT_EQ(run({}, 75).found, Found::loss);
}

TEST(Comparison, TheGuardGoesByTheBetterSide) {
  EXPECT_EQ(run({.guard = 0.05, .better = Better::lower}, 130).found, Found::guard);
  EXPECT_EQ(run({.guard = 0.05, .better = Better::lower}, 75).found, Found::gain);
}

}  // namespace
}  // namespace hmkctl
