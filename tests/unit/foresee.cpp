// SPDX-License-Identifier: MIT
#include "policy/foresee.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "policy/gain.hpp"
#include "policy/pieces.hpp"
#include "support/policy.hpp"

using namespace hmk::policy;
using namespace hmk::test;

namespace {

constexpr double kHorizonS = 60;

Expectation use(std::uint64_t start_mib, std::uint64_t end_mib, double passes = 1) {
  return {start_mib * kMiB, end_mib * kMiB, passes, false};
}
Expectation leave(std::uint64_t start_mib, std::uint64_t end_mib) {
  return {start_mib * kMiB, end_mib * kMiB, 0, false};
}

double visits_of_a_page(const RegionView& r) {
  return accesses_per_s(heat_of(r), kPage) * kHorizonS;
}

TEST(Foresee, WhatIsAboutToBeUsedIsAsHotAsMakesItsPasses) {
  // 2^4 a second for a minute is 240 passes; 2^-2 is 3.75.
  const std::vector regions{warm(0, 0, 4), warm(2, 1, -2), region(4, 2, 1, 0)};
  const auto seen = foresee(regions, std::vector{use(4, 6, 60)}, kHorizonS);
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_NEAR(visits_of_a_page(seen[2]), 60 * kVisitsPerPass, 1);
  EXPECT_EQ(seen[2].whi_q16, regions[0].whi_q16) << "that of the region just as hot or hotter";
  EXPECT_EQ(seen[2].rate_dev_q8, kToldDevQ8);
  EXPECT_FALSE(seen[2].written);
  EXPECT_EQ(seen[0].rate_q8, regions[0].rate_q8) << "nothing was said of it";
}

TEST(Foresee, APassMissesAllItsLinesHoweverFewAVisitWasFoundToHave) {
  const std::vector regions{warm(0, 0, 8), region(2, 2, 1, 0)};
  for (const double scale : {1.0, 0.25}) {
    const auto seen = foresee(regions, std::vector{use(2, 4, 60)}, kHorizonS, scale);
    EXPECT_NEAR(visits_of_a_page(seen[1]) * scale, 60 * kVisitsPerPass, 1);
  }
}

TEST(Foresee, AHugeLeafHasTheVisitsOfAllItsPages) {
  std::vector regions{warm(0, 0, 8), region(2, 2, 1, 0)};
  regions[1].leaf_shift = 21;
  const auto seen = foresee(regions, std::vector{use(2, 4)}, kHorizonS);
  EXPECT_NEAR(visits_of_a_page(seen[1]), kVisitsPerPass, 0.02);
  EXPECT_NEAR(seen[1].rate_q8, 256 * std::log2(512 * kVisitsPerPass / kHorizonS), 1);
}

TEST(Foresee, NothingBecomesHotterThanTheHottest) {
  const std::vector regions{warm(0, 0, -4), region(2, 2, 1, 0)};
  const auto seen = foresee(regions, std::vector{use(2, 4, 4000)}, kHorizonS);
  EXPECT_EQ(seen[1].rate_q8, regions[0].rate_q8);
  EXPECT_EQ(seen[1].whi_q16, regions[0].whi_q16);
}

TEST(Foresee, WhatIsHotterAlreadyStaysSo) {
  std::vector regions{warm(0, 0, 2), warm(2, 1, 6)};
  regions[1].whi_q16 = q16(3);
  const auto seen = foresee(regions, std::vector{use(2, 4, 1)}, kHorizonS);
  EXPECT_EQ(seen[1].rate_q8, regions[1].rate_q8);
  EXPECT_EQ(seen[1].rate_dev_q8, 0);
}

TEST(Foresee, WhereNothingWasAccessedNothingIsKnown) {
  const std::vector regions{region(0, 2, 1, 0)};
  EXPECT_EQ(foresee(regions, std::vector{use(0, 2)}, kHorizonS)[0].whi_q16, 0u);
}

TEST(Foresee, WhatIsPutAsideHasNoHeat) {
  const std::vector regions{warm(0, 0, 6)};
  const auto seen = foresee(regions, std::vector{leave(0, 2)}, kHorizonS);
  EXPECT_EQ(seen[0].whi_q16, 0u);
  EXPECT_EQ(seen[0].hi_q16, 0u);
  EXPECT_LT(seen[0].rate_q8, -1000);
}

TEST(Foresee, CutsRegionsButNoHugePage) {
  std::vector regions{warm(0, 0, 6), region(4, 8, 1, 0)};
  regions[1].leaf_shift = 21;
  const auto seen = foresee(regions, std::vector{use(7, 8)}, kHorizonS);
  ASSERT_EQ(seen.size(), 4u);
  EXPECT_EQ(seen[2].start, 6 * kMiB);
  EXPECT_EQ(seen[2].length, 2 * kMiB) << "the leaf that it has in part";
  EXPECT_GT(seen[2].whi_q16, 0u);
  EXPECT_EQ(seen[1].whi_q16 + seen[3].whi_q16, 0u);
}

TEST(Foresee, LetsWhatIsPutAsideMakeRoomForWhatIsAboutToBeUsed) {
  const std::vector regions{warm(0, 0, 6), warm(2, 0, 8), region(4, 2, 1, 0)};
  const PolicyParams params{.hotness_max = 3};
  EXPECT_TRUE(make_plan(regions, two_tiers(), params).promotions.empty());
  const auto seen = foresee(regions, std::vector{leave(0, 2), use(4, 6, 100)}, kHorizonS);
  const Plan plan = make_plan(seen, two_tiers(), params);
  ASSERT_EQ(plan.promotions.size(), 1u);
  ASSERT_EQ(plan.demotions.size(), 1u);
  EXPECT_EQ(plan.promotions[0].start, 4 * kMiB);
  EXPECT_EQ(plan.demotions[0].start, 0u);
}

TEST(Foresee, LeavesInTheSlowTierWhatAPassDoesNotPayFor) {
  // A page is 64 lines: 250 ns less each, 16 us in all for a move of 5.
  const std::vector regions{warm(0, 0, 8), region(2, 2, 1, 0)};
  const PolicyParams params{.hotness_max = 3, .horizon = 60};
  const auto plan_for = [&](double passes) {
    return make_plan(foresee(regions, std::vector{use(2, 4, passes)}, kHorizonS), two_tiers(8),
                     params);
  };
  EXPECT_EQ(plan_for(1).promotions.size(), 1u);
  EXPECT_TRUE(plan_for(1.0 / 16).promotions.empty());
}

TEST(Foresee, KeepsAllMemoryWhereItIsAndNothingHotterThanItWas) {
  for (std::uint64_t seed = 1; seed <= rounds(400); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    std::vector<RegionView> regions;
    std::vector<Expectation> told;
    double hottest = 0;
    Bytes resident = 0, length = 0;
    for (std::uint64_t at = 0; at < 256; at += 8) {
      RegionView one = warm(at, 1, static_cast<int>(random.below(20)) - 8);
      one.length = (1 + random.below(8)) * kMiB;
      one.resident = random.below(one.length / kPage + 1) * kPage;
      one.whi_q16 = random.one_in(4) ? 0 : q16(1 + static_cast<double>(random.below(200)) / 100);
      if (random.one_in(3)) one.leaf_shift = 21;
      hottest = std::max(hottest, accesses_per_s(heat_of(one), kPage));
      resident += one.resident;
      length += one.length;
      regions.push_back(one);
      if (random.one_in(2))
        told.push_back({at * kMiB + random.below(1024) * kPage,
                        at * kMiB + (1024 + random.below(1024)) * kPage,
                        static_cast<double>(random.below(3)) * 100, random.one_in(2)});
    }
    std::uint64_t end = 0;
    for (const RegionView& one : foresee(regions, told, kHorizonS)) {
      EXPECT_GE(one.start, end);
      end = end_of(one);
      resident -= one.resident;
      length -= one.length;
      EXPECT_LE(accesses_per_s(heat_of(one), kPage), hottest * 1.01);
    }
    EXPECT_EQ(resident, 0u);
    EXPECT_EQ(length, 0u);
  }
}

TEST(SetInOrder, OfTwoThatMeetTheOneCountsThatBeginsFirst) {
  std::vector ranges{use(4, 8, 1), use(0, 6, 2), use(1, 2, 3), use(20, 24, 4), use(20, 22, 5)};
  set_in_order(ranges);
  EXPECT_EQ(ranges, (std::vector{use(0, 6, 2), use(6, 8, 1), use(20, 24, 4)}));
}

}  // namespace
