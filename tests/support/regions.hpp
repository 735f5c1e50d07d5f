// SPDX-License-Identifier: MIT
//
// Regions and spans in units of pages, and what must hold for every array of them.
#pragma once

#include <gtest/gtest.h>
#include <hmk/core/region.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "support/random.hpp"

namespace hmk::test {

inline constexpr std::uint64_t kPageBytes = 4096;
inline constexpr std::uint32_t kOne = HMK_CORE_Q16_ONE;
inline constexpr std::uint64_t kBasePages = 512;  // pages of an initial region

using Regions = std::vector<hmk_region>;
using Spans = std::vector<hmk_span>;

inline hmk_span span_of(std::uint64_t first_page, std::uint64_t end_page, std::uint8_t kind = 0,
                        std::uint8_t leaf_shift = 12) {
  hmk_span span{};
  span.start = first_page * kPageBytes;
  span.end = end_page * kPageBytes;
  span.kind = kind;
  span.leaf_shift = leaf_shift;
  return span;
}

/// A judged region with one sample.
inline hmk_region region_of(std::uint64_t first_page, std::uint64_t end_page,
                            std::uint32_t hi_q16 = 0) {
  hmk_region r{};
  r.start = first_page * kPageBytes;
  r.end = end_page * kPageBytes;
  r.hi_q16 = r.prev_hi_q16 = r.whi_q16 = hi_q16;
  r.generation = 1;
  r.node = -1;
  r.quota = 1;
  r.leaf_shift = 12;
  r.age = 1;
  return r;
}

/// Whether `all` begins with `part`, byte for byte but for the padding at each region's end.
inline bool starts_with(const Regions& all, const Regions& part) {
  constexpr std::size_t kBytes = offsetof(hmk_region, away_node) + sizeof(hmk_region::away_node);
  if (part.size() > all.size()) return false;
  for (std::size_t i = 0; i < part.size(); i++)
    if (std::memcmp(&all[i], &part[i], kBytes) != 0) return false;
  return true;
}

/// Samples that lie evenly over their regions and fit their counts: the first of each is the odd
/// one, all others have the least.
inline std::vector<hmk_sample> samples_of(const Regions& regions) {
  std::vector<hmk_sample> samples;
  for (const hmk_region& r : regions) {
    if (r.flags & HMK_REGION_STALE) continue;
    for (std::uint32_t k = 0; k < r.quota; k++) {
      hmk_sample s{};
      s.addr = hmk_region_sample(&r, nullptr, k, r.quota, 0, 0);
      s.count = k ? r.count_min : r.count_max;
      samples.push_back(s);
    }
  }
  return samples;
}

struct Refreshed {
  Regions regions;
  hmk_refresh_result result{};
};

inline Refreshed refresh(const Regions& old, const Spans& spans, std::uint32_t generation = 9,
                         std::uint32_t cap = 4096) {
  Refreshed r;
  r.regions.resize(cap);
  const std::uint32_t nr = hmk_regions_refresh(
      old.data(), static_cast<std::uint32_t>(old.size()), spans.data(),
      static_cast<std::uint32_t>(spans.size()), r.regions.data(), cap, generation, &r.result);
  r.regions.resize(nr);
  return r;
}

inline std::uint64_t sum_of_quotas(const Regions& regions) {
  std::uint64_t sum = 0;
  for (const hmk_region& r : regions) sum += r.quota;
  return sum;
}

/// In address order, without overlap, not empty, page aligned.
inline void expect_ordered(const Regions& regions) {
  std::uint64_t end = 0;
  for (const hmk_region& r : regions) {
    ASSERT_LT(r.start, r.end);
    ASSERT_GE(r.start, end);
    ASSERT_EQ(r.start % kPageBytes, 0u);
    ASSERT_EQ(r.end % kPageBytes, 0u);
    end = r.end;
  }
}

/// Covers the spans, nothing else, and crosses no border of them.
inline void expect_partition(const Regions& regions, const Spans& spans) {
  std::size_t at = 0;
  for (const hmk_span& span : spans) {
    std::uint64_t next = span.start;
    for (bool first = true; next < span.end; first = false, ++at) {
      ASSERT_LT(at, regions.size());
      ASSERT_EQ(regions[at].start, next);
      ASSERT_LE(regions[at].end, span.end);
      ASSERT_LT(regions[at].start, regions[at].end);
      ASSERT_EQ(regions[at].kind, span.kind);
      ASSERT_EQ((regions[at].flags & HMK_REGION_VMA_START) != 0, first);
      next = regions[at].end;
    }
  }
  ASSERT_EQ(at, regions.size());
}

/// Sorted spans, some of them touching; `pages` is where they end at most.
inline Spans random_spans(Random& random, std::uint64_t pages) {
  Spans spans;
  std::uint64_t at = random.below(3 * kBasePages);
  while (at < pages) {
    const std::uint64_t end = at + 1 + random.below(random.one_in(3) ? 4 * kBasePages : 64);
    const bool huge = random.one_in(8);
    spans.push_back(span_of(at, end, static_cast<std::uint8_t>(random.below(2)),
                            static_cast<std::uint8_t>(huge ? 21 : 12)));
    at = random.one_in(3) ? end : end + 1 + random.below(2 * kBasePages);
  }
  return spans;
}

/// Gives a region the measurements of an interval, all of them possible ones.
inline void measure(Random& random, hmk_region& r, std::uint32_t num_scans) {
  const std::uint32_t scans = num_scans + 1;
  const auto low = static_cast<std::uint8_t>(random.below(scans));
  const auto high = static_cast<std::uint8_t>(low + random.below(scans - low));
  r.count_min = r.quota > 1 ? low : high;
  r.count_max = high;
  std::uint32_t accesses = high;
  for (std::uint32_t i = 1; i < r.quota; ++i)
    accesses += i == 1 ? r.count_min : r.count_min + random.below32(1u + r.count_max - r.count_min);
  r.accesses = static_cast<std::uint16_t>(accesses);
  r.resident_pages = random.below32(static_cast<std::uint32_t>(hmk_region_pages(&r)) + 1);
  r.away_pages = random.below32(r.resident_pages + 1);
  r.node = static_cast<std::int16_t>(static_cast<int>(random.below(5)) - 1);
  r.away_node = static_cast<std::int16_t>(random.below(4));
}

}  // namespace hmk::test
