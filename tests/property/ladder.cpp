// SPDX-License-Identifier: MIT
//
// Whatever windows there are and whatever was seen: hotness and rate are two names of one
// thing, and a judged region is a possible one.
#include <gtest/gtest.h>
#include <hmk/core/hotness.h>
#include <hmk/core/ladder.h>
#include <hmk/core/quota.h>
#include <hmk/core/rate.h>

#include <algorithm>
#include <cmath>

#include "support/regions.hpp"

using namespace hmk::test;

namespace {

hmk_ladder any_ladder(Random& random) {
  hmk_ladder l;
  const auto ns = static_cast<std::uint64_t>(std::exp2(16 + random.below(22)));
  const std::uint32_t num_scans = 1 + random.below32(HMK_CORE_MAX_SCANS);
  if (random.one_in(3))
    hmk_ladder_make_equal(&l, ns, num_scans);
  else
    hmk_ladder_make(&l, ns, num_scans);
  return l;
}

TEST(LadderProperties, HotnessRisesWithTheRateAndTheRateWithHotness) {
  for (std::uint64_t seed = 0; seed < rounds(100); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const hmk_ladder l = any_ladder(random);
    std::uint32_t hotness = 0;
    for (std::int32_t rate = -16 * 256; rate < 32 * 256; rate += 16) {
      const std::uint32_t next = hmk_ladder_hotness_q16(&l, rate);
      ASSERT_GE(next, hotness);
      ASSERT_LE(next, l.nr << 16);
      hotness = next;
    }
    std::int32_t rate = INT32_MIN;
    for (std::uint32_t at = 0; at <= l.nr << 16; at += 1000) {
      ASSERT_GE(hmk_ladder_rate_q8(&l, at), rate);
      rate = hmk_ladder_rate_q8(&l, at);
    }
  }
}

TEST(LadderProperties, TheRateOfAHotnessHasThatHotness) {
  constexpr std::uint32_t kStep = kOne / HMK_LADDER_STEPS;
  for (std::uint64_t seed = 0; seed < rounds(100); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const hmk_ladder l = any_ladder(random);
    for (int i = 0; i < 50; ++i) {
      const std::uint32_t hotness = kStep + random.below32((l.nr << 16) - 2 * kStep);
      const std::uint32_t back = hmk_ladder_hotness_q16(&l, hmk_ladder_rate_q8(&l, hotness));
      ASSERT_NEAR(back, hotness, kStep) << l.nr << ' ' << l.ratio_shift;
    }
  }
}

// It is looked up in two tables, of which one has roots only in steps.
TEST(LadderProperties, TheDeviationOfARateIsThatOfTheFormula) {
  for (std::uint64_t seed = 0; seed < rounds(100); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const hmk_ladder l = any_ladder(random);
    const std::uint32_t last = l.nr * HMK_LADDER_STEPS;
    for (int i = 0; i < 200; ++i) {
      const std::uint32_t row = random.below32(last + 1);
      const auto samples =
          static_cast<std::uint32_t>(std::max<std::uint64_t>(random.next() >> (32 + random.below(32)), 1));
      const std::uint32_t low = row ? row - 1 : 0, high = std::min(row + 1, last);
      const double slope =
          double(l.rate_q8[high] - l.rate_q8[low]) * HMK_LADDER_STEPS / (high - low);
      const double expected = std::sqrt(l.var_q16[row] / 65536.0 / (samples / 16.0)) * slope;
      const std::uint16_t told = hmk_rate_dev_q8(&l, row * (kOne / HMK_LADDER_STEPS), samples);
      ASSERT_LE(std::abs(told - std::min(expected, 65535.0)), 1 + expected / 1000)
          << row << ' ' << samples;
    }
  }
}

/// A region as an interval leaves it: counts within its windows.
void watch(Random& random, const hmk_ladder& l, hmk_region& r) {
  r.quota = static_cast<std::uint16_t>(1 + random.below(HMK_CORE_MAX_QUOTA));
  r.count_min = 0xff;
  r.count_max = 0;
  r.accesses = 0;
  for (std::uint32_t i = 0; i < r.quota; ++i) {
    const auto count = static_cast<std::uint8_t>(r.rung + random.below(l.num_scans + 1));
    r.accesses = static_cast<std::uint16_t>(r.accesses + count);
    r.count_min = std::min(r.count_min, count);
    r.count_max = std::max(r.count_max, count);
  }
}

TEST(LadderProperties, AJudgedRegionIsAPossibleOne) {
  for (std::uint64_t seed = 0; seed < rounds(300); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    hmk_ladder l;
    hmk_ladder_make(&l, 1'000'000'000ull << random.below(8), 1 + random.below32(16));
    hmk_crowd crowd{};
    Regions regions(20, region_of(0, 512, 0));
    for (hmk_region& r : regions) r.flags = HMK_REGION_NEW;
    for (int interval = 0; interval < 30; ++interval) {
      hmk_ladder_place(&l, &crowd, regions.data(), 20);
      for (hmk_region& r : regions) {
        ASSERT_LE(r.rung, hmk_ladder_top(&l));
        hmk_region_clear(&r, HMK_REGION_STALE);
        watch(random, l, r);
        if (random.one_in(8)) hmk_region_set(&r, HMK_REGION_STALE);
      }
      const Regions before = regions;
      hmk_ladder_judge(&l, &crowd, regions.data(), 20);
      hmk_crowd_take(&crowd, &l);
      for (std::size_t i = 0; i < regions.size(); ++i) {
        const hmk_region& r = regions[i];
        ASSERT_LE(r.hi_q16, l.nr << 16);
        ASSERT_LE(r.whi_q16, l.nr << 16);
        ASSERT_LE(r.trust, 4 * HMK_CORE_MAX_QUOTA * 16);
        if (hmk_region_is(&r, HMK_REGION_STALE)) continue;
        ASSERT_GE(r.trust, r.quota * 16);
        if (!hmk_region_is(&before[i], HMK_REGION_NEW)) {
          ASSERT_GE(r.whi_q16 + 1, std::min(before[i].whi_q16, r.hi_q16));
          ASSERT_LE(r.whi_q16, std::max(before[i].whi_q16, r.hi_q16) + 1);
        }
        const std::uint32_t shrunk = hmk_crowd_shrink_q16(&crowd, &r);
        ASSERT_GE(shrunk + 1, std::min(r.whi_q16, crowd.mean_q16));
        ASSERT_LE(shrunk, std::max(r.whi_q16, crowd.mean_q16) + 1);
      }
      ASSERT_LE(crowd.mean_q16, l.nr << 16);
    }
  }
}

TEST(LadderProperties, SplitAndMergeKeepThePagesAndTheSums) {
  for (std::uint64_t seed = 0; seed < rounds(200); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    hmk_ladder l;
    hmk_ladder_make(&l, 9'375'000'000, 3);
    hmk_crowd crowd{};
    hmk_quota_state state{};
    const std::uint64_t pages = 512 * (1 + random.below(400));
    Regions regions = {region_of(0, pages, 0)};
    regions[0].flags = HMK_REGION_NEW | HMK_REGION_VMA_START;
    for (std::uint32_t generation = 2; generation < 15; ++generation) {
      const auto nr = [&] { return static_cast<std::uint32_t>(regions.size()); };
      hmk_ladder_place(&l, &crowd, regions.data(), nr());
      std::vector<hmk_sample> samples;
      std::uint64_t sum = 0;
      for (hmk_region& r : regions) {
        r.quota = static_cast<std::uint16_t>(std::min(r.quota + 0u, hmk_quota_cap(&r)));
        for (std::uint32_t k = 0; k < r.quota; ++k) {
          hmk_sample s{};
          s.addr = hmk_region_sample(&r, nullptr, k, r.quota, generation, random.next());
          s.count = static_cast<std::uint8_t>(r.rung + random.below(4));
          samples.push_back(s);
        }
        sum += r.quota;
      }
      hmk_hotness_gather(regions.data(), nr(), samples.data());
      hmk_ladder_judge(&l, &crowd, regions.data(), nr());
      hmk_crowd_take(&crowd, &l);
      const hmk_split_rule rule = {
          .tau2_q16 = kOne, .alpha_q16 = kOne, .generation = generation, .ladder = &l};
      Regions out(hmk_regions_split_room(regions.data(), nr(), &rule));
      hmk_split_result was_split;
      out.resize(hmk_regions_split(regions.data(), nr(), samples.data(), out.data(),
                                   static_cast<std::uint32_t>(out.size()), &rule, &was_split));
      ASSERT_EQ(was_split.no_room, 0u);
      ASSERT_EQ(sum_of_quotas(out), sum + was_split.lent_quota);
      regions = out;
      const hmk_merge_rule merge = {
          .max_bytes = 256ull << 20, .tau1_q16 = 2 * kOne / 5, .generation = generation};
      hmk_merge_result merged;
      regions.resize(hmk_regions_merge(regions.data(), nr(), &merge, &merged));
      std::uint64_t at = 0;
      for (const hmk_region& r : regions) {
        ASSERT_EQ(r.start, at);
        ASSERT_LT(r.start, r.end);
        ASSERT_GE(r.trust, 1u);
        at = r.end;
      }
      ASSERT_EQ(at, pages * kPageBytes);
      const hmk_quota_rule quota = {
          .num_ps = 1 + random.below32(2000), .top_k = 5, .scout_bp = 1000, .by_size = 1};
      hmk_quota_result result;
      hmk_quota_assign(regions.data(), nr(), merged.freed_quota, &quota, &state, &result);
      std::uint64_t room = 0;
      for (const hmk_region& r : regions) room += hmk_quota_cap(&r);
      const std::uint64_t given = std::min<std::uint64_t>(quota.num_ps, room);
      ASSERT_EQ(sum_of_quotas(regions), nr() > quota.num_ps ? nr() : given);
      ASSERT_EQ(result.sum, sum_of_quotas(regions));
    }
  }
}

}  // namespace
