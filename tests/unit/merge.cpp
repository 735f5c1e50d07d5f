// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/regions.hpp"

using namespace hmk::test;

namespace {

class RegionMerge : public testing::Test {
 protected:
  hmk_merge_rule rule_ = {.max_bytes = 256ull << 20, .tau1_q16 = kOne, .generation = 9};
  hmk_merge_result result_{};

  Regions merge(Regions regions) {
    regions.resize(hmk_regions_merge(regions.data(), static_cast<std::uint32_t>(regions.size()),
                                     &rule_, &result_));
    return regions;
  }
  std::size_t left_of(const hmk_region& a, const hmk_region& b) { return merge({a, b}).size(); }
};

TEST_F(RegionMerge, JoinsNeighboursWhoseHotnessIsAlike) {
  const Regions r = merge({region_of(0, 512, 100), region_of(512, 1024, 300)});
  ASSERT_EQ(r.size(), 1u);
  EXPECT_EQ(r[0].start, 0u);
  EXPECT_EQ(r[0].end, 1024 * kPageBytes);
  EXPECT_EQ(r[0].generation, 9u);
  EXPECT_FALSE(hmk_region_is(&r[0], HMK_REGION_CENSUS));  // the sums are exact
  EXPECT_EQ(result_.merges, 1u);
}

TEST_F(RegionMerge, ComparesStrictlyWithTau1) {
  EXPECT_EQ(left_of(region_of(0, 1, 0), region_of(1, 2, kOne - 1)), 1u);
  EXPECT_EQ(left_of(region_of(0, 1, 0), region_of(1, 2, kOne)), 2u);
  EXPECT_EQ(left_of(region_of(0, 1, kOne), region_of(1, 2, 0)), 2u);
}

TEST_F(RegionMerge, JoinsNothingAtATau1OfZero) {
  rule_.tau1_q16 = 0;
  EXPECT_EQ(left_of(region_of(0, 1, 5), region_of(1, 2, 5)), 2u);
}

TEST_F(RegionMerge, ComparesWithTheRunningMeanAndNotWithTheLastNeighbour) {
  // 0, 0.9, 1.8: the third is 1.35 away from the mean of the first two.
  const Regions r = merge({region_of(0, 1, 0), region_of(1, 2, 58982), region_of(2, 3, 117965)});
  ASSERT_EQ(r.size(), 2u);
  EXPECT_EQ(r[0].hi_q16, 29491u);
  EXPECT_EQ(r[1].hi_q16, 117965u);
}

TEST_F(RegionMerge, WeighsHotnessBySize) {
  hmk_region small = region_of(0, 1, 400), large = region_of(1, 4, 0);
  small.whi_q16 = 800;
  small.prev_hi_q16 = 1200;
  const Regions r = merge({small, large});
  ASSERT_EQ(r.size(), 1u);
  EXPECT_EQ(r[0].hi_q16, 100u);
  EXPECT_EQ(r[0].whi_q16, 200u);
  EXPECT_EQ(r[0].prev_hi_q16, 300u);
}

TEST_F(RegionMerge, KeepsRegionsApartWhenAHoleSeparatesThem) {
  EXPECT_EQ(left_of(region_of(0, 1), region_of(2, 3)), 2u);
}

TEST_F(RegionMerge, KeepsRegionsOfTwoVmasApart) {
  hmk_region b = region_of(1, 2);
  b.flags = HMK_REGION_VMA_START;
  EXPECT_EQ(left_of(region_of(0, 1), b), 2u);
}

TEST_F(RegionMerge, JoinsTheFirstRegionOfAVmaWithItsRightNeighbour) {
  hmk_region a = region_of(0, 1);
  a.flags = HMK_REGION_VMA_START;
  const Regions r = merge({a, region_of(1, 2)});
  ASSERT_EQ(r.size(), 1u);
  EXPECT_TRUE(hmk_region_is(&r[0], HMK_REGION_VMA_START));
}

TEST_F(RegionMerge, KeepsKindsAndLeafSizesApart) {
  hmk_region b = region_of(1, 2);
  b.kind = 1;
  EXPECT_EQ(left_of(region_of(0, 1), b), 2u);
  b.kind = 0;
  b.leaf_shift = 21;
  EXPECT_EQ(left_of(region_of(0, 1), b), 2u);
}

TEST_F(RegionMerge, LeavesNewAndJustSplitRegionsAlone) {
  for (const std::uint32_t flag : {HMK_REGION_NEW, HMK_REGION_JUST_SPLIT}) {
    hmk_region other = region_of(0, 1);
    other.flags = static_cast<std::uint16_t>(flag);
    EXPECT_EQ(left_of(other, region_of(1, 2)), 2u) << flag;
    other = region_of(1, 2);
    other.flags = static_cast<std::uint16_t>(flag);
    EXPECT_EQ(left_of(region_of(0, 1), other), 2u) << flag;
  }
}

TEST_F(RegionMerge, EndsTheProtectionOfJustSplitRegions) {
  hmk_region a = region_of(0, 1), b = region_of(1, 2);
  a.flags = b.flags = HMK_REGION_JUST_SPLIT;
  const Regions r = merge({a, b});
  ASSERT_EQ(r.size(), 2u);
  EXPECT_EQ(r[0].flags | r[1].flags, 0u);
  EXPECT_EQ(merge(r).size(), 1u);
}

TEST_F(RegionMerge, GrowsToExactlyTheLargestSize) {
  rule_.max_bytes = 2 * kPageBytes;
  EXPECT_EQ(merge({region_of(0, 1), region_of(1, 2), region_of(2, 3)}).size(), 2u);
  rule_.max_bytes = 3 * kPageBytes;
  EXPECT_EQ(merge({region_of(0, 1), region_of(1, 2), region_of(2, 3)}).size(), 1u);
}

TEST_F(RegionMerge, HalvesTheQuotasAndSaysWhatItFreed) {
  hmk_region a = region_of(0, 1), b = region_of(1, 2);
  a.quota = 4;
  b.quota = 3;
  const Regions r = merge({a, b});
  EXPECT_EQ(r[0].quota, 3);
  EXPECT_EQ(result_.freed_quota, 4u);
}

TEST_F(RegionMerge, LeavesAtLeastOneSample) {
  const Regions r = merge({region_of(0, 1), region_of(1, 2)});
  EXPECT_EQ(r[0].quota, 1);
  EXPECT_EQ(result_.freed_quota, 1u);
}

TEST_F(RegionMerge, KeepsRegionsApartWhoseMemoryLiesOnDifferentNodes) {
  hmk_region a = region_of(0, 512), b = region_of(512, 1024), c = region_of(1024, 1536);
  a.node = 0, b.node = 2, c.node = -1;
  EXPECT_EQ(merge({a, b, c}).size(), 3u);
}

TEST_F(RegionMerge, AddsResidencyOnTheSameNode) {
  hmk_region a = region_of(0, 512), b = region_of(512, 1024);
  a.node = b.node = 1;
  a.resident_pages = 100, a.away_pages = 10, a.away_node = 2;
  b.resident_pages = 200, b.away_pages = 50, b.away_node = 3;
  const Regions r = merge({a, b});
  EXPECT_EQ(r[0].node, 1);
  EXPECT_EQ(r[0].resident_pages, 300u);
  EXPECT_EQ(r[0].away_pages, 60u);
  EXPECT_EQ(r[0].away_node, 3) << "where most of them are";
}

TEST_F(RegionMerge, KeepsAHotPieceApartThatMissedOnce) {
  hmk_region a = region_of(0, 1, 0), b = region_of(1, 2, 0);
  a.whi_q16 = 0, b.whi_q16 = kOne - 1;
  EXPECT_EQ(left_of(a, b), 1u);
  b.whi_q16 = kOne;
  EXPECT_EQ(left_of(a, b), 2u);
  EXPECT_EQ(left_of(b, a), 2u);
}

TEST_F(RegionMerge, IsCountedAgainWhenEitherWasToBe) {
  hmk_region a = region_of(0, 1), b = region_of(1, 2);
  b.flags = HMK_REGION_CENSUS;
  EXPECT_TRUE(hmk_region_is(&merge({a, b})[0], HMK_REGION_CENSUS));
  std::swap(a.flags, b.flags);
  EXPECT_TRUE(hmk_region_is(&merge({a, b})[0], HMK_REGION_CENSUS));
}

TEST_F(RegionMerge, IsStaleOnlyWhenBothWere) {
  hmk_region a = region_of(0, 1), b = region_of(1, 2);
  a.flags = HMK_REGION_STALE;
  EXPECT_FALSE(hmk_region_is(&merge({a, b})[0], HMK_REGION_STALE));
  b.flags = HMK_REGION_STALE;
  EXPECT_TRUE(hmk_region_is(&merge({a, b})[0], HMK_REGION_STALE));
}

TEST_F(RegionMerge, OfNothingIsNothing) {
  EXPECT_TRUE(merge({}).empty());
}

TEST_F(RegionMerge, OfOneRegionIsThatRegion) {
  EXPECT_EQ(merge({region_of(0, 1)}).size(), 1u);
}

}  // namespace
