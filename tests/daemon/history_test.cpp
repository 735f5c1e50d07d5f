// SPDX-License-Identifier: MIT
#include "metrics/history.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "device/features.hpp"
#include "fake_device.hpp"

namespace hmk {
namespace {

Snapshot interval(std::uint64_t seq,
                  const std::vector<std::pair<std::uint64_t, std::uint64_t>>& regions) {
  Snapshot snapshot;
  snapshot.interval.seq = seq;
  for (const auto& [start, length] : regions) {
    hmk_record record{};
    record.start = start;
    record.length = length;
    snapshot.records.push_back(record);
  }
  return snapshot;
}

policy::Plan promote(std::uint64_t start, std::uint64_t length) {
  policy::Plan plan;
  policy::Move move;
  move.start = start;
  move.length = length;
  plan.promotions = {move};
  return plan;
}

TEST(History, FollowsAnAddressThroughRegionsThatChange) {
  History history;
  history.saw(interval(1, {{0x1000, 0x4000}, {0x8000, 0x1000}}));
  history.saw(interval(2, {{0x1000, 0x1000}, {0x2000, 0x3000}}));
  history.saw(interval(3, {}));
  const auto seen = history.sightings(0x2000);
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].start, 0x1000u);
  EXPECT_EQ(seen[1].start, 0x2000u);
  EXPECT_TRUE(history.sightings(0x5000).empty()) << "the end of a region is not in it";
  EXPECT_TRUE(history.sightings(0xfff).empty());
}

TEST(History, KeepsTheNewestIntervalsWithinItsBounds) {
  History history;
  for (std::uint64_t seq = 1; seq <= History::kIntervals + 5; ++seq)
    history.saw(interval(seq, {{0, 0x1000}}));
  EXPECT_EQ(history.sightings(0).size(), History::kIntervals);
  EXPECT_EQ(history.sightings(0).front().seq, 6u);

  Snapshot large = interval(100, {});
  for (std::uint64_t i = 0; i < History::kSightings; ++i) {
    hmk_record record{};
    record.start = i * 0x1000;
    record.length = 0x1000;
    large.records.push_back(record);
  }
  history.saw(large);
  ASSERT_EQ(history.sightings(0).size(), 1u) << "older ones give way to a large one";
  EXPECT_EQ(history.sightings(0)[0].seq, 100u);
}

TEST(History, TellsHowADecisionEnded) {
  History history;
  const policy::Plan plan = promote(0x1000, 0x2000);
  history.decided(1, plan);
  EXPECT_EQ(outcome_text(history.decisions(0x1000, 0x1001).at(0)), "not moved");
  history.decided(2, plan);
  history.ended(plan.promotions[0], test::all_clean({0x1000, 0x2000, 0, 0, 0}));
  const auto all = history.decisions(0x2fff, 0x3000);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(outcome_text(all[0]), "not moved") << "the newest of two alike has ended";
  EXPECT_EQ(outcome_text(all[1]), "moved");
  EXPECT_EQ(action_name(all[1]), "promote");
  EXPECT_TRUE(history.decisions(0x3000, 0x4000).empty());
  EXPECT_TRUE(history.decisions(0, 0x1000).empty());
}

TEST(History, APieceIsOfTheNewestPlanThatHoldsIt) {
  History history;
  history.decided(1, promote(0, 0x4000));
  history.decided(2, promote(0x2000, 0x1000));
  history.decided(3, promote(0x8000, 0x1000));
  for (const std::uint64_t start : {0x2000, 0x3000, 0x7000, 0x9000})
    history.ended(promote(start, 0x1000).promotions[0], test::all_clean({start, 0x1000, 0, 0, 0}));
  const auto all = history.decisions(0, 0x10000);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].result.pages_clean, 1u) << "0x3000";
  EXPECT_EQ(all[1].result.pages_clean, 1u) << "0x2000";
  EXPECT_FALSE(all[2].has_ended) << "nobody planned the other two";
}

TEST(History, TellsTheClassesOfARangeApart) {
  History history;
  policy::Plan plan = promote(0x1000, 0x2000);
  plan.promotions.push_back(plan.promotions[0]);
  plan.promotions[0].page_class = 7;
  plan.promotions[1].page_class = 6;
  history.decided(1, plan);
  history.ended(plan.promotions[0], test::all_clean({0x1000, 0x2000, 0, 0, 0}));
  const auto all = history.decisions(0x1000, 0x2000);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_TRUE(all[0].has_ended);
  EXPECT_FALSE(all[1].has_ended);
}

TEST(History, NamesWhatRefused) {
  Decision decision;
  decision.has_ended = true;
  EXPECT_EQ(outcome_text(decision), "nothing to move");
  decision.result = test::all_pinned({0, 0x2000, 0, 0, 0});
  EXPECT_EQ(outcome_text(decision), "refused: pinned");
  decision.result.error = -EACCES;
  EXPECT_EQ(outcome_text(decision), "refused: Permission denied");
}

TEST(History, ForgetsTheOldestDecisions) {
  History history;
  for (std::uint64_t seq = 0; seq <= History::kDecisions; ++seq)
    history.decided(seq, promote(seq * 0x1000, 0x1000));
  EXPECT_TRUE(history.decisions(0, 0x1000).empty());
  EXPECT_EQ(history.decisions(0x1000, 0x2000).size(), 1u);
  for (const std::uint64_t start : {0x0000, 0x1000})
    history.ended(promote(start, 0x1000).promotions[0], test::all_clean({start, 0x1000, 0, 0, 0}));
  EXPECT_TRUE(history.decisions(0x1000, 0x2000).at(0).has_ended) << "of what is forgotten none";
}

TEST(Features, EachThatIsOffHasAReason) {
  hmk_info info{};
  info.features = 1ull << HMK_FEAT_SCAN;
  info.why[HMK_FEAT_MOVE_OWN] = HMK_WHY_SYMBOL;
  info.why[HMK_FEAT_YOUNG] = HMK_WHY_NOT_YET;
  EXPECT_EQ(why_off(info, HMK_FEAT_SCAN), "");
  EXPECT_EQ(why_off(info, HMK_FEAT_MOVE_OWN), "a kernel function was not found");
  EXPECT_EQ(why_off(info, HMK_FEAT_YOUNG), "not in this version of the module");
  for (const std::string_view name : kFeatureNames) EXPECT_FALSE(name.empty());
  std::fill(std::begin(info.missing), std::end(info.missing), 'x');
  EXPECT_EQ(missing_symbols(info).size(), sizeof(info.missing)) << "no closing zero is needed";
}

}  // namespace
}  // namespace hmk
