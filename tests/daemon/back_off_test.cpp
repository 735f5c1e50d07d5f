// SPDX-License-Identifier: MIT
#include "mover/back_off.hpp"

#include <gtest/gtest.h>

namespace hmk {
namespace {

TEST(BackOff, LeavesAFailedRangeAloneForOneIntervalThenTwoThenFour) {
  BackOff back_off;
  back_off.failed(0x1000, 0x1000, 10);
  EXPECT_TRUE(back_off.is_blocked(0x1000, 0x1000, 11));
  EXPECT_FALSE(back_off.is_blocked(0x1000, 0x1000, 12));
  Spans blocked;
  back_off.add_blocked(11, blocked);
  EXPECT_EQ(blocked, (Spans{{0x1000, 0x2000}}));
  back_off.add_blocked(12, blocked = {});
  EXPECT_EQ(blocked, Spans{});
  back_off.failed(0x1000, 0x1000, 12);
  EXPECT_TRUE(back_off.is_blocked(0x1000, 0x1000, 14));
  EXPECT_FALSE(back_off.is_blocked(0x1000, 0x1000, 15));
  back_off.failed(0x1000, 0x1000, 15);
  EXPECT_TRUE(back_off.is_blocked(0x1000, 0x1000, 19));
  EXPECT_FALSE(back_off.is_blocked(0x1000, 0x1000, 20));
}

TEST(BackOff, DoublingEnds) {
  BackOff back_off;
  for (int i = 0; i < 100; ++i) back_off.failed(0x1000, 0x1000, 1);
  EXPECT_FALSE(back_off.is_blocked(0x1000, 0x1000, 66));
}

TEST(BackOff, BlocksWhateverOverlaps) {
  BackOff back_off;
  back_off.failed(0x4000, 0x2000, 1);
  EXPECT_TRUE(back_off.is_blocked(0x5000, 0x1000, 2)) << "inside";
  EXPECT_TRUE(back_off.is_blocked(0x0000, 0x8000, 2)) << "around";
  EXPECT_TRUE(back_off.is_blocked(0x3000, 0x1001, 2)) << "first page";
  EXPECT_FALSE(back_off.is_blocked(0x3000, 0x1000, 2)) << "just before";
  EXPECT_FALSE(back_off.is_blocked(0x6000, 0x1000, 2)) << "just behind";
}

TEST(BackOff, SuccessAndTimeForget) {
  BackOff back_off;
  back_off.failed(0x1000, 0x1000, 1);
  back_off.succeeded(0x1000);
  EXPECT_FALSE(back_off.is_blocked(0x1000, 0x1000, 2));
  back_off.failed(0x1000, 0x1000, 1);
  back_off.forget_old(50);
  EXPECT_EQ(back_off.size(), 1u) << "its doubling is remembered for a while";
  back_off.forget_old(67);
  EXPECT_EQ(back_off.size(), 0u);
}

TEST(BackOff, TellsClassesApartAndAWholeRangeFromNone) {
  BackOff back_off;
  back_off.failed(0x1000, 0x1000, 1, 3);
  EXPECT_TRUE(back_off.is_blocked(0x1000, 0x1000, 2, 3));
  EXPECT_FALSE(back_off.is_blocked(0x2000, 0x1000, 2, 3));
  EXPECT_FALSE(back_off.is_blocked(0x1000, 0x1000, 2, 4));
  EXPECT_FALSE(back_off.is_blocked(0x1000, 0x1000, 2));
  back_off.failed(0x5000, 0x1000, 1);
  EXPECT_TRUE(back_off.is_blocked(0x5000, 0x1000, 2, 4)) << "what would not move as a whole";
  Spans whole;
  back_off.add_blocked(2, whole, 0);
  EXPECT_EQ(whole, (Spans{{0x5000, 0x6000}}));
  back_off.succeeded(0x1000, 3);
  EXPECT_FALSE(back_off.is_blocked(0x1000, 0x1000, 2, 3));
}

}  // namespace
}  // namespace hmk
