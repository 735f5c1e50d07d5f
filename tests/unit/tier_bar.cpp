// SPDX-License-Identifier: MIT
#include "tier_bar.hpp"

#include <gtest/gtest.h>

using namespace hmkctl;

namespace {

TEST(TierBar, SharesOutTheTier) {
  EXPECT_EQ(tier_bar({.hot = 20, .resident = 50, .free = 20, .total = 100}, 10), "[##===---..]");
  EXPECT_EQ(tier_bar({.hot = 0, .resident = 0, .free = 100, .total = 100}, 10), "[..........]");
  EXPECT_EQ(tier_bar({.hot = 100, .resident = 100, .free = 0, .total = 100}, 10), "[##########]");
}

TEST(TierBar, ShowsWhatIsLittle) {
  EXPECT_EQ(tier_bar({.hot = 1, .resident = 2, .free = 997, .total = 1000}, 10), "[#=-.......]");
}

TEST(TierBar, IsAsLongAsSaidWhateverTheFigures) {
  EXPECT_EQ(tier_bar({.hot = 700, .resident = 600, .free = 50, .total = 100}, 10), "[##########]");
  EXPECT_EQ(tier_bar({.hot = 999, .resident = 1000, .free = 0, .total = 1000}, 10), "[##########]");
  EXPECT_EQ(tier_bar({}, 10), "[..........]");
}

}  // namespace
