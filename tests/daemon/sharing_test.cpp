// SPDX-License-Identifier: MIT
#include "app_fixture.hpp"

namespace hmk {
namespace {

using namespace hmk::test;

class SharingAppTest : public AppTest {
 protected:
  static constexpr int kOther = 4712;

  void SetUp() override {
    AppTest::SetUp();
    test::put_process(tree_, kOther, "batch");
    test::put_node(tree_, {0, "0-1", "10 20 30 40", 262144, 0, 90, 95000});
    config_.attach = {rule_of_pid(kPid), rule_of_pid(kOther)};
    config_.mode = Mode::manage;
    config_.reserve = 0;
  }
  void publish(std::uint64_t seq) {
    kernel_.publish(interval(seq, {region(0, 3, 3.0)}));
    run();
  }
  void publish_other(std::uint64_t seq) {
    others_[kOther].publish(interval(seq, {region(0, 0, 3.0), region(2 * kMiB, 0, 3.0)}));
    run();
  }
};

TEST_F(SharingAppTest, OneTakesOfTheOtherWhatItsWeightGivesIt) {
  start();
  publish(1);
  EXPECT_TRUE(kernel_.tickets.empty()) << "waits to hear of the other";
  publish_other(1);
  ASSERT_EQ(others_[kOther].tickets.size(), 1u);
  ASSERT_EQ(others_[kOther].tickets[0].ranges.size(), 1u);
  EXPECT_EQ(others_[kOther].tickets[0].ranges[0].node, 1);
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  EXPECT_EQ(kernel_.tickets[0].ranges[0].node, 0);
}

TEST_F(SharingAppTest, PagesOfARegionThatLieAwayCountWhereTheyLie) {
  start();
  hmk_record mine = region(0, 3, 3.0), fast = region(0, 0, 3.0), slow = region(2 * kMiB, 3, 3.0);
  mine.leaf_shift = fast.leaf_shift = 12;
  slow.away_pages = 256;  // of its 512
  slow.away_node = 0;
  kernel_.publish(interval(1, {mine}));
  run();
  others_[kOther].publish(interval(1, {fast, slow}));
  run();
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  ASSERT_EQ(kernel_.tickets[0].ranges.size(), 1u);
  EXPECT_EQ(kernel_.tickets[0].ranges[0].node, 0);
  EXPECT_EQ(kernel_.tickets[0].ranges[0].length, kMiB + kMiB / 2) << "half of 3 MiB, not of 2";
}

TEST_F(SharingAppTest, WeightsCapsAndFloorsCountWhileItRuns) {
  start();
  data("set", {{"key", "weights"}, {"value", "batch=9999"}});
  publish(1);
  publish_other(1);
  EXPECT_TRUE(others_[kOther].tickets.empty());
  data("set", {{"key", "weights"}, {"value", "equal"}});
  data("set", {{"key", "floors"}, {"value", "batch/1=4MiB"}});
  publish(2);
  publish_other(2);
  EXPECT_TRUE(others_[kOther].tickets.empty());
  data("set", {{"key", "floors"}, {"value", "none"}});
  data("set", {{"key", "caps"}, {"value", "4711/1=0B"}});
  publish(3);
  publish_other(3);
  EXPECT_TRUE(others_[kOther].tickets.empty());
}

TEST_F(SharingAppTest, AnIntervalCountsOnceHoweverOftenOthersAreDecided) {
  start();
  publish(1);
  publish_other(1);
  for (std::uint64_t seq = 2; seq < 6; ++seq) publish(seq);
  const auto intervals = [&](std::int32_t pid) {
    std::uint64_t sum = 0;
    for (const Moment& moment : app_->find(pid)->timeline().moments()) sum += moment.intervals;
    return sum;
  };
  EXPECT_EQ(intervals(kPid), 4u) << "two of the five were decided as one";
  EXPECT_EQ(intervals(kOther), 1u);
}

TEST_F(SharingAppTest, WhoLagsIsWaitedForOnce) {
  start();
  publish(1);
  publish_other(1);
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  kernel_.finish([](const hmk_range&) { return hmk_range_result{}; });
  run();
  publish(2);
  publish(3);  // its second since: decided without the other
  EXPECT_EQ(target("stats")["planned_promote_bytes"], 4 * kMiB);
}

// Its records still say where its memory was before.
TEST_F(SharingAppTest, WhoLagsIsNotPlannedAnew) {
  start();
  publish(1);
  others_[kOther].publish(interval(1, {region(2 * kMiB, 3, 3.0)}));
  run();
  ASSERT_EQ(others_[kOther].tickets.size(), 1u);
  others_[kOther].finish([](const hmk_range& range) {
    hmk_range_result moved{};
    moved.pages_sync = range.length / HMK_PAGE_SIZE;
    return moved;
  });
  run();
  for (std::uint64_t seq = 2; seq < 6; ++seq) publish(seq);
  EXPECT_TRUE(others_[kOther].tickets.empty());
  EXPECT_EQ(app_->find(kOther)->planned_promote_bytes(), 2 * kMiB);
}

TEST_F(SharingAppTest, WhoLagsMakesRoomForOthers) {
  start();
  kernel_.publish(interval(1, {region(0, 3, 0)}));
  run();
  publish_other(1);
  ASSERT_TRUE(others_[kOther].tickets.empty());
  publish(2);
  publish(3);
  ASSERT_EQ(others_[kOther].tickets.size(), 1u);
  EXPECT_EQ(others_[kOther].tickets[0].ranges[0].node, 1);
  EXPECT_EQ(kernel_.tickets.size(), 1u);
}

/// A thread of it: at any time as many ticks behind it as `ticks` says.
void put_thread(test::Tree& tree, int thread, int cpu, int ticks) {
  std::string stat = std::to_string(thread) + " (t) S";
  for (int field = 4; field <= 52; ++field)
    stat += " " + std::to_string(field == 14 ? ticks : field == 39 ? cpu : 0);
  tree.put("proc/4711/task/" + std::to_string(thread) + "/stat", stat + "\n");
}

/// Two sockets, each with DRAM (0, 1) and slow memory (2, 3) of its own.
class TwoSocketsAppTest : public AppTest {
 protected:
  void SetUp() override {
    AppTest::SetUp();
    constexpr std::uint64_t kTotalKb = 262144, kFreeKb = 131072;
    tree_.remove("sys/devices/system/node");
    tree_.put("sys/devices/system/node/online", "0-3\n");
    test::put_node(tree_, {0, "0", "10 16 31 38", kTotalKb, kFreeKb, 90, 95000, 0});
    test::put_node(tree_, {1, "1", "16 10 38 31", kTotalKb, kFreeKb, 90, 95000, 1});
    test::put_node(tree_, {2, "", "31 38 10 38", kTotalKb, kFreeKb, 275, 35000, 0});
    test::put_node(tree_, {3, "", "38 31 38 10", kTotalKb, kFreeKb, 275, 35000, 1});
    config_.mode = Mode::manage;
  }
  void ran(int on_0, int on_1) {
    put_thread(tree_, kPid, 0, ticks_[0] += on_0);
    put_thread(tree_, kPid + 1, 1, ticks_[1] += on_1);
  }
  void publish(std::vector<hmk_record> records) {
    kernel_.publish(interval(++seq_, std::move(records)));
    run();
  }
  json tier_nodes() {
    const json status = target("status");
    json nodes = json::array();
    for (const json& tier : status["tiers"]) nodes.push_back(tier["nodes"]);
    return nodes;
  }

