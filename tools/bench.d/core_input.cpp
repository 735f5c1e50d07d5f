// SPDX-License-Identifier: MIT
#include "core_input.hpp"

#include <hmk/core/region.h>

namespace hmk::bench {

namespace {

constexpr std::uint32_t kScans = 3;
constexpr std::uint64_t kIntervalNs = 10'000'000'000;
constexpr std::uint32_t kSamples = 2;

/// Uniform 32 bits of a number (Steele, Lea, Flood: splitmix).
std::uint32_t chance(std::uint64_t of) {
  of = (of + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
  of = (of ^ (of >> 29)) * 0x94d049bb133111eb;
  return static_cast<std::uint32_t>(of >> 32);
}

enum class Kind { kCold, kHot, kMerges, kSplits };

/// Every other region is hot, but one of 32 is as cold as its neighbours.
Kind kind_of(std::uint32_t i) {
  if (i % 16 == 4) return Kind::kSplits;
  if (i % 32 <= 2) return Kind::kMerges;
  return i % 2 != 0 ? Kind::kHot : Kind::kCold;
}

/// As chance has it: in its middle window one time in two, else in one more or one less.
__u8 drawn(std::uint32_t middle, std::uint64_t of) {
  constexpr int kSteps[] = {-1, 0, 0, 1};
  return static_cast<__u8>(static_cast<int>(middle) + kSteps[chance(of) % 4]);
}

/// Counts of the two samples of region `i`.
void count(const hmk_ladder& windows, std::uint32_t i, hmk_sample (&samples)[kSamples]) {
  const bool climbs = hmk_ladder_climbs(&windows);
  const std::uint32_t cold = climbs ? 1 : 0, hot = climbs ? 4 : kScans;
  const Kind kind = kind_of(i);
  for (std::uint32_t k = 0; k < kSamples; k++) {
    hmk_sample& s = samples[k];
    s.count = static_cast<__u8>(kind == Kind::kHot ? hot : cold);
    if (kind == Kind::kSplits && k == 0) s.count = kScans;
    if (climbs && (kind == Kind::kHot || kind == Kind::kCold))
      s.count = drawn(s.count, kSamples * i + k);
  }
}

hmk_region region(const hmk_ladder& windows, std::uint32_t i) {
  const bool climbs = hmk_ladder_climbs(&windows), is_hot = kind_of(i) == Kind::kHot;
  hmk_region r{};
  r.start = i * HMK_CORE_BASE_REGION;
  r.end = r.start + HMK_CORE_BASE_REGION;
  r.quota = kSamples;
  r.whi_q16 = (climbs ? (is_hot ? 4u : 1u) : (is_hot ? kScans : 0u)) << 16;
  r.hi_q16 = r.prev_hi_q16 = r.whi_q16;
  r.trust = 6 * 16;
  r.rung = climbs && is_hot ? 2 : 0;
  r.generation = 1;
  r.resident_pages = 512;
  r.leaf_shift = HMK_CORE_PAGE_SHIFT;
  r.age = 9;
  return r;
}

}  // namespace

hmk_ladder windows(bool is_ladder) {
  constexpr std::uint64_t kSpanNs = kIntervalNs / 16 * 15;
  hmk_ladder made;
  if (is_ladder)
    hmk_ladder_make(&made, kSpanNs, kScans);
  else
    hmk_ladder_make_equal(&made, kSpanNs / kScans, kScans);
  return made;
}

Interval interval(const hmk_ladder& windows, std::uint32_t nr, unsigned watched_percent) {
  Interval made;
  made.regions.reserve(nr);
  made.samples.reserve(nr * std::size_t{kSamples});
  for (std::uint32_t i = 0; i < nr; i++) {
    hmk_sample samples[kSamples] = {};
    made.regions.push_back(region(windows, i));
    if (i >= std::uint64_t{nr} * watched_percent / 100) {
      hmk_region_set(&made.regions.back(), HMK_REGION_STALE);
      continue;
    }
    count(windows, i, samples);
    for (std::uint32_t k = 0; k < kSamples; k++) {
      samples[k].addr = made.regions.back().start + k * (HMK_CORE_BASE_REGION / kSamples);
      made.samples.push_back(samples[k]);
    }
  }
  return made;
}

}  // namespace hmk::bench
