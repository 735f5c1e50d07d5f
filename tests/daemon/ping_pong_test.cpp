// SPDX-License-Identifier: MIT
#include "mover/ping_pong.hpp"

#include <gtest/gtest.h>

#include "support/sizes.hpp"

namespace hmk {
namespace {

const TierNodes kTiers = {{0, 1}, {2, 3}};
constexpr PingPong::Way kUp{2, 0}, kDown{0, 2};
using hmk::test::kMiB;

TEST(PingPong, GoesByTiersAsTheyAreNow) {
  PingPong moves;
  EXPECT_EQ(moves.moved(0, kMiB, {3, 1}, kTiers, 1), 0u);
  EXPECT_EQ(moves.moved(0, kMiB, {2, 0}, kTiers, 2), 0u) << "up again, by other nodes";
  EXPECT_EQ(moves.moved(0, kMiB, {1, 3}, kTiers, 3), kMiB);
  // The process has moved to the other socket and back: each way is a promotion when it is made.
  const TierNodes near0 = {{0}, {1}}, near1 = {{1}, {0}};
  PingPong flips;
  EXPECT_EQ(flips.moved(0, kMiB, {1, 0}, near0, 1), 0u);
  EXPECT_EQ(flips.moved(0, kMiB, {0, 1}, near1, 2), kMiB);
  EXPECT_EQ(flips.moved(0, kMiB, {1, 0}, near0, 3), kMiB);
  EXPECT_TRUE(flips.is_blocked(0, kMiB, 4));
  Spans blocked;
  flips.add_blocked(4, blocked);
  EXPECT_EQ(blocked, (Spans{{0, kMiB}}));
  moves.add_blocked(4, blocked = {});
  EXPECT_EQ(blocked, Spans{}) << "it came back once only";
}

TEST(PingPong, CountsTheBytesThatCameBackSoon) {
  PingPong moves;
  EXPECT_EQ(moves.moved(0, 4 * kMiB, kUp, kTiers, 1), 0u);
  EXPECT_EQ(moves.moved(8 * kMiB, kMiB, kDown, kTiers, 2), 0u) << "another range";
  EXPECT_EQ(moves.moved(2 * kMiB, 4 * kMiB, kDown, kTiers, 3), 2 * kMiB)
      << "the part that had gone up";
  EXPECT_EQ(moves.moved(8 * kMiB, kMiB, kDown, kTiers, 4), 0u) << "the same way is no return";
}

TEST(PingPong, WhatComesBackLateHasAnotherReason) {
  PingPong moves;
  moves.moved(0, kMiB, kUp, kTiers, 1);
  EXPECT_EQ(moves.moved(0, kMiB, kDown, kTiers, 1 + PingPong::kSoon), kMiB);
  PingPong later;
  later.moved(0, kMiB, kUp, kTiers, 1);
  EXPECT_EQ(later.moved(0, kMiB, kDown, kTiers, 2 + PingPong::kSoon), 0u);
}

TEST(PingPong, TheFirstReturnIsFreeThenTheRangeIsLeftAloneLongerEachTime) {
  PingPong moves;
  moves.moved(0, kMiB, kUp, kTiers, 1);
  moves.moved(0, kMiB, kDown, kTiers, 2);
  EXPECT_FALSE(moves.is_blocked(0, kMiB, 3));
  moves.moved(0, kMiB, kUp, kTiers, 3);
  EXPECT_TRUE(moves.is_blocked(0, kMiB, 5));
  EXPECT_FALSE(moves.is_blocked(0, kMiB, 6));
  EXPECT_FALSE(moves.is_blocked(kMiB, kMiB, 5));
  moves.moved(0, kMiB, kDown, kTiers, 6);
  EXPECT_TRUE(moves.is_blocked(0, kMiB, 10));
  EXPECT_FALSE(moves.is_blocked(0, kMiB, 11));
}

TEST(PingPong, StopsCountingUpAtSixtyFourIntervals) {
  PingPong moves;
  std::uint64_t seq = 1;
  for (int i = 0; i < 40; ++i) moves.moved(0, kMiB, i % 2 == 0 ? kUp : kDown, kTiers, seq++);
  EXPECT_TRUE(moves.is_blocked(0, kMiB, seq - 1 + 64));
  EXPECT_FALSE(moves.is_blocked(0, kMiB, seq + 64));
}

TEST(PingPong, ForgetsWhatIsQuietAndRemembersNoMoreThanItMay) {
  PingPong moves;
  moves.moved(0, kMiB, kUp, kTiers, 1);
  moves.forget_old(1 + PingPong::kSoon);
  EXPECT_EQ(moves.size(), 1u);
  moves.forget_old(2 + PingPong::kSoon);
  EXPECT_EQ(moves.size(), 0u);
  for (std::uint64_t i = 0; i <= PingPong::kMost; ++i)
    moves.moved(2 * i * kMiB, kMiB, kUp, kTiers, 20);
  moves.forget_old(21);
  EXPECT_EQ(moves.size(), 0u) << "all are equally old";
}

}  // namespace
}  // namespace hmk
