// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/regions.hpp"

using namespace hmk::test;

namespace {

TEST(RegionAt, GoesOnWithTheRegionThatEndsBeyondTheAddressOrStartsOver) {
  const Regions r = {region_of(1, 2), region_of(4, 6), region_of(6, 9)};
  const auto at = [&](std::uint64_t page) { return hmk_region_at(r.data(), 3, page * kPageBytes); };
  EXPECT_EQ(at(0), 0u);
  EXPECT_EQ(at(1), 0u);
  EXPECT_EQ(at(2), 1u) << "a region's end is not in it";
  EXPECT_EQ(at(3), 1u);
  EXPECT_EQ(at(5), 1u);
  EXPECT_EQ(at(6), 2u);
  EXPECT_EQ(at(9), 0u) << "behind the last";
  EXPECT_EQ(hmk_region_at(r.data(), 0, 0), 0u);
}

TEST(RegionRefresh, CutsANewSpanAtTwoMebibytes) {
  const Refreshed r = refresh({}, {span_of(0, 3 * kBasePages)});
  ASSERT_EQ(r.regions.size(), 3u);
  for (const hmk_region& region : r.regions) {
    EXPECT_EQ(hmk_region_pages(&region), kBasePages);
    EXPECT_EQ(region.quota, 1);
    EXPECT_EQ(region.node, -1);
    EXPECT_EQ(region.generation, 9u);
    EXPECT_TRUE(hmk_region_is(&region, HMK_REGION_NEW));
    EXPECT_TRUE(hmk_region_is(&region, HMK_REGION_CENSUS));
  }
  EXPECT_EQ(r.result.added, 3u);
}

TEST(RegionRefresh, CutsAnUnalignedSpanFirstAtTheNextBoundary) {
  const Refreshed r = refresh({}, {span_of(500, 1030)});
  ASSERT_EQ(r.regions.size(), 3u);
  EXPECT_EQ(r.regions[0].end, 512 * kPageBytes);
  EXPECT_EQ(r.regions[1].end, 1024 * kPageBytes);
  EXPECT_EQ(r.regions[2].end, 1030 * kPageBytes);
}

TEST(RegionRefresh, MakesNoRegionSmallerThanALargerLeaf) {
  const std::uint64_t gib = 1ull << 18;  // pages
  const Refreshed r = refresh({}, {span_of(0, 2 * gib, HMK_CORE_PAGE_SHIFT, 30)});
  ASSERT_EQ(r.regions.size(), 2u);
  EXPECT_EQ(hmk_region_pages(&r.regions[0]), gib);
}

TEST(RegionRefresh, KeepsWhatHasNotChangedAsItWas) {
  Regions old = {region_of(0, 512, 7), region_of(512, 1024, 8)};
  old[0].flags = HMK_REGION_VMA_START;
  const Refreshed r = refresh(old, {span_of(0, 1024)});
  ASSERT_EQ(r.regions.size(), 2u);
  EXPECT_EQ(memcmp(r.regions.data(), old.data(), 2 * sizeof(hmk_region)), 0);  // NOLINT: no byte
  EXPECT_EQ(r.result.added + r.result.dropped + r.result.clipped, 0u);
}

TEST(RegionRefresh, ClipsARegionThatIsPartlyGoneAndKeepsItsHotness) {
  Regions old = {region_of(0, 512, 7)};
  old[0].quota = 8;
  old[0].resident_pages = 400;
  old[0].away_pages = 40;
  const Refreshed r = refresh(old, {span_of(0, 256)});
  ASSERT_EQ(r.regions.size(), 1u);
  const hmk_region& left = r.regions[0];
  EXPECT_EQ(left.end, 256 * kPageBytes);
  EXPECT_EQ(left.hi_q16, 7u);
  EXPECT_EQ(left.whi_q16, 7u);
  EXPECT_EQ(left.generation, 9u);
  EXPECT_EQ(left.resident_pages, 200u);
  EXPECT_EQ(left.away_pages, 20u);
  EXPECT_EQ(left.quota, 4);
  EXPECT_TRUE(hmk_region_is(&left, HMK_REGION_CENSUS));
  EXPECT_FALSE(hmk_region_is(&left, HMK_REGION_NEW));
  EXPECT_EQ(r.result.clipped, 1u);
}

TEST(RegionRefresh, LeavesBothSidesOfAHoleWithAtLeastOneSample) {
  const Refreshed r = refresh({region_of(0, 512, 7)}, {span_of(0, 511), span_of(511, 512)});
  ASSERT_EQ(r.regions.size(), 2u);
  EXPECT_EQ(r.regions[0].quota, 1);
  EXPECT_EQ(r.regions[1].quota, 1);
  EXPECT_EQ(r.regions[1].whi_q16, 7u);
  EXPECT_EQ(r.result.clipped, 2u);
  EXPECT_EQ(r.result.dropped, 0u);
}

TEST(RegionRefresh, DropsWhatIsGone) {
  const Refreshed r =
      refresh({region_of(0, 512), region_of(512, 600), region_of(9000, 9001)}, {span_of(512, 600)});
  ASSERT_EQ(r.regions.size(), 1u);
  EXPECT_EQ(r.result.dropped, 2u);
}

TEST(RegionRefresh, DropsEverythingWhenNothingIsLeft) {
  const Refreshed r = refresh({region_of(0, 512), region_of(512, 1024)}, {});
  EXPECT_TRUE(r.regions.empty());
  EXPECT_EQ(r.result.dropped, 2u);
}

TEST(RegionRefresh, FillsGapsBeforeBetweenAndAfterOldRegions) {
  const Refreshed r = refresh({region_of(100, 200, 5), region_of(300, 400, 6)}, {span_of(0, 500)});
  ASSERT_EQ(r.regions.size(), 5u);
  EXPECT_EQ(r.regions[0].flags & HMK_REGION_NEW, HMK_REGION_NEW);
  EXPECT_EQ(r.regions[1].hi_q16, 5u);
  EXPECT_EQ(r.regions[2].start, 200 * kPageBytes);
  EXPECT_EQ(r.regions[3].hi_q16, 6u);
  EXPECT_EQ(r.regions[4].end, 500 * kPageBytes);
  EXPECT_EQ(r.result.added, 3u);
}

TEST(RegionRefresh, CrossesNoBorderBetweenSpansThatTouch) {
  const Refreshed r = refresh({region_of(0, 512, 5)}, {span_of(0, 100), span_of(100, 512)});
  ASSERT_EQ(r.regions.size(), 2u);
  EXPECT_EQ(r.regions[0].end, 100 * kPageBytes);
  EXPECT_TRUE(hmk_region_is(&r.regions[1], HMK_REGION_VMA_START));
}

TEST(RegionRefresh, TakesTheMarkOffARegionThatNoLongerStartsItsSpan) {
  Regions old = {region_of(512, 1024, 5)};
  old[0].flags = HMK_REGION_VMA_START;
  const Refreshed r = refresh(old, {span_of(0, 1024)});
  ASSERT_EQ(r.regions.size(), 2u);
  EXPECT_TRUE(hmk_region_is(&r.regions[0], HMK_REGION_VMA_START));
  EXPECT_FALSE(hmk_region_is(&r.regions[1], HMK_REGION_VMA_START));
}

TEST(RegionRefresh, TreatsMemoryOfAnotherKindAtTheSameAddressAsNew) {
  const Refreshed r = refresh({region_of(0, 512, 5)}, {span_of(0, 512, 1)});
  ASSERT_EQ(r.regions.size(), 1u);
  EXPECT_TRUE(hmk_region_is(&r.regions[0], HMK_REGION_NEW));
  EXPECT_EQ(r.regions[0].hi_q16, 0u);
  EXPECT_EQ(r.regions[0].kind, 1);
  EXPECT_EQ(r.result.dropped, 1u);
}

TEST(RegionRefresh, CutsNewMemoryAtTwoMebibytesWhateverWasThereBefore) {
  const Refreshed r =
      refresh({region_of(0, 100, 5), region_of(100, 300, 5)}, {span_of(0, 1024, 1)});
  EXPECT_EQ(r.regions.size(), 2u);
}

TEST(RegionRefresh, FitsExactlyIntoTheArrayItNeeds) {
  const Refreshed r = refresh({}, {span_of(0, 3 * kBasePages)}, 9, 3);
  EXPECT_EQ(r.regions.size(), 3u);
  EXPECT_EQ(r.result.truncated, 0u);
}

TEST(RegionRefresh, SaysHowManyRegionsItNeededWhenTheArrayIsOneShort) {
  const Refreshed r = refresh({}, {span_of(0, 3 * kBasePages)}, 9, 2);
  EXPECT_EQ(r.regions.size(), 2u);
  EXPECT_EQ(r.result.truncated, 1u);
  EXPECT_EQ(r.result.needed, 3u);
}

TEST(RegionRefresh, WritesNothingIntoAnArrayOfNone) {
  const Refreshed r = refresh({}, {span_of(0, 1)}, 9, 0);
  EXPECT_EQ(r.regions.size(), 0u);
  EXPECT_EQ(r.result.truncated, 1u);
}

TEST(RegionRefresh, SharesResidencyOfTheLargestRegionWithoutOverflow) {
  const std::uint64_t tib = 1ull << 28;  // pages
  Regions old = {region_of(0, tib)};
  old[0].resident_pages = static_cast<std::uint32_t>(tib);
  const Refreshed r = refresh(old, {span_of(0, tib - 1)});
  ASSERT_EQ(r.regions.size(), 1u);
  EXPECT_EQ(r.regions[0].resident_pages, tib - 1);
}

}  // namespace
