// SPDX-License-Identifier: MIT
#include "progress.hpp"

#include <gtest/gtest.h>

using namespace hmkctl;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

constexpr std::uint64_t kMiB = 1 << 20;

/// 6 of 8 hot MiB in the slow tier, room for `room` in the fast one, 2 MiB promoted in the last
/// interval.
json target(std::uint64_t room = 8) {
  return {
      {"mode", "manage"},
      {"tiers",
       {{{"hot_bytes", 2 * kMiB}, {"resident_bytes", 3 * kMiB}, {"free_bytes", (room - 3) * kMiB}},
        {{"hot_bytes", 6 * kMiB}, {"resident_bytes", 60 * kMiB}, {"free_bytes", 0}}}},
      {"last_interval",
       {{"planned_promote_bytes", 3 * kMiB},
        {"planned_demote_bytes", 1 * kMiB},
        {"promoted_bytes", 2 * kMiB},
        {"demoted_bytes", 0},
        {"moving", true},
        {"moved_since_bytes", kMiB}}}};
}

TEST(Progress, TellsPlanAndTimeToRest) {
  const Progress progress = progress_of(target(), 10s);
  EXPECT_EQ(progress.rest, 30s);
  EXPECT_EQ(
      progress.text,
      "in flight: 1.0MiB of 4.0MiB planned moved; 6.0MiB hot in slow tiers; about 30.0s to rest "
      "at this pace");
}

TEST(Progress, TellsNoTimeWhereTheFirstTierIsTooSmallForAllThatIsHot) {
  EXPECT_TRUE(progress_of(target(8), 10s).rest) << "just enough";
  const Progress progress = progress_of(target(7), 10s);
  EXPECT_FALSE(progress.rest);
  EXPECT_NE(progress.text.find("; tier 1 has room for 7.0MiB of 8.0MiB hot"), std::string::npos);
}

TEST(Progress, TellsNoTimeWithoutAPace) {
  json slow = target();
  slow["last_interval"]["promoted_bytes"] = 0;
  const Progress progress = progress_of(slow, 10s);
  EXPECT_FALSE(progress.rest);
  EXPECT_NE(progress.text.find("time to rest not known, for nothing was promoted"),
            std::string::npos);
}

TEST(Progress, RestsWhenNothingIsPlannedOrMoved) {
  json still = target();
  still["last_interval"] = {{"moving", false}, {"promoted_bytes", 0}};
  EXPECT_EQ(progress_of(still, 10s).rest, 0s);
  EXPECT_EQ(progress_of(still, 10s).text, "at rest: nothing is planned; 6.0MiB hot in slow tiers");
  still["last_interval"]["moving"] = true;
  EXPECT_NE(progress_of(still, 10s).rest, 0s);
}

TEST(Progress, IsNoneWhereNothingMoves) {
  json watched = target();
  watched["mode"] = "track-only";
  EXPECT_EQ(progress_of(watched, 10s).text, "none in mode track-only; 6.0MiB hot in slow tiers");
  watched["last_interval"] = json();
  EXPECT_EQ(progress_of(watched, 10s).text, "not known before the first interval");
}

}  // namespace
