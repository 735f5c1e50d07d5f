// SPDX-License-Identifier: MIT
#include "world.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "scenario.hpp"

using namespace hmk::sim;

namespace {

TEST(SimRangeSet, CountsTheBytesOfAnyStretch) {
  const RangeSet set({{10, 20}, {20, 30}, {50, 60}});
  EXPECT_EQ(set.ranges().size(), 2u);
  EXPECT_EQ(set.bytes(), 30u);
  EXPECT_EQ(set.bytes_in(0, 100), 30u);
  EXPECT_EQ(set.bytes_in(15, 55), 20u);
  EXPECT_EQ(set.bytes_in(30, 50), 0u);
  EXPECT_TRUE(set.contains(10) && set.contains(29) && set.contains(50));
  EXPECT_FALSE(set.contains(9) || set.contains(30) || set.contains(60));
}

TEST(SimRangeSet, MayBeEmpty) {
  const RangeSet set;
  EXPECT_EQ(set.bytes(), 0u);
  EXPECT_EQ(set.bytes_in(0, 100), 0u);
  EXPECT_FALSE(set.contains(0));
}

TEST(SimAccesses, SetTheAccessedBitAsOftenAsThePoissonRateSays) {
  World world;
  world.hot = RangeSet({{0, 1u << 30}});
  world.rates = {1.0, 0.1};
  const Accesses accesses(world, 7, 3, 12, 2.0);
  constexpr unsigned kPages = 100000;
  unsigned hot = 0, cold = 0;
  for (std::uint64_t page = 0; page < kPages; page++) {
    hot += accesses.accessed(page << 12, 1);
    cold += accesses.accessed((1ull << 30) + (page << 12), 1);
  }
  EXPECT_NEAR(hot / 1e5, 1 - std::exp(-2.0), 0.005);
  EXPECT_NEAR(cold / 1e5, 1 - std::exp(-0.2), 0.005);
}

TEST(SimAccesses, SeesOneBitPerLeaf) {
  World world;
  world.hot = RangeSet({{0, 1u << 30}});
  world.rates = {0.3, 0};
  const Accesses accesses(world, 1, 0, 21, 3.0);
  for (std::uint64_t at = 0; at < 1u << 30; at += 1u << 21)
    ASSERT_EQ(accesses.count(at, 3), accesses.count(at + 0x1ff000, 3));
}

TEST(SimScenario, HasTheHotSetItPromisesInBothLayouts) {
  for (const Layout layout : {Layout::kContiguous, Layout::kScattered}) {
    ScenarioOptions options;
    options.layout = layout;
    const Scenario gups = make_scenario("gups-512g", options);
    EXPECT_EQ(gups.at(0).bytes(), 512ull << 30);
    EXPECT_NEAR(static_cast<double>(gups.at(0).hot.bytes()), 51.2 * (1ull << 30), 4 << 20);
    const Scenario needle = make_scenario("needle-160g", options);
    EXPECT_EQ(needle.at(0).hot.bytes(), 200ull << 20);
  }
}

TEST(SimScenario, OfAnUnknownNameIsRefused) {
  EXPECT_THROW(make_scenario("gups", {}), std::invalid_argument);
}

}  // namespace
