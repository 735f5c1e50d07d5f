// SPDX-License-Identifier: MIT
#include "mover/ping_pong.hpp"

#include <gtest/gtest.h>

#include "support/sizes.hpp"

namespace hmk {
namespace {

constexpr bool kUp = true, kDown = false;
using hmk::test::kMiB;

TEST(PingPong, CountsTheBytesThatCameBackSoon) {
  PingPong moves;
  EXPECT_EQ(moves.moved(0, 4 * kMiB, kUp, 1), 0u);
  EXPECT_EQ(moves.moved(8 * kMiB, kMiB, kDown, 2), 0u) << "another range";
  EXPECT_EQ(moves.moved(2 * kMiB, 4 * kMiB, kDown, 3), 2 * kMiB) << "the part that had gone up";
  EXPECT_EQ(moves.moved(8 * kMiB, kMiB, kDown, 4), 0u) << "the same way is no return";
}

TEST(PingPong, WhatComesBackLateHasAnotherReason) {
  PingPong moves;
  moves.moved(0, kMiB, kUp, 1);
  EXPECT_EQ(moves.moved(0, kMiB, kDown, 1 + PingPong::kSoon), kMiB);
  PingPong later;
  later.moved(0, kMiB, kUp, 1);
  EXPECT_EQ(later.moved(0, kMiB, kDown, 2 + PingPong::kSoon), 0u);
}

TEST(PingPong, TheFirstReturnIsFreeThenTheRangeIsLeftAloneLongerEachTime) {
  PingPong moves;
  moves.moved(0, kMiB, kUp, 1);
  moves.moved(0, kMiB, kDown, 2);
  EXPECT_FALSE(moves.is_blocked(0, kMiB, 3));
  moves.moved(0, kMiB, kUp, 3);
  EXPECT_TRUE(moves.is_blocked(0, kMiB, 5));
  EXPECT_FALSE(moves.is_blocked(0, kMiB, 6));
  EXPECT_FALSE(moves.is_blocked(kMiB, kMiB, 5));
  moves.moved(0, kMiB, kDown, 6);
  EXPECT_TRUE(moves.is_blocked(0, kMiB, 10));
  EXPECT_FALSE(moves.is_blocked(0, kMiB, 11));
}

TEST(PingPong, StopsCountingUpAtSixtyFourIntervals) {
  PingPong moves;
  std::uint64_t seq = 1;
  for (int i = 0; i < 40; ++i) moves.moved(0, kMiB, i % 2 == 0, seq++);
  EXPECT_TRUE(moves.is_blocked(0, kMiB, seq - 1 + 64));
  EXPECT_FALSE(moves.is_blocked(0, kMiB, seq + 64));
}

TEST(PingPong, ForgetsWhatIsQuietAndRemembersNoMoreThanItMay) {
  PingPong moves;
  moves.moved(0, kMiB, kUp, 1);
  moves.forget_old(1 + PingPong::kSoon);
  EXPECT_EQ(moves.size(), 1u);
  moves.forget_old(2 + PingPong::kSoon);
  EXPECT_EQ(moves.size(), 0u);
  for (std::uint64_t i = 0; i <= PingPong::kMost; ++i) moves.moved(2 * i * kMiB, kMiB, kUp, 20);
  moves.forget_old(21);
  EXPECT_EQ(moves.size(), 0u) << "all are equally old";
}

}  // namespace
}  // namespace hmk
