// SPDX-License-Identifier: MIT
#include "policy/refaults.hpp"

#include <gtest/gtest.h>

#include "support/policy.hpp"

using namespace hmk::policy;
using namespace hmk::test;

namespace {

constexpr double kAllowed = 0.1;
constexpr Bytes kCold = 1024 * kMiB;

class Refaults : public ::testing::Test {
 protected:
  /// Ten seconds in which so much was sent and so many pages came back.
  void see(Bytes sent, std::uint64_t refaults) {
    limit_.saw({.seconds = 10, .refaults = refaults, .sent = sent}, kAllowed);
  }
  /// Until it pages out again, in intervals.
  unsigned rest() {
    unsigned intervals = 0;
    while (limit_.most(kCold) == 0) {
      see(0, 0);
      ++intervals;
    }
    return intervals;
  }
  RefaultLimit limit_;
};

TEST_F(Refaults, AProbeComesFirstAndFourTimesAsMuchWhileNothingComesBack) {
  EXPECT_EQ(limit_.most(kCold), 32 * kMiB);
  EXPECT_EQ(limit_.most(kMiB), RefaultLimit::kProbe);
  see(32 * kMiB, 0);
  EXPECT_EQ(limit_.most(kCold), 128 * kMiB);
  see(0, 0);
  EXPECT_EQ(limit_.most(kCold), 128 * kMiB) << "nothing was tried";
  see(128 * kMiB, 0);
  see(512 * kMiB, 0);
  EXPECT_GE(limit_.most(kCold), kCold);
}

TEST_F(Refaults, TooManyStopItAndTheNextProbeIsLaterEachTime) {
  see(32 * kMiB, 0);
  see(128 * kMiB, 0);
  see(0, 1000);
  EXPECT_TRUE(limit_.is_resting());
  EXPECT_EQ(limit_.most(kCold), 0u);
  EXPECT_NEAR(limit_.refaults_per_s(), 100 * (1 - std::exp(-10 / 60.)), 1e-6);
  const unsigned first = rest();
  EXPECT_GE(first, 6u);
  EXPECT_EQ(limit_.most(kCold), 32 * kMiB) << "a probe again";
  see(32 * kMiB, 1000);
  EXPECT_GT(rest(), first);
}

TEST_F(Refaults, AFewAreAllowed) {
  for (int n = 0; n < 100; ++n) see(n == 0 ? 32 * kMiB : 0, 1);  // 0.1 a second
  EXPECT_FALSE(limit_.is_resting());
  see(0, 8);
  EXPECT_TRUE(limit_.is_resting());
}

TEST_F(Refaults, OnceAllWasSentTheFirstRestIsShortAgain) {
  for (int n = 0; n < 4; ++n) {
    see(32 * kMiB, 1000);
    rest();
  }
  for (int n = 0; n < 4; ++n) see(32 * kMiB, 0);
  EXPECT_GE(limit_.most(kCold), kCold);
  see(0, 8);
  EXPECT_EQ(rest(), 6u);
}

}  // namespace
