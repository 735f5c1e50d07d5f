// SPDX-License-Identifier: MIT
#include "outlook.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "verdict_text.hpp"

namespace hmkctl {
namespace {

constexpr std::uint64_t kPages = 4096;  // bytes of one

/// `pages` at page number `at`, each accessed `rate` times per second.
SeenRegion region(std::uint64_t at, std::uint64_t pages, double rate, int tier) {
  return {.start = at * kPages,
          .length = pages * kPages,
          .bytes = pages * kPages,
          .tier = tier,
          .rate = rate};
}

/// Two tiers of 100 and 200 ns; `fast` pages of the first are free.
Seen seen(std::vector<SeenInterval> intervals, std::uint64_t fast_free) {
  return {.intervals = std::move(intervals),
          .tiers = {{100, fast_free * kPages}, {200, 1'000'000 * kPages}}};
}

/// 5 % of the accesses are to tier 1, where the hottest third would serve 55 %.
Seen with_gain() {
  return seen({{region(0, 100, 5, 0), region(100, 100, 55, 1), region(200, 100, 40, 1)}}, 0);
}

/// `now` % of the accesses are to the half of the memory that is in tier 1.
Seen by_half(double now) {
  return seen({{region(0, 100, now, 0), region(100, 100, 100 - now, 1)}}, 0);
}

TEST(Outlook, TellsWhatTodaysAndTheBestPlacementServe) {
  Seen process = seen({{region(0, 100, 1, 0), region(100, 100, 9, 1)}}, 0);
  process.cpu_ns_per_s = 1e9;
  const Outlook out = look_ahead(process);
  EXPECT_EQ(out.verdict, Verdict::gain);
  EXPECT_DOUBLE_EQ(out.tiers[0].now, 0.1);
  EXPECT_DOUBLE_EQ(out.tiers[0].best, 0.9);
  EXPECT_DOUBLE_EQ(out.tiers[1].now, 0.9);
  EXPECT_NEAR(out.tiers[1].best, 0.1, 1e-12);
  EXPECT_EQ(out.tiers[0].room_bytes, 100 * kPages);
  EXPECT_DOUBLE_EQ(*out.latency_now_ns, 190);
  EXPECT_NEAR(*out.latency_best_ns, 110, 1e-9);
  EXPECT_NEAR(*out.saved_ns_per_s, 1000 * 16 * 80, 1e-3) << "1000 visits a second, 16 misses each";
}

TEST(Outlook, CountsPagesThatLieAwayWhereTheyLie) {
  SeenRegion mixed = region(0, 100, 1, 1);
  mixed.away_bytes = 25 * kPages;
  mixed.away_tier = 0;
  const Outlook out = look_ahead(seen({{mixed}}, 0));
  EXPECT_DOUBLE_EQ(out.tiers[0].now, 0.25);
  EXPECT_EQ(out.tiers[0].resident_bytes, 25 * kPages);
}

TEST(Outlook, SavesNoMoreTimeThanTheProcessRuns) {
  EXPECT_FALSE(look_ahead(with_gain()).saved_ns_per_s) << "how long it runs is not known";
  Seen busy = seen({{region(0, 100, 1000, 0), region(100, 100, 9000, 1)}}, 0);
  busy.cpu_ns_per_s = 1e6;
  EXPECT_NEAR(*look_ahead(busy).saved_ns_per_s, 1e6 * (1 - 110.0 / 190), 1e-3);
}

TEST(Outlook, KnowsNoTimesWithoutALatencyOfEachTier) {
  Seen unknown = seen({{region(0, 100, 1, 0), region(100, 100, 9, 1)}}, 0);
  unknown.tiers[1].latency_ns = 0;
  const Outlook out = look_ahead(unknown);
  EXPECT_EQ(out.verdict, Verdict::gain);
  EXPECT_FALSE(out.latency_now_ns || out.latency_best_ns || out.saved_ns_per_s);
}

TEST(OutlookVerdict, GainBeginsAtFivePercentOfAllAccesses) {
  EXPECT_EQ(look_ahead(by_half(47.5)).verdict, Verdict::gain) << "52.5 - 47.5 is 5";
  EXPECT_EQ(look_ahead(by_half(47.501)).verdict, Verdict::alike);
}

TEST(OutlookVerdict, WhatIsSkewedAndServedIsPlaced) {
  EXPECT_EQ(look_ahead(by_half(60)).verdict, Verdict::placed) << "10 points above half";
  EXPECT_EQ(look_ahead(by_half(59.999)).verdict, Verdict::alike);
}

TEST(OutlookVerdict, FitsWhenOnePercentAtMostIsElsewhere) {
  EXPECT_EQ(look_ahead(seen({{region(0, 99, 1, 0), region(99, 1, 9, 1)}}, 0)).verdict,
            Verdict::fits);
  EXPECT_NE(look_ahead(seen({{region(0, 98, 1, 0), region(98, 1, 9, 1)}}, 0)).verdict,
            Verdict::fits);
}

TEST(OutlookVerdict, AllInSlowMemoryAndRoomInTheFastOneIsAGain) {
  const Outlook out = look_ahead(seen({{region(0, 100, 1, 1)}}, 100));
  EXPECT_EQ(out.verdict, Verdict::gain);
  EXPECT_DOUBLE_EQ(out.tiers[0].best, 1);
}

TEST(OutlookVerdict, EquallyWarmHugePagesHideWhatIsHotInThem) {
  const auto huge = [](std::uint64_t pages) {
    SeenRegion in_huge = region(0, pages, 1, 0);
    in_huge.leaf_bytes = 2 << 20;
    return seen({{in_huge, region(pages, 1000 - pages, 1, 1)}}, 0);
  };
  EXPECT_EQ(look_ahead(huge(500)).verdict, Verdict::huge_pages);
  EXPECT_EQ(look_ahead(huge(499)).verdict, Verdict::alike);
}

/// In the first interval 100 pages of tier 2 are hot; in the second `still` % of the accesses go to
/// them and the rest to 100 others.
Outlook that_moves_on(double still) {
  return look_ahead(
      seen({{region(0, 100, 0, 0), region(100, 100, 1, 1), region(200, 100, 0, 1)},
            {region(0, 100, 0, 0), region(100, 100, still, 1), region(200, 100, 100 - still, 1)}},
           0));
}

TEST(OutlookVerdict, StreamsWhenLessThanHalfOfTheGainIsStillThereAnIntervalLater) {
  EXPECT_NEAR(*that_moves_on(30).kept, 30.0 / 70, 1e-9);
  EXPECT_EQ(that_moves_on(30).verdict, Verdict::streams);
  const double third = 100.0 / 3;  // of 2/3 that the best serves: exactly half
  EXPECT_EQ(that_moves_on(third).verdict, Verdict::gain);
  EXPECT_EQ(that_moves_on(third - 0.01).verdict, Verdict::streams);
  EXPECT_EQ(that_moves_on(100).verdict, Verdict::gain);
}

TEST(OutlookVerdict, OneIntervalCannotShowAStream) {
  const Outlook out = look_ahead(with_gain());
  EXPECT_FALSE(out.kept);
  EXPECT_EQ(out.verdict, Verdict::gain);
}

TEST(OutlookVerdict, NothingAccessedIsIdle) {
  EXPECT_EQ(look_ahead(seen({{region(0, 100, 0, 1)}}, 100)).verdict, Verdict::idle);
  EXPECT_EQ(look_ahead(seen({{}}, 100)).verdict, Verdict::idle);
}

TEST(OutlookVerdict, MoreThanHalfOfItUnmeasuredIsUnknown) {
  Seen partly = by_half(60);
  partly.resident_bytes = 400 * kPages;
  EXPECT_EQ(look_ahead(partly).verdict, Verdict::placed);
  partly.resident_bytes += 1;
  EXPECT_EQ(look_ahead(partly).verdict, Verdict::unmeasured);
  Seen gain = with_gain();
  gain.resident_bytes = 10'000 * kPages;
  EXPECT_EQ(look_ahead(gain).verdict, Verdict::gain) << "what is measured can gain all the same";
}

TEST(OutlookVerdict, OneTierIsSaidFirst) {
  Seen one = with_gain();
  one.tiers.resize(1);
  EXPECT_EQ(look_ahead(one).verdict, Verdict::one_tier);
}

TEST(VerdictText, EveryVerdictHasANameAndWords) {
  Outlook out = look_ahead(with_gain());
  std::vector<std::string> names, words;
  for (int v = 0; v <= static_cast<int>(Verdict::virtual_machine); ++v) {
    out.verdict = static_cast<Verdict>(v);
    EXPECT_FALSE(verdict_text(out).empty()) << v;
    EXPECT_EQ(std::ranges::count(names, verdict_name(out.verdict)), 0) << v;
    EXPECT_EQ(std::ranges::count(words, verdict_text(out)), 0) << v;
    names.emplace_back(verdict_name(out.verdict));
    words.push_back(verdict_text(out));
  }
  ASSERT_FALSE(names.empty());
  EXPECT_EQ(names.back(), "virtual-machine");
}

TEST(VerdictText, NearlyAllIsNotAll) {
  EXPECT_EQ(percent_text(0.9997), "100.0 %");
  EXPECT_EQ(percent_text(0.995), "99.5 %");
  EXPECT_EQ(percent_text(1), "100 %");
  EXPECT_EQ(percent_text(0.002), "0.2 %");
  EXPECT_EQ(percent_text(0), "0 %");
  EXPECT_EQ(percent_text(0.414), "41 %");
}

}  // namespace
}  // namespace hmkctl
