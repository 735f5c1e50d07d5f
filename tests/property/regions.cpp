// SPDX-License-Identifier: MIT
//
// Whatever exists and whatever was measured: regions stay a partition of it,
// and no sample and no page is lost.
#include <gtest/gtest.h>
#include <hmk/core/hotness.h>

#include <algorithm>
#include <map>

#include "support/regions.hpp"

using namespace hmk::test;

namespace {

constexpr std::uint32_t kScans = 3;

std::uint64_t pages_of(const Regions& regions) {
  std::uint64_t pages = 0;
  for (const hmk_region& r : regions) pages += hmk_region_pages(&r);
  return pages;
}

std::uint64_t resident_of(const Regions& regions) {
  std::uint64_t pages = 0;
  for (const hmk_region& r : regions) pages += r.resident_pages;
  return pages;
}

void expect_sane(const Regions& regions) {
  expect_ordered(regions);
  for (const hmk_region& r : regions) {
    ASSERT_GE(r.quota, 1);
    ASSERT_LE(r.resident_pages, hmk_region_pages(&r));
    ASSERT_LE(r.away_pages, r.resident_pages);
    ASSERT_LE(r.hi_q16, kScans << 16);
    ASSERT_LE(r.whi_q16, kScans << 16);
  }
}

/// The upper bound of the doc comment of hmk_regions_refresh().
std::uint64_t enough_for(const Spans& spans, std::size_t nr_old) {
  std::uint64_t pieces = 0;
  for (const hmk_span& s : spans)
    pieces +=
        (s.end + HMK_CORE_BASE_REGION - 1) / HMK_CORE_BASE_REGION - s.start / HMK_CORE_BASE_REGION;
  return pieces + 2 * nr_old;
}

Regions split(const Regions& in, std::uint32_t generation, std::uint32_t cap,
              hmk_split_result& result) {
  const hmk_split_rule rule = {
      .tau2_q16 = 1u << 16, .alpha_q16 = 32768, .generation = generation, .ladder = nullptr};
  Regions out(cap);
  out.resize(hmk_regions_split(in.data(), static_cast<std::uint32_t>(in.size()),
                               samples_of(in).data(), out.data(), cap, &rule, &result));
  EXPECT_EQ(out.size(), in.size() + result.splits);
  return out;
}

TEST(RegionProperties, RefreshKeepsAPartitionThroughAnyChange) {
  for (std::uint64_t seed = 0; seed < rounds(300); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Regions regions;
    for (std::uint32_t generation = 1; generation < 8; ++generation) {
      const Spans spans = random_spans(random, 20000);
      const Refreshed now = refresh(regions, spans, generation);
      expect_partition(now.regions, spans);
      expect_sane(now.regions);
      ASSERT_EQ(now.result.needed, now.regions.size());
      ASSERT_LE(now.regions.size(), enough_for(spans, regions.size()));
      ASSERT_FALSE(now.result.truncated);
      regions = now.regions;
      for (hmk_region& r : regions) measure(random, r, kScans);
      hmk_hotness_judge(regions.data(), static_cast<std::uint32_t>(regions.size()), 32768);
    }
  }
}

TEST(RegionProperties, RefreshWithTheSameSpansChangesNothing) {
  for (std::uint64_t seed = 0; seed < rounds(200); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Spans spans = random_spans(random, 20000);
    const Regions first = refresh({}, spans, 1).regions;
    const Refreshed again = refresh(first, spans, 2);
    ASSERT_EQ(first.size(), again.regions.size());
    ASSERT_TRUE(starts_with(again.regions, first));
    ASSERT_EQ(again.result.added + again.result.clipped + again.result.dropped, 0u);
  }
}

TEST(RegionProperties, RefreshNeverInventsOrForgetsHotness) {
  for (std::uint64_t seed = 0; seed < rounds(200); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Regions old = refresh({}, random_spans(random, 20000), 1).regions;
    std::uint32_t mark = 0;
    for (hmk_region& r : old) {
      r.whi_q16 = ++mark;
      hmk_region_clear(&r, HMK_REGION_NEW);
    }
    const Refreshed now = refresh(old, random_spans(random, 20000), 2);
    std::map<std::uint32_t, bool> seen;
    std::uint32_t clipped = 0, added = 0;
    for (const hmk_region& r : now.regions) {
      const bool is_new = hmk_region_is(&r, HMK_REGION_NEW);
      added += is_new;
      if (is_new) {
        ASSERT_EQ(r.whi_q16, 0u);
        continue;
      }
      const hmk_region& from = old[r.whi_q16 - 1];
      ASSERT_GE(r.start, from.start);
      ASSERT_LE(r.end, from.end);
      seen[r.whi_q16] = true;
      const bool same = r.start == from.start && r.end == from.end;
      ASSERT_EQ(r.generation, same ? 1u : 2u);
      clipped += !same;
    }
    EXPECT_EQ(now.result.added, added);
    EXPECT_EQ(now.result.clipped, clipped);
    EXPECT_EQ(now.result.dropped, old.size() - seen.size());
  }
}

TEST(RegionProperties, AShortArrayHoldsTheBeginningOfTheFullResult) {
  for (std::uint64_t seed = 0; seed < rounds(100); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Regions old = refresh({}, random_spans(random, 20000), 1).regions;
    const Spans spans = random_spans(random, 20000);
    const Refreshed full = refresh(old, spans, 2);
    const auto cap = static_cast<std::uint32_t>(random.below(full.regions.size() + 1));
    const Refreshed part = refresh(old, spans, 2, cap);
    ASSERT_EQ(part.regions.size(), cap);
    ASSERT_TRUE(starts_with(full.regions, part.regions));
    ASSERT_EQ(part.result.needed, full.regions.size());
    ASSERT_EQ(part.result.truncated, cap < full.regions.size());
  }
}

TEST(RegionProperties, SplitAndMergeKeepThePartitionTheSamplesAndThePages) {
  for (std::uint64_t seed = 0; seed < rounds(200); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Spans spans = random_spans(random, 20000);
    Regions regions = refresh({}, spans, 1).regions;
    for (hmk_region& r : regions) r.quota = static_cast<std::uint16_t>(1 + random.below(16));
    for (std::uint32_t generation = 2; generation < 12; ++generation) {
      for (hmk_region& r : regions) {
        measure(random, r, kScans);
        hmk_region_clear(&r, HMK_REGION_STALE);
        if (random.one_in(16)) hmk_region_set(&r, HMK_REGION_STALE);
      }
      hmk_hotness_judge(regions.data(), static_cast<std::uint32_t>(regions.size()), 32768);
      const std::uint64_t quotas = sum_of_quotas(regions), resident = resident_of(regions);
      const std::uint64_t pages = pages_of(regions);

      const auto room = static_cast<std::uint32_t>(random.below(regions.size() + 1));
      hmk_split_result was_split;
      Regions after =
          split(regions, generation, static_cast<std::uint32_t>(regions.size()) + room, was_split);
      expect_partition(after, spans);
      expect_sane(after);
      ASSERT_EQ(sum_of_quotas(after), quotas + was_split.lent_quota);
      ASSERT_EQ(resident_of(after), resident);
      for (const hmk_region& r : after) {
        if (hmk_region_is(&r, HMK_REGION_JUST_SPLIT)) {
          ASSERT_GE(hmk_region_bytes(&r), 1ull << r.leaf_shift);
        }
      }

      const hmk_merge_rule rule = {
          .max_bytes = 8ull << 20, .tau1_q16 = 1u << 16, .generation = generation};
      hmk_merge_result result;
      const std::size_t before = after.size();
      after.resize(hmk_regions_merge(after.data(), static_cast<std::uint32_t>(after.size()), &rule,
                                     &result));
      expect_partition(after, spans);
      expect_sane(after);
      ASSERT_EQ(after.size() + result.merges, before);
      ASSERT_EQ(sum_of_quotas(after) + result.freed_quota, quotas + was_split.lent_quota);
      ASSERT_EQ(resident_of(after), resident);
      ASSERT_EQ(pages_of(after), pages);
      for (const hmk_region& r : after) {
        ASSERT_FALSE(hmk_region_is(&r, HMK_REGION_JUST_SPLIT));
        if (r.generation == generation) {
          ASSERT_LE(hmk_region_bytes(&r), 8ull << 20);
        }
      }
      regions = std::move(after);
    }
  }
}

TEST(RegionProperties, RegionsThatAreAlikeEndUpAsFewAsTheLargestSizeAllows) {
  Regions regions = refresh({}, {span_of(0, 512 * kBasePages)}, 1).regions;
  for (hmk_region& r : regions) hmk_region_clear(&r, HMK_REGION_NEW);
  const hmk_merge_rule rule = {.max_bytes = 256ull << 20, .tau1_q16 = 1, .generation = 2};
  hmk_merge_result result;
  EXPECT_EQ(
      hmk_regions_merge(regions.data(), static_cast<std::uint32_t>(regions.size()), &rule, &result),
      4u);
}

}  // namespace