  std::array<int, 2> ticks_{};
  std::uint64_t seq_ = 0;
};

TEST_F(TwoSocketsAppTest, MemoryOfAProcessOnBothStaysOnEachAndRisesToTheNearer) {
  ran(50, 50);
  start();
  publish({region(0, 0, 3.0), region(4 * kMiB, 1, 3.0), region(8 * kMiB, 3, 3.0)});
  EXPECT_EQ(tier_nodes(), json::parse("[[0, 1], [2, 3]]"));
  EXPECT_EQ(target("status")["home_nodes"], json({0, 1}));
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  ASSERT_EQ(kernel_.tickets[0].ranges.size(), 1u);
  EXPECT_EQ(kernel_.tickets[0].ranges[0].start, 8 * kMiB);
  EXPECT_EQ(kernel_.tickets[0].ranges[0].node, 1);
  const json fast = target("status")["tiers"][0];
  EXPECT_EQ(fast["total_bytes"], 512 * kMiB);
  EXPECT_EQ(fast["free_bytes"], 256 * kMiB);
  EXPECT_EQ(data("tiers", {{"pid", kPid}})["tiers"][0]["nodes"], json({0, 1}));
}

TEST_F(TwoSocketsAppTest, AThreadThatMovesChangesNothingBeforeItHasLasted) {
  ran(50, 0);
  start();
  const std::vector<hmk_record> records = {region(0, 0, 3.0), region(4 * kMiB, 0, 3.0)};
  for (unsigned n = 1; n < Homes::kIntervals; ++n) {
    ran(n % 2 == 0 ? 100 : 0, n % 2 == 0 ? 0 : 100);
    publish(records);
    EXPECT_EQ(tier_nodes(), json::parse("[[0], [1], [2], [3]]")) << n;
  }
  EXPECT_TRUE(kernel_.tickets.empty());
  for (unsigned n = 0; n < Homes::kIntervals; ++n) {
    ran(0, 100);
    publish(records);
  }
  EXPECT_EQ(tier_nodes(), json::parse("[[1], [0], [3], [2]]"));
  ASSERT_EQ(kernel_.tickets.size(), 1u) << "and is followed at once, without a new ranking";
  EXPECT_EQ(kernel_.tickets[0].ranges[0].node, 1);
}

TEST_F(TwoSocketsAppTest, SetsOfNodesThatTheMachineLacksChangeNothing) {
  ran(50, 0);
  start();
  data("set", {{"key", "tiers"}, {"value", "[[1, 0], [2, 3]]"}});
  EXPECT_EQ(data("tiers")["order"]["source"], "config");
  const json refused = verb("set", {{"key", "tiers"}, {"value", "[[0, 1], [2, 7]]"}});
  EXPECT_EQ(refused["ok"], false);
  EXPECT_EQ(refused["error"]["what"], "tiers: this machine has no node 7");
  EXPECT_EQ(refused["error"]["remedy"], "name nodes of 0, 1, 2, 3");
  EXPECT_EQ(data("tiers")["tiers"][0]["nodes"], json({0, 1}));
  file_.config = config_;
  file_.config.tiers = {{{0, 9}}};
  EXPECT_EQ(verb("reload")["ok"], false);
  EXPECT_EQ(data("tiers")["tiers"].size(), 2u);
  app_.reset();
  config_.tiers = {{{9}}};
  App app(loop_, config_, {.attach = {}, .root = tree_.root()});
  EXPECT_EQ(app.start().error().line(),
            "tiers: this machine has no node 9; name nodes of 0, 1, 2, 3");
}

TEST_F(TwoSocketsAppTest, WhatMovedBetweenNodesOfOneTierIsOnePairOfTiers) {
  ran(50, 50);
  start();
  publish({region(0, 2, 3.0), region(8 * kMiB, 3, 3.0)});
  ASSERT_EQ(kernel_.tickets.size(), 1u);
  EXPECT_EQ(kernel_.tickets[0].ranges.size(), 2u);
  kernel_.finish(test::all_clean);
  run();
  publish({region(0, 0, 3.0), region(8 * kMiB, 1, 3.0)});
  const json pairs = target("stats")["pairs"];
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0]["moved_bytes"], 4 * kMiB);
  EXPECT_EQ(target("gain")["pairs"].size(), 1u);
  const json history = data("history", {{"pid", kPid}})["target"]["moments"];
  EXPECT_EQ(history.back()["tiers"][0]["resident_bytes"], 4 * kMiB);
}

