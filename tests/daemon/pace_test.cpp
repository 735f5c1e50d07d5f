// SPDX-License-Identifier: MIT
#include "mover/pace.hpp"

#include <gtest/gtest.h>

#include "support/sizes.hpp"

namespace hmk {
namespace {

using hmk::test::kMiB;

class PaceTest : public ::testing::Test {
 protected:
  Pace::Clock::time_point now_{std::chrono::hours(1)};
  Pace pace_{[this] { return now_; }};
  const Pace::Pair up_{2, 0}, down_{0, 2};
};

TEST_F(PaceTest, WithoutALimitEverythingGoes) {
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(pace_.take(up_, 1ull << 40));
  pace_.limit({{down_, kMiB}});
  EXPECT_TRUE(pace_.take(up_, 1ull << 40)) << "the limit is the other direction's";
}

TEST_F(PaceTest, KeepsTheRateAndUsesIt) {
  constexpr std::uint64_t kRate = 64 * kMiB, kPiece = 4 * kMiB;
  pace_.limit({{up_, kRate}});
  const auto begin = now_;
  std::uint64_t sent = 0;
  for (int i = 0; i < 1000; ++i) {
    while (pace_.take(up_, kPiece)) sent += kPiece;
    EXPECT_GT(pace_.ready_at(up_), now_);
    // Whoever waits a little longer than needed may catch up by kAhead, no more.
    now_ = pace_.ready_at(up_) + std::chrono::milliseconds(i % 3);
    const double seconds = std::chrono::duration<double>(now_ - begin + Pace::kAhead).count();
    EXPECT_LE(static_cast<double>(sent), seconds * kRate + kPiece);
  }
  const double seconds = std::chrono::duration<double>(now_ - begin).count();
  EXPECT_GE(static_cast<double>(sent), 0.98 * seconds * kRate);
}

TEST_F(PaceTest, WhatIsGivenBackCanBeTakenAgain) {
  pace_.limit({{up_, 64 * kMiB}});
  ASSERT_TRUE(pace_.take(up_, 4 * kMiB));
  ASSERT_FALSE(pace_.take(up_, 4 * kMiB));
  pace_.give_back(up_, 3 * kMiB);
  EXPECT_EQ(pace_.ready_at(up_), now_ + std::chrono::microseconds(15625) - Pace::kAhead)
      << "of 1 MiB";
  pace_.give_back(up_, kMiB);
  EXPECT_TRUE(pace_.take(up_, 4 * kMiB));
  pace_.give_back(up_, 4 * kMiB);
  now_ += std::chrono::hours(1);
  pace_.give_back(up_, 64 * kMiB);
  EXPECT_TRUE(pace_.take(up_, 4 * kMiB));
  EXPECT_FALSE(pace_.take(up_, 4 * kMiB)) << "what is given back late is not saved either";
  pace_.give_back(down_, kMiB);
  EXPECT_TRUE(pace_.take(down_, kMiB)) << "a pair without a limit";
}

TEST_F(PaceTest, IdleTimeIsNotSaved) {
  pace_.limit({{up_, 64 * kMiB}});
  ASSERT_TRUE(pace_.take(up_, 4 * kMiB));
  now_ += std::chrono::hours(1);
  EXPECT_TRUE(pace_.take(up_, 4 * kMiB));
  EXPECT_FALSE(pace_.take(up_, 4 * kMiB));
}

TEST_F(PaceTest, ALimitThatIsLiftedHoldsNothingBack) {
  pace_.limit({{up_, kMiB}});
  ASSERT_TRUE(pace_.take(up_, 1ull << 30));
  ASSERT_FALSE(pace_.take(up_, 1));
  pace_.limit({});
  EXPECT_TRUE(pace_.take(up_, 1ull << 40));
}

}  // namespace
}  // namespace hmk
