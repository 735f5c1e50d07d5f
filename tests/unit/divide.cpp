// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <hmk/core/divide.h>

#include <algorithm>

#include "support/regions.hpp"

using namespace hmk::test;

namespace {

Regions divide(const Regions& in, std::vector<__u64> pages, std::size_t room = 64) {
  for (__u64& page : pages) page *= kPageBytes;
  Regions out(in.size() + room);
  out.resize(hmk_regions_divide(in.data(), static_cast<std::uint32_t>(in.size()), pages.data(),
                                static_cast<std::uint32_t>(pages.size()), out.data(),
                                static_cast<std::uint32_t>(out.size()), 9));
  return out;
}

TEST(RegionsDivide, CutsWhereAMoveBeganAndEnded) {
  Regions in = {region_of(0, 100, 1 << 16)};
  in[0].resident_pages = 100;
  in[0].away_pages = 20;
  in[0].quota = 10;
  in[0].flags = HMK_REGION_VMA_START;
  const Regions out = divide(in, {20, 60});
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(out[1].start, 20 * kPageBytes);
  EXPECT_EQ(out[1].end, 60 * kPageBytes);
  EXPECT_EQ(out[1].resident_pages, 40u);
  EXPECT_EQ(out[1].away_pages, 8u);
  EXPECT_EQ(out[1].quota, 4u);
  EXPECT_EQ(out[1].whi_q16, 1u << 16);
  EXPECT_EQ(out[1].generation, 9u);
  EXPECT_TRUE(out[1].flags & HMK_REGION_CENSUS);
  EXPECT_TRUE(out[0].flags & HMK_REGION_VMA_START);
  EXPECT_FALSE((out[1].flags | out[2].flags) & HMK_REGION_VMA_START);
}

TEST(RegionsDivide, LeavesRegionsWhoseBordersAreTheCuts) {
  const Regions in = {region_of(0, 10), region_of(10, 20), region_of(30, 40)};
  const Regions out = divide(in, {0, 10, 20, 25, 30, 40, 50});
  ASSERT_EQ(out.size(), 3u);
  for (const hmk_region& r : out) {
    EXPECT_EQ(r.generation, 1u);
    EXPECT_FALSE(r.flags & HMK_REGION_CENSUS);
  }
}

TEST(RegionsDivide, CutsNoLeaf) {
  Regions in = {region_of(0, 2048)};
  in[0].leaf_shift = 21;
  EXPECT_EQ(divide(in, {511, 512, 513}).size(), 2u);
}

TEST(RegionsDivide, GivesEachPartASample) {
  const Regions out = divide({region_of(0, 10)}, {1, 5});
  ASSERT_EQ(out.size(), 3u);
  for (const hmk_region& r : out) EXPECT_EQ(r.quota, 1u);
}

TEST(RegionsDivide, KeepsEveryPageHoweverLittleRoomThereIs) {
  for (std::uint64_t seed = 0; seed < rounds(500); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Regions in;
    std::vector<__u64> cuts;
    std::uint64_t page = 0, resident = 0;
    for (std::uint64_t n = 1 + random.below(20); n; --n) {
      page += random.below(3) * 7;
      const std::uint64_t pages = 1 + random.below(2000);
      in.push_back(region_of(page, page + pages));
      in.back().resident_pages = static_cast<std::uint32_t>(random.below(pages + 1));
      in.back().quota = static_cast<std::uint16_t>(1 + random.below(16));
      resident += in.back().resident_pages;
      page += pages;
    }
    for (std::uint64_t n = random.below(40); n; --n) cuts.push_back(random.below(page + 10));
    std::ranges::sort(cuts);
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    const std::size_t room = random.below(cuts.size() + 1);
    const Regions out = divide(in, cuts, room);
    ASSERT_LE(out.size(), in.size() + room);
    for (const hmk_region& r : out)
      for (const __u64 cut : cuts)
        ASSERT_FALSE(room == cuts.size() && r.start < cut * kPageBytes && cut * kPageBytes < r.end);
    std::size_t at = 0;
    for (const hmk_region& whole : in) {
      std::uint64_t covered = whole.start;
      while (covered < whole.end) {
        ASSERT_LT(at, out.size());
        ASSERT_EQ(out[at].start, covered);
        ASSERT_GE(out[at].quota, 1u);
        ASSERT_LE(out[at].resident_pages, hmk_region_pages(&out[at]));
        resident -= out[at].resident_pages;
        covered = out[at++].end;
      }
      ASSERT_EQ(covered, whole.end);
    }
    ASSERT_EQ(at, out.size());
    ASSERT_EQ(resident, 0u);
  }
}

}  // namespace
