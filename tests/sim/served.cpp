// SPDX-License-Identifier: MIT
#include "served.hpp"

#include <gtest/gtest.h>

#include "scenario.hpp"

using namespace hmk::sim;

namespace {

/// Four pages with a tenth, two, three and four tenths of the accesses.
World four_pages() {
  World world;
  world.spans.resize(1);
  world.spans[0].end = 16384;
  for (std::uint64_t i = 0; i < 4; i++)
    world.zones.push_back({i * 4096, (i + 1) * 4096, 1.0 + static_cast<double>(i)});
  return world;
}

TEST(SimServed, IsTheMostThereIsWhereTheOrderIsTheTrueOne) {
  const World world = four_pages();
  const std::vector<Estimate> right = {
      {0, 4096, -9}, {4096, 8192, 0}, {8192, 12288, 3}, {12288, 16384, 70}};
  EXPECT_DOUBLE_EQ(most_served(world, 0.5), 0.7);
  EXPECT_DOUBLE_EQ(served(world, right, 0.5), 0.7);
  EXPECT_DOUBLE_EQ(served(world, right, 0.25), 0.4);
  EXPECT_DOUBLE_EQ(served(world, right, 1), 1);
}

TEST(SimServed, TakesInPartWhatIsPublishedAlike) {
  const World world = four_pages();
  const std::vector<Estimate> alike = {{0, 16384, 5}};
  EXPECT_DOUBLE_EQ(served(world, alike, 0.25), 0.25);
  const std::vector<Estimate> halves = {{0, 8192, 6}, {8192, 16384, 5}};
  EXPECT_DOUBLE_EQ(served(world, halves, 0.5), 0.3);
  EXPECT_DOUBLE_EQ(served(world, halves, 0.75), 0.3 + 0.35);
}

TEST(SimServed, TakesWhatIsNotPublishedForColdest) {
  const World world = four_pages();
  const std::vector<Estimate> some = {{0, 4096, -100}};
  EXPECT_DOUBLE_EQ(served(world, some, 0.25), 0.1);
  EXPECT_DOUBLE_EQ(served(world, some, 0.5), 0.1 + 0.3);
}

TEST(SimScenario, OfZipfPagesHasItsHottestEighthAllOverTheMemory) {
  const Scenario s = make_scenario("zipf-pages", {.hot_rate = 2, .bytes = 256ull << 20});
  const World& world = s.at(0);
  const Bytes eighth = world.bytes() / 8;
  EXPECT_EQ(world.hot.bytes(), eighth);
  EXPECT_EQ(s.fast_share, 0.125);
  double hot = 0;
  for (const Zone& zone : world.zones) {
    EXPECT_EQ(zone.rate > world.hot_above, world.hot.contains(zone.start));
    if (world.hot.contains(zone.start)) hot += zone.rate;
  }
  EXPECT_NEAR(hot / (static_cast<double>(eighth) / 4096), 2, 1e-9);
  // Sum of 1 / rank^0.99, the first eighth over all: (ln(n / 8) + 0.58) / (ln n + 0.58), about.
  EXPECT_NEAR(most_served(world, s.fast_share), 0.83, 0.02);
  const std::uint64_t middle = world.spans[0].start + world.bytes() / 2;
  EXPECT_NEAR(static_cast<double>(world.hot.bytes_in(world.spans[0].start, middle)),
              static_cast<double>(eighth) / 2, static_cast<double>(eighth) / 20);
}

}  // namespace
