// SPDX-License-Identifier: MIT
//
// HK-24: the sum of all quotas stays num_ps through everything that can happen
// in an interval.
#include <gtest/gtest.h>
#include <hmk/core/hotness.h>
#include <hmk/core/quota.h>

#include <algorithm>

#include "support/regions.hpp"

using namespace hmk::test;

namespace {

std::uint64_t capacity_of(const Regions& regions) {
  std::uint64_t sum = 0;
  for (const hmk_region& r : regions) sum += hmk_quota_cap(&r);
  return sum;
}

std::uint32_t count(const Regions& regions) {
  return static_cast<std::uint32_t>(regions.size());
}

TEST(QuotaProperties, TheSumIsTheBudgetThroughWholeIntervals) {
  for (std::uint64_t seed = 0; seed < rounds(150); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Spans spans = random_spans(random, 20000);
    Regions regions;
    hmk_quota_state state{};
    std::uint32_t num_ps = 1 + random.below32(3000);
    for (std::uint32_t generation = 1; generation < 20; ++generation) {
      if (random.one_in(4)) spans = random_spans(random, 20000);
      if (random.one_in(4)) num_ps = random.below32(3000);
      regions = refresh(regions, spans, generation).regions;
      for (hmk_region& r : regions) measure(random, r, 3);
      hmk_hotness_judge(regions.data(), count(regions), 32768);

      const hmk_split_rule split = {
          .tau2_q16 = 1u << 16, .alpha_q16 = 32768, .generation = generation, .ladder = nullptr};
      Regions halves(hmk_regions_split_room(regions.data(), count(regions), &split));
      hmk_split_result was_split;
      halves.resize(hmk_regions_split(regions.data(), count(regions), samples_of(regions).data(),
                                      halves.data(), count(halves), &split, &was_split));
      const hmk_merge_rule merge = {
          .max_bytes = 64ull << 20, .tau1_q16 = 1u << 16, .generation = generation};
      hmk_merge_result merged;
      halves.resize(hmk_regions_merge(halves.data(), count(halves), &merge, &merged));
      regions = std::move(halves);

      const hmk_quota_rule rule = {
          .num_ps = num_ps, .top_k = 1 + random.below32(64), .scout_bp = random.below32(5001),
          .by_size = random.below32(2)};
      hmk_quota_result result;
      hmk_quota_assign(regions.data(), count(regions), merged.freed_quota, &rule, &state, &result);

      const std::uint64_t least = regions.size(), most = capacity_of(regions);
      const std::uint64_t wanted = std::clamp<std::uint64_t>(num_ps, least, std::max(least, most));
      ASSERT_EQ(sum_of_quotas(regions), wanted);
      ASSERT_EQ(result.sum, wanted);
      ASSERT_EQ(result.degraded, regions.size() > num_ps);
      std::uint32_t scouts = 0;
      for (const hmk_region& r : regions) {
        ASSERT_GE(r.quota, 1);
        ASSERT_LE(r.quota, hmk_quota_cap(&r));
        scouts += hmk_region_is(&r, HMK_REGION_SCOUTED) != 0;
      }
      ASSERT_EQ(scouts, result.scouts);
      ASSERT_LE(result.scouts, std::uint64_t{num_ps} * rule.scout_bp / 10000);
      ASSERT_LE(result.moved, merged.freed_quota);
      expect_ordered(regions);
    }
  }
}

TEST(QuotaProperties, TheTopListIsTheHeadOfTheSortedList) {
  for (std::uint64_t seed = 0; seed < rounds(300); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::vector<std::uint32_t> variances(random.below(200));
    hmk_top top;
    hmk_top_init(&top, 1 + random.below32(HMK_QUOTA_MAX_TOP));
    for (std::uint32_t i = 0; i < variances.size(); ++i) {
      variances[i] = random.below32(30);
      hmk_top_offer(&top, i, variances[i]);
    }
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < variances.size(); ++i)
      if (variances[i]) order.push_back(i);
    std::ranges::stable_sort(order, std::greater{}, [&](std::uint32_t i) { return variances[i]; });
    order.resize(std::min<std::size_t>(order.size(), top.k));
    ASSERT_EQ(top.nr, order.size());
    for (std::uint32_t i = 0; i < top.nr; ++i) ASSERT_EQ(top.at[i].index, order[i]);
  }
}

TEST(QuotaProperties, AssigningAgainWithoutScoutsChangesNothing) {
  for (std::uint64_t seed = 0; seed < rounds(100); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Regions regions = refresh({}, random_spans(random, 20000), 1).regions;
    const hmk_quota_rule rule = {
        .num_ps = random.below32(3000), .top_k = 5, .scout_bp = 0, .by_size = 0};
    hmk_quota_state state{};
    hmk_quota_result result;
    hmk_quota_assign(regions.data(), count(regions), 0, &rule, &state, &result);
    const Regions before = regions;
    hmk_quota_assign(regions.data(), count(regions), 0, &rule, &state, &result);
    ASSERT_EQ(memcmp(before.data(), regions.data(), regions.size() * sizeof(hmk_region)), 0);
  }
}

}  // namespace
