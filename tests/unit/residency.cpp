// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <hmk/core/residency.h>

#include "support/regions.hpp"

using namespace hmk::test;

namespace {

/// A region of `pages` whose samples lie on `nodes`, waiting for the census.
struct Case {
  Regions regions;
  std::vector<hmk_sample> samples;

  void add(std::uint64_t pages, const std::vector<std::int16_t>& nodes, std::uint16_t flags) {
    const std::uint64_t from = regions.empty() ? 512 : regions.back().end / kPageBytes;
    hmk_region r = region_of(from, from + pages);
    r.flags = flags;
    r.quota = static_cast<std::uint16_t>(nodes.size());
    regions.push_back(r);
    if (flags & HMK_REGION_STALE) return;
    for (const std::int16_t node : nodes) {
      hmk_sample s{};
      s.node = node;
      samples.push_back(s);
    }
  }

  const Regions& guess() {
    hmk_residency_guess(regions.data(), static_cast<std::uint32_t>(regions.size()),
                        samples.data());
    return regions;
  }
};

TEST(ResidencyGuess, PutsARegionWhereMostOfItsSamplesAre) {
  Case c;
  c.add(512, {2, 0, 2, 2}, HMK_REGION_CENSUS);
  EXPECT_EQ(c.guess()[0].node, 2);
  EXPECT_EQ(c.regions[0].resident_pages, 512u);
  EXPECT_EQ(c.regions[0].away_pages, 128u);
  EXPECT_EQ(c.regions[0].away_node, 0);
}

TEST(ResidencyGuess, LeavesWhatTheCensusHasCounted) {
  Case c;
  c.add(512, {3}, 0);
  c.regions[0].node = 1;
  c.regions[0].resident_pages = 7;
  EXPECT_EQ(c.guess()[0].node, 1);
  EXPECT_EQ(c.regions[0].resident_pages, 7u);
}

TEST(ResidencyGuess, KnowsNothingWithoutSamples) {
  Case c;
  c.add(512, {}, HMK_REGION_CENSUS);
  EXPECT_EQ(c.guess()[0].node, -1);
  EXPECT_EQ(c.regions[0].resident_pages, 0u);
}

TEST(ResidencyGuess, StepsOverRegionsThatWereNotSampled) {
  Case c;
  c.add(512, {1, 1}, HMK_REGION_CENSUS | HMK_REGION_STALE);
  c.add(512, {3}, HMK_REGION_CENSUS);
  EXPECT_EQ(c.guess()[0].node, -1);
  EXPECT_EQ(c.regions[1].node, 3);
}

TEST(ResidencyGuess, TellsWhereTheSamplesOfTheNextRegionsBegin) {
  Case c;
  c.add(512, {1, 1}, 0);
  c.add(512, {3}, HMK_REGION_STALE);
  c.add(512, {2, 0, 2}, HMK_REGION_CENSUS);
  EXPECT_EQ(hmk_residency_guess(c.regions.data(), 2, c.samples.data()), c.samples.data() + 2);
  EXPECT_EQ(hmk_residency_guess(&c.regions[2], 1, c.samples.data() + 2), c.samples.data() + 5);
  EXPECT_EQ(c.regions[2].node, 2);
}

TEST(ResidencyGuess, KeepsApartWhatLiesOnNoKnownNode) {
  Case c;
  c.add(512, {-1, 0, -1, -1}, HMK_REGION_CENSUS);
  c.add(512, {6, -1, 6, 6}, HMK_REGION_CENSUS);
  EXPECT_EQ(c.guess()[0].node, -1);
  EXPECT_EQ(c.regions[0].away_pages, 128u);
  EXPECT_EQ(c.regions[1].node, 6);
  EXPECT_EQ(c.regions[1].away_node, -1);
}

TEST(ResidencyGuess, StillWaitsForTheCensus) {
  Case c;
  c.add(512, {1}, HMK_REGION_CENSUS);
  EXPECT_TRUE(c.guess()[0].flags & HMK_REGION_CENSUS);
}

TEST(ResidencyGuess, SaturatesBeyondSixteenTebibytes) {
  Case c;
  c.add(std::uint64_t{1} << 33, {0, 1, 1}, HMK_REGION_CENSUS);
  EXPECT_EQ(c.guess()[0].resident_pages, ~0u);
  EXPECT_LT(c.regions[0].away_pages, c.regions[0].resident_pages);
}

}  // namespace
