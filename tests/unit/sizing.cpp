// SPDX-License-Identifier: MIT
#include "sizing.hpp"

#include <gtest/gtest.h>

#include "support/random.hpp"
#include "support/recorded.hpp"

using namespace hmkctl;
using hmk::test::frames_of;
using hmk::test::Heat;
using hmk::test::heat_of;
using hmk::test::kMiB;
using hmk::test::Random;

namespace {

constexpr Prices kPrices{.fast_ns = 100, .slow_ns = 300, .page_ns = 2000};

TEST(Sizing, WhatIsHotIsEnough) {
  const Sizing sizing(heat_of(frames_of({{10, -10, -10, -10}, {10, -10, -10, -10}})), kPrices);
  EXPECT_EQ(sizing.bytes(), 32 * kMiB);
  EXPECT_NEAR(static_cast<double>(sizing.enough(0.05)), 0.975 * 8 * kMiB, 0.001 * kMiB)
      << "97.5 % at 100 ns and the rest at 300 are 105 ns";
  const Sized hot = sizing.at(8 * kMiB);
  EXPECT_NEAR(hot.stays_ns, 100, 0.01);
  EXPECT_NEAR(hot.moves_ns, 100, 0.01);
  EXPECT_EQ(hot.moved_bytes, 0);
  EXPECT_NEAR(sizing.at(4 * kMiB).stays_ns, 200, 0.01);
  EXPECT_EQ(sizing.at(0).moves_ns, 300);
  EXPECT_EQ(sizing.at(32 * kMiB).stays_ns, 100);
}

TEST(Sizing, WhatIsHotInTurnsMovesWhereThatPays) {
  const auto heat = heat_of(frames_of({{10, -20}, {-20, 10}, {10, -20}, {-20, 10}}));
  const Sized cheap = Sizing(heat, kPrices).at(8 * kMiB);
  EXPECT_NEAR(cheap.stays_ns, 200, 0.1) << "half of the time the other one is hot";
  // 1,024 accesses of a page in a window; three changes, each with a page up and one down.
  EXPECT_NEAR(cheap.moves_ns, 100 + 3 * 2 * 2000 / (4 * 1024.0), 0.1);
  EXPECT_NEAR(cheap.moves_share, 1, 0.001);
  EXPECT_EQ(cheap.moved_bytes, 48 * kMiB);
  const Sized dear = Sizing(heat, {.fast_ns = 100, .slow_ns = 300, .page_ns = 1e6}).at(8 * kMiB);
  EXPECT_NEAR(dear.moves_ns, 200, 0.1);
  EXPECT_EQ(dear.moved_bytes, 0);
}

TEST(Sizing, TheBoundIsBelowTheMovesThoseBelowTheStayAndMoreMemoryIsNeverWorse) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::vector<std::vector<Heat>> rates(1 + random.below(6), std::vector<Heat>(12, Heat(0)));
    for (auto& window : rates)
      for (Heat& heat : window) heat.rate = static_cast<int>(random.below(12)) - 2;
    const Sizing sizing(heat_of(frames_of(rates)), kPrices);
    double before = kPrices.slow_ns;
    for (std::uint64_t mib = 0; mib <= 96; mib += 16) {
      const Sized sized = sizing.at(mib * kMiB);
      EXPECT_LE(sized.bound_ns, sized.moves_ns * (1 + 1e-9)) << mib;
      EXPECT_LE(sized.moves_ns, sized.stays_ns * (1 + 1e-9)) << mib;
      EXPECT_LE(sized.stays_ns, before * (1 + 1e-9)) << mib;
      EXPECT_GE(sized.bound_ns, 0.97 * sized.moves_ns) << mib;
      before = sized.stays_ns;
    }
    EXPECT_NEAR(before, kPrices.fast_ns, 1e-6);
    EXPECT_NEAR(sizing.at(sizing.enough(0.2)).stays_ns, 1.2 * kPrices.fast_ns, 1e-3);
  }
}

}  // namespace
