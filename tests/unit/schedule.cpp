// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <hmk/core/budget.h>
#include <hmk/core/schedule.h>

#include <algorithm>
#include <vector>

namespace {

constexpr __u64 kMs = 1'000'000, kUs = 1'000;
constexpr __u64 kInterval = 1'000 * kMs, kSpan = kInterval / 16 * 15;

/// Plays an interval: what is cleared and read costs time, waits end a little late.
class Interval {
 public:
  explicit Interval(__u32 visit_ns = 500, __u64 oversleeps_ns = 5 * kUs)
      : oversleeps_ns_(oversleeps_ns) {
    hmk_ladder_make(&ladder_, kSpan, 3);
    s_.ladder = &ladder_;
    s_.end_ns = kSpan;
    s_.flush_ns = 10 * kUs;
    std::ranges::fill(s_.visit_ns, visit_ns);
  }

  struct Seen {
    __u32 rung, nr;
    std::vector<__u64> first, last;  // window of its first and of its last sample, by read
    bool late = false;
    __u64 began = 0;
  };

  hmk_ladder ladder_{};
  hmk_schedule s_{};
  __u64 now_ = 0;

  std::vector<Seen> play() {
    std::vector<Seen> seen;
    std::vector<std::size_t> open;
    for (int steps = 0; steps < 1'000'000; ++steps) {
      const hmk_step step = hmk_schedule_next(&s_, now_);
      if (step.kind == HMK_STEP_END) return seen;
      if (step.kind == HMK_STEP_WAIT) {
        EXPECT_GT(step.at_ns, now_);
        now_ = step.at_ns + oversleeps_ns_;
      } else if (step.kind == HMK_STEP_OPEN) {
        EXPECT_LE(step.nr, s_.left[step.rung]);
        const __u64 began = now_;
        now_ += std::uint64_t{step.nr} * s_.visit_ns[step.rung] + s_.flush_ns;
        hmk_schedule_opened(&s_, step.rung, step.nr, began, now_);
        open.push_back(seen.size());
        seen.push_back({step.rung, step.nr, {}, {}, false, began});
      } else {
        const hmk_group group = *hmk_schedule_innermost(&s_);
        Seen& one = seen[open.back()];
        EXPECT_EQ(one.rung, group.rung) << "the innermost is the one opened last";
        one.first.push_back(now_ - group.flushed_ns);
        now_ += std::uint64_t{group.nr} * s_.visit_ns[group.rung];
        one.last.push_back(now_ - group.flushed_ns);
        const __u32 depth = s_.depth;
        one.late = hmk_schedule_read(&s_, now_) != 0;
        if (s_.depth < depth) open.pop_back();
      }
    }
    ADD_FAILURE() << "never ends";
    return seen;
  }

 private:
  __u64 oversleeps_ns_;
};

__u32 watched(const std::vector<Interval::Seen>& seen, __u32 rung) {
  __u32 sum = 0;
  for (const auto& group : seen)
    if (group.rung == rung && !group.late) sum += group.nr;
  return sum;
}

}  // namespace

TEST(Schedule, NothingToWatchEndsAtOnce) {
  Interval interval;
  EXPECT_EQ(hmk_schedule_next(&interval.s_, 0).kind, HMK_STEP_END);
}

TEST(Schedule, AGroupIsReadAfterEachOfItsWindowsTheShortestFirst) {
  Interval interval;
  interval.s_.left[1] = 10;
  const auto seen = interval.play();
  ASSERT_EQ(seen.size(), 1u);
  ASSERT_EQ(seen[0].first.size(), 3u);
  for (unsigned read = 0; read < 3; ++read) {
    const __u64 window = interval.ladder_.window_ns[1 + 2 - read];
    EXPECT_NEAR(static_cast<double>(seen[0].first[read]), static_cast<double>(window), 10e3);
  }
}

// A virtual machine stood still during a flush: what seems to take longer than any window is not
// done, so not measured, and must be forgotten.
TEST(Schedule, WhatSeemsTooDearIsTriedAgainWhenItHasBeenForgotten) {
  Interval blind;
  const __u32 top = hmk_ladder_top(&blind.ladder_);
  __u64 flush_ns = 10 * kSpan;
  unsigned intervals = 0;
  for (bool is_seen = false; !is_seen && intervals < 100; ++intervals) {
    Interval interval;
    interval.s_.flush_ns = flush_ns;
    for (__u32 rung = 0; rung <= top; ++rung) interval.s_.left[rung] = 1;
    is_seen = !interval.play().empty();
    EXPECT_FALSE(is_seen && intervals == 0);
    flush_ns = hmk_budget_forget(flush_ns);
  }
  EXPECT_LE(intervals, 12u) << "10 spans fall below one after 9";
}

