// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <hmk/core/hotness.h>
#include <hmk/core/ladder.h>
#include <hmk/core/quota.h>

#include <algorithm>

#include "support/regions.hpp"

using namespace hmk::test;

namespace {

constexpr std::uint64_t kSpanNs = 9'375'000'000;  // of an interval of 10 s

hmk_ladder ladder(std::uint64_t longest_ns = kSpanNs, std::uint32_t num_scans = 3) {
  hmk_ladder l;
  hmk_ladder_make(&l, longest_ns, num_scans);
  return l;
}

TEST(Ladder, HasWindowsDownToATenthOfAMillisecond) {
  const hmk_ladder l = ladder();
  EXPECT_EQ(l.nr, 6u);
  EXPECT_EQ(hmk_ladder_top(&l), 3u);
  EXPECT_EQ(l.window_ns[0], kSpanNs);
  for (std::uint32_t i = 1; i < l.nr; ++i) EXPECT_EQ(l.window_ns[i], l.window_ns[i - 1] / 8);
  EXPECT_GE(l.window_ns[l.nr - 1], HMK_LADDER_SHORTEST_NS);
  EXPECT_LT(l.window_ns[l.nr - 1] / 8, HMK_LADDER_SHORTEST_NS);
}

TEST(Ladder, HasAsManyWindowsAsReadsHoweverShortTheInterval) {
  for (const std::uint32_t num_scans : {1u, 3u, 4u, 6u, 16u}) {
    const hmk_ladder l = ladder(1, num_scans);
    EXPECT_EQ(l.nr, num_scans);
    EXPECT_EQ(hmk_ladder_top(&l), 0u);
  }
}

TEST(Ladder, StopsJustAboveTheShortestWindow) {
  EXPECT_EQ(ladder(HMK_LADDER_SHORTEST_NS * 512ull).nr, 4u);
  EXPECT_EQ(ladder(HMK_LADDER_SHORTEST_NS * 512ull - 1).nr, 3u);
}

TEST(Ladder, SaysTheRateThatSetsHalfOfEqualWindows) {
  hmk_ladder l;
  hmk_ladder_make_equal(&l, 1'000'000'000, 3);
  EXPECT_EQ(l.nr, 3u);
  EXPECT_FALSE(hmk_ladder_climbs(&l));
  EXPECT_NEAR(hmk_ladder_rate_q8(&l, 3 * kOne / 2), -0.5288 * 256, 8);  // ln 2 a second
  EXPECT_GT(hmk_ladder_rate_q8(&l, 3 * kOne), hmk_ladder_rate_q8(&l, 3 * kOne - kOne / 8));
  EXPECT_EQ(hmk_ladder_rate_q8(&l, 4 * kOne), hmk_ladder_rate_q8(&l, 3 * kOne));
}

TEST(Ladder, TakesAGroupThatItsShortestWindowHolds) {
  const hmk_ladder l = ladder();
  EXPECT_EQ(hmk_ladder_group(&l, 3, 0, 500), l.window_ns[5] / 500);
  EXPECT_EQ(hmk_ladder_group(&l, 0, 0, 0), l.window_ns[2]);
  EXPECT_EQ(hmk_ladder_group(&l, 3, 0, ~0u), 1u);
}

TEST(Ladder, TakesTheFlushOutOfTheShortestWindow) {
  const hmk_ladder l = ladder();
  const __u64 window = l.window_ns[5];
  EXPECT_EQ(hmk_ladder_group(&l, 3, window - 1500, 500), 3u);
  EXPECT_EQ(hmk_ladder_group(&l, 3, window - 1499, 500), 2u);
  EXPECT_EQ(hmk_ladder_group(&l, 3, window - 1, 500), 1u);
  EXPECT_EQ(hmk_ladder_group(&l, 3, window, 500), 1u);
  EXPECT_EQ(hmk_ladder_group(&l, 3, window + 1, 500), 1u);
}

TEST(Ladder, KnowsWhichRungAStretchedWindowIsOn) {
  const hmk_ladder l = ladder();
  EXPECT_EQ(hmk_ladder_rung_of(&l, 0), 3u);
  EXPECT_EQ(hmk_ladder_rung_of(&l, 2 * l.window_ns[5] + 1), 3u);
  EXPECT_EQ(hmk_ladder_rung_of(&l, 2 * l.window_ns[5] + 2), 2u);
  EXPECT_EQ(hmk_ladder_rung_of(&l, ~0ull), 0u);
}

class LadderJudge : public testing::Test {
 protected:
  const hmk_ladder ladder_ = ladder();
  hmk_crowd crowd_{};

  /// Judged once before with `quota` samples of that count.
  hmk_region steady(std::uint32_t hotness_q16, std::uint16_t trust, std::uint8_t rung) {
    hmk_region r = region_of(0, 512, hotness_q16);
    r.trust = trust;
    r.rung = rung;
    r.flags = 0;
    return r;
  }
  void judge(hmk_region& r, std::uint8_t count, std::uint16_t quota = 1) {
    r.quota = quota;
    r.accesses = static_cast<std::uint16_t>(count * quota);
    r.count_min = r.count_max = count;
    hmk_ladder_judge(&ladder_, &crowd_, &r, 1);
  }
};

TEST_F(LadderJudge, TakesTheFirstSamplesAsTheyAre) {
  hmk_region r = region_of(0, 512, 0);
  hmk_region_set(&r, HMK_REGION_NEW);
  judge(r, 2, 3);
  EXPECT_EQ(r.hi_q16, 2 * kOne);
  EXPECT_EQ(r.whi_q16, 2 * kOne);
  EXPECT_EQ(hmk_hotness_variance_q16(&r), 0u);
  EXPECT_EQ(r.trust, 3 * 16);
  EXPECT_FALSE(hmk_region_is(&r, HMK_REGION_NEW));
}

TEST_F(LadderJudge, WeighsTheLastSamplesByTheirNumber) {
  hmk_region r = steady(2 * kOne, 3 * 16, 1);
  judge(r, 3);
  EXPECT_EQ(r.whi_q16, (3 * 2 * kOne + 3 * kOne) / 4);
  EXPECT_EQ(r.trust, 4 * 16);
  judge(r, 2);  // a quarter of the past fades, but never the last three samples
  EXPECT_EQ(r.trust, 4 * 16);
}

TEST_F(LadderJudge, ForgetsThePastWhenChanceDoesNotExplainTheNew) {
  hmk_region r = steady(4 * kOne, 100 * 16, 2);
  judge(r, 2, 8);  // none of the windows of 0.15 s saw what is accessed hundred times a second
  EXPECT_LT(r.whi_q16, 4 * kOne - kOne / 2);
  EXPECT_LT(r.trust, 20 * 16);
  EXPECT_TRUE(hmk_region_is(&r, HMK_REGION_FALLING));
}

TEST_F(LadderJudge, ClimbsWhenAllReadsSawIt) {
  hmk_region r = steady(3 * kOne, 16, 0);
  judge(r, 3);
  EXPECT_TRUE(hmk_region_is(&r, HMK_REGION_BEYOND));
  EXPECT_EQ(r.rung, 2);  // one window in common with those before
  judge(r, 5);
  judge(r, 5);
  EXPECT_EQ(r.rung, 3);
}

// At the edge of its windows a region climbs and falls by turns: it was one thing all along.
TEST_F(LadderJudge, KeepsThePastThatItsNewWindowsAgreeWith) {
  const auto left_of = [&](std::uint8_t rung, std::uint32_t hotness_q16, std::uint8_t count) {
    hmk_region r = steady(hotness_q16, 64, rung);
    hmk_region_set(&r, HMK_REGION_BEYOND);
    judge(r, count);
    return r.trust - 16;
  };
  EXPECT_EQ(left_of(1, 3 * kOne + kOne / 4, 3), 48);
  EXPECT_LE(left_of(2, 3 * kOne, 5), 48 / 4);  // it was hotter than its windows could tell
  EXPECT_EQ(left_of(0, kOne / 2, 0), 48 / 4);  // they had all been too short for any access
}

TEST_F(LadderJudge, BelievesTwiceThatNothingAccessedWhatWasAccessedOnceAWindow) {
  hmk_region r = steady(kOne + kOne * 3 / 10, 64, 0);
  judge(r, 0);
  EXPECT_TRUE(hmk_region_is(&r, HMK_REGION_FALLING));
  EXPECT_EQ(r.trust, 64);
  judge(r, 0);
  EXPECT_EQ(r.trust, 16 + 48 / 8);
  EXPECT_LT(r.whi_q16, kOne * 3 / 10);
}

TEST_F(LadderJudge, KeepsAStaleRegionAsItIs) {
  hmk_region r = steady(2 * kOne, 16, 1);
  hmk_region_set(&r, HMK_REGION_STALE);
  const hmk_region before = r;
  hmk_ladder_judge(&ladder_, &crowd_, &r, 1);
  EXPECT_EQ(r.whi_q16, before.whi_q16);
  EXPECT_EQ(r.trust, before.trust);
  EXPECT_EQ(r.age, before.age);
}

TEST_F(LadderJudge, TakesARegionOfFewSamplesForOneLikeAllOthers) {
  Regions many;
  for (std::uint64_t i = 0; i < 10; ++i) many.push_back(region_of(i * 512, (i + 1) * 512, kOne));
  for (hmk_region& r : many) {
    r.flags = 0;
    r.trust = 64;
    r.quota = 1;
    r.accesses = r.count_min = r.count_max = 1;
  }
  hmk_ladder_judge(&ladder_, &crowd_, many.data(), 10);
  hmk_crowd_take(&crowd_, &ladder_);
  EXPECT_EQ(crowd_.mean_q16, kOne);
  hmk_region r = steady(3 * kOne, 16, 1);
  const std::uint32_t one = hmk_crowd_shrink_q16(&crowd_, &r);
  r.trust = 64;
  const std::uint32_t four = hmk_crowd_shrink_q16(&crowd_, &r);
  EXPECT_LT(kOne, one);
  EXPECT_LT(one, four);
  EXPECT_LT(four, 3 * kOne);
  r.trust = 15;  // cut out for one odd sample
  EXPECT_EQ(hmk_crowd_shrink_q16(&crowd_, &r), kOne);
}

TEST_F(LadderJudge, SpreadsNewRegionsOverAllRungsWhileNothingIsKnown) {
  Regions r(8, region_of(0, 512, 0));
  for (hmk_region& each : r) each.flags = HMK_REGION_NEW;
  hmk_ladder_place(&ladder_, &crowd_, r.data(), 8);
  const std::vector<unsigned> expected = {0, 1, 0, 2, 0, 3, 0, 1};
  for (std::size_t i = 0; i < r.size(); ++i) EXPECT_EQ(r[i].rung, expected[i]) << i;
  crowd_.known = 1;
  crowd_.mean_q16 = 2 * kOne;
  hmk_ladder_place(&ladder_, &crowd_, r.data(), 8);
  for (const hmk_region& each : r) EXPECT_EQ(each.rung, 1);
}

TEST_F(LadderJudge, SaysWhichCountsChanceRarelyGives) {
  for (const std::uint32_t hotness : {1u, 2u, 4u}) {
    const std::uint32_t row = hotness * HMK_LADDER_STEPS;
    for (std::uint32_t rung = 0; rung <= hmk_ladder_top(&ladder_); ++rung) {
      for (std::uint32_t seen = 0; seen <= ladder_.num_scans; ++seen) {
        const auto count = static_cast<std::uint8_t>(rung + seen);
        hmk_region r = steady(hotness * kOne, 32 * 16, static_cast<std::uint8_t>(rung));
        judge(r, count);
        const bool few = count < ladder_.few[row] && seen < ladder_.num_scans;
        const bool many = count >= ladder_.many[row] && seen;
        if (r.rung == rung) {  // else its windows were the wrong ones
          EXPECT_EQ(hmk_region_is(&r, HMK_REGION_ODD), few || many) << hotness << rung << seen;
        }
      }
    }
  }
}

TEST_F(LadderJudge, SplitsWhatChanceRarelyGives) {
  const hmk_split_rule rule = {
      .tau2_q16 = kOne, .alpha_q16 = 0, .generation = 2, .ladder = &ladder_};
  Regions out(8);
  hmk_split_result result;
  for (std::uint8_t count = 0; count <= 3; ++count) {
    hmk_region r = steady(kOne, 32 * 16, 0);
    r.end = 8 * kBasePages * kPageBytes;
    r.quota = 2;
    hmk_sample samples[2] = {};
    samples[0].addr = 3 * kBasePages * kPageBytes;
    samples[0].count = count;
    samples[1].count = std::min<std::uint8_t>(count, 1);
    hmk_hotness_gather(&r, 1, samples);
    hmk_ladder_judge(&ladder_, &crowd_, &r, 1);
    const std::uint32_t nr = hmk_regions_split(&r, 1, samples, out.data(), 8, &rule, &result);
    EXPECT_EQ(nr, count >= ladder_.many[16] ? 3u : 1u) << int(count);
    if (nr == 3) {
      EXPECT_EQ(out[1].start, samples[0].addr);
      EXPECT_EQ(out[1].whi_q16, count * kOne);
      EXPECT_LT(out[1].trust, 16);
      EXPECT_GT(r.whi_q16, kOne + kOne / 20);
      EXPECT_NEAR(out[0].whi_q16, kOne, 8);  // the odd one no longer counts there
    }
  }
  EXPECT_EQ(ladder_.many[16], 3);
}

TEST_F(LadderJudge, CutsAQuarterOutOfOnePieceAndLooksThereAgain) {
  const hmk_split_rule rule = {
      .tau2_q16 = kOne, .alpha_q16 = 0, .generation = 2, .ladder = &ladder_};
  const std::uint64_t quarter = kBasePages / 4 * kPageBytes;
  for (std::uint64_t page = 0; page < kBasePages; page += 37) {
    hmk_region r = steady(kOne, 32 * 16, 0);
    r.end = kBasePages * kPageBytes;
    r.quota = 3;
    hmk_sample samples[3] = {};
    samples[1].addr = page * kPageBytes;
    samples[1].count = 3;
    hmk_hotness_gather(&r, 1, samples);
    hmk_ladder_judge(&ladder_, &crowd_, &r, 1);
    Regions out(8);
    hmk_split_result result;
    out.resize(hmk_regions_split(&r, 1, samples, out.data(), 8, &rule, &result));
    const auto cut = std::ranges::find_if(
        out, [&](const hmk_region& each) { return each.end > samples[1].addr; });
    EXPECT_EQ(cut->start, samples[1].addr / quarter * quarter);
    EXPECT_EQ(cut->end - cut->start, quarter);
    for (std::uint64_t random = 0; random < 64; ++random) {
      const std::uint64_t at = hmk_region_sample(&*cut, nullptr, 0, 3, random, random);
      EXPECT_EQ((at - cut->start) * 4 / quarter, (samples[1].addr - cut->start) * 4 / quarter);
    }
    judge(*cut, 3);
    EXPECT_FALSE(hmk_region_is(&*cut, HMK_REGION_QUARTER)) << "that was once";
  }
}

TEST_F(LadderJudge, HalvesOnePieceWhoseSamplesAreNotFarApart) {
  const hmk_split_rule rule = {
      .tau2_q16 = kOne, .alpha_q16 = 0, .generation = 2, .ladder = &ladder_};
  hmk_region r = steady(kOne, 32 * 16, 0);
  r.end = kBasePages * kPageBytes;
  r.quota = 2;
  hmk_sample samples[2] = {};
  samples[0].count = 3;
  samples[1].count = 1;
  hmk_hotness_gather(&r, 1, samples);
  hmk_ladder_judge(&ladder_, &crowd_, &r, 1);
  Regions out(4);
  hmk_split_result result;
  ASSERT_EQ(hmk_regions_split(&r, 1, samples, out.data(), 4, &rule, &result), 2u);
  EXPECT_EQ(out[0].end, kBasePages / 2 * kPageBytes);
}

TEST(MaxRegion, IsWhatItsSamplesCover) {
  const std::uint64_t mib = 1 << 20;
  EXPECT_EQ(hmk_quota_max_region(1024 * mib, 1024, 256 * mib), 32 * mib);
  EXPECT_EQ(hmk_quota_max_region(1024 * mib, 0, 256 * mib), 256 * mib);
  EXPECT_EQ(hmk_quota_max_region(1024 * mib, 1 << 20, 256 * mib), 4 * mib);
  EXPECT_EQ(hmk_quota_max_region(1024 * mib, 1 << 20, 2 * mib), 2 * mib);
}

TEST(Turns, WatchFirstWhatOneMoreLookDecides) {
  Regions r;
  for (std::uint64_t i = 0; i < 6; ++i) r.push_back(region_of(i * 512, (i + 1) * 512, 0));
  for (hmk_region& each : r) each.quota = 1;
  hmk_region_set(&r[4], HMK_REGION_AGAIN);
  hmk_quota_state state{};
  EXPECT_EQ(hmk_quota_take_turns(r.data(), 6, 2, &state), 2u);
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_EQ(hmk_region_is(&r[i], HMK_REGION_STALE), i != 0 && i != 4) << i;
}

}  // namespace
