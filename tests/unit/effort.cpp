// SPDX-License-Identifier: MIT
#include "policy/effort.hpp"

#include <gtest/gtest.h>

using namespace hmk::policy;

namespace {

constexpr std::uint32_t kWhole = 500;
constexpr Effort::Seen kTooDear{.earns = 0.9, .takes = 1}, kJustWorth{.earns = 2, .takes = 1},
    kWellWorth{.earns = 2.1, .takes = 1};

Effort after(unsigned losses) {
  Effort effort;
  for (unsigned k = 0; k < losses; ++k) effort.saw(kTooDear);
  return effort;
}

TEST(Effort, HalvesWhileProfilingTakesMoreThanItEarnsDownToA32nd) {
  Effort effort;
  for (unsigned k = 1; k < Effort::kPatience; ++k) EXPECT_FALSE(effort.saw(kTooDear));
  EXPECT_EQ(effort.budget_bp(kWhole), 500u);
  EXPECT_TRUE(effort.saw(kTooDear));
  EXPECT_EQ(effort.budget_bp(kWhole), 250u);
  EXPECT_EQ(after(2 * Effort::kPatience).budget_bp(kWhole), 125u);
  EXPECT_EQ(after(3 * Effort::kPatience).budget_bp(kWhole), 62u);
  EXPECT_FALSE(after(4 * Effort::kPatience - 1).is_rough());
  EXPECT_TRUE(after(4 * Effort::kPatience).is_rough()) << "a 16th";
  EXPECT_EQ(after(1000).budget_bp(kWhole), 15u) << "a 32nd";
  EXPECT_EQ(after(1000).budget_bp(1), 1u) << "the least there is";
}

TEST(Effort, IsWholeWhenItIsWorthTwiceAsMuchAndStaysInBetween) {
  Effort effort = after(3 * Effort::kPatience);
  for (int k = 0; k < 100; ++k) EXPECT_FALSE(effort.saw(kJustWorth));
  EXPECT_EQ(effort.budget_bp(kWhole), 62u);
  EXPECT_TRUE(effort.saw(kWellWorth));
  EXPECT_EQ(effort.budget_bp(kWhole), kWhole);
  EXPECT_FALSE(effort.saw(kWellWorth));
}

TEST(Effort, AGainEndsARowOfLosses) {
  Effort effort = after(Effort::kPatience - 1);
  EXPECT_FALSE(effort.saw(kJustWorth));
  EXPECT_FALSE(effort.saw(kTooDear));
  EXPECT_EQ(effort.budget_bp(kWhole), kWhole);
}

// One step back at a time, and not down to there again, until the program has changed.
TEST(Effort, GoesBackFromABudgetThatStretchesTheInterval) {
  constexpr Effort::Seen kStretched{.earns = 0, .takes = 1, .is_stretched = true};
  Effort effort = after(1000);
  EXPECT_TRUE(effort.saw(kStretched));
  EXPECT_EQ(effort.budget_bp(kWhole), 31u);
  EXPECT_TRUE(effort.saw(kStretched));
  for (int k = 0; k < 100; ++k) EXPECT_FALSE(effort.saw(kTooDear));
  EXPECT_EQ(effort.budget_bp(kWhole), 62u);

  effort.saw({.earns = 0, .takes = 1, .has_changed = true});
  EXPECT_FALSE(effort.saw(kStretched)) << "what is whole is not the cause";
  for (int k = 0; k < 100; ++k) effort.saw(kTooDear);
  EXPECT_EQ(effort.budget_bp(kWhole), 15u);
}

TEST(Effort, IsWholeWhenTheProgramHasChanged) {
  Effort effort = after(1000);
  EXPECT_TRUE(effort.saw({.earns = 0, .takes = 1, .has_changed = true}));
  EXPECT_EQ(effort.budget_bp(kWhole), kWhole);
}

}  // namespace