TEST_F(SharingAppTest, BothSeeTheMachineAsItWasWhenTheyWereDecided) {
  start();
  publish(1);
  test::put_node(tree_, {2, "", "30 40 10 20", 262144, 1024, 275, 35000});
  publish_other(1);
  test::put_node(tree_, {2, "", "30 40 10 20", 262144, 2048, 275, 35000});
  const json status = data("status");
  for (const json& target : status["targets"]) EXPECT_EQ(target["tiers"][2]["free_bytes"], kMiB);
}

TEST_F(SharingAppTest, ANodeThatHasGoneForTheOtherTakesNothing) {
  test::put_four_tiers(tree_);
  start();
  publish(1);
  tree_.put("sys/devices/system/node/online", "1-3\n");
  tree_.remove("sys/devices/system/node/node0");
  publish_other(1);
  EXPECT_TRUE(kernel_.tickets.empty() || kernel_.tickets[0].ranges[0].node != 0);
}

TEST_F(SharingAppTest, WhatIsOnlyWatchedTakesNoRoomFromWhatIsManaged) {
  start();
  app_->find(kPid)->hold(Mode::track_only);
  publish(1);
  publish_other(1);
  EXPECT_TRUE(others_[kOther].tickets.empty()) << "see OneTakesOfTheOtherWhatItsWeightGivesIt";
}

}  // namespace
}  // namespace hmk
