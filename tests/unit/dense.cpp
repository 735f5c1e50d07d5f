// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <hmk/core/dense.h>
#include <hmk/core/ladder.h>
#include <hmk/core/region.h>
#include <linux/hmk.h>

#include <algorithm>
#include <array>
#include <random>
#include <span>
#include <utility>
#include <vector>

namespace {

constexpr __u8 page(unsigned heat, unsigned seen = 0) {
  return static_cast<__u8>(heat << 2 | seen);
}

__u8 folded(__u8 page, __u32 age) {
  hmk_dense_fold(&page, 1, age);
  return page;
}

TEST(Dense, TheScanLimitAndTheClassesAreThoseOfTheHeader) {
  EXPECT_EQ(HMK_DENSE_TOP, HMK_DENSE_SCANS * HMK_DENSE_STEP);
  EXPECT_EQ(HMK_DENSE_SEEN, HMK_DENSE_SCANS);
  // The most windows there are, all of them seen.
  EXPECT_EQ(hmk_dense_class(page(HMK_DENSE_TOP), HMK_LADDER_MAX - HMK_DENSE_SCANS),
            static_cast<__s32>(HMK_CLASSES) - 1);
}

TEST(Dense, APageThatComesIsNewAndOneThatStaysKeepsItsHeat) {
  __u8 comes = HMK_DENSE_ABSENT, stays = page(20, 3);
  hmk_dense_clear(&comes);
  hmk_dense_clear(&stays);
  EXPECT_EQ(comes, HMK_DENSE_NEW);
  EXPECT_EQ(stays, page(20));
  EXPECT_EQ(hmk_dense_class(comes, 0), -1);
  hmk_dense_leave(&stays);
  EXPECT_EQ(stays, HMK_DENSE_ABSENT);
  EXPECT_EQ(hmk_dense_class(stays, 0), -1);
}

TEST(Dense, TheFirstReadThatSeesAnAccessIsTheOneThatCounts) {
  for (const __u8 cleared : {page(5), static_cast<__u8>(HMK_DENSE_NEW)}) {
    __u8 seen = cleared;
    EXPECT_TRUE(hmk_dense_waits(seen));
    hmk_dense_see(&seen, 2);
    EXPECT_FALSE(hmk_dense_waits(seen));
    EXPECT_EQ(seen & HMK_DENSE_SEEN, 2);
    hmk_dense_clear(&seen);
    EXPECT_EQ(seen, cleared);
  }
  EXPECT_FALSE(hmk_dense_waits(HMK_DENSE_ABSENT)) << "nobody is there to be seen";
}

TEST(Dense, TheFirstIntervalCountsWholeLaterOnesLess) {
  EXPECT_EQ(folded(HMK_DENSE_NEW | 2, 3), page(32)) << "it is new, whatever its neighbours are";
  EXPECT_EQ(folded(page(0, 1), 0), page(16));
  EXPECT_EQ(folded(page(0, 1), 1), page(8));
  EXPECT_EQ(folded(page(0, 1), 2), page(6)) << "a third, rounded towards what was seen";
  EXPECT_EQ(folded(page(0, 1), 200), page(6));
  EXPECT_EQ(folded(page(16, 0), 2), page(10));
  EXPECT_EQ(folded(HMK_DENSE_ABSENT, 2), HMK_DENSE_ABSENT);
}

TEST(Dense, AJumpOfTwoWindowsCountsHalf) {
  EXPECT_EQ(folded(page(0, 2), 3), page(16));
  EXPECT_EQ(folded(page(1, 2), 3), page(12)) << "31 of 32: no jump";
  EXPECT_EQ(folded(page(48, 1), 3), page(32));
  EXPECT_EQ(folded(page(47, 1), 3), page(36));
}

TEST(Dense, WhatStaysTheSameIsReached) {
  for (unsigned from = 0; from <= HMK_DENSE_TOP; ++from) {
    for (unsigned seen = 0; seen <= HMK_DENSE_SCANS; ++seen) {
      __u8 now = page(from);
      for (int interval = 0; interval < 12; ++interval)
        now = folded(static_cast<__u8>(now | seen), HMK_DENSE_AGE);
      EXPECT_EQ(now, page(seen * HMK_DENSE_STEP)) << from;
    }
  }
}

TEST(Dense, AnotherRungChangesNoHotnessThatItsWindowsHold) {
  using Pages = std::array<__u8, 5>;
  Pages pages{page(0, 1), page(20, 2), page(44), HMK_DENSE_NEW, HMK_DENSE_ABSENT};
  hmk_dense_climb(pages.data(), pages.size(), 1);
  EXPECT_EQ(pages, (Pages{page(0, 1), page(4, 2), page(28), HMK_DENSE_NEW, HMK_DENSE_ABSENT}));
  hmk_dense_climb(&pages[1], pages.size() - 1, -2);
  EXPECT_EQ(pages, (Pages{page(0, 1), page(36, 2), page(48), HMK_DENSE_NEW, HMK_DENSE_ABSENT}));
}

TEST(Dense, WhatWasAtAnEndIsJudgedAnewWhereMoreIsTold) {
  using Pages = std::array<__u8, 4>;
  Pages higher{page(0), page(44), page(45, 3), page(48)},
      lower{page(0, 1), page(3), page(4), page(48)};
  hmk_dense_climb(higher.data(), higher.size(), 1);
  hmk_dense_climb(lower.data(), lower.size(), -1);
  EXPECT_EQ(higher, (Pages{page(0), page(28), HMK_DENSE_NEW | 3, HMK_DENSE_NEW}));
  EXPECT_EQ(lower, (Pages{HMK_DENSE_NEW | 1, HMK_DENSE_NEW, page(20), page(48)}));
}

/// The wish of 64 pages: so many at the lower end, one window above it, and at the upper end.
__s32 wish(unsigned at_end, unsigned low, unsigned at_top) {
  std::array<__u8, 66> pages{};
  pages.fill(page(24));
  for (unsigned i = 0; i < 64; ++i)
    pages[i] = i < at_end                  ? page(3)
               : i < at_end + low          ? page(19)
               : i < at_end + low + at_top ? page(45)
                                           : page(24);
  pages[64] = HMK_DENSE_NEW;
  pages[65] = HMK_DENSE_ABSENT;
  return hmk_dense_wish(pages.data(), pages.size());
}

TEST(Dense, WindowsFollowThePagesAndNeverLoseSightOfTheColdOnes) {
  EXPECT_EQ(wish(0, 0, 0), 0);
  EXPECT_EQ(wish(0, 0, 7), 0);
  EXPECT_EQ(wish(0, 0, 8), 1);
  EXPECT_EQ(wish(0, 7, 8), 1);
  EXPECT_EQ(wish(1, 6, 50), 1);
  EXPECT_EQ(wish(0, 8, 50), 0) << "an eighth would be lost";
  EXPECT_EQ(wish(7, 0, 56), 2);
  EXPECT_EQ(wish(0, 0, 55), 1);
  EXPECT_EQ(wish(8, 0, 56), -1);
  EXPECT_EQ(wish(55, 0, 9), -1);
  EXPECT_EQ(wish(56, 0, 8), -2);
  const std::array<__u8, 2> unknown{HMK_DENSE_NEW, HMK_DENSE_ABSENT};
  EXPECT_EQ(hmk_dense_wish(unknown.data(), unknown.size()), 0);
}

TEST(Dense, AfterAClimbNothingWishesToComeDown) {
  std::array<__u8, 64> pages{};
  for (unsigned i = 0; i < 64; ++i) pages[i] = page(i < 7 ? 19 : i < 15 ? 48 : 20);
  const __s32 up = hmk_dense_wish(pages.data(), pages.size());
  EXPECT_EQ(up, 1);
  hmk_dense_climb(pages.data(), pages.size(), up);
  for (__u8& hot : pages)
    if (hot == HMK_DENSE_NEW) hmk_dense_see(&hot, 2);
  hmk_dense_fold(pages.data(), 15, 0);
  for (__u8& cold : std::span(pages).first(7)) cold = page(3);  // as before the fold
  EXPECT_EQ(hmk_dense_wish(pages.data(), pages.size()), 0);
}

TEST(Dense, AClassIsHotnessInHalfWindowsWhateverTheRung) {
  EXPECT_EQ(hmk_dense_class(page(0), 0), 0);
  EXPECT_EQ(hmk_dense_class(page(3), 0), 0);
  EXPECT_EQ(hmk_dense_class(page(4), 0), 1);
  EXPECT_EQ(hmk_dense_class(page(11), 0), 1);
  EXPECT_EQ(hmk_dense_class(page(12), 0), 2);
  for (__u32 rung = 1; rung < 5; ++rung)
    for (unsigned heat = HMK_DENSE_STEP; heat <= HMK_DENSE_TOP - HMK_DENSE_HALF / 2; ++heat) {
      __u8 higher = page(heat);
      hmk_dense_climb(&higher, 1, 1);
      EXPECT_EQ(hmk_dense_class(higher, rung), hmk_dense_class(page(heat), rung - 1));
    }
}

/// A region of pages of these heats, judged: how many of each.
hmk_region judged(std::initializer_list<std::pair<unsigned, unsigned>> heats, __u32 age,
                  __u32 rung = 0) {
  std::vector<__u8> pages;
  for (const auto& [heat, nr] : heats) pages.insert(pages.end(), nr, page(heat));
  hmk_ladder l{};
  hmk_ladder_make(&l, 9'375'000'000, 3);
  hmk_dense_sum sum{};
  sum.age = HMK_DENSE_AGE_MOST;
  hmk_dense_add(&sum, pages.data(), static_cast<__u32>(pages.size()), rung, age);
  hmk_region r{};
  r.flags = HMK_REGION_NEW | HMK_REGION_RISING | HMK_REGION_CENSUS;
  hmk_dense_judge(&l, &sum, &r);
  return r;
}

bool is_mixed(const hmk_region& r) {
  return hmk_region_is(&r, HMK_REGION_MIXED);
}

TEST(Dense, ARegionIsAsHotAsItsPages) {
  const hmk_region r = judged({{0, 3}, {16, 1}}, 3);
  EXPECT_EQ(r.whi_q16, HMK_CORE_Q16_ONE / 4);
  EXPECT_EQ(r.hi_q16, r.whi_q16);
  EXPECT_FALSE(hmk_region_is(&r, HMK_REGION_NEW | HMK_REGION_RISING));
  EXPECT_TRUE(hmk_region_is(&r, HMK_REGION_CENSUS)) << "it says nothing of that";
  EXPECT_EQ(judged({{8, 10}, {HMK_DENSE_NEW >> 2, 90}}, 3, 2).whi_q16, HMK_CORE_Q16_ONE * 5 / 2);
}

TEST(Dense, TheMeanOfAPieceKnowsItsRungAndOnlyPagesThatWereJudged) {
  const std::array<__u8, 4> pages{page(0, 3), page(24), HMK_DENSE_NEW, HMK_DENSE_ABSENT};
  EXPECT_EQ(hmk_dense_mean_q16(pages.data(), 4, 0), HMK_CORE_Q16_ONE * 3 / 4);
  EXPECT_EQ(hmk_dense_mean_q16(pages.data(), 4, 2), HMK_CORE_Q16_ONE * 11 / 4);
  EXPECT_EQ(hmk_dense_mean_q16(&pages[2], 2, 0), HMK_DENSE_UNKNOWN);
}

TEST(Dense, WhatWasNeverReadLeavesARegionAsItIs) {
  for (const auto& r : {judged({{16, 64}}, 0), judged({{HMK_DENSE_ABSENT >> 2, 64}}, 3)}) {
    EXPECT_EQ(r.whi_q16, 0u);
    EXPECT_TRUE(hmk_region_is(&r, HMK_REGION_NEW));
    EXPECT_FALSE(is_mixed(r));
  }
}

/// One page in eight is hot, read in three intervals: a mean of 3/8 windows. Its samples say
/// `whi_q16`, and there are `samples` of them.
int disagrees(__u32 whi_q16, __u32 samples, __u16 flags = 0, hmk_region* after = nullptr) {
  std::vector<__u8> pages(448, page(0));
  pages.insert(pages.end(), 64, page(48));
  hmk_ladder l{};
  hmk_ladder_make(&l, 9'375'000'000, 3);
  hmk_dense_sum sum{};
  sum.age = HMK_DENSE_AGE_MOST;
  hmk_dense_add(&sum, pages.data(), static_cast<__u32>(pages.size()), 0, 3);
  hmk_region r{};
  r.whi_q16 = whi_q16;
  r.trust = static_cast<__u16>(16 * samples);
  r.flags = flags;
  const int answer = hmk_dense_compare(&l, &sum, &r);
  EXPECT_EQ(r.whi_q16, whi_q16) << "it keeps what its samples say";
  if (after != nullptr) *after = r;
  return answer;
}

TEST(Dense, SamplesDisagreeWithWhatWasReadOnlyByMoreThanChance) {
  constexpr __u32 kMean = HMK_CORE_Q16_ONE * 3 / 8, kHalf = HMK_CORE_Q16_ONE / 2;
  EXPECT_EQ(disagrees(kMean, 1'000), 0);
  EXPECT_EQ(disagrees(kMean + kHalf - 16, 4'000), 0) << "less than half a window";
  EXPECT_EQ(disagrees(kMean + kHalf, 4'000), 1);
  EXPECT_EQ(disagrees(0, 4'000), 0) << "less than half a window colder";
  EXPECT_EQ(disagrees(kMean + 2 * HMK_CORE_Q16_ONE, 1), 0) << "one sample of pages that differ";
  EXPECT_EQ(disagrees(kMean + 2 * HMK_CORE_Q16_ONE, 64), 1);
  EXPECT_EQ(disagrees(kMean + 2 * HMK_CORE_Q16_ONE, 64, HMK_REGION_STALE), 0) << "they are old";
  EXPECT_EQ(disagrees(kMean + 2 * HMK_CORE_Q16_ONE, 64, HMK_REGION_NEW), 0);
}

TEST(Dense, WhereSamplesTellARegionItsPagesSayOnlyWhetherTheyDiffer) {
  hmk_region r{};
  disagrees(HMK_CORE_Q16_ONE, 16, HMK_REGION_RISING, &r);
  EXPECT_TRUE(is_mixed(r));
  EXPECT_TRUE(hmk_region_is(&r, HMK_REGION_RISING));
  hmk_ladder l{};
  hmk_ladder_make(&l, 9'375'000'000, 3);
  const hmk_dense_sum nothing{
      .known = 0, .heat = 0, .squares = 0, .lowest = 0, .highest = 0, .age = 5};
  EXPECT_EQ(hmk_dense_compare(&l, &nothing, &r), 0);
  EXPECT_FALSE(is_mixed(r)) << "nothing was read";
}

TEST(Dense, PagesThatDifferByMoreThanChanceAreToldApart) {
  EXPECT_TRUE(is_mixed(judged({{0, 448}, {48, 64}}, 3)));
  EXPECT_TRUE(is_mixed(judged({{0, 511}, {48, 1}}, 3))) << "a needle in 2 MiB";
  EXPECT_TRUE(is_mixed(judged({{0, 448}, {48, 64}}, 1)));
  EXPECT_TRUE(is_mixed(judged({{0, 448}, {48, 64}}, 3, 4)));
  EXPECT_FALSE(is_mixed(judged({{24, 512}}, 3)));
  EXPECT_FALSE(is_mixed(judged({{16, 256}, {24, 256}}, 3))) << "neighbouring classes";
}

/// Pages that are accessed at one rate, read for some intervals.
hmk_region at_one_rate(double windows, unsigned intervals, std::mt19937& random) {
  std::array<__u8, HMK_DENSE_PAGES> pages{};
  pages.fill(HMK_DENSE_NEW);
  std::exponential_distribution<double> wait(windows);  // to the first access, in longest windows
  for (unsigned age = 0; age < intervals; ++age) {
    for (__u8& one : pages) {
      const double first = wait(random);
      hmk_dense_clear(&one);
      hmk_dense_see(&one, (first < 1) + (first < 1 / 8.) + (first < 1 / 64.));
    }
    hmk_dense_fold(pages.data(), HMK_DENSE_PAGES, age);
  }
  hmk_ladder l{};
  hmk_ladder_make(&l, 9'375'000'000, 3);
  hmk_dense_sum sum{};
  sum.age = HMK_DENSE_AGE_MOST;
  hmk_dense_add(&sum, pages.data(), HMK_DENSE_PAGES, 0, std::min(intervals, HMK_DENSE_AGE_MOST));
  hmk_region r{};
  hmk_dense_judge(&l, &sum, &r);
  return r;
}

TEST(Dense, WhatChanceDoesToPagesOfOneRateIsNoDifference) {
  std::mt19937 random(1);
  int mixed = 0;
  for (int round = 0; round < 20; ++round)
    for (const double windows : {0.01, 0.1, 0.5, 1., 3., 10., 30., 100., 1000.})
      for (const unsigned intervals : {1u, 2u, 3u, 4u, 5u, 12u})
        mixed += is_mixed(at_one_rate(windows, intervals, random));
  EXPECT_LE(mixed, 10) << "of 1080, one in a hundred";
}

}  // namespace
