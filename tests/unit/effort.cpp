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

TEST(Effort, HalvesWhileProfilingTakesMoreThanItEarnsDownToAnEighth) {
  Effort effort;
  for (unsigned k = 1; k < Effort::kPatience; ++k) EXPECT_FALSE(effort.saw(kTooDear));
  EXPECT_EQ(effort.budget_bp(kWhole), 500u);
  EXPECT_TRUE(effort.saw(kTooDear));
  EXPECT_EQ(effort.budget_bp(kWhole), 250u);
  EXPECT_EQ(after(2 * Effort::kPatience).budget_bp(kWhole), 125u);
  EXPECT_EQ(after(3 * Effort::kPatience).budget_bp(kWhole), 62u);
  EXPECT_EQ(after(1000).budget_bp(kWhole), 62u) << "an eighth";
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

TEST(Effort, IsWholeWhenTheProgramHasChanged) {
  Effort effort = after(1000);
  EXPECT_TRUE(effort.saw({.earns = 0, .takes = 1, .has_changed = true}));
  EXPECT_EQ(effort.budget_bp(kWhole), kWhole);
}

}  // namespace
