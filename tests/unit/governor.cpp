// SPDX-License-Identifier: MIT
#include "policy/governor.hpp"

#include <gtest/gtest.h>

#include "support/sizes.hpp"

using namespace hmk::policy;
using hmk::test::kMiB;

namespace {

constexpr Governor::Seen kLoss{.net = -1, .has_moved = true}, kGain{.net = 1, .has_moved = true};

void lose(Governor& governor, unsigned intervals) {
  for (unsigned k = 0; k < intervals; ++k) governor.saw(kLoss);
}

TEST(Governor, HalvesWhileMovesLoseDownToAProbe) {
  Governor governor;
  unsigned changes = 0;
  for (unsigned k = 1; k <= 40; ++k) {
    changes += governor.saw(kLoss);
    EXPECT_EQ(governor.divisor(), 1u << std::min(k / Governor::kPatience, Governor::kSlowest)) << k;
  }
  EXPECT_EQ(changes, Governor::kSlowest);
  EXPECT_EQ(governor.limit(400 * kMiB), 25 * kMiB);
  EXPECT_EQ(governor.limit(20 * kMiB), Governor::kProbe);
  EXPECT_EQ(governor.limit(4 * kMiB), 4 * kMiB) << "never more than all";
}

TEST(Governor, DoublesWhenAProbePays) {
  Governor governor;
  lose(governor, 100);
  for (unsigned k = 1; k <= 8; ++k) {
    governor.saw(kGain);
    EXPECT_EQ(governor.divisor(), 16u >> (k / Governor::kProof)) << k;
  }
  EXPECT_EQ(governor.limit(400 * kMiB), 400 * kMiB);
}

TEST(Governor, AChangeOfTheProgramIsFullSpeedAtOnce) {
  Governor governor;
  lose(governor, 100);
  EXPECT_TRUE(governor.saw({.net = -1, .has_moved = true, .has_changed = true}));
  EXPECT_EQ(governor.divisor(), 1u);
  lose(governor, Governor::kPatience - 1);
  EXPECT_EQ(governor.divisor(), 1u);
}

TEST(Governor, AnInvestmentIsNoLoss) {
  Governor governor;
  for (int k = 0; k < 100; ++k) governor.saw({.net = -1, .is_rising = true, .has_moved = true});
  EXPECT_EQ(governor.divisor(), 1u);
}

TEST(Governor, IntervalsWithoutMovesSayNothing) {
  Governor governor;
  lose(governor, Governor::kPatience - 1);
  for (int k = 0; k < 100; ++k) EXPECT_FALSE(governor.saw({.net = -1}));
  lose(governor, 1);
  EXPECT_EQ(governor.divisor(), 2u);
}

TEST(Governor, AGainBetweenTakesTheLossesBack) {
  Governor governor;
  for (int k = 0; k < 100; ++k) {
    lose(governor, Governor::kPatience - 1);
    governor.saw(kGain);
  }
  EXPECT_EQ(governor.divisor(), 1u);
}

}  // namespace
