// SPDX-License-Identifier: MIT
#include "metrics/timeline.hpp"

#include <gtest/gtest.h>

namespace hmk {
namespace {

Moment moment(std::uint64_t number) {
  return {.start_ns = 10 * number,
          .end_ns = 10 * number + 10,
          .is_managed = number == 3,
          .profile_ns = 1,
          .promoted_bytes = number,
          .planned_bytes = 2 * number,
          .accesses = {{0, 2.0}, {number % 2 == 0 ? 1 : 2, 1.0}},
          .resident_bytes = {{0, number}}};
}

TEST(Timeline, KeepsEachIntervalWhileThereIsRoom) {
  Timeline timeline;
  for (std::uint64_t i = 0; i < 5; ++i) timeline.add(moment(i));
  const auto all = timeline.moments();
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(all[3].start_ns, 30u);
  EXPECT_TRUE(all[3].is_managed);
  EXPECT_FALSE(all[4].is_managed);
}

TEST(Timeline, NeverHoldsMoreThanItsBound) {
  Timeline timeline;
  for (std::uint64_t i = 0; i < 10'001; ++i) {
    timeline.add({.start_ns = 10 * i, .end_ns = 10 * i + 10});
    ASSERT_LE(timeline.moments().size(), Timeline::kMoments);
  }
}

TEST(Timeline, LosesNothingHoweverLongItRuns) {
  Timeline timeline;
  constexpr std::uint64_t kMany = 10'001;
  std::uint64_t promoted = 0;
  for (std::uint64_t i = 0; i < kMany; ++i) {
    timeline.add(moment(i));
    promoted += i;
  }
  const auto all = timeline.moments();
  EXPECT_GE(all.size(), Timeline::kMoments / 2);
  std::uint64_t at = 0;
  Moment sum;
  sum.intervals = 0;
  for (const Moment& one : all) {
    EXPECT_EQ(one.start_ns, at) << "without a gap";
    at = one.end_ns;
    sum.intervals += one.intervals;
    sum.profile_ns += one.profile_ns;
    sum.promoted_bytes += one.promoted_bytes;
    sum.planned_bytes += one.planned_bytes;
    for (const auto& [node, accesses] : one.accesses) sum.accesses[node] += accesses;
  }
  EXPECT_EQ(at, 10 * kMany);
  EXPECT_EQ(sum.intervals, kMany);
  EXPECT_EQ(sum.profile_ns, kMany);
  EXPECT_EQ(sum.promoted_bytes, promoted);
  EXPECT_EQ(sum.planned_bytes, 2 * promoted);
  EXPECT_EQ(sum.accesses[0], 2.0 * kMany);
  EXPECT_EQ(sum.accesses[1] + sum.accesses[2], 1.0 * kMany);
  EXPECT_TRUE(all[0].is_managed) << "one of them was";
  EXPECT_EQ(all.back().resident_bytes.at(0), kMany - 1) << "of the last";
}

TEST(Timeline, AccessesGoWhereThePagesLie) {
  Snapshot snapshot;
  hmk_record record{};
  record.whi_q16 = 1;
  record.rate_q8 = 3 * 256;  // 8 a second and page
  record.leaf_shift = 12;
  record.resident_pages = 10;
  record.away_pages = 4;
  record.node = 0;
  record.away_node = 2;
  snapshot.records.push_back(record);
  record.whi_q16 = 0;  // never seen accessed
  snapshot.records.push_back(record);
  EXPECT_EQ(accesses_by_node(snapshot.records), (std::map<int, double>{{0, 48.0}, {2, 32.0}}));
  EXPECT_EQ(resident_by_node(snapshot.records),
            (std::map<int, std::uint64_t>{{0, 12 * HMK_PAGE_SIZE}, {2, 8 * HMK_PAGE_SIZE}}));
  record.whi_q16 = 1;
  record.node = -1;  // unknown
  record.away_node = 1023;
  record.leaf_shift = 21;
  snapshot.records.push_back(record);
  EXPECT_EQ(accesses_by_node(snapshot.records),
            (std::map<int, double>{{-1, 48.0 / 512}, {0, 48.0}, {2, 32.0}, {1023, 32.0 / 512}}));
  EXPECT_EQ(resident_by_node(snapshot.records)[1023], 4 * HMK_PAGE_SIZE);
}

}  // namespace
}  // namespace hmk
