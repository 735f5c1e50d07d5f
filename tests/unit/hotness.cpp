// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <hmk/core/hotness.h>

#include <limits>

#include "support/regions.hpp"

using namespace hmk::test;

namespace {

constexpr std::uint32_t kHalf = kOne / 2;
constexpr std::uint32_t kMax = std::numeric_limits<std::uint32_t>::max();

TEST(HotnessMean, IsTheSumOverTheNumberOfSamples) {
  EXPECT_EQ(hmk_hotness_mean_q16(3, 1), 3 * kOne);
  EXPECT_EQ(hmk_hotness_mean_q16(3, 2), kOne + kHalf);
  EXPECT_EQ(hmk_hotness_mean_q16(0, 16), 0u);
}

TEST(HotnessMean, RoundsToTheNearest) {
  EXPECT_EQ(hmk_hotness_mean_q16(1, 3), 21845u);
  EXPECT_EQ(hmk_hotness_mean_q16(2, 3), 43691u);
}

TEST(HotnessMean, OfNoSamplesIsZero) {
  EXPECT_EQ(hmk_hotness_mean_q16(7, 0), 0u);
}

TEST(HotnessMean, SaturatesInsteadOfWrapping) {
  EXPECT_EQ(hmk_hotness_mean_q16(65535, 1), 65535u * kOne);
  EXPECT_EQ(hmk_hotness_mean_q16(65536, 1), kMax);
  EXPECT_EQ(hmk_hotness_mean_q16(kMax, 1), kMax);
}

TEST(HotnessEma, RisesAsThePapersExample) {
  std::uint32_t whi = 0;
  const std::uint32_t expected[] = {98304, 147456, 172032, 184320};  // 1.5 2.25 2.625 2.8125
  for (const std::uint32_t value : expected) {
    whi = hmk_hotness_ema_q16(whi, 3 * kOne, kHalf);
    EXPECT_EQ(whi, value);
  }
}

TEST(HotnessEma, HalvesInEachColdInterval) {
  EXPECT_EQ(hmk_hotness_ema_q16(3 * kOne, 0, kHalf), 3 * kOne / 2);
  EXPECT_EQ(hmk_hotness_ema_q16(3 * kOne / 2, 0, kHalf), 3 * kOne / 4);
}

TEST(HotnessEma, DoesNotStallOneStepBeforeTheSample) {
  EXPECT_EQ(hmk_hotness_ema_q16(1, 0, 1), 0u);
  EXPECT_EQ(hmk_hotness_ema_q16(99, 100, 1), 100u);
}

TEST(HotnessEma, WithFullWeightIsTheSampleAndWithNoneTheOldValue) {
  EXPECT_EQ(hmk_hotness_ema_q16(5, kMax, kOne), kMax);
  EXPECT_EQ(hmk_hotness_ema_q16(kMax, 0, kOne), 0u);
  EXPECT_EQ(hmk_hotness_ema_q16(5, 900, 0), 5u);
}

TEST(HotnessEma, TakesAnImpossibleWeightAsFull) {
  EXPECT_EQ(hmk_hotness_ema_q16(5, 900, kOne + 1), 900u);
  EXPECT_EQ(hmk_hotness_ema_q16(5, 900, kMax), 900u);
}

TEST(HotnessJudge, GivesANewRegionItsFirstHotnessAsSmoothedHotness) {
  hmk_region r = region_of(0, 512);
  r.flags = HMK_REGION_NEW | HMK_REGION_CENSUS;
  r.age = 0;
  r.quota = 2;
  r.accesses = 5;
  hmk_hotness_judge(&r, 1, kHalf);
  EXPECT_EQ(r.hi_q16, 2 * kOne + kHalf);
  EXPECT_EQ(r.whi_q16, r.hi_q16);
  EXPECT_EQ(r.flags, HMK_REGION_CENSUS);
  EXPECT_EQ(r.age, 1);
}

TEST(HotnessJudge, SeesNoChangeInARegionsFirstInterval) {
  hmk_region r = region_of(0, 512);
  r.flags = HMK_REGION_NEW;
  r.accesses = 3;
  hmk_hotness_judge(&r, 1, kHalf);
  EXPECT_EQ(hmk_hotness_variance_q16(&r), 0u);
}

TEST(HotnessJudge, RemembersThePreviousHotness) {
  hmk_region r = region_of(0, 512, kOne);
  r.accesses = 3;
  hmk_hotness_judge(&r, 1, kHalf);
  EXPECT_EQ(r.prev_hi_q16, kOne);
  EXPECT_EQ(r.hi_q16, 3 * kOne);
  EXPECT_EQ(r.whi_q16, 2 * kOne);
  EXPECT_EQ(hmk_hotness_variance_q16(&r), 2 * kOne);
}

TEST(HotnessJudge, LeavesAStaleRegionAsItWas) {
  hmk_region r = region_of(0, 512, kOne);
  r.flags = HMK_REGION_STALE;
  r.accesses = 3;
  const hmk_region before = r;
  hmk_hotness_judge(&r, 1, kHalf);
  EXPECT_EQ(memcmp(&r, &before, sizeof(r)), 0);  // NOLINT: not a byte, padding or not
}

TEST(HotnessJudge, LeavesARegionWithoutSamplesAsItWas) {
  hmk_region r = region_of(0, 512, kOne);
  r.flags = HMK_REGION_NEW;
  r.quota = 0;
  const hmk_region before = r;
  hmk_hotness_judge(&r, 1, kHalf);
  EXPECT_EQ(memcmp(&r, &before, sizeof(r)), 0);  // NOLINT: not a byte, padding or not
}

TEST(HotnessJudge, CountsAgeUpToItsLimit) {
  hmk_region r = region_of(0, 512);
  r.age = 254;
  hmk_hotness_judge(&r, 1, kHalf);
  EXPECT_EQ(r.age, 255);
  hmk_hotness_judge(&r, 1, kHalf);
  EXPECT_EQ(r.age, 255);
}

TEST(HotnessJudge, OfNothingDoesNothing) {
  hmk_hotness_judge(nullptr, 0, kHalf);
}

TEST(HotnessGather, FoldsEachRegionsSamplesAndSkipsStaleOnes) {
  hmk_region r[3]{};
  r[0].quota = 2;
  r[1].quota = 5;
  r[1].flags = HMK_REGION_STALE;
  r[1].accesses = 7;
  r[2].quota = 1;
  hmk_sample s[3]{};
  s[0].count = 3;
  s[0].dirty = 1;
  s[1].count = 1;
  s[2].count = 2;
  hmk_hotness_gather(r, 3, s);
  EXPECT_EQ(r[0].accesses, 4u);
  EXPECT_EQ(r[0].writes, 1);
  EXPECT_EQ(r[0].count_min, 1);
  EXPECT_EQ(r[0].count_max, 3);
  EXPECT_EQ(r[1].accesses, 7u);
  EXPECT_EQ(r[2].accesses, 2u);
}

}  // namespace