TEST(Schedule, RungZeroEndsWithTheIntervalHoweverLateItBegan) {
  Interval interval;
  interval.s_.left[0] = 100;
  interval.now_ = kSpan / 4;
  const auto seen = interval.play();
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_NEAR(static_cast<double>(interval.now_), static_cast<double>(kSpan), 100e3);
  interval.s_.left[0] = 1;
  EXPECT_EQ(hmk_schedule_next(&interval.s_, kSpan / 4 * 3).kind, HMK_STEP_END)
      << "less than half of its window is left";
}

TEST(Schedule, NoWindowIsStretchedByTheOthers) {
  Interval interval;
  const __u32 top = hmk_ladder_top(&interval.ladder_);
  for (__u32 rung = 0; rung <= top; ++rung) interval.s_.left[rung] = 3'000;
  for (const auto& group : interval.play()) {
    EXPECT_FALSE(group.late);
    ASSERT_EQ(group.first.size(), 3u);
    for (unsigned read = 0; read < 3; ++read) {
      const auto window = static_cast<double>(interval.ladder_.window_ns[group.rung + 2 - read]);
      const double least = group.rung == 0 && read == 2 ? 0.5 : 0.45;
      EXPECT_GE(static_cast<double>(group.first[read]), least * window);
      EXPECT_LE(static_cast<double>(group.last[read]), 1.6 * window);
    }
  }
}

