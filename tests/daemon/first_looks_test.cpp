// SPDX-License-Identifier: MIT
#include "first_looks.hpp"

#include <hmk/core/hotness.h>
#include <hmk/core/ladder.h>
#include <hmk/core/region.h>

#include "app_fixture.hpp"

namespace hmk {
namespace {

using namespace hmk::test;

constexpr std::uint32_t kWindow = 65536;  // of hotness

hmk_interval of(std::uint64_t seq, std::uint32_t windows, std::uint32_t num_scans) {
  hmk_interval interval{};
  interval.seq = seq;
  interval.hotness_max = windows;
  interval.num_scans = num_scans;
  return interval;
}

/// The most hotness that may be no more than a bound.
std::uint32_t most_open(const hmk_interval& interval, bool is_stale) {
  const FirstLooks looks(interval);
  std::uint32_t most = 0;
  for (std::uint32_t windows = 1; windows <= interval.hotness_max; ++windows) {
    hmk_record record{};
    record.hi_q16 = windows * kWindow;
    record.flags = is_stale ? HMK_RECORD_STALE : 0;
    if (looks.leave_open(record)) most = record.hi_q16;
  }
  return most;
}

TEST(FirstLooks, LeaveOpenWhatTheShortestWindowsOfTheirTurnsCouldMiss) {
  EXPECT_EQ(most_open(of(1, 5, 3), false), 2 * kWindow) << "0.5 s";
  EXPECT_EQ(most_open(of(2, 5, 3), false), 0u);
  EXPECT_EQ(most_open(of(1, 6, 3), false), 3 * kWindow) << "10 s";
  EXPECT_EQ(most_open(of(2, 6, 3), false), 1 * kWindow);
  EXPECT_EQ(most_open(of(3, 6, 3), false), 0u);
  EXPECT_EQ(most_open(of(4, 5, 1), false), 1 * kWindow) << "a window each interval";
  EXPECT_EQ(most_open(of(5, 5, 1), false), 0u);
}

TEST(FirstLooks, LeaveOpenWhatWasNotReadSinceUntilItHasHadItsTurn) {
  EXPECT_EQ(most_open(of(8, 5, 3), true), 2 * kWindow);
  EXPECT_EQ(most_open(of(9, 5, 3), true), 0u);
  EXPECT_EQ(most_open(of(12, 6, 3), true), 3 * kWindow);
  EXPECT_EQ(most_open(of(13, 6, 3), true), 0u);
}

TEST(FirstLooks, EqualWindowsLeaveNothingOpen) {
  for (const bool is_stale : {false, true}) EXPECT_EQ(most_open(of(1, 3, 3), is_stale), 0u);
}

TEST(FirstLooks, WhatWasNotAccessedInTheLongestWindowIsKnown) {
  hmk_record record{};
  record.whi_q16 = kWindow / 3;  // the rest of what it was before
  EXPECT_FALSE(FirstLooks(of(1, 6, 3)).leave_open(record));
}

TEST(FirstLooks, WhatSomeSamplesHaveSeenMoreOfIsKnown) {
  hmk_record record{};
  for (const std::uint32_t hotness : {kWindow - 1, kWindow + 1, 3 * kWindow - kWindow / 32}) {
    record.hi_q16 = hotness;
    EXPECT_FALSE(FirstLooks(of(1, 6, 3)).leave_open(record)) << hotness;
  }
}

/// Whichever windows it begins with: until nothing was seen in the longest, its hotness is a bound.
TEST(FirstLooks, ColdMemoryIsOpenUntilTheModuleKnowsItIsCold) {
  for (std::uint32_t num_scans = 1; num_scans <= 16; ++num_scans)
    for (const std::uint64_t longest_ns : {50'000'000ull, 1'000'000'000ull, 60'000'000'000ull}) {
      hmk_ladder ladder{};
      hmk_ladder_make(&ladder, longest_ns, num_scans);
      for (std::uint32_t rung = 1; rung <= hmk_ladder_top(&ladder); ++rung) {
        hmk_region cold{};
        cold.end = 2 * kMiB;
        cold.quota = 4;
        cold.rung = static_cast<__u8>(rung);
        hmk_region_set(&cold, HMK_REGION_NEW);
        hmk_crowd crowd{};
        hmk_record record{};
        std::uint64_t seq = 0;
        do {
          cold.accesses = static_cast<__u16>(cold.quota * cold.rung);
          cold.count_min = cold.count_max = cold.rung;
          hmk_ladder_judge(&ladder, &crowd, &cold, 1);
          crowd.known = 1;
          record.hi_q16 = cold.hi_q16;
          record.whi_q16 = cold.whi_q16;
          ++seq;
          ASSERT_EQ(FirstLooks(of(seq, ladder.nr, num_scans)).leave_open(record), cold.hi_q16 > 0)
              << num_scans << " scans, " << longest_ns << " ns, rung " << rung << ", interval "
              << seq;
        } while (cold.hi_q16 > 0);
      }
    }
}

class FirstLooksTest : public AppTest {};

TEST_F(FirstLooksTest, WhatMayBeColdStaysUntilMoreIsKnown) {
  config_.mode = Mode::manage;
  config_.is_governed = false;
  start();
  const auto rise = [&](std::uint64_t seq) {
    Snapshot snapshot =
        interval(seq, {region(0, 3, 2.0), region(2 * kMiB, 3, 2.5), region(4 * kMiB, 3, 4.0)});
    snapshot.interval.hotness_max = 5;
    kernel_.publish(std::move(snapshot));
    return finish_all(all_clean);
  };
  EXPECT_EQ(rise(1), (std::vector<std::uint64_t>{2, 4}));
  EXPECT_EQ(rise(2), (std::vector<std::uint64_t>{0, 2, 4})) << "it was accessed after all";
}

}  // namespace
}  // namespace hmk