TEST(Schedule, AllRungsHaveTheirTurnWhereTimeAllows) {
  Interval interval;
  const __u32 top = hmk_ladder_top(&interval.ladder_);
  for (__u32 rung = 0; rung <= top; ++rung) interval.s_.left[rung] = 2'000;
  const auto seen = interval.play();
  for (__u32 rung = 0; rung <= top; ++rung) EXPECT_EQ(watched(seen, rung), 2'000u) << rung;
}

TEST(Schedule, ARungAloneFillsTheInterval) {
  for (__u32 rung = 1; rung <= 2; ++rung) {
    Interval interval;
    interval.s_.left[rung] = 1'000'000;
    const __u32 nr = watched(interval.play(), rung);
    // A group is as large as its shortest window is long, and lasts 64 of these and two passes.
    const double most = static_cast<double>(kSpan) / (66.0 * interval.s_.visit_ns[0]);
    EXPECT_GT(nr, 0.8 * most) << rung;
    EXPECT_EQ(interval.s_.left[rung], 1'000'000 - nr) << "the others wait for the next interval";
  }
}

TEST(Schedule, PartsOfARungBeginEvenlyOverTheInterval) {
  Interval interval;
  interval.s_.left[0] = 100;
  interval.s_.left[2] = 163;
  hmk_schedule_deal(&interval.s_, 0, 8);
  std::vector<Interval::Seen> parts;
  for (const auto& group : interval.play())
    if (group.rung == 2) parts.push_back(group);
  ASSERT_EQ(parts.size(), 8u);
  for (__u64 i = 0; i < 8; ++i) {
    EXPECT_EQ(parts[i].nr, i < 3 ? 21u : 20u);
    EXPECT_GE(parts[i].began, kSpan / 8 * i);
    // At the latest when a read of rung 0, that it would have stretched, is over.
    EXPECT_LE(parts[i].began, kSpan / 8 * i + 2 * interval.ladder_.window_ns[2]);
    EXPECT_FALSE(parts[i].late);
  }
}

// Windows of halves: the last gap of rung 0 is as long as the longest window of rung 1.
TEST(Schedule, RungOneIsWatchedBesideRungZeroWhateverTheRatio) {
  for (__u32 scans = 1; scans < 13; ++scans) {
    Interval interval;
    hmk_ladder_make(&interval.ladder_, kSpan, scans);
    if (!hmk_ladder_top(&interval.ladder_)) continue;
    interval.s_.left[0] = interval.s_.left[1] = 100;
    const auto seen = interval.play();
    EXPECT_EQ(watched(seen, 0), 100u) << scans;
    EXPECT_EQ(watched(seen, 1), 100u) << scans;
  }
}

TEST(Schedule, AsManyPartsAsTimeAndBudgetAndSamplesAllow) {
  const auto parts = [](__u32 rung, __u32 samples, __u32 most) {
    Interval interval;
    interval.s_.left[rung] = samples;
    hmk_schedule_deal(&interval.s_, 0, most);
    return interval.s_.parts[rung];
  };
  EXPECT_EQ(parts(0, 1000, 64), 0u) << "the windows of rung 0 are the interval's";
  EXPECT_EQ(parts(1, 1000, 64), 5u) << "of an eighth of the interval each, and a quarter is left";
  EXPECT_EQ(parts(2, 1000, 64), 44u);
  EXPECT_EQ(parts(2, 1000, 3), 3u);
  EXPECT_EQ(parts(2, 1000, 0), 1u);
  EXPECT_EQ(parts(2, 16, 64), 2u);
  EXPECT_EQ(parts(2, 15, 64), 1u);
}

TEST(Schedule, ClearingAGroupTakesNoLongerThanItsShortestWindow) {
  Interval interval(5'000);
  const __u32 top = hmk_ladder_top(&interval.ladder_);
  for (__u32 rung = 0; rung <= top; ++rung) interval.s_.left[rung] = 100'000;
  for (const auto& group : interval.play())
    EXPECT_LE(group.nr * 5'000ull + 10 * kUs, interval.ladder_.window_ns[group.rung + 2]);
}

TEST(Schedule, AGroupThatIsReadTooLateIsClosedAndToldSo) {
  Interval interval;
  const __u32 top = hmk_ladder_top(&interval.ladder_);
  const __u64 shortest = interval.ladder_.window_ns[top + 2];
  interval.s_.left[top] = 1;
  hmk_schedule_opened(&interval.s_, top, 1, 0, 0);
  EXPECT_EQ(hmk_schedule_read(&interval.s_, 2 * shortest + 1), 1);
  EXPECT_EQ(interval.s_.depth, 0u);
  interval.s_.left[top] = 1;
  hmk_schedule_opened(&interval.s_, top, 1, 0, 0);
  EXPECT_EQ(hmk_schedule_read(&interval.s_, 2 * shortest), 0);
  EXPECT_EQ(interval.s_.depth, 1u);
}

TEST(Schedule, AFlushLongerThanAWindowLeavesOneSampleAGroup) {
  Interval interval;
  const __u32 top = hmk_ladder_top(&interval.ladder_);
  interval.s_.flush_ns = 10 * kMs;
  interval.s_.left[top] = 5;
  const hmk_step step = hmk_schedule_next(&interval.s_, 0);
  EXPECT_EQ(step.kind, HMK_STEP_OPEN);
  EXPECT_EQ(step.nr, 1u);
}

TEST(Schedule, OwedAreTheReadsOfOpenGroups) {
  Interval interval;
  interval.s_.left[0] = 7;
  interval.s_.left[1] = 5;
  interval.s_.visit_ns[0] = 100;
  interval.s_.visit_ns[1] = 30;
  hmk_schedule_opened(&interval.s_, 0, 7, 0, 0);
  hmk_schedule_opened(&interval.s_, 1, 5, 0, 0);
  EXPECT_EQ(hmk_schedule_owed_ns(&interval.s_), 7u * 3 * 100 + 5 * 3 * 30);
  hmk_schedule_read(&interval.s_, 0);
  EXPECT_EQ(hmk_schedule_owed_ns(&interval.s_), 7u * 3 * 100 + 5 * 2 * 30);
}

TEST(Schedule, WhatIsDearToLookAtIsWatchedInSmallerGroups) {
  Interval interval;
  const __u64 window = interval.ladder_.window_ns[interval.ladder_.num_scans];
  interval.s_.left[1] = interval.s_.left[0] = 1'000'000;
  interval.s_.visit_ns[1] = static_cast<__u32>((window - interval.s_.flush_ns) / 7);
  std::uint32_t most = 0;
  for (const Interval::Seen& group : interval.play())
    if (group.rung == 1) most = std::max(most, group.nr);
  EXPECT_EQ(most, 7u) << "so many are cleared within the shortest window of that rung";
}
